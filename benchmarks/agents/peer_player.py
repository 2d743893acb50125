"""Players of FastMCP's modes: its names of tools, and programs as its sandbox takes them."""

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from .apis import Api
from .client import McpSession
from .players import Discovery, Listed, Player, Programmed, Request, Searched
from .task import Task


def peer_player(mode: str, server: McpSession, api: Api) -> Player:
    """Return the player of a mode of FastMCP."""
    names = {name: fastmcp_name(name) for name in api.operations()}
    if mode == "all":
        return Listed(server, names)
    if mode == "search":
        return Searched(server, names, Discovery(describe=()))
    wrapped = {name for name, operation in api.operations().items() if not _answers_object(operation, api)}
    discovery = Discovery("search", (_get_schemas, _get_full_schemas))
    return Programmed(
        server, names, discovery, tool="execute", written=lambda task: fastmcp_program(task, names, wrapped)
    )


def _get_schemas(names: Sequence[str]) -> list[Request]:
    return [("get_schema", {"tools": list(names)})]


def _get_full_schemas(names: Sequence[str]) -> list[Request]:
    return [("get_schema", {"tools": list(names), "detail": "full"})]


def fastmcp_name(operation_id: str) -> str:
    """Return FastMCP's name of an operation: what stands before two underscores, at most 56 characters."""
    return operation_id.partition("__")[0][:56]


def fastmcp_program(task: Task, names: Mapping[str, str], wrapped: set[str]) -> str:
    """Return a task's program with `await call_tool(name, arguments)` for each call.

    Results of the `wrapped` operations are no objects: they are the property `result` of one.
    """
    return ast.unparse(_Calls(names, wrapped).visit(ast.parse(task.program)))


class _Calls(ast.NodeTransformer):
    """The translation of calls; also of `except RuntimeError`, since the sandbox raises other exceptions."""

    def __init__(self, names: Mapping[str, str], wrapped: set[str]) -> None:
        self._names, self._wrapped = names, wrapped

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.func.id not in self._names:
            return node
        keys: list[ast.expr | None] = [ast.Constant(keyword.arg) if keyword.arg else None for keyword in node.keywords]
        given = node.args[0] if node.args else ast.Dict(keys, [keyword.value for keyword in node.keywords])
        call = ast.Call(ast.Name("call_tool"), [ast.Constant(self._names[node.func.id]), given], [])
        value = ast.Await(call)
        return ast.Subscript(value, ast.Constant("result")) if node.func.id in self._wrapped else value

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        self.generic_visit(node)
        return ast.ExceptHandler(ast.Name("Exception"), node.name, node.body)


def _answers_object(operation: Mapping[str, Any], api: Api) -> bool:
    """Return whether the schema of the success response is that of an object; also where there is none."""
    [answer] = [answer for status, answer in operation["responses"].items() if status.startswith("2")][:1]
    schema = api.resolved(api.resolved(answer).get("content", {}).get("application/json", {})).get("schema", {})
    kind: str = api.resolved(schema).get("type", "object")
    return kind == "object"
