"""`Projection`: a JMESPath expression that takes from a JSON answer what is needed of it.

The expression is a model's or an author's, and the answer an API's, so the evaluation is bounded: in the length of the
expression, in steps, and in the size of what it makes. Errors let a model correct the expression: they have the place
in it, and the names that the answer has.

Specification: JMESPath (https://jmespath.org/specification.html).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import httpx
from jmespath import exceptions, functions
from jmespath.parser import Parser
from jmespath.visitor import Options, TreeInterpreter

from .. import jsontext
from ..background import exceeds
from ..errors import ArgumentError
from ..upstream.http11 import content_type, raw_headers
from . import content, partial_json
from .sanitizer import Sanitizer

MAX_LENGTH: Final = 2_000
"""Characters of an expression: more than people write, and few enough that its parser needs no limit of its own."""

MAX_READ: Final = 4 * 1024 * 1024
"""Bytes of an answer of which something is selected: fifty times what a result shows, read in about a second."""

MAX_STEPS: Final = 1_000_000
"""Steps of an evaluation, of some microseconds each: one for a node of the expression and a part of the answer, and one
for every eight items and every 64 characters that are made."""

MAX_QUICK_STEPS: Final = 10_000
"""Steps of an evaluation while an event loop waits, and parts of its result: some hundredths of a second. A short
expression can take all steps for an answer without any parts, since it may hold lists of its own."""

MAX_RESULT_PARTS: Final = 500_000
"""Parts of a result: a list can be in it twice, so that a short expression can name more than a memory holds."""

_MAX_NAMES: Final = 12
"""Names of properties that an outline lists for an object."""

_MAX_NAME: Final = 60
_MAX_KEYS: Final = 2_000
"""Different names of an answer that are collected, to tell whether it has one; with more nothing is said."""

_MAX_SEARCHED: Final = 200_000
"""Parts of an answer in which names are searched: a tenth of a second."""

_MAX_MISSING: Final = 5
_ITEMS_PER_STEP: Final = 8
_CHARACTERS_PER_STEP: Final = 64

_TRANSFER: Final = frozenset({b"content-length", b"content-encoding", b"transfer-encoding", b"content-type"})


class ProjectionError(Exception):
    """An expression that cannot be applied to an answer, for the reason in the message."""


class TooManySteps(ProjectionError):
    """An expression that takes more steps than it may, or makes more."""


@dataclass(frozen=True, slots=True)
class Projection:
    """A parsed expression."""

    text: str
    tree: Mapping[str, Any]

    @classmethod
    def parse(cls, text: str, name: str = "select") -> "Projection":
        """Read an expression. Raises ArgumentError, which says where it is wrong; `name` is that of the argument."""
        if len(text) > MAX_LENGTH:
            raise ArgumentError(f"`{name}` has {len(text)} characters; it may have {MAX_LENGTH}.")
        try:
            tree = Parser().parse(text).parsed
            _check_functions(tree)
        except (ValueError, RecursionError, TypeError) as error:
            raise ArgumentError(f"`{name}` is not a JMESPath expression: {_sentence(_reason(error, text))}") from error
        return cls(text, tree)

    def apply(self, value: Any, steps: int = MAX_STEPS) -> Any:
        """Return what the expression takes of a value. Raises ProjectionError, TooManySteps among them."""
        interpreter = _Interpreter(steps)
        try:
            result = interpreter.visit(self.tree, value)
        except _LimitReached as error:
            message = "it takes too many steps, or makes too large a value; take less of the answer"
            raise TooManySteps(message) from error
        except RecursionError as error:
            raise ProjectionError("it is nested too deeply") from error
        except (ValueError, TypeError, ArithmeticError, AttributeError) as error:
            raise ProjectionError(_reason(error, self.text)) from error
        if exceeds(result, min(steps, MAX_RESULT_PARTS)):
            raise TooManySteps("its result is too large; take less of the answer")
        return result

    def missing(self, value: Any) -> str:
        """Return a sentence about names of the expression that no object of a value has; empty if it has all."""
        made = {str(node["value"]) for node in _nodes(self.tree) if node["type"] == "key_val_pair"}
        named = dict.fromkeys(str(node["value"]) for node in _nodes(self.tree) if node["type"] == "field")
        if not named or (keys := _keys(value)) is None:
            return ""
        absent = [name for name in named if name not in keys and name not in made][:_MAX_MISSING]
        return " ".join(_absent(name, keys) for name in absent)


def project(
    projections: Sequence[Projection], response: httpx.Response, sanitizer: Sanitizer, steps: int = MAX_STEPS
) -> tuple[httpx.Response, str]:
    """Return a successful response with what expressions take of its JSON, each of the former's, and a note on that.

    Secrets and hidden characters are removed before. Raises ProjectionError; of an answer without JSON, the response
    itself is returned.
    """
    value, rest = json_of(response, sanitizer)
    if value is None:
        return response, "The answer is not a JSON object or list, so nothing was selected."
    part, note = selected(projections, value, response, steps)
    return part, " ".join(filter(None, (rest, note)))


def selected(
    projections: Sequence[Projection], value: Any, response: httpx.Response, steps: int = MAX_STEPS
) -> tuple[httpx.Response, str]:
    """Return a response with what expressions take of a JSON value in so many steps each, and a note.

    Raises ProjectionError, TooManySteps among them.
    """
    notes = []
    for projection in projections:
        before = value
        try:
            value = projection.apply(before, steps)
        except ProjectionError as error:
            raise type(error)(f"{_sentence(str(error))} {outline(before)}") from error
        notes.append(projection.missing(before))
        if value is None or (value == [] and before):
            notes.append(f"`{projection.text[:_MAX_NAME]}` matches nothing. {outline(before)}")
    return response_with(value, response), " ".join(note for note in notes if note)


def json_of(response: httpx.Response, sanitizer: Sanitizer) -> tuple[dict[str, Any] | list[Any] | None, str]:
    """Return the object or array that a response has, without secrets, and a note if that is a part of it.

    It is None where the response has none. A large one is read in pieces, between which other threads run.
    """
    response = sanitizer.response(response)
    kind, data = content_type(response), response.content
    if not content.may_be_json(kind, data):
        return None, ""
    if len(data) <= content.MAX_WHOLE:
        value = sanitizer.body(content.read(kind, data, str)).value
        return (value, "") if isinstance(value, dict | list) else (None, "")
    body = content.read(kind, data, str, limits=content.ReadLimits(content.MAX_WHOLE))
    with suppress(ValueError, RecursionError):  # else it is in another encoding, or ends too early
        whole = partial_json.read_beginning(data, jsontext.read, MAX_READ)
        body = content.DecodedBody(value=whole, is_partial=is_partial(whole))
    value = _plain(sanitizer.value(body.value))
    note = f"Nothing was selected of what follows the first {MAX_READ // 2**20} MiB of the answer."
    return (value, note if body.is_partial else "") if isinstance(value, dict | list) else (None, "")


def is_partial(value: Any) -> bool:
    """Return whether parts of a value were not read: of it, or of an array or object in it."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, partial_json.PartialArray | partial_json.PartialObject | partial_json.PartialText):
            return True
        if isinstance(node, dict | list):
            waiting += node.values() if isinstance(node, dict) else node
    return False


def response_with(value: Any, response: httpx.Response) -> httpx.Response:
    """Return a response whose body is a JSON value instead. Raises ProjectionError for what JSON cannot write."""
    try:
        body = jsontext.write_bytes(value)
    except (ArgumentError, ValueError, TypeError, RecursionError) as error:
        raise ProjectionError("its result is not JSON: a reference (&) or an infinite number") from error
    headers = [(name, text) for name, text in raw_headers(response) if name.lower() not in _TRANSFER]
    return httpx.Response(
        response.status_code,
        headers=[*headers, (b"content-type", b"application/json")],
        content=body,
        request=response.request,
        extensions=dict(response.extensions),
    )


def outline(value: Any) -> str:
    """Return a sentence about the names that an answer has: those of its objects, and of the objects in its lists."""
    if isinstance(value, dict):
        lists = [f"`{_name(key)}`: {_shape(part)}" for key, part in value.items() if isinstance(part, list | dict)]
        inner = f" ({'; '.join(lists[:_MAX_NAMES])})" if lists else ""
        return f"The answer is {_shape(value)}{inner}."
    return f"The answer is {_shape(value)}."


def _shape(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object with {_names(value)}" if value else "an empty object"
    if isinstance(value, list):
        first = next((item for item in value if isinstance(item, dict)), None)
        count = f"a list of {len(value)}"
        return count if first is None else f"{count}, of objects with {_names(first)}"
    return "null" if value is None else type(value).__name__


def _names(value: Mapping[str, Any]) -> str:
    more = f" and {len(value) - _MAX_NAMES} more" if len(value) > _MAX_NAMES else ""
    return ", ".join(_name(key) for key in islice(value, _MAX_NAMES)) + more


def _name(name: str) -> str:
    """Return a name as expressions have it: in quotation marks unless it is a plain word."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and not name[0].isdigit()
    return name[:_MAX_NAME] if plain else jsontext.write(name[:_MAX_NAME])


def _absent(name: str, keys: Mapping[str, None]) -> str:
    from ..arguments.spelling import did_you_mean

    hint = did_you_mean(name, keys, lambda near: f"`{_name(near)}`") or "."
    return f"No object of the answer has `{name[:_MAX_NAME]}`{hint}"


def _keys(value: Any) -> dict[str, None] | None:
    """Return the names of all objects in a value; None if there are too many to tell."""
    keys: dict[str, None] = {}
    waiting, count = [value], 0
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            keys.update(dict.fromkeys(node))
        if isinstance(node, dict | list):
            count += len(node)
            if count > _MAX_SEARCHED or len(keys) > _MAX_KEYS:
                return None
            waiting += node.values() if isinstance(node, dict) else node
    return keys


def _plain(value: Any) -> Any:
    """Return a value without partial arrays and objects, whose types JMESPath does not know."""
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return str(value) if isinstance(value, str) else value


def _nodes(tree: Any) -> Iterator[Mapping[str, Any]]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict) and "type" in node:
            yield node
            waiting += reversed(node.get("children", ()))


def _check_functions(tree: Any) -> None:
    """Raise ValueError for a function that JMESPath has not: before a request is sent."""
    for node in _nodes(tree):
        if node["type"] == "function_expression" and node["value"] not in functions.Functions.FUNCTION_TABLE:
            from ..arguments.spelling import did_you_mean

            hint = did_you_mean(node["value"], functions.Functions.FUNCTION_TABLE, "{}()".format)
            raise ValueError(f"there is no function {node['value'][:_MAX_NAME]}(){hint}")


def _sentence(text: str) -> str:
    return text if text.endswith("?") else f"{text}."


def _reason(error: Exception, text: str) -> str:
    """Return what is wrong with an expression, and where."""
    if isinstance(error, exceptions.IncompleteExpressionError):
        return "it ends too early"
    if isinstance(error, exceptions.EmptyExpressionError):
        return "it is empty"
    if isinstance(error, exceptions.ArityError):
        return str(error)[:200].removesuffix(".")
    if isinstance(error, exceptions.LexerError):
        return f"{error.message[:100]} at character {error.lexer_position + 1}{_marked(text, error.lexer_position)}"
    if isinstance(error, exceptions.ParseError):
        return f"{_unexpected(error)} at character {error.lex_position + 1}{_marked(text, error.lex_position)}"
    if isinstance(error, exceptions.JMESPathTypeError):
        wanted = " or ".join(error.expected_types)
        return f"{error.function_name}() takes {wanted}, and got {error.actual_type}"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error)[:200] or type(error).__name__


def _unexpected(error: exceptions.ParseError) -> str:
    return f"`{str(error.token_value)[:_MAX_NAME]}` is not expected"


def _marked(text: str, position: int) -> str:
    """Return the part of the expression before a position and from it on."""
    return f" (…{text[max(position - 15, 0) : position]} ⟶ {text[position : position + 15]})"


class _LimitReached(Exception):
    """An evaluation that would take too long or too much memory."""


class _Budget:
    """The steps that are left to an evaluation."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def spend(self, value: Any) -> None:
        """Spend the steps for a value that was made or found. Raises _LimitReached."""
        self.steps -= 1
        if isinstance(value, str):
            self.steps -= len(value) // _CHARACTERS_PER_STEP
        elif isinstance(value, list | dict):
            self.steps -= len(value) // _ITEMS_PER_STEP
        if self.steps < 0:
            raise _LimitReached

    def spend_on_all(self, value: Any) -> None:
        """Spend the steps for reading all of a value, which may be in itself many times. Raises _LimitReached."""
        left = min(self.steps, MAX_RESULT_PARTS)
        if exceeds(value, left):
            raise _LimitReached
        count, waiting = 1, [value]
        while waiting:
            node = waiting.pop()
            count += len(node) // _CHARACTERS_PER_STEP if isinstance(node, str) else 1
            if isinstance(node, dict | list):
                waiting += node.values() if isinstance(node, dict) else node
        self.steps -= count


class _Functions(functions.Functions):
    """JMESPath's functions; those that read all of a value spend steps on it first."""

    def __init__(self, budget: _Budget) -> None:
        self._budget = budget

    def call_function(self, function_name: str, resolved_args: Iterable[Any]) -> Any:
        """Return the value of a call. Raises _LimitReached, and what jmespath raises."""
        resolved_args = list(resolved_args)
        if function_name in {"to_string", "contains"}:
            for argument in resolved_args:
                self._budget.spend_on_all(argument)
        else:
            for argument in resolved_args:
                self._budget.spend(argument)
        if function_name == "join" and len(resolved_args) == 2:
            self._budget.spend_on_all(resolved_args[1])
            if isinstance(resolved_args[0], str) and isinstance(resolved_args[1], list):
                self._budget.steps -= len(resolved_args[0]) * len(resolved_args[1]) // _CHARACTERS_PER_STEP
                self._budget.spend(None)
        return super().call_function(function_name, resolved_args)


class _Interpreter(TreeInterpreter):
    """JMESPath's interpreter with a limited number of steps."""

    def __init__(self, steps: int) -> None:
        self._budget = _Budget(steps)
        super().__init__(Options(custom_functions=_Functions(self._budget)))

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the value of a node, which takes a step. Raises _LimitReached."""
        result = super().visit(node, *args, **kwargs)
        self._budget.spend(result)
        return result

    def visit_comparator(self, node: Any, value: Any) -> Any:
        """Return whether two values compare, which takes steps for all of their parts. Raises _LimitReached."""
        left, right = (self.visit(child, value) for child in node["children"])
        for side in (left, right):
            if isinstance(side, list | dict):
                self._budget.spend_on_all(side)
        known: Any = {**node, "children": [{"type": "literal", "value": side} for side in (left, right)]}
        return super().visit_comparator(known, value)
