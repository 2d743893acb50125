"""MCP as a pure function: `receive(description, session, message) -> Step`; no I/O, the standard library only.

Each message is read in the era it claims by itself, so clients of both eras can share one endpoint and one process.
Order of checks: the shape of the message, its era, then what that era checks (basic/transports, both eras).
"""

from typing import Any

from . import handshake, jsonrpc, stateless
from .headers import Headers
from .jsonrpc import INVALID_REQUEST, Malformed, Notification, Refusal, Request
from .revisions import HANDSHAKE, LATEST_HANDSHAKE, STATELESS, Revision
from .step import Action, Cancellation, ServerDescription, Session, Step, ToolCall, ToolList

__all__ = [
    "HANDSHAKE",
    "LATEST_HANDSHAKE",
    "STATELESS",
    "Action",
    "Cancellation",
    "Revision",
    "ServerDescription",
    "Session",
    "Step",
    "ToolCall",
    "ToolList",
    "receive",
]


def receive(description: ServerDescription, session: Session, message: Any, headers: Headers | None = None) -> Step:
    """What one message causes. Never raises, whatever JSON value `message` is.

    `headers` are those of the HTTP request (names in lower case, lines of one name joined by `, `), or None on a
    transport without headers, which is then one conversation: `session` is what the Step before it left. Over HTTP no
    session is kept, and each request starts from an empty one.
    """
    if isinstance(message, list):
        return _receive_batch(description, session, message, headers)
    parsed = jsonrpc.classify(message)
    if isinstance(parsed, Malformed):
        return Step(session=session, status=400, reply=parsed.reply)
    if isinstance(parsed, Request):
        return _receive_request(description, session, parsed, headers)
    if isinstance(parsed, Notification):
        return _receive_notification(session, parsed, headers)
    return _receive_response(session, headers)


def _receive_request(description: ServerDescription, session: Session, request: Request, http: Headers | None) -> Step:
    if stateless.is_enveloped(request.params):
        return stateless.receive(description, session, request, http)
    # An initialize without envelope is a handshake whatever its header says: it is what settles the version.
    if stateless.is_claimed(http) and request.method != "initialize":
        return stateless.receive(description, session, request, http)
    return handshake.receive(description, session, request, http)


def _receive_notification(session: Session, notification: Notification, http: Headers | None) -> Step:
    if http is not None:
        # The ids of different HTTP clients collide, so nobody may cancel by id; nothing else asks for anything.
        refusal = stateless.refusal_of_notification(http)
        if refusal is None:
            return Step(session=session, status=202)
        return Step(session=session, status=400, reply=refusal.reply())
    return Step(session=session, status=202, action=_cancellation(notification))


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
    batch = tuple(_receive_batched(description, session, message, http) for message in messages)
    answered = any(step.reply or step.action for step in batch)
    return Step(session=session, status=200 if answered else 202, batch=batch)


def _receive_batched(description: ServerDescription, session: Session, message: Any, http: Headers | None) -> Step:
    parsed = jsonrpc.classify(message)
    if isinstance(parsed, Request) and (parsed.method == "initialize" or stateless.is_enveloped(parsed.params)):
        return Step(session=session, reply=Refusal(INVALID_REQUEST, "This cannot be in a batch.").reply(parsed.id))
    return receive(description, session, message if isinstance(message, dict) else None, http)


def _invalid(session: Session, message: str) -> Step:
    return Step(session=session, status=400, reply=Refusal(INVALID_REQUEST, message).reply())
