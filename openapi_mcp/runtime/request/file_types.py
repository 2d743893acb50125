"""Choose the media type that a file is sent as: within the types that the document declares, and never another's.

The type of a file is the one that its `data:` URL names, else the one that its first bytes show.
Specification: RFC 9110 §8.3, RFC 2397, OpenAPI 3.2 "Working with Binary Data", WHATWG MIME Sniffing §6.
"""

from collections.abc import Sequence
from typing import Final

from .. import media_types
from .context import deviate
from .files import FileContent

_SIGNATURES: Final[tuple[tuple[int, bytes, tuple[str, ...]], ...]] = (
    (0, b"\x89PNG\r\n\x1a\n", ("image/png",)),
    (0, b"\xff\xd8\xff", ("image/jpeg",)),
    (0, b"GIF8", ("image/gif",)),
    (8, b"WEBP", ("image/webp",)),
    (0, b"II*\0", ("image/tiff",)),
    (0, b"MM\0*", ("image/tiff",)),
    (0, b"%PDF-", ("application/pdf",)),
    (0, b"ID3", ("audio/mpeg",)),
    (0, b"fLaC", ("audio/flac",)),
    (8, b"WAVE", ("audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave")),
    (4, b"ftyp", ("video/mp4", "audio/mp4", "image/heic", "image/avif", "video/quicktime")),
    (0, b"OggS", ("audio/ogg", "video/ogg", "application/ogg")),
    (0, b"\x1aE\xdf\xa3", ("video/webm", "audio/webm", "video/x-matroska")),
)
"""Offset, bytes, and the types of files that have these bytes there."""

_KNOWN: Final = frozenset(name for _, _, names in _SIGNATURES for name in names)
_ALIASES: Final = {"image/jpg": "image/jpeg", "image/svg": "image/svg+xml", "audio/mp3": "audio/mpeg"}
_OF_RANGES: Final = {
    "image/*": "image/png",
    "audio/*": "audio/mpeg",
    "video/*": "video/mp4",
    "font/*": "font/woff2",
    "text/*": "text/plain",
    "multipart/*": "multipart/mixed",
}
"""The types that files of unknown type are sent as within a range; within any other range `type/octet-stream`."""


def content_type(file: FileContent, declared: str, name: str, *, is_part: bool = False) -> str:
    """Return the Content-Type of a body, or of a part, that is declared as this type, range or list.

    A file of another type is refused (ArgumentError), or sent as what it is where requests may deviate. A part declared
    for any bytes has the type that a `data:` URL names.
    """
    types = _types(file)
    if covered := _covering(declared, types):
        return covered
    if _is_generic(declared):
        return file.content_type if is_part and file.content_type and _is_named(file) else media_types.OCTET_STREAM
    if types and (_is_named(file) or _is_recognisable(declared)):
        deviate(f"`{name}` must be a file of the type {declared}, not {types[0]}.", f"It is sent as {types[0]}.")
        return types[0]
    return _default(declared)


def _types(file: FileContent) -> tuple[str, ...]:
    """Return the types that a file may be of: the named one, else those that its bytes show."""
    if file.content_type and media_types.essence(file.content_type) != media_types.OCTET_STREAM:
        return (file.content_type,)
    head = file.data[:16]
    return next((names for at, magic, names in _SIGNATURES if head[at : at + len(magic)] == magic), ())


def _covering(declared: str, types: Sequence[str]) -> str | None:
    """Return the type to send of a file of these types: the declared one, or that of the file within a range."""
    for entry in media_types.alternatives(declared):
        for name in types:
            if media_types.covers(_canonical(entry), _canonical(name)):
                return name if media_types.is_range(entry) else entry
    return None


def _canonical(name: str) -> str:
    essence = media_types.essence(name)
    return _ALIASES.get(essence, essence)


def _is_named(file: FileContent) -> bool:
    """Return whether the caller named the type of the file; that of a path is guessed from its suffix."""
    return file.content_type is not None and not file.is_guessed


def _is_recognisable(declared: str) -> bool:
    """Return whether the first bytes of a file of any declared type would show its type."""
    names = (_canonical(entry) for entry in media_types.alternatives(declared))
    return all(name in _KNOWN or name in {"image/*", "audio/*", "video/*"} for name in names)


def _is_generic(declared: str) -> bool:
    names = {media_types.essence(entry) for entry in media_types.alternatives(declared)}
    return not names or bool(names & {media_types.OCTET_STREAM, "*/*"})


def _default(declared: str) -> str:
    """Return the type of a file of unknown type: the first declared one, or one within the first range."""
    entries = media_types.alternatives(declared)
    entry = next((entry for entry in entries if not media_types.is_range(entry)), entries[0])
    if not media_types.is_range(entry):
        return entry
    essence = media_types.essence(entry)
    return _OF_RANGES.get(essence, essence[:-1] + "octet-stream")
