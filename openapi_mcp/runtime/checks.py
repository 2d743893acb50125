"""A schema as a function that says yes or no, made once; for a yes nothing else need be asked.

It says what jsonschema's Draft202012Validator says (`format` is not asserted), and explains nothing. A schema with a
keyword that is not in the table below has none. Specification: JSON Schema 2020-12 Validation §6, Core §8.2.3 and §10.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

Check: TypeAlias = Callable[[Any], bool]

JUDGED: Final = frozenset({
    "$dynamicRef", "$ref", "additionalProperties", "allOf", "anyOf", "const", "contains", "dependentRequired",
    "dependentSchemas", "enum", "exclusiveMaximum", "exclusiveMinimum", "format", "if", "items", "maxItems",
    "maxLength", "maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum", "multipleOf",
    "not", "oneOf", "pattern", "patternProperties", "prefixItems", "properties", "propertyNames", "required",
    "type", "unevaluatedItems", "unevaluatedProperties", "uniqueItems",
})  # fmt: skip
"""The keywords that jsonschema judges a value by; it passes over all others."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_DEFINITION: Final = re.compile(r"#/\$defs/([^/~%]+)")


_OF_OBJECTS: Final = frozenset({"type", "properties", "additionalProperties", "required"})


class _Unknown(Exception):
    """A schema that is left to jsonschema."""


def compiled(schema: Any) -> Check | None:
    """The check of a schema, which must not change afterwards; None where there is none."""
    try:
        return _Compiler(schema).check(schema)
    except (_Unknown, TypeError, ValueError, KeyError, AttributeError, RecursionError, re.error):
        return None  # what is no schema, or none that is known here, is jsonschema's to judge


class _Compiler:
    """Makes the checks of one schema and of what it refers to, each definition once."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._definitions: dict[str, list[Check]] = {}

    def check(self, schema: Any) -> Check:
        if isinstance(schema, bool):
            return lambda _: schema
        if "$id" in schema or schema.get("$schema", _DIALECT) != _DIALECT:
            raise _Unknown
        known = [keyword for keyword in schema if keyword in JUDGED]
        if schema.get("type") == "object" and _OF_OBJECTS.issuperset(known):
            return _object(self, schema)
        checks = [made for keyword in known if (made := _KEYWORDS[keyword](self, schema[keyword], schema)) is not None]
        return _all(tuple(checks))

    def checks(self, schemas: list[Any]) -> tuple[Check, ...]:
        return tuple(self.check(schema) for schema in schemas)

    def reference(self, target: str) -> Check:
        """The check of a definition, which may be under way: it is looked up when it is needed."""
        if target not in self._definitions:
            found = _DEFINITION.fullmatch(target)
            if found is None:
                raise _Unknown
            made: list[Check] = []
            self._definitions[target] = made
            made.append(self.check(self._root["$defs"][found[1]]))
        referred = self._definitions[target]
        return lambda value: referred[0](value)  # noqa: PLW0108  # it may be empty yet


def _all(checks: tuple[Check, ...]) -> Check:
    if len(checks) == 1:
        return checks[0]

    def check(value: Any) -> bool:
        for one in checks:  # noqa: SIM110  # a generator would cost more than most checks
            if not one(value):
                return False
        return True

    return check


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Final[Mapping[str, Check]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _is_number,
    "integer": lambda value: (
        type(value) is int
        or (isinstance(value, int) and not isinstance(value, bool))
        or (isinstance(value, float) and value.is_integer())
    ),
}


def _type(_: _Compiler, wanted: str | list[str], _schema: Mapping[str, Any]) -> Check:
    if isinstance(wanted, str):
        return _TYPES[wanted]
    kinds = [_TYPES[kind] for kind in wanted]
    return lambda value: any(kind(value) for kind in kinds)


def _enum(_: _Compiler, values: list[Any], _schema: Mapping[str, Any]) -> Check:
    """Of strings and null only: jsonschema compares numbers, booleans and what holds them in a way of its own."""
    if not all(isinstance(value, str | None) for value in values):
        raise _Unknown
    allowed = frozenset(values)
    return lambda value: isinstance(value, str | None) and value in allowed


def _const(compiler: _Compiler, value: Any, schema: Mapping[str, Any]) -> Check:
    return _enum(compiler, [value], schema)


def _properties(compiler: _Compiler, wanted: Mapping[str, Any], _schema: Mapping[str, Any]) -> Check:
    checks = tuple((name, compiler.check(schema)) for name, schema in wanted.items())

    def check(value: Any) -> bool:
        if isinstance(value, dict):
            for name, one in checks:
                if name in value and not one(value[name]):
                    return False
        return True

    return check


def _additional(compiler: _Compiler, wanted: Any, schema: Mapping[str, Any]) -> Check:
    if "patternProperties" in schema:
        raise _Unknown
    named = frozenset(schema.get("properties", ()))
    others = compiler.check(wanted)
    return lambda value: not isinstance(value, dict) or all(others(value[name]) for name in value.keys() - named)


def _object(compiler: _Compiler, schema: Mapping[str, Any]) -> Check:
    """The four keywords that nearly all objects have, and no others, as one check."""
    named = {name: compiler.check(wanted) for name, wanted in schema.get("properties", {}).items()}
    others = compiler.check(schema.get("additionalProperties", True))
    wanted = frozenset(schema.get("required", ()))

    def check(value: Any) -> bool:
        if not isinstance(value, dict) or not wanted <= value.keys():
            return False
        for name, item in value.items():  # noqa: SIM110  # as above
            if not named.get(name, others)(item):
                return False
        return True

    return check


def _required(_: _Compiler, names: list[str], _schema: Mapping[str, Any]) -> Check:
    wanted = frozenset(names)
    return lambda value: not isinstance(value, dict) or wanted <= value.keys()


def _items(compiler: _Compiler, wanted: Any, schema: Mapping[str, Any]) -> Check:
    if "prefixItems" in schema:
        raise _Unknown
    item = compiler.check(wanted)
    return lambda value: not isinstance(value, list) or all(item(one) for one in value)


def _unique(_: _Compiler, wanted: bool, _schema: Mapping[str, Any]) -> None:  # a keyword's value
    if wanted:
        raise _Unknown


def _pattern(_: _Compiler, pattern: str, _schema: Mapping[str, Any]) -> Check:
    search = re.compile(pattern).search
    return lambda value: not isinstance(value, str) or search(value) is not None


def _one_of(compiler: _Compiler, schemas: list[Any], _schema: Mapping[str, Any]) -> Check:
    checks = compiler.checks(schemas)
    return lambda value: sum(check(value) for check in checks) == 1


def _any_of(compiler: _Compiler, schemas: list[Any], _schema: Mapping[str, Any]) -> Check:
    checks = compiler.checks(schemas)
    return lambda value: any(check(value) for check in checks)


def _not(compiler: _Compiler, schema: Any, _schema: Mapping[str, Any]) -> Check:
    check = compiler.check(schema)
    return lambda value: not check(value)


_Keyword: TypeAlias = Callable[[_Compiler, Any, Mapping[str, Any]], Check | None]


def _of(kind: type | tuple[type, ...], compare: Callable[[Any, Any], bool]) -> _Keyword:
    """A keyword that compares values of one kind (never booleans) with its own, a number."""

    def keyword(_: _Compiler, limit: Any, _schema: Mapping[str, Any]) -> Check:
        if not _is_number(limit):
            raise _Unknown
        return lambda value: not isinstance(value, kind) or isinstance(value, bool) or compare(value, limit)

    return keyword


_KEYWORDS: Final[Mapping[str, _Keyword]] = {
    "$ref": lambda compiler, target, _: compiler.reference(target),
    "type": _type,
    "enum": _enum,
    "const": _const,
    "format": lambda *_: None,
    "properties": _properties,
    "additionalProperties": _additional,
    "required": _required,
    "items": _items,
    "uniqueItems": _unique,
    "pattern": _pattern,
    "allOf": lambda compiler, schemas, _: _all(compiler.checks(schemas)),
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "minimum": _of((int, float), lambda value, limit: bool(value >= limit)),
    "maximum": _of((int, float), lambda value, limit: bool(value <= limit)),
    "exclusiveMinimum": _of((int, float), lambda value, limit: bool(value > limit)),
    "exclusiveMaximum": _of((int, float), lambda value, limit: bool(value < limit)),
    "minLength": _of(str, lambda value, limit: len(value) >= limit),
    "maxLength": _of(str, lambda value, limit: len(value) <= limit),
    "minItems": _of(list, lambda value, limit: len(value) >= limit),
    "maxItems": _of(list, lambda value, limit: len(value) <= limit),
    "minProperties": _of(dict, lambda value, limit: len(value) >= limit),
    "maxProperties": _of(dict, lambda value, limit: len(value) <= limit),
}
"""What each keyword makes of its value and the schema around it; one of jsonschema's that is absent is unknown."""
