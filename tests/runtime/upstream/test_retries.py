"""`retries`: the policy by tables, then against a real server; no test really waits."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.errors import UpstreamError
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.runtime.upstream.retries import Retries, is_retryable, retry_after
from tests.runtime.echo import Echo, Recorded, answer, echoing

# Wed, 21 Oct 2015 07:28:00 GMT
NOW = 1445412480.0
SAFE = ("GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY")
UNSAFE = ("POST", "PATCH", "LINK", "get")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("7", 7),
        (" 120 ", 120),
        ("9" * 5000, float("9" * 18)),
        ("Wed, 21 Oct 2015 07:28:05 GMT", 5),
        ("Wednesday, 21-Oct-15 07:28:05 GMT", 5),
        ("Wed Oct 21 07:28:05 2015", 5),
        ("Wed, 21 Oct 2015 07:27:00 GMT", 0),
        (None, None),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("1.5", None),
        ("٣", None),
        ("Wed, 21 Oct 99999 07:28:05 GMT", None),
        ("Wed, 21 Oct 2015 07:28:05 +99999999999999", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


def wait(
    status: int, tried: int = 1, after: str | None = None, method: str = "GET", waited: float = 0.0, **policy: Any
) -> float | None:
    retries = Retries(clock=lambda: NOW, **{"jitter": lambda: 0.0} | policy)
    response = httpx.Response(status, headers={"Retry-After": after} if after else {})
    return retries.wait(method, response, tried, waited)


@pytest.mark.parametrize("method", [*SAFE, *UNSAFE])
def test_request_that_was_not_carried_out_is_retried_for_every_method(method: str) -> None:
    assert wait(429, method=method) == 0.5
    assert wait(503, method=method, after="2") == 2
    assert wait(503, method=method, after="Wed, 21 Oct 2015 07:28:03 GMT") == 3


@pytest.mark.parametrize("after", [None, "soon", "-1"])
def test_503_without_a_time_to_retry_is_retried_for_idempotent_methods_only(after: str | None) -> None:
    assert {method for method in (*SAFE, *UNSAFE) if wait(503, method=method, after=after) is not None} == set(SAFE)


@pytest.mark.parametrize("status", [200, 204, 304, 400, 401, 404, 408, 409, 425, 500, 501, 502, 504])
def test_other_statuses_are_not_retried(status: int) -> None:
    assert wait(status, after="1") is None


def test_waits_double_and_attempts_are_limited() -> None:
    assert [wait(503, tried) for tried in (1, 2, 3)] == [0.5, 1.0, None]
    assert [wait(503, tried, attempts=9, first_wait=4) for tried in (1, 2, 3)] == [4, 8, None]
    assert wait(503, attempts=1) is None
    assert wait(503, 5000, attempts=9999) is None


def test_all_waits_together_are_at_most_ten_seconds() -> None:
    assert [wait(429, after="4", waited=waited) for waited in (0, 6, 6.1, 9)] == [4, 4, None, None]
    assert [wait(503, waited=waited) for waited in (9.5, 9.6)] == [0.5, None]


def test_jitter_shortens_waits_by_up_to_a_half() -> None:
    assert wait(503, jitter=lambda: 0.5) == 0.375
    assert wait(503, jitter=lambda: 1.0) == 0.25
    assert len({Retries().wait("GET", httpx.Response(503), 1) for _ in range(20)}) > 1


@pytest.mark.parametrize(
    ("after", "seconds"),
    [
        ("0", 0),
        ("3", 3),
        ("10", 10),
        ("11", None),
        ("30", None),
        ("99999", None),
        ("Wed, 21 Oct 2015 07:28:02 GMT", 2),
        ("soon", 0.5),
    ],
)
def test_retry_after_is_honoured_up_to_the_maximal_wait(after: str, seconds: float | None) -> None:
    assert wait(429, after=after) == seconds


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


REFUSED = caused(httpx.ConnectError(""), ConnectionRefusedError())


@pytest.mark.parametrize(
    ("error", "methods"),
    [
        (REFUSED, (*SAFE, *UNSAFE)),  # nothing was sent
        (httpx.ReadError(""), SAFE),
        (httpx.WriteError(""), SAFE),
        (httpx.RemoteProtocolError("Server disconnected without sending a response."), SAFE),
        (caused(httpx.ConnectError(""), ssl.SSLCertVerificationError()), ()),
        (caused(httpx.ConnectError(""), socket.gaierror()), ()),
        (ssl.SSLError(), ()),
        (httpx.ConnectTimeout(""), ()),
        (httpx.ReadTimeout(""), ()),
        (httpx.WriteTimeout(""), ()),
        (httpx.PoolTimeout(""), ()),
        (httpx.ProxyError(""), ()),
        (httpx.LocalProtocolError(""), ()),
        (httpx.UnsupportedProtocol(""), ()),
    ],
)
def test_broken_connection_is_retried_only_if_the_effect_cannot_double(
    error: Exception, methods: tuple[str, ...]
) -> None:
    assert {method for method in (*SAFE, *UNSAFE) if is_retryable(method, error)} == set(methods)


@pytest.fixture
def echo() -> Iterator[Echo]:
    with echoing() as server:
        yield server


def answering(*replies: bytes) -> Callable[[Recorded], bytes | Iterator[bytes]]:
    """Return a responder with these replies in order; an empty one closes the connection."""
    remaining = iter(replies)
    return lambda _: next(remaining)


def sent(echo: Echo, method: str = "GET", path: str = "/", **upstream: Any) -> tuple[httpx.Response, list[float]]:
    """Send a request; return the response and the waits before it."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def send() -> httpx.Response:
        client = Upstream(retries=Retries(sleep=sleep, clock=lambda: NOW, jitter=lambda: 0.0), **upstream)
        try:
            return await client.send(httpx.Request(method, echo.url + path, content=b"body" * (method == "POST")))
        finally:
            await client.aclose()

    return asyncio.run(send()), waits


BUSY = answer(b"busy", status="503 Service Unavailable")
SLOWLY = answer(b"slowly", "Retry-After: 7", status="429 Too Many Requests")
LATER = answer(b"later", "Retry-After: 1", status="503 Service Unavailable")
DONE = answer(b"done")


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_bare_503_returns_at_once_for_a_method_that_is_not_idempotent(echo: Echo, method: str) -> None:
    echo.respond = answering(BUSY, DONE)
    response, waits = sent(echo, method)
    assert (response.content, waits, len(echo.requests)) == (b"busy", [], 1)


def test_waits_before_and_after_a_redirect_count_together(echo: Echo) -> None:
    moved = answer(b"", "Location: /result", status="303 See Other")
    echo.respond = answering(SLOWLY, moved, SLOWLY, DONE)
    response, waits = sent(echo, "POST", "/jobs")
    assert (response.status_code, waits, len(echo.requests)) == (429, [7.0], 3)


def test_retries_send_the_same_request(echo: Echo) -> None:
    echo.respond = answering(LATER, SLOWLY, DONE)
    response, waits = sent(echo, "POST", "/x?a=1")
    assert (response.content, waits) == (b"done", [1.0, 7.0])
    assert [(request_seen.method, request_seen.target, request_seen.body) for request_seen in echo.requests] == [
        ("POST", "/x?a=1", b"body")
    ] * 3


def test_last_attempt_returns_the_refusal(echo: Echo) -> None:
    echo.respond = answering(BUSY, BUSY, SLOWLY)
    response, waits = sent(echo)
    assert (response.status_code, response.content, waits) == (429, b"slowly", [0.5, 1.0])


def test_too_long_retry_after_returns_the_refusal_at_once(echo: Echo) -> None:
    echo.respond = answering(answer(b"later", "Retry-After: 3600", status="429 Too Many Requests"))
    response, waits = sent(echo)
    assert (response.content, waits, len(echo.requests)) == (b"later", [], 1)


def test_broken_connection_is_retried_for_get(echo: Echo) -> None:
    echo.respond = answering(b"", DONE)
    response, waits = sent(echo)
    assert (response.content, waits, len(echo.requests)) == (b"done", [0.5], 2)


def test_broken_connection_is_not_retried_for_post(echo: Echo) -> None:
    echo.respond = answering(b"", DONE)
    with pytest.raises(UpstreamError, match="closed the connection without an answer"):
        sent(echo, "POST")
    assert len(echo.requests) == 1


def test_truncated_response_is_not_retried(echo: Echo) -> None:
    echo.respond = lambda _: iter([b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"])
    with pytest.raises(UpstreamError, match="closed the connection early"):
        sent(echo)
    assert len(echo.requests) == 1


def test_refused_connection_is_retried_even_for_post() -> None:
    attempts: list[str] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        attempts.append(request.method)
        raise httpx.ConnectError("x") from ConnectionRefusedError()

    with pytest.raises(UpstreamError, match="refused the connection"):
        sent(Echo("http://api.test"), "POST", transport=httpx.MockTransport(refuse))
    assert attempts == ["POST"] * 3


def test_only_the_refused_hop_of_a_redirect_is_retried(echo: Echo) -> None:
    moved = answer(b"", "Location: /result", status="303 See Other")
    echo.respond = answering(moved, BUSY, DONE)
    assert sent(echo, "POST", "/jobs")[0].content == b"done"
    assert [(request_seen.method, request_seen.target) for request_seen in echo.requests] == [
        ("POST", "/jobs"),
        ("GET", "/result"),
        ("GET", "/result"),
    ]


def test_wait_beyond_the_total_timeout_is_not_started(echo: Echo) -> None:
    echo.respond = answering(SLOWLY)
    response, waits = sent(echo, total_timeout=6.9)
    assert (response.content, waits) == (b"slowly", [])


def test_total_timeout_covers_all_attempts(echo: Echo) -> None:
    async def forever(_: float) -> None:
        await asyncio.Event().wait()

    async def send() -> None:
        upstream = Upstream(total_timeout=0.3, retries=Retries(first_wait=0, sleep=forever))
        try:
            await upstream.send(httpx.Request("GET", echo.url))
        finally:
            await upstream.aclose()

    echo.respond = answering(BUSY, DONE)
    with pytest.raises(UpstreamError, match=r"did not finish within 0\.3 seconds"):
        asyncio.run(send())


def test_log_names_the_host_and_no_secret(echo: Echo, caplog: pytest.LogCaptureFixture) -> None:
    echo.respond = answering(b"", BUSY, DONE)
    with caplog.at_level("INFO", "openapi_mcp"):
        sent(echo, path="/x?key=secret")
    host = echo.url.removeprefix("http://")
    assert [record.getMessage() for record in caplog.records] == [
        f"{host}: attempt 1, IncompleteResponse; the next in 0.5 s",
        f"{host}: attempt 2, 503; the next in 1.0 s",
    ]
