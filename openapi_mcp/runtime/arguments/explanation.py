"""The failures of arguments as sentences with which a model can correct its call.

A sentence says which argument, what is expected, and what was sent. Values are shortened, and no schema is repeated.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from .. import jsontext
from ..json_schema.judge import Failure, Path
from .spelling import MAX_NAME_LENGTH, did_you_mean

MAX_LISTED: Final = 5
"""Failures that are listed: a model corrects a few mistakes at once; longer lists only cost tokens."""

_MAX_SENTENCES: Final = 100
"""Sentences that are made: unions within unions have more failures than a model can use."""

_MAX_LISTED_CHOICES: Final = 20
_MAX_NAMED_CHOICES: Final = 5
"""Choices of a missing argument, which the schema shows too."""

_MAX_COMPARED: Final = 1000
# Characters.
_MAX_VALUE_LENGTH: Final = 60
_MAX_PATTERN_LENGTH: Final = 100
_MAX_LOCATION_LENGTH: Final = 300
_MAX_LIST_LENGTH: Final = 400
"""All names, or all choices, of one sentence."""

_TYPE_NAMES: Final = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
}

_EMPTY_NAME: Final = '""'


def explain(failures: Iterable[Failure]) -> list[str]:
    """Return the first failures as sentences, each once."""
    sentences = (sentence for failure in failures for sentence in _sentences(failure, ()))
    return list(dict.fromkeys(islice(sentences, _MAX_SENTENCES)))


def _sentences(failure: Failure, parent: Path) -> Iterator[str]:
    """Yield the sentences of a failure in a value that is at the path `parent`."""
    path = (*parent, *failure.path)
    if failure.branches:
        yield from _explain_union(failure, path)
    elif failure.keyword in _SENTENCES:
        yield _SENTENCES[failure.keyword](failure, path)
    else:
        expected = _EXPECTATIONS[failure.keyword](failure.expected)
        near = _nearest_choice(failure) if failure.keyword == "enum" else "."
        yield f"{location(path)} {expected}, not {_value(failure.value)}{near}"


def _explain_union(failure: Failure, path: Path) -> Iterator[str]:
    """Yield the failures of the branch that is nearest to the value; all branches' types if none of them matches."""
    at_root = [[inner for inner in branch if not inner.path] for branch in failure.branches]
    if all(any(inner.keyword == "type" for inner in branch) for branch in at_root):
        types = [inner.expected for branch in at_root for inner in branch if inner.keyword == "type"]
        yield f"{location(path)} must be {_types(types)}, not {_value(failure.value)}."
        return
    for inner in min(failure.branches, key=distance):
        yield from _sentences(inner, path)


def distance(branch: Sequence[Failure]) -> tuple[int, int]:
    """Return the distance of a value from a branch: a wrong type or discriminator counts more than other failures."""
    wrong_type = any(inner.keyword == "type" and not inner.path for inner in branch)
    wrong_discriminator = any(inner.keyword in {"const", "enum"} for inner in branch)
    return 2 * wrong_type + wrong_discriminator, len(branch)


def location(path: Path) -> str:
    """Return the place of a value in the arguments, for a sentence."""
    text = _shorten(jsontext.format_path(path), _MAX_LOCATION_LENGTH)
    return f"`{text}`" if text else "The arguments"


def _value(value: Any) -> str:
    """Return a value for a sentence: JSON, shortened."""
    try:
        return _shorten(jsontext.write_beginning(value, _MAX_VALUE_LENGTH + 1), _MAX_VALUE_LENGTH)
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


def _nearest_choice(failure: Failure) -> str:
    """Return the end of a sentence about a value that is none of an enum: the nearest ones, if any is near."""
    choices = [choice for choice in failure.expected[:_MAX_COMPARED] if isinstance(choice, str)]
    return (did_you_mean(failure.value, choices, _quoted) if isinstance(failure.value, str) else "") or "."


def _quoted(choice: str) -> str:
    return _value(choice)


def _one_of(choices: Sequence[Any], most: int = _MAX_LISTED_CHOICES) -> str:
    return f"must be one of {_list([_value(choice) for choice in choices[: most + 1]], most)}"


def _list(texts: Sequence[str], most: int = sys.maxsize) -> str:
    """Return the first texts, as far as they fit, and `…` if there are more."""
    listed = ""
    for number, text in enumerate(texts):
        if number == most or len(listed) + len(text) > _MAX_LIST_LENGTH:
            return f"{listed}, …"
        listed += f", {text}" if listed else text
    return listed


def _explain_required(failure: Failure, path: Path) -> str:
    (name,) = failure.names
    schema = failure.schema.get("properties", {}).get(name, {})
    types = ""
    if isinstance(schema, dict) and isinstance(schema.get("enum"), list):
        types = f" ({_one_of(schema['enum'], _MAX_NAMED_CHOICES).removeprefix('must be ')})"
    elif isinstance(schema, dict) and "type" in schema:
        types = f" ({_types([schema['type']])})"
    return f"{location((*path, name))}{types} is required and missing."


def _explain_dependent(failure: Failure, path: Path) -> str:
    (name,) = failure.names
    others = [other for other, names in failure.expected.items() if other in failure.value and name in names]
    return f"{location((*path, name))} is missing: {location((*path, *others[:1]))} requires it."


def _explain_unknown(failure: Failure, path: Path) -> str:
    properties = failure.schema.get("properties", {})
    required = failure.schema.get("required", ()) if path else ()
    declared = list(properties)
    parent = f" in {location(path)}" if path else ""
    phrases = [
        f"There is no `{_shorten(name, MAX_NAME_LENGTH) or _EMPTY_NAME}`{parent}{did_you_mean(name, declared) or '.'}"
        for name in failure.names[:MAX_LISTED]
    ]
    declared.sort(key=lambda name: name not in required)
    names = _list([f"`{name}`" for name in declared])
    kind = "properties" if path else "arguments"
    return " ".join([*phrases, f"The {kind} are: {names}." if declared else f"There are no {kind}."])


def _explain_forbidden(_failure: Failure, path: Path) -> str:
    return f"{location(path)} is not allowed here."


def _explain_ambiguous(_failure: Failure, path: Path) -> str:
    return f"{location(path)} fits more than one of the alternatives of which it must fit exactly one."


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
    "contains": lambda _: "must contain an item of the kind that its schema asks for",
    "minContains": lambda limit: f"must contain at least {_count(limit, 'item')} of the kind that its schema asks for",
    "maxContains": lambda limit: f"must contain at most {_count(limit, 'item')} of the kind that its schema limits",
    "items": lambda limit: f"must have at most {_count(limit, 'item')}",
    "unevaluatedItems": lambda _: "has items that are not allowed: it must be a shorter list",
    "minProperties": lambda limit: f"must have at least {_count(limit, 'property')}",
    "maxProperties": lambda limit: f"must have at most {_count(limit, 'property')}",
}
"""Predicates for keywords, from the keyword's value; `_sentences` adds the location before and the value after."""

_SENTENCES: Final[dict[str, Callable[[Failure, Path], str]]] = {
    "required": _explain_required,
    "dependentRequired": _explain_dependent,
    "additionalProperties": _explain_unknown,
    "unevaluatedProperties": _explain_unknown,
    "not": _explain_forbidden,
    "false": _explain_forbidden,
    "oneOf": _explain_ambiguous,
}
"""Keywords with sentences of another form; a `oneOf` without failures of branches matched more than one branch."""
