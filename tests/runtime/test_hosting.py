"""What a listening process does with clients that are slow or say too much, and with signals."""

import os
import select
import signal
import socket
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openapi_mcp.runtime.connections import MAX_AHEAD
from openapi_mcp.runtime.door import MAX_HEADER_BYTES
from tests.runtime.hosted import Hosted, hosted
from tests.runtime.test_http_sessions import until
from tests.servers import running

TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
NOBODY = "http://127.0.0.1:1"
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
REQUEST = HEAD + b"Content-Length: %d\r\n\r\n" % len(PING) + PING
PATIENCE = 0.3
NARROW = (socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)


@pytest.fixture(scope="module", params=["httptools", "h11"])
def impatient(request: pytest.FixtureRequest) -> Iterator[Hosted]:
    """A server that waits for nobody long, with either of the parsers that uvicorn has."""
    without = {"httptools": "", "h11": "httptools"}[request.param]
    with hosted(NOBODY, patience=PATIENCE, without=without, receive_timeout=PATIENCE, max_body_bytes=1000) as program:
        yield program


def connect(program: Hosted, *options: tuple[int, int, int]) -> socket.socket:
    address = httpx.URL(program.base)
    client = socket.socket()
    for option in options:
        client.setsockopt(*option)
    client.settimeout(20)
    client.connect((address.host, address.port or 80))
    return client


def rest(client: socket.socket) -> bytes:
    """All that comes until the server closes."""
    received = b""
    while chunk := client.recv(65536):
        received += chunk
    return received


def answers(client: socket.socket, number: int = 1) -> bytes:
    """The answers to so many pings."""
    received = b""
    while received.count(b'"result":{}}') < number:
        chunk = client.recv(65536)
        assert chunk, received
        received += chunk
    return received


def test_a_whole_request_is_answered_however_it_is_cut(impatient: Hosted) -> None:
    with closing(connect(impatient)) as client:
        for number in range(len(REQUEST)):
            client.sendall(REQUEST[number : number + 1])
        assert answers(client).startswith(b"HTTP/1.1 200 OK\r\n")
        client.sendall(REQUEST + REQUEST)
        assert answers(client, 2).count(b"200 OK") == 2


def test_who_says_nothing_is_dropped(impatient: Hosted) -> None:
    with closing(connect(impatient)) as client:
        assert rest(client) == b""


@pytest.mark.parametrize("begun", [b"P", b"POST /mcp HTTP/1.1\r\nHo", HEAD])
def test_who_does_not_finish_the_headers_is_told_and_dropped(impatient: Hosted, begun: bytes) -> None:
    with closing(connect(impatient)) as client:
        client.sendall(begun)
        assert rest(client).startswith(b"HTTP/1.1 408 ")
    with closing(connect(impatient)) as client:
        client.sendall(REQUEST)
        answers(client)
        client.sendall(begun)
        assert rest(client).startswith(b"HTTP/1.1 408 ")


def test_who_does_not_finish_the_body_is_told_and_dropped(impatient: Hosted) -> None:
    with closing(connect(impatient)) as client:
        client.sendall(REQUEST[:-1])
        received = rest(client)
        assert received.startswith(b"HTTP/1.1 408 ")
        assert b'"error"' in received


def test_what_is_refused_early_need_not_be_sent_but_the_connection_is_not_kept_for_it(impatient: Hosted) -> None:
    with closing(connect(impatient)) as client:
        client.sendall(HEAD + b"Content-Length: 1001\r\n\r\n")
        assert rest(client).startswith(b"HTTP/1.1 413 ")


def test_headers_without_an_end_are_refused(impatient: Hosted) -> None:
    with closing(connect(impatient)) as client:
        client.sendall(HEAD + b"X: ")
        received = b""
        try:
            for _ in range(64):
                client.sendall(b"x" * (MAX_HEADER_BYTES // 32))
            received = rest(client)
        except ConnectionError:  # it was closed under what is still sent
            received = received or b"HTTP/1.1 4"
        assert received.startswith(b"HTTP/1.1 4")
    assert httpx.get(f"{impatient.base}/health").text == "ok\n"


def test_many_headers_are_refused(impatient: Hosted) -> None:
    many = {f"x-{number}": "x" for number in range(101)}
    for headers in (many, {"x-long": "x" * MAX_HEADER_BYTES}):
        refused = httpx.post(f"{impatient.base}/mcp", content=PING, headers=headers)
        assert refused.status_code in {400, 431}


def test_who_sends_on_without_reading_is_dropped(impatient: Hosted) -> None:
    with closing(connect(impatient, NARROW)) as client, pytest.raises(ConnectionError):
        client.sendall(REQUEST * 100_000)
    assert httpx.get(f"{impatient.base}/health").text == "ok\n"


def test_who_does_not_read_is_dropped() -> None:
    async def huge(_request: Request) -> Response:
        return JSONResponse([{"name": "Minka" * 50_000}])

    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"listPets"}}'
    request = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with (
        running(Starlette(routes=[Route("/pets", huge)])) as api,
        hosted(api, patience=PATIENCE) as program,
        closing(connect(program, NARROW)) as client,
    ):
        client.sendall(request * MAX_AHEAD)  # their answers are more than what lies between can hold
        watch = select.poll()
        watch.register(client, 0)
        ((_, seen),) = watch.poll(20_000)
        assert seen & (select.POLLERR | select.POLLHUP)


def test_answers_do_not_say_what_serves_them(impatient: Hosted) -> None:
    assert "server" not in httpx.get(f"{impatient.base}/health").headers


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_well(workers: int, number: signal.Signals) -> None:
    with hosted(NOBODY, workers) as program, program.clients(workers) as clients:
        assert all(client.get("/health").text == "ok\n" for client in clients)
        program.stop(number)  # `hosted` sees how it ends


def test_a_process_that_dies_is_replaced() -> None:
    with hosted(NOBODY, 2) as program, program.clients(2) as (client, other):
        died = client.get("/health").headers["x-process"]
        os.kill(int(died), signal.SIGKILL)
        with program.clients(2) as clients:  # there are two again
            assert died not in {each.get("/health").headers["x-process"] for each in clients}
        assert other.get("/health").text == "ok\n"


def test_a_process_that_is_still_starting_hears_sighup_later() -> None:
    with hosted(NOBODY, 2) as program:
        until(program.listens)  # one of them does; the other may not have begun
        for _ in range(20):
            program.process.send_signal(signal.SIGHUP)
        with program.clients(2) as clients:
            for client in clients:
                until(lambda: len(client.post("/mcp", json=TOOLS).json()["result"]["tools"]) == 3)  # noqa: B023
