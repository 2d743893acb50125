"""Python types for schemas: exact where the type is legible, else `Any`; never narrower than the schema.

An object becomes a TypedDict, a long enumeration or union an alias; other types are written where they are used. A
definition and an object with a NAME keep that name, whatever others have the same members; equal objects without names
share one class. A property whose name is not an identifier is a string literal.
"""

import ast
import builtins
import json
import keyword
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from ..runtime.types import Schema
from ..tools.names import make_unique, shorten, words
from .literals import INDENT, WIDTH, Group, Source, layout, literal, node

SIMPLE: Final[Mapping[str, str]] = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}

NAME: Final = "\0name"
"""A keyword that no document has: the document's name for the schema that it stands in."""

MAX_MEMBERS: Final = 64
"""Properties of an object that becomes a class; longer classes are not legible."""

MAX_VALUES: Final = 40
"""Values of an enumeration that becomes a Literal."""

MAX_CHOICES: Final = 24
"""Types in a union."""

MAX_DEPTH: Final = 6
"""Levels of nested objects without names."""

MAX_STEPS: Final = 200_000
"""Schemas of a module whose types are looked for, each a few microseconds; those that follow are `Any`."""

MAX_OPEN: Final = 50
"""Definitions within each other whose types are incomplete. Each takes 13 calls of Python's 1,000."""

MAX_CLASSES: Final = 200
"""Declarations of a module after which objects become `dict`."""

_SHORT: Final = 48
"""Columns of an enumeration without a name."""

MAX_LENGTH: Final = 72
"""Columns of an annotation, which shares its line with long names of parameters; a longer union gets an alias."""

MAX_MEMBER_LENGTH: Final = 50
"""Characters of a property's name in an object that becomes a class."""

MAX_NAME_LENGTH: Final = 44
"""Characters of a class's name."""

_OPEN: Final = "dict[str, Any]"
_TYPING: Final = ("Any", "Literal", "NotRequired", "TypeAlias", "TypedDict")
_TYPES: Final = frozenset({*SIMPLE.values(), "list", "dict", "Any", "Literal", "NotRequired"})
"""Names that annotations use."""

_TAKEN: Final = frozenset({*dir(builtins), *keyword.kwlist, *_TYPING})


class _Value(str):
    """The source of a value of an enumeration, among the types of a union."""

    __slots__ = ()


class Types:
    """The types of one module. `declarations` are its classes and aliases by name, each after those that it needs."""

    def __init__(self, definitions: Mapping[str, Schema], taken: Iterable[str] = ()) -> None:
        self.declarations: dict[str, Source] = {}
        self._definitions = definitions
        self._taken = {*_TAKEN, *taken}
        self._definition_names = {name: self._unique(camel(name)) for name in sorted(definitions)}
        self._named: dict[str, str] = {}  # names of classes and aliases, by definition
        self._written: dict[str, str] = {}  # the same for other schemas, by name of the document and content
        self._class_names: dict[str, list[str]] = {}  # names of classes by NAME, that of the definition first
        self._kinds: dict[str, list[str]] = {}  # the types of definitions that refer to no incomplete one
        self._steps = 0
        self._cycles = 0  # references to incomplete definitions so far
        self._open: list[str] = []  # definitions whose types are incomplete
        self._open_names: dict[str, str] = {}  # names of incomplete classes, by NAME

    def reachable(self, signatures: Iterable[str]) -> list[Source]:
        """Return the declarations that these signatures of functions use, directly or by others."""
        waiting = [name for signature in signatures for name in annotation_names(signature)]
        used: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in self.declarations and name not in used:
                used.add(name)
                waiting += annotation_names(self.declarations[name])
        return [source for name, source in self.declarations.items() if name in used]

    def of(self, schema: Any, name: str, depth: int = 0) -> Source:
        """Return the type of a schema's values; `name` is the name for a class or alias, if one is declared."""
        return Source(" | ".join(self._short(self._union(schema, name, depth), name)))

    def _short(self, kinds: Iterable[str], name: str, *, is_definition: bool = False) -> list[str]:
        """Return the types of a union that fits on a line, else its alias; None comes last."""
        kinds = list(dict.fromkeys(kinds))
        rest = [kind for kind in kinds if kind != "None"]
        if "Any" in kinds or not kinds or len([kind for kind in rest if not isinstance(kind, _Value)]) > MAX_CHOICES:
            return ["Any"]
        rest = self._with_literal(rest, name, is_definition=is_definition)
        if sum(map(len, rest)) + 3 * len(rest) > MAX_LENGTH and len(rest) > 1:
            rest = [self._union_alias(rest, name)]
        return rest + ["None"] * ("None" in kinds)

    def _with_literal(self, kinds: list[str], name: str, *, is_definition: bool) -> list[str]:
        """Replace the values in a union by one Literal, which has a name where it is a definition or long."""
        values = [kind for kind in kinds if isinstance(kind, _Value)]
        others = [kind for kind in kinds if not isinstance(kind, _Value)]
        if not values:
            return others
        if len(values) > MAX_VALUES:
            return list(dict.fromkeys([*others, *(type(ast.literal_eval(value)).__name__ for value in values)]))
        text = layout(_literal(values))
        if len(text) <= _SHORT and "\n" not in text and not (is_definition and not others):
            return [*others, text]
        key = f"Literal {json.dumps(values)} {name if is_definition else ''}"
        return [*others, self._alias(key, name, lambda before: layout(_literal(values), before=before))]

    def _union_alias(self, kinds: list[str], name: str) -> str:
        """Return an alias of a union, or a less exact type where an alias would have to name a class further down."""
        if any(FORWARD in kind for kind in kinds):
            is_object = all(kind.startswith("dict[") or kind.strip(FORWARD)[:1].isupper() for kind in kinds)
            return _OPEN if is_object else "Any"
        return self._alias(" | ".join(kinds), name, lambda before: _union_source(kinds, before))

    def _alias(self, key: str, name: str, source: Callable[[int], str]) -> str:
        if key not in self._written:
            is_reserved = name in self._definition_names.values() and name not in self.declarations
            alias = name if is_reserved else self._unique(name)
            head = f"{alias}: TypeAlias = "
            self.declarations[alias] = Source(head + source(len(head)))
            self._written[key] = alias
        return self._written[key]

    def _union(self, schema: Any, name: str, depth: int) -> Iterator[str]:
        """Yield the types that a value may have; some may occur twice."""
        self._steps += 1
        if not isinstance(schema, dict) or depth > MAX_DEPTH or self._steps > MAX_STEPS:
            yield "Any"
        elif "$ref" in schema:
            yield from self._reference(schema["$ref"].removeprefix("#/$defs/"))
        elif "const" in schema or "enum" in schema:
            yield from _enumeration(schema.get("enum", [schema.get("const")]))
        elif choices := schema.get("oneOf") or schema.get("anyOf"):
            for number, choice in enumerate(choices, 1):
                yield from self._union(choice, f"{name}{number}", depth + 1)
        elif len(schema.get("allOf", ())) == 1:
            yield from self._union(schema["allOf"][0], name, depth + 1)
        else:
            kinds = schema.get("type", ())
            for kind in [kinds] if isinstance(kinds, str) else kinds or ["any"]:
                yield self._typed(kind, schema, name, depth)

    def _typed(self, kind: str, schema: Schema, name: str, depth: int) -> str:
        if kind == "array":
            inner = self.of(schema.get("items", True), f"{name}Item", depth + 1)
            return f"list[{inner}]"
        if kind == "object":
            return self._object(schema, name, depth)
        return SIMPLE.get(kind, "None" if kind == "null" else "Any")

    def _object(self, schema: Schema, name: str, depth: int) -> str:
        properties = schema.get("properties", {})
        legible = 0 < len(properties) <= MAX_MEMBERS and all(len(name) <= MAX_MEMBER_LENGTH for name in properties)
        if "allOf" in schema or not legible or len(self.declarations) >= MAX_CLASSES:
            others = True if properties else schema.get("additionalProperties", True)
            inner = self.of(others, f"{name}Value", depth + 1)
            return f"dict[str, {inner}]"
        return self._class(schema, name, depth)

    def _reference(self, name: str) -> Iterator[str]:
        """Yield the class or alias of a definition where it has one, else the types of its schema."""
        schema = self._definitions.get(name)
        if name in self._named:
            yield self._quoted(self._named[name])
        elif name in self._kinds:
            yield from self._kinds[name]
        elif not isinstance(schema, dict) or name in self._open or len(self._open) >= MAX_OPEN:
            self._cycles += 1
            yield "Any"
        else:
            yield from self._definition(schema, name)

    def _definition(self, schema: Schema, name: str) -> list[str]:
        """Return the types of a definition; those of most are remembered, since many others may refer to it."""
        cycles, type_name = self._cycles, self._definition_names[name]
        self._open.append(name)
        kinds = self._short(self._union(schema, type_name, 0), type_name, is_definition=True)
        self._open.pop()
        if self._cycles == cycles and not any(FORWARD in kind for kind in kinds):
            self._kinds[name] = kinds
        return kinds

    def _quoted(self, name: str) -> str:
        """Return a name, with FORWARD before it if it is not declared yet: its annotation has to be quoted."""
        return name if name in self.declarations else f"{FORWARD}{name}"

    def _class(self, schema: Schema, name: str, depth: int) -> str:
        """Return the name of an object's TypedDict, which is declared once for each definition, NAME and content."""
        definition = self._open[-1] if self._open and self._definition_names[self._open[-1]] == name else None
        if schema.get(NAME) in self._open_names:
            return f"{FORWARD}{self._open_names[schema[NAME]]}"
        key = json.dumps([definition, schema.get(NAME), schema.get("properties"), schema.get("required")])
        if key in self._written:
            return self._written[key]
        if definition:
            self._named[definition] = name
        class_name = name if definition else self._class_name(schema, name, depth)
        self._written[key] = class_name
        if class_name not in self.declarations:
            self.declarations[class_name] = self._class_source(schema, class_name, depth)
        return class_name

    def _class_name(self, schema: Schema, name: str, depth: int) -> str:
        """Return a free name for a class, or that of a class with the same NAME and equal members."""
        if NAME not in schema:
            return self._unique(name)
        document_name = schema[NAME]
        if document_name in self._definitions and document_name not in self._named:
            self.of({"$ref": f"#/$defs/{document_name}"}, name)
        siblings = self._class_names.setdefault(document_name, [self._definition_names.get(document_name, "")])
        for sibling in siblings:
            before = dict(self.declarations), dict(self._written), dict(self._named), set(self._taken)
            if sibling and self._class_source(schema, sibling, depth) == self.declarations.get(sibling):
                return sibling
            self.declarations, self._written, self._named, self._taken = before
        siblings.append(self._unique(f"{siblings[0]}Output" if siblings[0] else camel(document_name)))
        return siblings[-1]

    def _class_source(self, schema: Schema, class_name: str, depth: int) -> Source:
        """Return the declaration of an object's class; within it, an object of the same NAME is of this class."""
        if NAME in schema:
            self._open_names[schema[NAME]] = class_name
        source = _typed_dict(
            class_name, self._members(schema, class_name, depth), self.declarations.keys() - {class_name}
        )
        self._open_names.pop(schema.get(NAME, ""), None)
        return source

    def _members(self, schema: Schema, class_name: str, depth: int) -> dict[str, str]:
        required = schema.get("required", ())
        return {
            member: self._member(inner, f"{class_name}{camel(member)}", depth, required=member in required)
            for member, inner in schema["properties"].items()
        }

    def _member(self, schema: Any, name: str, depth: int, *, required: bool) -> str:
        annotation = self.of(schema, name, depth + 1)
        if not required:
            annotation = Source(f"NotRequired[{annotation}]")
        return f'"{annotation.replace(FORWARD, "")}"' if FORWARD in annotation else annotation

    def _unique(self, name: str) -> str:
        """Return a name that is taken from now on, with a number where it is taken already."""
        unique_name = make_unique(shorten(name, MAX_NAME_LENGTH), self._taken)
        self._taken.add(unique_name)
        return unique_name


def _enumeration(values: list[Any]) -> Iterator[str]:
    """Yield the values of an enumeration, or their types where they are not legible as a Literal; null is None."""
    plain = [value for value in values if isinstance(value, str | bool | int)]
    is_legible = len(plain) + values.count(None) == len(values) and all(len(str(v)) <= MAX_LENGTH for v in plain)
    for value in values:
        if value is None:
            yield "None"
        elif isinstance(value, dict | list):
            yield "Any"
        else:
            yield _Value(node(value)) if is_legible else type(value).__name__


def _union_source(kinds: list[str], before: int) -> str:
    """Return a union on one line if it fits, else in parentheses, in the layout of `ruff format`."""
    line = " | ".join(kinds)
    if before + len(line) <= WIDTH:
        return line
    margin = " " * INDENT
    inner = line if INDENT + len(line) <= WIDTH else f"\n{margin}| ".join(kinds)
    return f"(\n{margin}{inner}\n)"


def annotation_names(code: str) -> set[str]:
    """Return the names in the annotations of declarations and signatures, quoted ones too; defaults do not count."""
    names: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(code)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Name):
            names.add(part.id)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            names |= annotation_names(part.value)
        elif isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name) and part.value.id == "Literal":
            names.add("Literal")
        elif isinstance(part, ast.Call):
            waiting += [part.func, *part.args[1:]]
        elif isinstance(part, ast.Dict):
            waiting += part.values
        elif isinstance(part, ast.arguments):
            waiting += [*part.args, *part.kwonlyargs]
        else:
            waiting += ast.iter_child_nodes(part)
    return names


def typing_names(sources: Iterable[str]) -> set[str]:
    """Return the names of `typing` that declarations and signatures use."""
    return {name for source in sources for name in annotation_names(source)} & set(_TYPING)


FORWARD: Final = "\0"
"""The mark before a name that is declared further down."""


def camel(name: str) -> str:
    """Return the name of a class: `new_pet` is NewPet."""
    plain = "".join(word.capitalize() for word in words(name)) or "Value"
    return f"N{plain}" if plain[0].isdigit() else plain


def _literal(values: list[_Value]) -> Group:
    return Group("Literal[", [("", value) for value in values], "]")


def _typed_dict(name: str, members: Mapping[str, str], taken: Iterable[str]) -> Source:
    """Return a class if all members are identifiers that hide no type, else a call of TypedDict."""
    plain = all(map(_is_plain, members))
    if plain and not any(member in _TYPES or member in taken for member in members):
        return Source(
            "\n".join([f"class {name}(TypedDict):", *(f"    {name}: {kind}" for name, kind in members.items())])
        )
    items = [(f"{literal(member)}: ", Source(kind)) for member, kind in members.items()]
    call = Group("TypedDict(", [("", node(name)), ("", Group("{", items, "}"))], ")")
    text = f"{name} = {layout(call, before=len(name) + 3)}"
    if not plain:
        return Source(text)
    first, newline, rest = text.partition("\n")
    return Source(f"{first}  # noqa: UP013 - a member has the name of a type{newline}{rest}")


def _is_plain(name: str) -> bool:
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")


def default(schema: Mapping[str, Any], annotation: str, definitions: Mapping[str, Schema]) -> Source | None:
    """Return the default of a schema as source if it is a scalar of the annotated type, else None."""
    value = schema.get("default")
    target = definitions.get(str(schema.get("$ref", "")).removeprefix("#/$defs/"), schema)
    allowed = target.get("enum", [value]) if isinstance(target, dict) else []
    kinds = {"str": (str,), "int": (int,), "float": (int, float), "bool": (bool,)}.get(annotation)
    if kinds is None and "enum" in target and value is not None:
        kinds = (str, int, bool)
    if kinds is None or type(value) not in kinds or value not in allowed:
        return None
    text = literal(value)
    return text if len(text) <= WIDTH // 2 and "1e999" not in text else None
