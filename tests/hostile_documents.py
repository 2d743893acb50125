"""Make documents that mean harm: each costs time or memory where a step of its reading is without a bound.

`DOCUMENTS` has a maker for each, by name: it writes the document, and the files that it refers to, into an empty folder
and returns the path of the document. `measure` runs a command on one and returns its time and its peak memory.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).parents[1]

Value = dict[str, Any]
INFO: Final[Value] = {"title": "Hostile", "version": "1"}
OK: Final[Value] = {"200": {"description": "ok"}}
LEVELS, WIDTH = 20, 9
"""Schemas in a chain, and the references of each to the one before: 9**20 paths."""


def write(folder: Path, root: Value, name: str = "openapi.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(root))
    return path


def document(paths: Value, version: str = "3.0.3", **more: Any) -> Value:
    return {"openapi": version, "info": INFO, "paths": paths, **more}


def posting(schema: Any, content_type: str = "application/json", **media: Any) -> Value:
    """Return the paths of one operation with a body."""
    body = {"required": True, "content": {content_type: {"schema": schema, **media}}}
    return {"/x": {"post": {"operationId": "send", "requestBody": body, "responses": OK}}}


def getting(**fields: Any) -> Value:
    """Return the paths of one operation without a body."""
    return {"/x": {"get": {"operationId": "read", "responses": OK, **fields}}}


def healthy() -> Value:
    """Return the paths of an operation that every document of this module keeps."""
    return {"/health": {"get": {"operationId": "health", "responses": OK}}}


Level = Callable[[list[Value]], Value]
"""The schema of a level for its references to the one below."""


def chain(level: Level, base: Value, where: str = "#/components/schemas/") -> dict[str, Value]:
    """Return a chain of schemas `S0` … `S20`, each with `WIDTH` references to the one before."""
    schemas = {"S0": base}
    for number in range(1, LEVELS + 1):
        schemas[f"S{number}"] = level([{"$ref": f"{where}S{number - 1}"} for _ in range(WIDTH)])
    return schemas


TOP: Final[Value] = {"$ref": f"#/components/schemas/S{LEVELS}"}
LEAF: Final[Value] = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
READ_ONLY: Final[Value] = {"type": "object", "required": ["a"], "properties": {"a": {"readOnly": True}}}


def members(refs: Iterable[Value]) -> Value:
    return {f"p{index}": ref for index, ref in enumerate(refs)}


FAN_OUTS: Final[Mapping[str, tuple[Level, Value]]] = {
    "allOf": (lambda refs: {"allOf": refs}, LEAF),
    "anyOf": (lambda refs: {"anyOf": refs}, LEAF),
    "oneOf": (lambda refs: {"oneOf": refs, "discriminator": {"propertyName": "a"}}, LEAF),
    "properties": (lambda refs: {"type": "object", "properties": members(refs)}, LEAF),
    "required": (lambda refs: {"type": "object", "properties": members(refs), "required": list(members(refs))}, LEAF),
    "items": (lambda refs: {"type": "array", "minItems": 2, "items": {"anyOf": refs}}, LEAF),
    "not": (lambda refs: {"not": {"allOf": refs}, "type": "object"}, LEAF),
    "if": (lambda refs: {"if": {"allOf": refs}, "then": refs[0], "else": refs[1]}, LEAF),
    "patternProperties": (lambda refs: {"patternProperties": {"^a": refs[0], "b$": refs[1]}, "allOf": refs[2:]}, LEAF),
    "readOnly": (lambda refs: {"allOf": refs, "required": ["a"], "properties": {"a": {"readOnly": True}}}, READ_ONLY),
    "mixed": (lambda refs: {"allOf": refs[:3], "anyOf": refs[3:6], "properties": members(refs[6:])}, LEAF),
    "enum": (lambda refs: {"anyOf": refs}, {"type": "string", "enum": [f"value {n}" for n in range(500)]}),
}
"""Functions that make the schema of a level from references to the one before, and the first schema."""


def fan_out(kind: str, version: str = "3.1.0", content_type: str = "application/json", **media: Any) -> "Maker":
    """Return the maker of a document whose body, parameter and response have a chain of schemas."""

    def make(folder: Path) -> Path:
        paths = posting(TOP, content_type, **media) | healthy()
        answer = {"200": {"description": "ok", "content": {content_type: {"schema": TOP}}}}
        query = [
            {"name": "q", "in": "query", "schema": TOP},
            {"name": "c", "in": "query", "content": {"application/json": {"schema": TOP}}},
        ]
        paths |= {"/y": {"get": {"operationId": "read", "parameters": query, "responses": answer}}}
        return write(folder, document(paths, version, components={"schemas": chain(*FAN_OUTS[kind])}))

    return make


Maker = Callable[[Path], Path]


def inline_unions(folder: Path) -> Path:
    """Write unions in each other that YAML aliases repeat: 2**18 paths, under the limit of aliases."""
    lines = ["openapi: 3.1.0", "info: {title: Hostile, version: '1'}", "x-a0: &a0 {type: object, properties: {a: {}}}"]
    lines += [f"x-a{n}: &a{n} {{anyOf: [*a{n - 1}, *a{n - 1}], properties: {{p: *a{n - 1}}}}}" for n in range(1, 12)]
    lines += ["paths: {/x: {post: {operationId: send, responses: {'200': {description: ok}}, requestBody: "]
    lines += ["  {content: {application/json: {schema: *a11}}}}}}"]
    path = folder / "openapi.yaml"
    path.write_text("\n".join(lines))
    return path


def billion_laughs(where: str) -> Maker:
    """Return the maker of YAML whose aliases expand to 10**12 values."""

    def make(folder: Path) -> Path:
        lines = ["openapi: 3.1.0", "info: {title: Hostile, version: '1'}", "x-l0: &l0 [lol, lol, lol, lol]"]
        lines += [f"x-l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 12)]
        lines += [f"paths: {{/health: {{get: {{operationId: health, {where}: *l11, responses: {{}}}}}}}}"]
        path = folder / "openapi.yaml"
        path.write_text("\n".join(lines))
        return path

    return make


def merge_keys(folder: Path) -> Path:
    """Write 20,000 mappings of YAML that merge one of 1,000 keys."""
    lines = ["openapi: 3.1.0", "info: {title: Hostile, version: '1'}", "x-m: &m"]
    lines += [f"  k{number}: {number}" for number in range(1000)]
    lines += ["x-n:", *["- {<<: [*m, *m, *m, *m]}"] * 20_000]
    lines += ["paths: {/health: {get: {operationId: health, responses: {}}}}"]
    path = folder / "openapi.yaml"
    path.write_text("\n".join(lines))
    return path


def text_file(name: str, text: Callable[[], str | bytes]) -> Maker:
    def make(folder: Path) -> Path:
        content = text()
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


def json_with(extra: str) -> str:
    """Return a small document as JSON text with one more field."""
    return json.dumps(document(healthy()))[:-1] + ", " + extra + "}"


def yaml_with(extra: str) -> str:
    """Return a small document as YAML with more lines."""
    head = ["openapi: 3.1.0", "info: {title: Hostile, version: '1'}"]
    return "\n".join([*head, "paths: {/health: {get: {operationId: health, responses: {}}}}", extra])


def made(root: Callable[[], Value]) -> Maker:
    return lambda folder: write(folder, root())


def millions_of_words() -> Value:
    """Return a document whose description, summary and parameter have ten million words each."""
    words = "x y " * 5_000_000
    parameter = {"name": "q", "in": "query", "description": words, "schema": {"type": "string"}}
    operation = {"operationId": "find", "summary": words, "parameters": [parameter], "responses": OK}
    return {"openapi": "3.1.0", "info": {**INFO, "description": words}, "paths": {"/x": {"get": operation}}}


def swagger_chain() -> Value:
    definitions = chain(FAN_OUTS["allOf"][0], LEAF, "#/definitions/")
    body = {"name": "b", "in": "body", "schema": {"$ref": f"#/definitions/S{LEVELS}"}}
    paths = {"/x": {"post": {"operationId": "send", "parameters": [body], "responses": OK}}}
    return {"swagger": "2.0", "info": INFO, "paths": paths, "definitions": definitions}


def swagger_shared_parts() -> Value:
    """Return a Swagger document of 30 operations that each refer to 1,000 shared parameters and to responses."""
    parameters = {f"p{n}": {"name": f"p{n}", "in": "query", "type": "string"} for n in range(1000)}
    refs = [{"$ref": f"#/parameters/{name}"} for name in parameters]
    responses = {str(200 + n): {"$ref": "#/responses/r"} for n in range(99)}
    operation = {"parameters": refs, "responses": responses}
    paths = {f"/x{n}": {"get": operation} for n in range(30)}
    shared = {"r": {"description": "r", "schema": {"type": "object"}}}
    return {"swagger": "2.0", "info": INFO, "paths": paths, "parameters": parameters, "responses": shared}


def circular_path_items() -> Value:
    ring: Value = {f"/r{n}": {"$ref": f"#/paths/~1r{(n + 1) % 2000}"} for n in range(2000)}
    own: Value = {"/self": {"$ref": "#/paths/~1self"}, "/inside": {"$ref": "#/paths/~1inside/get"}}
    return document(healthy() | ring | own)


def long_reference_chain() -> Value:
    """Return a document of 2,000 operations whose path item, parameter and schema are behind 5,000 references."""
    schemas: Value = {f"S{n}": {"$ref": f"#/components/schemas/S{n + 1}"} for n in range(5000)} | {"S5000": LEAF}
    named: Value = {f"P{n}": {"$ref": f"#/components/parameters/P{n + 1}"} for n in range(5000)}
    named |= {"P5000": {"name": "q", "in": "query", "schema": {"$ref": "#/components/schemas/S0"}}}
    items: Value = {f"I{n}": {"$ref": f"#/components/pathItems/I{n + 1}"} for n in range(5000)}
    items |= {"I5000": {"get": {"parameters": [{"$ref": "#/components/parameters/P0"}], "responses": OK}}}
    paths = {f"/x{n}": {"$ref": "#/components/pathItems/I0"} for n in range(2000)}
    components = {"schemas": schemas, "parameters": named, "pathItems": items}
    return document(healthy() | paths, "3.1.0", components=components)


def references_through_references() -> Value:
    """Return a document with pointers that lead through a reference at each step."""
    schemas: Value = {"S0": {"properties": {"a": LEAF}}}
    for number in range(1, 2000):
        schemas[f"S{number}"] = {"$ref": f"#/components/schemas/S{number - 1}"}
    deep = {"$ref": "#/components/schemas/S1999/properties/a"}
    return document(posting({"allOf": [deep] * 50}) | healthy(), components={"schemas": schemas})


def many_paths(count: int) -> Value:
    return document({f"/p{n}/{{id}}": {"get": {"responses": OK}} for n in range(count)})


def shared_path_item() -> Value:
    parameters = [{"name": f"p{n}", "in": "query", "schema": {"type": "string"}} for n in range(1000)]
    item = {"parameters": parameters, **{method: {"responses": OK} for method in ("get", "put", "post", "delete")}}
    paths = {f"/p{n}": {"$ref": "#/components/pathItems/I"} for n in range(10_000)}
    return document(healthy() | paths, "3.1.0", components={"pathItems": {"I": item}})


def swagger_shared_path_item() -> Value:
    item = {
        "parameters": [{"name": f"p{n}", "in": "query", "type": "string"} for n in range(1000)],
        "get": {"responses": OK},
    }
    paths = {f"/p{n}": {"$ref": "#/x-item"} for n in range(20_000)}
    return {"swagger": "2.0", "info": INFO, "paths": healthy() | paths, "x-item": item}


def shared_body() -> Value:
    schema = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(2000)}}
    content = {
        "multipart/form-data": {"schema": {"$ref": "#/components/schemas/S"}},
        "application/xml": {"schema": {"$ref": "#/components/schemas/S"}},
    }
    bodies = {"B": {"content": content}}
    operation = {"requestBody": {"$ref": "#/components/requestBodies/B"}, "responses": OK}
    return document(
        {f"/p{n}": {"post": operation} for n in range(10_000)},
        components={"schemas": {"S": schema}, "requestBodies": bodies},
    )


def triangle_of_definitions() -> Value:
    """Return a document whose tools need 1, 2, … and 3,000 definitions: 4,500,000 together."""
    schemas: Value = {"S0": LEAF}
    for number in range(1, 3000):
        schemas[f"S{number}"] = {
            "type": "object",
            "properties": {"next": {"$ref": f"#/components/schemas/S{number - 1}"}},
        }
    paths = {
        f"/p{n}": posting({"type": "array", "items": {"$ref": f"#/components/schemas/S{n}"}})["/x"] for n in range(3000)
    }
    return document(paths, components={"schemas": schemas})


def references_through_one_another() -> Value:
    schemas: Value = {f"S{n}": {"$ref": f"#/components/schemas/S{n + 1}/properties/a"} for n in range(500)}
    return document(posting({"$ref": "#/components/schemas/S0"}) | healthy(), components={"schemas": schemas})


def long_keys() -> Value:
    inner: Value = {f"{n}" + "k" * 1000: {"type": "string", "readOnly": n % 2 == 0} for n in range(20_000)}
    for level in range(10):
        inner = {"x" * 1000 + str(level): {"type": "object", "properties": inner}}
    return document(posting({"type": "object", "properties": inner}) | healthy(), "3.1.0")


def same_names(count: int) -> Value:
    operation = {"operationId": "same", "responses": OK}
    return document({f"/p{n}": {"get": operation} for n in range(count)})


def many_path_parameters(count: int, *, declared: bool) -> Value:
    path = "".join(f"/{{p{n}}}" for n in range(count))
    parameters = [{"name": f"P{n}", "in": "path", "required": True, "schema": {}} for n in range(count)]
    return document(healthy() | {path: {"get": {"parameters": parameters if declared else [], "responses": OK}}})


def same_parameters(count: int) -> Value:
    """Return a document whose parameters differ only in characters that an argument's name cannot have."""
    parameters = [{"name": f"p{chr(0x4E00 + n)}", "in": "query", "schema": {}} for n in range(count)]
    return document(healthy() | getting(parameters=parameters))


def many_media_types(count: int) -> Value:
    content = {
        f"application/x{n}+json": {"schema": {"type": "object", "properties": {f"a{n}": {}}}} for n in range(count)
    }
    return document(healthy() | {"/x": {"post": {"requestBody": {"content": content}, "responses": OK}}})


def patterns() -> Value:
    """Return a document with patterns that take backtracking engines, or their analysis, exponential time."""
    some = ["(a+)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(a|a)*b", "(.*)*" * 20, "a{1,30000}" * 60, "(" * 900 + ")" * 900]
    some += ["((((((((((a{1,99}){1,99}){1,99}){1,99}){1,99}){1,99}){1,99}){1,99}){1,99}){1,99})", "(x+x+)+y" * 100]
    some += ["(?:a?){60}a{60}" * 9, "[" + "\\w\\d\\s" * 300 + "]*" * 1, "(" + "|".join(["a"] * 900) + ")*", "a?" * 900]
    some += ["(" + "a?" * 31 + ")*" for _ in range(3)] + ["(" + "|".join(["a?b?c?"] * 20) + ")*"]
    some += [f"({'a' * (n % 60)}b?)+{n}" for n in range(3000)]
    properties = {f"p{n}": {"type": "string", "pattern": pattern} for n, pattern in enumerate(some)}
    return document(posting({"type": "object", "properties": properties}) | healthy())


def numbers() -> str:
    """Return JSON with numbers that other programs take for infinite, or work on for hours."""
    bounds = '"minimum": 1e9999, "maximum": -1e9999, "multipleOf": 1e-9999, "minLength": 1e308, "maxItems": "1e400"'
    more = '"minItems": 1' + "0" * 4000 + ', "default": 9e999, "enum": [1e999, "1e999999999", 1], "maxLength": "1e300"'
    schema = f'{{"type": "object", "properties": {{"n": {{"type": "integer", {bounds}, {more}}}}}}}'
    text = json.dumps(document(posting("HERE") | healthy()))
    return text.replace('"HERE"', schema)


def server_variables() -> Value:
    """Return a document whose server is its variable, 10,000 times; the default has 100,000 characters."""
    variables = {"v": {"default": "x" * 100_000}}
    return document(healthy(), servers=[{"url": "https://example.com/" + "{v}" * 10_000, "variables": variables}])


def many_servers() -> Value:
    servers = [{"url": "ftp://{x}"} for _ in range(2000)]
    return document({f"/p{n}": {"get": {"servers": servers, "responses": OK}} for n in range(50)})


def many_alternatives() -> Value:
    schemes = {f"k{n}": {"type": "apiKey", "in": "query", "name": f"k{n}"} for n in range(150)}
    security: list[Value] = [{name: [] for name in schemes} for _ in range(50)] + [{name: []} for name in schemes]
    paths = {f"/p{n}": {"get": {"security": security, "responses": OK}} for n in range(100)}
    return document(paths, components={"securitySchemes": schemes})


def mapping_of_discriminator() -> Value:
    mapping = {f"v{n}": "#/components/schemas/A" for n in range(100_000)}
    union = {
        "oneOf": [{"$ref": "#/components/schemas/A"}] * 300,
        "discriminator": {"propertyName": "a", "mapping": mapping},
    }
    schemas = {"A": LEAF, "U": union}
    paths = posting({"$ref": "#/components/schemas/U"}) | healthy()
    xml = posting({"$ref": "#/components/schemas/U"}, "application/xml")["/x"]
    return document(paths | {"/y": xml}, components={"schemas": schemas})


def definitions_of_every_tool(operations: int, schemas: int) -> Value:
    """Return a document of many operations that each need all schemas, which refer to each other."""
    named = {
        f"S{n}": {
            "properties": {"next": {"$ref": f"#/components/schemas/S{(n + 1) % schemas}"}, "text": {"type": "string"}}
        }
        for n in range(schemas)
    }
    paths = {
        f"/p{n}": {
            "post": {
                "requestBody": posting({"$ref": f"#/components/schemas/S{n % schemas}"})["/x"]["post"]["requestBody"],
                "responses": OK,
            }
        }
        for n in range(operations)
    }
    return document(paths, components={"schemas": named})


def external_references(count: int) -> Maker:
    """Return the maker of a document with references to files that do not exist, and to as many that refer to all."""

    def make(folder: Path) -> Path:
        paths: Value = {f"/p{n}": {"$ref": f"missing/{n}.json"} for n in range(count)}
        files = 100
        for number in range(files):
            refs = [{"$ref": f"f{other}.json"} for other in range(files)]
            write(folder, {"get": {"responses": OK, "x": number}, "parameters": refs}, f"f{number}.json")
            paths[f"/f{number}"] = {"$ref": f"f{number}.json"}
        return write(folder, document(healthy() | paths))

    return make


def special_references(folder: Path) -> Path:
    """Write references to a pipe, a device, a folder, and to links that lead to them or to themselves."""
    os.mkfifo(folder / "pipe.json")
    (folder / "linked.json").symlink_to("pipe.json")
    (folder / "zero.json").symlink_to("/dev/zero")
    (folder / "loop.json").symlink_to("loop.json")
    (folder / "folder.json").mkdir()
    names = ("pipe.json", "linked.json", "zero.json", "loop.json", "folder.json", "/dev/zero", "file:///dev/zero")
    paths = {f"/{number}": {"$ref": name} for number, name in enumerate(names)}
    return write(folder, document(healthy() | paths))


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "openapi.json")
    return folder / "openapi.json"


def device(folder: Path) -> Path:
    (folder / "openapi.json").symlink_to("/dev/zero")
    return folder / "openapi.json"


def sparse(folder: Path) -> Path:
    """Make a file of a terabyte that takes no place on the disk."""
    with (folder / "openapi.json").open("wb") as file:
        file.truncate(1 << 40)
    return folder / "openapi.json"


def repeated_keys() -> str:
    keys = ", ".join(f'"k{number}": 0' for number in range(60_000))
    return json_with(f'"x-a": {{{keys}, "k0": 1}}')


def encodings_in_encodings() -> Value:
    encoding: Value = {"contentType": "text/plain"}
    for _ in range(40):
        encoding = {"contentType": "multipart/mixed", "encoding": {"a": encoding, "b": {}}}
    schema = {"$ref": "#/components/schemas/A"}
    body = {"type": "object", "properties": {"a": schema, "b": schema}}
    return document(
        posting(schema, "multipart/form-data", encoding={"a": encoding}), components={"schemas": {"A": body}}
    )


def headers_of_responses() -> Value:
    headers = {f"X-{number}": {"schema": TOP} for number in range(1000)}
    responses = {
        f"2{n:02}": {"description": "", "headers": headers, "content": {"application/json": {"schema": TOP}}}
        for n in range(50)
    }
    schemas = chain(*FAN_OUTS["allOf"])
    return document(healthy() | {"/x": {"get": {"responses": responses}}}, components={"schemas": schemas})


def dynamic_anchors() -> Value:
    """Return a document with an `$id` and an anchor in each of 5,000 schemas that refer to each other."""
    schemas = {
        f"S{n}": {"$id": f"https://x.example/{n}/", "$anchor": "a", "$ref": f"../{n + 1}/#a"} for n in range(5000)
    }
    return document(posting({"$ref": "https://x.example/0/#a"}) | healthy(), "3.1.0", components={"schemas": schemas})


def contexts_of_read_only() -> Value:
    """Return a document whose alternatives each make another property of one shared schema read-only."""
    shared = {
        "type": "object",
        "properties": {f"p{n}": LEAF for n in range(60)},
        "required": [f"p{n}" for n in range(60)],
    }
    alternatives = [
        {"allOf": [{"$ref": "#/components/schemas/S"}], "properties": {f"p{n}": {"readOnly": True}}, "required": ["p0"]}
        for n in range(60)
    ]
    schemas = {"S": shared, "U": {"anyOf": alternatives, "allOf": alternatives}}
    return document(posting({"$ref": "#/components/schemas/U"}) | healthy(), components={"schemas": schemas})


def deep_properties(levels: int) -> Value:
    schema: Value = LEAF
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return document(posting(schema) | healthy())


def wide_enum() -> Value:
    values = [f"value {number}" for number in range(300_000)]
    return document(posting({"type": "object", "properties": {"e": {"type": "string", "enum": values}}}) | healthy())


def many_problems() -> Value:
    return document(healthy() | getting(parameters=[0] * 200_000))


def long_texts() -> Value:
    long = "word " * 1_000_000
    operation = {"operationId": "a_b_" * 200_000, "summary": long, "description": long, "tags": [long], "responses": OK}
    return document({"/" + "x/" * 200_000: {"get": operation}}, tags=[{"name": long, "description": long}])


def hidden_characters() -> Value:
    texts: Value = {"x-hidden": ["a\u202eb"] * 200_000, "tags": [{"name": "\u200b" * 1_000_000}]}
    return document(healthy()) | texts


DOCUMENTS: Final[Mapping[str, Maker]] = {
    **{f"{kind} of nine references each, 20 levels": fan_out(kind) for kind in FAN_OUTS},
    "allOf of nine references each, OpenAPI 3.0": fan_out("allOf", "3.0.3"),
    "allOf of nine references each, XML": fan_out("allOf", content_type="application/xml"),
    "properties of nine references each, XML": fan_out("properties", content_type="application/xml"),
    "anyOf of nine references each, XML": fan_out("anyOf", content_type="application/xml"),
    "allOf of nine references each, a form": fan_out("allOf", content_type="multipart/form-data"),
    "properties of nine references each, a form": fan_out(
        "properties", content_type="application/x-www-form-urlencoded"
    ),
    "allOf of nine references each, Swagger 2.0": made(swagger_chain),
    "unions that YAML aliases repeat": inline_unions,
    "a billion laughs in an extension": billion_laughs("x-a"),
    "a billion laughs in parameters": billion_laughs("parameters"),
    "20,000 merge keys": merge_keys,
    "100,000 brackets, JSON": text_file("openapi.json", lambda: "[" * 100_000),
    "3,000,000 security schemes without scopes": text_file(
        "openapi.json", lambda: json_with('"security": [{' + ",".join(['"a":[]'] * 3_000_000) + "}]")
    ),
    "100,000 braces, JSON": text_file("openapi.json", lambda: '{"a":' * 100_000),
    "100,000 brackets, YAML": text_file("openapi.yaml", lambda: yaml_with("x-a: " + "[" * 100_000)),
    "100,000 dashes, YAML": text_file("openapi.yaml", lambda: yaml_with("x-a:\n" + "- " * 100_000)),
    "50,000 tag directives, YAML": text_file(
        "openapi.yaml", lambda: "".join(f"%TAG !t{n}! tag:x{n}\n" for n in range(50_000)) + "---\n" + yaml_with("")
    ),
    "a line of 100,000 tabs, YAML": text_file("openapi.yaml", lambda: yaml_with("x-a:" + "\t" * 100_000 + "b: c: d")),
    "lines of tabs, YAML": text_file("openapi.yaml", lambda: yaml_with(("x: \t \t \t \ty\n") * 50_000 + "\tb: c: d")),
    "16 million empty objects": text_file("openapi.json", lambda: json_with('"x-a": [' + "{}," * 16_000_000 + "0]")),
    "8 million empty lists, YAML": text_file("openapi.yaml", lambda: yaml_with("x-a: [" + "[]," * 8_000_000 + "0]")),
    "a number of 100,000 digits": text_file("openapi.json", lambda: json_with('"x-a": ' + "1" * 100_000)),
    "a hexadecimal number of 1,000,000 digits": text_file(
        "openapi.yaml", lambda: yaml_with("x-a: 0x" + "f" * 1_000_000)
    ),
    "numbers that are not finite": text_file("openapi.json", numbers),
    "500,000 numbers that are not finite": text_file(
        "openapi.json", lambda: json_with('"x-a": [' + "1e999,0," * 500_000 + "0]")
    ),
    "a key written twice among 60,000": text_file("openapi.json", repeated_keys),
    "60 MB of one string": text_file("openapi.json", lambda: json_with('"x-a": "' + "x" * 60_000_000 + '"')),
    "30 million words": made(millions_of_words),
    "20 MB that are not UTF-8": text_file(
        "openapi.yaml", lambda: yaml_with("").encode() + b"# \xe9\xfc \n" * 3_300_000
    ),
    "60 MB of line ends": text_file("openapi.yaml", lambda: yaml_with("\n" * 60_000_000)),
    "2,000 operations behind 5,000 references": made(long_reference_chain),
    "pointers through 2,000 references": made(references_through_references),
    "path items in a ring": made(circular_path_items),
    "30 operations with 1,000 shared parameters, Swagger 2.0": made(swagger_shared_parts),
    "20,000 paths": made(lambda: many_paths(20_000)),
    "100,000 paths": made(lambda: many_paths(100_000)),
    "20,000 paths of one item with 1,000 parameters": made(shared_path_item),
    "20,000 paths of one item with 1,000 parameters, Swagger 2.0": made(swagger_shared_path_item),
    "10,000 bodies of 2,000 properties": made(shared_body),
    "a chain of 3,000 definitions, each the body of an operation": made(triangle_of_definitions),
    "500 references through one another": made(references_through_one_another),
    "a key of 30 MB": made(lambda: document(healthy() | {"/" + "k" * 30_000_000: {"get": {"responses": OK}}})),
    "100,000 keys of 1,000 characters": made(long_keys),
    "20,000 operations of one name": made(lambda: same_names(20_000)),
    "3,000 parameters of one path, undeclared": made(lambda: many_path_parameters(3000, declared=False)),
    "3,000 parameters of one path, in another case": made(lambda: many_path_parameters(3000, declared=True)),
    "5,000 parameters of one name": made(lambda: same_parameters(5000)),
    "2,000 media types of a body": made(lambda: many_media_types(2000)),
    "3,000 patterns, some of them catastrophic": made(patterns),
    "a server URL of a gigabyte": made(server_variables),
    "2,000 unusable servers of each operation": made(many_servers),
    "200 security requirements of each operation": made(many_alternatives),
    "100,000 values of a discriminator": made(mapping_of_discriminator),
    "2,000 operations that need 2,000 schemas each": made(lambda: definitions_of_every_tool(2000, 2000)),
    "1,000 headers in each of 50 responses": made(headers_of_responses),
    "5,000 anchors": made(dynamic_anchors),
    "60 alternatives with other read-only properties": made(contexts_of_read_only),
    "200 levels of properties": made(lambda: deep_properties(75)),
    "40 levels of encodings": made(encodings_in_encodings),
    "an enum of 300,000 values": made(wide_enum),
    "200,000 defects": made(many_problems),
    "texts of megabytes": made(long_texts),
    "200,000 hidden characters": made(hidden_characters),
    "10,000 files that do not exist": external_references(10_000),
    "references to pipes and devices": special_references,
    "a pipe": pipe,
    "a device": device,
    "a sparse file of a terabyte": sparse,
}


@dataclass(frozen=True, slots=True)
class Measured:
    """Outcome of a command: its exit code (None if it was stopped), output, seconds, seconds of CPU, and peak MiB."""

    returncode: int | None
    stdout: str
    stderr: str
    seconds: float
    cpu: float
    mebibytes: float


_STARTER = """
import json, os, resource, signal, sys
report, seconds, cpu, memory, *command = sys.argv[1:]
pid = os.fork()
if pid == 0:
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu), int(cpu)))
    os.execv(command[0], command)
signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
signal.setitimer(signal.ITIMER_REAL, float(seconds))
_, status, usage = os.wait4(pid, 0)
used = [os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]
os.write(int(report), json.dumps(used).encode())
"""
"""Starts a command and reports what it used. A process of its own, since the peak memory of a process counts from that
of the one that forked it, and a test process is large."""


def measure(arguments: Sequence[str], *, seconds: float = 100.0, cpu: int = 30, memory: int = 4 << 30) -> Measured:
    """Run `openapi-mcp` with these arguments, for at most `seconds` and `cpu` seconds, with at most `memory` bytes."""
    began = time.monotonic()
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, encoding="utf-8") as report:
        limits = map(str, (write_end, seconds, cpu, memory))
        completed = subprocess.run(
            [sys.executable, "-S", "-c", _STARTER, *limits, sys.executable, "-m", "openapi_mcp", *arguments],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            pass_fds=[write_end],
            check=False,
        )
        os.close(write_end)
        code, used_cpu, peak = json.load(report)
    elapsed = time.monotonic() - began
    return Measured(code if code >= 0 else None, completed.stdout, completed.stderr, elapsed, used_cpu, peak)
