"""`Document`, an OpenAPI document as one value, and the JSON pointers that name places in it (RFC 6901).

A pointer is always written `#/…`, with `~0`, `~1` and `%25` for the three characters that would be read otherwise: what
`join` writes, `step` reads back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from .errors import Problem
from .runtime.types import JsonObject

FILES: Final = "x-openapi-mcp-files"
"""The key of the root that holds the other files of a multi-file document: a list, in the order of `Document.files`."""

UNREAD: Final = "x-openapi-mcp-unread"
"""Stands in `FILES` for a file that could not be read: `{UNREAD: why, "hint": cure}`."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a document may be; what is beyond is refused, never half read."""

    file_bytes: int = 64 << 20
    """Five times the largest public document known (GitHub's, 13 MB), and what a small machine can still parse."""
    total_bytes: int = 256 << 20
    """All files of one document together: four of the largest."""
    files: int = 10_000
    """The largest multi-file document known (DigitalOcean's) has 1,488."""
    depth: int = 256
    """Nested objects and arrays. Real documents stay under 70; Python's own recursion limit is 1,000 calls."""
    alias_values: int = 1_000_000
    """Values that the aliases of one YAML file may stand for: about as many as GitHub's document has without any."""


DEFAULT_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Document:
    """An OpenAPI document: one mapping, and where it came from.

    `uri` is `file:///…`, `https://…` or `stdin:`. `version` is that of `root` as it is now: `2.0`, `3.0`, `3.1` or
    `3.2`. After `loader.load` no reference of `root` leaves it: `files` names the files that stand in `root[FILES]`,
    in that order, also those that could not be read. `source` is the Swagger 2.0 document that `root` was made of, or
    None. `digests` has the SHA-256 of each file's bytes, by its URI: whether it is still the same is told by them.
    `validators` are the headers with which one asks a server whether a file has changed (RFC 9110 §13.1), by its URI.
    """

    root: JsonObject
    uri: str
    version: str
    problems: tuple[Problem, ...] = ()
    files: tuple[str, ...] = ()
    source: JsonObject | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    validators: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """`info.title`, or nothing."""
        return self._info("title")

    @property
    def api_version(self) -> str:
        """`info.version`, or nothing."""
        return self._info("version")

    def uri_of(self, pointer: str) -> str:
        """Where the file comes from that has the place which `pointer` names."""
        index = pointer.removeprefix(f"#/{FILES}/").partition("/")[0]
        is_other = pointer.startswith(f"#/{FILES}/") and index.isdecimal() and int(index) < len(self.files)
        return self.files[int(index)] if is_other else self.uri

    def _info(self, field: str) -> str:
        info = self.root.get("info")
        value = info.get(field) if isinstance(info, Mapping) else None
        return str(value) if isinstance(value, str | int | float) else ""


def escape(token: str) -> str:
    """One token of a pointer."""
    if token.isalnum():  # as most are: a schema's pointer is made of some ten
        return token
    return token.replace("~", "~0").replace("/", "~1").replace("%", "%25")


def join(pointer: str, *tokens: str | int) -> str:
    """A pointer to something further in: `join("#/paths", "/pets", "get")` is `#/paths/~1pets/get`."""
    for token in tokens:
        pointer = f"{pointer}/{escape(token) if isinstance(token, str) else token}"
    return pointer


def step(node: Any, token: str) -> tuple[Any, str]:
    """What a pointer's token names in `node`, and the token as `escape` writes it; raises LookupError.

    Percent-encoding is undone (RFC 6901 section 6) unless the key is really written so.
    """
    if isinstance(node, list) and token.isascii() and token.isdecimal():
        return node[int(token)], token
    if isinstance(node, Mapping):
        for spelling in (token, unquote(token)):
            key = spelling.replace("~1", "/").replace("~0", "~")
            if key in node:
                return node[key], escape(key)
    raise LookupError(token)
