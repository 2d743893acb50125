"""MCP as a pure function: `receive(description, session, message) -> Step`; no I/O, the standard library only.

Each message is read in the era it claims by itself, so clients of both eras can share one endpoint and one process.
Order of checks: the shape of the message, its era, then what that era checks (basic/transports, both eras).
"""

from typing import Any

from . import handshake, jsonrpc, mirrored, stateless
from .actions import Action, Cancellation, Subscription, ToolCall, ToolList, list_changed
from .headers import Headers
from .jsonrpc import INVALID_REQUEST, Malformed, Notification, Refusal, Request
from .log_levels import LogLevel
from .revisions import HANDSHAKE, LATEST_HANDSHAKE, STATELESS, Revision
from .step import ServerDescription, Session, Step

__all__ = [
    "HANDSHAKE",
    "LATEST_HANDSHAKE",
    "STATELESS",
    "Action",
    "Cancellation",
    "LogLevel",
    "Revision",
    "ServerDescription",
    "Session",
    "Step",
    "Subscription",
    "ToolCall",
    "ToolList",
    "classified",
    "is_stateless",
    "list_changed",
    "mirrored",
    "receive",
]


def receive(description: ServerDescription, session: Session, message: Any, headers: Headers | None = None) -> Step:
    """What one message causes. Never raises, whatever JSON value `message` is.

    `headers` are those of the HTTP request (names in lower case, lines of one name joined by `, `), or None on a
    transport without headers, which is then one conversation: `session` is what the Step before it left. Over HTTP
    `session` is what the request's session id stands for, and an empty one where it has none.
    """
    if isinstance(message, list):
        return _receive_batch(description, session, message, headers)
    parsed = jsonrpc.classify(message)
    if isinstance(parsed, Malformed):
        return Step(session=session, status=400, reply=parsed.reply)
    if isinstance(parsed, Request):
        if _is_stateless(parsed, headers):
            return stateless.receive(description, session, parsed, headers)
        return handshake.receive(description, session, parsed, headers)
    if isinstance(parsed, Notification):
        return _receive_notification(session, parsed, headers)
    return _receive_response(session, headers)


def classified(message: Any) -> Any:
    """The same message, of which it is known what it is; for whoever asks more than once."""
    return message if isinstance(message, list) else jsonrpc.classify(message)


def is_stateless(message: Any, headers: Headers | None = None) -> bool:
    """Whether a message is read in the stateless era, where no session counts, whatever the message is."""
    parsed = jsonrpc.classify(message)
    return (
        _is_stateless(parsed, headers) if isinstance(parsed, Request | Notification) else stateless.is_claimed(headers)
    )


def _is_stateless(message: Request | Notification, http: Headers | None) -> bool:
    if stateless.is_enveloped(message.params):
        return True
    # An initialize without envelope is a handshake whatever its header says: it is what settles the version.
    return stateless.is_claimed(http) and message.method != "initialize"


def _receive_notification(session: Session, notification: Notification, http: Headers | None) -> Step:
    refusal = None if http is None else stateless.refusal_of_notification(http)
    if refusal is not None:
        return Step(session=session, status=400, reply=refusal.reply())
    # Without a session the ids of different HTTP clients collide, so nobody may cancel by id.
    unique = http is None or (session.id is not None and not _is_stateless(notification, http))
    return Step(session=session, status=202, action=_cancellation(notification) if unique else None)


def _cancellation(notification: Notification) -> Cancellation | None:
    if notification.method != "notifications/cancelled" or not isinstance(notification.params, dict):
        return None
    request_id: Any = notification.params.get("requestId")
    return Cancellation(request_id) if jsonrpc.is_id(request_id) else None


def _receive_response(session: Session, http: Headers | None) -> Step:
    if stateless.is_claimed(http):
        return _invalid(session, "A message must be a request or a notification.")
    return Step(session=session, status=202)


def _receive_batch(description: ServerDescription, session: Session, messages: list[Any], http: Headers | None) -> Step:
    """2025-03-26 alone has batches ("Batching"); `initialize` and messages of the stateless era cannot be in one."""
    revision = handshake.revision_in_force(session, http)
    if revision is None or not revision.batches:
        return _invalid(session, "A message must be a single JSON object.")
    if not messages:
        return _invalid(session, "A batch must have at least one message.")
    batch: list[Step] = []
    for message in messages:
        batch.append(_receive_batched(description, session, message, http))
        session = batch[-1].session
    answered = any(step.reply or isinstance(step.action, ToolCall | ToolList) for step in batch)
    return Step(session=session, status=200 if answered else 202, batch=tuple(batch))


def _receive_batched(description: ServerDescription, session: Session, message: Any, http: Headers | None) -> Step:
    parsed = jsonrpc.classify(message)
    if isinstance(parsed, Request) and (parsed.method == "initialize" or stateless.is_enveloped(parsed.params)):
        return Step(session=session, reply=Refusal(INVALID_REQUEST, "This cannot be in a batch.").reply(parsed.id))
    return receive(description, session, message if isinstance(message, dict) else None, http)


def _invalid(session: Session, message: str) -> Step:
    return Step(session=session, status=400, reply=Refusal(INVALID_REQUEST, message).reply())
