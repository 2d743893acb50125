"""Names in generated packages: files, functions, constants. For any document they are ASCII identifiers.

Names of one kind are unique, also on file systems that ignore case, and none is a name of Python's or of the generated
code. So no name can leave its folder or hide another.
"""

import builtins
import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from ..errors import UsageError
from ..runtime.server.functions import parameter_names, snake
from ..tools.names import NameCandidate, distinct_names, shorten, words
from .literals import Source

MAX_NAME_LENGTH: Final = 60
"""Characters. Some archives refuse longer names of files, and people do not read them."""

_DEVICES: Final = frozenset({"aux", "con", "nul", "prn", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))})
"""Names of devices on Windows, with any suffix."""

IMPORTED: Final = frozenset(
    {
        *("Any", "Api", "BASE_URL", "DEFINITIONS", "Encoding", "Literal", "MediaType", "NotRequired", "RequestBody"),
        *("Result", "SCHEMAS", "Schema", "SecurityScheme", "Toolbox", "TypeAlias", "TypedDict", "XmlDocument"),
        *("api", "body", "cookie", "header", "media_type", "path", "query", "querystring", "tools", "whole_body"),
        *("XmlNode", "others", "read_schemas"),
    }
)
"""Names that modules of tools import or define."""

_AMBIGUOUS: Final = frozenset({"I", "O", "l"})
"""Names that linters refuse, since they look like digits (pycodestyle E741)."""

_TAKEN: Final = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *IMPORTED, *_AMBIGUOUS})
_DISTRIBUTION: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,58}[A-Za-z0-9])?")
_RESERVED_PACKAGES: Final = frozenset(
    {"anyio", "certifi", "h11", "httpcore", "httptools", "httpx", "idna", "jsonschema", "jsonschema_rs", "mcp"}
    | {"openapi_mcp", "pytest", "referencing", "rpds", "starlette", "tests", "uvicorn", "uvloop"}
)
"""Import names of dependencies, and of a package's tests."""


def distribution(name: str | None, title: str) -> str:
    """Return the name of the distribution: `name`, else the API's title with `-mcp`. Raises UsageError."""
    if name is None:
        base = "-".join(words(title)[:5])[: MAX_NAME_LENGTH - 4].strip("-")
        name = f"{base or 'openapi'}-mcp".replace("-mcp-mcp", "-mcp")
    if not _DISTRIBUTION.fullmatch(name) or package(name) in _RESERVED_PACKAGES | _DEVICES:
        raise UsageError(
            "package name must consist of letters, digits, `-`, `_` and `.`, and not be that of a dependency",
            where=f"--name {name}",
            hint="for example --name petstore-mcp",
        )
    return name


def package(name: str) -> Source:
    """Return the import name of a distribution."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return Source(f"n{plain}" if plain[:1].isdigit() else plain + "_" * (plain in _TAKEN))


def modules(names: Sequence[str]) -> dict[str, Source]:
    """Return the name of a module, without suffix, for each of these names."""
    taken = _DEVICES | frozenset(keyword.kwlist)
    return _identifiers({name: (name,) for name in names}, lambda name: "_".join(words(name)) or "tools", taken)


def functions(tools: Mapping[str, str], arguments: Mapping[str, Iterable[str]]) -> dict[str, Source]:
    """Return the name of a function for each tool; `tools` are HTTP methods by tool, `arguments` names by tool."""
    candidates: dict[str, str] = {}
    for name, method in tools.items():
        parameters = {*parameter_names(arguments[name]).values(), "others"}
        plain = snake(name) or "call"
        candidate = f"{method.lower()}_{plain}" if plain in _TAKEN or plain in parameters else plain
        is_legal = candidate.isidentifier() and candidate not in parameters
        candidates[name] = candidate if is_legal else f"{plain}_operation"
    return _identifiers({name: (candidate,) for name, candidate in candidates.items()}, str, _TAKEN)


def constants(names: Mapping[str, Sequence[str]], taken: Iterable[str] = ()) -> dict[str, Source]:
    """Return a constant for each key: the first of its candidates that is free."""
    return _identifiers(names, lambda name: "_".join(words(name)).upper() or "VALUE", {*_TAKEN, *taken})


def _identifiers(
    names: Mapping[str, Sequence[str]], convert: Callable[[str], str], taken: Iterable[str]
) -> dict[str, Source]:
    """Return an identifier for each key: one of its candidates, or the first of them with a hash."""
    reserved = frozenset(taken)
    candidates = [NameCandidate(tuple(_legal(convert(name), reserved) for name in names[key]), key) for key in names]
    identifiers = distinct_names(candidates, MAX_NAME_LENGTH, fold=str.casefold)
    if not all(name.isascii() and name.isidentifier() for name in identifiers):  # it would be code in a package
        raise ValueError(f"not all of these are identifiers: {identifiers}")
    return dict(zip(names, map(Source, identifiers), strict=True))


def _legal(name: str, taken: frozenset[str]) -> str:
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    plain = shorten(f"n{plain}" if plain[:1].isdigit() else plain, MAX_NAME_LENGTH - 1)
    return plain + "_" if plain in taken or plain.casefold() in _DEVICES else plain
