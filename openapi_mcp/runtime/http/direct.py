"""`DirectRequest`: what this program's server (`hosting`) and its application tell each other without ASGI's events.

A message that has arrived, its plain answer, and the end of its connection take 7 % of a call's time as events of ASGI,
with a timer and a task to wait for them. Under another server, and for all else, the application uses ASGI.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Final, Protocol, cast

from starlette.types import ASGIApp, Receive, Send

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

_HEAD: Final = b"HTTP/1.1 200 OK\r\n%bcontent-length: %d\r\ncontent-type: application/json\r\n\r\n"

_REQUIRED: Final = (
    "body", "default_headers", "disconnected", "flow", "keep_alive", "message_event", "more_body", "on_response",
    "response_complete", "response_started", "transport", "waiting_for_100_continue",
)  # fmt: skip
"""Attributes of uvicorn's RequestResponseCycle that are used here; without one, requests are not direct."""


class WritableConnection(Protocol):
    """A connection as a direct request needs it (see `connections.TimeoutProtocol`)."""

    on_disconnect: Callable[[], object] | None

    def write_now(self, data: bytes, /) -> None:
        """Write bytes at once."""

    def remember(self, cycle: "RequestResponseCycle", app: ASGIApp, /) -> None:
        """Let requests with the head of this one be answered by an application."""


class DirectRequest:
    """One request on a connection of this program's server, with uvicorn's state of it."""

    __slots__ = ("_connection", "_cycle")
    _is_possible: ClassVar[bool | None] = None

    def __init__(self, connection: WritableConnection, cycle: "RequestResponseCycle") -> None:
        self._connection = connection
        self._cycle = cycle

    @classmethod
    def of(cls, receive: Receive, send: Send) -> "DirectRequest | None":
        """Return the direct request with these events of ASGI; None if they are another server's, or wrapped.

        None also in a version of uvicorn that lacks an attribute.
        """
        cycle = getattr(send, "__self__", None)
        connection = getattr(getattr(cycle, "on_response", None), "__self__", None)
        if getattr(receive, "__self__", None) is not cycle or not getattr(connection, "is_direct", False):
            return None
        if cls._is_possible is None:
            cls._is_possible = all(hasattr(cycle, name) for name in _REQUIRED)
        if not cls._is_possible:
            return None
        return cls(cast("WritableConnection", connection), cast("RequestResponseCycle", cycle))

    def take_body(self, max_bytes: int) -> bytes | None:
        """Return the body if all of it has arrived and is less than `max_bytes`, instead of `receive`; else None."""
        cycle = self._cycle
        if cycle.more_body or cycle.disconnected or cycle.waiting_for_100_continue or len(cycle.body) >= max_bytes:
            return None
        body, cycle.body = bytes(cycle.body), bytearray()
        cycle.message_event.clear()  # from now on it is set by the end of the connection
        cycle.flow.resume_reading()
        return body

    def remember(self, app: ASGIApp) -> None:
        """Let further requests with the same head, in any connection, be answered by an application (see `heads`)."""
        self._connection.remember(self._cycle, app)

    def answer(self, body: bytes) -> bool:
        """Send a response with status 200 and a JSON body; return False, and do nothing, where it has to wait."""
        cycle = self._cycle
        if cycle.response_started or cycle.disconnected or cycle.flow.write_paused or not cycle.keep_alive:
            return False
        cycle.response_started = cycle.response_complete = True
        fields = b"".join([b"%b: %b\r\n" % field for field in cycle.default_headers])
        self._connection.write_now(_HEAD % (fields, len(body)) + body)
        cycle.message_event.set()
        cycle.on_response()
        return True

    def on_disconnect(self, function: Callable[[], object] | None) -> None:
        """Call a function, in the place of the one before, when the connection ends; at once if it has."""
        self._connection.on_disconnect = function
        if function is not None and (self._cycle.disconnected or self._cycle.transport.is_closing()):
            function()
