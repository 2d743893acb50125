"""Hostile HTTP clients: every request gets the status and the answer that the specification requires, as the next one.

`openapi-mcp serve` runs in a process, so that the HTTP server in front of the protocol is tested too.
"""

import base64
import contextlib
import http.client
import json
import re
import select
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.workshop import Workshop
from tests.command import command, serving_http
from tests.conftest import CLIENTS
from tests.hostile import METHODS, REVISIONS, bodies, weighted
from tests.oracle import HANDSHAKE, PREFIX, envelope, read, unmatched
from tests.oracle_http import (
    ACCEPTS,
    CONTENT_TYPES,
    HOSTS,
    MAX_BODY,
    ORIGINS,
    SESSION,
    VERSION,
    Case,
    demand,
)
from tests.servers import running

TOOLS: Final = ["getJob", "listJobs", "createJob", "unknown"]
EXCLUDED: Final = ["followJob", "hearOfJob", "awaitJob"]
"""Tools whose answers take long or never come."""


@dataclass(frozen=True)
class Endpoint:
    """The address of the server, and one of its sessions for each revision."""

    host: str
    port: int
    path: str
    sessions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, url: str) -> "Endpoint":
        """Return the endpoint at a URL, after it has begun the sessions."""
        parts = urlsplit(url)
        endpoint = cls(parts.hostname or "", parts.port or 80, parts.path)
        endpoint.sessions.update({revision: endpoint.session(revision) for revision in HANDSHAKE})
        return endpoint

    def session(self, revision: str) -> str:
        """Begin a session; return its id."""
        params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        with closing(self.connect()) as connection:
            connection.request("POST", self.path, json.dumps(message), {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
        token: str = response.headers[SESSION]
        return token

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host, self.port, timeout=20)

    def answers_ping(self, connection: http.client.HTTPConnection) -> bool:
        """Return whether a ping is answered on this connection, which is opened again if it was closed."""
        message = json.dumps({"jsonrpc": "2.0", "id": "ping", "method": "ping"})
        connection.request("POST", self.path, message, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return (response.status, json.loads(response.read())["id"]) == (200, "ping")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with running(Workshop().app) as api:
        options = ["--watch", "--max-body-bytes", str(MAX_BODY), "--allow-origin", "pages.example"]
        options += [word for name in EXCLUDED for word in ("--exclude", name)]
        with serving_http(command(CLIENTS / "workshop.yaml", api, *options)) as url:
            yield Endpoint.at(url)


def usually(table: Mapping[str, bool]) -> st.SearchStrategy[str]:
    """Draw the first value of a table, and one time in 17 any of them."""
    return weighted((8, st.just(next(iter(table)))), (1, st.sampled_from([*table])), (8, st.just(next(iter(table)))))


def sometimes(values: st.SearchStrategy[str]) -> st.SearchStrategy[str | None]:
    return weighted((5, st.none()), (1, values), (4, st.none()))


def encoded(name: str) -> str:
    return f"=?base64?{base64.b64encode(name.encode('utf-8', 'replace')).decode()}?="


def sendable(value: str) -> str:
    return value if value.isascii() and value.isprintable() and value == value.strip() else encoded(value)


VISIBLE: Final = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_categories=["Cc"]), max_size=20)
VERBS: Final = ["GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "PROPFIND"]
OTHER_MIRRORS: Final = st.fixed_dictionaries(
    {},
    optional={
        VERSION: st.sampled_from(REVISIONS) | VISIBLE,
        "mcp-method": st.sampled_from(METHODS) | VISIBLE,
        "mcp-name": st.sampled_from([*TOOLS, encoded("getJob"), "=?base64?Z2V0Sm9i", "=?base64?!?="]) | VISIBLE,
    },
)


def mirrors(body: bytes) -> dict[str, str]:
    """Return the headers that must repeat values of a message."""
    try:
        message = read(body)
    except (ValueError, RecursionError):
        return {}
    meta = envelope(message)
    if meta is None:
        return {}
    name = message["params"].get("uri" if message.get("method") == "resources/read" else "name")
    values = {VERSION: meta[PREFIX + "protocolVersion"], "mcp-method": message.get("method"), "mcp-name": name}
    return {key: sendable(value) for key, value in values.items() if isinstance(value, str)}


def damaged_mirrors(correct: dict[str, str]) -> st.SearchStrategy[dict[str, str]]:
    """Draw such headers with some missing and some changed."""
    remaining = st.sets(st.sampled_from(sorted(correct))) if correct else st.just(set[str]())
    return st.builds(lambda names, others: {name: correct[name] for name in names} | others, remaining, OTHER_MIRRORS)


@st.composite
def cases(draw: st.DrawFn, sessions: Mapping[str, str]) -> Case:
    """Draw requests that are valid in most respects."""
    body = draw(bodies(TOOLS))
    method = draw(weighted((8, st.just("POST")), (1, st.sampled_from(VERBS)), (8, st.just("POST"))))
    tokens = [*([] if method == "DELETE" else sessions.values()), "x", "", *(f"{each}x" for each in sessions.values())]
    correct = mirrors(body)
    headers = {
        "origin": draw(sometimes(st.sampled_from([*ORIGINS]))),
        SESSION: draw(sometimes(st.sampled_from(tokens))),
        "host": draw(usually(HOSTS)),
        "content-type": draw(usually(CONTENT_TYPES)),
        "accept": draw(usually(ACCEPTS)),
        **draw(weighted((2, st.just(correct)), (1, damaged_mirrors(correct)))),
    }
    return Case(method, {name: value for name, value in headers.items() if value is not None}, body)


def check(case: Case, endpoint: Endpoint, connection: http.client.HTTPConnection) -> None:
    """Send a request and compare its response with the demand of the oracle."""
    required = demand(case, endpoint.sessions)
    response = send(case, endpoint, connection)
    assert response.status in required.status, response.read()
    assert response.status != 405 or "POST" in response.headers["allow"]
    is_stream = required.stream and response.status == 200
    messages = stream_messages(response) if is_stream else body_messages(response)
    if case.method != "HEAD":  # a response to HEAD has no body
        assert unmatched(required.expected if response.status != 202 else (), messages) == []
        begins = any(isinstance(each, dict) and "protocolVersion" in (each.get("result") or {}) for each in messages)
        assert (SESSION in response.headers) == begins
    if required.stream:
        connection.close()


def send(case: Case, endpoint: Endpoint, connection: http.client.HTTPConnection) -> http.client.HTTPResponse:
    connection.putrequest(case.method, endpoint.path, skip_host=True, skip_accept_encoding=True)
    for name, value in case.headers.items():
        connection.putheader(name, value.encode("latin-1"))
    connection.putheader("Content-Length", str(len(case.body)))
    connection.endheaders(case.body)
    return connection.getresponse()


def body_messages(response: http.client.HTTPResponse) -> list[object]:
    """Return the answer, if there is one, without the log messages before it in a session that requested them."""
    body = response.read()
    if response.headers.get("content-type") == "text/event-stream":
        *logs, answer = (json.loads(line[6:]) for line in body.splitlines() if line.startswith(b"data: "))
        assert {each["method"] for each in logs} <= {"notifications/message"}
        return [answer]
    assert not body or response.headers["content-type"] == "application/json"
    return [json.loads(body)] if body else []


def stream_messages(response: http.client.HTTPResponse) -> list[object]:
    """Return the messages at the beginning of a stream, up to its first empty line."""
    assert response.headers["content-type"] == "text/event-stream"
    lines = iter(lambda: response.readline().rstrip(b"\r\n"), b"")
    return [json.loads(line[6:]) for line in lines if line.startswith(b"data: ")]


@pytest.mark.process
@given(data=st.data())
def test_every_request_gets_the_required_status_and_answer(data: st.DataObject, endpoint: Endpoint) -> None:
    case = data.draw(cases(endpoint.sessions))
    with closing(endpoint.connect()) as connection:
        check(case, endpoint, connection)
        assert endpoint.answers_ping(connection)


LIST: Final = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
VALID: Final = (
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n"
)
REQUESTS: Final = [
    VALID + b"Content-Length: %d\r\n\r\n" % len(LIST) + LIST,
    VALID + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(LIST) + LIST + b"\r\n0\r\n\r\n",
    VALID + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(LIST) + LIST,
    b"GET /health HTTP/1.0\r\n\r\n",
]
MISCHIEF: Final = [
    *(b"\r\n", b"\r", b"\n", b"\0", b"\xff", b" ", b":", b"\t", b"%00", b"/../", b"\r\n\r\n", b"\r\n "),
    *(b"Content-Length: 1\r\n", b"Content-Length: -1\r\n", b"Content-Length: 99999999999999999999\r\n"),
    *(b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip, chunked\r\n", b"Host: evil.example\r\n"),
    *(b"Upgrade: websocket\r\nConnection: Upgrade\r\n", b"Upgrade: h2c\r\n", b"Connection: close\r\n"),
    *(
        b"X: " + b"x" * 70_000 + b"\r\n",
        b"X: x\r\n" * 150,
        b"Mcp-Session-Id: \xe2\x82\xac\r\n",
        b"HTTP/9.9",
        b"ffffffffff\r\n",
    ),
]


@st.composite
def mangled(draw: st.DrawFn) -> bytes:
    """Draw several requests in a row and replace some of their bytes by others that have a meaning in HTTP."""
    data = b"".join(draw(st.lists(st.sampled_from(REQUESTS), min_size=1, max_size=3)))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = start + draw(st.sampled_from([0, 0, 0, 1, 2, 40]))
        data = data[:start] + draw(st.sampled_from(MISCHIEF) | st.binary(max_size=4)) + data[end:]
    return data


LINE: Final = re.compile(rb"HTTP/1\.1 (\d{3}) [^\r\n]*\r\n")
REFUSALS: Final = {
    b"100",
    b"200",
    b"202",
    b"400",
    b"403",
    b"404",
    b"405",
    b"406",
    b"408",
    b"413",
    b"415",
    b"421",
    b"431",
}
"""Statuses that a mangled request may be answered with, none of them a failure of the server."""


@pytest.mark.process
@given(data=mangled(), cut=st.integers(0, 400))
def test_malformed_http_is_refused_and_the_next_request_answered(data: bytes, cut: int, endpoint: Endpoint) -> None:
    with socket.create_connection((endpoint.host, endpoint.port), timeout=20) as client:
        received = exchange(client, [data[:cut], data[cut:]])
    first = LINE.match(received)
    assert not received or (first and first[1] in REFUSALS)
    with closing(endpoint.connect()) as connection:
        assert endpoint.answers_ping(connection)


def exchange(client: socket.socket, parts: Sequence[bytes]) -> bytes:
    """Send bytes, and their end after the first answer or 20 ms; return all that the server sent."""
    received = bytearray()
    with contextlib.suppress(OSError):  # the server closes the connection of a request that it refuses early
        for part in parts:
            client.sendall(part)
        select.select([client], [], [], 0.02)
        client.shutdown(socket.SHUT_WR)
        while chunk := client.recv(65536):
            received += chunk
    return bytes(received)
