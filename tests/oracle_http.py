"""What the specification demands as the answer to an HTTP request, whatever it is; the checks in the order it gives.

Specification: basic/transports, "Streamable HTTP", of 2025-03-26 to 2026-07-28. As in `oracle`, nothing of openapi_mcp
is used, and where there is a choice each of its ends is taken.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.oracle import (
    HANDSHAKE,
    INTERNAL,
    INVALID,
    METHOD,
    MISMATCH,
    PARAMS,
    PARSE,
    PREFIX,
    STATELESS,
    UNSUPPORTED,
    Answer,
    Batch,
    Rules,
    Wanted,
    envelope,
    is_id,
    read,
)

SESSION: Final = "mcp-session-id"
VERSION: Final = "mcp-protocol-version"
KNOWN: Final = frozenset({"getJob", "listJobs", "createJob"})
MAX_BODY: Final = 40_000
ANY_CODE: Final = (PARSE, INVALID, METHOD, PARAMS, INTERNAL)

HOSTS: Final = {
    "localhost": True,
    "127.0.0.1": True,
    "localhost:80": True,
    "LOCALHOST": True,
    "[::1]:8000": True,
    "": False,
    "evil.example": False,
    "127.0.0.1.evil.example": False,
    "localhost@evil.example": False,
    "[::2]": False,
}
ORIGINS: Final = {
    "http://localhost:3000": True,
    "https://127.0.0.1": True,
    "null": False,
    "": False,
    "http://evil.example": False,
    "http://localhost.evil.example": False,
    "localhost": False,
}
CONTENT_TYPES: Final = {
    "application/json": True,
    "Application/JSON; charset=utf-8": True,
    "text/plain": False,
    "": False,
    "application/json-patch+json": False,
    "text/json": False,
    "multipart/form-data; boundary=application/json": False,
}
ACCEPTS: Final = {
    "application/json, text/event-stream": True,
    "*/*": True,
    "text/event-stream;q=0.1, text/html": True,
    "text/html": False,
    "image/*": False,
}
"""Whether each may come in; tests send no others."""

Headers = Mapping[str, str]


@dataclass(frozen=True)
class Case:
    """A request, whole and well formed as HTTP. Names of headers are in lower case."""

    method: str
    headers: Headers
    body: bytes


@dataclass(frozen=True)
class Demand:
    """What must come back: one of these statuses, and where a message must, one of `wanted`; perhaps as a stream."""

    status: tuple[int, ...]
    wanted: tuple[Wanted, ...] = ()
    stream: bool = False


def refusal(*status: int) -> Demand:
    """An error of one of these statuses that names no request."""
    return Demand(status, (Answer(codes=ANY_CODE),))


def demanded(case: Case, sessions: Mapping[str, str]) -> Demand:
    """What must come back to a request; `sessions` are the session ids that were given out, by revision."""
    headers = {name: value.strip(" \t") for name, value in case.headers.items()}
    revision = next((known for known, token in sessions.items() if token == headers.get(SESSION)), None)
    return _at_the_door(case, headers, revision) or _of_body(case.body, headers, revision)


def _at_the_door(case: Case, headers: Headers, revision: str | None) -> Demand | None:
    if not HOSTS[headers["host"]]:
        return refusal(400, 403, 421)
    if "origin" in headers and not ORIGINS[headers["origin"]]:
        return refusal(403)
    if case.method != "POST":
        return _of_other_method(case.method, headers, revision)
    if not CONTENT_TYPES[headers["content-type"]]:
        return refusal(415)
    if not ACCEPTS[headers["accept"]]:
        return refusal(406)
    return refusal(413) if len(case.body) > MAX_BODY else None


def _of_other_method(method: str, headers: Headers, revision: str | None) -> Demand:
    """Only sessions of the handshake era have any use for a method other than POST."""
    if SESSION not in headers or _claims_stateless(headers):
        return refusal(405)
    if method != "GET" or revision is None:
        return refusal(404, 405, 406)
    return Demand((200,), stream=True) if ACCEPTS[headers["accept"]] else refusal(406)


def _of_body(body: bytes, headers: Headers, revision: str | None) -> Demand:
    lost = SESSION in headers and revision is None
    try:
        message = read(body)
    except (ValueError, RecursionError):
        return refusal(400, 404) if lost else Demand((400,), (Answer(codes=(PARSE,)),))
    if _is_stateless(message, headers):
        return _of_request(message, headers) if _is_request(message) else _of_no_request(message, headers)
    return refusal(400, 404) if lost else _in_session(message, headers, revision)


def _claims_stateless(headers: Headers) -> bool:
    return VERSION in headers and headers[VERSION] not in HANDSHAKE


def _is_stateless(message: Any, headers: Headers) -> bool:
    """Whether a message is of 2026-07-28: it says so itself, or its header says a version of no other era."""
    if isinstance(message, dict) and _is_request({"id": 0, **message}):
        greets = message["method"] == "initialize" and "id" in message  # which is what settles the version
        return envelope(message) is not None or (_claims_stateless(headers) and not greets)
    return _claims_stateless(headers)


def _is_request(message: Any) -> bool:
    right = isinstance(message, dict) and message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str)
    return right and is_id(message.get("id"))


def _in_session(message: Any, headers: Headers, revision: str | None) -> Demand:
    """A message of the handshake era speaks what its header or its session says, or else 2025-03-26."""
    wanted = tuple(Rules(KNOWN, headers.get(VERSION) or revision or "2025-03-26").wanted(message))
    if not wanted or (isinstance(wanted[0], Batch) and not wanted[0].answers):
        return Demand((202,))
    return Demand(wanted[0].status if wanted[0].sure else (*wanted[0].status, 202), wanted)


def _of_no_request(message: Any, headers: Headers) -> Demand:
    """Notifications, answers, which nobody asked for, and what is no message at all."""
    wanted = tuple(Rules(KNOWN).wanted(message))
    if wanted:
        return Demand((400,) if wanted[0].sure else (400, 202), wanted)
    if "method" not in message:
        return refusal(400)
    served = headers.get(VERSION) in {None, STATELESS, *HANDSHAKE}
    return Demand((202,)) if served else Demand((400,), (Answer(codes=(UNSUPPORTED,)),))


def _of_request(message: dict[str, Any], headers: Headers) -> Demand:
    """Required fields, then the headers that mirror them, then the version, then what is asked."""
    meta, answer = envelope(message), Rules(KNOWN).answer(message)
    if meta is None or (answer.codes, answer.status) == ((PARAMS,), (400,)):
        return Demand((400,), (Answer(message["id"], (PARAMS,)),))
    said = {VERSION: meta[PREFIX + "protocolVersion"], "mcp-method": message["method"]}
    if message["method"] == "tools/call" and isinstance(name := message["params"].get("name"), str):
        said["mcp-name"] = name
    if any(_meaning(headers.get(each), each) != value for each, value in said.items()):
        return Demand((400,), (Answer(message["id"], (MISMATCH,)),))
    if message["method"] == "tools/call" and "mcp-name" in headers and "mcp-name" not in said:
        return Demand((200, 400), (Answer(message["id"], (MISMATCH, PARAMS, UNSUPPORTED)),))
    return Demand(answer.status, (answer,), stream=answer.acknowledges)


def _meaning(value: str | None, name: str) -> str | None:
    """What a header says; nothing where it has what no header may have, or is encoded wrongly."""
    if value is None or any(not " " <= character <= "~" and character != "\t" for character in value):
        return None
    if name != "mcp-name" or not (value.startswith("=?base64?") and value.endswith("?=") and len(value) > 10):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except ValueError:
        return None
