"""Values of a document that hold expressions: compiled once, filled in at each step, bounded in size.

A text that is one expression has that expression's value, of any type; an expression in braces becomes text there.
What is MISSING is left out of an object. A payload of JSON that is written as text is read as JSON before it is filled
in, so that no value can end a string of it; values in a text of a form are percent-encoded, inputs in XML are escaped.

Specification: Arazzo 1.1.0 "Runtime Expressions", "Request Body Object", "Payload Replacement Object", "Selector
Object".
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Final
from urllib.parse import quote_plus

from ...runtime import jsontext, media_types
from ...runtime.errors import RuntimeFailure
from ...runtime.types import MISSING
from .expressions import EmbeddedText, Expression, ExpressionError, is_expression, parse, pointer_tokens, text_of
from .scope import Scope, walk
from .selection import select, selected

MAX_CHARACTERS: Final = 4 * 1024 * 1024
"""Characters of one value with all that it holds: a step sends no more."""

MAX_DEPTH: Final = 64
"""Nested objects and arrays of a value in a document of workflows."""


class ValueTooLarge(RuntimeFailure):
    """A value of a workflow that has more than MAX_CHARACTERS."""


@dataclass(frozen=True, slots=True)
class Selector:
    """A Selector Object: a query (`jsonpath` or `jsonpointer`) applied to the value of an expression."""

    context: Expression
    query: str | EmbeddedText
    type: str


@dataclass(frozen=True, slots=True)
class Replacement:
    """A Payload Replacement Object: the places in a payload that a query selects, and their new value."""

    target: str
    type: str
    value: Any


@dataclass(frozen=True, slots=True)
class StepPayload:
    """The body of a step: its template and what is replaced in it. `media_type` is None where the step names none."""

    value: Any
    replacements: tuple[Replacement, ...] = ()
    media_type: str | None = None


_SELECTOR_FIELDS: Final = frozenset({"context", "selector", "type"})
_IN_BRACES: Final = re.compile(r"\{(\$[^{}]*)\}")


def compile_value(node: Any, depth: int = 0) -> Any:
    """Return a value of a document with its expressions parsed. Raises ExpressionError."""
    if depth > MAX_DEPTH:
        raise ExpressionError(f"the value is nested deeper than {MAX_DEPTH} levels")
    if isinstance(node, str):
        return parse(node) if is_expression(node) else text_of(node) or node
    if isinstance(node, list):
        return [compile_value(item, depth + 1) for item in node]
    if not isinstance(node, dict):
        return node
    if node.keys() >= _SELECTOR_FIELDS and isinstance(node["context"], str) and is_expression(node["context"]):
        return compile_selector(node)
    return {str(name): compile_value(item, depth + 1) for name, item in node.items()}


def compile_selector(node: Mapping[str, Any]) -> Selector:
    """Return the selector that an object is. Raises ExpressionError."""
    query = str(node["selector"])
    return Selector(parse(node["context"]), text_of(query) or query, selector_type(node["type"]))


def selector_type(node: Any) -> str:
    """Return `jsonpath` or `jsonpointer`, of a name or an Expression Type Object. Raises ExpressionError."""
    name = node.get("type") if isinstance(node, dict) else node
    if name in ("jsonpath", "jsonpointer"):
        return str(name)
    reason = "XPath is not supported; select from JSON with jsonpath or jsonpointer" if name == "xpath" else "unknown"
    raise ExpressionError(f"the type of selector {name!r}: {reason}")


def compile_payload(node: Any, media_type: str | None) -> Any:
    """Return a payload with its expressions parsed; one of JSON that is written as text is read as JSON, if it is that.

    Raises ExpressionError.
    """
    kind = media_types.essence(media_type or "application/json")
    if not isinstance(node, str) or is_expression(node.strip()):
        return compile_value(node.strip() if isinstance(node, str) else node)
    if media_types.is_json(kind):
        try:
            return _typed(compile_value(json.loads(_quoted(node))))
        except (ValueError, RecursionError) as error:
            if isinstance(error, ExpressionError):
                raise
    return text_of(node) or node


_BARE: Final = "\ue000"
"""A character of Unicode's private use, before an expression that stands outside of strings in a text of JSON."""


def _quoted(text: str) -> str:
    """Return a text of JSON whose expressions outside of strings are strings that begin with _BARE."""
    pieces, end, inside = [], 0, False
    for match in _IN_BRACES.finditer(text):
        between = text[end : match.start()]
        inside ^= len(re.findall(r'(?<!\\)(?:\\\\)*"', between)) % 2 == 1
        pieces += [between, match[0] if inside else json.dumps(_BARE + match[0])]
        end = match.end()
    return "".join([*pieces, text[end:]])


@dataclass(frozen=True, slots=True)
class _Whole:
    """An expression that is all of a string in a text of JSON: an object or array stays one; `is_bare`: any value."""

    expression: Expression
    is_bare: bool


def _typed(value: Any) -> Any:
    if isinstance(value, EmbeddedText):
        first, *rest = value.parts
        is_bare = first == _BARE
        whole = rest[0] if is_bare and len(rest) == 1 else first if not rest else None
        return _Whole(whole, is_bare) if isinstance(whole, Expression) else value
    if isinstance(value, list):
        return [_typed(item) for item in value]
    return {name: _typed(item) for name, item in value.items()} if isinstance(value, dict) else value


def fill(value: Any, scope: Scope) -> Any:
    """Return a compiled value with the values of its expressions, or MISSING. Raises ValueTooLarge and InvalidQuery."""
    filled = _filled(value, scope)
    check_size(filled)
    return filled


def _filled(value: Any, scope: Scope) -> Any:
    if isinstance(value, Expression):
        return scope.value(value)
    if isinstance(value, EmbeddedText):
        return joined(value, scope)
    if isinstance(value, _Whole):
        inner = scope.value(value.expression)
        is_kept = value.is_bare or inner is None or inner is MISSING or isinstance(inner, dict | list)
        return inner if is_kept else written(inner)
    if isinstance(value, Selector):
        query = value.query if isinstance(value.query, str) else joined(value.query, scope)
        return selected(query, value.type, scope.value(value.context))
    if isinstance(value, list):
        items = [_filled(item, scope) for item in value]
        return [None if item is MISSING else item for item in items]
    if isinstance(value, dict):
        pairs = {name: _filled(item, scope) for name, item in value.items()}
        return {name: item for name, item in pairs.items() if item is not MISSING}
    return value


def joined(text: EmbeddedText, scope: Scope, write: Callable[[Any, Expression], str] | None = None) -> str:
    """Return a text with the values of its expressions. Raises ValueTooLarge."""
    pieces, length = [], 0
    for part in text.parts:
        value = part if isinstance(part, str) else scope.value(part)
        check_size(value)
        pieces.append(value if isinstance(part, str) else write(value, part) if write else written(value))
        length += len(pieces[-1])
        if length > MAX_CHARACTERS:
            raise ValueTooLarge(f"A text of the workflow has more than {MAX_CHARACTERS:,} characters.")
    return "".join(pieces)


def written(value: Any) -> str:
    """Return a value as it is embedded in a text: a text unchanged, nothing for MISSING, any other value as JSON."""
    if value is MISSING:
        return ""
    return value if isinstance(value, str) else jsontext.write(value)


def fill_payload(payload: StepPayload, scope: Scope, media_type: str) -> Any:
    """Return the body of a step, or MISSING. Raises ValueTooLarge and InvalidQuery."""
    kind = media_types.essence(media_type)
    if isinstance(payload.value, EmbeddedText):
        writer = form_text if media_types.is_form(kind) else _xml_text if media_types.is_xml(kind) else None
        body: Any = joined(payload.value, scope, writer)
    else:
        body = fill(payload.value, scope)
    for replacement in payload.replacements:
        value = fill(replacement.value, scope)
        body = _replaced(body, replacement, value) if value is not MISSING else body
    check_size(body)
    return body


def form_text(value: Any, _: Expression) -> str:
    """Return a value as a part of a form (application/x-www-form-urlencoded)."""
    return quote_plus(written(value))


def _xml_text(value: Any, expression: Expression) -> str:
    return escape(written(value)) if expression.source == "inputs" else written(value)


def _replaced(body: Any, replacement: Replacement, value: Any) -> Any:
    """Return a body with a value in the places that a replacement selects; a missing property is added."""
    if replacement.type == "jsonpath":
        for location in select(replacement.target, body):
            body = _with(body, tuple(map(str, location)), value)
        return body
    return _with({} if body is MISSING else body, pointer_tokens(replacement.target), value)


def _with(node: Any, path: tuple[str, ...], value: Any) -> Any:
    """Return a copy of a value in which a path leads to another one; the value itself where there is no such place."""
    if not path:
        return value
    first, rest = path[0], path[1:]
    if isinstance(node, dict) and (first in node or not rest):
        return {**node, first: _with(node.get(first), rest, value)}
    if isinstance(node, list) and (first == "-" or walk(node, [first]) is not MISSING):
        index = len(node) if first == "-" else int(first)
        return [*node[:index], _with(node[index] if index < len(node) else None, rest, value), *node[index + 1 :]]
    return node


def check_size(value: Any) -> None:
    """Raise ValueTooLarge for a value of more than MAX_CHARACTERS: expressions may repeat a part any times."""
    if isinstance(value, dict | list | str):
        total = 0
        for size in _sizes(value):
            total += size
            if total > MAX_CHARACTERS:
                raise ValueTooLarge(f"A value of the workflow has more than {MAX_CHARACTERS:,} characters.")


def _sizes(value: Any) -> Iterator[int]:
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            yield len(part)
        elif isinstance(part, dict):
            yield sum(map(len, part)) + 2
            pending += part.values()
        else:
            yield 2
            pending += part if isinstance(part, list) else ()
