"""Parameters into actions: what a request of either era asks for, or why it cannot be read.

Members that this server has no use for are ignored (`task`, `inputResponses`, `requestState`), whatever they hold.
"""

from typing import Any

from . import traces
from .actions import Subscription, ToolCall, ToolList
from .jsonrpc import INVALID_PARAMS, Refusal, Request, RequestId, is_id, members
from .revisions import Revision


def read_call(request: Request, revision: Revision, **known: Any) -> ToolCall | Refusal:
    """The ToolCall that a `tools/call` request asks for; `known` are those fields of it that are not in the request."""
    params = members(request.params)
    if isinstance(params, Refusal):
        return params
    name, arguments, meta = params.get("name"), params.get("arguments"), params.get("_meta")
    if not isinstance(name, str):
        return Refusal(INVALID_PARAMS, "params.name must be the name of a tool.")
    if not isinstance(arguments, dict | None):
        return Refusal(INVALID_PARAMS, "params.arguments must be an object.")
    return ToolCall(
        request_id=request.id,
        revision=revision,
        name=name,
        arguments=arguments or {},
        progress_token=_progress_token(meta),
        trace=traces.read(meta),
        **known,
    )


def _progress_token(meta: Any) -> RequestId | None:
    """A string or an integer, like an id. Anything else could not be echoed, and nothing else depends on it."""
    token: Any = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if is_id(token) else None


def read_list(request: Request, revision: Revision) -> ToolList | Refusal:
    """The ToolList that a `tools/list` request asks for. An empty cursor is a cursor, and none that was given out."""
    params = members(request.params)
    if isinstance(params, Refusal):
        return params
    cursor = params.get("cursor")
    if not isinstance(cursor, str | None):
        return Refusal(INVALID_PARAMS, "params.cursor must be a string.")
    return ToolList(request_id=request.id, revision=revision, cursor=cursor)


def read_subscription(request: Request, revision: Revision, *, list_changed: bool) -> Subscription | Refusal:
    """The Subscription that a `subscriptions/listen` request asks for, of a server that tells of changes or does not.

    Whatever else is asked for is left out of what is acknowledged, not refused (basic/patterns/subscriptions).
    """
    params = members(request.params)
    if isinstance(params, Refusal):
        return params
    wanted = params.get("notifications")
    if not isinstance(wanted, dict):
        return Refusal(INVALID_PARAMS, "params.notifications must be an object.")
    tools = wanted.get("toolsListChanged", False)
    if not isinstance(tools, bool):
        return Refusal(INVALID_PARAMS, "params.notifications.toolsListChanged must be true or false.")
    return Subscription(request_id=request.id, revision=revision, tools_list_changed=tools and list_changed)
