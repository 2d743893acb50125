"""Trace context of a client: well-formed values are accepted, all others are dropped without an error."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.protocol import trace_context
from tests.runtime.protocol.test_jsonrpc import JSON_VALUES

PARENT = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"


@pytest.mark.parametrize(
    "value",
    [
        "",
        PARENT.upper(),
        PARENT + "\n",
        " " + PARENT,
        PARENT + "-extra",
        PARENT.replace("00-", "ff-", 1),
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-0af7651916cd43dd8448eb211c80319c-{'0' * 16}-01",
        PARENT[:-1],
        None,
        1,
        [PARENT],
    ],
)
def test_invalid_traceparent_is_dropped_with_its_tracestate(value: Any) -> None:
    assert trace_context.read({"traceparent": value, "tracestate": "a=1"}) == {}


def test_traceparent_of_a_later_version_is_accepted() -> None:
    later = PARENT.replace("00-", "01-", 1)
    assert trace_context.read({"traceparent": later}) == {"traceparent": later}


@pytest.mark.parametrize("value", ["rojo=00f067aa0ba902b7", "a=1,b=2", "a=1 , \t,x/y@z=a b", "0=~", "a=" + "x" * 256])
def test_tracestate_without_traceparent_is_dropped(value: str) -> None:
    assert trace_context.read({"traceparent": PARENT, "tracestate": value}) == {
        "traceparent": PARENT,
        "tracestate": value,
    }
    assert trace_context.read({"tracestate": value}) == {}


@pytest.mark.parametrize(
    "value",
    [
        "",
        " , ",
        "a",
        "A=1",
        "a=",
        "a=b=c",
        "a=é",
        "a=1\r\nx: y",
        "a=\x00",
        "a=" + "x" * 257,
        ",".join(f"k{n}=1" for n in range(33)),
        "a=" + " " * 8192,
        3,
    ],
)
def test_invalid_tracestate_leaves_its_traceparent(value: Any) -> None:
    assert trace_context.read({"traceparent": PARENT, "tracestate": value}) == {"traceparent": PARENT}


@pytest.mark.parametrize("value", ["a=1", "a = 1 ; p ; q=%20 , b=", "user=caf%C3%A9", "a=" + "x" * 8000])
def test_baggage_needs_no_traceparent(value: str) -> None:
    assert trace_context.read({"baggage": value}) == {"baggage": value}


@pytest.mark.parametrize(
    "value",
    [
        "",
        "a",
        "a=1,",
        "a=b c",
        'a="b"',
        "a=b,c\n=d",
        "é=1",
        "a=1;",
        "a=1;p q",
        ",".join("k=1" for _ in range(65)),
        "a=" + "x" * 8191,
        {},
    ],
)
def test_invalid_baggage_is_dropped(value: Any) -> None:
    assert trace_context.read({"baggage": value, "traceparent": PARENT}) == {"traceparent": PARENT}


@pytest.mark.slow
@given(JSON_VALUES | st.fixed_dictionaries(dict.fromkeys(("traceparent", "tracestate", "baggage"), JSON_VALUES)))
def test_any_meta_is_read_as_valid_headers(meta: Any) -> None:
    for value in trace_context.read(meta).values():
        assert value.isascii()
        assert value.replace("\t", " ").isprintable()
