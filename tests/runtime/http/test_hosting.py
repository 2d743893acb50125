"""Listening processes: slow clients, oversized requests, signals, and the private parts of uvicorn."""

import asyncio
import os
import select
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn.server import ServerState
from uvicorn.supervisors import Multiprocess

from openapi_mcp.runtime.http import hosting, supervisor
from openapi_mcp.runtime.http.access import MAX_HEADER_BYTES
from openapi_mcp.runtime.http.connections import MAX_PIPELINED_REQUESTS, TimeoutProtocol
from tests.runtime.hosted import Hosted, hosted
from tests.runtime.http.test_sessions_of_clients import until
from tests.runtime.pets import PetApi
from tests.servers import running

pytestmark = pytest.mark.process

TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
NO_API = "http://127.0.0.1:1"
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
REQUEST = HEAD + b"Content-Length: %d\r\n\r\n" % len(PING) + PING
TIMEOUT = 0.3
NARROW = (socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)


@pytest.fixture(scope="module", params=["httptools", "h11"])
def strict(request: pytest.FixtureRequest) -> Iterator[Hosted]:
    """A server with short timeouts, with each of the parsers that uvicorn supports."""
    without = {"httptools": "", "h11": "httptools"}[request.param]
    with hosted(NO_API, timeout=TIMEOUT, without=without, receive_timeout=TIMEOUT, max_body_bytes=1000) as program:
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
    """Receive until the server closes."""
    received = b""
    while chunk := client.recv(65536):
        received += chunk
    return received


def answers(client: socket.socket, number: int = 1) -> bytes:
    """Receive the responses to so many pings."""
    received = b""
    while received.count(b'"result":{}}') < number:
        chunk = client.recv(65536)
        assert chunk, received
        received += chunk
    return received


def test_complete_request_is_answered_in_any_fragmentation(strict: Hosted) -> None:
    with closing(connect(strict)) as client:
        for number in range(len(REQUEST)):
            client.sendall(REQUEST[number : number + 1])
        assert answers(client).startswith(b"HTTP/1.1 200 OK\r\n")
        client.sendall(REQUEST + REQUEST)
        assert answers(client, 2).count(b"200 OK") == 2


def test_silent_client_is_dropped(strict: Hosted) -> None:
    with closing(connect(strict)) as client:
        assert rest(client) == b""


@pytest.mark.parametrize("start", [b"P", b"POST /mcp HTTP/1.1\r\nHo", HEAD])
def test_unfinished_headers_are_408(strict: Hosted, start: bytes) -> None:
    with closing(connect(strict)) as client:
        client.sendall(start)
        assert rest(client).startswith(b"HTTP/1.1 408 ")
    with closing(connect(strict)) as client:
        client.sendall(REQUEST)
        answers(client)
        client.sendall(start)
        assert rest(client).startswith(b"HTTP/1.1 408 ")


def test_unfinished_body_is_408(strict: Hosted) -> None:
    with closing(connect(strict)) as client:
        client.sendall(REQUEST[:-1])
        received = rest(client)
        assert received.startswith(b"HTTP/1.1 408 ")
        assert b'"error"' in received


def test_connection_closes_after_an_early_413_with_an_unfinished_body(strict: Hosted) -> None:
    with closing(connect(strict)) as client:
        client.sendall(HEAD + b"Content-Length: 1001\r\n\r\n")
        assert rest(client).startswith(b"HTTP/1.1 413 ")


def test_endless_headers_are_refused(strict: Hosted) -> None:
    with closing(connect(strict)) as client:
        client.sendall(HEAD + b"X: ")
        received = b""
        try:
            for _ in range(64):
                client.sendall(b"x" * (MAX_HEADER_BYTES // 32))
            received = rest(client)
        except ConnectionError:  # it was closed while the client still sent
            received = received or b"HTTP/1.1 4"
        assert received.startswith(b"HTTP/1.1 4")
    assert httpx.get(f"{strict.base}/health").text == "ok\n"


def test_many_or_long_headers_are_431_or_400(strict: Hosted) -> None:
    many = {f"x-{number}": "x" for number in range(101)}
    for headers in (many, {"x-long": "x" * MAX_HEADER_BYTES}):
        refused = httpx.post(f"{strict.base}/mcp", content=PING, headers=headers)
        assert refused.status_code in {400, 431}


@pytest.mark.parametrize("surplus", [1, 100, 5000])
def test_requests_before_one_too_many_are_answered(strict: Hosted, surplus: int) -> None:
    with closing(connect(strict)) as client:
        client.sendall(REQUEST * (MAX_PIPELINED_REQUESTS + surplus))
        received = answers(client, MAX_PIPELINED_REQUESTS)
        assert received.count(b"HTTP/1.1 200 OK") == received.count(b"HTTP/1.1 ")
        client.shutdown(socket.SHUT_WR)
        assert rest(client).replace(b"HTTP/1.1 200 OK", b"").count(b"HTTP/1.1 ") == 0


@pytest.mark.parametrize(
    "start", [b"nonsense\r\n\r\n", HEAD + b"Content-Length: x\r\n\r\n", b"POST /mcp HTTP/1.1\r\nHo"]
)
def test_requests_before_one_that_is_wrong_or_unfinished_are_answered(strict: Hosted, start: bytes) -> None:
    with closing(connect(strict)) as client:
        client.sendall(REQUEST * 3 + start)
        received = rest(client)
        assert received.count(b'"result":{}}') == 3
        assert received.rpartition(b'"result":{}}')[2].count(b"HTTP/1.1 4") <= 1


def test_requests_before_one_with_a_wrong_body_are_answered(strict: Hosted) -> None:
    wrong = HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"
    with closing(connect(strict)) as client:
        client.sendall(REQUEST * 3 + wrong)
        received = rest(client)
        assert received.count(b'"result":{}}') == 3
        assert received.count(b"HTTP/1.1 400") == 1


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n" % len(PING) + PING + b"\r\n0\r\n"


def test_fields_behind_a_body_change_nothing(strict: Hosted) -> None:
    with closing(connect(strict)) as client:
        client.sendall(CHUNKED + b"Origin: https://evil.example\r\nMcp-Session-Id: x\r\n\r\n" + REQUEST)
        assert answers(client, 2).count(b'"result":{}}') == 2


def test_fields_behind_a_body_are_limited_like_those_before_it(strict: Hosted) -> None:
    with closing(connect(strict)) as client:
        with suppress(ConnectionError):  # the server closes before it has read all
            client.sendall(CHUNKED + b"A: b\r\n" * 200_000)
        with suppress(ConnectionError):
            assert b'"result":{}}' not in rest(client)
    assert httpx.get(f"{strict.base}/health").text == "ok\n"


def test_message_in_chunks_of_a_byte_is_answered(strict: Hosted) -> None:
    with closing(connect(strict)) as client:
        client.sendall(in_chunks_of_a_byte(PING))
        assert answers(client).startswith(b"HTTP/1.1 200 OK\r\n")


def test_body_in_more_small_chunks_than_a_message_has_is_refused() -> None:
    with hosted(NO_API) as program, closing(connect(program)) as client:
        with suppress(ConnectionError):  # the server closes before it has read all
            client.sendall(in_chunks_of_a_byte(PING + b" " * 10_000))
        response = rest(client)
        assert response.startswith(b"HTTP/1.1 400 ")
        assert b"chunks of less than 256 bytes" in response


def in_chunks_of_a_byte(body: bytes) -> bytes:
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    return HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"


@pytest.mark.parametrize(
    ("request_head", "reason"),
    [
        (HEAD.replace(b"/mcp", b"/mcp?" + b"%2e" * 3000), b"path and query"),
        (HEAD + b"a:\r\n" * 5000, b"header fields"),
    ],
)
def test_head_that_takes_long_to_parse_is_refused(request_head: bytes, reason: bytes) -> None:
    with hosted(NO_API) as program, closing(connect(program)) as client:
        client.sendall(request_head + b"\r\n")
        response = rest(client)
        assert response.startswith(b"HTTP/1.1 400 ")
        assert reason in response


@pytest.mark.slow
def test_client_that_sends_without_reading_is_dropped(strict: Hosted) -> None:
    with closing(connect(strict, NARROW)) as client, pytest.raises(ConnectionError):
        client.sendall(REQUEST * 100_000)
    assert httpx.get(f"{strict.base}/health").text == "ok\n"


def test_client_that_does_not_read_is_dropped() -> None:
    async def huge(_request: Request) -> Response:
        return JSONResponse([{"name": "Minka" * 50_000}])

    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"listPets"}}'
    request = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with (
        running(Starlette(routes=[Route("/pets", huge)])) as api,
        hosted(api, timeout=TIMEOUT) as program,
        closing(connect(program, NARROW)) as client,
    ):
        client.sendall(request * MAX_PIPELINED_REQUESTS)  # their responses exceed all buffers in between
        watch = select.poll()
        watch.register(client, 0)
        ((_, seen),) = watch.poll(20_000)
        assert seen & (select.POLLERR | select.POLLHUP)


def test_idle_connections_of_an_address_are_closed_where_they_are_too_many() -> None:
    with hosted(NO_API, files=400) as program, ExitStack() as stack:
        idle = [stack.enter_context(closing(connect(program))) for _ in range(50)]
        busy = stack.enter_context(closing(connect(program)))
        busy.sendall(REQUEST[:-1])
        more = [stack.enter_context(closing(connect(program))) for _ in range(300)]
        assert rest(idle[0]) == b""
        assert program.listens()
        more[-1].sendall(REQUEST)
        assert answers(more[-1]).startswith(b"HTTP/1.1 200 OK")
        busy.sendall(REQUEST[-1:])
        assert answers(busy).startswith(b"HTTP/1.1 200 OK")


async def make_connection() -> asyncio.Protocol:
    """Make a protocol as uvicorn does for each connection."""
    config = hosting.server_config(Starlette())
    config.load()
    connection: asyncio.Protocol = config.http_protocol_class(
        config=config, server_state=ServerState(), app_state={}, _loop=asyncio.get_running_loop()
    )
    return connection


PARSERS = {"httptools": "_httptools_connection", "h11": "_h11_connection"}


@pytest.mark.parametrize("parser", PARSERS)
def test_installed_uvicorn_has_the_private_parts_that_connections_need(
    parser: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "_connection_class", getattr(hosting, PARSERS[parser]))
    connection = asyncio.run(make_connection())
    assert isinstance(connection, TimeoutProtocol)
    assert connection.part() == ("head" if parser == "httptools" else None)


@pytest.mark.parametrize("parser", PARSERS)
def test_uvicorn_without_a_private_part_serves_with_its_own_protocol(
    parser: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kind = getattr(hosting, PARSERS[parser])()
    monkeypatch.setattr(kind, "required", (*kind.required, "absent"))
    monkeypatch.setattr(hosting, "_connection_class", lambda: kind)
    hosting._warn_once.cache_clear()
    connection = asyncio.run(make_connection())
    assert not isinstance(connection, TimeoutProtocol)
    assert isinstance(connection, asyncio.Protocol)
    assert "absent" in caplog.text


def test_installed_uvicorn_has_the_methods_that_the_supervisor_overrides() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = hosting.server_config(Starlette, workers=2)
        assert isinstance(supervisor.supervise(config, listener), supervisor.Supervisor)


def test_uvicorn_without_such_a_method_supervises_by_itself(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervisor.Supervisor, "required", ("absent",))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        own = supervisor.supervise(hosting.server_config(Starlette, workers=2), listener)
    assert isinstance(own, Multiprocess)
    assert not isinstance(own, supervisor.Supervisor)
    assert "absent" in caplog.text


def test_responses_have_no_server_header(strict: Hosted) -> None:
    assert "server" not in httpx.get(f"{strict.base}/health").headers


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_the_server_with_exit_code_0(workers: int, number: signal.Signals) -> None:
    with hosted(NO_API, workers) as program, program.clients(workers) as clients:
        assert all(client.get("/health").text == "ok\n" for client in clients)
        program.stop(number)  # `hosted` checks the exit code


def test_worker_that_dies_is_replaced() -> None:
    with hosted(NO_API, 2) as program, program.clients(2) as (client, other):
        dead_process = client.get("/health").headers["x-process"]
        os.kill(int(dead_process), signal.SIGKILL)
        with program.clients(2) as clients:  # two again
            assert dead_process not in {each.get("/health").headers["x-process"] for each in clients}
        assert other.get("/health").text == "ok\n"


@pytest.mark.parametrize("busy", [False, True])
def test_workers_end_when_their_parent_is_killed(busy: bool) -> None:
    api = PetApi()
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait"}}
    with (
        running(api.app) as url,
        ThreadPoolExecutor() as pool,
        hosted(url, 2) as program,
        program.clients(2) as clients,
    ):
        waiting = pool.submit(clients[0].post, "/mcp", json=call) if busy else None
        assert not busy or api.waiting.wait(10)
        program.stop(signal.SIGKILL)
        program.process.wait(10)
        api.may_answer.set()
        if waiting is not None:
            assert waiting.result().status_code == 200
        until(lambda: not program.listens())


def test_starting_worker_handles_sighup_once_it_is_ready() -> None:
    with hosted(NO_API, 2) as program:
        until(program.listens)  # one of them does; the other may not have start
        for _ in range(20):
            program.process.send_signal(signal.SIGHUP)
        with program.clients(2) as clients:
            for client in clients:
                until(lambda: len(client.post("/mcp", json=TOOLS).json()["result"]["tools"]) == 3)  # noqa: B023
