"""Choose the Accept and Content-Type headers of an operation: what the document fixes, and what a model may choose.

OpenAPI says that header parameters with these names are ignored, but APIs carry their versions in them: the default or
the only value of such a parameter is sent as it is. Specification: OpenAPI 3.2 Parameter Object, RFC 9110 section 8.3
and section 12.5.1.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeGuard

from ..runtime import media_types
from ..runtime.types import JsonObject
from .request_body import BodyArguments
from .responses import accept_header

NEGOTIATED: Final = frozenset({"accept", "content-type"})
"""The headers whose parameters OpenAPI ignores and whose fixed values are sent, in lower case."""

_DATA: Final = "data"

_ANY_BYTES: Final = "application/octet-stream"

_WRITTEN_HERE: Final = (media_types.is_json, media_types.is_xml, media_types.is_form, media_types.is_multipart)
"""Tests of the formats into which arguments are written: a body of bytes has none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredHeader:
    """A declared header parameter of `NEGOTIATED`: its documented values, default and examples that can be sent."""

    values: tuple[str, ...] = ()
    default: str | None = None
    examples: tuple[str, ...] = ()
    required: bool = False
    pointer: str = "#"

    @property
    def fixed(self) -> str | None:
        """The value to send where nobody chooses: the default, else the only value."""
        return self.default or (self.values[0] if len(self.values) == 1 else None)

    @property
    def without_body(self) -> str | None:
        """The value to send without a body: many APIs require one there, and say only by an example which."""
        example = self.examples[0] if self.required and self.examples and not self.values else None
        return self.fixed or example


@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """The Accept header of an operation, and the media types that a model may choose instead (none: no argument)."""

    value: str
    choices: tuple[str, ...] = ()
    default: str | None = None


def read_header(parameter: JsonObject, schema: JsonObject, examples: Iterable[object], pointer: str) -> DeclaredHeader:
    """Return the values that can be sent of a header parameter with this schema and these examples of its own."""
    enum = schema.get("enum")
    values = enum if isinstance(enum, list) else [schema["const"]] if "const" in schema else []
    default = schema.get("default")
    more = schema.get("examples")
    examples = [*examples, schema.get("example"), *(more if isinstance(more, list) else ())]
    return DeclaredHeader(
        values=tuple(dict.fromkeys(filter(_is_sendable, values))),
        default=default if _is_sendable(default) else None,
        examples=tuple(filter(_is_sendable, examples)),
        required=parameter.get("required") is True,
        pointer=pointer,
    )


def _is_sendable(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and "/" in value and value.isascii() and value.isprintable()


def accept(declared: DeclaredHeader | None, documented: Sequence[str]) -> Accept:
    """Return the Accept header for the parameter and the documented media types of the success.

    Of several declared values, one is sent as it is: the default, else the first that is JSON, else the first.
    """
    if declared is not None and (declared.fixed or declared.values):
        value = declared.fixed or min(declared.values, key=lambda name: not media_types.is_json(name))
        choices = declared.values if len(declared.values) > 1 else ()
        return Accept(value=value, choices=choices, default=value if value in choices else None)
    choices = _choices(documented)
    value = accept_header(documented)
    return Accept(value=value, choices=choices, default=value.partition(",")[0] if choices else None)


def _choices(documented: Iterable[str]) -> tuple[str, ...]:
    """Return the first media type of each kind, JSON first; none where all are of one kind."""
    concrete = [name for name in documented if _is_sendable(name) and not media_types.is_range(name)]
    first_of_kind: dict[str, str] = {}
    for name in sorted(concrete, key=lambda name: not media_types.is_json(name)):
        first_of_kind.setdefault(_kind(name), name)
    return tuple(first_of_kind.values()) if len(first_of_kind) > 1 else ()


def _kind(name: str) -> str:
    """Return the kind of a media type: JSON, XML and YAML are the same data in another notation, so no choice."""
    essence = media_types.essence(name)
    is_yaml = essence.endswith(("/yaml", "/x-yaml", "+yaml"))
    return _DATA if media_types.is_json(name) or media_types.is_xml(name) or is_yaml else essence


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentType:
    """The body with the declared Content-Type, that of a request without a body, and the defect of the parameter."""

    body: BodyArguments | None
    without_body: str | None = None
    problem: str = ""


def content_type(declared: DeclaredHeader | None, body: BodyArguments | None) -> ContentType:
    """Apply a Content-Type parameter: its value replaces the body's media type where both are of the same format.

    A required one is sent without a body too, where the body is optional; else a request without one has no type.
    """
    if declared is None:
        return ContentType(body=body)
    if body is None:
        problem = "" if declared.without_body else "an operation without a body cannot have a choice of Content-Type"
        return ContentType(body=None, without_body=declared.without_body, problem=problem)
    without_body = declared.without_body if declared.required and not body.body.required else None
    offered = [media.content_type for media in body.body.media_types]
    requested = [declared.fixed] if declared.fixed else list(declared.values)
    others = [name for name in requested if name not in offered]
    if not others:
        return ContentType(body=_preferring(body, declared.fixed), without_body=without_body)
    if declared.fixed and (same := _same_format(declared.fixed, offered)):
        body = _preferring(_renamed(body, same, declared.fixed), declared.fixed)
        return ContentType(body=body, without_body=without_body)
    return ContentType(body=body, problem=f"the body has no media type {' or '.join(others)}")


def _same_format(name: str, offered: Sequence[str]) -> str | None:
    """Return the offered media type of the same format; parameters and vendors' names make no difference.

    Bytes of any format, `application/octet-stream`, may be those of a file of the named one.
    """
    essence = media_types.essence(name)
    same = [other for other in offered if media_types.essence(other) == essence]
    for test in (media_types.is_json, media_types.is_xml):
        same += [other for other in offered if test(other) and test(name)]
    if not any(test(name) for test in _WRITTEN_HERE):
        same += [other for other in offered if media_types.essence(other) == _ANY_BYTES]
    return same[0] if same else None


def _renamed(body: BodyArguments, old: str, new: str) -> BodyArguments:
    media = tuple(
        replace(each, content_type=new) if each.content_type == old else each for each in body.body.media_types
    )
    choices = tuple(new if choice == old else choice for choice in body.choices)
    return replace(body, body=replace(body.body, media_types=media), choices=choices)


def _preferring(body: BodyArguments, name: str | None) -> BodyArguments:
    """Return the body with this media type first: the first is sent unless the caller chooses."""
    media = sorted(body.body.media_types, key=lambda each: each.content_type != name)
    if name is None or media == list(body.body.media_types):
        return body
    choices = tuple(sorted(body.choices, key=lambda choice: choice != name))
    return replace(body, body=replace(body.body, media_types=tuple(media)), choices=choices)
