"""Summaries for operations without any text, made of the method and the path."""

from collections.abc import Mapping
from typing import Final

from ...tools.names import words
from ...tools.operations import Operation

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
