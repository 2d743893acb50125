"""Represent an OpenAPI document as one value, and read and write the JSON pointers into it (RFC 6901).

A pointer is always written as `#/…`, with `~0`, `~1` and `%25` for `~`, `/` and `%`; `step` reads what `join` writes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import unquote

from ..errors import Problem
from ..regular_files import MAX_DOCUMENT_BYTES
from ..runtime.types import JsonObject

FILES: Final = "x-openapi-mcp-files"
"""Key of the root that holds the other files of a multi-file document: a list, in the order of `Document.files`."""

UNREAD: Final = "x-openapi-mcp-unread"
"""Key of the entry in `FILES` for a file that could not be read: `{UNREAD: reason, "hint": hint}`."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the size of a document; a larger one is refused, never read in part.

    Keys and aliases beyond their limits are left out, with a Problem for each.
    """

    file_bytes: int = MAX_DOCUMENT_BYTES
    total_bytes: int = 256 << 20
    """All files of one document together: four of the largest."""
    files: int = 10_000
    """The largest multi-file document known (DigitalOcean's) has 1,488."""
    depth: int = 256
    """Nested objects and arrays. Real documents stay under 70; Python's own recursion limit is 1,000 calls."""
    values: int = 2_000_000
    """Objects, lists and scalars of all files together: eight times those of the largest document known (GitHub's)."""
    alias_values: int = 300_000
    """Values that the aliases of one YAML file may expand to: GitHub's document has about as many without aliases."""
    key_characters: int = 2_000
    """The longest key. The pointers of all that is beneath it contain it."""


DEFAULT_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Document:
    """An OpenAPI document: one mapping and its origin.

    `uri` is `file:///…`, `https://…` or `stdin:`. `version` is that of `root`: `2.0`, `3.0`, `3.1` or `3.2`. After
    `loader.load` every reference of `root` is internal: `files` has the URIs of the files in `root[FILES]`, in that
    order, unread ones included. `source` is the Swagger 2.0 document that `root` was converted from, or None; `origins`
    maps the pointers of schemas that the conversion named to those of the source.
    `digests` maps the URI of each file to the SHA-256 of its bytes, to detect changes. `validators` maps it to the
    headers of a conditional request for it (RFC 9110 §13.1). `values` is the number of objects, lists and scalars.
    `is_private` tells whether every file came from this machine, or from a private address.
    """

    root: JsonObject
    uri: str
    version: str
    problems: tuple[Problem, ...] = ()
    files: tuple[str, ...] = ()
    source: JsonObject | None = None
    origins: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    validators: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    values: int = 0
    is_private: bool = True

    @property
    def title(self) -> str:
        """`info.title`, or an empty string."""
        return self._info("title")

    @property
    def api_version(self) -> str:
        """`info.version`, or an empty string."""
        return self._info("version")

    @property
    def source_version(self) -> str:
        """The version of the document as its author wrote it."""
        return self.version if self.source is None else "2.0"

    def as_written(self) -> "Document":
        """Return the document before its conversion from Swagger 2.0; any other document is returned unchanged."""
        return self if self.source is None else replace(self, root=self.source, version="2.0", source=None)

    def uri_of(self, pointer: str) -> str:
        """Return the URI of the file that a pointer leads into."""
        index = pointer.removeprefix(f"#/{FILES}/").partition("/")[0]
        is_other = pointer.startswith(f"#/{FILES}/") and index.isdecimal() and int(index) < len(self.files)
        return self.files[int(index)] if is_other else self.uri

    def _info(self, field: str) -> str:
        info = self.root.get("info")
        value = info.get(field) if isinstance(info, Mapping) else None
        return str(value) if isinstance(value, str | int | float) else ""


def escape(token: str) -> str:
    """Return a key as a token of a pointer."""
    if token.isalnum():  # most are, and a schema's pointer has some ten
        return token
    return token.replace("~", "~0").replace("/", "~1").replace("%", "%25")


def join(pointer: str, *tokens: str | int) -> str:
    """Return a pointer with tokens appended: `join("#/paths", "/pets", "get")` is `#/paths/~1pets/get`."""
    for token in tokens:
        pointer = f"{pointer}/{escape(token) if isinstance(token, str) else token}"
    return pointer


def split(pointer: str) -> list[str]:
    """Return the keys of a pointer: `#/paths/~1pets/get` has `paths`, `/pets` and `get`."""
    return [token.replace("%25", "%").replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def step(node: Any, token: str) -> tuple[Any, str]:
    """Return the value that a token names in `node`, and the token as `escape` writes it. Raises LookupError.

    A key that is written like the token comes first; then percent-encoding is decoded (RFC 6901 section 6).
    """
    if isinstance(node, list) and token.isascii() and token.isdecimal():
        return node[int(token)], token
    if isinstance(node, Mapping):
        for spelling in (token, unquote(token)):
            key = spelling.replace("~1", "/").replace("~0", "~")
            if key in node:
                return node[key], escape(key)
    raise LookupError(token)
