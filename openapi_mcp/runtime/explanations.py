"""Schema failures as sentences that let a model correct its call: which argument, what was wanted, what came.

Values are shown shortened, a few failures at a time; nothing of the schema that did not fail is repeated.
"""

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from . import jsontext, validation
from .types import ToolDescription

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

# A model corrects a handful of mistakes at once; more is noise that costs tokens.
_SHOWN_ERRORS: Final = 5
_SHOWN_NAMES: Final = 30
_SHOWN_VALUE: Final = 60
_SHOWN_CHOICES: Final = 20

_TYPES: Final = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
}


def explain(tool: ToolDescription, errors: "Sequence[ValidationError]") -> str:
    """All of it: one sentence, or a short list of them."""
    sentences = list(dict.fromkeys(sentence for error in errors for sentence in _sentences(error)))
    if len(sentences) == 1:
        return sentences[0]
    shown = "".join(f"\n- {sentence}" for sentence in sentences[:_SHOWN_ERRORS])
    rest = len(sentences) - _SHOWN_ERRORS
    more = f"\n- … and {rest} more." if rest > 0 else ""
    return f"The arguments do not fit `{tool.name}`:{shown}{more}"


def _sentences(error: "ValidationError") -> list[str]:
    if error.context:
        return _alternatives(error)
    sentence = _SENTENCES.get(str(error.validator))
    if sentence is not None:
        return [sentence(error)]
    wanted = _WANTED.get(str(error.validator))
    if wanted is not None:
        return [f"{place(error.absolute_path)} {wanted(error.validator_value)}, not {shown(error.instance)}."]
    return [f"{place(error.absolute_path)} does not fit: {_shortened(error.message, 200)}."]


def _alternatives(error: "ValidationError") -> list[str]:
    """The failures of the branch that was most likely meant, or all the types where none of them came."""
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0], []).append(inner)
    here = [[inner for inner in branch if not inner.relative_path] for branch in branches.values()]
    if all(any(inner.validator == "type" for inner in branch) for branch in here):
        wanted = [inner.validator_value for branch in here for inner in branch if inner.validator == "type"]
        return [f"{place(error.absolute_path)} must be {_types(wanted)}, not {shown(error.instance)}."]
    best = min(branches.values(), key=_distance)
    return [sentence for inner in best for sentence in _sentences(inner)]


def _distance(branch: "list[ValidationError]") -> tuple[int, int]:
    """How far a value is from a branch: the wrong type or the wrong mark (`const`, `enum`) is farther than a detail."""
    wrong_type = any(inner.validator == "type" and not inner.relative_path for inner in branch)
    wrong_mark = any(inner.validator in {"const", "enum"} for inner in branch)
    return 2 * wrong_type + wrong_mark, len(branch)


def place(path: Iterable[str | int]) -> str:
    """Where in the arguments: `body.items[0].name`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"`{text.removeprefix('.')}`" if text else "The arguments"


def shown(value: Any) -> str:
    """A value as a sentence shows it: JSON, shortened."""
    try:
        return _shortened(jsontext.write(value), _SHOWN_VALUE)
    except RecursionError:
        return "a deeply nested value"


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _types(wanted: Iterable[Any]) -> str:
    names = [name for entry in wanted for name in (entry if isinstance(entry, list) else [entry])]
    phrases = list(dict.fromkeys(_TYPES.get(name, str(name)) for name in names))
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} or {phrases[-1]}"


def _count(number: int, what: str) -> str:
    plural = f"{what.removesuffix('y')}ies" if what.endswith("y") else f"{what}s"
    return f"{number} {what if number == 1 else plural}"


def _one_of(choices: Sequence[Any]) -> str:
    text = ", ".join(shown(choice) for choice in choices[:_SHOWN_CHOICES])
    return f"must be one of {text}{', …' if len(choices) > _SHOWN_CHOICES else ''}"


def _missing(error: "ValidationError") -> str:
    name = validation.missing_name(error)
    schema = error.schema.get("properties", {}).get(name, {}) if isinstance(error.schema, dict) else {}
    wanted = f" ({_types([schema['type']])})" if isinstance(schema, dict) and "type" in schema else ""
    return f"{place([*error.absolute_path, name])}{wanted} is required and missing."


def _unknown(error: "ValidationError") -> str:
    unknown = validation.unknown_names(error)
    known = list(error.schema.get("properties", {})) if isinstance(error.schema, dict) else []
    where = f" in {place(error.absolute_path)}" if error.absolute_path else ""
    phrases = [f"There is no `{name}`{where}{_nearest(name, known)}" for name in unknown[:_SHOWN_ERRORS]]
    names = ", ".join(f"`{name}`" for name in known[:_SHOWN_NAMES]) + (", …" if len(known) > _SHOWN_NAMES else "")
    kind = "properties" if error.absolute_path else "arguments"
    return " ".join([*phrases, f"The {kind} are: {names}." if known else f"There are no {kind}."])


def _nearest(name: str, known: Sequence[str]) -> str:
    by_folded = {entry.lower(): entry for entry in known}
    found = difflib.get_close_matches(name.lower(), list(by_folded), n=1)
    return f"; did you mean `{by_folded[found[0]]}`?" if found else "."


def _forbidden(error: "ValidationError") -> str:
    return f"{place(error.absolute_path)} is not allowed here."


def _several(error: "ValidationError") -> str:
    return f"{place(error.absolute_path)} fits more than one of the alternatives of which it must fit exactly one."


_WANTED: Final[dict[str, Callable[[Any], str]]] = {
    "type": lambda wanted: f"must be {_types([wanted])}",
    "enum": _one_of,
    "const": lambda wanted: f"must be {shown(wanted)}",
    "minimum": lambda limit: f"must be at least {limit}",
    "maximum": lambda limit: f"must be at most {limit}",
    "exclusiveMinimum": lambda limit: f"must be greater than {limit}",
    "exclusiveMaximum": lambda limit: f"must be less than {limit}",
    "multipleOf": lambda step: f"must be a multiple of {step}",
    "minLength": lambda limit: f"must have at least {_count(limit, 'character')}",
    "maxLength": lambda limit: f"must have at most {_count(limit, 'character')}",
    "pattern": lambda pattern: f"must match the pattern {_shortened(pattern, 100)}",
    "minItems": lambda limit: f"must have at least {_count(limit, 'item')}",
    "maxItems": lambda limit: f"must have at most {_count(limit, 'item')}",
    "uniqueItems": lambda _: "must not repeat an item",
    "minProperties": lambda limit: f"must have at least {_count(limit, 'property')}",
    "maxProperties": lambda limit: f"must have at most {_count(limit, 'property')}",
}
"""What a keyword wants, from its value; the sentence around it says where and what came."""

_SENTENCES: Final["dict[str, Callable[[ValidationError], str]]"] = {
    "required": _missing,
    "additionalProperties": _unknown,
    "unevaluatedProperties": _unknown,
    "not": _forbidden,
    "None": _forbidden,
    "oneOf": _several,
}
"""Keywords whose sentence is another one; a `oneOf` without inner failures matched more than once."""
