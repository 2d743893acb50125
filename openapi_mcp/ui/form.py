"""The arguments of a call, read from the form of the page: names of inputs are places, with the kind of their value.

`/pet/age#number` is the number `age` of the object `pet`; `/tags#array` says that the segments below `/tags` are keys
of items in their order. An input that is left empty is no argument. Nothing is judged here: the server does that.
"""

import json
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import parse_qsl

from ..runtime.types import MISSING, JsonObject
from .access import FormError
from .fields import MAX_STEPS, unescaped

MAX_INPUTS: Final = 5000
"""Inputs of a form, empty ones included: more than anybody fills in."""


class _ArgumentNode:
    """A place in the arguments: a value, or places below it."""

    __slots__ = ("kind", "places", "value")

    def __init__(self) -> None:
        self.kind = ""
        self.places: dict[str, _ArgumentNode] = {}
        self.value: Any = MISSING

    def at(self, segments: Iterable[str]) -> "_ArgumentNode":
        """Return the place below this one, made if need be."""
        place = self
        for segment in segments:
            place = place.places.setdefault(segment, _ArgumentNode())
        return place

    def result(self) -> Any:
        """Return the value; MISSING if nothing was filled in and nothing is required."""
        if self.value is not MISSING:
            return self.value
        below = {key: value for key, place in self.places.items() if (value := place.result()) is not MISSING}
        if self.kind.startswith("array"):
            return list(below.values()) if below or self.kind == "array!" else MISSING
        return {unescaped(key): value for key, value in below.items()} if below or self.kind == "object!" else MISSING


def read_form(body: bytes) -> dict[str, str]:
    """Return the inputs of a form by name; of a name that comes twice the last one. Raises FormError."""
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MAX_INPUTS))
    except ValueError:
        raise FormError(f"The form has more than {MAX_INPUTS:,} inputs, or is not UTF-8.") from None


def arguments_of(inputs: dict[str, str]) -> JsonObject:
    """Return the arguments of a call: of the text of JSON, or of the inputs, whichever the user chose.

    Raises FormError.
    """
    if inputs.get("as") == "json":
        value = _json("The arguments", inputs.get("json") or "{}")
        if not isinstance(value, dict):
            raise FormError("The arguments must be a JSON object.")
        return value
    root = _ArgumentNode()
    for name, text in inputs.items():
        pointer, _, kind = name.rpartition("#")
        segments = pointer.split("/")[1:]
        if not name.startswith("/") or not segments or len(segments) > MAX_STEPS:
            continue
        place = root.at(segments)
        if kind in ("array", "array!", "object!"):
            place.kind = kind
        else:
            place.value = _value(pointer, kind, text)
    return root.result() if root.places and root.result() is not MISSING else {}


def _value(pointer: str, kind: str, text: str) -> Any:
    """Return the value of an input; MISSING for an empty one. Raises FormError."""
    if not text.strip():
        return MISSING
    if kind == "number":
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text  # which the server refuses, with its reason
    return text if kind == "string" else _json(unescaped(pointer.removeprefix("/")), text)


def _json(what: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormError(f"{what}: not JSON: {error}") from None
