"""What a message may ask to be done, as data: a call, a page of the list, a subscription, a cancellation.

The answer comes back through `reply`, which renders it for the revision the request came in; nothing is done here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from ..types import CallToolResult, JsonObject, Schema, ToolDescription
from . import jsonrpc, log_levels, mirrored
from .headers import Headers
from .log_levels import LogLevel
from .revisions import Revision

SUBSCRIPTION_ID: Final = "io.modelcontextprotocol/subscriptionId"
_LIST_CHANGED: Final = "notifications/tools/list_changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """`tools/call`, to be done. `result_fields` is what the era adds to every result.

    Whoever wants to hear of its progress gave a `progress_token` (basic/utilities/progress); without one, nobody does.
    `trace` is the client's trace context by header name, well formed: it is to be sent upstream, but not in place of an
    argument of the tool. `session_id` is the HTTP session the call belongs to, in which its id is unique, and
    `log_level` what that session asked for. `headers` are those of an HTTP request of the stateless era.
    """

    request_id: jsonrpc.RequestId
    revision: Revision
    name: str
    arguments: Mapping[str, Any]
    result_fields: Mapping[str, Any] = field(default_factory=dict)
    progress_token: jsonrpc.RequestId | None = None
    trace: Mapping[str, str] = field(default_factory=dict)
    session_id: str | None = None
    log_level: LogLevel | None = None
    headers: Headers | None = None
    explicit_fields: bool = False

    def mismatch(self, input_schema: Schema) -> JsonObject | None:
        """The response, of HTTP status 400, when headers do not say what the arguments say; None when they do."""
        refusal = None if self.headers is None else mirrored.refusal_of(input_schema, self.arguments, self.headers)
        return None if refusal is None else refusal.reply(self.request_id)

    def reply(self, result: CallToolResult, output_schema: Schema | None = None) -> JsonObject:
        """The response with this result, of a tool whose (original) outputSchema is `output_schema`."""
        rendered = self.revision.call_result(result, output_schema, explicit=self.explicit_fields)
        return jsonrpc.result(self.request_id, {**rendered, **self.result_fields})

    def progress(self, count: int, message: str, *, total: int | None = None) -> JsonObject:
        """The notification that the call has come so far: `count` grows each time, up to `total` if that is known."""
        params: JsonObject = {"progressToken": self.progress_token, "progress": count}
        params |= {} if total is None else {"total": total}
        return jsonrpc.notification("notifications/progress", params | self.revision.progress_message(message))

    def hears(self, level: LogLevel) -> bool:
        """Whether its client wants to hear of events of this level."""
        return self.revision.logging and log_levels.is_wanted(level, self.log_level)

    def log(self, level: LogLevel, data: Any, logger: str = "openapi-mcp") -> JsonObject | None:
        """The notification of an event of this call, None where its client does not want to hear of it.

        `data` is any JSON value. A client that asked for no level hears of `warning` and above; one of the stateless
        era of nothing, since logging is deprecated there (server/utilities/logging).
        """
        if not self.hears(level):
            return None
        return jsonrpc.notification("notifications/message", {"level": level, "logger": logger, "data": data})

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
    explicit_fields: bool = False

    def render(self, tools: Iterable[ToolDescription], next_cursor: str | None) -> JsonObject:
        """The result for this page: the same for every request of this revision and cursor, so it can be kept."""
        cursor = "" if next_cursor is None and self.explicit_fields else next_cursor
        return {**self.revision.tool_list(tools, cursor), **self.result_fields}

    def reply(self, rendered: JsonObject) -> JsonObject:
        """The response with a rendered page."""
        return jsonrpc.result(self.request_id, rendered)

    def reply_encoded(self, encoded: bytes) -> bytes:
        """The response with a rendered page that was encoded before."""
        return jsonrpc.encoded_result(self.request_id, encoded)

    def refuse(self, message: str) -> JsonObject:
        """The response when the cursor is not one of ours (-32602: server/utilities/pagination, "Error Handling")."""
        return jsonrpc.error(jsonrpc.INVALID_PARAMS, message, request_id=self.request_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """`subscriptions/listen` (2026-07-28), to be held open: acknowledged first, told of each change, ended by a reply.

    `tools_list_changed` is whether changes of the list of tools are to be told: asked for, and promised by this server.
    """

    request_id: jsonrpc.RequestId
    revision: Revision
    tools_list_changed: bool
    result_fields: Mapping[str, Any] = field(default_factory=dict)

    def acknowledged(self) -> JsonObject:
        """The first message: what will be told, which is nothing of what this server has not."""
        told = {"toolsListChanged": True} if self.tools_list_changed else {}
        return self._notification("notifications/subscriptions/acknowledged", {"notifications": told})

    def changed(self) -> JsonObject:
        """The list of tools is another one now."""
        return self._notification(_LIST_CHANGED, {})

    def cancelled(self) -> JsonObject:
        """Said after the reply on stdio alone, where no stream ends to show that this is over."""
        return self._notification("notifications/cancelled", {"requestId": self.request_id})

    def reply(self) -> JsonObject:
        """The response with which the server ends it."""
        meta = {**self.result_fields.get("_meta", {}), **self._tag()}
        return jsonrpc.result(self.request_id, {**self.result_fields, "_meta": meta})

    def _notification(self, method: str, params: Mapping[str, Any]) -> JsonObject:
        return jsonrpc.notification(method, {"_meta": self._tag(), **params})

    def _tag(self) -> JsonObject:
        return {SUBSCRIPTION_ID: self.request_id}


@dataclass(frozen=True, slots=True)
class Cancellation:
    """`notifications/cancelled`, to be done: stop the request of this id and say nothing more about it.

    Over HTTP the id is one of the session that the message came in.
    """

    request_id: jsonrpc.RequestId


Action: TypeAlias = ToolCall | ToolList | Subscription | Cancellation


def list_changed() -> JsonObject:
    """The notification of the handshake era that the list of tools is another one now (server/tools)."""
    return jsonrpc.notification(_LIST_CHANGED)
