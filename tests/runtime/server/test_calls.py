"""`Calls`: rate limits, trace context, and headers that must match arguments."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.protocol import Session
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.hooks import Limiter
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.upstream.client import Upstream
from tests.runtime.making import parameter, tool
from tests.runtime.pets import DESCRIPTION
from tests.runtime.wire import ENVELOPE, call

TRACE = {
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate": "vendor=1",
    "baggage": "user=7",
}


class Api:
    """A server of one tool, and the requests that its API received."""

    def __init__(
        self, api_tool: Tool, *, headers: Mapping[str, str] | None = None, limiter: Limiter | None = None
    ) -> None:
        self.requests: list[httpx.Request] = []
        options = RequestOptions(headers=tuple((headers or {}).items()))
        upstream = Upstream(transport=httpx.MockTransport(self._respond))
        self.server = Server(Catalog([api_tool]), DESCRIPTION, upstream, options=options, limiter=limiter)

    def _respond(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(204)

    def ask(
        self, message: Any, http: Mapping[str, str] | None = None, *, caller: str = "", session: Session | None = None
    ) -> tuple[int, Any]:
        async def once() -> tuple[int, Any]:
            step = self.server.receive(message, session or Session("2025-11-25"), http)
            answer = await self.server.perform(step, caller=caller)
            return answer.status, json.loads(answer.body or b"null")

        return asyncio.run(once())


@pytest.mark.parametrize(
    ("wait", "sentence"),
    [
        (0.01, "Too many calls of x. Try again in 1 second."),
        (1.0, "Too many calls of x. Try again in 1 second."),
        (2.1, "Too many calls of x. Try again in 3 seconds."),
    ],
)
def test_rate_limited_call_says_when_to_try_again(wait: float, sentence: str) -> None:
    limited: list[tuple[str, str]] = []

    def limiter(caller: str, name: str) -> float | None:
        limited.append((caller, name))
        return None if caller == "patient" else wait

    api = Api(tool("/x"), limiter=limiter)
    _, refused = api.ask(call(1, "x"), caller="eager")
    assert refused["result"]["isError"] is True
    assert refused["result"]["content"] == [{"type": "text", "text": sentence}]
    assert api.requests == []
    assert not api.ask(call(2, "x"), caller="patient")[1]["result"]["isError"]
    api.ask(call(3, "noSuchTool"), caller="eager")
    assert limited == [("eager", "x"), ("patient", "x")]


def test_rate_limit_counts_each_call_of_a_batch() -> None:
    limited: list[str] = []

    def limiter(caller: str, _name: str) -> float | None:
        limited.append(caller)
        return None if len(limited) == 1 else 1.0

    _, replies = Api(tool("/x"), limiter=limiter).ask(
        [call(1, "x"), call(2, "x")], caller="me", session=Session("2025-03-26")
    )
    assert limited == ["me", "me"]
    assert [reply["result"]["isError"] for reply in replies] == [False, True]


def test_failing_limiter_fails_only_its_call(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_caller: str, _name: str) -> float | None:
        raise ZeroDivisionError

    _, reply = Api(tool("/x"), limiter=fail).ask(call(1, "x"))
    assert reply["result"]["isError"] is True
    assert "ZeroDivisionError" in caplog.text


def traced(api_tool: Tool, arguments: Any = None, trace: Mapping[str, str] = TRACE, **headers: str) -> dict[str, str]:
    """Return the trace headers of the request that a call sends."""
    api = Api(api_tool, headers=headers)
    assert not api.ask(call(1, "x", arguments, **ENVELOPE, **trace))[1]["result"]["isError"]
    return {name: value for name, value in api.requests[0].headers.items() if name in TRACE}


def test_trace_context_is_sent_to_the_api() -> None:
    assert traced(tool("/x")) == TRACE


@pytest.mark.parametrize("trace", [{"traceparent": "made up"}, {"tracestate": "vendor=1"}, {}])
def test_malformed_trace_context_is_not_sent(trace: dict[str, str]) -> None:
    assert traced(tool("/x"), trace=trace) == {}


def test_trace_context_does_not_replace_an_argument() -> None:
    api_tool = tool("/x", parameter({"name": "Traceparent", "in": "header"}))
    assert traced(api_tool, {"header.Traceparent": "mine"}) == {"traceparent": "mine", "baggage": "user=7"}
    assert traced(api_tool) == {"baggage": "user=7"}


def test_trace_context_does_not_replace_configured_headers() -> None:
    assert traced(tool("/x"), Traceparent="mine", Baggage="mine") == {"traceparent": "mine", "baggage": "mine"}


MIRRORED = tool(
    "/x",
    parameter({"name": "region", "in": "query"}),
    input_schema={"type": "object", "properties": {"query.region": {"type": "string", "x-mcp-header": "Region"}}},
)
HTTP = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "x"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"mcp-param-region": "eu"}, 200),
        ({"mcp-param-region": "=?base64?ZXU=?="}, 200),
        ({"mcp-param-region": "us"}, 400),
        ({}, 400),
    ],
)
def test_headers_must_match_arguments(headers: dict[str, str], status: int) -> None:
    api = Api(MIRRORED)
    actual_status, reply = api.ask(call(1, "x", {"query.region": "eu"}, **ENVELOPE), {**HTTP, **headers})
    assert actual_status == status
    assert reply["id"] == 1
    assert reply.get("error", {}).get("code") == (None if status == 200 else -32020)
    assert len(api.requests) == (status == 200)


def test_headers_are_not_required_without_http() -> None:
    assert Api(MIRRORED).ask(call(1, "x", {"query.region": "eu"}, **ENVELOPE))[0] == 200


def test_response_without_content_is_one_text_block() -> None:
    _, reply = Api(tool("/x")).ask(call(1, "x"))
    assert reply["result"]["content"] == [{"type": "text", "text": "204 No Content: the answer has no content."}]


@pytest.mark.parametrize("failure", [None, httpx.ConnectError("refused")])
def test_guessed_base_url_is_called_a_guess_where_nothing_is_found(failure: Exception | None) -> None:
    def respond(_: httpx.Request) -> httpx.Response:
        if failure is not None:
            raise failure
        return httpx.Response(404, text="not here")

    def texts(api_tool: Tool) -> str:
        upstream = Upstream(transport=httpx.MockTransport(respond))
        server = Server(Catalog([api_tool]), DESCRIPTION, upstream, options=RequestOptions())
        return "\n".join(block["text"] for block in asyncio.run(server.call("x", {})).content)

    assert "The base URL is a guess" in texts(tool("/x", base_url_is_guess=True))
    assert "api.test, where the document was read" in texts(tool("/x", base_url_is_guess=True))
    assert "guess" not in texts(tool("/x"))
