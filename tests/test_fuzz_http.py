"""Bad peers over HTTP: whatever request comes, it gets the status and the answer it has to, and the next one too.

The command itself serves here, in a process of its own, so that all that stands before the protocol is there as well.
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
    demanded,
)
from tests.servers import running

TOOLS: Final = ["getJob", "listJobs", "createJob", "unknown"]
LEFT_OUT: Final = ["followJob", "hearOfJob", "awaitJob"]
"""Tools whose answers would have to be waited for."""


@dataclass(frozen=True)
class Endpoint:
    """Where the server is, and a session of it for each revision."""

    host: str
    port: int
    path: str
    sessions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, url: str) -> "Endpoint":
        """The endpoint of a URL."""
        parts = urlsplit(url)
        one = cls(parts.hostname or "", parts.port or 80, parts.path)
        one.sessions.update({revision: one.session(revision) for revision in HANDSHAKE})
        return one

    def session(self, revision: str) -> str:
        """A session that begins now."""
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

    def is_there(self, connection: http.client.HTTPConnection) -> bool:
        """Whether a question is answered on this connection, which begins anew if it was closed."""
        message = json.dumps({"jsonrpc": "2.0", "id": "there?", "method": "ping"})
        connection.request("POST", self.path, message, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return (response.status, json.loads(response.read())["id"]) == (200, "there?")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with running(Workshop().app) as api:
        options = ["--watch", "--max-body-bytes", str(MAX_BODY)]
        options += [word for name in LEFT_OUT for word in ("--exclude", name)]
        with serving_http(command(CLIENTS / "workshop.yaml", api, *options)) as url:
            yield Endpoint.at(url)


def usually(table: Mapping[str, bool]) -> st.SearchStrategy[str]:
    """The first of a table, and now and then any of them."""
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
    """The headers that say what a message says."""
    try:
        message = read(body)
    except (ValueError, RecursionError):
        return {}
    meta = envelope(message)
    if meta is None:
        return {}
    name = message["params"].get("name")
    said = {VERSION: meta[PREFIX + "protocolVersion"], "mcp-method": message.get("method"), "mcp-name": name}
    return {key: sendable(value) for key, value in said.items() if isinstance(value, str)}


def damaged_mirrors(right: dict[str, str]) -> st.SearchStrategy[dict[str, str]]:
    """The same with some missing, and with some that say something else."""
    kept = st.sets(st.sampled_from(sorted(right))) if right else st.just(set[str]())
    return st.builds(lambda names, others: {name: right[name] for name in names} | others, kept, OTHER_MIRRORS)


@st.composite
def cases(draw: st.DrawFn, sessions: Mapping[str, str]) -> Case:
    """Requests that are right in most things."""
    body = draw(bodies(TOOLS))
    method = draw(weighted((8, st.just("POST")), (1, st.sampled_from(VERBS)), (8, st.just("POST"))))
    tokens = [*([] if method == "DELETE" else sessions.values()), "x", "", *(f"{each}x" for each in sessions.values())]
    right = mirrors(body)
    maybe = {
        "origin": draw(sometimes(st.sampled_from([*ORIGINS]))),
        SESSION: draw(sometimes(st.sampled_from(tokens))),
        "host": draw(usually(HOSTS)),
        "content-type": draw(usually(CONTENT_TYPES)),
        "accept": draw(usually(ACCEPTS)),
        **draw(weighted((2, st.just(right)), (1, damaged_mirrors(right)))),
    }
    return Case(method, {name: value for name, value in maybe.items() if value is not None}, body)


def check(case: Case, endpoint: Endpoint, connection: http.client.HTTPConnection) -> None:
    """Send a request and judge what comes back."""
    demand = demanded(case, endpoint.sessions)
    response = send(case, endpoint, connection)
    assert response.status in demand.status, response.read()
    assert response.status != 405 or "POST" in response.headers["allow"]
    told = streamed(response) if demand.stream and response.status == 200 else whole(response)
    if case.method != "HEAD":  # whose answers have no body
        assert unmatched(demand.wanted if response.status != 202 else (), told) == []
        begun = any(isinstance(each, dict) and "protocolVersion" in (each.get("result") or {}) for each in told)
        assert (SESSION in response.headers) == begun
    if demand.stream:
        connection.close()


def send(case: Case, endpoint: Endpoint, connection: http.client.HTTPConnection) -> http.client.HTTPResponse:
    connection.putrequest(case.method, endpoint.path, skip_host=True, skip_accept_encoding=True)
    for name, value in case.headers.items():
        connection.putheader(name, value.encode("latin-1"))
    connection.putheader("Content-Length", str(len(case.body)))
    connection.endheaders(case.body)
    return connection.getresponse()


def whole(response: http.client.HTTPResponse) -> list[object]:
    """The answer, if there is one; without what was said before it to a session that asked for log messages."""
    body = response.read()
    if response.headers.get("content-type") == "text/event-stream":
        *before, answer = (json.loads(line[6:]) for line in body.splitlines() if line.startswith(b"data: "))
        assert {each["method"] for each in before} == {"notifications/message"}
        return [answer]
    assert not body or response.headers["content-type"] == "application/json"
    return [json.loads(body)] if body else []


def streamed(response: http.client.HTTPResponse) -> list[object]:
    """The messages with which a stream begins, up to its first empty line."""
    assert response.headers["content-type"] == "text/event-stream"
    lines = iter(lambda: response.readline().rstrip(b"\r\n"), b"")
    return [json.loads(line[6:]) for line in lines if line.startswith(b"data: ")]


@given(data=st.data())
def test_each_request_gets_the_status_and_the_answer_it_has_to(data: st.DataObject, endpoint: Endpoint) -> None:
    case = data.draw(cases(endpoint.sessions))
    with closing(endpoint.connect()) as connection:
        check(case, endpoint, connection)
        assert endpoint.is_there(connection)


LIST: Final = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
RIGHT: Final = (
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n"
)
REQUESTS: Final = [
    RIGHT + b"Content-Length: %d\r\n\r\n" % len(LIST) + LIST,
    RIGHT + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(LIST) + LIST + b"\r\n0\r\n\r\n",
    RIGHT + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(LIST) + LIST,
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
    """Requests, one after the other, of which bytes were replaced by others that mean something in HTTP."""
    data = b"".join(draw(st.lists(st.sampled_from(REQUESTS), min_size=1, max_size=3)))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = start + draw(st.sampled_from([0, 0, 0, 1, 2, 40]))
        data = data[:start] + draw(st.sampled_from(MISCHIEF) | st.binary(max_size=4)) + data[end:]
    return data


LINE: Final = re.compile(rb"HTTP/1\.1 (\d{3}) [^\r\n]*\r\n")
BROKEN: Final = {b"100", b"200", b"202", b"400", b"403", b"404", b"405", b"406", b"408", b"413", b"415", b"421", b"431"}
"""Statuses that a mangled request may be answered with: never a failure of the server."""


@given(data=mangled(), cut=st.integers(0, 400))
def test_a_request_that_is_no_http_is_refused_and_the_next_one_answered(
    data: bytes, cut: int, endpoint: Endpoint
) -> None:
    with socket.create_connection((endpoint.host, endpoint.port), timeout=20) as client:
        said = said_to(client, [data[:cut], data[cut:]])
    first = LINE.match(said)
    assert not said or (first and first[1] in BROKEN)
    with closing(endpoint.connect()) as connection:
        assert endpoint.is_there(connection)


def said_to(client: socket.socket, parts: Sequence[bytes]) -> bytes:
    """All that a server says to bytes and their end, which is sent once it has begun to, or seems to wait for more."""
    said = bytearray()
    with contextlib.suppress(OSError):  # who is refused early may find the door shut
        for part in parts:
            client.sendall(part)
        select.select([client], [], [], 0.02)
        client.shutdown(socket.SHUT_WR)
        while chunk := client.recv(65536):
            said += chunk
    return bytes(said)
