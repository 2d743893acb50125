"""The arguments of a call: checked against the tool's inputSchema, coerced where that is safe, else explained.

- Validation is JSON Schema 2020-12 without format assertion, and fetches nothing.
- Coercion: models and clients send objects, arrays, numbers and booleans as text, and one value for a list of one. A
  string that the schema refuses is replaced by the JSON that it holds, and a scalar in the place of an array by an
  array with it, if the schema accepts that. Nothing else is ever changed.
- An undeclared property that is spelled almost like a declared one, which is missing, is refused even where the schema
  allows any name: APIs ignore what they do not know, and a filter that is ignored matches everything.
- Explanation: a failure becomes a sentence with which a model can correct its call: which argument, what is expected,
  what was sent. Values are shortened, only the first failures are listed, and no schema is repeated.

Specification: MCP server/tools, "Error Handling" (input validation errors are tool execution errors that a model can
correct).
"""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from . import json_schema, jsontext
from .errors import ArgumentError
from .tool import Tool
from .types import MISSING, Missing, Schema, ToolDescription

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

# A model corrects a few mistakes at once; longer lists only cost tokens.
_MAX_LISTED_ERRORS: Final = 5
_MAX_LISTED_NAMES: Final = 30
_MAX_LISTED_CHOICES: Final = 20
# Characters.
_MAX_VALUE_LENGTH: Final = 60
_MAX_PATTERN_LENGTH: Final = 100
_MAX_MESSAGE_LENGTH: Final = 200

_MAX_COMPARISONS: Final = 10_000
"""Pairs of names that are compared in one call; an object with many undeclared properties is a map."""

_MIN_NEAR: Final = 3
_MIN_TWO_EDITS: Final = 6
"""Letters of names that one edit, and two edits, leave recognisable."""

_SEPARATORS: Final = re.compile(r"[_\-. ]+")
_DIGITS: Final = re.compile(r"[0-9]+")

_TYPE_NAMES: Final = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
}


def prepare(tool: ToolDescription, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments to send. Raises ArgumentError: which argument, what is expected, what was sent."""
    coerced, refusal = check(tool, arguments)
    if refusal:
        raise ArgumentError(refusal)
    return coerced


def check(tool: ToolDescription, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the arguments, coerced where that makes them fit, and the refusal of the others; empty if all fit.

    Raises ArgumentError for arguments that cannot be checked.
    """
    coerced, errors = dict(arguments), list["ValidationError"]()
    if not json_schema.accepts(tool.input_schema, arguments):
        validator = json_schema.validator_for(tool.input_schema)
        try:
            coerced = coerce(validator, coerced)
            errors = json_schema.errors(validator, coerced)
        except RecursionError as error:
            raise ArgumentError("The arguments are nested too deeply to be checked.") from error
    sentences = [*_misspellings(tool.input_schema, coerced), *explain(errors)]
    return coerced, _listed(tool, sentences) + _homonyms(tool, errors) if sentences else ""


def coerce(validator: "Validator", value: Any) -> Any:
    """Return `value` with misplaced strings and scalars replaced by what fits; the same object if there is none."""
    for error in json_schema.errors(validator, value):
        fixed = _fix(validator, error)
        if fixed is not MISSING:
            value = _replace(value, list(error.absolute_path), fixed)
    return value


def _fix(validator: "Validator", error: "ValidationError", *, wrap: bool = True) -> Any | Missing:
    """Return a value that the schema accepts at the location of an error, or MISSING; `wrap` allows an array of it."""
    subschema = json_schema.subschema_validator(validator, error)
    candidates = []
    if not isinstance(error.instance, str):
        candidates = [_fix_branch(validator, error, branch) for branch in json_schema.branches(error)]
    elif (parsed := _parse(error.instance)) is not MISSING:
        candidates = [coerce(subschema, parsed)]
    if wrap and isinstance(error.instance, str | int | float) and _expected_types(error) - {"null"} == {"array"}:
        candidates += [[error.instance], coerce(subschema, [error.instance])]
    return next((candidate for candidate in candidates if json_schema.is_valid(subschema, candidate)), MISSING)


def _expected_types(error: "ValidationError") -> set[str]:
    """Return the types that the schema of a failed value accepts; an empty set if it failed for another reason."""
    if error.context:
        first = [branch[0] for branch in json_schema.branches(error)]
        types = [set() if failure.relative_path else _expected_types(failure) for failure in first]
        return set().union(*types) if all(types) else set()
    if error.validator != "type":
        return set()
    value: Any = error.validator_value
    return {value} if isinstance(value, str) else set(value)


def _fix_branch(validator: "Validator", error: "ValidationError", branch: "list[ValidationError]") -> Any:
    value = error.instance
    for inner in branch:
        fixed = _fix(validator, inner, wrap=bool(inner.relative_path))
        if fixed is not MISSING:
            value = _replace(value, list(inner.relative_path), fixed)
    return value


def _replace(value: Any, path: Sequence[str | int], new: Any) -> Any:
    """Return a copy of `value` with `new` at `path`; what is not on the path is shared."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _replace(value[path[0]], path[1:], new)
    return copy


def _parse(text: str) -> Any | Missing:
    """Return the JSON value in a string; MISSING if it holds none, or a string again."""
    try:
        value = jsontext.read_strictly(text)
    except (ValueError, RecursionError):
        return MISSING
    return MISSING if isinstance(value, str) else value


_EMPTY_NAME: Final = '""'


def _misspellings(schema: Schema, arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each undeclared property that is probably a declared and missing one, misspelled."""
    comparisons = 0
    for path, names, absent in json_schema.undeclared_names(schema, arguments):
        for name in names:
            comparisons += len(absent)
            if comparisons > _MAX_COMPARISONS:
                return
            if near := near_name(name, absent):
                own, other = (jsontext.format_path([*path, each]) for each in (name, near))
                yield f"There is no `{own}`; did you mean `{other}`? Give both if the API knows `{own}` too."


def near_name(name: str, declared: Iterable[str]) -> str | None:
    """Return the declared name that `name` is a misspelling of, if any.

    It differs in case and separators only, or by one edit (two for names of 6 letters and more). Names that differ in
    their digits are others: `line2` is not `line1`.
    """
    folded = _fold(name)
    distances = {}
    for candidate in declared:
        other = _fold(candidate)
        limit = 0 if len(other) < _MIN_NEAR else 1 if len(other) < _MIN_TWO_EDITS else 2
        if (folded == other or _DIGITS.sub("", folded) != _DIGITS.sub("", other)) and abs(
            len(folded) - len(other)
        ) <= limit:
            distance = _distance_of(folded, other)
            if distance <= limit:
                distances[candidate] = distance
    return min(distances, key=lambda candidate: distances[candidate], default=None)


def _fold(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()


def _distance_of(first: str, second: str) -> int:
    """Return the edit distance: insertions, deletions, replacements, and exchanges of two neighbours."""
    before, last = list[int](), list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        current = [row]
        for column, other in enumerate(second, 1):
            cost = min(last[column] + 1, current[-1] + 1, last[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == second[column - 2] and first[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        before, last = last, current
    return last[-1]


def _homonyms(tool: ToolDescription, errors: "Sequence[ValidationError]") -> str:
    """Return which argument is which, where one that failed shares its original name with another."""
    if not isinstance(tool, Tool):
        return ""
    failed = {str(error.absolute_path[0]) for error in errors if error.absolute_path}
    failed |= {json_schema.missing_name(error) for error in errors if error.validator == "required"}
    text = ""
    for wire_name in dict.fromkeys(item.wire_name for item in tool.arguments if item.name in failed and item.wire_name):
        group = [f"`{item.name}` in the {item.location}" for item in tool.arguments if item.wire_name == wire_name]
        text += f" The API has `{wire_name}` more than once: {', '.join(group)}." if len(group) > 1 else ""
    return text


def explain(errors: "Sequence[ValidationError]") -> list[str]:
    """Return the failures as sentences."""
    return list(dict.fromkeys(sentence for error in errors for sentence in _sentences(error)))


def _listed(tool: ToolDescription, sentences: Sequence[str]) -> str:
    """Return one sentence as it is, several as a short list."""
    if len(sentences) == 1:
        return sentences[0]
    listed = "".join(f"\n- {sentence}" for sentence in sentences[:_MAX_LISTED_ERRORS])
    rest = len(sentences) - _MAX_LISTED_ERRORS
    more = f"\n- … and {rest} more." if rest > 0 else ""
    return f"The arguments do not fit `{tool.name}`:{listed}{more}"


def _sentences(error: "ValidationError") -> list[str]:
    if error.context:
        return _explain_union(error)
    sentence = _SENTENCES.get(str(error.validator))
    if sentence is not None:
        return [sentence(error)]
    expected = _EXPECTATIONS.get(str(error.validator))
    if expected is not None:
        return [f"{_location(error.absolute_path)} {expected(error.validator_value)}, not {_value(error.instance)}."]
    return [f"{_location(error.absolute_path)} does not fit: {_shorten(error.message, _MAX_MESSAGE_LENGTH)}."]


def _explain_union(error: "ValidationError") -> list[str]:
    """Return the failures of the branch that is nearest to the value; all branches' types if none of them matches."""
    branches = json_schema.branches(error)
    at_root = [[inner for inner in branch if not inner.relative_path] for branch in branches]
    if all(any(inner.validator == "type" for inner in branch) for branch in at_root):
        types = [inner.validator_value for branch in at_root for inner in branch if inner.validator == "type"]
        return [f"{_location(error.absolute_path)} must be {_types(types)}, not {_value(error.instance)}."]
    nearest = min(branches, key=_distance)
    return [sentence for inner in nearest for sentence in _sentences(inner)]


def _distance(branch: "list[ValidationError]") -> tuple[int, int]:
    """Return the distance of a value from a branch: a wrong type or discriminator counts more than other failures."""
    wrong_type = any(inner.validator == "type" and not inner.relative_path for inner in branch)
    wrong_discriminator = any(inner.validator in {"const", "enum"} for inner in branch)
    return 2 * wrong_type + wrong_discriminator, len(branch)


def _location(path: Iterable[str | int]) -> str:
    text = jsontext.format_path(path)
    return f"`{text}`" if text else "The arguments"


def _value(value: Any) -> str:
    """Return a value for a sentence: JSON, shortened."""
    try:
        return _shorten(jsontext.write(value), _MAX_VALUE_LENGTH)
    except RecursionError:
        return "a deeply nested value"


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _types(types: Iterable[Any]) -> str:
    names = [name for entry in types for name in (entry if isinstance(entry, list) else [entry])]
    phrases = list(dict.fromkeys(_TYPE_NAMES.get(name, str(name)) for name in names))
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} or {phrases[-1]}"


def _count(number: int, noun: str) -> str:
    plural = f"{noun.removesuffix('y')}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def _one_of(choices: Sequence[Any]) -> str:
    text = ", ".join(_value(choice) for choice in choices[:_MAX_LISTED_CHOICES])
    return f"must be one of {text}{', …' if len(choices) > _MAX_LISTED_CHOICES else ''}"


def _explain_required(error: "ValidationError") -> str:
    name = json_schema.missing_name(error)
    schema = error.schema.get("properties", {}).get(name, {}) if isinstance(error.schema, dict) else {}
    types = f" ({_types([schema['type']])})" if isinstance(schema, dict) and "type" in schema else ""
    return f"{_location([*error.absolute_path, name])}{types} is required and missing."


def _explain_unknown(error: "ValidationError") -> str:
    unknown = json_schema.unknown_names(error)
    declared = list(error.schema.get("properties", {})) if isinstance(error.schema, dict) else []
    parent = f" in {_location(error.absolute_path)}" if error.absolute_path else ""
    listed = unknown[:_MAX_LISTED_ERRORS]
    phrases = [f"There is no `{name or _EMPTY_NAME}`{parent}{_suggestion(name, declared)}" for name in listed]
    names = ", ".join(f"`{name}`" for name in declared[:_MAX_LISTED_NAMES])
    more = ", …" if len(declared) > _MAX_LISTED_NAMES else ""
    kind = "properties" if error.absolute_path else "arguments"
    return " ".join([*phrases, f"The {kind} are: {names}{more}." if declared else f"There are no {kind}."])


def _suggestion(name: str, declared: Sequence[str]) -> str:
    by_folded = {entry.lower(): entry for entry in declared}
    matches = difflib.get_close_matches(name.lower(), list(by_folded), n=1)
    return f"; did you mean `{by_folded[matches[0]]}`?" if matches else "."


def _explain_forbidden(error: "ValidationError") -> str:
    return f"{_location(error.absolute_path)} is not allowed here."


def _explain_ambiguous(error: "ValidationError") -> str:
    return f"{_location(error.absolute_path)} fits more than one of the alternatives of which it must fit exactly one."


_EXPECTATIONS: Final[dict[str, Callable[[Any], str]]] = {
    "type": lambda types: f"must be {_types([types])}",
    "enum": _one_of,
    "const": lambda value: f"must be {_value(value)}",
    "minimum": lambda limit: f"must be at least {limit}",
    "maximum": lambda limit: f"must be at most {limit}",
    "exclusiveMinimum": lambda limit: f"must be greater than {limit}",
    "exclusiveMaximum": lambda limit: f"must be less than {limit}",
    "multipleOf": lambda step: f"must be a multiple of {step}",
    "minLength": lambda limit: f"must have at least {_count(limit, 'character')}",
    "maxLength": lambda limit: f"must have at most {_count(limit, 'character')}",
    "pattern": lambda pattern: f"must match the pattern {_shorten(pattern, _MAX_PATTERN_LENGTH)}",
    "minItems": lambda limit: f"must have at least {_count(limit, 'item')}",
    "maxItems": lambda limit: f"must have at most {_count(limit, 'item')}",
    "uniqueItems": lambda _: "must not repeat an item",
    "minProperties": lambda limit: f"must have at least {_count(limit, 'property')}",
    "maxProperties": lambda limit: f"must have at most {_count(limit, 'property')}",
}
"""Predicates for keywords, from the keyword's value; `_sentences` adds the location before and the value after."""

_SENTENCES: Final["dict[str, Callable[[ValidationError], str]]"] = {
    "required": _explain_required,
    "additionalProperties": _explain_unknown,
    "unevaluatedProperties": _explain_unknown,
    "not": _explain_forbidden,
    "None": _explain_forbidden,
    "oneOf": _explain_ambiguous,
}
"""Keywords with sentences of another form; a `oneOf` without inner failures matched more than one branch."""
