"""Compile small OpenAPI documents for tests: the tools of some paths, the tool of one operation, its problems."""

from typing import Any

from openapi_mcp.compilation import Compilation
from openapi_mcp.document.model import Document
from openapi_mcp.runtime.tool import Argument, Tool
from openapi_mcp.tools.compiler import build

Json = dict[str, Any]
STRING: Json = {"type": "string"}


def document(paths: Any, *, version: str = "3.0", uri: str = "file:///api/openapi.yaml", **root: Any) -> Document:
    value = {"openapi": f"{version}.0", "info": {"title": "Pet Store", "version": "1"}, "paths": paths, **root}
    return Document(value, uri, version)


def compiled(paths: Any, *, version: str = "3.0", **root: Any) -> Compilation:
    return build(document(paths, version=version, **root))


def compiled_operation(fields: Json, path: str = "/x", method: str = "post", **root: Any) -> Compilation:
    return compiled({path: {method: {"operationId": "it", **fields}}}, **root)


def tool_of(fields: Json, path: str = "/x", method: str = "post", **root: Any) -> Tool:
    (tool,) = compiled_operation(fields, path, method, **root).tools
    return tool


def json_body(schema: Any, *, required: bool = True) -> Json:
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": schema}}}}


def input_of(schema: Any, **root: Any) -> Json:
    """Return the schema of a parameter in the tool's inputSchema, with the `$defs` of that."""
    tool = tool_of({"parameters": [{"name": "it", "in": "query", "schema": schema}]}, **root)
    converted: Json = dict(tool.input_schema["properties"]["it"])
    return converted | ({"$defs": tool.input_schema["$defs"]} if "$defs" in tool.input_schema else {})


def schemas(**named: Any) -> Json:
    """Return the root fields for `document` with these schemas as components."""
    return {"components": {"schemas": named}}


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def argument(tool: Tool, name: str) -> Argument:
    (match,) = [argument for argument in tool.arguments if argument.name == name]
    return match


def kinds(result: Compilation) -> list[tuple[str, str | None]]:
    return [(problem.kind, problem.operation) for problem in result.problems]
