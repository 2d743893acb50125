"""Environment variables in the texts of a settings file: `${NAME}`, `${NAME:-DEFAULT}`, and `$$` for a `$`.

As in a shell, the default stands for a variable that is not set or empty. Any other `$` is a `$`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ..errors import UsageError

_VARIABLE: Final = re.compile(r"\$\$|\$\{(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}|[^}]*\}?)")
"""A `$$`, or the name of an environment variable in braces."""


def expand(value: Any, environment: Mapping[str, str], where: Callable[[], str]) -> Any:
    """Return a value of the file with the variables that its texts name. Raises UsageError at `where()`."""
    if isinstance(value, dict):
        return {name: expand(inner, environment, where) for name, inner in value.items()}
    if isinstance(value, list):
        return [expand(inner, environment, where) for inner in value]
    if not isinstance(value, str) or "$" not in value:
        return value
    return _VARIABLE.sub(lambda match: _text(match, environment, where), value)


def names(value: Any) -> Iterator[str]:
    """Yield the variables that the texts of a value name."""
    if isinstance(value, str):
        yield from (match["name"] for match in _VARIABLE.finditer(value) if match["name"])
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from names(inner)


def _text(match: re.Match[str], environment: Mapping[str, str], where: Callable[[], str]) -> str:
    if match[0] == "$$":
        return "$"
    name, default = match["name"], match["default"]
    if not name:
        message = "${ must begin the name of an environment variable in braces, as ${NAME}"  # the text may be a secret
        raise UsageError(message, where=where(), hint="write $$ for a $")
    if default is not None:
        return environment.get(name) or default
    if name not in environment:
        hint = f"set {name}; or write ${{{name}:-DEFAULT}}, or $${{{name}}} where the text itself is meant"
        raise UsageError(f"the environment variable {name} is not set", where=where(), hint=hint)
    return environment[name]
