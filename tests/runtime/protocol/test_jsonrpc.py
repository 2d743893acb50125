"""JSON-RPC messages: what is one, what is none, and that bytes in either direction are always JSON."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.protocol import jsonrpc
from openapi_mcp.runtime.protocol.jsonrpc import Malformed, Notification, Request, Response

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("request_id", [0, 1, -1, 2**80, "", "a", "0", 1.0])
def test_a_request_keeps_its_id_as_it_came(request_id: Any) -> None:
    message = jsonrpc.classify({"jsonrpc": "2.0", "id": request_id, "method": "ping"})
    assert message == Request(request_id, "ping", None)
    assert isinstance(message, Request)
    assert type(message.id) is type(request_id)


@pytest.mark.parametrize("request_id", [None, True, False, 1.5, math.inf, math.nan, [], {}, "\ud800"])
def test_an_id_that_cannot_be_echoed_gets_an_error_without_one(request_id: Any) -> None:
    message = jsonrpc.classify({"jsonrpc": "2.0", "id": request_id, "method": "ping"})
    assert isinstance(message, Malformed)
    assert message.reply["error"]["code"] == jsonrpc.INVALID_REQUEST
    assert "id" not in message.reply


@pytest.mark.parametrize("value", [None, 1, "ping", True, [], [{}]])
def test_what_is_no_object_is_no_message(value: Any) -> None:
    assert isinstance(jsonrpc.classify(value), Malformed)


@pytest.mark.parametrize(
    "message",
    [
        {"id": 7, "method": "ping"},
        {"jsonrpc": 2.0, "id": 7, "method": "ping"},
        {"jsonrpc": "1.0", "id": 7, "method": "ping"},
        {"jsonrpc": "2.0", "id": 7},
        {"jsonrpc": "2.0", "id": 7, "method": None},
        {"jsonrpc": "2.0", "id": 7, "method": ["ping"]},
    ],
)
def test_a_broken_request_with_an_id_gets_an_error_with_it(message: Any) -> None:
    broken = jsonrpc.classify(message)
    assert isinstance(broken, Malformed)
    assert (broken.reply["id"], broken.reply["error"]["code"]) == (7, jsonrpc.INVALID_REQUEST)


def test_a_message_without_id_is_a_notification() -> None:
    assert jsonrpc.classify({"jsonrpc": "2.0", "method": "m", "params": {}}) == Notification("m", {})


@pytest.mark.parametrize(
    "message", [{"id": 1, "result": {}}, {"id": None, "error": {}}, {"jsonrpc": "2.0", "error": 1}]
)
def test_a_reply_is_never_answered_however_broken(message: Any) -> None:
    assert jsonrpc.classify(message) == Response()


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"\xef\xbb\xbf{}", {}),
        (b' {"a": 1.5, "a": 2}\r\n', {"a": 2}),
        ('"é\\ud83d\\ude00"'.encode(), "é😀"),
    ],
)
def test_json_in_utf8_is_read(data: bytes, value: Any) -> None:
    assert jsonrpc.decode(data) == value


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"{} {}",
        b"\xff\xfe{\x00}\x00",
        b'"\xed\xa0\x80"',
        b"NaN",
        b"[-Infinity]",
        b"1e999",
        b"9" * 5000,
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
    ids=lambda data: repr(data[:12]),
)
def test_what_is_not_json_in_utf8_is_refused(data: bytes) -> None:
    with pytest.raises(jsonrpc.InvalidJson):
        jsonrpc.decode(data)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ({"a": [1, "é"]}, '{"a":[1,"é"]}'),
        ([math.nan, math.inf, {"x": -math.inf}, (1.5,)], '[null,null,{"x":null},[1.5]]'),
        (["\ud800", "\ud83d\ude00"], '["\ufffd","😀"]'),
        ("a\nb\u2028", '"a\\nb\u2028"'),
    ],
)
def test_what_is_written_is_one_line_of_json(value: Any, data: str) -> None:
    assert jsonrpc.encode(value) == data.encode()


@given(JSON_VALUES)
def test_any_value_is_written_as_valid_json(value: Any) -> None:
    data = jsonrpc.encode(value)
    assert b"\n" not in data
    assert jsonrpc.decode(data) == json.loads(data)


def test_what_is_no_json_value_raises() -> None:
    loop: list[Any] = []
    loop.append(loop)
    for value in (object(), loop):
        with pytest.raises((TypeError, ValueError, RecursionError)):
            jsonrpc.encode(value)
