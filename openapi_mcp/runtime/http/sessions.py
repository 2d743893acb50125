"""Sessions of the handshake era: signed ids, the state that worker processes share, and what each request may do.

- `Sessions`: ids carry what was negotiated, signed; every process with the secret reads every id. An id proves nothing
  about who sends it.
- `SessionStore`: ended sessions, log levels, calls in flight and answers to their questions. Processes of one server
  tell each other of them, and replicas where they share a channel. Sessions and requests are known by digests, and
  memory is bounded: the oldest are forgotten.
- `SessionManager`: the session of a request, and the effects of its message on that session.

Specification: basic/transports, "Session Management", of 2025-03-26 to 2025-11-25; basic/utilities/cancellation.
"""

import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, get_args

from ..protocol import HANDSHAKE, Cancellation, ClientAnswer, LogLevel, Session, Step, ToolCall, jsonrpc
from ..server.grants import subject
from ..session_state import STATE_FILES, SessionState
from .access import Headers
from .responses import Fields, HTTPError

if TYPE_CHECKING:
    from .workers import EndedSessions

LIFETIME: Final = 7 * 24 * 3600.0
"""Seconds that a session lasts: longer than most clients stay open; not all of them start a new one by themselves."""

MAX_CACHED_IDS: Final = 1024
"""Ids whose signature was checked: half a megabyte, and each signature is computed once."""

_MAX_ID_LENGTH: Final = 200
"""Characters of an id, twice the longest that is issued; a longer one is not looked at."""

_NO_SESSION: Final = None, 0.0


class Sessions:
    """Issues session ids and reads them back. Ids of one `principal`, or of one `owner`, are not valid for another."""

    def __init__(
        self,
        secret: bytes,
        lifetime: float = LIFETIME,
        clock: Callable[[], float] = time.time,
        *,
        principal: str = "",
    ) -> None:
        self._secret = secret
        self._lifetime = lifetime
        self._clock = clock
        self._key = hmac.digest(secret, b"openapi-mcp session\0" + principal.encode(), "sha256")
        self._session = lru_cache(MAX_CACHED_IDS)(self._verify)

    @classmethod
    def random(cls) -> "Sessions":
        """Return Sessions with a random secret: their ids end with this process."""
        return cls(secrets.token_bytes(32))

    def for_principal(self, principal: str) -> "Sessions":
        """Return Sessions with the same secret whose ids are valid for one credential only."""
        return Sessions(self._secret, self._lifetime, self._clock, principal=principal)

    def issue(self, session: Session, owner: str = "") -> str:
        """Return the id of a new session, in visible ASCII: `revision.time.nonce.signature`; `owner` is its subject.

        The revision has the initials of the client's modes of elicitation behind it, as in `2025-11-25~fu`.
        """
        modes = "~" + "".join(mode[0] for mode in session.elicitation) if session.elicitation else ""
        body = f"{session.revision}{modes}.{int(self._clock()):x}.{session.id or secrets.token_urlsafe(16)}"
        return f"{body}.{self._signature(body, owner)}"

    def read(self, token: str, owner: str = "") -> Session | None:
        """Return the session of an id; None if it was not issued here and to `owner`, was altered, or has expired."""
        session, end = self._session(token, owner) if len(token) <= _MAX_ID_LENGTH else _NO_SESSION
        return None if end < self._clock() else session

    def _verify(self, token: str, owner: str) -> tuple[Session | None, float]:
        """Return the session of an id and the time of its end; no session if the signature is wrong."""
        body, _, signature = token.rpartition(".")
        if not (token.isascii() and hmac.compare_digest(self._signature(body, owner), signature)):
            return _NO_SESSION
        name, issued, nonce = body.split(".")
        name, _, initials = name.partition("~")
        revision = HANDSHAKE.get(name)
        if revision is None:
            return _NO_SESSION
        modes = tuple(mode for mode in revision.elicitation if mode[0] in initials)
        return Session(revision=name, id=nonce, elicitation=modes), int(issued, 16) + self._lifetime

    def derived_key(self, purpose: str) -> bytes:
        """Return a key for another purpose than ids, the same in all processes with the secret."""
        return hmac.digest(self._key, b"openapi-mcp " + purpose.encode(), "sha256")

    def _signature(self, body: str, owner: str) -> str:
        digest = hmac.digest(self._key, f"{body}\0{owner}".encode("utf-8", "surrogatepass"), "sha256")
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


Stop: TypeAlias = Callable[[], object]
"""Stops one call or stream; it does not wait for the end."""

RegisterStop: TypeAlias = Callable[[Stop], AbstractContextManager[None]]
"""Makes a context in which the session of a call or stream can stop it, by calling the given `Stop`."""

MAX_REMEMBERED_SESSIONS: Final = 10_000
"""Sessions whose end, log level and state are remembered: a megabyte of each, without the values of the states."""

_DIGEST_SIZE: Final = 16
_MAX_ANSWER_BYTES: Final = 200
"""Bytes of an answer that siblings get: a message of theirs has 256, and the forms of this server are that small."""

_ANSWERED, _CANCELLED, ENDED, _LEVEL, _OPENED, _STREAM = b"a", b"c", b"e", b"l", b"o", b"s"
_Value = TypeVar("_Value")


class SessionStore:
    """The state of sessions in this process; `broadcast` sends a message to its siblings' `receive`.

    `shared` tells a process that starts later of the sessions that ended before. `key` is that of all states.
    """

    def __init__(
        self, broadcast: Callable[[bytes], None], shared: "EndedSessions | None" = None, key: bytes = b""
    ) -> None:
        self._broadcast = broadcast
        self._state_key = key or secrets.token_bytes(32)
        self._shared = shared
        self._ended: dict[bytes, None] = {}
        self._levels: dict[bytes, LogLevel] = {}
        self._calls: dict[bytes, dict[bytes, Stop]] = {}
        self._streams: dict[bytes, tuple[int, Stop]] = {}
        self._states: dict[bytes, SessionState] = {}
        self._listeners: dict[bytes, Callable[[str], object]] = {}
        self._handlers: dict[bytes, Callable[[bytes, bytes], None]] = {
            _ANSWERED: self._on_answered,
            _CANCELLED: self._on_cancelled,
            ENDED: self._on_ended,
            _LEVEL: self._on_level,
            _OPENED: self._on_opened,
            _STREAM: self._on_stream,
        }

    def restore(self, session: Session) -> Session | None:
        """Return the session with its log level; None if it has ended."""
        for ended in () if self._shared is None else self._shared.new():
            self._on_ended(ended, b"")
        if not (self._ended or self._levels):
            return session
        key = _key(session)
        return None if key in self._ended else session._replace(log_level=self._levels.get(key))

    def set_level(self, session: Session) -> None:
        """Remember the log level that a session asked for."""
        self._publish(_LEVEL, _key(session), (session.log_level or "").encode())

    def state(self, session: Session) -> SessionState:
        """Return what this process keeps for a session, or for all requests of a subject without one."""
        is_session = session.id is not None
        key = _key(session) if is_session else _id_digest(subject())
        state = self._states.get(key) or SessionState(
            is_session=is_session, file=self._state_file(key), key=self._state_key, spend=self._spend
        )
        _remember(self._states, key, state)
        return state

    def _spend(self, text: str) -> bool:
        """Return whether a text is spent for the first time; it is remembered like a session that has ended."""
        spent = Session(id=text)
        if self.restore(spent) is None:
            return False
        self.end(spent)
        return True

    def _state_file(self, key: bytes) -> Path | None:
        folder = None if self._shared is None else self._shared.folder
        return None if folder is None else folder / f"{STATE_FILES}{key.hex()}"

    def cancel(self, session: Session, request_id: jsonrpc.RequestId) -> None:
        """Stop the call in flight with this id, if there is one."""
        self._publish(_CANCELLED, _key(session), _request(request_id))

    def answer(self, session: Session, answer: ClientAnswer) -> None:
        """Pass on the answer to a request of this server to the call that waits for it, in whichever process it is.

        An answer that is too large for the siblings counts as one of a user who cancels.
        """
        value = jsonrpc.encode([answer.request_id, answer.result])
        if len(value) > _MAX_ANSWER_BYTES:
            value = jsonrpc.encode([answer.request_id, {"action": "cancel"}])
        self._publish(_ANSWERED, _key(session), value)

    def end(self, session: Session) -> None:
        """End a session: stop its calls and its stream, and refuse its next requests."""
        if self._shared is not None:
            self._shared.add(_key(session))
        self._publish(ENDED, _key(session), b"")

    def track_call(self, session: Session, request_id: jsonrpc.RequestId, stop: Stop) -> "InFlight":
        """Return a context in which `stop` is called if the session cancels this call or ends."""
        return InFlight(self._calls, _key(session), _request(request_id), stop)

    @contextmanager
    def track_stream(self, session: Session, stop: Stop) -> Iterator[None]:
        """Call `stop` if, within the block, the session opens another stream (in any process) or ends."""
        key, opened = _key(session), time.monotonic_ns()  # one clock for all processes of a machine
        self._publish(_STREAM, key, opened.to_bytes(8))
        self._streams[key] = (opened, stop)
        try:
            yield
        finally:
            if self._streams.get(key) == (opened, stop):
                del self._streams[key]

    @contextmanager
    def listening(self, session: Session, listener: Callable[[str], object]) -> Iterator[None]:
        """Call `listener` with the id of each page that the user has done, within the block."""
        key = _key(session)
        self._listeners[key] = listener
        try:
            yield
        finally:
            if self._listeners.get(key) is listener:
                del self._listeners[key]

    def complete(self, session_id: str, page_id: str) -> None:
        """Tell the client of a session, at whichever process its stream is, that the user has done a page."""
        self._publish(_OPENED, _id_digest(session_id), page_id.encode())

    def receive(self, message: bytes) -> None:
        """Handle a message of a sibling; messages of an unknown kind are ignored."""
        handle = self._handlers.get(message[:1])
        if handle is not None and len(message) > _DIGEST_SIZE:
            handle(message[1 : _DIGEST_SIZE + 1], message[_DIGEST_SIZE + 1 :])

    def _publish(self, kind: bytes, key: bytes, value: bytes) -> None:
        self._handlers[kind](key, value)
        self._broadcast(kind + key + value)

    def _on_answered(self, key: bytes, value: bytes) -> None:
        state = self._states.get(key)
        if state is not None and state.waiting:
            request_id, result = jsonrpc.decode(value)
            state.answer(request_id, result)

    def _on_cancelled(self, key: bytes, request: bytes) -> None:
        stop = self._calls.get(key, {}).get(request)
        if stop is not None:
            stop()

    def _on_ended(self, key: bytes, _value: bytes) -> None:
        _remember(self._ended, key, None)
        self._states.pop(key, None)
        if (file := self._state_file(key)) is not None:
            for each in file.parent.glob(f"{file.name}*"):
                each.unlink(missing_ok=True)
        for stop in list(self._calls.get(key, {}).values()):
            stop()
        if key in self._streams:
            self._streams[key][1]()

    def _on_level(self, key: bytes, value: bytes) -> None:
        for level in get_args(LogLevel):
            if level.encode() == value:
                _remember(self._levels, key, level)

    def _on_opened(self, key: bytes, page_id: bytes) -> None:
        if (listener := self._listeners.get(key)) is not None:
            listener(page_id.decode("ascii", "replace"))

    def _on_stream(self, key: bytes, value: bytes) -> None:
        opened, stop = self._streams.get(key, (None, None))
        if opened is not None and stop is not None and opened < int.from_bytes(value):
            stop()


class InFlight:
    """A context in which one call can be stopped by its session."""

    __slots__ = ("_calls", "_request", "_session", "_stop")

    def __init__(self, calls: dict[bytes, dict[bytes, Stop]], session: bytes, request: bytes, stop: Stop) -> None:
        self._calls = calls
        self._session = session
        self._request = request
        self._stop = stop

    def __enter__(self) -> None:
        self._calls.setdefault(self._session, {})[self._request] = self._stop

    def __exit__(self, *_: object) -> None:
        calls = self._calls.get(self._session, {})
        if calls.get(self._request) == self._stop:  # a client may have reused the id meanwhile
            del calls[self._request]
            if not calls:
                del self._calls[self._session]


def _remember(values: dict[bytes, _Value], key: bytes, value: _Value) -> None:
    values.pop(key, None)
    values[key] = value
    if len(values) > MAX_REMEMBERED_SESSIONS:
        del values[next(iter(values))]


def _key(session: Session) -> bytes:
    return _id_digest(session.id or "")


@lru_cache(MAX_REMEMBERED_SESSIONS)
def _id_digest(session_id: str) -> bytes:
    return _digest(session_id.encode())


def _request(request_id: jsonrpc.RequestId) -> bytes:
    text = repr(request_id).encode()  # repr distinguishes 1 from "1"
    return text if len(text) < _DIGEST_SIZE else _digest(text)


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()[:_DIGEST_SIZE]


SESSION: Final = "mcp-session-id"


class SessionManager:
    """The sessions of one endpoint."""

    def __init__(self, sessions: Sessions, store: SessionStore) -> None:
        self.store = store
        self._sessions = sessions

    def session(self, headers: Headers) -> Session:
        """Return the session of a request, an empty one if it names none.

        Raises HTTPError (404) for a session that is unknown or has ended. Its JSON-RPC code is that of an invalid
        request, the only one that fits; clients look at the status.
        """
        token = headers.get(SESSION)
        if token is None:
            return Session()
        session = self._sessions.read(token, subject())
        restored = None if session is None else self.store.restore(session)
        if restored is None:
            raise HTTPError(404, "This session is unknown or has ended; start another one with initialize.")
        return restored

    def apply(self, step: Step, session: Session) -> Fields:
        """Apply the effects of a message on its session; return the header fields that this adds to the response."""
        if step.opens_session:
            return [(SESSION.encode(), self._sessions.issue(step.session, subject()).encode())]
        if session.id is None:
            return []
        if step.session.log_level != session.log_level:
            self.store.set_level(step.session)
        for part in step.batch or (step,):
            if isinstance(part.action, Cancellation):
                self.store.cancel(session, part.action.request_id)
            elif isinstance(part.action, ClientAnswer):
                self.store.answer(session, part.action)
        return []

    def call_tracker(self, step: Step, session: Session) -> RegisterStop | None:
        """Return the way for a session to stop this message; None for a message that cannot be stopped.

        Tool calls can be, but not those of a batch: they have one response together, and finished calls of it stand.
        """
        if session.id is None or not isinstance(step.action, ToolCall):
            return None
        return partial(self.store.track_call, session, step.action.request_id)
