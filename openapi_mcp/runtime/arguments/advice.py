"""Advice about an argument that was refused: the properties of its object, and an example that conforms at that place.

Made only for a refusal, in a bounded number of steps, and no longer than a model needs for its next call.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from .. import jsontext
from ..json_schema.examples import ExampleMaker, merged
from ..json_schema.judge import BudgetSpent, Failure, Path
from ..types import MISSING, Missing, Schema
from .explanation import distance, location
from .spelling import nearest

_MAX_STEPS: Final = 30_000
"""Steps for the advice of one refusal: some hundredths of a second."""

_MAX_PLACES: Final = 2
"""Arguments that are described; a model corrects the others from their sentences."""

# Characters.
_MAX_OUTLINE: Final = 300
_MAX_EXAMPLE: Final = 300
_MAX_ALL: Final = 500

_MAX_CHOICE: Final = 30
_MAX_CHOICES: Final = 6
_MAX_INNER: Final = 8
"""Properties of an inner object that are named."""

_DESCRIBED: Final = frozenset(
    {"type", "required", "pattern", "multipleOf", "contains", "minItems", "minProperties", "dependentRequired"}
    | {"additionalProperties", "unevaluatedProperties"}
)
"""Keywords whose failure is described: those of which a sentence alone does not show a value that conforms."""


def advice(root: Schema, arguments: Mapping[str, Any], failures: Iterable[Failure]) -> list[str]:
    """Return a sentence for each of the first places that need one: what fits there, with an example."""
    described: dict[Path, str] = {}
    try:
        maker = ExampleMaker(root, _MAX_STEPS)
        for path, schema in _places(maker, failures):
            if path not in described and len(described) < _MAX_PLACES:
                described[path] = _described(maker, root, arguments, path, schema)
    except (BudgetSpent, RecursionError, TypeError, ValueError, LookupError, AttributeError):
        pass  # a schema with a defect, or one that is too complex: the sentences about failures suffice
    sentences = [sentence for sentence in described.values() if sentence]
    return sentences if sum(map(len, sentences)) <= _MAX_ALL else sentences[:1]


def _places(maker: ExampleMaker, failures: Iterable[Failure]) -> Iterator[tuple[Path, Any]]:
    """Yield the places that are described, with their schemas: of a missing argument its own, else the object's."""
    for failure in failures:
        path = failure.path
        if failure.keyword == "required" and not path:
            yield failure.names, maker.flat(failure.schema).get("properties", {}).get(failure.names[0], {})
        elif failure.branches and path:
            near = min(range(len(failure.branches)), key=lambda index: distance(failure.branches[index]))
            if any(not inner.path or inner.keyword in {"const", "enum"} for inner in failure.branches[near]):
                rest = {name: value for name, value in failure.schema.items() if name != failure.keyword}
                yield path, merged(rest, maker.flat(failure.expected[near]))
        elif failure.keyword in _DESCRIBED and path:
            yield path, failure.schema


def _described(maker: ExampleMaker, root: Schema, arguments: Mapping[str, Any], path: Path, schema: Any) -> str:
    flat = maker.flat(schema)
    if not _needs_words(maker, flat):
        return ""
    outline = _outline(maker, flat)
    example = _example(maker, root, arguments, path, schema)
    shown = "" if example is MISSING else jsontext.write(example)
    takes = f" takes an object: {outline}" if outline else _array(maker, flat)
    if not shown or len(shown) > _MAX_EXAMPLE:
        return f"{location(path)}{takes}." if takes else ""
    return f"{location(path)}{takes}; for example {shown}." if takes else f"{location(path)} may be {shown}."


def _needs_words(maker: ExampleMaker, schema: Schema) -> bool:
    """Return whether a value for a schema is not obvious: one of a plain type is."""
    if not {"object", "array"}.isdisjoint(_kinds(schema)) or "pattern" in schema or "multipleOf" in schema:
        return True
    if schema.get("format") not in {None, "int32", "int64", "float", "double", "password"}:
        return True
    branches = [maker.flat(each) for keyword in ("anyOf", "oneOf") for each in schema.get(keyword, [])[:_MAX_INNER]]
    return any(_needs_words(maker, branch) for branch in branches)


def _kinds(schema: Schema) -> tuple[str, ...]:
    """Return the types of a schema, in its order."""
    kind = schema.get("type", "object" if "properties" in schema else "array" if "items" in schema else ())
    return (kind,) if isinstance(kind, str) else tuple(dict.fromkeys(kind))


def _array(maker: ExampleMaker, schema: Schema) -> str:
    """Return what the items of an array are, if that is more than a plain type."""
    items = maker.flat(schema.get("items")) if "array" in _kinds(schema) else {}
    is_plain = not items or not ({"enum", "const", "properties", "oneOf", "anyOf"} & items.keys())
    return "" if is_plain else f" takes an array of {_kind(maker, items)[:_MAX_OUTLINE]}"


def _outline(maker: ExampleMaker, schema: Schema) -> str:
    """Return the properties of an object, those that are required first and marked; empty for no such object."""
    for keyword in ("oneOf", "anyOf"):
        if branches := [maker.flat(each) for each in schema.get(keyword, [])[:_MAX_INNER]]:
            schema = next((branch for branch in branches if "properties" in branch), {})
    declared: Mapping[str, Any] = schema.get("properties", {})
    required = [name for name in schema.get("required", ()) if name in declared]
    names = [*dict.fromkeys(required), *(name for name in declared if name not in required)]
    text = ""
    for name in names:
        mark = "*" if name in required else ""
        part = f"`{name}`{mark} {_kind(maker, declared[name])}"
        if len(text) + len(part) > _MAX_OUTLINE:
            text += ", …"
            break
        text += f", {part}" if text else part
    return f"{text} (* is required)" if required else text


def _kind(maker: ExampleMaker, schema: Any) -> str:
    """Return the kind of a property's value in a few words."""
    flat = maker.flat(schema)
    values = [flat["const"]] if "const" in flat else flat.get("enum")
    if isinstance(values, list) and values:
        shown = "|".join(map(_short, values[:_MAX_CHOICES]))
        return f"{shown}{'|…' if len(values) > _MAX_CHOICES else ''}"
    for keyword in ("oneOf", "anyOf"):
        if branches := flat.get(keyword):
            return "|".join(dict.fromkeys(_kind(maker, branch) for branch in branches[:_MAX_CHOICES]))
    if "properties" in flat:
        required = frozenset(flat.get("required", ()))
        inner = [f"{name}{'*' * (name in required)}" for name in list(flat["properties"])[:_MAX_INNER]]
        return f"object {{{', '.join(inner)}}}"
    if flat.get("type") == "array":
        return f"array of {_kind(maker, flat['items'])}" if flat.get("items") else "array"
    kinds = "|".join(sorted(_kinds(flat), key=lambda kind: kind == "null")) or "any"
    return f"{kinds} ({flat['format']})" if kinds == "string" and "format" in flat else kinds


def _short(value: Any) -> str:
    text = jsontext.write_beginning(value, _MAX_CHOICE + 1)
    return text if len(text) <= _MAX_CHOICE else f"{text[: _MAX_CHOICE - 1]}…"


def _example(maker: ExampleMaker, root: Schema, arguments: Mapping[str, Any], path: Path, schema: Any) -> Any | Missing:
    """Return a value with which no failure is left at a place: what was sent, with what was missing, if that is one."""
    example = maker.example(schema)
    sent = _at(arguments, path)
    both: list[Any] = [example]
    if isinstance(example, list) and isinstance(sent, str):
        choices = maker.flat(maker.flat(schema).get("items")).get("enum", [])
        both[:0] = [[near] for near in nearest(sent, [each for each in choices if isinstance(each, str)])[:1]]
    if isinstance(example, dict) and isinstance(sent, dict):
        declared = maker.flat(schema).get("properties", {})
        both.insert(0, {**example, **{name: value for name, value in sent.items() if name in declared}})
    for value in both:
        if value is not MISSING and _conforms(maker, root, _replaced(arguments, path, value), path):
            return value
    return MISSING


def _conforms(maker: ExampleMaker, root: Schema, arguments: Any, path: Path) -> bool:
    """Return whether the arguments have no failure at a place, around it or within it."""
    failures = maker.judge.failures(root, arguments)
    return not any(failure.path[: len(path)] == path[: len(failure.path)] and failure.path for failure in failures)


def _at(value: Any, path: Sequence[str | int]) -> Any | Missing:
    for step in path:
        inside = isinstance(value, dict) and step in value
        inside = inside or (isinstance(value, list) and isinstance(step, int) and step < len(value))
        if not inside:
            return MISSING
        value = value[step]
    return value


def _replaced(value: Any, path: Sequence[str | int], new: Any) -> Any:
    """Return a value with another one at a path; only the containers on the path are copied."""
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value) if isinstance(value, list) else {}
    inner = _at(copy, path[:1])
    copy[path[0]] = _replaced({} if inner is MISSING else inner, path[1:], new)
    return copy
