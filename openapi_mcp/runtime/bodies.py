"""A call's request body: which arguments it is made of, in which media type, as which bytes.

An optional body of which nothing was given is no body at all, and then there is no Content-Type. Specification:
OpenAPI 3.2 Request Body Object and Media Type Object.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from . import content, files, forms, media_types, multipart
from .errors import ArgumentError
from .models import MediaType, RequestBody, Tool
from .types import MISSING, Missing


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of a body and the Content-Type that goes with them."""

    content_type: str
    content: bytes


def build(tool: Tool, arguments: Mapping[str, Any], file_roots: tuple[Path, ...] = ()) -> Body | None:
    """The body of a call, or None. Raises ArgumentError and RequestError. `file_roots`: see `files.opened`."""
    if tool.body is None:
        return None
    value = _value(tool, tool.body, arguments)
    if value is MISSING:
        return None
    media = _chosen(tool, tool.body, arguments, value)
    family = media_types.essence(media_types.concrete(media.content_type))
    writer = _binary if media.binary else _WRITERS.get(family.partition("/")[0]) or _WRITERS.get(family, _plain)
    return writer(files.opened(value, media, file_roots), media)


def _value(tool: Tool, body: RequestBody, arguments: Mapping[str, Any]) -> Any | Missing:
    """The body as one value: the whole-body argument, or the object its properties make."""
    whole = next((item for item in tool.arguments if item.location == "body" and item.wire_name is None), None)
    if whole is not None:
        return arguments.get(whole.name, MISSING)
    properties = _properties(tool, arguments)
    return properties if properties or body.required else MISSING


def _properties(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """In the document's order (some servers want fields before files), then what only the caller names."""
    declared = [item for item in tool.arguments if item.location == "body" and item.name in arguments]
    properties = {item.wire_name or item.name: arguments[item.name] for item in declared}
    known = {item.name for item in tool.arguments}
    return properties | {name: value for name, value in arguments.items() if name not in known}


def _chosen(tool: Tool, body: RequestBody, arguments: Mapping[str, Any], value: Any) -> MediaType:
    """The media type that the caller wants, else the first that is for such a value."""
    chooser = next((item.name for item in tool.arguments if item.location == "media_type"), None)
    wanted = arguments.get(chooser) if chooser else None
    if wanted is None:
        return next((media for media in body.media_types if _suits(media, value)), body.media_types[0])
    found = next((media for media in body.media_types if media.content_type == wanted), None)
    if found is None:
        offered = ", ".join(f"`{media.content_type}`" for media in body.media_types)
        raise ArgumentError(f"`{chooser}` must be one of {offered}, not {wanted!r}.")
    return found


def _suits(media: MediaType, value: Any) -> bool:
    kind = next((name for name, types in _KINDS.items() if isinstance(value, types)), "null")
    is_whole = kind == "number" and (isinstance(value, int) or value.is_integer())
    return not media.takes or kind in media.takes or (is_whole and "integer" in media.takes)


_KINDS: Final[Mapping[str, type | tuple[type, ...]]] = {
    "boolean": bool,
    "number": (int, float),
    "string": str,
    "array": list,
    "object": dict,
}
"""JSON's types as Python's; a boolean is a number here, and so comes first."""


def _binary(value: Any, media: MediaType) -> Body:
    found = content.file(value, "body")
    return Body(media_types.concrete(media.content_type, binary=True, known=found.content_type), found.data)


def _plain(value: Any, media: MediaType) -> Body:
    content_type = media_types.concrete(media.content_type)
    return Body(content_type, content.encode(value, content_type, media.xml))


def _form(value: Any, media: MediaType) -> Body:
    if not isinstance(value, dict):  # already written as a form
        return _plain(value, media)
    return Body(media.content_type, forms.encode(value, media.encoding).encode("ascii"))


def _parts(value: Any, media: MediaType) -> Body:
    return Body(*multipart.encode(value, media))


_WRITERS: Final[dict[str, Callable[[Any, MediaType], Body]]] = {"multipart": _parts, forms.FORM: _form}
"""By type, then by type/subtype; whatever else is one value in one media type."""
