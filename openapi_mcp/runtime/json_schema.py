"""JSON Schema 2020-12: a quick verdict by jsonschema-rs, the failures by jsonschema, and undeclared properties.

`accepts` is asked first. jsonschema is imported only for a value that it does not accept, and jsonschema-rs only at the
first value, so a start imports neither.

- `format` is not asserted.
- References are never fetched. A reference that leads nowhere judges nothing: the value passes, because the defect is
  the schema's and not the value's.
- A quick `True` implies that jsonschema accepts the value too. Where the two libraries may differ, there is no quick
  verdict: see `KEYWORDS_LEFT_TO_JSONSCHEMA`, `MAX_NUMBER`, `MAX_DEPTH`.

Specification: JSON Schema 2020-12 Core §8 and §10, Validation §6 and §7.2.1.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .types import IdentityCache, Schema

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

MAX_DEPTH: Final = 256
"""Levels of arrays and objects in a value, or in a schema, that jsonschema-rs is given. It has no limit of its own and
overflows the stack at some thousand levels; jsonschema raises RecursionError at about 250."""

MAX_NUMBER: Final = 2**63
"""Numbers in schemas from here on, in magnitude, are left to jsonschema: jsonschema-rs compares some of them with
floats by their decimal digits, Python by their binary value."""

KEYWORDS_LEFT_TO_JSONSCHEMA: Final = frozenset({
    "$anchor", "$dynamicAnchor", "$dynamicRef", "$id",  # two of one name, or one that leads nowhere, lead elsewhere
    "$recursiveRef",  # of draft 2019-09; jsonschema-rs follows it for unevaluatedItems
    "dependencies",  # of draft 7; jsonschema-rs still asserts it
    "multipleOf",  # jsonschema divides floats (0.3 is no multiple of 0.1), jsonschema-rs decimal numbers
    "patternProperties",  # jsonschema-rs would match with its own regular expressions
})  # fmt: skip
"""Keywords that the two libraries read differently. A schema with one of them anywhere has no quick verdict."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE: Final = re.compile(r"#|#/\$defs/[^/~%]+")
_SAME_VALUE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})


def accepts(schema: Schema, value: Any) -> bool:
    """Return True if `value` certainly conforms to `schema`; False says only that jsonschema has to judge it.

    The schema must not change afterwards.
    """
    quick = _QUICK_VALIDATORS.get(schema)
    try:
        return quick is not None and quick.accepts(value)
    except (ValueError, RecursionError):  # not a JSON value: another type, a key that is no string, a lone surrogate
        return False


class QuickValidator:
    """A schema compiled by jsonschema-rs. Raises ValueError where that refuses it, or might judge differently."""

    def __init__(self, schema: Schema) -> None:
        from jsonschema_rs import Draft202012Validator

        if not _is_shallow(schema, MAX_DEPTH) or not _is_read_alike(schema) or _has_loop(schema, same_value=True):
            raise ValueError("jsonschema has to judge the values of this schema")
        self.is_valid = Draft202012Validator(
            schema, validate_formats=False, retriever=_refuse_retrieval, keywords={"pattern": _Pattern}
        ).is_valid
        self._may_descend_far = _may_descend_far(schema)

    def accepts(self, value: Any) -> bool:
        """Return whether `value` conforms, and is not nested too deeply. Raises ValueError if it is not JSON."""
        return (not self._may_descend_far or _is_shallow(value, MAX_DEPTH)) and self.is_valid(value)


def _quick_validator(schema: Schema) -> QuickValidator | None:
    try:
        return QuickValidator(schema)
    except (ValueError, TypeError, AttributeError):  # also an invalid schema, or a reference that leads nowhere
        return None


class _Pattern:
    """The keyword `pattern` as jsonschema reads it, by Python's `re`; jsonschema-rs has its own regular expressions."""

    def __init__(self, _schema: dict[str, Any], pattern: str, _path: list[str | int]) -> None:
        self._search = re.compile(pattern).search

    def validate(self, value: Any) -> None:
        """Raise ValueError if `value` is a string that does not match."""
        if isinstance(value, str) and self._search(value) is None:
            raise ValueError


def _is_shallow(value: Any, levels: int) -> bool:
    """Return whether `value` has at most so many levels of arrays and objects."""
    if not isinstance(value, _CONTAINERS):
        return True
    if not levels:
        return False
    for item in value.values() if isinstance(value, dict) else value:  # all() takes twice as long
        if isinstance(item, _CONTAINERS) and not _is_shallow(item, levels - 1):
            return False
    return True


_CONTAINERS: Final = (dict, list, tuple)  # what jsonschema-rs descends into


def _is_read_alike(schema: Any) -> bool:
    """Return whether jsonschema and jsonschema-rs agree on every keyword and number of a schema."""
    if isinstance(schema, dict):
        if schema.keys() & KEYWORDS_LEFT_TO_JSONSCHEMA or schema.get("$schema", _DIALECT) != _DIALECT:
            return False
        if not _REFERENCE.fullmatch(str(schema.get("$ref", "#"))):
            return False
        return all(_is_read_alike(part) for part in _parts(schema))
    if isinstance(schema, list):
        return all(_is_read_alike(part) for part in schema)
    return not isinstance(schema, int | float) or abs(schema) < MAX_NUMBER


def _parts(schema: dict[str, Any]) -> Iterator[Any]:
    """Yield the values of a schema's keywords; of `properties` each schema, since its names are no keywords."""
    for keyword, value in schema.items():
        if keyword == "properties" and isinstance(value, dict):
            yield from value.values()
        else:
            yield value


def _may_descend_far(schema: Schema) -> bool:
    """Return whether jsonschema-rs may descend deeper into a value than the schema is written.

    It does for `uniqueItems`, which compares whole items, and for a definition that contains itself. Otherwise each
    level of a value takes another array or object of the schema, of which there may be many in a chain of definitions.
    """
    text = repr(schema)
    return (
        text.count("{") + text.count("[") > MAX_DEPTH * 4
        or "uniqueItems" in text
        or _has_loop(schema, same_value=False)
    )


def _has_loop(root: Any, *, same_value: bool) -> bool:
    """Return whether a definition refers to itself.

    With `same_value`, whether it applies itself to the same value (Core §10.2), not to its items or properties:
    jsonschema raises RecursionError for it.
    """
    definitions = {f"#/$defs/{name}": schema for name, schema in root.get("$defs", {}).items()}
    schemas = {"#": root, **definitions}
    graph = {target: set(_references(schema, same_value=same_value)) for target, schema in schemas.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return True
    return False


def _references(schema: Any, *, same_value: bool) -> Iterator[str]:
    """Yield the references within a schema; with `same_value` only those that apply to the value of the schema."""
    if isinstance(schema, list):
        for part in schema:
            yield from _references(part, same_value=same_value)
    elif isinstance(schema, dict):
        if isinstance(target := schema.get("$ref"), str):
            yield target
        for keyword, value in schema.items():
            if keyword == "dependentSchemas":
                yield from _references(list(value.values()), same_value=same_value)
            elif keyword in _SAME_VALUE or not (same_value or keyword == "$defs"):
                yield from _references(value, same_value=same_value)


def _refuse_retrieval(uri: str) -> Any:
    raise LookupError(uri)


def _validator(schema: Schema) -> "Validator":
    from jsonschema import Draft202012Validator
    from referencing import Registry

    nothing_to_fetch: Registry[Any] = Registry()
    return Draft202012Validator(schema, registry=nothing_to_fetch)


_QUICK_VALIDATORS: Final[IdentityCache[QuickValidator | None]] = IdentityCache(_quick_validator)
_VALIDATORS: "Final[IdentityCache[Validator]]" = IdentityCache(_validator)


def validator_for(schema: Schema) -> "Validator":
    """Return jsonschema's validator of a schema, made once. The schema must not change afterwards."""
    return _VALIDATORS.get(schema)


def errors(validator: "Validator", value: Any) -> "list[ValidationError]":
    """Return all failures, the shallowest first. Raises RecursionError for a value nested too deeply to be judged."""
    from referencing.exceptions import Unresolvable

    try:
        return sorted(validator.iter_errors(value), key=lambda error: len(error.absolute_path))
    except Unresolvable:
        return []


def is_valid(validator: "Validator", value: Any) -> bool:
    """Return whether a value conforms to the validator's schema."""
    from referencing.exceptions import Unresolvable

    try:
        return validator.is_valid(value)
    except Unresolvable:
        return True


def subschema_validator(validator: "Validator", error: "ValidationError") -> "Validator":
    """Return a validator of the subschema that an error comes from; its references still start at the root."""
    return validator.evolve(schema=error.schema)


def missing_name(error: "ValidationError") -> str:
    """Return the property that a failed `required` misses: one failure each, named only in jsonschema's message."""
    names: list[str] = list(error.validator_value)  # type: ignore[arg-type]  # jsonschema types it as perhaps unset
    return next((name for name in names if error.message.startswith(repr(name))), names[0])


def unknown_names(error: "ValidationError") -> list[str]:
    """Return the properties that a failed `additionalProperties` or `unevaluatedProperties` does not allow.

    They too are named only in jsonschema's message.
    """
    names: list[str] = list(error.instance)  # type: ignore[arg-type]  # jsonschema types it as perhaps unset
    return [name for name in names if repr(name) in error.message] or names


def branches(error: "ValidationError") -> "list[list[ValidationError]]":
    """Return the failures inside a failed `anyOf`, `oneOf` or similar keyword, one list for each branch that failed."""
    by_branch: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        by_branch.setdefault(inner.schema_path[0], []).append(inner)
    return list(by_branch.values())


MAX_SEARCHED: Final = 10_000
"""Objects and arrays of a value that are searched for undeclared properties; a bound for the time of one call."""


class UndeclaredNames(NamedTuple):
    """Properties of an object that its schemas do not declare, and the declared ones that the object lacks."""

    path: tuple[str | int, ...]
    names: list[str]
    absent: list[str]


def undeclared_names(root: Schema, value: Any) -> Iterator[UndeclaredNames]:
    """Yield the undeclared properties of each object in a value. References start at `root`.

    An object is a map, whose properties have any name, if no property is declared or `additionalProperties` has a
    schema. A closed object is left to validation. A property of a pattern is declared. The alternatives of a union
    declare properties together.
    """
    if isinstance(value, dict) and _is_flat_and_declared(value, root):
        return
    search = _DeclarationSearch(root)
    waiting: list[tuple[tuple[str | int, ...], Any, tuple[Any, ...]]] = [((), value, (root,))]
    count = 0
    while waiting and count < MAX_SEARCHED:
        path, container, schemas = waiting.pop()
        count += 1
        declarations = search.declarations(schemas)
        if isinstance(container, dict) and (names := declarations.undeclared(container)):
            yield UndeclaredNames(path, names, [name for name in declarations.properties if name not in container])
        for key, item in container.items() if isinstance(container, dict) else enumerate(container):
            if isinstance(item, dict | list) and (inner := declarations.schemas(key)):
                waiting.append(((*path, key), item, inner))


def _is_flat_and_declared(value: Mapping[str, Any], root: Schema) -> bool:
    """Return whether an object is what most calls send: scalars, each of which the schema itself declares."""
    properties = root.get("properties", ())
    return all(name in properties and not isinstance(item, dict | list) for name, item in value.items())


class _Declarations:
    """The properties, patterns and items that some schemas of one value declare together."""

    def __init__(self, schemas: Iterable[Schema]) -> None:
        self.properties: dict[str, tuple[Any, ...]] = {}
        self._patterns: list[tuple[str, Any]] = []
        self._others: list[Any] = []
        self._prefixes: list[list[Any]] = []
        self._items: list[Any] = []
        for schema in schemas:
            for name, node in schema.get("properties", {}).items():
                self.properties[name] = (*self.properties.get(name, ()), node)
            self._patterns += schema.get("patternProperties", {}).items()
            self._others.append(schema.get("additionalProperties"))
            self._prefixes.append(schema.get("prefixItems", []))
            self._items.append(schema.get("items"))

    def undeclared(self, value: Mapping[str, Any]) -> list[str]:
        """Return the undeclared properties of an object; none if it is a map, or closed."""
        if not self.properties or any(other is False or (isinstance(other, dict) and other) for other in self._others):
            return []
        names = [name for name in value if name not in self.properties]
        return [name for name in names if not self._matching(name)] if self._patterns else names

    def schemas(self, key: str | int) -> tuple[Any, ...]:
        """Return the schemas of a property or an item."""
        if isinstance(key, int):
            by_index = [prefix[key] for prefix in self._prefixes if key < len(prefix)]
            return (*by_index, *self._items)
        return self.properties.get(key) or tuple(self._matching(key)) or tuple(self._others)

    def _matching(self, name: str) -> list[Any]:
        return [node for pattern, node in self._patterns if re.search(pattern, name)]


class _DeclarationSearch:
    """Finder of the declarations of schemas, with those that they apply to the same value; each set is read once."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._cache: dict[tuple[int, ...], _Declarations] = {}

    def declarations(self, schemas: tuple[Any, ...]) -> _Declarations:
        key = tuple(map(id, schemas))
        if key not in self._cache:
            self._cache[key] = _Declarations(self._applied(schemas))
        return self._cache[key]

    def _applied(self, schemas: Iterable[Any]) -> Iterator[Schema]:
        waiting, visited = list(schemas), set[int]()
        while waiting:
            schema = waiting.pop()
            if not isinstance(schema, dict) or id(schema) in visited:
                continue
            visited.add(id(schema))
            yield schema
            for keyword in ("allOf", "anyOf", "oneOf"):
                waiting += schema.get(keyword, [])
            waiting += [schema.get("then"), schema.get("else"), *schema.get("dependentSchemas", {}).values()]
            if (target := schema.get("$ref", "")).startswith("#/$defs/"):
                waiting.append(self._root.get("$defs", {}).get(target.removeprefix("#/$defs/")))
