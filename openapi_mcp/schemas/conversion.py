"""Convert one Schema Object to JSON Schema 2020-12 for inputs: keyword by keyword, then the schema as one.

Keywords count in every version in which authors use them: `nullable` in 3.1 too, and a list of types in 3.0.

`oneOf` is converted to `anyOf`: alternatives of real documents overlap (integer and number, two strings), and a value
that fits several of them is one that the API takes. It stays inside `not` and `if`.

Specification: OpenAPI 3.0.4 and 3.2 Schema Object; JSON Schema 2020-12 Core sections 7 to 10.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from .. import plain_text
from ..document.resolver import BrokenReference, Resolver
from ..errors import Problem
from ..runtime.types import Schema
from . import keywords, patterns
from .examples import add_example, examples_of_schema, is_secret, without_examples
from .locations import REVERSING, Reference, SchemaContext, SchemaLocation
from .plain import PLAIN_TYPES, PlainSchemas
from .subschemas import contains_keyword, has_flag, property_names, read_only_names

DEFINITIONS: Final = "#/$defs/"

MAX_INLINE_DEPTH: Final = 16
"""Nested schemas; the next becomes a definition, so that recursive validators do not run out of stack."""

MAX_DEPTH: Final = 32
"""Nested unions, which cannot become definitions; the next is replaced by one that accepts anything."""

SINGLE: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("not", "if", "then", "else"), True),
    **dict.fromkeys(("items", "additionalProperties", "contains", "propertyNames", "contentSchema"), False),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), False),
}
LISTS: Final[Mapping[str, bool]] = {"allOf": True, "anyOf": True, "oneOf": True, "prefixItems": False}
MAPS: Final[Mapping[str, bool]] = {"properties": False, "patternProperties": False, "dependentSchemas": True}
"""Keywords that hold a schema, a list or a map of schemas: whether these apply to the same value as their parent."""

_BOOLEANS: Final = frozenset({"items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"})
"""Keywords whose boolean schema stays a boolean: validators and models know it as a switch."""

_WIDENED: Final = frozenset({"oneOf", "readOnly"})
"""Keywords that are converted so that more values are accepted."""

_RELATED: Final = frozenset(
    {"required", "dependentRequired", "$ref", "allOf", "anyOf", "oneOf", "then", "else", "dependentSchemas"}
)
"""Keywords that require properties, or hold schemas for the same value that may do so."""

_BESIDE_A_REFERENCE: Final = frozenset({"description", "nullable", "deprecated", keywords.HEADER_ANNOTATION})
"""Keywords that count beside a `$ref` in 3.0 too, against the specification: authors write them on purpose."""


_COMBINED: Final = frozenset(
    {"allOf", "oneOf", "nullable", "enum", "discriminator", "format", "contentMediaType", "patternProperties"}
    | {"exclusiveMinimum", "exclusiveMaximum", keywords.HEADER_ANNOTATION}
)
"""Keywords that `_rewritten` looks at, beside the type."""

_Convert = Callable[["SchemaConversion", Schema, str, Any, SchemaLocation], None]


class SchemaConversion:
    """The conversion of one schema. `name` returns the name of a definition, `report` receives the problems.

    Afterwards `references` has the references of the result, `broken` the first that leads nowhere, and
    `has_header_annotations` is True if it contains `x-mcp-header`.
    """

    def __init__(
        self,
        resolver: Resolver,
        name: Callable[[Any, str, SchemaContext], str],
        report: Callable[[Problem], None],
        *,
        modern: bool,
        plain: PlainSchemas,
    ) -> None:
        self.references: list[Reference] = []
        self.broken: BrokenReference | None = None
        self.has_header_annotations = False
        self._resolver = resolver
        self._name = name
        self._report = report
        self._modern = modern
        self._plain = plain
        self._complaints = 0

    def schema(self, node: Any, location: SchemaLocation) -> Schema:
        """Convert a schema; return a new object."""
        if isinstance(node, bool):
            return {} if node else {"not": {}}
        if not isinstance(node, dict):
            self._problem(location, "a schema must be an object; anything is accepted here")
            return {}
        if location.depth >= MAX_INLINE_DEPTH and not location.in_place:
            return self._referring(node, location.pointer, location)
        if location.depth >= MAX_DEPTH:
            self._problem(location, "schemas are nested too deeply; anything is accepted from here on")
            return {}
        location = self._with_read_only_names(node, location)
        if isinstance(node.get("$ref"), str) or isinstance(node.get("$dynamicRef"), str):
            return self._beside(node, location)
        return self._filled({}, node, location)

    def _inside(self, node: Any, location: SchemaLocation, *tokens: str | int, in_place: bool = False) -> Schema:
        """Convert a schema within the one at a location."""
        if location.depth + 1 < MAX_INLINE_DEPTH and (schema := self._plain.of(node)) is not None:
            return schema
        return self.schema(node, location.inside(*tokens, in_place=in_place))

    def _with_read_only_names(self, node: Mapping[str, Any], location: SchemaLocation) -> SchemaLocation:
        """Return the location with the read-only properties of a schema in its context.

        They matter where the schema requires names, or has parts that may declare or require the same names.
        """
        if not node.keys() & _RELATED or ("$ref" in node and (len(node) == 1 or not self._modern)):
            return location
        context, schema = location.context, (self._resolver, node, location.pointer)
        read_only = context.read_only | read_only_names(*schema)
        optional = context.optional | (read_only_names(*schema, alternatives=True) - read_only)
        return replace(location, context=replace(context, read_only=read_only, optional=optional))

    def _problem(self, location: SchemaLocation, message: str, kind: str = "schema") -> None:
        self._complaints += 1
        self._report(Problem(pointer=self._resolver.display(location.pointer), message=message, kind=kind))

    def _beside(self, node: Mapping[str, Any], location: SchemaLocation) -> Schema:
        """Convert a reference and the keywords that count beside it."""
        if self._modern:
            counting = {key: value for key, value in node.items() if key not in ("$ref", "$dynamicRef")}
        else:
            counting = {key: value for key, value in node.items() if key in _BESIDE_A_REFERENCE}
        return self._filled(self._target(node, location), counting, location)

    def _target(self, node: Mapping[str, Any], location: SchemaLocation) -> Schema:
        """Convert the reference alone. A `$dynamicRef` is read as `$ref`; a broken one accepts anything."""
        dynamic = "$ref" not in node
        try:
            target = self._chain_end(node["$dynamicRef" if dynamic else "$ref"], location)
        except BrokenReference as error:
            if dynamic:
                self._report(error.problem)
            else:
                self.broken = self.broken or error
            return {}
        if target is None:
            self._problem(location, "these references only refer to each other; anything is accepted here", "reference")
            return {}
        value, pointer = target
        return self.schema(value, location) if isinstance(value, bool) else self._referring(value, pointer, location)

    def _chain_end(self, ref: str, location: SchemaLocation) -> tuple[Any, str] | None:
        """Return the end of a chain of references without other keywords, and its pointer; None if it has no end."""
        pointer, visited = location.pointer, set[str]()
        while pointer not in visited:
            visited.add(pointer)
            target, pointer = self._resolver.lookup(ref, pointer)
            bare = isinstance(target, dict) and isinstance(target.get("$ref"), str)
            if not bare or (self._modern and len(target) > 1):
                return target, pointer
            ref = target["$ref"]
        return None

    def _referring(self, node: Any, pointer: str, location: SchemaLocation) -> Schema:
        name = self._name(node, pointer, self._target_context(node, pointer, location.context))
        holder: Schema = {"$ref": DEFINITIONS + name}
        self.references.append(Reference(name, holder, location))
        return holder

    def _target_context(self, node: Any, pointer: str, context: SchemaContext) -> SchemaContext:
        """Return a context as far as it changes the target of a reference: most targets have one definition."""
        target = self._resolver, node, pointer
        if context.exact:
            return SchemaContext(exact=contains_keyword(*target, _WIDENED))
        if not context.read_only | context.optional:
            return SchemaContext()
        names = property_names(*target) - read_only_names(*target)
        return SchemaContext(read_only=context.read_only & names, optional=context.optional & names)

    def _filled(self, schema: Schema, node: Mapping[str, Any], location: SchemaLocation) -> Schema:
        """Add the converted keywords of `node` to a schema."""
        for keyword, value in node.items():
            convert = self.KEYWORDS.get(keyword)
            if convert is not None:
                try:
                    convert(self, schema, keyword, value, location)
                except keywords.InvalidKeyword as error:
                    self._problem(location, f"`{keyword}` must be {error}; it is left out")
        converted = self._rewritten(schema, node, location)
        if "example" not in node and "examples" not in node:
            return converted
        return add_example(converted, examples_of_schema(node), self._plain.max_text_length)

    def _read(self, schema: Schema, keyword: str, value: Any, _: SchemaLocation) -> None:
        schema[keyword] = keywords.READERS[keyword](value)

    def _type(self, schema: Schema, _: str, value: Any, location: SchemaLocation) -> None:
        if isinstance(value, str) and value in keywords.TYPES:
            schema["type"] = value
            return
        values = value if isinstance(value, list) else [value]
        names = keywords.types(value)
        if any(str(name).lower() not in (*keywords.TYPES, "file") for name in values):
            self._problem(location, f"`type` must be one of {', '.join(keywords.TYPES)}; it is left out")
        if names:
            schema["type"] = names[0] if len(names) == 1 else names

    def _required(self, schema: Schema, keyword: str, value: Any, location: SchemaLocation) -> None:
        if required := _required_names(value, location.context):
            schema[keyword] = required

    def _dependent_required(self, schema: Schema, keyword: str, value: Any, location: SchemaLocation) -> None:
        if not isinstance(value, dict):
            raise keywords.InvalidKeyword("a map to lists of property names")
        schema[keyword] = {name: _required_names(names, location.context) for name, names in value.items()}

    def _exclusive(self, schema: Schema, keyword: str, value: Any, location: SchemaLocation) -> None:
        """Convert a bound; `merge_exclusive_bounds` handles `true` (3.0)."""
        if not isinstance(value, bool):
            self._number(schema, keyword, value, location)

    def _number(self, schema: Schema, keyword: str, value: Any, _: SchemaLocation) -> None:
        schema[keyword] = keywords.number(value)

    def _description(self, schema: Schema, keyword: str, value: Any, _: SchemaLocation) -> None:
        if text := plain_text.trim(plain_text.clean(value), self._plain.max_text_length):
            schema[keyword] = text

    def _deprecated(self, schema: Schema, keyword: str, value: Any, _: SchemaLocation) -> None:
        if value is True:
            schema[keyword] = True

    def _format(self, schema: Schema, keyword: str, value: Any, _: SchemaLocation) -> None:
        if isinstance(value, str) and value in keywords.FORMATS:
            schema[keyword] = value

    def _pattern(self, schema: Schema, keyword: str, value: Any, location: SchemaLocation) -> None:
        if rewritten := self._portable(keywords.text(value), location):
            schema[keyword] = rewritten

    def _portable(self, pattern: str, location: SchemaLocation) -> str | None:
        rewritten, steps = (None, 0) if self._resolver.is_exhausted else patterns.analyse(pattern)
        self._resolver.spend(steps)
        if rewritten is None:
            text = plain_text.line(pattern, 60)
            self._problem(location, f"the pattern `{text}` cannot be used by every client; it is left out", "pattern")
        return rewritten

    def _one(self, schema: Schema, keyword: str, value: Any, location: SchemaLocation) -> None:
        if isinstance(value, bool) and keyword in _BOOLEANS:
            schema[keyword] = value
        elif isinstance(value, list) and keyword == "items":
            self._tuple(schema, value, location)
        elif isinstance(value, dict | bool):
            complaints = self._complaints
            subschema = self._inside(value, location, keyword, in_place=SINGLE[keyword])
            if keyword not in REVERSING or self._complaints == complaints:
                schema[keyword] = subschema
        else:
            raise keywords.InvalidKeyword("a schema")

    def _tuple(self, schema: Schema, schemas: list[Any], location: SchemaLocation) -> None:
        """Convert `items` with a list, which is draft 4's form of `prefixItems`."""
        self._problem(location, "`items` is a list; it is read as `prefixItems`")
        if schemas:
            schema["prefixItems"] = [self.schema(node, location.inside("items", i)) for i, node in enumerate(schemas)]

    def _list(self, schema: Schema, keyword: str, value: Any, location: SchemaLocation) -> None:
        if not isinstance(value, list) or not value:
            raise keywords.InvalidKeyword("a list of schemas, at least one")
        in_place = LISTS[keyword]
        schema[keyword] = [
            self._inside(node, location, keyword, index, in_place=in_place) for index, node in enumerate(value)
        ]

    def _map(self, schema: Schema, keyword: str, value: Any, location: SchemaLocation) -> None:
        if not isinstance(value, dict):
            raise keywords.InvalidKeyword("a map of schemas")
        in_place = MAPS[keyword]
        schema[keyword] = {
            name: self._inside(node, location, keyword, name, in_place=in_place) for name, node in value.items()
        }

    def _properties(self, schema: Schema, keyword: str, value: Any, location: SchemaLocation) -> None:
        """Convert the properties without those that only the server may set."""
        if isinstance(value, dict) and not location.context.exact:
            pointer, read_only = location.pointer, location.context.read_only
            value = {
                name: node
                for name, node in value.items()
                if name not in read_only and not has_flag(self._resolver, node, pointer, name, "readOnly")
            }
        self._map(schema, keyword, value, location)
        for name, converted in schema[keyword].items():
            if "examples" in converted and is_secret(name):
                schema[keyword][name] = without_examples(converted)

    def _pattern_properties(self, schema: Schema, keyword: str, value: Any, location: SchemaLocation) -> None:
        if not isinstance(value, dict):
            raise keywords.InvalidKeyword("a map of schemas")
        here = location.inside(keyword)
        portable = {pattern: self._portable(pattern, here) for pattern in value}
        schema[keyword] = {
            rewritten: self.schema(value[pattern], here.inside(pattern))
            for pattern, rewritten in portable.items()
            if rewritten is not None
        }

    def _rewritten(self, schema: Schema, node: Mapping[str, Any], location: SchemaLocation) -> Schema:
        """Rewrite the combinations of keywords that JSON Schema does not have or clients refuse."""
        kind = node.get("type")
        if _COMBINED.isdisjoint(node) and (kind is None or (isinstance(kind, str) and kind in PLAIN_TYPES)):
            return schema
        keywords.merge_exclusive_bounds(schema, node)
        keywords.open_if_patterns_are_missing(schema, node)
        keywords.encode_bytes(schema, node)
        if complaint := keywords.drop_contradiction(schema):
            self._problem(location, complaint)
        keywords.describe_unsupported(schema, node)
        if not location.context.exact:
            keywords.relax_one_of(schema)
        if node.get("nullable") is True:
            schema = keywords.nullable(schema)
        keywords.add_items(schema)
        if complaint := keywords.drop_invalid_header(schema):
            self._problem(location, complaint)
        self.has_header_annotations = self.has_header_annotations or keywords.HEADER_ANNOTATION in schema
        return keywords.unwrap_all_of(schema)

    KEYWORDS: ClassVar[Mapping[str, _Convert]] = {
        **dict.fromkeys(keywords.READERS, _read),
        **dict.fromkeys(SINGLE, _one),
        **dict.fromkeys(LISTS, _list),
        **dict.fromkeys(MAPS, _map),
        "type": _type,
        "required": _required,
        "dependentRequired": _dependent_required,
        "exclusiveMinimum": _exclusive,
        "exclusiveMaximum": _exclusive,
        "description": _description,
        "deprecated": _deprecated,
        "format": _format,
        "pattern": _pattern,
        "properties": _properties,
        "patternProperties": _pattern_properties,
    }
    """Converters by keyword; `add_example` reads the examples. All others are left out: identifiers and definitions (a
    tool has its own), titles (they repeat names), extensions and links (they cost a model more than they explain)."""


def _required_names(value: Any, context: SchemaContext) -> list[str]:
    """Return required names without those that a caller cannot set; inside `not` and `if` all of them."""
    names = keywords.names(value)
    if context.exact:
        return names
    return [name for name in names if name not in context.read_only and name not in context.optional]
