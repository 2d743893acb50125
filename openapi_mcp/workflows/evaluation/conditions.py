"""Simple conditions: a parser of literals, operators and runtime expressions, and their evaluation. No code is run.

Comparisons are loose: texts are compared without case, a text of a number as that number where the other side is one.
null equals only null. Specification: Arazzo 1.1.0 "Criterion Object" ("Literals", "Operators", "Simple Conditions").
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ...runtime.types import MISSING
from .expressions import Expression, ExpressionError, parse, shown

MAX_LENGTH: Final = 4_000
"""Characters of a condition."""

MAX_DEPTH: Final = 50
"""Parentheses and negations around each other."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant of a condition."""

    value: Any


@dataclass(frozen=True, slots=True)
class Compound:
    """An operator and what it is applied to: `!` to one condition, each other to two."""

    operator: str
    operands: "tuple[Condition, ...]"


Condition: TypeAlias = Literal | Expression | Compound

_TOKEN: Final = re.compile(
    r"""\s*(?:
      (?P<text>'(?:[^']|'')*'|"[^"]*")
    | (?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])
    | (?P<word>true|false|null)(?!\w)
    | (?P<braces>\{\$[^{}]*\})
    | (?P<expression>\$[^\s=!<>&|()]+)
    | (?P<operator>==|!=|<=|>=|&&|\|\||[<>!()])
    )\s*""",
    re.VERBOSE,
)
_WORDS: Final = {"true": True, "false": False, "null": None}
_COMPARISONS: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})


def parse_condition(text: str) -> Condition:
    """Return the condition that a text is. Raises ExpressionError."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"the condition has more than {MAX_LENGTH:,} characters")
    return _Parser(text).whole()


class _Parser:
    """A parser by recursive descent: `||` binds less than `&&`, that less than comparisons, `!` most."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._depth = 0

    def whole(self) -> Condition:
        condition = self._either()
        if self._tokens:
            raise self._error(f"{self._tokens[0][1]} is not expected there")
        return condition

    def _either(self) -> Condition:
        return self._chain("||", self._both)

    def _both(self) -> Condition:
        return self._chain("&&", self._comparison)

    def _chain(self, sign: str, inner: Callable[[], Condition]) -> Condition:
        operands = [inner()]
        while self._takes(sign):
            operands.append(inner())
        return operands[0] if len(operands) == 1 else Compound(sign, tuple(operands))

    def _comparison(self) -> Condition:
        left = self._operand()
        if self._tokens and self._tokens[0][1] in _COMPARISONS:
            return Compound(self._tokens.pop(0)[1], (left, self._operand()))
        return left

    def _operand(self) -> Condition:
        if not self._tokens:
            raise self._error("it ends too early")
        kind, text = self._tokens.pop(0)
        if kind == "operator":
            return self._grouped(text)
        if kind in ("expression", "braces"):
            return parse(text.strip("{}") if kind == "braces" else text)
        return Literal(_literal(kind, text))

    def _grouped(self, sign: str) -> Condition:
        self._depth += 1
        if self._depth > MAX_DEPTH or sign not in ("!", "("):
            raise self._error("it is nested too deeply" if self._depth > MAX_DEPTH else f"{sign} is not expected there")
        if sign == "!":
            condition: Condition = Compound("!", (self._operand(),))
        else:
            condition = self._either()
            if not self._takes(")"):
                raise self._error("a parenthesis is not closed")
        self._depth -= 1
        return condition

    def _takes(self, sign: str) -> bool:
        if self._tokens and self._tokens[0] == ("operator", sign):
            self._tokens.pop(0)
            return True
        return False

    def _error(self, reason: str) -> ExpressionError:
        return ExpressionError(f"{shown(self._text)} is not a condition: {reason}")


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            hint = "compare with == and !=, and put texts in single quotes"
            raise ExpressionError(f"{shown(text)} is not a condition at {shown(text[position:])!r}: {hint}")
        kind = match.lastgroup or ""
        yield kind, match[kind]
        position = match.end()


def _literal(kind: str, text: str) -> Any:
    if kind == "text":
        return text[1:-1].replace("''", "'") if text[0] == "'" else text[1:-1]
    if kind == "word":
        return _WORDS[text]
    return float(text) if re.search("[.eE]", text) else int(text[:400])


def evaluate(condition: Condition, resolve: Callable[[Expression], Any]) -> Any:
    """Return the value of a condition; `resolve` returns that of an expression, or MISSING, which counts as null."""
    if isinstance(condition, Literal):
        return condition.value
    if isinstance(condition, Expression):
        value = resolve(condition)
        return None if value is MISSING else value
    if condition.operator == "!":
        return not is_true(evaluate(condition.operands[0], resolve))
    values = (evaluate(each, resolve) for each in condition.operands)
    if condition.operator == "&&":
        return all(map(is_true, values))
    if condition.operator == "||":
        return any(map(is_true, values))
    return _compare(condition.operator, *values)


def is_true(value: Any) -> bool:
    """Return whether a value lets a condition pass: null and false do not."""
    return value is not None and value is not False


_ORDERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _compare(sign: str, left: Any, right: Any) -> bool:
    if sign in ("==", "!="):
        return _equal(left, right) == (sign == "==")
    pair = _numbers(left, right)
    if pair is None and isinstance(left, str) and isinstance(right, str):
        pair = left.casefold(), right.casefold()
    return pair is not None and _ORDERS[sign](*pair)


def _equal(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is right
    if isinstance(left, str) and isinstance(right, str):
        return left.casefold() == right.casefold()
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, str) or isinstance(right, str):
        pair = _numbers(left, right)
        return pair is not None and pair[0] == pair[1]
    try:
        return bool(left == right)
    except RecursionError:
        return False


def _numbers(left: Any, right: Any) -> tuple[Any, Any] | None:
    """Return both as numbers, of which one text may hold its own; None if they are no two numbers."""
    pair = _number(left), _number(right)
    are_texts = isinstance(left, str) and isinstance(right, str)
    return None if None in pair or (are_texts and not (_is_number(left) and _is_number(right))) else pair


_NUMBER: Final = re.compile(r"-?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?")


def _is_number(value: str) -> bool:
    return _NUMBER.fullmatch(value.strip()) is not None


def _number(value: Any) -> int | float | None:
    if isinstance(value, str):
        return float(value) if _is_number(value) else None
    return None if isinstance(value, bool) or not isinstance(value, int | float) else value
