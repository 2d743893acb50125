"""MCP as a pure function: `receive(description, session, message) -> Step`.

No I/O, and only the standard library. Each message is read in the era that it claims itself, so that clients of both
eras can share one endpoint and one process. Order of the checks: the form of the message, its era, then the checks of
that era.

Specification: basic and basic/transports of both eras.
"""

from typing import Any, Final

from . import handshake, jsonrpc, stateless
from .headers import Headers
from .jsonrpc import INVALID_REQUEST, MalformedMessage, Notification, Refusal, Request, Response
from .messages import (
    Action,
    Cancellation,
    ClientAnswer,
    LogLevel,
    ResourceRequest,
    ServerDescription,
    Session,
    Step,
    Subscription,
    TaskRequest,
    ToolCall,
    ToolList,
    list_changed,
)
from .revisions import HANDSHAKE, LATEST_HANDSHAKE, STATELESS, Revision

__all__ = [
    "HANDSHAKE",
    "LATEST_HANDSHAKE",
    "STATELESS",
    "Action",
    "Cancellation",
    "ClientAnswer",
    "LogLevel",
    "ResourceRequest",
    "Revision",
    "ServerDescription",
    "Session",
    "Step",
    "Subscription",
    "TaskRequest",
    "ToolCall",
    "ToolList",
    "classify",
    "is_stateless",
    "list_changed",
    "receive",
]


MAX_ID_CHARACTERS: Final = 64
"""Characters of the id of a request of this server; an answer with a longer id answers none of them."""


MAX_BATCH: Final = 100
"""Messages of a batch: they are carried out one after the other, and clients that send batches send a few."""


def receive(description: ServerDescription, session: Session, message: Any, headers: Headers | None = None) -> Step:
    """Return what one message causes. Never raises, whatever JSON value `message` is.

    `headers` are those of the HTTP request (names in lower case, lines of one name joined by `, `). On a transport
    without headers they are None: such a transport is one conversation, and `session` is the session of the previous
    Step. Over HTTP `session` is the one of the request's session id, or an empty one for a request without id.
    """
    if isinstance(message, list):
        return _receive_batch(description, session, message, headers)
    parsed = jsonrpc.classify(message)
    if isinstance(parsed, Request):
        if _is_stateless(parsed, headers):
            return stateless.receive(description, session, parsed, headers)
        return handshake.receive(description, session, parsed, headers)
    if isinstance(parsed, Notification):
        return _receive_notification(session, parsed, headers)
    if isinstance(parsed, MalformedMessage):
        return Step(session=session, status=400, reply=parsed.reply)
    return _receive_response(session, parsed, headers)


def classify(message: Any) -> Any:
    """Classify a message once, for a caller that passes it on to several functions of this package.

    A batch is returned as it is.
    """
    return message if isinstance(message, list) else jsonrpc.classify(message)


_WITH_METHOD: Final = (Request, Notification)


def is_stateless(message: Any, headers: Headers | None = None) -> bool:
    """Return whether a message is read in the stateless era, where sessions do not count."""
    parsed = jsonrpc.classify(message)
    if isinstance(parsed, _WITH_METHOD):
        return _is_stateless(parsed, headers)
    return stateless.is_claimed_by_header(headers)


def _is_stateless(message: Request | Notification, http: Headers | None) -> bool:
    if stateless.has_envelope(message.params):
        return True
    # An initialize without envelope is a handshake whatever its header says: it negotiates the version.
    return stateless.is_claimed_by_header(http) and message.method != "initialize"


def _receive_notification(session: Session, notification: Notification, http: Headers | None) -> Step:
    refusal = None if http is None else stateless.check_notification(http)
    if refusal is not None:
        return Step(session=session, status=400, reply=refusal.reply())
    # Without a session the request ids of different HTTP clients collide, so no request can be cancelled by id.
    unique = http is None or (session.id is not None and not _is_stateless(notification, http))
    return Step(session=session, status=202, action=_cancellation(notification) if unique else None)


def _cancellation(notification: Notification) -> Cancellation | None:
    if notification.method != "notifications/cancelled" or not isinstance(notification.params, dict):
        return None
    request_id: Any = notification.params.get("requestId")
    return Cancellation(request_id) if jsonrpc.is_id(request_id) else None


def _receive_response(session: Session, response: Response, http: Headers | None) -> Step:
    if stateless.is_claimed_by_header(http):
        return _invalid(session, "A message must be a request or a notification.")
    return Step(session=session, status=202, action=_answer(session, response))


def _answer(session: Session, response: Response) -> ClientAnswer | None:
    """Return an answer of a client that may have been asked, reduced to the members of an ElicitResult."""
    if not session.elicitation or not isinstance(response.id, str) or len(response.id) > MAX_ID_CHARACTERS:
        return None
    if not isinstance(response.result, dict):
        return ClientAnswer(response.id, None)
    members = {name: value for name, value in response.result.items() if name in ("action", "content")}
    return ClientAnswer(response.id, members)


def _receive_batch(description: ServerDescription, session: Session, messages: list[Any], http: Headers | None) -> Step:
    """Return the Steps of a batch, which only 2025-03-26 has ("Batching").

    Neither `initialize` nor a message of the stateless era can be part of one.
    """
    revision = handshake.revision_in_force(session, http)
    if revision is None or not revision.batches:
        return _invalid(session, "A message must be a single JSON object.")
    if not messages:
        return _invalid(session, "A batch must have at least one message.")
    if len(messages) > MAX_BATCH:
        return _invalid(session, f"A batch may have at most {MAX_BATCH} messages.")
    batch: list[Step] = []
    for message in messages:
        batch.append(_receive_batched(description, session, message, http))
        session = batch[-1].session
    answered = any(step.reply or isinstance(step.action, ToolCall | ToolList | ResourceRequest) for step in batch)
    return Step(session=session, status=200 if answered else 202, batch=tuple(batch))


def _receive_batched(description: ServerDescription, session: Session, message: Any, http: Headers | None) -> Step:
    parsed = jsonrpc.classify(message)
    if isinstance(parsed, Request) and (parsed.method == "initialize" or stateless.has_envelope(parsed.params)):
        refusal = Refusal(INVALID_REQUEST, "This request cannot be part of a batch; send it alone.")
        return Step(session=session, reply=refusal.reply(parsed.id))
    return receive(description, session, message if isinstance(message, dict) else None, http)


def _invalid(session: Session, message: str) -> Step:
    return Step(session=session, status=400, reply=Refusal(INVALID_REQUEST, message).reply())
