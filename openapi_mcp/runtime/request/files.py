"""Files that arguments stand for: base64 strings, `data:` URLs, and `file:` URLs in folders that the server may read.

A `file:` URL outside of these folders is refused without access to the disk, so that a caller learns nothing of what
exists there. The path is judged after links and `..` are resolved.
Specification: RFC 4648 §4 and §5, RFC 2397, RFC 8089, OpenAPI 3.2 "Working with Binary Data".
"""

import base64
import binascii
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from mimetypes import MimeTypes
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote_to_bytes, urlsplit
from urllib.request import url2pathname

from .. import media_types
from ..errors import ArgumentError
from ..tool import Encoding, MediaType
from .context import deviate
from .styles import scalar_text

MAX_FILE_BYTES: Final = 64 * 1024 * 1024
"""A file is in memory twice, as itself and in the request; the limit is that of one answer of the API."""

_UNDECLARED: Final = Encoding()
# Only the types that Python knows itself: the request does not depend on the machine that sends it.
_TYPES: Final = MimeTypes(filenames=())


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of a file, and the media type and file name that a `data:` URL or a path gives for them, if any.

    `is_guessed` is true where the media type only follows from the suffix of a path.
    """

    data: bytes
    content_type: str | None = None
    filename: str | None = None
    is_guessed: bool = False


def decode(value: Any, name: str) -> FileContent:
    """Return the file that a base64 string or a `data:` URL stands for.

    Any other value is refused (ArgumentError), or is the text of the file where requests may deviate.
    """
    if isinstance(value, FileContent):
        return value
    if not isinstance(value, str):
        deviate(f"`{name}` must be a base64 string (the bytes of a file), not {scalar_text(value)[:40]}.", _AS_TEXT)
        return FileContent(scalar_text(value).encode("utf-8"))
    if value[:5].lower() == "data:":
        return _data_url(value, name)
    return FileContent(_base64(value, name))


_AS_TEXT: Final = "It is sent as text."


def _data_url(url: str, name: str) -> FileContent:
    head, comma, data = url[5:].partition(",")
    if not comma:
        deviate(f"`{name}` must be a data: URL with a comma before its data, e.g. `data:image/png;base64,…`.", _AS_TEXT)
        return FileContent(url.encode("utf-8"))
    kind, marker, _ = head.partition(";base64")
    return FileContent(
        _base64(data, name) if marker else unquote_to_bytes(data),
        media_types.essence(kind) or None,
        media_types.parameter(kind, "name") or media_types.parameter(kind, "filename"),
    )


def _base64(text: str, name: str) -> bytes:
    """Decode RFC 4648 §4 or §5; white space and missing padding are accepted. Other text is as in `decode`."""
    compact = re.sub(r"\s", "", text).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
    except (binascii.Error, ValueError):
        excerpt = text if len(text) <= 40 else text[:40] + "…"
        deviate(f"`{name}` must be base64 (the bytes of a file); {excerpt!r} is not base64.", _AS_TEXT)
        return text.encode("utf-8")


def read_file_urls(value: Any, media: MediaType, roots: tuple[Path, ...]) -> Any:
    """Return a body in which each binary value that is a `file:` URL is replaced by its FileContent.

    `roots` are the folders that may be read. Raises ArgumentError.
    """
    if media.binary:
        return _read(value, "body", roots)
    if isinstance(value, dict):
        return {key: _part(item, key, media.encoding.get(key, _UNDECLARED), roots) for key, item in value.items()}
    if isinstance(value, list):
        return [_part(item, "body", _at(index, media.encoding), roots) for index, item in enumerate(value)]
    return value


def _at(index: int, encoding: Mapping[str, Encoding]) -> Encoding:
    return encoding.get(str(index), encoding.get("*", _UNDECLARED))


def _part(value: Any, name: str, rule: Encoding, roots: tuple[Path, ...]) -> Any:
    if not rule.binary:
        return value
    return [_read(item, name, roots) for item in value] if isinstance(value, list) else _read(value, name, roots)


def _read(value: Any, name: str, roots: tuple[Path, ...]) -> Any:
    if not (isinstance(value, str) and value[:5].lower() == "file:"):
        return value
    if not roots:
        raise ArgumentError(
            f"`{name}` names a file, but this server reads none: send the bytes in base64, or start the server with "
            "`--allow-files FOLDER`."
        )
    path = _path(value, name)
    if not any(path.is_relative_to(root.resolve()) for root in roots):
        folders = ", ".join(str(root) for root in roots)
        raise ArgumentError(f"`{name}` names a file outside of the folders that this server may read: {folders}.")
    return FileContent(_bytes(path, name), _TYPES.guess_type(path.name)[0], path.name, is_guessed=True)


def _path(url: str, name: str) -> Path:
    """Return the path of a `file:` URL with links and `..` resolved."""
    refusal = f"`{name}` must be the URL of a file on this machine, e.g. `file:///folder/photo.png`."
    try:
        parts = urlsplit(url)
        path = Path(url2pathname(parts.path))
        resolved = path.resolve()
    except (ValueError, OSError, RuntimeError) as error:  # a NUL, a name too long, links that go round in a circle
        raise ArgumentError(refusal) from error
    if parts.netloc.lower() not in {"", "localhost"} or parts.query or parts.fragment or not path.is_absolute():
        raise ArgumentError(refusal)
    return resolved


def _bytes(path: Path, name: str) -> bytes:
    """Return the content of a regular file: no link that replaced it since its path was resolved, and no device."""
    try:
        # No link is followed, since the path is resolved; opening a pipe does not block.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(path, flags), "rb") as stream:  # noqa: PTH123  # a descriptor, which Path cannot open
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise ArgumentError(f"`{name}` names something that is not a regular file.")
            data = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ArgumentError(f"`{name}` names a file that cannot be read: {error.strerror}.") from error
    if len(data) > MAX_FILE_BYTES:
        raise ArgumentError(f"`{name}` names a file of more than {MAX_FILE_BYTES // 1024**2} MiB, which is not sent.")
    return data
