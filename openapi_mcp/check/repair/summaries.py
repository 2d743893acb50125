"""Texts for operations without any, made of the method, the path and the documented answer."""

from collections.abc import Mapping
from typing import Any, Final

from ...tools.names import words
from ...tools.operations import Operation
from ..subject import JudgedDocument

_VERBS: Final[Mapping[str, tuple[str, str]]] = {
    "GET": ("List", "Get one of"),
    "HEAD": ("Check", "Check one of"),
    "POST": ("Add to", "Change one of"),
    "PUT": ("Replace", "Replace one of"),
    "PATCH": ("Change", "Change one of"),
    "DELETE": ("Remove", "Remove one of"),
    "OPTIONS": ("Describe", "Describe one of"),
}
"""Verbs for a path that ends with a name, and for one that ends with a variable."""


def summary_of(operation: Operation) -> str:
    """Return a summary made of method and path: `Get one of the pets by petId`."""
    segments = [segment for segment in operation.path.split("/") if segment]
    named = [" ".join(words(segment)) for segment in segments if not segment.startswith("{")]
    variables = [segment.strip("{}") for segment in segments if segment.startswith("{")]
    collection, item = _VERBS.get(operation.method, (operation.method.capitalize(), f"{operation.method} one of"))
    noun = named[-1] if named else "API"
    if segments and segments[-1].startswith("{"):
        return f"{item} the {noun} by {variables[-1]}"
    if operation.method == "POST" and variables:
        return f"Post {noun} of the {named[-2] if len(named) > 1 else 'resource'} by {variables[-1]}"
    owner = f" of the {named[-2]} by {variables[-1]}" if variables and len(named) > 1 else ""
    return f"{collection} {noun}{owner}"


MAX_NAMED_FIELDS: Final = 3
"""Fields of an answer that a description names."""


def answer_of(subject: JudgedDocument, operation: Operation) -> str:
    """Return a sentence about the answer; empty where the document says nothing of it."""
    for status, node, pointer in subject.responses(operation):
        if status.startswith("2"):
            for name, media, place in subject.media_types(node, pointer):
                schema = subject.follow(media.get("schema"), f"{place}/schema")
                return f"Answers {status} with {_shape(subject, *schema) or name}."
            return f"Answers {status} without content."
    return ""


def _shape(subject: JudgedDocument, schema: Any, pointer: str) -> str:
    """Return what a schema describes in a few words; empty for one that describes nothing."""
    if isinstance(schema.get("items"), dict):
        inner = _shape(subject, *subject.follow(schema["items"], f"{pointer}/items"))
        return f"a list of {inner}" if inner else "a list"
    properties = schema.get("properties")
    if isinstance(properties, dict) and properties:
        names = ", ".join(list(map(str, properties))[:MAX_NAMED_FIELDS])
        return f"{names}{', …' if len(properties) > MAX_NAMED_FIELDS else ''}"
    return ""
