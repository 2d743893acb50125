"""Messages and their consequences as data: `Step`, its actions, and how they are parse_level from requests.

An action (a call, a page of the list, a subscription, a cancellation) is executed elsewhere; its `reply` renders the
answer for the revision of the request. Members of a message that this server does not use (`task`) are ignored,
whatever they contain; `inputResponses` and `requestState` are read where a call asked for them (`elicitation`).

Specification: server/tools, server/utilities/logging of 2024-11-05 to 2025-11-25 (levels of RFC 5424 §6.2.1),
basic/utilities/progress, basic/patterns/subscriptions of 2026-07-28.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from ..types import CallToolResult, Implementation, JsonObject, Schema, ToolDescription
from . import jsonrpc
from .headers import Headers
from .jsonrpc import INVALID_PARAMS, Refusal, Request, RequestId, is_id, members
from .revisions import Revision

LogLevel: TypeAlias = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

LEVELS: Final[tuple[LogLevel, ...]] = get_args(LogLevel)
"""The levels of log messages, lowest first."""

DEFAULT_LEVEL: Final[LogLevel] = "warning"
"""The threshold of a client that set no level: problems are reported, successes are not."""


def parse_level(value: Any) -> LogLevel | None:
    """Return a level by its name, None for a value that is not a level."""
    return next((level for level in LEVELS if level == value), None)


def is_at_least(level: LogLevel, threshold: LogLevel | None) -> bool:
    """Return whether a level reaches a threshold; None stands for the threshold of a client that set none."""
    return _RANKS[level] >= _RANKS[threshold or DEFAULT_LEVEL]


_RANKS: Final = {level: rank for rank, level in enumerate(LEVELS)}


_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
SUBSCRIPTION_ID: Final = "io.modelcontextprotocol/subscriptionId"
_LIST_CHANGED: Final = "notifications/tools/list_changed"


class ToolCall(NamedTuple):
    """A `tools/call` to be executed.

    `result_fields` are the fields that the era adds to every result. `progress_token` is set if the client wants
    progress notifications (basic/utilities/progress). `trace` is the client's trace context by header name, well
    formed; it may be sent upstream, but never replaces an argument of the tool. `session_id` is the HTTP session of the
    call, in which its id is unique, and `log_level` the level that this session has set. `headers` are those of an HTTP
    request of the stateless era. `explicit_fields`: see `ServerDescription`. `params` are the parameters as they were
    sent, and `elicitation` the modes of elicitation that the session has.
    """

    request_id: jsonrpc.RequestId
    revision: Revision
    name: str
    arguments: Mapping[str, Any]
    result_fields: Mapping[str, Any] = _NOTHING
    progress_token: jsonrpc.RequestId | None = None
    trace: Mapping[str, str] = _NOTHING
    session_id: str | None = None
    log_level: LogLevel | None = None
    headers: Headers | None = None
    explicit_fields: bool = False
    params: Mapping[str, Any] = _NOTHING
    elicitation: tuple[str, ...] = ()

    def header_mismatch(self, input_schema: Schema) -> JsonObject | None:
        """Return the error response (HTTP status 400) for headers that differ from the arguments, else None."""
        if self.headers is None:
            return None
        refusal = _header_check()(input_schema, self.arguments, self.headers)
        return None if refusal is None else refusal.reply(self.request_id)

    def reply(self, result: CallToolResult, output_schema: Schema | None = None) -> JsonObject:
        """Return the response with this result, of a tool whose (original) outputSchema is `output_schema`."""
        rendered = self.revision.call_result(result, output_schema, explicit=self.explicit_fields)
        if not self.result_fields:
            return jsonrpc.result(self.request_id, rendered)
        meta = {**rendered.get("_meta", {}), **self.result_fields.get("_meta", {})}
        return jsonrpc.result(self.request_id, {**rendered, **self.result_fields, **({"_meta": meta} if meta else {})})

    def progress(self, count: int, message: str, *, total: int | None = None) -> JsonObject:
        """Return a progress notification. `count` grows with each one, up to `total` if that is known."""
        params: JsonObject = {"progressToken": self.progress_token, "progress": count}
        params |= {} if total is None else {"total": total}
        return jsonrpc.notification("notifications/progress", params | self.revision.progress_message(message))

    def wants_log(self, level: LogLevel) -> bool:
        """Return whether the client receives log messages of this level."""
        return self.revision.logging and is_at_least(level, self.log_level)

    def log(self, level: LogLevel, data: Any, logger: str = "openapi-mcp") -> JsonObject | None:
        """Return a log message about this call, None if the client does not receive its level.

        `data` is any JSON value. A client that set no level receives `warning` and above. A client of the stateless era
        receives nothing, since logging is deprecated there (server/utilities/logging).
        """
        if not self.wants_log(level):
            return None
        return jsonrpc.notification("notifications/message", {"level": level, "logger": logger, "data": data})

    def refuse(self, message: str) -> JsonObject:
        """Return the response for an unknown tool (-32602: server/tools, "Error Handling")."""
        return jsonrpc.error(jsonrpc.INVALID_PARAMS, message, request_id=self.request_id)


@cache
def _header_check() -> "Callable[[Schema, Mapping[str, Any], Headers], Refusal | None]":
    """Return the function that compares headers with arguments, imported at the first call of the stateless era.

    A package has it if a tool of it has such arguments (`runtime.optional`).
    """
    try:
        from .header_arguments import check_header_arguments
    except ModuleNotFoundError:
        return lambda *_: None
    return check_header_arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolList:
    """A `tools/list` to be executed: one page."""

    request_id: jsonrpc.RequestId
    revision: Revision
    cursor: str | None = None
    result_fields: Mapping[str, Any] = field(default_factory=dict)
    explicit_fields: bool = False

    @property
    def is_past_end(self) -> bool:
        """Return whether the client sends the empty cursor of the last page back; the page of that has no tools."""
        return self.explicit_fields and self.cursor == ""

    def render(self, tools: Iterable[ToolDescription], next_cursor: str | None) -> JsonObject:
        """Return the result of this page. It is the same for each request of this revision and cursor.

        The page after the last has no cursor: a client that reads on as long as there is one comes to an end.
        """
        is_last = next_cursor is None and self.explicit_fields and not self.is_past_end
        cursor = "" if is_last else next_cursor
        return {**self.revision.tool_list(tools, cursor), **self.result_fields}

    def reply(self, rendered: JsonObject) -> JsonObject:
        """Return the response with a rendered page."""
        return jsonrpc.result(self.request_id, rendered)

    def reply_encoded(self, encoded: bytes) -> bytes:
        """Return the response with a rendered page that is encoded already."""
        return jsonrpc.encode_result(self.request_id, encoded)

    def refuse(self, message: str) -> JsonObject:
        """Return the response for an unknown cursor (-32602: server/utilities/pagination, "Error Handling")."""
        return jsonrpc.error(jsonrpc.INVALID_PARAMS, message, request_id=self.request_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A `subscriptions/listen` (2026-07-28): acknowledged first, notified of each change, ended by a reply.

    `tools_list_changed` tells whether changes of the list of tools are reported: the client asked for it and this
    server promises it.
    """

    request_id: jsonrpc.RequestId
    revision: Revision
    tools_list_changed: bool
    result_fields: Mapping[str, Any] = field(default_factory=dict)

    def acknowledgement(self) -> JsonObject:
        """Return the first message: the notifications that will be sent, of those that this server supports."""
        notifications = {"toolsListChanged": True} if self.tools_list_changed else {}
        return self._notification("notifications/subscriptions/acknowledged", {"notifications": notifications})

    def list_changed(self) -> JsonObject:
        """Return the notification that the list of tools has changed."""
        return self._notification(_LIST_CHANGED, {})

    def cancellation(self) -> JsonObject:
        """Return the message after the reply on stdio, where no stream ends to show the end of the subscription."""
        return self._notification("notifications/cancelled", {"requestId": self.request_id})

    def reply(self) -> JsonObject:
        """Return the response with which the server ends the subscription."""
        meta = {**self.result_fields.get("_meta", {}), **self._tag()}
        return jsonrpc.result(self.request_id, {**self.result_fields, "_meta": meta})

    def _notification(self, method: str, params: Mapping[str, Any]) -> JsonObject:
        return jsonrpc.notification(method, {"_meta": self._tag(), **params})

    def _tag(self) -> JsonObject:
        return {SUBSCRIPTION_ID: self.request_id}


@dataclass(frozen=True, slots=True)
class Cancellation:
    """A `notifications/cancelled`: stop the request of this id and send nothing more about it.

    Over HTTP the id is one of the session in which the message came.
    """

    request_id: jsonrpc.RequestId


CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
MISSING_CAPABILITY: Final = -32021
"""The error of a request that needs a capability which its client did not declare (2026-07-28)."""


def envelope(params: Any) -> JsonObject:
    """Return the `_meta` of a request's parameters; empty where it is no object."""
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def client_capabilities(params: Any) -> Any:
    """Return the capabilities of the client in the envelope of a request."""
    return envelope(params).get(CAPABILITIES)


TASKS_EXTENSION: Final = "io.modelcontextprotocol/tasks"
TASK_METHODS: Final = frozenset({"tasks/get", "tasks/update", "tasks/cancel"})
"""The extension of 2026-07-28 with which a call may be answered by a task, and its requests."""


class TaskRequest(NamedTuple):
    """A request about a task (one of TASK_METHODS), of a client that has the extension for tasks."""

    request_id: jsonrpc.RequestId
    method: str
    task_id: str
    result_fields: Mapping[str, Any]


class ResourceRequest(NamedTuple):
    """A request about resources or skills (see `protocol.skills`), whose parameters are not checked yet."""

    request_id: RequestId
    method: str
    params: Mapping[str, Any]
    result_fields: Mapping[str, Any] = _NOTHING


@dataclass(frozen=True, slots=True)
class ClientAnswer:
    """The answer of a client to a request of this server (handshake era).

    `result` has the members of the answer that this server reads, None for an error. Over HTTP the id is one of the
    session in which the message came.
    """

    request_id: str
    result: JsonObject | None


Action: TypeAlias = ToolCall | ToolList | Subscription | Cancellation | ClientAnswer | TaskRequest | ResourceRequest


def list_changed() -> JsonObject:
    """Return the notification of the handshake era that the list of tools has changed (server/tools)."""
    return jsonrpc.notification(_LIST_CHANGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDescription:
    """The details that the server gives about itself.

    `ttl_ms` and `cache_scope` are the caching hints of 2026-07-28: for how many milliseconds, and by whom, the list of
    tools may be cached. Five minutes is the value in the specification's own examples. `list_changed` promises
    notifications when that list changes. `explicit_fields` sends `structuredContent` and `nextCursor` even when they
    are absent (as `{}` and as `""`), for clients that require them. `elicits` tells that calls may ask the user of a
    client (see `elicitation`): the capability for that is remembered. `tasks` tells that calls may become tasks, and
    `skills` that there are skills.
    """

    implementation: Implementation
    instructions: str | None = None
    ttl_ms: int = 300_000
    cache_scope: Literal["public", "private"] = "public"
    list_changed: bool = False
    explicit_fields: bool = False
    elicits: bool = False
    tasks: bool = False
    skills: bool = False


class Session(NamedTuple):
    """The state that a client of the handshake era has negotiated; the stateless era does not use it.

    `revision` is the answer to `initialize`, None before (and without) it. `id` is the id of the HTTP session, None on
    stdio and for clients without a session. `log_level` is the level of `logging/setLevel`, None if none was set.
    `elicitation` are the modes of elicitation that the client has, where the server elicits.
    """

    revision: str | None = None
    id: str | None = None
    log_level: LogLevel | None = None
    elicitation: tuple[str, ...] = ()


class Step(NamedTuple):
    """The consequences of one message.

    At most one of `reply`, `action` and `batch` is set, and none of them if there is nothing to do or to send. `status`
    is the HTTP status of the answer. `batch` has one Step for each message of a JSON-RPC batch (2025-03-26), whose
    replies together make one array. `ends_with_connection` means that a client which closes the HTTP exchange wants the
    action to stop (2026-07-28); if it is False, a lost connection has no meaning. `opens_session` marks the answer to a
    successful `initialize`.
    """

    session: Session
    status: int = 200
    reply: JsonObject | None = None
    action: Action | None = None
    batch: tuple["Step", ...] = ()
    ends_with_connection: bool = False
    opens_session: bool = False


MAX_TOKEN_LENGTH: Final = 1_000
"""Characters of a progress token, which every notification repeats. Clients use numbers and UUIDs."""
_TRACE_CONTEXT: Final = frozenset({"traceparent", "tracestate", "baggage"})


def read_call(
    request: Request,
    revision: Revision,
    session: Session,
    description: ServerDescription,
    *,
    result_fields: Mapping[str, Any] = _NOTHING,
    headers: Headers | None = None,
) -> ToolCall | Refusal:
    """Return the ToolCall of a `tools/call` request; the other parameters are what the request does not contain."""
    params = members(request.params)
    if isinstance(params, Refusal):
        return params
    name, arguments, meta = params.get("name"), params.get("arguments"), params.get("_meta")
    if not isinstance(name, str):
        return Refusal(INVALID_PARAMS, "params.name must be the name of a tool.")
    if not (arguments is None or isinstance(arguments, dict)):
        return Refusal(INVALID_PARAMS, "params.arguments must be an object.")
    token, trace = (_progress_token(meta), _trace(meta)) if meta else (None, _NOTHING)
    # By position, since names take as long as all the rest.
    call = (request.id, revision, name, arguments or {}, result_fields, token, trace, session.id, session.log_level)
    return ToolCall(*call, headers, description.explicit_fields, params, session.elicitation)


def _trace(meta: Any) -> Mapping[str, str]:
    if not isinstance(meta, dict) or _TRACE_CONTEXT.isdisjoint(meta):
        return _NOTHING
    from . import trace_context

    return trace_context.read(meta)


def _progress_token(meta: Any) -> RequestId | None:
    """Return a token that is a short string or an integer, like an id; any other could not be repeated each time."""
    token: Any = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if is_id(token) and (not isinstance(token, str) or len(token) <= MAX_TOKEN_LENGTH) else None


def read_list(request: Request, revision: Revision) -> ToolList | Refusal:
    """Return the ToolList of a `tools/list` request. An empty cursor is a cursor (see `ToolList.is_past_end`)."""
    params = members(request.params)
    if isinstance(params, Refusal):
        return params
    cursor = params.get("cursor")
    if not isinstance(cursor, str | None):
        return Refusal(INVALID_PARAMS, "params.cursor must be a string.")
    return ToolList(request_id=request.id, revision=revision, cursor=cursor)


def read_subscription(request: Request, revision: Revision, *, list_changed: bool) -> Subscription | Refusal:
    """Return the Subscription of a `subscriptions/listen` request; `list_changed` is the server's own promise.

    Notifications that this server does not support are omitted from the acknowledgement, not refused
    (basic/patterns/subscriptions).
    """
    params = members(request.params)
    if isinstance(params, Refusal):
        return params
    requested = params.get("notifications")
    if not isinstance(requested, dict):
        return Refusal(INVALID_PARAMS, "params.notifications must be an object.")
    tools = requested.get("toolsListChanged", False)
    if not isinstance(tools, bool):
        return Refusal(INVALID_PARAMS, "params.notifications.toolsListChanged must be true or false.")
    return Subscription(request_id=request.id, revision=revision, tools_list_changed=tools and list_changed)
