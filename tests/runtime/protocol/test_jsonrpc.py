"""JSON-RPC messages: their classification, and the bytes in both directions, which are always JSON."""

import json
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.protocol import jsonrpc
from openapi_mcp.runtime.protocol.jsonrpc import MalformedMessage, Notification, Request, Response

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("request_id", [0, 1, -1, 2**80, "", "a", "0", 1.0])
def test_request_id_is_unchanged(request_id: Any) -> None:
    message = jsonrpc.classify({"jsonrpc": "2.0", "id": request_id, "method": "ping"})
    assert message == Request(request_id, "ping", None)
    assert isinstance(message, Request)
    assert type(message.id) is type(request_id)


@pytest.mark.parametrize("request_id", [None, True, False, 1.5, math.inf, math.nan, [], {}, "\ud800"])
def test_invalid_id_is_answered_by_an_error_without_id(request_id: Any) -> None:
    message = jsonrpc.classify({"jsonrpc": "2.0", "id": request_id, "method": "ping"})
    assert isinstance(message, MalformedMessage)
    assert message.reply["error"]["code"] == jsonrpc.INVALID_REQUEST
    assert "id" not in message.reply


@pytest.mark.parametrize("value", [None, 1, "ping", True, [], [{}]])
def test_value_that_is_not_an_object_is_malformed(value: Any) -> None:
    assert isinstance(jsonrpc.classify(value), MalformedMessage)


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
def test_malformed_request_with_an_id_gets_an_error_with_that_id(message: Any) -> None:
    broken = jsonrpc.classify(message)
    assert isinstance(broken, MalformedMessage)
    assert (broken.reply["id"], broken.reply["error"]["code"]) == (7, jsonrpc.INVALID_REQUEST)


def test_a_message_without_id_is_a_notification() -> None:
    assert jsonrpc.classify({"jsonrpc": "2.0", "method": "m", "params": {}}) == Notification("m", {})


@pytest.mark.parametrize(
    "message", [{"id": 1, "result": {}}, {"id": None, "error": {}}, {"jsonrpc": "2.0", "error": 1}]
)
def test_malformed_response_is_never_answered(message: Any) -> None:
    assert isinstance(jsonrpc.classify(message), Response)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"\xef\xbb\xbf{}", {}),
        (b' {"a": 1.5, "a": 2}\r\n', {"a": 2}),
        ('"é\\ud83d\\ude00"'.encode(), "é😀"),
    ],
)
def test_json_in_utf8_is_decoded(data: bytes, value: Any) -> None:
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
def test_invalid_json_or_utf8_is_refused(data: bytes) -> None:
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
def test_encoded_message_is_one_line_of_json(value: Any, data: str) -> None:
    assert jsonrpc.encode(value) == data.encode()


@given(JSON_VALUES)
def test_any_value_is_encoded_as_valid_json(value: Any) -> None:
    data = jsonrpc.encode(value)
    assert b"\n" not in data
    assert jsonrpc.decode(data) == json.loads(data)


def test_encoding_a_value_that_is_not_json_raises() -> None:
    loop: list[Any] = []
    loop.append(loop)
    for value in (object(), loop):
        with pytest.raises((TypeError, ValueError, RecursionError)):
            jsonrpc.encode(value)


@pytest.mark.parametrize(
    ("data", "request_id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"m","params":{"x":NaN}}', 7),
        (b'{"jsonrpc":"2.0","id":"a\\"b","method":"m","params":{"x":1e999}}', 'a"b'),
        (b'{"method":"m","params":{"id":1,"a":["id"],"b":"\\"id\\":2"},"c":Infinity, "id" : 3 }', 3),
        (b'{"id":4,"params":"\xff"}', 4),
        (b'{"id":5,"params":{"text":"cut', 5),
        (b'{"id":6,"params":' + b"[" * 100_000 + b"]" * 100_000 + b"}", 6),
        (b'\xef\xbb\xbf{"id":-8,}', -8),
        (b'{"params":"cut, "id":1}', None),
        (b'{"params":{"id":1},"x":NaN}', None),
        (b'{"id":"\xff","x":NaN}', None),
        (b'{"id":1', None),
        (b'{"id":1.5,"x":NaN}', None),
        (b'{"id":null,"x":NaN}', None),
        (b'{"id":true,"x":NaN}', None),
        (b'{"id":' + b"1" * 5000 + b',"x":NaN}', None),
        (b'[{"id":1},NaN]', None),
        (b"no JSON", None),
        (b'"' + b"\\" * 100_001, None),
    ],
)
def test_id_of_a_message_that_is_not_json_is_read_where_it_can_be(data: bytes, request_id: Any) -> None:
    with pytest.raises(jsonrpc.InvalidJson) as failure:
        jsonrpc.decode(data)
    assert failure.value.request_id == request_id


@pytest.mark.parametrize(
    ("end", "request_id"),
    [(b'xx"},"jsonrpc":"2.0","id":7}', 7), (b'x, "id": "a" }\r', "a"), (b'"id":7}}', None), (b'"id":7,"x":1}', None)],
)
def test_id_at_the_end_of_a_long_message_is_read(end: bytes, request_id: Any) -> None:
    assert jsonrpc.find_last_id(end) == request_id


@given(st.binary() | st.text('{}[]"id:,1\\\\').map(str.encode))
def test_search_for_an_id_never_fails(data: bytes) -> None:
    assert jsonrpc.find_id(data) is None or jsonrpc.is_id(jsonrpc.find_id(data))
    assert jsonrpc.find_last_id(data) is None or jsonrpc.is_id(jsonrpc.find_last_id(data))


@pytest.mark.slow
@given(JSON_VALUES | st.lists(JSON_VALUES))
def test_decoding_in_steps_returns_the_same(value: Any) -> None:
    data = json.dumps(value, allow_nan=False).encode() if is_finite(value) else b"[NaN]"
    assert outcome(jsonrpc.decode_in_steps, data) == outcome(jsonrpc.decode, data)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[1,]", b'{"a":1,"a":2}', b"[1e999]", b"[1e2, 1.5, -0]", b"[" * 100_000, b'"\xff"', b"[NaN]", b"1 2"],
)
def test_decoding_in_steps_refuses_the_same(data: bytes) -> None:
    assert outcome(jsonrpc.decode_in_steps, data) == outcome(jsonrpc.decode, data)


def is_finite(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def outcome(decode: Callable[[bytes], Any], data: bytes) -> Any:
    try:
        return json.dumps(decode(data))
    except jsonrpc.InvalidJson as problem:
        return str(problem)


def test_other_threads_run_while_a_large_message_is_decoded() -> None:
    data = b"[" + b"[]," * 300_000 + b"[]]"
    assert jsonrpc.count_values(data)[0] > jsonrpc.MAX_QUICK_VALUES
    with ThreadPoolExecutor() as pool:
        decoding = pool.submit(jsonrpc.decode_in_steps, data)
        turns = 0
        while not decoding.done():
            time.sleep(0.001)
            turns += 1
    assert len(decoding.result()) == 300_001
    assert turns > 5


def test_id_of_a_large_message_that_is_not_json_is_found_at_once() -> None:
    for wrong in (b"[" * 4_000_000, b"[]," * 1_400_000, b'"a",' * 1_000_000):
        started = time.process_time()
        assert jsonrpc.find_id(b'{"jsonrpc":"2.0","id":7,"params":' + wrong) == 7
        assert jsonrpc.find_id(b'{"jsonrpc":"2.0","params":' + wrong) is None
        assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    ("data", "full"), [(b"[[1],{}]", 2), (b'{"a":{"b":[]}}', 2), (b"[" * 100, 0), (b'{"a":' * 100, 0), (b"[[],[]]", 1)]
)
def test_containers_that_are_full_and_complete_are_counted(data: bytes, full: int) -> None:
    assert jsonrpc.count_values(data)[1] == full


@pytest.mark.parametrize("data", [b'{"text":"' + b"a [b] {c}\\n" * 1000 + b'"}', b'["' + b"a" * 4_000_000 + b'"]'])
def test_text_is_decoded_at_once(data: bytes) -> None:
    assert jsonrpc.count_values(data)[0] <= jsonrpc.MAX_QUICK_VALUES
