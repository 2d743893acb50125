"""Read how far an operation is that the API carries out in the background: pure functions of responses.

An API says where with `Operation-Location`, `Azure-AsyncOperation` or `Location` beside 202 (RFC 9110 §15.3.3), and how
far in a status document: `status` or `state` (Azure, OpenAI, many others), or `done` (google.longrunning.Operation).
A 303 leads to the result (RFC 9110 §15.4.4); any other answer that is no status document is the result.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import httpx

from .. import plain_text
from ..runtime.upstream.redirects import origin, redirected_request

Outcome: TypeAlias = Literal["running", "succeeded", "failed"]

MAX_STATUS_BYTES: Final = 1024 * 1024
"""Bytes of a status document that are read; a larger answer is the result itself."""

MAX_MESSAGE_LENGTH: Final = 200
"""Characters of a message about the progress."""

_STATUS_HEADERS: Final = ("operation-location", "azure-asyncoperation")
_RUNNING: Final = frozenset(
    {"accepted", "creating", "deleting", "executing", "inprogress", "notstarted", "pending", "preparing", "processing"}
    | {"provisioning", "queued", "resuming", "running", "scheduled", "started", "starting", "submitted", "updating"}
    | {"validating", "waiting", "working"}
)
_SUCCEEDED: Final = frozenset(
    {"complete", "completed", "done", "finished", "ready", "succeeded", "success", "successful"}
)
_FAILED: Final = frozenset(
    {"aborted", "canceled", "cancelled", "error", "errored", "expired", "failed", "failure", "killed", "rejected"}
    | {"terminated", "timedout"}
)
"""Words for the states of an operation, in lower case and letters alone. Any other is the state of a result."""

_STATUS_NAMES: Final = ("status", "state", "provisioningState")
_RESULT_NAMES: Final = ("resourceLocation", "resultUrl", "result_url", "resultLocation", "outputUrl", "output_url")
_PERCENT_NAMES: Final = ("percentComplete", "percent_complete", "progressPercent", "percentage", "progress")
_MESSAGE_NAMES: Final = ("statusMessage", "message", "detail", "stage", "step")


class Status(NamedTuple):
    """State of an operation: its outcome, a description, and the address of its result where that is another."""

    outcome: Outcome
    message: str = ""
    result_url: str = ""


def status_request(request: httpx.Request, response: httpx.Response) -> httpx.Request | None:
    """Return the request for the status of the operation that a response accepted; None where it names no address.

    It has the headers of the call's request, and stays at its origin. A GET that is answered with 202 and Retry-After
    alone is repeated: the answer is not ready yet.
    """
    names = (*_STATUS_HEADERS, "location") if response.status_code == 202 else _STATUS_HEADERS
    address = next((response.headers[name] for name in names if response.headers.get(name)), "")
    if address:
        return get_request(request, address)
    is_repeated = response.status_code == 202 and request.method == "GET" and "retry-after" in response.headers
    return get_request(request, str(request.url)) if is_repeated else None


def get_request(request: httpx.Request, address: str) -> httpx.Request | None:
    """Return a GET of an address with the headers of a request; None unless it is an address of the same origin."""
    redirect = httpx.Response(303, headers={"location": address})
    redirect.request = request
    following = redirected_request(request, redirect, request.url)
    if following is None or origin(following.url) != origin(request.url):
        return None
    following.method = "GET"
    return following


def read_status(first: httpx.Response, asked: httpx.URL, response: httpx.Response) -> Status:
    """Return what the answer from the status address `asked` says.

    `first` is the response that accepted the operation. An answer from another address is the result: a redirect led
    there.
    """
    if response.request.url != asked:
        return Status("succeeded")
    document = _document(response)
    outcome = _outcome(document)
    if outcome is None:
        return Status("running" if response.status_code == 202 else "succeeded", _message(document))
    result_url = _result_url(first, document, response) if outcome == "succeeded" else ""
    return Status(outcome, _message(document), result_url)


def _document(response: httpx.Response) -> Mapping[str, Any]:
    """Return a status document; empty for any other answer."""
    if len(response.content) > MAX_STATUS_BYTES:
        return {}
    try:
        value = json.loads(response.content)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _outcome(document: Mapping[str, Any]) -> Outcome | None:
    """Return the outcome that a document states; None where it states none, as one that is the result itself."""
    if isinstance(document.get("done"), bool):
        return "running" if not document["done"] else "failed" if document.get("error") else "succeeded"
    holders = [
        each for each in (document, document.get("properties"), document.get("metadata")) if isinstance(each, dict)
    ]
    for holder in holders:
        for name in _STATUS_NAMES:
            word = _word(holder.get(name))
            if word in _FAILED:
                return "failed"
            if word in _SUCCEEDED or word in _RUNNING:
                return "succeeded" if word in _SUCCEEDED else "running"
    return None


def _word(value: Any) -> str:
    return "".join(filter(str.isalnum, value.lower()))[:40] if isinstance(value, str) else ""


def _message(document: Mapping[str, Any]) -> str:
    """Return a line about the progress: `running, 40 %, copying files`."""
    holders = [each for each in (document, document.get("metadata")) if isinstance(each, Mapping)]
    parts = [_first(holders, _STATUS_NAMES, str), _percent(holders), _first(holders, _MESSAGE_NAMES, str)]
    return plain_text.line(", ".join(filter(None, parts)), MAX_MESSAGE_LENGTH)


def _first(holders: list[Mapping[str, Any]], names: tuple[str, ...], kind: type) -> str:
    values = (holder.get(name) for holder in holders for name in names)
    return next((str(value)[:MAX_MESSAGE_LENGTH] for value in values if isinstance(value, kind) and value), "")


def _percent(holders: list[Mapping[str, Any]]) -> str:
    values = [holder.get(name) for holder in holders for name in _PERCENT_NAMES]
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    return next((f"{value:g} %" for value in numbers if 1 < value <= 100), "")


def _result_url(first: httpx.Response, document: Mapping[str, Any], response: httpx.Response) -> str:
    """Return the address of the result; empty where the status document is all there is.

    The document names it, or the headers of its answer; else it is the `Location` beside the status address, and for a
    PUT or PATCH the address of the call itself (Azure's guidelines for long-running operations).
    """
    named = next((document[name] for name in _RESULT_NAMES if isinstance(document.get(name), str)), "")
    location = first.headers.get("location", "")
    has_status_header = any(name in first.headers for name in _STATUS_HEADERS)
    own = str(first.request.url) if has_status_header and first.request.method in ("PUT", "PATCH") else ""
    return named or response.headers.get("location", "") or (location if has_status_header else "") or own
