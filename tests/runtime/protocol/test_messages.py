"""Actions as data: their fields, and the form of their answers."""

from typing import Any

import pytest

from openapi_mcp.runtime.protocol import LogLevel, Session, ToolCall, list_changed, messages, receive
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
def test_call_has_the_trace_of_its_client_in_both_eras(envelope: dict[str, Any]) -> None:
    meta = {**envelope, "traceparent": PARENT, "tracestate": "a=1", "baggage": "not baggage"}
    assert call(meta).trace == {"traceparent": PARENT, "tracestate": "a=1"}


@pytest.mark.parametrize("meta", [None, {}, [], "x", {"traceparent": 1}])
def test_call_without_trace_has_none(meta: Any) -> None:
    assert call(meta).trace == {}


def test_only_calls_of_the_handshake_era_have_a_session() -> None:
    session = Session("2025-11-25", "s1", "error")
    inside, outside = call(None, session, {}), call(ENVELOPE, session, HEADERS)
    assert (inside.session_id, inside.log_level) == ("s1", "error")
    assert (outside.session_id, outside.log_level) == (None, None)


@pytest.mark.parametrize("threshold", [None, *messages.LEVELS])
def test_client_receives_its_log_level_and_above(threshold: LogLevel | None) -> None:
    client = call(session=Session("2025-11-25", log_level=threshold))
    received = [level for level in messages.LEVELS if client.log(level, "x") is not None]
    assert received == list(messages.LEVELS[messages.LEVELS.index(threshold or "warning") :])


@pytest.mark.parametrize("data", [None, "text", {"a": [1]}, 0])
def test_log_message_has_any_json_value(data: Any) -> None:
    assert call().log("error", data) == {
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {"level": "error", "logger": "openapi-mcp", "data": data},
    }


def test_stateless_era_has_no_log_messages() -> None:
    meta = {**ENVELOPE, "io.modelcontextprotocol/logLevel": "debug"}
    assert all(call(meta).log(level, "x") is None for level in messages.LEVELS)


@pytest.mark.parametrize("value", ["INFO", "", None, 3, True, ["info"], {"info": 1}, "warn"])
def test_invalid_log_level_is_none(value: Any) -> None:
    assert messages.parse_level(value) is None


def test_progress_has_a_total_if_it_is_known() -> None:
    notification = call({"progressToken": "t"}).progress(3, "half", total=6)
    assert notification["params"] == {"progressToken": "t", "progress": 3, "total": 6, "message": "half"}
    assert "total" not in call({"progressToken": "t"}).progress(3, "x")["params"]


def test_long_progress_token_is_not_repeated() -> None:
    longest = "t" * messages.MAX_TOKEN_LENGTH
    assert call({"progressToken": longest}).progress_token == longest
    assert call({"progressToken": longest + "t"}).progress_token is None


def test_header_arguments_are_checked_in_the_stateless_era_over_http_alone() -> None:
    schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    equal, different = {**HEADERS, "mcp-param-region": "eu"}, {**HEADERS, "mcp-param-region": "us"}
    assert call(ENVELOPE, headers=equal, region="eu").header_mismatch(schema) is None
    assert call(ENVELOPE, region="eu").header_mismatch(schema) is None
    assert call(None, STDIO, {"mcp-param-region": "us"}, region="eu").header_mismatch(schema) is None
    refused = call(ENVELOPE, headers=different, region="eu").header_mismatch(schema)
    assert refused is not None
    assert (refused["id"], refused["error"]["code"]) == (1, -32020)


def test_list_changed_has_no_subscription_id_in_the_handshake_era() -> None:
    assert list_changed() == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
