"""Names in generated packages: files, functions, constants. Whatever a document says, they are ASCII identifiers.

No two of one kind are the same, not even where case does not count, and none is a word that Python or the generated
code has a meaning for. So no name can leave its folder or hide another.
"""

import builtins
import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from .errors import UsageError
from .literals import Source
from .naming import Candidate, distinct, shortened, words
from .runtime.functions import parameter_names, snake

LONGEST: Final = 60
"""Characters. Longer names of files are refused by some archives, and nobody reads them."""

_DEVICES: Final = frozenset({"aux", "con", "nul", "prn", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))})
"""Names that Windows keeps for itself, with any ending."""

IMPORTED: Final = frozenset(
    {
        *("Any", "Api", "BASE_URL", "DEFINITIONS", "Encoding", "Literal", "MediaType", "NotRequired", "RequestBody"),
        *("Result", "SCHEMAS", "Schema", "SecurityScheme", "Toolbox", "TypeAlias", "TypedDict", "XmlDocument"),
        *("api", "body", "cookie", "header", "media_type", "path", "query", "querystring", "tools", "whole_body"),
        *("XmlNode", "others", "read_schemas"),
    }
)
"""What the modules of tools import or define themselves."""

_AMBIGUOUS: Final = frozenset({"I", "O", "l"})
"""Names that linters refuse: they look like digits (pycodestyle E741)."""

_TAKEN: Final = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *IMPORTED, *_AMBIGUOUS})
_DISTRIBUTION: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,58}[A-Za-z0-9])?")
_OTHERS_PACKAGES: Final = frozenset(
    {"anyio", "certifi", "h11", "httpcore", "httptools", "httpx", "idna", "jsonschema", "mcp", "openapi_mcp", "pytest"}
    | {"referencing", "rpds", "starlette", "tests", "uvicorn", "uvloop"}
)


def distribution(name: str | None, title: str) -> str:
    """The name of the distribution: the one that is asked for, else the API's title and `-mcp`. Raises UsageError."""
    wanted = "-".join(words(title)[:5]) if name is None else name
    if name is None:
        wanted = f"{wanted[: LONGEST - 4].strip('-') or 'openapi'}-mcp".replace("-mcp-mcp", "-mcp")
    if not _DISTRIBUTION.fullmatch(wanted) or package(wanted) in _OTHERS_PACKAGES | _DEVICES:
        raise UsageError(
            "a package is named by letters, digits, `-`, `_` and `.`, and not like one that it needs",
            where=f"--name {wanted}",
            hint="for example --name petstore-mcp",
        )
    return wanted


def package(name: str) -> Source:
    """The import name of a distribution."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return Source(f"n{plain}" if plain[:1].isdigit() else plain + "_" * (plain in _TAKEN))


def modules(names: Sequence[str]) -> dict[str, Source]:
    """A file name without its ending for each of these names."""
    taken = _DEVICES | frozenset(keyword.kwlist)
    return _identifiers({name: (name,) for name in names}, lambda name: "_".join(words(name)) or "tools", taken)


def functions(tools: Mapping[str, str], arguments: Mapping[str, Iterable[str]]) -> dict[str, Source]:
    """A function for each tool, of which its HTTP method is given, and the names of its arguments."""
    found: dict[str, str] = {}
    for name, method in tools.items():
        parameters = {*parameter_names(arguments[name]).values(), "others"}
        plain = snake(name) or "call"
        said = f"{method.lower()}_{plain}" if plain in _TAKEN or plain in parameters else plain
        found[name] = said if said.isidentifier() and said not in parameters else f"{plain}_operation"
    return _identifiers({name: (said,) for name, said in found.items()}, str, _TAKEN)


def constants(wishes: Mapping[str, Sequence[str]], taken: Iterable[str] = ()) -> dict[str, Source]:
    """A constant for each key: the first of its wishes that nobody else has."""
    return _identifiers(wishes, lambda name: "_".join(words(name)).upper() or "VALUE", {*_TAKEN, *taken})


def _identifiers(
    wishes: Mapping[str, Sequence[str]], written: Callable[[str], str], taken: Iterable[str]
) -> dict[str, Source]:
    """An identifier for each key: one of its wishes, or the first with a hash."""
    kept = frozenset(taken)
    candidates = [Candidate(tuple(_legal(written(wish), kept) for wish in wishes[key]), key) for key in wishes]
    found = distinct(candidates, LONGEST, fold=str.casefold)
    assert all(name.isascii() and name.isidentifier() for name in found)  # noqa: S101 - what all of this is for
    return dict(zip(wishes, map(Source, found), strict=True))


def _legal(name: str, taken: frozenset[str]) -> str:
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    plain = shortened(f"n{plain}" if plain[:1].isdigit() else plain, LONGEST - 1)
    return plain + "_" if plain in taken or plain.casefold() in _DEVICES else plain
