"""Oracle for Streamable HTTP: the responses that the specification allows to any HTTP request, checked in its order.

Specification: basic/transports, "Streamable HTTP", of 2025-03-26 to 2026-07-28. As in `oracle`, nothing of openapi_mcp
is used, and where the specification leaves a choice, each alternative is accepted.
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
    SKILL,
    STATELESS,
    UNSUPPORTED,
    Answer,
    Batch,
    Expected,
    Rules,
    envelope,
    ids_in,
    is_id,
    read,
)

SESSION: Final = "mcp-session-id"
VERSION: Final = "mcp-protocol-version"
MIRRORED: Final = {"tools/call": "name", "resources/read": "uri", "tasks/get": "taskId"}
"""The member of the parameters that the header `Mcp-Name` repeats, by method."""
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
    "http://localhost:3000": False,
    "https://127.0.0.1": False,
    "http://pages.example": True,
    "https://pages.example:3000": True,
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
"""For each value of a header whether the server must accept it; tests send no other values."""

Headers = Mapping[str, str]


@dataclass(frozen=True)
class Case:
    """A complete, well-formed HTTP request. Header names are in lower case."""

    method: str
    headers: Headers
    body: bytes


@dataclass(frozen=True)
class Demand:
    """The required response: one of these statuses, and the messages of `expected` in a body or a stream."""

    status: tuple[int, ...]
    expected: tuple[Expected, ...] = ()
    stream: bool = False


def refusal(*status: int) -> Demand:
    """Return the demand of an error with one of these statuses and without the id of a request."""
    return Demand(status, (Answer(codes=ANY_CODE),))


def demand(case: Case, sessions: Mapping[str, str]) -> Demand:
    """Return the required response to a request; `sessions` are the session ids that the server issued, by revision."""
    headers = {name: value.strip(" \t") for name, value in case.headers.items()}
    revision = next((known for known, token in sessions.items() if token == headers.get(SESSION)), None)
    return _of_headers(case, headers, revision) or _of_body(case.body, headers, revision)


def _of_headers(case: Case, headers: Headers, revision: str | None) -> Demand | None:
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
    """Return the demand for a method other than POST, which only sessions of the handshake era support."""
    if SESSION not in headers or _claims_stateless(headers):
        return refusal(405)
    if method != "GET" or revision is None:
        return refusal(404, 405, 406)
    return Demand((200,), stream=True) if ACCEPTS[headers["accept"]] else refusal(406)


def _of_body(body: bytes, headers: Headers, revision: str | None) -> Demand:
    unknown_session = SESSION in headers and revision is None
    try:
        message = read(body)
    except (ValueError, RecursionError):
        return (
            Demand((400, 404), (Answer(codes=ANY_CODE, other_ids=ids_in(body)),))
            if unknown_session
            else Demand((400,), (Answer(codes=(PARSE,), other_ids=ids_in(body)),))
        )
    if _is_stateless(message, headers):
        return _of_request(message, headers) if _is_request(message) else _of_no_request(message, headers)
    return refusal(400, 404) if unknown_session else _in_session(message, headers, revision)


def _claims_stateless(headers: Headers) -> bool:
    return VERSION in headers and headers[VERSION] not in HANDSHAKE


def _is_stateless(message: Any, headers: Headers) -> bool:
    """Return whether a message is of 2026-07-28: by its `_meta`, or by a version header of no other era."""
    if isinstance(message, dict) and _is_request({"id": 0, **message}):
        negotiates = message["method"] == "initialize" and "id" in message  # a handshake, whatever its header
        return envelope(message) is not None or (_claims_stateless(headers) and not negotiates)
    return _claims_stateless(headers)


def _is_request(message: Any) -> bool:
    has_method = (
        isinstance(message, dict) and message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str)
    )
    return has_method and is_id(message.get("id"))


def _in_session(message: Any, headers: Headers, revision: str | None) -> Demand:
    """Return the demand for a message of the handshake era, of the revision of its header or session, or 2025-03-26."""
    expected = tuple(Rules(KNOWN, headers.get(VERSION) or revision or "2025-03-26", skill=SKILL).expected(message))
    if not expected or (isinstance(expected[0], Batch) and not expected[0].answers):
        return Demand((202,))
    return Demand(expected[0].status if expected[0].sure else (*expected[0].status, 202), expected)


def _of_no_request(message: Any, headers: Headers) -> Demand:
    """Return the demand for a notification, for an unrequested response, and for what is no message."""
    expected = tuple(Rules(KNOWN, skill=SKILL).expected(message))
    if expected:
        return Demand((400,) if expected[0].sure else (400, 202), expected)
    if "method" not in message:
        return refusal(400)
    served = headers.get(VERSION) in {None, STATELESS, *HANDSHAKE}
    return Demand((202,)) if served else Demand((400,), (Answer(codes=(UNSUPPORTED,)),))


def _of_request(message: dict[str, Any], headers: Headers) -> Demand:
    """Check required fields, then the headers that repeat them, then the version, then the method."""
    meta, answer = envelope(message), Rules(KNOWN, skill=SKILL).answer(message)
    if meta is None or (answer.codes, answer.status) == ((PARAMS,), (400,)):
        return Demand((400,), (Answer(message["id"], (PARAMS,)),))
    mirrored = {VERSION: meta[PREFIX + "protocolVersion"], "mcp-method": message["method"]}
    if isinstance(name := message["params"].get(MIRRORED.get(message["method"], "")), str):
        mirrored["mcp-name"] = name
    if any(_decoded(headers.get(each), each) != value for each, value in mirrored.items()):
        return Demand((400,), (Answer(message["id"], (MISMATCH,)),))
    if message["method"] in MIRRORED and "mcp-name" in headers and "mcp-name" not in mirrored:
        codes = (MISMATCH, PARAMS, UNSUPPORTED, *answer.codes)
        return Demand((200, 400, *answer.status), (Answer(message["id"], codes),))
    return Demand(answer.status, (answer,), stream=answer.acknowledges)


def _decoded(value: str | None, name: str) -> str | None:
    """Return the decoded value of a header; None if it has characters or an encoding that are not allowed."""
    if value is None or any(not " " <= character <= "~" and character != "\t" for character in value):
        return None
    if name != "mcp-name" or not (value.startswith("=?base64?") and value.endswith("?=") and len(value) > 10):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except ValueError:
        return None
