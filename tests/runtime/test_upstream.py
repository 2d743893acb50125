"""`upstream`: against a real server that answers, is silent, lies or goes away; every failure is one plain sentence."""

import asyncio
import gzip
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import httpx
import pytest

from openapi_mcp.runtime.errors import UpstreamError
from openapi_mcp.runtime.results import CUT_SHORT
from openapi_mcp.runtime.retries import Retries
from openapi_mcp.runtime.upstream import Upstream
from tests.runtime.echo import Echo, Recorded, answer, echoing

ONCE = Retries(attempts=1)


@pytest.fixture
def echo() -> Iterator[Echo]:
    with echoing() as server:
        yield server


def get(url: str, upstream: Upstream | None = None, method: str = "GET") -> httpx.Response:
    async def send() -> httpx.Response:
        used = upstream or Upstream(retries=ONCE)
        try:
            headers = {"Authorization": "Bearer secret", "X-Key": "secret", "Accept-Encoding": "gzip"}
            return await used.send(httpx.Request(method, url, headers=headers, content=b"body" * (method == "POST")))
        finally:
            await used.aclose()

    return asyncio.run(send())


def failure(url: str, upstream: Upstream | None = None) -> str:
    with pytest.raises(UpstreamError) as failed:
        get(url, upstream)
    assert "secret" not in str(failed.value)
    return str(failed.value)


def failing(error: Exception, cause: Exception | None = None) -> Upstream:
    def fail(_: httpx.Request) -> httpx.Response:
        raise error from cause

    return Upstream(transport=httpx.MockTransport(fail), retries=ONCE)


def test_an_answer_comes_with_status_headers_and_body(echo: Echo) -> None:
    echo.respond = lambda _: answer(b"hi", "Content-Type: text/plain", "X-A: 1", "X-A: 2", status="201 Made")
    got = get(f"{echo.url}/x")
    assert (got.status_code, got.reason_phrase, got.content) == (201, "Made", b"hi")
    assert got.headers.get_list("x-a") == ["1", "2"]
    assert got.request.url.path == "/x"
    assert not got.extensions.get(CUT_SHORT)


def test_a_compressed_answer_is_unpacked_once(echo: Echo) -> None:
    echo.respond = lambda _: answer(gzip.compress(b"hi" * 100), "Content-Encoding: gzip")
    got = get(echo.url)
    assert got.content == b"hi" * 100
    assert "content-encoding" not in got.headers


def test_the_headers_of_a_head_answer_are_kept(echo: Echo) -> None:
    echo.respond = lambda _: b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"
    assert get(echo.url, method="HEAD").headers["content-length"] == "5000"


def test_a_chunked_answer_is_put_together(echo: Echo) -> None:
    echo.respond = lambda _: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
    assert get(echo.url).content == b"abc"


def test_an_endless_answer_is_read_up_to_the_limit_and_marked(echo: Echo) -> None:
    def endless(_: Recorded) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        while True:
            yield b"x" * 10_000

    echo.respond = endless
    got = get(echo.url, Upstream(max_bytes=100_000))
    assert len(got.content) == 100_000
    assert got.extensions[CUT_SHORT]


def test_a_compressed_bomb_is_read_up_to_the_limit(echo: Echo) -> None:
    echo.respond = lambda _: answer(gzip.compress(b"\0" * 20_000_000), "Content-Encoding: gzip")
    got = get(echo.url, Upstream(max_bytes=1000))
    assert len(got.content) == 1000
    assert got.extensions[CUT_SHORT]


def test_cookies_of_one_answer_do_not_go_with_the_next_request(echo: Echo) -> None:
    echo.respond = lambda _: answer(b"", "Set-Cookie: session=another-user; Path=/")

    async def send() -> None:
        upstream = Upstream()
        for _ in range(2):
            await upstream.send(httpx.Request("GET", echo.url))
        await upstream.aclose()

    asyncio.run(send())
    assert [request.one("cookie") for request in echo.requests] == [None, None]


def test_a_user_in_the_url_is_sent_as_basic_credentials(echo: Echo) -> None:
    get(echo.url.replace("//", "//me:p%40ss@"))
    assert echo.last().all("authorization") == [b"Basic bWU6cEBzcw=="]


def redirecting(echo: Echo, location: str, status: str) -> None:
    echo.respond = lambda request: (
        answer(b"there") if request.target == "/there" else answer(b"", f"Location: {location}", status=status)
    )


def test_a_redirect_to_the_same_origin_keeps_everything(echo: Echo) -> None:
    redirecting(echo, "/there", "307 Temporary Redirect")
    assert get(f"{echo.url}/x", method="POST").content == b"there"
    seen = echo.last()
    assert (seen.method, seen.target, seen.body) == ("POST", "/there", b"body")
    assert (seen.one("authorization"), seen.one("x-key")) == ("Bearer secret", "secret")


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_a_redirect_to_another_origin_goes_without_credentials(echo: Echo, status: str) -> None:
    with echoing() as other:
        other.respond = lambda _: answer(b"elsewhere")
        redirecting(echo, f"{other.url}/there", status)
        assert get(f"{echo.url}/x", method="POST").content == b"elsewhere"
        seen = other.last()
        assert b"secret" not in b"".join(value for _, value in seen.headers)
        assert seen.body == (b"body" if status[:3] in {"307", "308"} else b"")


def test_a_chain_of_redirects_back_to_the_first_origin_stays_without_credentials(echo: Echo) -> None:
    with echoing() as other:
        redirecting(echo, f"{other.url}/back", "302 Found")
        other.respond = lambda _: answer(b"", f"Location: {echo.url}/there", status="302 Found")
        assert get(f"{echo.url}/x").content == b"there"
        assert echo.last().one("authorization") is None


def test_a_loop_of_redirects_ends(echo: Echo) -> None:
    redirecting(echo, "/x", "302 Found")
    assert "redirects more than 5 times" in failure(f"{echo.url}/x")
    assert len(echo.requests) == 6


def test_a_silent_server_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        sentence = failure(f"http://{host}/x?key=secret", Upstream(read_timeout=0.3))
    assert sentence == f"The API at {host} did not answer within 0.3 seconds."


def test_a_server_that_never_ends_is_given_up_in_total() -> None:
    async def drip() -> AsyncIterator[bytes]:
        yield b"x"
        await asyncio.Event().wait()

    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=drip()))
    sentence = failure("http://api.test/x", Upstream(transport=transport, total_timeout=0.05))
    assert sentence == "The API at api.test was not done after 0.05 seconds."


def test_an_event_stream_that_never_ends_is_what_came_within_the_read_timeout(echo: Echo) -> None:
    echo.respond = lambda _: answer(b"data: 1\n\n", "Content-Type: text/event-stream").replace(
        b"Content-Length: 9", b"Content-Length: 900"
    )
    got = get(echo.url, Upstream(read_timeout=0.3))
    assert (got.content, got.extensions[CUT_SHORT]) == (b"data: 1\n\n", True)


def test_an_event_stream_without_events_is_given_up(echo: Echo) -> None:
    echo.respond = lambda _: b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\n"
    assert "did not answer within 0.3 seconds" in failure(echo.url, Upstream(read_timeout=0.3))


def test_a_port_where_nothing_listens_refuses() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        host = f"127.0.0.1:{free.getsockname()[1]}"
    assert failure(f"http://{host}/x?key=secret") == f"{host} refused the connection; is the API running there?"


@contextmanager
def saying(words: bytes) -> Iterator[str]:
    """A server that says these words to whoever connects first; yields where it is."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def say() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(words)
                connection.recv(65536)

        thread = threading.Thread(target=say, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join(10)


def test_a_server_without_tls_is_no_secure_connection() -> None:
    with saying(b"HTTP/1.1 400 Bad Request\r\n\r\n") as host:
        assert failure(f"https://{host}/x").startswith(f"No secure connection to {host}: ")


@pytest.mark.parametrize(
    "reply",
    [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf", b"SSH-2.0-OpenSSH_9.6\r\n\r\n"],
)
def test_a_server_that_breaks_off_or_speaks_something_else(echo: Echo, reply: bytes) -> None:
    echo.respond = lambda _: iter([reply])
    host = echo.url.removeprefix("http://")
    assert failure(f"{echo.url}/x") == f"The API at {host} broke the connection off, or what it sent is not HTTP."


def test_a_body_that_is_not_compressed_as_it_says(echo: Echo) -> None:
    echo.respond = lambda _: answer(b"not gzip", "Content-Encoding: gzip")
    assert "not compressed as its Content-Encoding says" in failure(echo.url)


UNTRUSTED = ssl.SSLCertVerificationError(1, "certificate verify failed")
UNTRUSTED.verify_message = "self-signed certificate"


@pytest.mark.parametrize(
    ("upstream", "sentence"),
    [
        (
            failing(httpx.ConnectError("x"), socket.gaierror(-2, "Name or service not known")),
            "The host api.test is not known; is the base URL right?",
        ),
        (failing(httpx.ConnectError("x"), UNTRUSTED), "No secure connection to api.test: self-signed certificate."),
        (
            failing(httpx.ConnectError("x"), ExceptionGroup("all", [OSError(), ConnectionRefusedError()])),
            "api.test refused the connection; is the API running there?",
        ),
        (failing(httpx.ConnectError("x"), OSError("no route")), "api.test cannot be reached."),
        (failing(httpx.ConnectTimeout("x")), "No connection to api.test within 10 seconds."),
        (failing(httpx.PoolTimeout("x")), "Too many calls to api.test are under way; none ended within 60 seconds."),
        (failing(httpx.WriteTimeout("x")), "The API at api.test did not take the request within 60 seconds."),
        (failing(httpx.ProxyError("secret")), "The proxy did not pass the request on to api.test."),
        (failing(httpx.ReadError("x")), "The connection to api.test broke off."),
        (
            failing(httpx.LocalProtocolError("Illegal header value b'secret'")),
            "The request cannot be sent: one of its headers is not allowed in HTTP.",
        ),
        (failing(httpx.UnsupportedProtocol("secret")), "The API at api.test could not be asked (UnsupportedProtocol)."),
    ],
)
def test_each_failure_is_one_sentence_without_secrets(upstream: Upstream, sentence: str) -> None:
    assert failure("https://user:secret@api.test/secret?key=secret", upstream) == sentence


def test_a_cancelled_call_closes_its_connection() -> None:
    async def cancel() -> None:
        upstream = Upstream()
        started, closed = asyncio.Event(), asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            started.set()
            await reader.read()  # to the end: the client went away
            closed.set()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        call = asyncio.create_task(upstream.send(httpx.Request("GET", f"http://127.0.0.1:{port}/")))
        await started.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(closed.wait(), 10)
        await upstream.aclose()
        server.close()

    asyncio.run(cancel())
