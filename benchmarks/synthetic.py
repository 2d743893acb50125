"""Make a document of the size of Microsoft Graph's: about 11,000 operations and 20 MB, the same in every run.

    python -m benchmarks.synthetic > large.json

Resources with everyday names, nested two deep, each with five operations, descriptions and schemas. As in Graph's
document, every schema extends a common one and refers to shared types (some recursive), to its parent resource, and to
itself.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Final

ROOTS: Final = """
user group device site drive team chat application calendar contact message folder event list subscription report
directory domain invitation organization policy printer room schedule shift task workbook agreement audit case
"""
PARTS: Final = """
member owner attachment extension permission version comment reply setting property category rule session activity
photo license channel tab installation column item content notebook section page plan bucket detail assignment request
review instance decision definition status operation job connection location label record note alert
"""
KINDS: Final = "active archived default delegated external pending recent shared"

_Json = dict[str, Any]
_FIELDS: Final = 31
"""Properties of a schema: with their descriptions they make the 20 MB."""

_STRING: Final = {"type": "string"}
_SHARED: Final[Mapping[str, _Json]] = {
    "entity": {"id": {"type": "string", "description": "The unique identifier for an entity. Read-only."}},
    "identity": {
        "displayName": {"type": "string", "description": "The display name of the identity, if it has one."},
        "id": {"type": "string", "description": "Unique identifier for the identity."},
    },
    "identitySet": {name: {"$ref": "#/components/schemas/identity"} for name in ("application", "device", "user")},
    "emailAddress": {"address": {"type": "string", "format": "email"}, "name": _STRING},
    "recipient": {"emailAddress": {"$ref": "#/components/schemas/emailAddress"}},
    "itemBody": {"content": _STRING, "contentType": {"type": "string", "enum": ["text", "html"]}},
    "dateTimeTimeZone": {
        "dateTime": {"type": "string", "description": "A point of time in a combined representation of date and time."},
        "timeZone": {"type": "string", "description": "Represents a time zone, for example, Pacific Standard Time."},
    },
    "itemReference": {
        "path": {"type": "string", "description": "The path by which the item is found."},
        "parent": {"$ref": "#/components/schemas/itemReference"},
        "sharedBy": {"$ref": "#/components/schemas/identitySet"},
    },
    "openExtension": {
        "extensionName": {"type": "string", "description": "A unique text identifier for an open type extension."},
        "extensions": {"type": "array", "items": {"$ref": "#/components/schemas/openExtension"}},
    },
}
"""The types that all schemas refer to, by their properties."""


def document(operations: int = 11_000) -> _Json:
    """Return the document, with at least the given number of operations."""
    paths: dict[str, _Json] = {}
    schemas = {name: _object(name, properties) for name, properties in _SHARED.items()}
    schemas |= {root: _schema(root, root) for root in ROOTS.split()}
    count = 0
    for root, kind, part in _resources():
        if count >= operations:
            break
        name = f"{kind}{part.title()}Of{root.title()}"
        schemas[name] = _schema(name, root)
        collection = f"/{root}s/{{{root}_id}}/{kind}{part.title()}s"
        paths[collection] = _collection(name, root, kind, part)
        paths[f"{collection}/{{{part}_id}}"] = _single(name, root, kind, part)
        count += 5
    return {
        "openapi": "3.0.3",
        "info": {"title": "A large API", "version": "1"},
        "servers": [{"url": "https://api.example.com/v1"}],
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _resources() -> Iterator[tuple[str, str, str]]:
    yield from ((root, kind, part) for kind, root, part in product(KINDS.split(), ROOTS.split(), PARTS.split()))


def _object(name: str, properties: _Json) -> _Json:
    return {"type": "object", "title": name, "properties": properties}


def _ref(name: str) -> _Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(name: str) -> _Json:
    return {"type": "array", "items": _ref(name)}


def _schema(name: str, root: str) -> _Json:
    """Return the schema of a resource: common properties, references, and properties of its own."""
    properties: _Json = {
        "createdBy": _ref("identitySet"),
        "lastModifiedBy": _ref("identitySet"),
        "body": _ref("itemBody"),
        "start": _ref("dateTimeTimeZone"),
        "recipients": _list("recipient"),
        "parentReference": _ref("itemReference"),
        "extensions": _list("openExtension"),
        "children": _list(name),
    }
    if name != root:
        properties[root] = _ref(root)
    words = PARTS.split()
    for number in range(_FIELDS):
        word = words[(number * 7 + len(name)) % len(words)]
        properties[f"{word}{'Name' if number % 2 else 'Count'}"] = {
            "type": "string" if number % 2 else "integer",
            "description": f"What the {word} of this {root} is called, or how many there are; supports $filter.",
        }
    return {"allOf": [_ref("entity"), _object(name, properties)], "description": f"One {name}."}


def _operation(verb: str, name: str, sentence: str, **more: Any) -> _Json:
    summary = f"{verb.title()} {name}"
    description = f"{sentence} This API is available in the national deployments. " + "One needs leave to do so. " * 8
    return {"operationId": f"{verb}{name}", "summary": summary, "description": description, **more}


def _parameter(name: str, location: str = "path") -> _Json:
    return {"name": name, "in": location, "required": location == "path", "schema": {"type": "string"}}


def _answer(schema: _Json) -> _Json:
    return {"responses": {"200": {"description": "Success", "content": {"application/json": {"schema": schema}}}}}


def _body(ref: _Json) -> _Json:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": ref}}}}


def _collection(name: str, root: str, kind: str, part: str) -> _Json:
    ref = _ref(name)
    page = _object(f"Collection of {name}", {"value": _list(name), "@odata.nextLink": _STRING})
    options = [_parameter(each, "query") for each in ("search", "filter", "orderby", "select", "top")]
    return {
        "parameters": [_parameter(f"{root}_id")],
        "get": _operation("list", name, f"The {kind} {part}s of a {root}.", parameters=options, **_answer(page)),
        "post": _operation("create", name, f"Add a {kind} {part} to a {root}.", **_body(ref), **_answer(ref)),
    }


def _single(name: str, root: str, kind: str, part: str) -> _Json:
    ref = _ref(name)
    return {
        "parameters": [_parameter(f"{root}_id"), _parameter(f"{part}_id")],
        "get": _operation("get", name, f"One {kind} {part} of a {root}.", **_answer(ref)),
        "patch": _operation("update", name, f"Change a {kind} {part} of a {root}.", **_body(ref), **_answer(ref)),
        "delete": _operation(
            "delete", name, f"Remove a {kind} {part} from a {root}.", responses={"204": {"description": "Done"}}
        ),
    }


if __name__ == "__main__":
    print(json.dumps(document()))
