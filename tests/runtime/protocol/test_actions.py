"""What is to be done, as data: what goes into it, and what its answers look like."""

from typing import Any

import pytest

from openapi_mcp.runtime.protocol import LogLevel, Session, ToolCall, list_changed, log_levels, receive
from tests.runtime.pets import DESCRIPTION

PARENT = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "getPet"}
STDIO = Session("2025-11-25")


def call(
    meta: Any = None, session: Session = STDIO, headers: dict[str, str] | None = None, **arguments: Any
) -> ToolCall:
    params = {"name": "getPet", "arguments": arguments} | ({} if meta is None else {"_meta": meta})
    action = receive(
        DESCRIPTION, session, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers
    ).action
    assert isinstance(action, ToolCall)
    return action


@pytest.mark.parametrize("envelope", [{}, ENVELOPE])
def test_a_call_carries_the_trace_of_its_client_in_either_era(envelope: dict[str, Any]) -> None:
    meta = {**envelope, "traceparent": PARENT, "tracestate": "a=1", "baggage": "not baggage"}
    assert call(meta).trace == {"traceparent": PARENT, "tracestate": "a=1"}


@pytest.mark.parametrize("meta", [None, {}, [], "x", {"traceparent": 1}])
def test_a_call_without_trace_invents_none(meta: Any) -> None:
    assert call(meta).trace == {}


def test_a_call_knows_its_session_and_one_of_the_stateless_era_has_none() -> None:
    session = Session("2025-11-25", "s1", "error")
    inside, outside = call(None, session, {}), call(ENVELOPE, session, HEADERS)
    assert (inside.session_id, inside.log_level) == ("s1", "error")
    assert (outside.session_id, outside.log_level) == (None, None)


@pytest.mark.parametrize("wanted", [None, *log_levels.LEVELS])
def test_a_client_hears_of_the_level_it_asked_for_and_above(wanted: LogLevel | None) -> None:
    asked = call(session=Session("2025-11-25", log_level=wanted))
    heard = [level for level in log_levels.LEVELS if asked.log(level, "x") is not None]
    assert heard == list(log_levels.LEVELS[log_levels.LEVELS.index(wanted or "warning") :])


@pytest.mark.parametrize("data", [None, "text", {"a": [1]}, 0])
def test_a_log_message_holds_any_value(data: Any) -> None:
    assert call().log("error", data) == {
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {"level": "error", "logger": "openapi-mcp", "data": data},
    }


def test_the_stateless_era_hears_no_log_messages() -> None:
    meta = {**ENVELOPE, "io.modelcontextprotocol/logLevel": "debug"}
    assert all(call(meta).log(level, "x") is None for level in log_levels.LEVELS)


@pytest.mark.parametrize("value", ["INFO", "", None, 3, True, ["info"], {"info": 1}, "warn"])
def test_what_is_no_level(value: Any) -> None:
    assert log_levels.read(value) is None


def test_progress_says_how_much_there_will_be_where_that_is_known() -> None:
    told = call({"progressToken": "t"}).progress(3, "half", total=6)
    assert told["params"] == {"progressToken": "t", "progress": 3, "total": 6, "message": "half"}
    assert "total" not in call({"progressToken": "t"}).progress(3, "x")["params"]


def test_headers_that_mirror_arguments_are_those_of_the_stateless_era_over_http() -> None:
    schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    right, wrong = {**HEADERS, "mcp-param-region": "eu"}, {**HEADERS, "mcp-param-region": "us"}
    assert call(ENVELOPE, headers=right, region="eu").mismatch(schema) is None
    assert call(ENVELOPE, region="eu").mismatch(schema) is None
    assert call(None, STDIO, {"mcp-param-region": "us"}, region="eu").mismatch(schema) is None
    refused = call(ENVELOPE, headers=wrong, region="eu").mismatch(schema)
    assert refused is not None
    assert (refused["id"], refused["error"]["code"]) == (1, -32020)


def test_a_change_is_told_without_a_tag_in_the_handshake_era() -> None:
    assert list_changed() == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
