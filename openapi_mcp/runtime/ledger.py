"""`Ledger`: what the processes of one server know of sessions beyond what their ids say, as far as it is remembered.

Which ended, what log level each asked for, and what is in flight for them here. Each process tells its siblings; other
replicas do not hear of it. Sessions and requests are known by digests, and memory is bounded: the oldest is forgotten.
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Final, TypeAlias, TypeVar, get_args

from .protocol import LogLevel, Session, jsonrpc

Stop: TypeAlias = Callable[[], object]
"""Ends one thing in flight; it does not wait for the end."""

Follow: TypeAlias = Callable[[Stop], AbstractContextManager[None]]
"""Calls what it is given if the session of some work has it stopped, within the block."""

REMEMBERED: Final = 10_000
"""Sessions whose end, and whose log level, are remembered: a megabyte of each."""

_DIGEST: Final = 16
_CANCELLED, _ENDED, _LEVEL, _STREAM = b"c", b"e", b"l", b"s"
_Value = TypeVar("_Value")


class Ledger:
    """The sessions of this process; `tell` reaches its siblings, whose messages come in through `hear`."""

    def __init__(self, tell: Callable[[bytes], None]) -> None:
        self._tell = tell
        self._ended: dict[bytes, None] = {}
        self._levels: dict[bytes, LogLevel] = {}
        self._calls: dict[bytes, dict[bytes, Stop]] = {}
        self._streams: dict[bytes, tuple[int, Stop]] = {}
        self._hearing: dict[bytes, Callable[[bytes, bytes], None]] = {
            _CANCELLED: self._on_cancelled,
            _ENDED: self._on_ended,
            _LEVEL: self._on_level,
            _STREAM: self._on_stream,
        }

    def recall(self, session: Session) -> Session | None:
        """The session with its log level; None where it has ended."""
        if not (self._ended or self._levels):
            return session
        key = _key(session)
        return None if key in self._ended else replace(session, log_level=self._levels.get(key))

    def set_level(self, session: Session) -> None:
        """Remember the log level that a session asked for."""
        self._announce(_LEVEL, _key(session), (session.log_level or "").encode())

    def cancel(self, session: Session, request_id: jsonrpc.RequestId) -> None:
        """Stop a call in flight, if there is one of that id."""
        self._announce(_CANCELLED, _key(session), _request(request_id))

    def end(self, session: Session) -> None:
        """End a session: its calls and its stream stop, and nothing more is done for it."""
        self._announce(_ENDED, _key(session), b"")

    def call(self, session: Session, request_id: jsonrpc.RequestId, stop: Stop) -> "InFlight":
        """`stop` is called if the session cancels this call, or ends, within the block."""
        return InFlight(self._calls, _key(session), _request(request_id), stop)

    @contextmanager
    def stream(self, session: Session, stop: Stop) -> Iterator[None]:
        """`stop` is called if the session begins a newer stream, in whatever process, or ends, within the block."""
        key, begun = _key(session), time.monotonic_ns()  # one clock for all processes of a machine
        self._announce(_STREAM, key, begun.to_bytes(8))
        self._streams[key] = (begun, stop)
        try:
            yield
        finally:
            if self._streams.get(key) == (begun, stop):
                del self._streams[key]

    def hear(self, message: bytes) -> None:
        """Do what a sibling says; what is not understood is ignored."""
        react = self._hearing.get(message[:1])
        if react is not None and len(message) > _DIGEST:
            react(message[1 : _DIGEST + 1], message[_DIGEST + 1 :])

    def _announce(self, kind: bytes, key: bytes, value: bytes) -> None:
        self._hearing[kind](key, value)
        self._tell(kind + key + value)

    def _on_cancelled(self, key: bytes, request: bytes) -> None:
        stop = self._calls.get(key, {}).get(request)
        if stop is not None:
            stop()

    def _on_ended(self, key: bytes, _value: bytes) -> None:
        _remember(self._ended, key, None)
        for stop in list(self._calls.get(key, {}).values()):
            stop()
        if key in self._streams:
            self._streams[key][1]()

    def _on_level(self, key: bytes, value: bytes) -> None:
        for level in get_args(LogLevel):
            if level.encode() == value:
                _remember(self._levels, key, level)

    def _on_stream(self, key: bytes, value: bytes) -> None:
        begun, stop = self._streams.get(key, (None, None))
        if begun is not None and stop is not None and begun < int.from_bytes(value):
            stop()


class InFlight:
    """One call among those in flight, as long as its context lasts."""

    __slots__ = ("_all", "_request", "_session", "_stop")

    def __init__(self, calls: dict[bytes, dict[bytes, Stop]], session: bytes, request: bytes, stop: Stop) -> None:
        self._all = calls
        self._session = session
        self._request = request
        self._stop = stop

    def __enter__(self) -> None:
        self._all.setdefault(self._session, {})[self._request] = self._stop

    def __exit__(self, *_: object) -> None:
        calls = self._all.get(self._session, {})
        if calls.get(self._request) == self._stop:  # a client may have used the id again meanwhile
            del calls[self._request]
            if not calls:
                del self._all[self._session]


def _remember(kept: dict[bytes, _Value], key: bytes, value: _Value) -> None:
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > REMEMBERED:
        del kept[next(iter(kept))]


def _key(session: Session) -> bytes:
    return _key_of(session.id or "")


@lru_cache(REMEMBERED)
def _key_of(session_id: str) -> bytes:
    return _digest(session_id.encode())


def _request(request_id: jsonrpc.RequestId) -> bytes:
    text = repr(request_id).encode()  # which tells 1 from "1"
    return text if len(text) < _DIGEST else _digest(text)


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()[:_DIGEST]
