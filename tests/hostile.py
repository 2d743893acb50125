"""Hypothesis strategies for messages of broken or hostile peers; most are nearly valid, since those get farthest."""

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from tests.oracle import HANDSHAKE, LEVELS, PREFIX, SKILL, STATELESS

REVISIONS = [*HANDSHAKE, STATELESS, "1999-01-01", ""]
SERVED = ["tools/call", "tools/list", "subscriptions/listen", "server/discover"]
METHODS = [
    *SERVED,
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/directory/read",
    "skills/list",
    "skills/get",
    "tasks/get",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/roots/list_changed",
]
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([2**53 + 1, -(10**300)])
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(max_size=20)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def weighted(*choices: tuple[int, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """Draw from strategies in proportion to their weights (`one_of` ignores repeated strategies)."""
    strategies = [strategy for weight, strategy in choices for _ in range(weight)]
    return st.sampled_from(range(len(strategies))).flatmap(strategies.__getitem__)


IDS: st.SearchStrategy[Any] = st.one_of(
    st.integers(-3, 30),
    st.sampled_from([0, "", "0", "1", 2**63, 10**400, 1.0, 1.5, None, True, [], {}]),
    st.text(max_size=10),
)
VERSION, CAPABILITIES = PREFIX + "protocolVersion", PREFIX + "clientCapabilities"
GOOD_IDS = st.integers(-3, 30) | st.text(max_size=10) | st.sampled_from([0, "", 2**63, 10**400])
ENVELOPES = st.fixed_dictionaries(
    {VERSION: st.sampled_from([STATELESS] * 8 + REVISIONS), CAPABILITIES: st.just({})},
    optional={PREFIX + "clientInfo": st.just({"name": "x", "version": "1"}), "progressToken": GOOD_IDS},
)
METAS = st.fixed_dictionaries({}, optional={"progressToken": GOOD_IDS, "traceparent": st.text(max_size=60)})


def params(tools: list[str], metas: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw parameters that are valid for every method."""
    return st.fixed_dictionaries(
        {
            "name": st.sampled_from(tools),
            "protocolVersion": st.sampled_from(REVISIONS),
            "capabilities": st.just({}),
            "clientInfo": st.just({"name": "x", "version": "1"}),
            "level": st.sampled_from(LEVELS),
            "notifications": st.just({"toolsListChanged": True}),
            "_meta": metas,
        },
        optional={
            "arguments": st.just({})
            | st.dictionaries(st.sampled_from(["petId", "jobId", "state"]), VALUES, max_size=2),
            "requestId": IDS,
            "uri": st.sampled_from([SKILL + "/SKILL.md", SKILL, "skill://other/SKILL.md", ""]),
        },
    )


def valid(tools: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw valid requests and notifications of both eras."""
    parameters = weighted((2, params(tools, ENVELOPES)), (1, params(tools, METAS)))
    method = weighted((1, st.sampled_from(METHODS)), (1, st.sampled_from(SERVED)))
    members = {"jsonrpc": st.just("2.0"), "method": method, "params": parameters}
    return weighted((6, st.fixed_dictionaries(members | {"id": GOOD_IDS})), (1, st.fixed_dictionaries(members)))


@st.composite
def altered(draw: st.DrawFn, objects: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    """Draw an object and remove, replace or add up to three of its members, at any depth."""
    message = copy.deepcopy(draw(objects))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 1, 2, 3]))):
        nested = list(objects_in(message))
        target = nested[draw(st.integers(0, len(nested) - 1))]
        name = draw(st.sampled_from([*target, "id", "result", "error", "cursor", "_meta"]))
        if name in target and draw(st.booleans()):
            del target[name]
        else:
            target[name] = draw(IDS if name == "id" else VALUES)
    return message


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield an object and the objects among its members, at any depth."""
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from objects_in(member)


def messages(tools: list[str]) -> st.SearchStrategy[Any]:
    """Draw JSON values as messages: objects, batches and any others."""
    message = altered(valid(tools))
    return weighted((8, message), (1, st.lists(message | VALUES, max_size=4)), (1, VALUES))


INITIALIZE = st.sampled_from(REVISIONS).map(
    lambda revision: {
        "jsonrpc": "2.0",
        "id": "first",
        "method": "initialize",
        "params": {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    }
)

SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", "\r: ")])


@st.composite
def texts(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> bytes:
    """Draw JSON text in UTF-8, in the styles of several writers; a lone surrogate stays an escape."""
    value = draw(values)
    try:
        return json.dumps(value, ensure_ascii=draw(st.booleans()), separators=draw(SEPARATORS)).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


JUNK = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [
            b"",
            b" \t",
            b"\x0b",
            b"{",
            b"null",
            b"\xff\xfe{}",
            b"\xef\xbb\xbf{}",
            b"NaN",
            b"-Infinity",
            b'{"jsonrpc":"2.0","id":1,"method":"ping","x":1e999}',
            b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
            b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
            b'{"jsonrpc":"2.0","id":7,"method":"\\udfff"}',
            b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}',
            b"[" * 20_000,
            b'{"a":' * 20_000,
            b'{"jsonrpc":"2.0","id":3,"method":"ping","params":' + b"[" * 900 + b"]" * 900 + b"}",
        ]
    ),
)


@st.composite
def damaged(draw: st.DrawFn, texts: st.SearchStrategy[bytes]) -> bytes:
    """Draw bytes and remove, add or replace up to three of them."""
    data = draw(texts)
    start = draw(st.integers(0, len(data)))
    end = min(len(data), start + draw(st.integers(0, 3)))
    return data[:start] + draw(st.binary(max_size=3)) + data[end:]


def bodies(tools: list[str]) -> st.SearchStrategy[bytes]:
    """Draw bytes for one message: mostly JSON texts, some damaged, some no JSON at all."""
    written = texts(messages(tools))
    return weighted((8, written), (1, damaged(written)), (1, JUNK))
