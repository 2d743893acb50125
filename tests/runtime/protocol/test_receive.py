"""`receive` over arbitrary messages: it never raises, and answers each request once, with the id of the request."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openapi_mcp.runtime.protocol import (
    HANDSHAKE,
    STATELESS,
    Cancellation,
    ServerDescription,
    Session,
    Step,
    Subscription,
    ToolCall,
    ToolList,
    is_stateless,
    jsonrpc,
    messages,
    receive,
)
from openapi_mcp.runtime.types import Implementation, error_result
from tests.runtime.pets import DESCRIPTION
from tests.runtime.protocol.test_jsonrpc import JSON_VALUES

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
REVISIONS = [*HANDSHAKE, *STATELESS, "1999-01-01"]
METHODS = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "subscriptions/listen",
    "logging/setLevel",
    "notifications/cancelled",
    "x",
]


def mostly(likely: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw a value that passes most checks, and now and then any JSON value."""
    return st.one_of(likely, likely, likely, JSON_VALUES)


ENVELOPES = st.fixed_dictionaries(
    {VERSION: mostly(st.sampled_from(REVISIONS))}, optional={CAPABILITIES: mostly(st.just({}))}
)
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "_meta": mostly(ENVELOPES),
        "name": mostly(st.just("getPet")),
        "arguments": mostly(st.just({})),
        "cursor": mostly(st.just("c")),
        "protocolVersion": mostly(st.sampled_from(REVISIONS)),
        "requestId": mostly(st.just(1)),
        "level": mostly(st.sampled_from(messages.LEVELS)),
        "notifications": mostly(st.just({"toolsListChanged": True})),
    },
)
OBJECTS = st.fixed_dictionaries(
    {"jsonrpc": mostly(st.just("2.0"))},
    optional={
        "id": mostly(st.integers() | st.text()),
        "method": mostly(st.sampled_from(METHODS)),
        "params": mostly(PARAMS),
        "result": JSON_VALUES,
        "error": JSON_VALUES,
    },
)
MESSAGES = st.one_of(OBJECTS, OBJECTS, JSON_VALUES, st.lists(OBJECTS | JSON_VALUES, max_size=4))
HEADERS = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "mcp-protocol-version": st.sampled_from(REVISIONS) | st.text(),
        "mcp-method": st.sampled_from(METHODS) | st.text(),
        "mcp-name": st.just("getPet") | st.text(),
    },
)
SESSIONS = st.sampled_from([Session(), *map(Session, HANDSHAKE), *(Session(name, "s1", "info") for name in HANDSHAKE)])


def reply(step: Step) -> Any:
    """Return the reply of a step: the immediate one, or an answer to its action."""
    match step.action:
        case ToolCall() as call:
            return call.reply(error_result("x"), {})
        case ToolList() as tool_list:
            return tool_list.reply(tool_list.render([], None))
        case Subscription() as subscription:
            return subscription.reply()
    return step.reply


def is_request(message: Any) -> bool:
    """Return whether a message must be answered: it has a method and a valid id."""
    return isinstance(message, dict) and "method" in message and "id" in message and jsonrpc.is_id(message["id"])


@pytest.mark.slow
@settings(max_examples=250)
@given(message=MESSAGES, headers=HEADERS, session=SESSIONS)
def test_receive_never_raises_and_answers_every_request(
    message: Any, headers: dict[str, str] | None, session: Session
) -> None:
    step = receive(DESCRIPTION, session, message, headers)
    assert step.status in {200, 202, 400, 404}
    assert step.session.revision is None or step.session.revision in HANDSHAKE
    assert step.session.id == session.id
    assert not is_stateless(message, headers) or step.session == session
    steps = list(zip(message, step.batch, strict=True)) if step.batch else [(message, step)]
    for part, part_step in steps:
        answer = reply(part_step)
        assert answer is None or jsonrpc.encode(answer)
        if is_request(part):
            assert answer["id"] == part["id"]
            assert ("result" in answer) != ("error" in answer)
        elif answer is not None:
            assert "error" in answer
            assert "id" not in answer or answer["id"] == part["id"]


@pytest.mark.slow
@given(message=OBJECTS, session=SESSIONS)
def test_stateless_error_codes_are_never_sent_in_the_handshake_era(message: dict[str, Any], session: Session) -> None:
    answer = reply(receive(DESCRIPTION, session, message))
    code = answer["error"]["code"] if answer and "error" in answer else 0
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    enveloped = isinstance(meta, dict) and VERSION in meta
    assert enveloped or not -32099 <= code <= -32020


@pytest.mark.slow
@given(message=OBJECTS, headers=HEADERS, session=SESSIONS)
def test_cancellation_by_id_over_http_needs_a_session(
    message: dict[str, Any], headers: dict[str, str] | None, session: Session
) -> None:
    action = receive(DESCRIPTION, session, message, headers).action
    unique = headers is None or (session.id is not None and not is_stateless(message, headers))
    assert unique or not isinstance(action, Cancellation)


@pytest.mark.slow
@given(message=MESSAGES, headers=HEADERS, session=SESSIONS)
def test_stateless_era_ignores_the_session(message: Any, headers: dict[str, str] | None, session: Session) -> None:
    if headers is not None and is_stateless(message, headers):
        with_session = receive(DESCRIPTION, session, message, headers)
        assert with_session._replace(session=Session()) == receive(DESCRIPTION, Session(), message, headers)


@pytest.mark.parametrize(
    ("message", "headers", "stateless"),
    [
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, None, False),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {}, False),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {"mcp-protocol-version": "2025-11-25"}, False),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {"mcp-protocol-version": "2026-07-28"}, True),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {"mcp-protocol-version": "1999-01-01"}, True),
        ({"jsonrpc": "2.0", "id": 1, "method": "initialize"}, {"mcp-protocol-version": "2026-07-28"}, False),
        ({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"_meta": {VERSION: ""}}}, {}, True),
        ({"jsonrpc": "2.0", "method": "notifications/x", "params": {"_meta": {VERSION: ""}}}, None, True),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, {"mcp-protocol-version": "2026-07-28"}, True),
        ([], {"mcp-protocol-version": "2025-03-26"}, False),
        (None, {}, False),
    ],
)
def test_message_era(message: Any, headers: dict[str, str] | None, stateless: bool) -> None:
    assert is_stateless(message, headers) == stateless


def test_initialize_result_omits_absent_instructions() -> None:
    description = ServerDescription(implementation=Implementation(name="n", version="1"))
    params = {"protocolVersion": "2025-11-25"}
    step = receive(description, Session(), {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    assert step.reply is not None
    assert "instructions" not in step.reply["result"]
    assert step.reply["result"]["serverInfo"] == {"name": "n", "version": "1"}


def test_call_ends_with_its_connection_in_the_stateless_era_alone() -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "getPet"}}
    envelope = {VERSION: "2026-07-28", CAPABILITIES: {}}
    modern = {**call, "params": {"name": "getPet", "_meta": envelope}}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "getPet"}
    assert receive(DESCRIPTION, Session(), modern, headers).ends_with_connection
    assert not receive(DESCRIPTION, Session(), call, {}).ends_with_connection
