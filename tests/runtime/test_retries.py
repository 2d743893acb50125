"""`retries`: the policy by tables, then the whole of it against a real server; nothing here really waits."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.errors import UpstreamError
from openapi_mcp.runtime.retries import Retries, may_repeat, retry_after
from openapi_mcp.runtime.upstream import Upstream
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


def wait(status: int, tried: int = 1, after: str | None = None, method: str = "GET", **policy: Any) -> float | None:
    retries = Retries(clock=lambda: NOW, **{"chance": lambda: 0.0} | policy)
    response = httpx.Response(status, headers={"Retry-After": after} if after else {})
    return retries.wait(method, response, tried)


@pytest.mark.parametrize("method", [*SAFE, *UNSAFE])
def test_what_was_refused_is_asked_again_whatever_the_method(method: str) -> None:
    assert wait(429, method=method) == 0.5
    assert wait(503, method=method) == 0.5


@pytest.mark.parametrize("status", [200, 204, 304, 400, 401, 404, 408, 409, 425, 500, 501, 502, 504])
def test_any_other_answer_stands(status: int) -> None:
    assert wait(status, after="1") is None


def test_waits_grow_and_there_are_few_attempts() -> None:
    assert [wait(503, tried) for tried in (1, 2, 3)] == [0.5, 1.0, None]
    assert [wait(503, tried, attempts=9, first_wait=4) for tried in (1, 4, 5, 8)] == [4, 30, 30, 30]
    assert wait(503, attempts=1) is None


def test_waits_differ_by_chance_but_never_by_more_than_half() -> None:
    assert wait(503, chance=lambda: 0.5) == 0.375
    assert wait(503, chance=lambda: 1.0) == 0.25
    assert len({Retries().wait("GET", httpx.Response(503), 1) for _ in range(20)}) > 1


@pytest.mark.parametrize(
    ("after", "seconds"),
    [
        ("0", 0),
        ("3", 3),
        ("30", 30),
        ("31", None),
        ("99999", None),
        ("Wed, 21 Oct 2015 07:28:02 GMT", 2),
        ("soon", 0.5),
    ],
)
def test_retry_after_is_honoured_up_to_a_bound_and_beyond_it_the_answer_stands(
    after: str, seconds: float | None
) -> None:
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
def test_a_broken_connection_is_tried_again_only_where_nothing_can_be_done_twice(
    error: Exception, methods: tuple[str, ...]
) -> None:
    assert {method for method in (*SAFE, *UNSAFE) if may_repeat(method, error)} == set(methods)


@pytest.fixture
def echo() -> Iterator[Echo]:
    with echoing() as server:
        yield server


def answering(*replies: bytes) -> Callable[[Recorded], bytes | Iterator[bytes]]:
    """These replies, one after the other; the empty one breaks off."""
    left = iter(replies)
    return lambda _: next(left)


def sent(echo: Echo, method: str = "GET", path: str = "/", **upstream: Any) -> tuple[httpx.Response, list[float]]:
    """The answer, and the waits before it."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def send() -> httpx.Response:
        used = Upstream(retries=Retries(sleep=sleep, clock=lambda: NOW, chance=lambda: 0.0), **upstream)
        try:
            return await used.send(httpx.Request(method, echo.url + path, content=b"body" * (method == "POST")))
        finally:
            await used.aclose()

    return asyncio.run(send()), waits


BUSY = answer(b"busy", status="503 Service Unavailable")
SLOWLY = answer(b"slowly", "Retry-After: 7", status="429 Too Many Requests")
DONE = answer(b"done")


def test_the_same_request_is_sent_until_it_is_answered(echo: Echo) -> None:
    echo.respond = answering(BUSY, SLOWLY, DONE)
    response, waits = sent(echo, "POST", "/x?a=1")
    assert (response.content, waits) == (b"done", [0.5, 7.0])
    assert [(seen.method, seen.target, seen.body) for seen in echo.requests] == [("POST", "/x?a=1", b"body")] * 3


def test_after_the_last_attempt_the_refusal_is_the_answer(echo: Echo) -> None:
    echo.respond = answering(BUSY, BUSY, SLOWLY)
    response, waits = sent(echo)
    assert (response.status_code, response.content, waits) == (429, b"slowly", [0.5, 1.0])


def test_an_api_that_wants_too_much_patience_is_answered_with_at_once(echo: Echo) -> None:
    echo.respond = answering(answer(b"later", "Retry-After: 3600", status="429 Too Many Requests"))
    response, waits = sent(echo)
    assert (response.content, waits, len(echo.requests)) == (b"later", [], 1)


def test_a_connection_that_breaks_off_is_tried_again_for_a_get(echo: Echo) -> None:
    echo.respond = answering(b"", DONE)
    response, waits = sent(echo)
    assert (response.content, waits, len(echo.requests)) == (b"done", [0.5], 2)


def test_a_connection_that_breaks_off_is_not_tried_again_for_a_post(echo: Echo) -> None:
    echo.respond = answering(b"", DONE)
    with pytest.raises(UpstreamError, match="broke the connection off"):
        sent(echo, "POST")
    assert len(echo.requests) == 1


def test_an_answer_that_breaks_off_is_not_asked_for_again(echo: Echo) -> None:
    echo.respond = lambda _: iter([b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"])
    with pytest.raises(UpstreamError, match="broke the connection off"):
        sent(echo)
    assert len(echo.requests) == 1


def test_a_refused_connection_is_tried_three_times_even_for_a_post() -> None:
    attempts: list[str] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        attempts.append(request.method)
        raise httpx.ConnectError("x") from ConnectionRefusedError()

    with pytest.raises(UpstreamError, match="refused the connection"):
        sent(Echo("http://api.test"), "POST", transport=httpx.MockTransport(refuse))
    assert attempts == ["POST"] * 3


def test_only_the_hop_that_was_refused_is_asked_again(echo: Echo) -> None:
    moved = answer(b"", "Location: /result", status="303 See Other")
    echo.respond = answering(moved, BUSY, DONE)
    assert sent(echo, "POST", "/jobs")[0].content == b"done"
    assert [(seen.method, seen.target) for seen in echo.requests] == [
        ("POST", "/jobs"),
        ("GET", "/result"),
        ("GET", "/result"),
    ]


def test_a_wait_that_the_total_time_does_not_last_for_is_not_begun(echo: Echo) -> None:
    echo.respond = answering(SLOWLY)
    response, waits = sent(echo, total_timeout=6.9)
    assert (response.content, waits) == (b"slowly", [])


def test_the_total_time_bounds_all_attempts(echo: Echo) -> None:
    async def forever(_: float) -> None:
        await asyncio.Event().wait()

    async def send() -> None:
        upstream = Upstream(total_timeout=0.3, retries=Retries(first_wait=0, sleep=forever))
        try:
            await upstream.send(httpx.Request("GET", echo.url))
        finally:
            await upstream.aclose()

    echo.respond = answering(BUSY, DONE)
    with pytest.raises(UpstreamError, match=r"was not done after 0\.3 seconds"):
        asyncio.run(send())


def test_the_log_names_the_host_and_nothing_secret(echo: Echo, caplog: pytest.LogCaptureFixture) -> None:
    echo.respond = answering(b"", BUSY, DONE)
    with caplog.at_level("INFO", "openapi_mcp"):
        sent(echo, path="/x?key=secret")
    host = echo.url.removeprefix("http://")
    assert [record.getMessage() for record in caplog.records] == [
        f"{host}: attempt 1, RemoteProtocolError; the next in 0.5 s",
        f"{host}: attempt 2, 503; the next in 1.0 s",
    ]
