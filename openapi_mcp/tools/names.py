"""Name tools, arguments and environment variables: legal for all clients, unique, and the same on every run.

A name depends on the set of things that are named and never on their order. Of several candidates for one name, the one
with the best rank has it; the others are extended by what distinguishes them, at last by a hash. Specification: MCP
server/tools ("Tool Names").
"""

import hashlib
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

MAX_NAME_LENGTH: Final = 64
"""Characters of a name with its prefix: the limit of the strictest model APIs and of older conformance rules."""

MAX_SPLIT_LENGTH: Final = 256
"""Characters of a name that is shortened by words; from a longer one the middle is cut first."""

_WORD: Final = re.compile(r"(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+)[0-9]*|[0-9]+")
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]+")
_ARGUMENT: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SYMBOLS: Final = {"<": "_lt", ">": "_gt", "=": "_eq", "!": "_not", "~": "_like", "+": "_plus", "*": "_all"}
"""Words for the symbols of a parameter's name that carry a meaning: `StartTime<` is not `StartTime`."""

_FILLERS: Final = frozenset({"a", "an", "and", "by", "for", "from", "in", "of", "on", "the", "to", "with"})
"""Words that a name can do without."""


def ascii_text(text: str) -> str:
    """Return the text in ASCII: letters with a base letter there become it (`Ünïcödé` is `Unicode`), others go."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def words(text: str) -> list[str]:
    """Return the words of a name or title in lower case: `getUserByID` is get, user, by, id."""
    return [word.lower() for word in _WORD.findall(ascii_text(text))]


def suggest_names(name: str, names: Iterable[str]) -> str:
    """Return a hint with the names nearest to one that is not there; an empty text if none is near."""
    from ..runtime.arguments.spelling import suggestion

    return suggestion(name, names)


@dataclass(frozen=True, slots=True)
class NameCandidate:
    """A thing to be named: its possible names, best first, and its identity, which is unique among the candidates.

    `rank` decides between candidates for the same name: the lowest has it, unless several have the lowest.
    """

    names: tuple[str, ...]
    identity: str
    rank: int = 1


def distinct_names(
    candidates: Sequence[NameCandidate], limit: int = MAX_NAME_LENGTH, *, fold: Callable[[str], str] = str
) -> list[str]:
    """Return a name for each candidate. Names are the same where `fold` of them is."""
    steps = [0] * len(candidates)
    while True:
        names = [_name(candidate, step, limit) for candidate, step in zip(candidates, steps, strict=True)]
        folded = [fold(name) for name in names]
        conflicts = _conflicts(candidates, folded, steps) if len(set(folded)) < len(folded) else ()
        if not conflicts:
            return names
        for index in conflicts:
            steps[index] += 1


def _conflicts(candidates: Sequence[NameCandidate], names: Sequence[str], steps: Sequence[int]) -> list[int]:
    """Return the indexes of candidates that cannot have their current name: another ranks better, or as well."""
    claims = [(name, (steps[index], candidates[index].rank)) for index, name in enumerate(names)]
    best: dict[str, tuple[int, int]] = {}
    for name, rank in claims:
        best[name] = min(best.get(name, rank), rank)
    winners = Counter(name for name, rank in claims if rank == best[name])
    return [index for index, (name, rank) in enumerate(claims) if rank != best[name] or winners[name] > 1]


def _name(candidate: NameCandidate, step: int, limit: int) -> str:
    """Return the candidate's name of this step: one of its names, then the first with a hash of growing length."""
    if step < len(candidate.names):
        return shorten(candidate.names[step], limit)
    digits = 6 + 2 * (step - len(candidate.names))
    digest = hashlib.sha256(candidate.identity.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
    stem = shorten(candidate.names[0], limit - digits - 1)
    return f"{stem}_{digest}"


def shorten(name: str, limit: int) -> str:
    """Shorten a name to `limit` characters: drop filler words, then words in its middle, at last characters there.

    Names of one API begin with what they have in common, and differ at the end.
    """
    if len(name) <= limit:
        return name
    pieces = re.split(r"([_.-]+|(?<=[a-z0-9])(?=[A-Z]))", _without_middle(name, MAX_SPLIT_LENGTH))
    indexes = [i for i in range(0, len(pieces), 2) if i == 0 or pieces[i].lower() not in _FILLERS]
    lengths = [len(pieces[i]) + (len(pieces[i - 1]) if i else 0) for i in indexes]  # with the separators before them
    start, end = _words_to_drop(lengths, sum(lengths) - limit)
    return _without_middle(_join(pieces, indexes[:start] + indexes[end:]), limit).rstrip("_.-")


def _words_to_drop(lengths: Sequence[int], excess: int) -> tuple[int, int]:
    """Return the range of words that are together `excess` characters long at least, and as few as possible.

    Of several such ranges it is the one nearest to the middle. The first and the last word stay.
    """
    if excess <= 0:
        return 0, 0
    last = len(lengths) - 1
    sums = [0, *itertools.accumulate(lengths)]
    ranges = [
        (sums[end] - sums[start], abs(start + end - 1 - last), start, end)
        for start in range(1, last)
        for end in range(start + 1, last + 1)
        if sums[end] - sums[start] >= excess
    ]
    return min(ranges)[2:] if ranges else (1, max(last, 1))


def _without_middle(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text: the first and the last of them."""
    return text if len(text) <= limit else text[: limit - limit // 2] + text[len(text) - limit // 2 :]


def _join(pieces: Sequence[str], indexes: Sequence[int]) -> str:
    return pieces[indexes[0]] + "".join(pieces[index - 1] + pieces[index] for index in indexes[1:])


def make_unique(name: str, used: Collection[str]) -> str:
    """Return the name, with a number after it where it is in use."""
    number, unique_name = 1, name
    while unique_name in used:
        number += 1
        unique_name = f"{name}{number}"
    return unique_name


@dataclass(frozen=True, slots=True)
class ToolKey:
    """The sources of a tool's name. `name` is the explicit one of `x-mcp`.

    `function_names` are better names than the operationId, best first, where a framework made that of a function's.
    """

    method: str
    path: str
    operation_id: str | None = None
    name: str | None = None
    function_names: tuple[str, ...] = ()


def tool_names(keys: Sequence[ToolKey], prefix: str = "") -> list[str]:
    """Return a name for each operation, with `prefix` before it. Names that differ only in case count as the same.

    It is the explicit name, the name of a function, or the operationId, made legal, else method and path in words; both
    where that is not unique; else with a hash of method and path. An explicit name goes before all others.
    """
    candidates = [_tool_candidate(key) for key in keys]
    return [prefix + name for name in distinct_names(candidates, MAX_NAME_LENGTH - len(prefix), fold=str.casefold)]


def _tool_candidate(key: ToolKey) -> NameCandidate:
    in_words = "_".join([key.method.lower(), *_path_words(key.path)])
    identity = f"{key.method} {key.path}"
    if key.function_names and not key.name:
        return NameCandidate(key.function_names, identity)
    preferred = key.name or key.operation_id or ""
    legal = _ILLEGAL.sub("_", ascii_text(preferred)).strip("_-")
    if not legal:
        return NameCandidate((in_words,), identity, rank=2)
    rank = 0 if legal == preferred else 1
    return NameCandidate((legal, f"{legal}_{in_words}"), identity, rank=rank - 2 if key.name else rank)


def _path_words(path: str) -> list[str]:
    """Return the words of a path: `/pets/{petId}/toys` is pets, by, pet, id, toys; a path without words is root."""
    text = re.sub(r"\{([^{}]*)\}", lambda match: f" by {match[1]} ", path)
    return words(text) or ["root"]


_OPERATION_ID: Final = re.compile(r"(\w+)_(?:get|put|post|delete|options|head|patch|trace)")

_UNSPECIFIC: Final = _FILLERS.union(
    words("add all create default delete do edit endpoint fetch find get handle handler id index info list main many"),
    words("new one patch post put query read remove retrieve root run save search set show store update upload view"),
)
"""Words that, without the path, do not say what a function is about: `get_all` of `/pets`."""

MAX_MOUNT: Final = 4
"""Segments of the path below which an application may be mounted (`/api/v1`)."""


def function_names(keys: Sequence[ToolKey]) -> dict[ToolKey, tuple[str, ...]]:
    """Return the names of FastAPI's functions, best first, for the operations of a document whose ids FastAPI made.

    Its default id is the function's name, the path with `_` for all but letters and digits, `_` and a method, which is
    not always the operation's where a function has several (`fastapi.utils.generate_unique_id`).

    An application below a path (`/api`) may have paths with it and operationIds without. This is assumed only where it
    fits most operationIds, and one has a mark of FastAPI: `find_active_users_get` of `/api/users` need not be its work.
    """
    for mount in ("", *_mounts(keys)):
        functions = dict(_functions(keys, mount))
        if functions and (not mount or _are_evident(functions, keys)):
            return {
                key: _names_of(function, key.method, key.path.removeprefix(mount))
                for key, function in functions.items()
            }
    return {}


def _functions(keys: Iterable[ToolKey], mount: str) -> Iterator[tuple[ToolKey, str]]:
    """Yield the operations whose operationId ends with the path below `mount`, each with the function's name."""
    for key in keys:
        match = _OPERATION_ID.fullmatch(key.operation_id or "")
        path = re.sub(r"\W", "_", key.path.removeprefix(mount))
        if match is None or not key.path.startswith("/") or not match[1].endswith(path):
            continue
        if function := ascii_text(match[1].removesuffix(path)).strip("_"):
            yield key, function


def _are_evident(functions: Mapping[ToolKey, str], keys: Iterable[ToolKey]) -> bool:
    """Return whether most operationIds fit, and the path in one ends with a slash or parameter, so that it has `__`."""
    count = sum(1 for key in keys if key.operation_id)
    return 2 * len(functions) > count and any("__" in (key.operation_id or "") for key in functions)


def _mounts(keys: Sequence[ToolKey]) -> Iterator[str]:
    """Yield the paths above all operations, shortest first."""
    segments = keys[0].path.split("/")[1:-1] if keys else []
    for count in range(1, min(len(segments), MAX_MOUNT) + 1):
        mount = "/" + "/".join(segments[:count])
        if "{" in mount or not all(key.path.startswith(mount + "/") for key in keys):
            return
        yield mount


def _names_of(function: str, method: str, path: str) -> tuple[str, ...]:
    """Return the name of a function where it says enough, then with the words of the path, then with the method too."""
    of_path = _path_words(path) if re.search(r"\w", path) else []
    long = "_".join([function, *of_path]), "_".join([function, method.lower(), *of_path])
    return long if of_path and _UNSPECIFIC.issuperset(words(function)) else (function, *long)


_RANKS: Final[Mapping[str, int]] = {"path": 0, "body": 2, "query": 4, "querystring": 4, "header": 6, "cookie": 8}
"""The location that has a name first has the lowest rank: of a path, the name is in the operation's address; of a body,
it is content, and a parameter of its name is mostly a switch (`rrsets=false` hides the `rrsets`)."""


@dataclass(frozen=True, slots=True)
class ArgumentKey:
    """The sources of an argument's name: its location and its name in requests, or `names` if it has none there."""

    location: str
    wire_name: str | None
    names: tuple[str, ...] = field(default=())


def argument_names(keys: Sequence[ArgumentKey]) -> list[str]:
    """Return a name for each argument: its name in requests, made legal (`filter[x]` is `filter_x`).

    Of several locations with one name, the path has it first, then body, query, header and cookie; the others have
    their location appended.
    """
    wire_names = [key.wire_name for key in keys if key.wire_name is not None and _is_legal(key.wire_name)]
    if len(set(wire_names)) == len(keys):
        return wire_names
    return distinct_names([_argument_candidate(key) for key in keys])


@lru_cache(maxsize=65_536)
def _is_legal(wire_name: str) -> bool:
    """Return whether an argument may have the name of its parameter or property."""
    is_special = wire_name.startswith("__") or not wire_name.strip("_")  # `__proto__` is special in JavaScript
    return _ARGUMENT.fullmatch(wire_name) is not None and not is_special


def _argument_candidate(key: ArgumentKey) -> NameCandidate:
    if key.wire_name is None:
        return NameCandidate(key.names, key.location, rank=10)
    wire = key.wire_name
    identity = f"{key.location} {wire}"
    rank = _RANKS.get(key.location, 9)
    if _ARGUMENT.fullmatch(wire) and wire.strip("_"):
        legal = wire.strip("_") if wire.startswith("__") else wire  # `__proto__` is special in JavaScript
        return NameCandidate((legal, f"{legal}_{key.location}"), identity, rank=rank + (legal != wire))
    spelled = "".join(_SYMBOLS.get(character, character) for character in ascii_text(wire))
    legal = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9.-]+", "_", spelled)).strip("_.-")
    if not legal:
        return NameCandidate((key.location,), identity, rank=99)
    return NameCandidate((legal, f"{legal}_{key.location}"), identity, rank=rank + 1)


VARIABLE_PREFIX: Final = "API"
"""The first word of every credential's environment variable."""

_LETTERS: Final = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "oe", "ł": "l", "đ": "d"}
_TRANSLITERATION: Final = str.maketrans(_LETTERS | {"þ": "th", "ð": "d", "\u0131": "i", "'": None, "\u2019": None})
"""Latin letters that have no base letter, or that are read as two letters; apostrophes are left out."""

_GENERIC_TITLE_WORDS: Final = frozenset(
    {"API", "APIS", "DOCUMENTATION", "OPEN", "OPENAPI", "REFERENCE", "REST", "SPEC", "SWAGGER", "THE"}
)
_CREDENTIAL_WORDS: Final = frozenset(
    {
        *("ACCESS", "ADMIN", "APP", "AUTH", "AUTHENTICATION", "BASE", "BEARER", "CLIENT", "DB", "DATABASE", "GATEWAY"),
        *("HOST", "ID", "KEY", "LOGIN", "MASTER", "PASSWORD", "PRIVATE", "PROD", "PUBLIC", "ROOT", "SECRET", "SERVER"),
        *("SERVICE", "SESSION", "SIGNING", "TOKEN", "URL", "USER", "USERNAME", "WEB"),
    }
)
"""Titles with which a variable would look like one of any program: API_SECRET_KEY, API_ACCESS_TOKEN."""

_VERSION: Final = re.compile(r"V?[0-9]+")
_MAX_TITLE_WORDS: Final = 3


def environment_variables(schemes: Iterable[str], title: str) -> dict[str, str]:
    """Return the environment variable of each security scheme: `API_<TITLE>_<SCHEME>`, e.g. API_PETSTORE_SHOPKEY.

    The fixed first word and the API's title keep a document from naming a variable that is meant for another program:
    its secret would be sent to the document's host. A scheme's capitals do not separate words (`shopKey` is SHOPKEY).
    No two schemes share a variable.
    """
    names = list(schemes)
    candidates = [
        NameCandidate((f"{VARIABLE_PREFIX}_{_title_word(title)}_{_variable_word(name)}",), name) for name in names
    ]
    return dict(zip(names, (name.upper() for name in distinct_names(candidates, 200)), strict=True))


def latin_words(text: str) -> list[str]:
    """Return the words of a text in small ASCII letters and digits: `größe` is groesse, `GitHub` is one word."""
    latin = unicodedata.normalize("NFC", text).lower().translate(_TRANSLITERATION)
    return re.findall(r"[a-z0-9]+", ascii_text(latin).lower())


def _variable_words(text: str) -> list[str]:
    return [word.upper() for word in latin_words(text)]


def _title_word(title: str) -> str:
    """Return the API's name as one word: `Pet Store` is PETSTORE.

    Generic words and versions are left out. A title without a word of its own gets a hash.
    """
    own = [word for word in _variable_words(title) if word not in _GENERIC_TITLE_WORDS and not _VERSION.fullmatch(word)]
    name = "".join(own[:_MAX_TITLE_WORDS])
    return name if set(own) - _CREDENTIAL_WORDS else f"{name}{_digest(title)}"


def _variable_word(scheme: str) -> str:
    """Return a scheme's part of its variable; a hash stands for a name without Latin letters and digits."""
    return "_".join(_variable_words(scheme)) or f"CREDENTIAL_{_digest(scheme)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6].upper()
