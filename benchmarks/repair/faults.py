"""Inject faults into a document, by a seed: those that real documents have against the API that they describe.

The true document describes the API; the faulty one is what its users get. Each kind of fault is injected at a few
places, where the document has such places: the server, the credentials, types, formats, nullability, required lists,
media types, operationIds, and texts with their examples.
"""

import copy
import random
from collections.abc import Iterator
from typing import Any, Final

from openapi_mcp.document.objects import METHODS
from openapi_mcp.runtime.types import JsonObject

WRONG_SERVER: Final = "https://api.moved.example/v0"
SHARE: Final = 0.5
"""Share of the other kinds of faults that one document has; all have missing texts and formats."""

TEXTS: Final = 3
"""Operations that lose their texts."""

FORMATS: Final = 6
"""Strings that lose their formats."""

TYPES: Final = 2
"""Types that are changed, for parameters and properties each. A string that is only sent keeps its type: where the
document wants a number, what is sent is a text too, and no traffic shows that it may be another."""

_OTHERS: Final = {"integer": "string", "number": "string", "boolean": "string", "string": "integer"}
_SIMPLE: Final = frozenset({"type", "description", "title", "default", "example", "examples", "format", "readOnly"})
"""Keywords of a schema whose type can be another without contradicting the rest."""


_FORMATS: Final = frozenset({"date", "date-time", "uuid", "uri"})


def with_faults(true: JsonObject, seed: int) -> tuple[JsonObject, list[str]]:
    """Return a faulty copy of a document of one file, and what was done to it."""
    faulty: JsonObject = copy.deepcopy(true)
    injector = _Injector(faulty, random.Random(seed))  # noqa: S311  # nosec B311  # no secret
    kinds = [kind for kind in _KINDS if injector.draw.random() < SHARE]
    done = [fault for kind in (*kinds, _Injector.formats, _Injector.texts) for fault in kind(injector)]
    return faulty, done


def with_null(true: JsonObject, seed: int) -> JsonObject:
    """Return a copy of a document whose API answers with null in one place, as its document says."""
    root: JsonObject = copy.deepcopy(true)
    places = [
        schema
        for schema in _properties(root)
        if schema.get("type") == "string" and not schema.keys() - (_SIMPLE - {"default"}) and "readOnly" not in schema
    ]
    if places:
        schema = random.Random(seed).choice(places)  # noqa: S311  # nosec B311  # no secret
        if str(root.get("openapi", "")).startswith("3.0"):
            schema |= {"nullable": True, "example": None}
        else:
            schema |= {"type": ["string", "null"], "examples": [None]}
        schema.pop("format", None)
    return root


class _Injector:
    """A document that is being damaged."""

    def __init__(self, root: JsonObject, draw: random.Random) -> None:
        self.root = root
        self.draw = draw

    def chosen(self, places: list[Any], count: int) -> list[Any]:
        """Return some of the places."""
        return self.draw.sample(places, min(count, len(places)))

    def server(self) -> Iterator[str]:
        """Move or remove the server."""
        if self.draw.random() < 0.5:
            self.root.pop("servers", None)
            yield "server: removed"
        else:
            self.root["servers"] = [{"url": WRONG_SERVER}]
            yield "server: wrong"

    def security(self) -> Iterator[str]:
        """Remove what says that a credential is needed; its scheme stays declared."""
        found = "security" in self.root
        self.root.pop("security", None)
        for _, operation in operations(self.root):
            found |= bool(operation.pop("security", None))
        if found:
            yield "security: removed"

    def types(self) -> Iterator[str]:
        """Change types of parameters and of properties."""
        parameters = [
            node["schema"]
            for node in _parameters(self.root)
            if _is_simple(node.get("schema")) and node["schema"]["type"] != "string"  # see TYPES
        ]
        shown = {id(schema) for answer in _answers(self.root) for schema in answer.get("properties", {}).values()}
        properties = [
            schema
            for schema in _properties(self.root)
            if _is_simple(schema) and (id(schema) in shown or schema["type"] != "string")
        ]
        for schema in [*self.chosen(parameters, TYPES), *self.chosen(properties, TYPES)]:
            kind = schema["type"]
            schema["type"] = _OTHERS[kind]
            for keyword in ("format", "default", "example", "examples"):
                schema.pop(keyword, None)
            yield f"type: {kind} as {_OTHERS[kind]}"

    def formats(self) -> Iterator[str]:
        """Remove formats of strings in answers."""
        schemas = [schema for schema in _properties(self.root, shared=True) if schema.get("format") in _FORMATS]
        for schema in self.chosen(schemas, FORMATS):
            yield f"format: {schema.pop('format')} removed"

    def nullability(self) -> Iterator[str]:
        """Hide that a value may be null."""
        for schema in _properties(self.root):
            if schema.get("nullable") is True and schema.get("example", 0) is None:
                del schema["nullable"], schema["example"]
                yield "nullable: removed"
            elif schema.get("type") == ["string", "null"] and schema.get("examples") == [None]:
                schema["type"] = "string"
                del schema["examples"]
                yield "nullable: removed"

    def required(self) -> Iterator[str]:
        """Say of a parameter and a property that they may be left out, and of another that it is always there."""
        parameters = [node for node in _parameters(self.root) if node.get("required") and node.get("in") == "query"]
        for node in self.chosen(parameters, 1):
            del node["required"]
            yield f"required: {node['name']} may be left out"
        bodies = [schema for schema in _bodies(self.root) if len(schema.get("required", [])) > 1]
        for schema in self.chosen(bodies, 1):
            name = self.draw.choice(schema["required"])
            schema["required"].remove(name)
            yield f"required: {name} may be left out"
        answers = [schema for schema in _answers(self.root) if isinstance(schema.get("properties"), dict)]
        for schema in self.chosen(answers, 1):
            schema["required"] = [*schema.get("required", []), "etag_of_last_year"]
            yield "required: what no answer has"

    def media_types(self) -> Iterator[str]:
        """Name another media type for a body."""
        bodies = [
            body["content"]
            for _, operation in operations(self.root)
            if isinstance(body := operation.get("requestBody"), dict) and list(body.get("content", ())) == [_JSON]
        ]
        for content in self.chosen(bodies, 1):
            wrong = self.draw.choice(["text/plain", "application/x-www-form-urlencoded"])
            content[wrong] = content.pop(_JSON)
            yield f"media type: {wrong}"

    def names(self) -> Iterator[str]:
        """Remove operationIds."""
        named = [operation for _, operation in operations(self.root) if "operationId" in operation]
        for operation in self.chosen(named, 1):
            del operation["operationId"]
            yield "operationId: removed"

    def texts(self) -> Iterator[str]:
        """Remove the texts of an operation, and all examples."""
        for _, operation in self.chosen(list(operations(self.root)), TEXTS):
            operation.pop("summary", None)
            operation.pop("description", None)
            yield "texts: removed"
        yield f"examples: {_without_examples(self.root)} removed"


_JSON: Final = "application/json"
_KINDS: Final = (
    _Injector.server,
    _Injector.security,
    _Injector.nullability,
    _Injector.types,
    _Injector.required,
    _Injector.media_types,
    _Injector.names,
)


def operations(root: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Yield label and Operation Object of the operations."""
    for path, item in root.get("paths", {}).items():
        for method in METHODS:
            if isinstance(item, dict) and isinstance(item.get(method), dict):
                yield f"{method.upper()} {path}", item[method]


def _parameters(root: JsonObject) -> Iterator[JsonObject]:
    """Yield the query parameters of operations that read, and those of headers: what a probe or a call can show."""
    for _, operation in operations(root):
        for node in operation.get("parameters", []):
            target = _followed(root, node)
            if target.get("in") == "query":
                yield target


def _properties(root: JsonObject, *, shared: bool = False) -> Iterator[JsonObject]:
    """Yield the schemas of the properties of bodies and answers, once each; with `shared` also those of references."""
    seen: set[int] = set()
    for schema in [*_bodies(root), *_answers(root)]:
        properties = schema.get("properties")
        for each in properties.values() if isinstance(properties, dict) else ():
            target = _followed(root, each) if shared else each
            if isinstance(target, dict) and "$ref" not in target and id(target) not in seen:
                seen.add(id(target))
                yield target


def _bodies(root: JsonObject) -> list[JsonObject]:
    bodies = [_followed(root, operation.get("requestBody")) for _, operation in operations(root)]
    return [schema for body in bodies for schema in _schemas(root, body)]


def _answers(root: JsonObject) -> list[JsonObject]:
    """Return the schemas of the successes of operations that a probe can reach: without variables in their paths."""
    return [
        schema
        for label, operation in operations(root)
        if label.startswith("GET ") and "{" not in label
        for status, response in operation.get("responses", {}).items()
        if str(status) == "200"
        for schema in _schemas(root, _followed(root, response))
    ]


def _schemas(root: JsonObject, body: JsonObject) -> Iterator[JsonObject]:
    """Yield the object schemas of JSON content: itself, or that of an array's items."""
    media = body.get("content", {}).get(_JSON)
    schema = _followed(root, (media or {}).get("schema"))
    schema = _followed(root, schema["items"]) if schema.get("type") == "array" and "items" in schema else schema
    if schema:
        yield schema


def _followed(root: JsonObject, node: Any) -> JsonObject:
    """Return an object behind its references within the document; an empty one where there is none."""
    for _ in range(10):
        if not isinstance(node, dict) or not isinstance(node.get("$ref"), str):
            break
        target: Any = root
        for token in node["$ref"].removeprefix("#/").split("/"):
            target = target.get(token.replace("~1", "/").replace("~0", "~"), {}) if isinstance(target, dict) else {}
        node = target
    return node if isinstance(node, dict) else {}


def _is_simple(schema: Any) -> bool:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return isinstance(kind, str) and kind in _OTHERS and not schema.keys() - _SIMPLE


def _without_examples(node: Any) -> int:
    """Remove the examples of media types and schemas; return their number. A property may be named `example`."""
    count = 0
    if isinstance(node, dict):
        for name in ("example", "examples"):
            if name in node and (node.keys() & {"schema", "type", "$ref"}) and not isinstance(node.get("in"), str):
                del node[name]
                count += 1
        count += sum(_without_examples(value) for value in node.values())
    elif isinstance(node, list):
        count += sum(map(_without_examples, node))
    return count
