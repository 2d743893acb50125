"""Hosts that do not answer are left alone, requests keep to a rate, and a host that hangs leaves places to others."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.egress.breaker import FIRST_PAUSE, MAX_PAUSE, WINDOW_SECONDS, CircuitBreaker
from openapi_mcp.egress.guard import MAX_REQUESTS_OF_HOST, GuardedTransport, RateLimiter
from openapi_mcp.errors import UsageError
from openapi_mcp.replicas.rate_limits import RateLimit
from openapi_mcp.runtime.errors import UpstreamError
from openapi_mcp.runtime.types import CallToolResult
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.runtime.upstream.retries import Retries
from openapi_mcp.runtime.upstream.transport import Transport
from tests.egress.listening import answering, hanging
from tests.runtime.echo import answer, echoing

ONCE = Retries(attempts=1)
HOST = "api.test"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def is_open(breaker: CircuitBreaker) -> bool:
    try:
        breaker.admit(HOST)
    except UpstreamError:
        return True
    return False


def failing(breaker: CircuitBreaker, times: int, *, is_probe: bool = False) -> None:
    for _ in range(times):
        breaker.fail(HOST, "It refused.", is_probe=is_probe)


def test_failures_in_a_row_open_the_circuit_of_their_host_only() -> None:
    breaker = CircuitBreaker(3, Clock())
    failing(breaker, 2)
    assert not is_open(breaker)
    failing(breaker, 1)
    with pytest.raises(UpstreamError) as refused:
        breaker.admit(HOST)
    assert str(refused.value) == (
        "No request was sent: the last 3 requests to api.test had no answer. It refused. It is tried again in 5 "
        "seconds (see `--circuit-breaker`)."
    )
    assert breaker.admit("other.test") is False


def test_answer_in_between_ends_the_row() -> None:
    breaker = CircuitBreaker(3, Clock())
    failing(breaker, 2)
    breaker.succeed(HOST)
    failing(breaker, 2)
    assert not is_open(breaker)


def test_old_failures_do_not_count() -> None:
    clock = Clock()
    breaker = CircuitBreaker(3, clock)
    failing(breaker, 2)
    clock.now += WINDOW_SECONDS + 1
    failing(breaker, 2)
    assert not is_open(breaker)
    failing(breaker, 1)
    assert is_open(breaker)


def test_one_request_tries_the_host_after_the_pause() -> None:
    clock = Clock()
    breaker = CircuitBreaker(1, clock)
    failing(breaker, 1)
    pause = FIRST_PAUSE
    for _ in range(6):
        clock.now += pause - 0.1
        assert is_open(breaker)
        clock.now += 0.1
        assert breaker.admit(HOST) is True
        assert is_open(breaker)  # for all others
        failing(breaker, 1)  # an older request, which tells nothing new
        assert is_open(breaker)
        failing(breaker, 1, is_probe=True)
        pause = min(2 * pause, MAX_PAUSE)
    clock.now += pause
    assert breaker.admit(HOST) is True
    breaker.release(HOST)  # its client has left
    assert breaker.admit(HOST) is True
    breaker.succeed(HOST)
    assert [breaker.admit(HOST) for _ in range(3)] == [False] * 3


Respond = Callable[[httpx.Request], Awaitable[httpx.Response]]


def guarded(inner: httpx.AsyncBaseTransport, breaker: CircuitBreaker | None = None, **options: Any) -> Upstream:
    return Upstream(transport=GuardedTransport(inner, breaker, **options), retries=ONCE, total_timeout=5)


async def sentences(upstream: Upstream, url: str, times: int) -> list[str]:
    texts = []
    for _ in range(times):
        try:
            texts.append(str((await upstream.send(httpx.Request("GET", url))).status_code))
        except UpstreamError as error:
            texts.append(str(error))
    return texts


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def test_refused_connections_open_the_circuit_until_the_host_answers() -> None:
    clock = Clock()
    port = closed_port()

    async def run() -> tuple[list[str], list[str]]:
        upstream = guarded(Transport(), CircuitBreaker(2, clock))
        before = await sentences(upstream, f"http://127.0.0.1:{port}/", 4)
        with answering("127.0.0.1", b"ok", port=port):
            clock.now += FIRST_PAUSE
            after = await sentences(upstream, f"http://127.0.0.1:{port}/", 3)
        await upstream.aclose()
        return before, after

    before, after = asyncio.run(run())
    assert all("refused the connection" in text for text in before)
    assert [text.startswith("No request was sent") for text in before] == [False, False, True, True]
    assert after == ["200"] * 3


ANSWERS = {
    "400": answer(b"", status="400 Bad Request"),
    "404": answer(b"no", status="404 Not Found"),
    "429": answer(b"", status="429 Too Many Requests"),
    "500 without a body": answer(b"", status="500 Oops"),
    "503 with a body": answer(b"later", status="503 Unavailable"),
    "503 with Retry-After": answer(b"", "Retry-After: 9", status="503 Unavailable"),
    "502 of a gateway": answer(b"", status="502 Bad Gateway"),
    "504 of a gateway": answer(b"", status="504 Gateway Timeout"),
    "no answer": b"",
    "not HTTP": b"hello\r\n\r\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ANSWERS)
def test_which_answers_open_the_circuit(name: str) -> None:
    async def run(url: str) -> list[str]:
        upstream = guarded(Transport(), CircuitBreaker(3))
        texts = await sentences(upstream, url, 5)
        await upstream.aclose()
        return texts

    with echoing() as api:
        api.respond = lambda _: ANSWERS[name]
        texts = asyncio.run(run(api.url))
        opens = "gateway" in name or name == "no answer"
        assert texts[-1].startswith("No request was sent") is opens
        assert len(api.requests) == (3 if opens else 5)


def test_calls_that_hang_count_and_calls_that_were_cancelled_do_not() -> None:
    async def hang(_: httpx.Request) -> httpx.Response:
        await asyncio.sleep(60)
        raise AssertionError

    async def run(patience: float) -> bool:
        breaker = CircuitBreaker(3)
        upstream = guarded(httpx.MockTransport(hang), breaker, patience=patience)
        requests = [asyncio.ensure_future(upstream.send(httpx.Request("GET", f"http://{HOST}/"))) for _ in range(5)]
        await asyncio.sleep(0.05)
        for request in requests:
            request.cancel()
        await asyncio.gather(*requests, return_exceptions=True)
        return is_open(breaker)

    assert asyncio.run(run(0.01))
    assert not asyncio.run(run(10))


def test_time_of_a_call_that_ends_opens_the_circuit() -> None:
    async def hang(_: httpx.Request) -> httpx.Response:
        await asyncio.sleep(60)
        raise AssertionError

    async def run() -> list[str]:
        transport = GuardedTransport(httpx.MockTransport(hang), CircuitBreaker(2), patience=0.05)
        return await sentences(Upstream(transport=transport, retries=ONCE, total_timeout=0.1), f"http://{HOST}/", 3)

    first, second, third = asyncio.run(run())
    assert "did not finish within 0.1 seconds" in first
    assert "did not finish within 0.1 seconds" in second
    assert third.startswith("No request was sent: the last 2 requests to api.test had no answer")


def test_a_refusal_is_not_retried() -> None:
    async def run() -> list[str]:
        async def fail(_: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError("refused")

        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)

        transport = GuardedTransport(httpx.MockTransport(fail), CircuitBreaker(3))
        upstream = Upstream(transport=transport, retries=Retries(attempts=10, sleep=sleep, max_wait=1000))
        texts = await sentences(upstream, f"http://{HOST}/", 2)
        assert len(waits) == 3
        return texts

    assert all(text.startswith("No request was sent") for text in asyncio.run(run()))


@pytest.mark.slow
def test_host_that_hangs_leaves_connections_and_places_to_others() -> None:
    async def run(url: str) -> tuple[list[str], list[str]]:
        upstream = Upstream(transport=GuardedTransport(Transport(), None, is_shared=True), retries=ONCE)
        with hanging() as slow:
            calls = [asyncio.ensure_future(sentences(upstream, slow, 1)) for _ in range(MAX_REQUESTS_OF_HOST + 50)]
            await asyncio.sleep(0.5)
            refused = [call.result()[0] for call in calls if call.done()]
            others = await sentences(upstream, url, 5)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            again = asyncio.ensure_future(sentences(upstream, slow, 1))
            await asyncio.sleep(0.1)
            assert not again.done()  # the places were given back
            again.cancel()
            await asyncio.gather(again, return_exceptions=True)
        await upstream.aclose()
        return refused, others

    with echoing() as api:
        api.respond = lambda _: answer(b"ok")
        refused, others = asyncio.run(run(api.url))
    assert len(refused) == 50
    assert all("200 requests to 127.0.0.1:" in text for text in refused)
    assert others == ["200"] * 5


def test_places_of_bodies_are_given_back() -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b"part"

    async def respond(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=body())

    async def run() -> tuple[list[str], int]:
        transport = GuardedTransport(httpx.MockTransport(respond), None, is_shared=True)
        texts = await sentences(Upstream(transport=transport, retries=ONCE), f"http://{HOST}/", 3)
        return texts, transport._in_progress[HOST]

    assert asyncio.run(run()) == (["200"] * 3, 0)


def limited(limiter: RateLimiter, times: int) -> list[str]:
    async def respond(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200)

    async def run() -> list[str]:
        transport = GuardedTransport(httpx.MockTransport(respond), None, limiter, rate="2/hour")
        return await sentences(Upstream(transport=transport, retries=ONCE), f"http://{HOST}/", times)

    return asyncio.run(run())


def test_rate_limit_of_a_host_refuses_what_would_wait_too_long() -> None:
    *sent, refused = limited(RateLimit("2/hour"), 3)
    assert sent == ["200", "200"]
    assert refused.startswith(
        "No request was sent: the limit for requests to api.test, 2/hour (`--upstream-rate-limit`)"
    )


def test_rate_limit_of_a_host_lets_requests_wait_for_their_turn() -> None:
    began = time.monotonic()
    assert limited(RateLimit("3/second"), 7) == ["200"] * 7
    assert time.monotonic() - began > 1


def test_waiting_for_a_turn_ends_with_the_time_of_the_call() -> None:
    async def respond(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200)

    async def run() -> list[str]:
        breaker = CircuitBreaker(1)
        transport = GuardedTransport(httpx.MockTransport(respond), breaker, lambda _caller, _host: 5.0, patience=0.01)
        upstream = Upstream(transport=transport, retries=ONCE, total_timeout=0.1)
        texts = await sentences(upstream, f"http://{HOST}/", 2)
        assert not is_open(breaker)  # the host is not to blame
        return texts

    assert all("it was waiting before the next attempt" in text for text in asyncio.run(run()))


@pytest.mark.parametrize("option", ["rate_limit", "upstream_rate_limit"])
def test_invalid_rate_limit_names_its_option(option: str) -> None:
    with pytest.raises(UsageError) as refused:
        Config.from_options("api.json", {option: "often"})
    assert refused.value.where == f"--{option.replace('_', '-')}"


@contextmanager
def bridged(folder: Path, *urls: str, **options: Any) -> Iterator[Bridge]:
    """A bridge whose document has one operation for each base URL: call0, call1 and so on."""
    paths = {
        f"/{index}": {"get": {"operationId": f"call{index}", "servers": [{"url": url}], "responses": {"200": {}}}}
        for index, url in enumerate(urls)
    }
    path = folder / "api.json"
    path.write_text(json.dumps({"openapi": "3.1.0", "info": {"title": "A", "version": "1"}, "paths": paths}))
    yield Bridge.open(Config.from_options(str(path), {"no_cache": True, "retries": 0, **options}))


def calls(bridge: Bridge, names: list[str]) -> list[str]:
    async def run() -> list[CallToolResult]:
        server = bridge.server()
        results = [await server.call(name, {}) for name in names]
        await server.aclose()
        return results

    return ["\n".join(block["text"] for block in result.content) for result in asyncio.run(run())]


def test_options_reach_the_calls(tmp_path: Path) -> None:
    dead = f"http://127.0.0.1:{closed_port()}"
    with echoing() as api:
        api.respond = lambda _: answer(b"fine", "Content-Type: text/plain")
        with bridged(tmp_path, dead, api.url, circuit_breaker=2, upstream_rate_limit="3/hour") as bridge:
            texts = calls(bridge, ["call0", "call0", "call0", "call1", "call1", "call1", "call1"])
        assert texts[2].startswith("No request was sent: the last 2 requests to 127.0.0.1:")
        assert texts[3:6] == ["fine"] * 3
        assert "the limit for requests to 127.0.0.1:" in texts[6]
        with bridged(tmp_path, dead, circuit_breaker=0) as bridge:
            assert all("refused the connection" in text for text in calls(bridge, ["call0"] * 30))
