"""`Upstream` against a real server that answers, is silent, misbehaves or disconnects; each failure is one sentence."""

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
from openapi_mcp.runtime.upstream.client import TRUNCATED, Upstream
from openapi_mcp.runtime.upstream.retries import Retries
from tests.runtime.echo import Echo, Recorded, answer, echoing

ONCE = Retries(attempts=1)


@pytest.fixture
def echo() -> Iterator[Echo]:
    with echoing() as server:
        yield server


def get(url: str, upstream: Upstream | None = None, method: str = "GET") -> httpx.Response:
    async def send() -> httpx.Response:
        client = upstream or Upstream(retries=ONCE)
        try:
            headers = {"Authorization": "Bearer secret", "X-Key": "secret", "Accept-Encoding": "gzip"}
            return await client.send(httpx.Request(method, url, headers=headers, content=b"body" * (method == "POST")))
        finally:
            await client.aclose()

    return asyncio.run(send())


def failure(url: str, upstream: Upstream | None = None) -> str:
    with pytest.raises(UpstreamError) as failure_info:
        get(url, upstream)
    assert "secret" not in str(failure_info.value)
    return str(failure_info.value)


def failing(error: Exception, cause: Exception | None = None) -> Upstream:
    def fail(_: httpx.Request) -> httpx.Response:
        raise error from cause

    return Upstream(transport=httpx.MockTransport(fail), retries=ONCE)


def test_response_has_status_headers_and_body(echo: Echo) -> None:
    echo.respond = lambda _: answer(b"hi", "Content-Type: text/plain", "X-A: 1", "X-A: 2", status="201 Made")
    response = get(f"{echo.url}/x")
    assert (response.status_code, response.reason_phrase, response.content) == (201, "Made", b"hi")
    assert response.headers.get_list("x-a") == ["1", "2"]
    assert response.request.url.path == "/x"
    assert not response.extensions.get(TRUNCATED)


def test_compressed_response_is_decompressed_once(echo: Echo) -> None:
    echo.respond = lambda _: answer(gzip.compress(b"hi" * 100), "Content-Encoding: gzip")
    response = get(echo.url)
    assert response.content == b"hi" * 100
    assert "content-encoding" not in response.headers


def test_head_response_keeps_its_headers(echo: Echo) -> None:
    echo.respond = lambda _: b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"
    assert get(echo.url, method="HEAD").headers["content-length"] == "5000"


def test_chunked_response_is_joined(echo: Echo) -> None:
    echo.respond = lambda _: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
    assert get(echo.url).content == b"abc"


def test_endless_response_is_truncated_at_the_limit_and_marked(echo: Echo) -> None:
    def endless(_: Recorded) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        while True:
            yield b"x" * 10_000

    echo.respond = endless
    response = get(echo.url, Upstream(max_bytes=100_000))
    assert len(response.content) == 100_000
    assert response.extensions[TRUNCATED]


def test_decompression_stops_at_the_limit(echo: Echo) -> None:
    echo.respond = lambda _: answer(gzip.compress(b"\0" * 20_000_000), "Content-Encoding: gzip")
    response = get(echo.url, Upstream(max_bytes=1000))
    assert len(response.content) == 1000
    assert response.extensions[TRUNCATED]


def test_cookies_are_not_sent_with_the_next_request(echo: Echo) -> None:
    echo.respond = lambda _: answer(b"", "Set-Cookie: session=another-user; Path=/")

    async def send() -> None:
        upstream = Upstream()
        for _ in range(2):
            await upstream.send(httpx.Request("GET", echo.url))
        await upstream.aclose()

    asyncio.run(send())
    assert [request.one("cookie") for request in echo.requests] == [None, None]


def test_user_in_url_is_sent_as_basic_credentials(echo: Echo) -> None:
    get(echo.url.replace("//", "//me:p%40ss@"))
    assert echo.last().all("authorization") == [b"Basic bWU6cEBzcw=="]


def redirecting(echo: Echo, location: str, status: str) -> None:
    echo.respond = lambda request: (
        answer(b"there") if request.target == "/there" else answer(b"", f"Location: {location}", status=status)
    )


def test_redirect_to_same_origin_keeps_credentials_and_body(echo: Echo) -> None:
    redirecting(echo, "/there", "307 Temporary Redirect")
    assert get(f"{echo.url}/x", method="POST").content == b"there"
    forwarded = echo.last()
    assert (forwarded.method, forwarded.target, forwarded.body) == ("POST", "/there", b"body")
    assert (forwarded.one("authorization"), forwarded.one("x-key")) == ("Bearer secret", "secret")


STATUSES = ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"]


@pytest.mark.parametrize("status", STATUSES)
def test_redirect_to_another_origin_is_the_response(echo: Echo, status: str) -> None:
    with echoing() as other:
        redirecting(echo, f"{other.url}/there", status)
        response = get(f"{echo.url}/x", method="POST")
        assert (response.status_code, response.headers["location"]) == (int(status[:3]), f"{other.url}/there")
        assert (len(echo.requests), other.requests) == (1, [])


@pytest.mark.parametrize("status", STATUSES)
def test_redirect_to_a_named_host_sends_no_credentials(echo: Echo, status: str) -> None:
    with echoing() as other:
        other.respond = lambda _: answer(b"elsewhere")
        redirecting(echo, f"{other.url}/there", status)
        upstream = Upstream(follow_redirects_to=[other.url.removeprefix("http://")])
        assert get(f"{echo.url}/x", upstream, method="POST").content == b"elsewhere"
        forwarded = other.last()
        assert b"secret" not in b"".join(value for _, value in forwarded.headers)
        assert forwarded.body == (b"body" if status[:3] in {"307", "308"} else b"")


def test_redirect_back_to_the_first_origin_sends_no_credentials(echo: Echo) -> None:
    with echoing() as other:
        redirecting(echo, f"{other.url}/back", "302 Found")
        other.respond = lambda _: answer(b"", f"Location: {echo.url}/there", status="302 Found")
        upstream = Upstream(follow_redirects_to=[other.url.removeprefix("http://")])
        assert get(f"{echo.url}/x", upstream).content == b"there"
        assert echo.last().one("authorization") is None


def test_redirect_loop_is_an_error(echo: Echo) -> None:
    redirecting(echo, "/x", "302 Found")
    assert "redirects more than 5 times" in failure(f"{echo.url}/x")
    assert len(echo.requests) == 6


def test_silent_server_is_a_read_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        sentence = failure(f"http://{host}/x?key=secret", Upstream(read_timeout=0.3))
    assert sentence == f"The API at {host} did not answer within 0.3 seconds."


def test_endless_response_is_a_total_timeout() -> None:
    async def drip() -> AsyncIterator[bytes]:
        yield b"x"
        await asyncio.Event().wait()

    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=drip()))
    sentence = failure("http://api.test/x", Upstream(transport=transport, total_timeout=0.05))
    assert sentence == (
        "The call of the API at api.test did not finish within 0.05 seconds (`--total-timeout`): "
        "the body of the response (200) was still arriving, 1 byte so far."
    )


def test_endless_event_stream_is_truncated_at_the_read_timeout(echo: Echo) -> None:
    echo.respond = lambda _: answer(b"data: 1\n\n", "Content-Type: text/event-stream").replace(
        b"Content-Length: 9", b"Content-Length: 900"
    )
    response = get(echo.url, Upstream(read_timeout=0.3))
    assert response.content == b"data: 1\n\n"
    assert response.extensions[TRUNCATED] == "The API's stream goes on; only its first 9 bytes were read."


def test_event_stream_without_events_is_a_read_timeout(echo: Echo) -> None:
    echo.respond = lambda _: b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\n"
    assert "did not answer within 0.3 seconds" in failure(echo.url, Upstream(read_timeout=0.3))


def test_closed_port_is_a_refused_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        host = f"127.0.0.1:{free.getsockname()[1]}"
    assert failure(f"http://{host}/x?key=secret") == f"{host} refused the connection; is the API running there?"


@contextmanager
def sending(data: bytes) -> Iterator[str]:
    """Run a server that sends these bytes to the first client; yield its host and port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def send_data() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(data)
                connection.recv(65536)

        thread = threading.Thread(target=send_data, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join(10)


def test_server_without_tls_is_no_secure_connection() -> None:
    with sending(b"HTTP/1.1 400 Bad Request\r\n\r\n") as host:
        assert failure(f"https://{host}/x").startswith(f"No secure connection to {host}: ")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (b"", "closed the connection without an answer."),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf",
            "closed the connection early: it sent 4 of the 50 bytes of its response.",
        ),
        (
            b"HTTP/1.1 201 Made\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
            "closed the connection early: the body of its response ended without its last chunk.",
        ),
        (
            b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
            "sent something that is not HTTP/1.1: it does not begin with HTTP/1.1 or HTTP/1.0.",
        ),
    ],
)
def test_truncated_or_non_http_response_is_an_error(echo: Echo, reply: bytes, reason: str) -> None:
    echo.respond = lambda _: iter([reply])
    status = reply[9:12].decode() if reply.startswith(b"HTTP") else ""
    note = f" The status of its response is {status}." if status else ""
    assert failure(f"{echo.url}/x") == f"The API at {echo.url.removeprefix('http://')} {reason}{note}"


def test_wrong_content_encoding_is_an_error(echo: Echo) -> None:
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
        (failing(httpx.PoolTimeout("x")), "Too many calls to api.test are in progress; none ended within 60 seconds."),
        (failing(httpx.WriteTimeout("x")), "The API at api.test did not accept the request within 60 seconds."),
        (failing(httpx.ProxyError("secret")), "The proxy did not pass the request on to api.test."),
        (failing(httpx.ReadError("x")), "The connection to api.test broke off."),
        (
            failing(httpx.LocalProtocolError("Illegal header value b'secret'")),
            "The request cannot be sent: one of its headers is not allowed in HTTP.",
        ),
        (
            failing(httpx.UnsupportedProtocol("secret")),
            "The request to the API at api.test failed (UnsupportedProtocol).",
        ),
    ],
)
def test_failure_is_one_sentence_without_secrets(upstream: Upstream, sentence: str) -> None:
    assert failure("https://user:secret@api.test/secret?key=secret", upstream) == sentence


def test_cancelled_call_closes_its_connection() -> None:
    async def cancel() -> None:
        upstream = Upstream()
        started, closed = asyncio.Event(), asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            started.set()
            await reader.read()  # until the client closes the connection
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
