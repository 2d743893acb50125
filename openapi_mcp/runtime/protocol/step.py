"""`Step`: what one message caused, as data; it says what is to be done and does none of it.

The answer to what is to be done comes back through `reply`, which renders it for the revision the request came in.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ..types import CallToolResult, Implementation, JsonObject, Schema, ToolDescription
from . import jsonrpc
from .revisions import Revision


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDescription:
    """What the server tells about itself.

    `ttl_ms` and `cache_scope` are the caching hints of 2026-07-28: for how many milliseconds, and by whom, the list of
    tools may be kept. Five minutes is what the specification's own examples say.
    """

    implementation: Implementation
    instructions: str | None = None
    ttl_ms: int = 300_000
    cache_scope: Literal["public", "private"] = "public"


@dataclass(frozen=True, slots=True)
class Session:
    """What `initialize` settled: a revision of the handshake era by name, or None before (and without) it."""

    revision: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """`tools/call`, to be done. `result_fields` is what the era adds to every result.

    Whoever wants to hear of its progress gave a `progress_token` (basic/utilities/progress); without one, nobody does.
    """

    request_id: jsonrpc.RequestId
    revision: Revision
    name: str
    arguments: Mapping[str, Any]
    result_fields: Mapping[str, Any] = field(default_factory=dict)
    progress_token: jsonrpc.RequestId | None = None

    def reply(self, result: CallToolResult, output_schema: Schema | None = None) -> JsonObject:
        """The response with this result, of a tool whose (original) outputSchema is `output_schema`."""
        rendered = self.revision.call_result(result, output_schema)
        return jsonrpc.result(self.request_id, {**rendered, **self.result_fields})

    def progress(self, count: int, message: str) -> JsonObject:
        """The notification that the call has come so far: `count` grows each time, what it will be is not known."""
        params = {"progressToken": self.progress_token, "progress": count}
        return jsonrpc.notification("notifications/progress", params | self.revision.progress_message(message))

    def refuse(self, message: str) -> JsonObject:
        """The response when there is no such tool (-32602: server/tools, "Error Handling")."""
        return jsonrpc.error(jsonrpc.INVALID_PARAMS, message, request_id=self.request_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolList:
    """`tools/list`, to be done: one page."""

    request_id: jsonrpc.RequestId
    revision: Revision
    cursor: str | None = None
    result_fields: Mapping[str, Any] = field(default_factory=dict)

    def render(self, tools: Iterable[ToolDescription], next_cursor: str | None) -> JsonObject:
        """The result for this page: the same for every request of this revision and cursor, so it can be kept."""
        return {**self.revision.tool_list(tools, next_cursor), **self.result_fields}

    def reply(self, rendered: JsonObject) -> JsonObject:
        """The response with a rendered page."""
        return jsonrpc.result(self.request_id, rendered)

    def refuse(self, message: str) -> JsonObject:
        """The response when the cursor is not one of ours (-32602: server/utilities/pagination, "Error Handling")."""
        return jsonrpc.error(jsonrpc.INVALID_PARAMS, message, request_id=self.request_id)


def read_call(
    request: jsonrpc.Request, revision: Revision, result_fields: Mapping[str, Any] | None = None
) -> ToolCall | jsonrpc.Refusal:
    """The ToolCall that a `tools/call` request asks for. Members this server has no use for are ignored."""
    params = jsonrpc.members(request.params)
    if isinstance(params, jsonrpc.Refusal):
        return params
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        return jsonrpc.Refusal(jsonrpc.INVALID_PARAMS, "params.name must be the name of a tool.")
    if not isinstance(arguments, dict | None):
        return jsonrpc.Refusal(jsonrpc.INVALID_PARAMS, "params.arguments must be an object.")
    return ToolCall(
        request_id=request.id,
        revision=revision,
        name=name,
        arguments=arguments or {},
        result_fields=result_fields or {},
        progress_token=_progress_token(params.get("_meta")),
    )


def _progress_token(meta: Any) -> jsonrpc.RequestId | None:
    """A string or an integer, like an id. Anything else could not be echoed, and nothing else depends on it."""
    token: Any = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if jsonrpc.is_id(token) else None


def read_list(
    request: jsonrpc.Request, revision: Revision, result_fields: Mapping[str, Any] | None = None
) -> ToolList | jsonrpc.Refusal:
    """The ToolList that a `tools/list` request asks for. An empty cursor is a cursor, and none that was given out."""
    params = jsonrpc.members(request.params)
    if isinstance(params, jsonrpc.Refusal):
        return params
    cursor = params.get("cursor")
    if not isinstance(cursor, str | None):
        return jsonrpc.Refusal(jsonrpc.INVALID_PARAMS, "params.cursor must be a string.")
    return ToolList(request_id=request.id, revision=revision, cursor=cursor, result_fields=result_fields or {})


@dataclass(frozen=True, slots=True)
class Cancellation:
    """`notifications/cancelled`, to be done: stop the request of this id and say nothing more about it."""

    request_id: jsonrpc.RequestId


Action: TypeAlias = ToolCall | ToolList | Cancellation


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one message caused.

    At most one of `reply`, `action` and `batch` is set, and none of them where nothing is to be said or done. `status`
    is the HTTP status of the answer. `batch` holds one Step for each message of a JSON-RPC batch (2025-03-26), whose
    replies together make one array. `ends_with_connection` means that a client which closes the HTTP exchange wants
    the action stopped (2026-07-28); where it is False, a lost connection means nothing.
    """

    session: Session
    status: int = 200
    reply: JsonObject | None = None
    action: Action | None = None
    batch: tuple["Step", ...] = ()
    ends_with_connection: bool = False
