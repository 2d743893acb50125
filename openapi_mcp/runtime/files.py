"""Files that an argument names by a `file:` URL, read only from folders that whoever runs the server has opened.

Everywhere else a `file:` URL is refused without a look at the disk, so that nobody learns what is there. What counts is
where a path really leads: links and `..` are followed before it is judged. Specification: RFC 8089.
"""

import os
import stat
from collections.abc import Mapping
from mimetypes import MimeTypes
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from .content import File
from .errors import ArgumentError
from .models import Encoding, MediaType

MAX_FILE_BYTES: Final = 64 * 1024 * 1024
"""A file is held in memory, once as it is and once in the request: as much as is held of one answer."""

_UNDECLARED: Final = Encoding()
# The types that Python knows by itself: what is sent does not depend on the machine that sends it.
_TYPES: Final = MimeTypes(filenames=())


def opened(value: Any, media: MediaType, roots: tuple[Path, ...]) -> Any:
    """A body with each binary value that is a `file:` URL replaced by that file. Raises ArgumentError."""
    if media.binary:
        return _file(value, "body", roots)
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
    return [_file(item, name, roots) for item in value] if isinstance(value, list) else _file(value, name, roots)


def _file(value: Any, name: str, roots: tuple[Path, ...]) -> Any:
    if not (isinstance(value, str) and value[:5].lower() == "file:"):
        return value
    if not roots:
        raise ArgumentError(
            f"`{name}` names a file, and this server reads none; send the bytes in base64, or have the server started "
            "with `--allow-files FOLDER`."
        )
    path = _path(value, name)
    if not any(path.is_relative_to(root.resolve()) for root in roots):
        folders = ", ".join(str(root) for root in roots)
        raise ArgumentError(f"`{name}` names a file outside of the folders that this server reads: {folders}.")
    return File(_bytes(path, name), _TYPES.guess_type(path.name)[0], path.name)


def _path(url: str, name: str) -> Path:
    """Where a `file:` URL really leads."""
    refusal = f"`{name}` is not the URL of a file on this machine; one looks like `file:///folder/photo.png`."
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
    """The content of a regular file; nothing that was put in its place since, and no device that never ends."""
    try:
        # No link is followed, and a pipe does not block: the path was resolved before.
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
