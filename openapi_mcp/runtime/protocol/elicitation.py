"""Elicitation: questions of a server to the user of a client during a call, and their answers. Pure functions.

Revisions of the handshake era ask with a request of the server, which the client answers while the call waits.
2026-07-28 asks with the result of the call (`input_required`): the client repeats the call with the answer and the
`requestState` that it was given.

Specification: client/elicitation of 2025-06-18, 2025-11-25 and 2026-07-28; basic/patterns/mrtr of 2026-07-28.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from ..types import JsonObject, Schema
from . import jsonrpc
from .jsonrpc import Refusal
from .messages import ToolCall, client_capabilities

KEY: Final = "question"
"""The key of the one question in `inputRequests` and of its answer in `inputResponses`."""

INPUT_RESPONSES: Final = "inputResponses"
REQUEST_STATE: Final = "requestState"

FORM: Final = "form"
"""The mode of questions that the client itself shows and answers."""

URL: Final = "url"
"""The mode of questions that a page answers, which the user opens in a browser."""

URL_ELICITATION_REQUIRED: Final = -32042
"""The error of a request that needs a page to be opened before it is repeated (2025-11-25)."""

AnswerAction: TypeAlias = Literal["accept", "decline", "cancel"]


class Form(NamedTuple):
    """A question to be shown as a form: `schema` is a flat object of primitive properties."""

    message: str
    schema: Schema


class WebPage(NamedTuple):
    """A page that the user is to open. `id` is unique for the server."""

    message: str
    url: str
    id: str


Question: TypeAlias = Form | WebPage


class FormAnswer(NamedTuple):
    """The user's answer. `content` holds the values of the form; it is empty unless the action is `accept`."""

    action: AnswerAction
    content: Mapping[str, Any]


class Retry(NamedTuple):
    """Fields of a repeated call besides its arguments: the answer, if it has one, and the state as it was given."""

    answer: FormAnswer | None
    state: str | None


def can_ask(call: ToolCall, mode: str = FORM) -> bool:
    """Return whether the client of a call has elicitation in a mode."""
    if call.revision.asks_by_result:
        return mode in call.revision.elicitation_modes(client_capabilities(call.params))
    return mode in call.elicitation


def request(request_id: str, question: Question) -> JsonObject:
    """Return the request of the server (handshake era). Without `mode`, it is a form in each revision."""
    params = _params(question)
    if isinstance(question, WebPage):
        params["elicitationId"] = question.id
    return {"jsonrpc": "2.0", "id": request_id, "method": "elicitation/create", "params": params}


def completed(page_id: str) -> JsonObject:
    """Return the notification that the user has done what a page is for (2025-11-25)."""
    return jsonrpc.notification("notifications/elicitation/complete", {"elicitationId": page_id})


def withdrawal(request_id: str, reason: str) -> JsonObject:
    """Return the notification that a request of the server needs no answer any more."""
    return jsonrpc.notification("notifications/cancelled", {"requestId": request_id, "reason": reason})


def input_required(call: ToolCall, question: Question, state: str) -> JsonObject:
    """Return the response that asks by its result (2026-07-28)."""
    requests = {KEY: {"method": "elicitation/create", "params": _params(question)}}
    result = {**call.result_fields, "resultType": "input_required", "inputRequests": requests, REQUEST_STATE: state}
    return jsonrpc.result(call.request_id, result)


def page_required(call: ToolCall, page: WebPage) -> JsonObject:
    """Return the error which says that a page must be opened before the call is repeated (2025-11-25)."""
    demanded = {**_params(page), "elicitationId": page.id}
    message = f"{page.message} Open the page, and make the call again after that."
    data = {"elicitations": [demanded]}
    return jsonrpc.error(URL_ELICITATION_REQUIRED, message, request_id=call.request_id, data=data)


def read_retry(call: ToolCall) -> Retry | Refusal:
    """Return what a call has besides its arguments; members of `inputResponses` that were not asked for are ignored."""
    responses, state = call.params.get(INPUT_RESPONSES), call.params.get(REQUEST_STATE)
    if not isinstance(responses, dict | None):
        return Refusal(jsonrpc.INVALID_PARAMS, f"params.{INPUT_RESPONSES} must be an object.")
    if not isinstance(state, str | None):
        return Refusal(jsonrpc.INVALID_PARAMS, f"params.{REQUEST_STATE} must be a string.")
    if responses is None or KEY not in responses:
        return Retry(None, state)
    answer = read_answer(responses[KEY])
    if answer is None:
        message = f"params.{INPUT_RESPONSES}.{KEY} must have an action: accept, decline or cancel."
        return Refusal(jsonrpc.INVALID_PARAMS, message)
    return Retry(answer, state)


def read_answer(result: Any) -> FormAnswer | None:
    """Return the answer in an ElicitResult, None for any other value."""
    action = result.get("action") if isinstance(result, dict) else None
    if action not in ("accept", "decline", "cancel"):
        return None
    content = result.get("content") if action == "accept" else None
    return FormAnswer(action, content if isinstance(content, dict) else {})


def _params(question: Question) -> JsonObject:
    if isinstance(question, WebPage):
        return {"mode": URL, "message": question.message, "url": question.url}
    return {"message": question.message, "requestedSchema": question.schema}
