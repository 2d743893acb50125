"""`Criterion`: an assertion about a step, of type simple, regex or jsonpath, which holds or does not.

What cannot be evaluated does not hold: an invalid pattern, a context without a value, work beyond its limits. Patterns
are matched in bounded time (`runtime/json_schema/patterns.py`), queries are bounded by `selection`.

Specification: Arazzo 1.1.0 "Criterion Object", "Condition Evaluation".
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...overlay.paths import InvalidQuery
from ...runtime import background
from ...runtime.errors import RuntimeFailure
from ...runtime.json_schema import patterns
from ...runtime.types import MISSING
from .conditions import Condition, evaluate, is_true, parse_condition
from .expressions import EmbeddedText, Expression, ExpressionError, parse, text_of
from .scope import Scope
from .selection import check_query, select
from .templates import joined, written

MAX_PATTERN: Final = 1_000
"""Characters of a regular expression, filled in."""

MAX_MATCHED: Final = 100_000
"""Characters of a text that is matched with a pattern."""

MAX_LOOKED_AROUND: Final = 1_000
"""Characters of a text that is matched with a pattern which looks around or refers to a group: no engine has such
patterns in time that is proportional to the text."""

MAX_QUICK_PARTS: Final = 1_000
MAX_QUICK_CHARACTERS: Final = 10_000
"""Parts and characters of a context that is judged while the event loop waits."""

_LOOKS_AROUND: Final = re.compile(r"\(\?(?:[=!]|<[=!]|P=)|\\[1-9kg]")


@dataclass(frozen=True, slots=True)
class Criterion:
    """A Criterion Object: a parsed condition (simple), or a text that is a pattern or a query for `context`."""

    type: str
    condition: Condition | str | EmbeddedText
    context: Expression | None = None


def compile_criterion(node: Mapping[str, Any]) -> Criterion:
    """Return the criterion that an object is. Raises ExpressionError for one that can never be evaluated."""
    kind = node.get("type", "simple")
    kind = kind.get("type") if isinstance(kind, dict) else kind
    condition = node.get("condition")
    if not isinstance(condition, str):
        raise ExpressionError("a criterion needs a `condition`, which is a text")
    context = parse(node["context"]) if isinstance(node.get("context"), str) else None
    if kind == "simple":
        return Criterion("simple", parse_condition(condition), context)
    if kind not in ("regex", "jsonpath"):
        reason = "XPath is not supported" if kind == "xpath" else "the types are simple, regex and jsonpath"
        raise ExpressionError(f"a criterion of type {kind!r}: {reason}")
    if context is None:
        raise ExpressionError(f"a criterion of type {kind} needs a `context`, which is an expression")
    text = text_of(condition)
    if text is None:
        _check(kind, condition)
    return Criterion(kind, text or condition, context)


def _check(kind: str, condition: str) -> None:
    try:
        if kind == "jsonpath":
            check_query(condition)
        elif len(condition) > MAX_PATTERN:
            raise ExpressionError(f"the pattern has more than {MAX_PATTERN:,} characters")
        else:
            re.compile(condition)
    except InvalidQuery as error:
        raise ExpressionError(f"the condition {error}") from None
    except (re.error, RecursionError, OverflowError) as error:
        raise ExpressionError(f"the condition is not a regular expression: {error}") from None


async def hold(criteria: Iterable[Criterion], scope: Scope) -> bool:
    """Return whether all criteria hold; large contexts are judged beside the event loop."""
    for criterion in criteria:
        value = None if criterion.context is None else scope.value(criterion.context)
        if criterion.type == "simple" or _is_small(value):
            passes = _holds(criterion, scope, value)
        else:
            passes = await background.run("large", _holds, criterion, scope, value)
        if not passes:
            return False
    return True


def _is_small(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_QUICK_CHARACTERS
    return not background.exceeds(value, MAX_QUICK_PARTS)


def _holds(criterion: Criterion, scope: Scope, value: Any) -> bool:
    condition = criterion.condition
    if not isinstance(condition, str | EmbeddedText):
        return is_true(evaluate(condition, scope.value))
    if value is None or value is MISSING:
        return False
    try:
        if criterion.type == "regex":
            return _matches(condition if isinstance(condition, str) else joined(condition, scope), value)
        return bool(select(condition if isinstance(condition, str) else _query(condition, scope), value))
    except (InvalidQuery, RuntimeFailure, re.error, RecursionError, OverflowError):
        return False


def _matches(pattern: str, value: Any) -> bool:
    text = written(value)
    most = MAX_LOOKED_AROUND if _LOOKS_AROUND.search(pattern) else MAX_MATCHED
    if max(len(pattern) - MAX_PATTERN, len(text) - most) > 0:
        return False
    undecided = patterns.undecided_patterns()
    return patterns.search(pattern, text) and patterns.undecided_patterns() == undecided


_QUOTES: Final = re.compile(r"\\.|[\"']", re.DOTALL)


def _query(text: EmbeddedText, scope: Scope) -> str:
    """Return a query with the values of its expressions: within a string of it as a part of that string, else as JSON.

    So no value can add to what the query asks.
    """
    pieces, quote = list[str](), ""
    for part in text.parts:
        if isinstance(part, str):
            for match in _QUOTES.findall(part):
                quote = "" if match == quote else quote or (match if match in "\"'" else "")
            pieces.append(part)
            continue
        value = scope.value(part)
        if quote:
            pieces.append(json.dumps(written(value))[1:-1].replace('\\"', "\\u0022").replace("'", "\\u0027"))
        else:
            pieces.append(json.dumps(None if value is MISSING else value))
    return "".join(pieces)
