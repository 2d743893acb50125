"""`Opening`: what a command was given, from which a bridge is opened, and opened again when something changed.

Options come from the command line and from a TOML file whose keys are the options' names; the command line wins. Nobody
else reads them.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from . import config, endpoint
from .bridge import Bridge
from .config import Config
from .errors import UsageError


@dataclass(frozen=True, slots=True)
class Opening:
    """A document, the options of the command line by name, and the settings file if there is one.

    It can be sent to another process, which then opens the same.
    """

    source: str
    given: Mapping[str, Any] = field(default_factory=dict, repr=False)
    file: Path | None = None

    def settings(self) -> dict[str, Any]:
        """All options, as the file has them now. Raises UsageError."""
        return (read_settings(self.file) if self.file else {}) | dict(self.given)

    def bridge(self, progress: Callable[[str], None] = lambda _: None, *, with_document: bool = False) -> Bridge:
        """The bridge that these options describe, as everything is now; see `Bridge.open`. Raises BridgeError."""
        config = Config.from_options(self.source, self.settings())
        return Bridge.open(config, progress, with_document=with_document)


_KNOWN: Final[Mapping[str, type]] = {**config.OPTIONS, **endpoint.OPTIONS}


def read_settings(path: Path) -> dict[str, Any]:
    """The options in a TOML file: `base-url = "https://…"`, `[auth]` with `scheme = "value"`. Raises UsageError."""
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"the settings cannot be read: {error.strerror}", where=str(path), hint="check --config"
        ) from None
    except ValueError as error:
        raise UsageError(f"the settings are not TOML: {error}", where=str(path), hint="correct it there") from None
    options = {name.replace("-", "_"): value for name, value in settings.items()}
    for name, value in options.items():
        wanted = _KNOWN.get(name)
        if wanted is None or not isinstance(value, _ALSO.get(wanted, wanted)):
            hint = f"known are {', '.join(sorted(_KNOWN)).replace('_', '-')}"
            message = f"{name.replace('_', '-')} is no setting" if wanted is None else f"{name} has the wrong type"
            raise UsageError(message, where=str(path), hint=hint)
    return options


_ALSO: Final[Mapping[type, tuple[type, ...]]] = {list: (list, dict), float: (float, int)}
"""Types that a setting of a type may have as well."""
