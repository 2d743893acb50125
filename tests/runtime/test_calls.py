"""Calls: who comes too often is told when to come again, traces go along, headers must say what arguments say."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.calls import Limiter
from openapi_mcp.runtime.catalog import Catalog
from openapi_mcp.runtime.models import Tool
from openapi_mcp.runtime.protocol import Session
from openapi_mcp.runtime.requests import RequestOptions
from openapi_mcp.runtime.server import Server
from openapi_mcp.runtime.upstream import Upstream
from tests.runtime.making import parameter, tool
from tests.runtime.pets import DESCRIPTION
from tests.runtime.wire import ENVELOPE, call

TRACE = {
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate": "vendor=1",
    "baggage": "user=7",
}


class Api:
    """A server of one tool, and the requests that reached the API behind it."""

    def __init__(self, made: Tool, *, headers: Mapping[str, str] | None = None, limiter: Limiter | None = None) -> None:
        self.requests: list[httpx.Request] = []
        options = RequestOptions(headers=tuple((headers or {}).items()))
        upstream = Upstream(transport=httpx.MockTransport(self._respond))
        self.server = Server(Catalog([made]), DESCRIPTION, upstream, options=options, limiter=limiter)

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
    ("wait", "said"),
    [
        (0.01, "Too many calls of x. Try again in 1 second."),
        (1.0, "Too many calls of x. Try again in 1 second."),
        (2.1, "Too many calls of x. Try again in 3 seconds."),
    ],
)
def test_who_calls_too_often_is_told_when_to_try_again(wait: float, said: str) -> None:
    asked: list[tuple[str, str]] = []

    def limiter(caller: str, name: str) -> float | None:
        asked.append((caller, name))
        return None if caller == "patient" else wait

    api = Api(tool("/x"), limiter=limiter)
    _, refused = api.ask(call(1, "x"), caller="eager")
    assert refused["result"]["isError"] is True
    assert refused["result"]["content"] == [{"type": "text", "text": said}]
    assert api.requests == []
    assert not api.ask(call(2, "x"), caller="patient")[1]["result"]["isError"]
    api.ask(call(3, "noSuchTool"), caller="eager")
    assert asked == [("eager", "x"), ("patient", "x")]


def test_each_call_of_a_batch_counts() -> None:
    asked: list[str] = []

    def limiter(caller: str, _name: str) -> float | None:
        asked.append(caller)
        return None if len(asked) == 1 else 1.0

    _, replies = Api(tool("/x"), limiter=limiter).ask(
        [call(1, "x"), call(2, "x")], caller="me", session=Session("2025-03-26")
    )
    assert asked == ["me", "me"]
    assert [reply["result"]["isError"] for reply in replies] == [False, True]


def test_a_limiter_that_fails_costs_its_call_and_no_more(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_caller: str, _name: str) -> float | None:
        raise ZeroDivisionError

    _, reply = Api(tool("/x"), limiter=fail).ask(call(1, "x"))
    assert reply["result"]["isError"] is True
    assert "ZeroDivisionError" in caplog.text


def traced(made: Tool, arguments: Any = None, trace: Mapping[str, str] = TRACE, **headers: str) -> dict[str, str]:
    """The trace headers of the request that a call made."""
    api = Api(made, headers=headers)
    assert not api.ask(call(1, "x", arguments, **ENVELOPE, **trace))[1]["result"]["isError"]
    return {name: value for name, value in api.requests[0].headers.items() if name in TRACE}


def test_a_trace_goes_along() -> None:
    assert traced(tool("/x")) == TRACE


@pytest.mark.parametrize("trace", [{"traceparent": "made up"}, {"tracestate": "vendor=1"}, {}])
def test_what_is_no_trace_stays_behind(trace: dict[str, str]) -> None:
    assert traced(tool("/x"), trace=trace) == {}


def test_the_tools_own_argument_is_not_overridden() -> None:
    made = tool("/x", parameter({"name": "Traceparent", "in": "header"}))
    assert traced(made, {"header.Traceparent": "mine"}) == {"traceparent": "mine", "baggage": "user=7"}
    assert traced(made) == {"baggage": "user=7"}


def test_what_is_configured_is_not_overridden() -> None:
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
def test_headers_must_say_what_the_arguments_say(headers: dict[str, str], status: int) -> None:
    api = Api(MIRRORED)
    got, reply = api.ask(call(1, "x", {"query.region": "eu"}, **ENVELOPE), {**HTTP, **headers})
    assert got == status
    assert reply["id"] == 1
    assert reply.get("error", {}).get("code") == (None if status == 200 else -32020)
    assert len(api.requests) == (status == 200)


def test_without_http_there_are_no_headers_to_agree_with() -> None:
    assert Api(MIRRORED).ask(call(1, "x", {"query.region": "eu"}, **ENVELOPE))[0] == 200


def test_an_answer_without_content_is_one_block_that_says_so() -> None:
    _, reply = Api(tool("/x")).ask(call(1, "x"))
    assert reply["result"]["content"] == [{"type": "text", "text": "204 No Content: the answer has no content."}]
