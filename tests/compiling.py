"""Small OpenAPI documents for tests, compiled: the tools of some paths, the tool of one operation, and its problems."""

from typing import Any

from openapi_mcp.compiled import Compiled
from openapi_mcp.document import Document
from openapi_mcp.inlining import references
from openapi_mcp.resolver import Resolver
from openapi_mcp.runtime.models import Argument, Tool
from openapi_mcp.schemas import Schemas
from openapi_mcp.tools import build

Json = dict[str, Any]
STRING: Json = {"type": "string"}


def document(paths: Any, *, version: str = "3.0", uri: str = "file:///api/openapi.yaml", **root: Any) -> Document:
    whole = {"openapi": f"{version}.0", "info": {"title": "Pet Store", "version": "1"}, "paths": paths, **root}
    return Document(whole, uri, version)


def compiled(paths: Any, *, version: str = "3.0", **root: Any) -> Compiled:
    return build(document(paths, version=version, **root))


def compiled_operation(fields: Json, path: str = "/x", method: str = "post", **root: Any) -> Compiled:
    return compiled({path: {method: {"operationId": "it", **fields}}}, **root)


def tool_of(fields: Json, path: str = "/x", method: str = "post", **root: Any) -> Tool:
    (tool,) = compiled_operation(fields, path, method, **root).tools
    return tool


def json_body(schema: Any, *, required: bool = True) -> Json:
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": schema}}}}


def input_of(schema: Any, **root: Any) -> Json:
    """What becomes of a schema in an input: as that of a parameter, with the definitions it refers to."""
    tool = tool_of({"parameters": [{"name": "it", "in": "query", "schema": schema}]}, **root)
    found: Json = dict(tool.input_schema["properties"]["it"])
    return found | ({"$defs": tool.input_schema["$defs"]} if "$defs" in tool.input_schema else {})


def converted(schema: Any, *, version: str = "3.0", **root: Any) -> Json:
    """What becomes of a schema, with all that it refers to as definitions, before any is put in its place."""
    whole = document({}, version=version, **root)
    made = Schemas(whole, Resolver(whole))
    found = made.convert(schema, "#/here")
    definitions = made.definitions(each.name for each in references(found))
    return found | ({"$defs": definitions} if definitions else {})


def schemas(**named: Any) -> Json:
    """Components for `document`, with these schemas."""
    return {"components": {"schemas": named}}


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def argument(tool: Tool, name: str) -> Argument:
    (found,) = [each for each in tool.arguments if each.name == name]
    return found


def kinds(result: Compiled) -> list[tuple[str, str | None]]:
    return [(problem.kind, problem.operation) for problem in result.problems]
