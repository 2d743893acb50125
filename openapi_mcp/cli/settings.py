"""The settings of a command: options of the command line and of a TOML file, from which a bridge is opened.

The keys of the file are the names of the options (`base-url = "https://…"`); the command line wins. In its texts
`${NAME}` stands for the environment variable NAME, and `$$` for a `$`. Only this module reads the file. `HttpSettings`
holds the options of the HTTP server; those of the tools, which may change while it listens, are in `Config`.
`ProgressLine` shows the current step of long work: only on a terminal, only on stderr, and only once it has taken a
second.
"""

import ipaddress
import os
import re
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from ..bridge import Bridge
from ..config import Config
from ..errors import UsageError
from ..options.table import DEFAULTS, SETTINGS
from ..regular_files import MAX_SETTINGS_BYTES, UnfitFile, read_regular
from ..runtime.request.headers import is_field_name
from ..runtime.result.sanitizing import secrets_of
from . import console

if TYPE_CHECKING:
    from ..authorization.settings import DoorSettings

_VARIABLE: Final = re.compile(r"\$\$|\$\{(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}|[^}]*\}?)")
"""A `$$`, or the name of an environment variable in braces; any other `$` is a `$`."""

LISTENING: Final = frozenset({"host", "port", "path"})
"""Options that ask for HTTP where no transport is named."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A document, the options of the command line by name, and the settings file if there is one.

    It can be sent to another process, which then opens the same bridge.
    """

    source: str = field(repr=False)
    command_line: Mapping[str, Any] = field(default_factory=dict, repr=False)
    file: Path | None = None

    def options(self) -> dict[str, Any]:
        """Return all options, reading the file as it is now. Raises UsageError."""
        options = (read_settings(self.file) if self.file else {}) | dict(self.command_line)
        console.hide(console.secrets_of_options(self.source, options))
        return options

    def bridge(self, progress: Callable[[str], None] = lambda _: None, *, with_document: bool = False) -> Bridge:
        """Open the bridge that these options describe, from the document as it is now. Raises BridgeError.

        `progress` and `with_document` are as of `Bridge.open`.
        """
        config = Config.from_options(self.source, self.options())
        bridge = Bridge.open(config, progress, with_document=with_document)
        with suppress(UsageError):  # reported by a command that needs credentials
            console.hide(secrets_of(bridge.request_options()))
        return bridge


def read_settings(path: Path) -> dict[str, Any]:
    """Read the options of a TOML file, by their Python names. Raises UsageError, which names the setting."""
    try:
        settings = tomllib.loads(read_regular(path, MAX_SETTINGS_BYTES).decode("utf-8"))
    except UnfitFile as error:
        raise UsageError(f"the settings file {error.reason}", where=str(path), hint="check --config") from None
    except OSError as error:
        raise UsageError(
            f"cannot read the settings file: {error.strerror}", where=str(path), hint="check --config"
        ) from None
    except ValueError as error:
        raise UsageError(f"the settings file is not TOML: {error}", where=str(path), hint="correct the file") from None
    settings = _flat(settings)
    options = {name.replace("-", "_"): _expanded(value, f"{path}, {name}") for name, value in settings.items()}
    for name, value in options.items():
        option = SETTINGS.get(name)
        if option is None:
            hint = f"settings are {', '.join(sorted(each.setting for each in SETTINGS.values()))}"
            raise UsageError(f"unknown setting: {name.replace('_', '-')}", where=str(path), hint=hint)
        if not option.accepts(value):
            hint = "`openapi-mcp settings-schema` prints the JSON Schema of this file"
            raise UsageError(f"{option.setting} must be {option.expectation}", where=str(path), hint=hint)
    return options


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with those of `[auth.server]` by their own names: `issuer` there is `auth-issuer`."""
    auth = settings.get("auth")
    server = auth.get("server") if isinstance(auth, dict) else None
    if not isinstance(auth, dict) or not isinstance(server, dict):
        return settings
    credentials = {name: value for name, value in auth.items() if name != "server"}
    return {
        **{name: value for name, value in settings.items() if name != "auth"},
        **({"auth": credentials} if credentials else {}),
        **{f"auth-{name}": value for name, value in server.items()},
    }


def _expanded(value: Any, where: str) -> Any:
    """Return a value of the file with the environment variables that its texts name. Raises UsageError."""
    if isinstance(value, dict):
        return {name: _expanded(inner, where) for name, inner in value.items()}
    if isinstance(value, list):
        return [_expanded(inner, where) for inner in value]
    return _VARIABLE.sub(partial(_variable, where), value) if isinstance(value, str) else value


def variables_of_file(path: Path) -> Iterator[str]:
    """Yield the environment variables that the texts of a settings file name. The file must have been read before."""
    text = read_regular(path, MAX_SETTINGS_BYTES).decode("utf-8")
    yield from (match["name"] for match in _VARIABLE.finditer(text) if match["name"])


def drop_placeholders(environment: MutableMapping[str, str]) -> None:
    """Remove variables whose value is the placeholder that `install` wrote: their users have not filled them in."""
    for name, value in list(environment.items()):
        if value.startswith("$") and value in (f"${{{name}}}", f"${{env:{name}}}", f"${name}"):
            del environment[name]


def _variable(where: str, match: re.Match[str]) -> str:
    name = match["name"]
    if match[0] == "$$":
        return "$"
    if not name:
        message = "${ must begin the name of an environment variable in braces, as ${NAME}"  # the text may be a secret
        raise UsageError(message, where=where, hint="write $$ for a $")
    if name not in os.environ:
        hint = f"set {name}; or write $${{{name}}} where the text itself is meant"
        raise UsageError(f"the environment variable {name} is not set", where=where, hint=hint)
    return os.environ[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """The address of the HTTP server, its processes, its limits, and its access control.

    `port` 0 takes a free one; times are in seconds. `auth_token` is what clients must send (`Authorization: Bearer …`);
    `auth_issuer` is an authorization server whose tokens they send instead (see `door`). Without either the server
    listens to this machine only, unless `allow_unauthenticated`. `session_secret` signs session ids; None takes a
    random one. `sign_in_url` is the address of the pages on which users sign in. `allow_host` and `allow_origin` are
    names besides those of this machine, `trusted_proxy` addresses and networks, `forward_header` headers of clients
    that the API gets too.
    """

    host: str = DEFAULTS["host"]
    port: int = DEFAULTS["port"]
    path: str = DEFAULTS["path"]
    workers: int = DEFAULTS["workers"]
    auth_token: str | None = field(default=None, repr=False)
    allow_unauthenticated: bool = False
    allow_host: tuple[str, ...] = ()
    allow_origin: tuple[str, ...] = ()
    trusted_proxy: tuple[str, ...] = ()
    forward_header: tuple[str, ...] = ()
    session_secret: str | None = field(default=None, repr=False)
    auth_issuer: str | None = None
    auth_audience: tuple[str, ...] = ()
    auth_introspection: bool = False
    auth_client_id: str | None = None
    auth_client_secret: str | None = field(default=None, repr=False)
    sign_in_url: str | None = None
    max_concurrency: int = DEFAULTS["max_concurrency"]
    max_body_bytes: int = DEFAULTS["max_body_bytes"]
    request_timeout: float = DEFAULTS["request_timeout"]

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Take the options of the HTTP server from those of a command line or settings file. Raises UsageError."""
        values: dict[str, Any] = {
            name: tuple([value] if isinstance(value, str) else value) if SETTINGS[name].many else value
            for name, value in options.items()
            if name in SETTINGS and SETTINGS[name].to == "http"
        }
        if "path" in values:
            values["path"] = "/" + values["path"].strip("/")
        token = values.get("auth_token")
        if token is not None and not (token.isascii() and token.isprintable() and token.split() == [token]):
            raise UsageError(
                "a token consists of visible ASCII characters without spaces",
                where="--auth-token",
                hint="choose another token",
            )
        for text in values.get("trusted_proxy", ()):
            _check_network(text)
        for name in values.get("forward_header", ()):
            _check_forwarded(name)
        settings = cls(**values)
        _ = settings.door
        return settings

    @property
    def door(self) -> "DoorSettings | None":
        """The settings of the door that verifies tokens; None where no authorization server is named.

        Raises UsageError, as `from_options` does.
        """
        named = (self.auth_issuer, self.auth_audience, self.auth_introspection, self.auth_client_id)
        if not any(named):
            return None
        from ..authorization.settings import DoorSettings

        return DoorSettings.from_options(asdict(self), self.path)


_NEVER_FORWARDED: Final = re.compile(
    r"(?i)authorization|cookie|host|connection|upgrade|te|trailer|expect|keep-alive|origin|accept.*|content-.*|transfer-.*"
    r"|proxy-.*|mcp-.*|x-forwarded-.*|forwarded"
)
"""Headers that belong to the connection or the message, or that hold a credential for this server."""


def _check_forwarded(name: str) -> None:
    if not is_field_name(name):
        raise UsageError(f"not the name of a header: {name!r}", where="--forward-header", hint="write X-Tenant")
    if _NEVER_FORWARDED.fullmatch(name):
        message = f"{name} is for this server and not for the API"
        hint = "see --header for a fixed value, and --oauth SCHEME.exchange for the caller's token"
        raise UsageError(message, where="--forward-header", hint=hint)


def _check_network(text: str) -> None:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        hint = "write an address or a network, as 10.0.0.7 or 10.0.0.0/8"
        raise UsageError(f"not an IP address: {text!r}", where="--trusted-proxy", hint=hint) from None


PROGRESS_DELAY: Final = 1.0
"""Seconds before progress is shown: people take shorter work for an immediate answer."""


class ProgressLine:
    """A line on the terminal with the current step of long work; call it with each new step.

    with ProgressLine("reading petstore.yaml") as progress:
        progress("compiling tools")
    """

    def __init__(self, step: str) -> None:
        self.step = step
        self._terminal = console.terminal()
        self._finished = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def __call__(self, step: str) -> None:
        """Show another step."""
        self.step = step

    def __enter__(self) -> Self:
        if self._terminal:
            self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._finished.set()
        if self._thread.is_alive():
            self._thread.join()

    def _show(self) -> None:
        if self._finished.wait(PROGRESS_DELAY):
            return
        from rich.console import Console
        from rich.text import Text

        with Console(file=self._terminal).status(Text(console.safe(self.step))) as status:
            while not self._finished.wait(0.1):
                status.update(Text(console.safe(self.step)))
