"""Build the body of a request: its value from arguments, its media type, its bytes.

An optional body without arguments is omitted, and so is its Content-Type. `files` and `multipart` are imported where
they are used: a generated package without such bodies leaves them out.

Specification: OpenAPI 3.2 Request Body Object and Media Type Object.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from .. import media_types
from ..errors import ArgumentError
from ..tool import MediaType, RequestBody, Tool
from ..types import MISSING, Missing
from . import content
from .context import deviate


@dataclass(frozen=True, slots=True)
class EncodedBody:
    """The bytes of a body and their Content-Type."""

    content_type: str
    content: bytes


def build(tool: Tool, arguments: Mapping[str, Any], file_roots: tuple[Path, ...] = ()) -> EncodedBody | None:
    """Return the body of a call, or None. `file_roots`: see `files`. Raises ArgumentError and RequestError."""
    if tool.body is None:
        return None
    value = _value(tool, tool.body, arguments)
    if value is MISSING:
        return None
    media = _select_media_type(tool, tool.body, arguments, value)
    value = _with_files(value, media, file_roots)
    if media.binary:
        return _binary(value, media, () if _requested(tool, arguments) else tool.body.media_types)
    family = media_types.essence(media_types.concrete(media.content_type))
    writer = _WRITERS.get(family.partition("/")[0]) or _WRITERS.get(family, _plain)
    return writer(value, media)


def _with_files(value: Any, media: MediaType, roots: tuple[Path, ...]) -> Any:
    if not (media.binary or any(rule.binary for rule in media.encoding.values())):
        return value
    from . import files

    return files.read_file_urls(value, media, roots)


def _value(tool: Tool, body: RequestBody, arguments: Mapping[str, Any]) -> Any | Missing:
    """Return the body as one value: that of the argument for the entire body, or an object of its properties."""
    entire = next((item for item in tool.arguments if item.location == "body" and item.wire_name is None), None)
    if entire is not None:  # a required body whose argument may be left out is an object that may be empty
        return arguments.get(entire.name, {} if body.required and not entire.required else MISSING)
    properties = _properties(tool, arguments)
    return properties if properties or body.required else MISSING


def _properties(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties in the document's order (some servers need fields before files), undeclared ones last."""
    declared = [item for item in tool.arguments if item.location == "body" and item.name in arguments]
    properties = {item.wire_name or item.name: arguments[item.name] for item in declared}
    names = {item.name for item in tool.arguments}
    return properties | {name: value for name, value in arguments.items() if name not in names}


def _select_media_type(tool: Tool, body: RequestBody, arguments: Mapping[str, Any], value: Any) -> MediaType:
    """Return the media type that the call names, else the first one that accepts the value."""
    requested = _requested(tool, arguments)
    if requested is None:
        return _suitable(body, value)
    selected = next((media for media in body.media_types if media.content_type == requested), None)
    return selected or _undeclared_media_type(_chooser(tool) or "", body, requested, value)


_MEDIA_TYPE: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'+.^_`|~0-9A-Za-z-]+[ \t]*(;[ -+\--~\t]*)?")
"""A media type without control characters and commas (RFC 9110 §8.3.1); no range."""


def _undeclared_media_type(chooser: str, body: RequestBody, requested: Any, value: Any) -> MediaType:
    """Return a media type that the document does not declare, with what it says of the one that takes the value.

    It is refused (ArgumentError) unless requests may deviate; text that is no media type is refused in any case.
    """
    available = ", ".join(f"`{media.content_type}`" for media in body.media_types)
    refusal = f"`{chooser}` must be one of {available}, not {requested!r}."
    if not (isinstance(requested, str) and _MEDIA_TYPE.fullmatch(requested)):
        raise ArgumentError(refusal)
    deviate(refusal, f"The body is sent as {requested}.")
    nearest = _suitable(body, value)
    has_parts = media_types.is_multipart(requested) or media_types.is_form(requested)
    is_file = isinstance(value, str) and not (has_parts or media_types.is_text(requested))
    return replace(nearest, content_type=requested, binary=is_file)


def _requested(tool: Tool, arguments: Mapping[str, Any]) -> Any:
    """Return the media type that the call names; None where it names none."""
    chooser = _chooser(tool)
    return arguments.get(chooser) if chooser else None


def _chooser(tool: Tool) -> str | None:
    return next((item.name for item in tool.arguments if item.location == "media_type"), None)


def _suitable(body: RequestBody, value: Any) -> MediaType:
    """Return the first media type that takes a value and has what it requires, else the first that takes it."""
    takers = [media for media in body.media_types if _accepts(media, value)] or body.media_types
    if isinstance(value, dict):
        takers = [*(media for media in takers if value.keys() >= {*media.requires}), *takers]
    return takers[0]


def _accepts(media: MediaType, value: Any) -> bool:
    kind = next((name for name, types in _PYTHON_TYPES.items() if isinstance(value, types)), "null")
    is_integer = kind == "number" and (isinstance(value, int) or value.is_integer())
    return not media.takes or kind in media.takes or (is_integer and "integer" in media.takes)


_PYTHON_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "boolean": bool,
    "number": (int, float),
    "string": str,
    "array": list,
    "object": dict,
}
"""JSON's types in Python, in the order of the checks: in Python a boolean is a number too."""


def _binary(value: Any, media: MediaType, options: Sequence[MediaType]) -> EncodedBody:
    """Return a body of bytes in the media type of the file, where there are several `options`."""
    from . import file_types, files

    file = files.decode(value, "body")
    declared = ", ".join(option.content_type for option in options if option.binary) or media.content_type
    return EncodedBody(file_types.content_type(file, declared, "body"), file.data)


def _plain(value: Any, media: MediaType) -> EncodedBody:
    content_type = media_types.concrete(media.content_type)
    return EncodedBody(content_type, content.encode(value, content_type, media.xml))


def _form(value: Any, media: MediaType) -> EncodedBody:
    if not isinstance(value, dict):  # text that is a form already
        return _plain(value, media)
    return EncodedBody(media.content_type, content.encode_form(value, media.encoding).encode("ascii"))


def _parts(value: Any, media: MediaType) -> EncodedBody:
    from . import multipart

    return EncodedBody(*multipart.encode(value, media))


_WRITERS: Final[dict[str, Callable[[Any, MediaType], EncodedBody]]] = {"multipart": _parts, content.FORM: _form}
"""By type, then by type/subtype; a body of any other type is one value in one media type."""
