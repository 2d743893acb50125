"""Elicitation as messages: which clients are asked, how each revision asks, and how answers are read."""

from typing import Any

import pytest

from openapi_mcp.runtime import protocol
from openapi_mcp.runtime.protocol import (
    HANDSHAKE,
    STATELESS,
    ClientAnswer,
    ServerDescription,
    Session,
    ToolCall,
    elicitation,
)
from openapi_mcp.runtime.protocol.elicitation import Form, FormAnswer, Retry, WebPage
from openapi_mcp.runtime.protocol.jsonrpc import Refusal
from openapi_mcp.runtime.types import Implementation

DESCRIPTION = ServerDescription(implementation=Implementation("s", "1"), elicits=True)
FORM = Form("Really?", {"type": "object", "properties": {"confirm": {"type": "boolean"}}})
REVISIONS = {**HANDSHAKE, **STATELESS}


@pytest.mark.parametrize(
    ("revision", "capabilities", "modes"),
    [
        ("2024-11-05", {"elicitation": {}}, ()),
        ("2025-03-26", {"elicitation": {}}, ()),
        ("2025-06-18", {"elicitation": {}}, ("form",)),
        ("2025-06-18", {"elicitation": {"form": {}, "url": {}}}, ("form",)),
        ("2025-11-25", {"elicitation": {}}, ("form",)),
        ("2025-11-25", {"elicitation": {"url": {}}}, ("url",)),
        ("2025-11-25", {"elicitation": {"form": {}, "url": {}}}, ("form", "url")),
        ("2026-07-28", {"elicitation": {}}, ("form",)),
        ("2026-07-28", {"elicitation": {"url": {}}}, ("url",)),
        ("2026-07-28", {"elicitation": {"form": None}}, ()),
        ("2026-07-28", {"sampling": {}}, ()),
        ("2026-07-28", {"elicitation": True}, ()),
        ("2026-07-28", None, ()),
    ],
)
def test_modes_of_elicitation_follow_from_the_capabilities(revision: str, capabilities: Any, modes: Any) -> None:
    assert REVISIONS[revision].elicitation_modes(capabilities) == modes


def opened(capabilities: Any, revision: str = "2025-11-25", **description: Any) -> Session:
    params = {"protocolVersion": revision, "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    about = ServerDescription(implementation=Implementation("s", "1"), **{"elicits": True, **description})
    return protocol.receive(about, Session(), message).session


def called(session: Session, **params: Any) -> ToolCall:
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "t", **params}}
    action = protocol.receive(DESCRIPTION, session, message).action
    assert isinstance(action, ToolCall)
    return action


def stateless(capabilities: Any, **params: Any) -> ToolCall:
    prefix = "io.modelcontextprotocol/"
    meta = {f"{prefix}protocolVersion": "2026-07-28", f"{prefix}clientCapabilities": capabilities}
    return called(Session(), _meta=meta, **params)


def test_client_of_a_session_is_asked_as_it_declared() -> None:
    assert elicitation.can_ask(called(opened({"elicitation": {}})))
    assert not elicitation.can_ask(called(opened({"elicitation": {"url": {}}})))
    assert not elicitation.can_ask(called(opened({})))
    assert not elicitation.can_ask(called(opened({"elicitation": {}}, "2025-03-26")))
    assert opened({"elicitation": {}}, elicits=False) == Session(revision="2025-11-25")


def test_client_of_a_stateless_call_is_asked_as_the_call_declares() -> None:
    assert elicitation.can_ask(stateless({"elicitation": {}}))
    assert not elicitation.can_ask(stateless({"elicitation": {"url": {}}}))
    assert not elicitation.can_ask(stateless({}))


def test_request_of_the_server_is_a_form() -> None:
    assert elicitation.request("ask-1", FORM) == {
        "jsonrpc": "2.0",
        "id": "ask-1",
        "method": "elicitation/create",
        "params": {"message": "Really?", "requestedSchema": FORM.schema},
    }


def test_question_by_result_has_the_fields_of_every_result() -> None:
    reply = elicitation.input_required(stateless({"elicitation": {}}), FORM, "sealed")
    assert reply["id"] == 2
    assert reply["result"]["resultType"] == "input_required"
    assert reply["result"]["requestState"] == "sealed"
    assert "io.modelcontextprotocol/serverInfo" in reply["result"]["_meta"]
    (request,) = reply["result"]["inputRequests"].values()
    assert request == {
        "method": "elicitation/create",
        "params": {"message": "Really?", "requestedSchema": FORM.schema},
    }


@pytest.mark.parametrize(
    ("params", "retry"),
    [
        ({}, Retry(None, None)),
        ({"requestState": "s"}, Retry(None, "s")),
        ({"inputResponses": {"other": 1}, "requestState": "s"}, Retry(None, "s")),
        (
            {"inputResponses": {"question": {"action": "accept", "content": {"a": 1}}, "other": 1}},
            Retry(FormAnswer("accept", {"a": 1}), None),
        ),
        (
            {"inputResponses": {"question": {"action": "decline", "content": {"a": 1}}}, "requestState": "s"},
            Retry(FormAnswer("decline", {}), "s"),
        ),
        ({"inputResponses": {"question": {"action": "accept", "content": []}}}, Retry(FormAnswer("accept", {}), None)),
    ],
)
def test_answer_of_a_repeated_call_is_read(params: Any, retry: Retry) -> None:
    assert elicitation.read_retry(stateless({}, **params)) == retry


@pytest.mark.parametrize(
    "params",
    [
        {"inputResponses": []},
        {"requestState": {}},
        {"inputResponses": {"question": None}},
        {"inputResponses": {"question": {"action": "agree"}}},
        {"inputResponses": {"question": {"action": ["accept"]}}},
    ],
)
def test_malformed_answer_is_refused(params: Any) -> None:
    refusal = elicitation.read_retry(stateless({}, **params))
    assert isinstance(refusal, Refusal)
    assert refusal.code == -32602


def response(**members: Any) -> Any:
    return {"jsonrpc": "2.0", **members}


def test_answer_of_a_client_is_an_action_only_where_it_was_asked() -> None:
    message = response(id="ask-1", result={"action": "accept", "content": {"a": 1}, "_meta": {"x": "y"}})
    asked = opened({"elicitation": {}})
    step = protocol.receive(DESCRIPTION, asked, message)
    assert step.action == ClientAnswer("ask-1", {"action": "accept", "content": {"a": 1}})
    assert (step.reply, step.status) == (None, 202)
    assert protocol.receive(DESCRIPTION, opened({}), message).action is None


@pytest.mark.parametrize("request_id", [None, 1, [], {}, "x" * 65])
def test_answer_with_an_id_that_this_server_never_gives_is_ignored(request_id: Any) -> None:
    step = protocol.receive(DESCRIPTION, opened({"elicitation": {}}), response(id=request_id, result={}))
    assert (step.action, step.reply) == (None, None)


def test_error_is_an_answer_without_a_result() -> None:
    step = protocol.receive(DESCRIPTION, opened({"elicitation": {}}), response(id="ask-1", error={"code": -1}))
    assert step.action == ClientAnswer("ask-1", None)


PAGE = WebPage("Sign in.", "https://id.test/auth?state=s", "page-1")


def test_page_is_a_request_with_its_id() -> None:
    assert elicitation.request("ask-1", PAGE)["params"] == {
        "mode": "url",
        "message": "Sign in.",
        "url": "https://id.test/auth?state=s",
        "elicitationId": "page-1",
    }
    completed = {"method": "notifications/elicitation/complete", "params": {"elicitationId": "page-1"}}
    assert elicitation.completed(PAGE.id) == {"jsonrpc": "2.0", **completed}


def test_page_that_is_asked_for_by_result_has_no_id() -> None:
    reply = elicitation.input_required(stateless({"elicitation": {"url": {}}}), PAGE, "sealed")
    (request,) = reply["result"]["inputRequests"].values()
    assert request["params"] == {"mode": "url", "message": "Sign in.", "url": "https://id.test/auth?state=s"}


def test_page_that_is_demanded_is_an_error_of_its_own() -> None:
    reply = elicitation.page_required(stateless({}), PAGE)
    assert reply["error"]["code"] == -32042
    assert reply["error"]["data"] == {"elicitations": [elicitation.request("ask-1", PAGE)["params"]]}
    assert reply["error"]["message"].startswith("Sign in.")
