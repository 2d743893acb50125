"""Names of tools, arguments and environment variables: legal everywhere, unique, and the same on every run.

A name depends on the set of things that are named and never on their order. Who holds a name rightfully keeps it; the
others become longer by what tells them apart, at last by a hash. Specification: MCP server/tools ("Tool Names").
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

LONGEST: Final = 64
"""Characters of a name with its prefix: what the strictest model APIs and older conformance rules allow."""

_WORD: Final = re.compile(r"(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+)[0-9]*|[0-9]+")
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]+")
_ARGUMENT: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SYMBOLS: Final = {"<": "_lt", ">": "_gt", "=": "_eq", "!": "_not", "~": "_like", "+": "_plus", "*": "_all"}
"""What the symbols of a parameter's name say, where they say something: `StartTime<` is not `StartTime`."""

_FILLERS: Final = frozenset({"a", "an", "and", "by", "for", "from", "in", "of", "on", "the", "to", "with"})


def ascii_text(text: str) -> str:
    """The text in ASCII as far as its letters have a base letter there (`Ünïcödé` is `Unicode`)."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def words(text: str) -> list[str]:
    """The words of a name or title in lower case: `getUserByID` is get, user, by, id."""
    return [word.lower() for word in _WORD.findall(ascii_text(text))]


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint that suggests the names most like this one; nothing where none is."""
    close = get_close_matches(name, list(names), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something to be named: the names it would like, best first, and what nothing else here is.

    `right` orders those that like the same name: the lowest has it, if it is alone in that.
    """

    wishes: tuple[str, ...]
    identity: str
    right: int = 1


def distinct(candidates: Sequence[Candidate], limit: int = LONGEST, *, fold: Callable[[str], str] = str) -> list[str]:
    """A name for each candidate. `fold` says which names count as the same."""
    steps = [0] * len(candidates)
    while True:
        names = [_wish(candidate, step, limit) for candidate, step in zip(candidates, steps, strict=True)]
        losers = _losers(candidates, [fold(name) for name in names], steps)
        if not losers:
            return names
        for index in losers:
            steps[index] += 1


def _losers(candidates: Sequence[Candidate], names: Sequence[str], steps: Sequence[int]) -> list[int]:
    """Those whose name belongs to another, or to nobody."""
    rights = [(name, steps[index], candidates[index].right) for index, name in enumerate(names)]
    best: dict[str, tuple[int, int]] = {}
    for name, step, right in rights:
        best[name] = min(best.get(name, (step, right)), (step, right))
    holders = Counter(name for name, *rank in rights if tuple(rank) == best[name])
    return [index for index, (name, *rank) in enumerate(rights) if tuple(rank) != best[name] or holders[name] > 1]


def _wish(candidate: Candidate, step: int, limit: int) -> str:
    if step < len(candidate.wishes):
        return shortened(candidate.wishes[step], limit)
    digits = 6 + 2 * (step - len(candidate.wishes))
    digest = hashlib.sha256(candidate.identity.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
    stem = shortened(candidate.wishes[0], limit - digits - 1)
    return f"{stem}_{digest}"


def shortened(name: str, limit: int) -> str:
    """At most `limit` characters: without words that say little, then without the last ones, then cut."""
    if len(name) <= limit:
        return name
    pieces = re.split(r"([_.-]+|(?<=[a-z0-9])(?=[A-Z]))", name)  # words at even places, what joins them at odd ones
    kept = [i for i in range(0, len(pieces), 2) if i == 0 or pieces[i].lower() not in _FILLERS]
    while len(kept) > 1 and len(_joined(pieces, kept)) > limit:
        kept.pop()
    return _joined(pieces, kept)[:limit].rstrip("_.-")


def unique(name: str, taken: Collection[str]) -> str:
    """The name, with a number where it is taken."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}{number}"
    return found


def _joined(pieces: Sequence[str], kept: Sequence[int]) -> str:
    return pieces[kept[0]] + "".join(pieces[index - 1] + pieces[index] for index in kept[1:])


@dataclass(frozen=True, slots=True)
class ToolKey:
    """What a tool's name is made of. `wish` is a name given outright (`x-mcp`)."""

    method: str
    path: str
    operation_id: str | None = None
    wish: str | None = None


def tool_names(keys: Sequence[ToolKey], prefix: str = "") -> list[str]:
    """A name for each operation, with `prefix` before it; names that differ only in case count as the same.

    The operationId made legal, or else method and path in words; then both; then with a hash of method and path.
    """
    candidates = [_tool_candidate(key) for key in keys]
    return [prefix + name for name in distinct(candidates, LONGEST - len(prefix), fold=str.casefold)]


def _tool_candidate(key: ToolKey) -> Candidate:
    in_words = "_".join([key.method.lower(), *_path_words(key.path)])
    identity = f"{key.method} {key.path}"
    given = key.wish or key.operation_id or ""
    legal = _ILLEGAL.sub("_", ascii_text(given)).strip("_-")
    if not legal:
        return Candidate((in_words,), identity, right=2)
    rightful = 0 if legal == given else 1
    return Candidate((legal, f"{legal}_{in_words}"), identity, right=rightful)


def _path_words(path: str) -> list[str]:
    """`/pets/{petId}/toys` is pets, by, pet, id, toys; the path of nothing is the root."""
    said = re.sub(r"\{([^{}]*)\}", lambda match: f" by {match[1]} ", path)
    return words(said) or ["root"]


RANKS: Final[Mapping[str, int]] = {"path": 0, "query": 2, "querystring": 2, "header": 4, "cookie": 6, "body": 8}


@dataclass(frozen=True, slots=True)
class ArgumentKey:
    """What an argument's name is made of: its place, its name on the wire, and for what has none its own wishes."""

    location: str
    wire_name: str | None
    wishes: tuple[str, ...] = field(default=())


def argument_names(keys: Sequence[ArgumentKey]) -> list[str]:
    """A name for each argument: that of the wire where it is legal, else made so (`filter[x]` is `filter_x`).

    Where several places want one name, the path has it first, then query, header, cookie and body; the others say
    theirs.
    """
    return distinct([_argument_candidate(key) for key in keys])


def _argument_candidate(key: ArgumentKey) -> Candidate:
    if key.wire_name is None:
        return Candidate(key.wishes, key.location, right=10)
    wire = key.wire_name
    identity = f"{key.location} {wire}"
    rank = RANKS.get(key.location, 9)
    if _ARGUMENT.fullmatch(wire) and wire.strip("_"):
        legal = wire.strip("_") if wire.startswith("__") else wire  # JavaScript's `__proto__` is no name
        return Candidate((legal, f"{legal}_{key.location}"), identity, right=rank + (legal != wire))
    said = "".join(_SYMBOLS.get(character, character) for character in ascii_text(wire))
    legal = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9.-]+", "_", said)).strip("_.-")
    if not legal:
        return Candidate((key.location,), identity, right=99)
    return Candidate((legal, f"{legal}_{key.location}"), identity, right=rank + 1)


_ANYBODYS: Final = frozenset(
    {
        *("access", "api", "apikey", "app", "application", "auth", "authentication", "authorization", "basic"),
        *("bearer", "client", "connect", "cookie", "credentials", "default", "header", "http", "id", "jwt", "key"),
        *("login", "oauth", "oauth2", "oidc", "open", "openid", "password", "query", "scheme", "secret", "security"),
        *("session", "token", "user", "username", "v1", "v2", "v3", "x"),
    }
)
_NO_TITLE: Final = frozenset({"api", "apis", "documentation", "open", "reference", "rest", "spec", "swagger", "the"})
_TITLE_WORDS: Final = 3


def environment_variables(schemes: Iterable[str], title: str) -> dict[str, str]:
    """The environment variable of each security scheme: its name in capitals (`shopKey` is SHOP_KEY).

    A name that could be anybody's (`api_key`, `token`, `USER`) has the API's title before it, so that a secret that
    is in the environment for another program is never sent here. No two schemes share a variable.
    """
    names = list(schemes)
    candidates = [Candidate((_variable(name, title),), name) for name in names]
    return dict(zip(names, (name.upper() for name in distinct(candidates, 200)), strict=True))


def _variable(scheme: str, title: str) -> str:
    own = words(scheme)
    if len(own) > 1 and not set(own) <= _ANYBODYS and not own[0][0].isdigit():
        return "_".join(own).upper()
    whose = [word for word in words(title) if word not in _NO_TITLE and not word[0].isdigit()][:_TITLE_WORDS] or ["api"]
    return "_".join([*whose, *(own or ["credential"])]).upper()
