"""Status of an operation in responses: the address of its status, its outcome, its result."""

from typing import Any

import httpx
import pytest

from openapi_mcp.tasks.status import MAX_MESSAGE_LENGTH, get_request, read_status, status_request

CALL = httpx.Request("POST", "https://api.test/v1/jobs?steps=2", headers={"x-key": "k", "content-type": "text/plain"})


def first(status: int = 202, call: httpx.Request = CALL, **headers: str) -> httpx.Response:
    return httpx.Response(status, headers={k.replace("_", "-"): v for k, v in headers.items()}, request=call)


def asked(json: Any = None, status: int = 200, **headers: str) -> httpx.Response:
    request = httpx.Request("GET", "https://api.test/s/1")
    return httpx.Response(status, json=json, request=request, headers=headers)


@pytest.mark.parametrize(
    ("response", "url"),
    [
        (first(location="/s/1"), "https://api.test/s/1"),
        (first(location="s/1"), "https://api.test/v1/s/1"),
        (first(operation_location="/o", location="/s"), "https://api.test/o"),
        (first(azure_asyncoperation="https://api.test/o"), "https://api.test/o"),
        (first(201, operation_location="/o"), "https://api.test/o"),
        (first(201, location="/created"), None),
        (first(retry_after="1"), None),
        (first(location="https://evil.test/s"), None),
        (first(location="http://api.test/s"), None),
        (first(location="https://api.test:8443/s"), None),
        (first(location="//evil.test/s"), None),
        (first(location="https://api.test@evil.test/s"), None),
        (first(location="file:///etc/passwd"), None),
        (first(location="http://[::1"), None),
        (first(location=""), None),
    ],
)
def test_address_of_the_status_is_at_the_origin_of_the_call(response: httpx.Response, url: str | None) -> None:
    request = status_request(CALL, response)
    assert (request and str(request.url)) == url
    if request is not None:
        assert (request.method, request.headers["x-key"]) == ("GET", "k")
        assert "content-type" not in request.headers


def test_get_that_is_not_ready_is_repeated() -> None:
    call = httpx.Request("GET", "https://api.test/report?id=1")
    request = status_request(call, first(call=call, retry_after="1"))
    assert request is not None
    assert request.url == call.url


@pytest.mark.parametrize(
    ("json", "outcome"),
    [
        ({"status": "Running"}, "running"),
        ({"status": "in_progress"}, "running"),
        ({"status": "NOT STARTED"}, "running"),
        ({"state": "QUEUED"}, "running"),
        ({"properties": {"provisioningState": "Updating"}}, "running"),
        ({"done": False}, "running"),
        ({"metadata": {"state": "pending"}}, "running"),
        ({"status": "Succeeded"}, "succeeded"),
        ({"status": "completed"}, "succeeded"),
        ({"done": True, "response": {}}, "succeeded"),
        ({"done": True, "error": {"code": 3}}, "failed"),
        ({"status": "Failed"}, "failed"),
        ({"state": "CANCELLED"}, "failed"),
        ({"status": "active"}, "succeeded"),
        ({"status": 7, "id": 1}, "succeeded"),
        ([1], "succeeded"),
        (None, "succeeded"),
        ({}, "succeeded"),
    ],
)
def test_outcome(json: Any, outcome: str) -> None:
    assert read_status(first(location="/s/1"), httpx.URL("https://api.test/s/1"), asked(json)).outcome == outcome


def test_status_202_goes_on_unless_its_document_says_that_it_ended() -> None:
    url = httpx.URL("https://api.test/s/1")
    assert read_status(first(), url, asked(None, 202)).outcome == "running"
    assert read_status(first(), url, asked({"status": "failed"}, 202)).outcome == "failed"


def test_answer_from_another_address_is_the_result() -> None:
    status = read_status(first(), httpx.URL("https://api.test/s/1"), asked({"status": "running"}))
    assert status.outcome == "running"
    assert read_status(first(), httpx.URL("https://api.test/s/2"), asked({"status": "running"})).outcome == "succeeded"


@pytest.mark.parametrize(
    ("response", "json", "url"),
    [
        (first(operation_location="/s/1"), {"status": "done", "resourceLocation": "/r"}, "/r"),
        (first(operation_location="/s/1", location="/r"), {"status": "done"}, "/r"),
        (first(location="/s/1"), {"status": "done"}, ""),
        (first(location="/s/1"), {"status": "done", "result_url": "/r"}, "/r"),
        (first(location="/s/1"), {"status": "failed", "result_url": "/r"}, ""),
    ],
)
def test_address_of_the_result(response: httpx.Response, json: Any, url: str) -> None:
    assert read_status(response, httpx.URL("https://api.test/s/1"), asked(json)).result_url == url


def test_result_of_a_put_is_its_resource() -> None:
    call = httpx.Request("PUT", "https://api.test/vm/1")
    status = read_status(
        first(201, call, operation_location="/s"), httpx.URL("https://api.test/s/1"), asked({"status": "ok"})
    )
    assert status.outcome == "succeeded"
    done = read_status(
        first(201, call, operation_location="/s"), httpx.URL("https://api.test/s/1"), asked({"status": "done"})
    )
    assert done.result_url == "https://api.test/vm/1"


@pytest.mark.parametrize(
    "json",
    [{"status": "running", "message": "x\x1b[31m\u202e" * 10_000}, {"status": "running", "percentComplete": 10**400}],
)
def test_messages_are_plain_and_short(json: Any) -> None:
    message = read_status(first(), httpx.URL("https://api.test/s/1"), asked(json)).message
    assert len(message) <= MAX_MESSAGE_LENGTH
    assert message.isprintable()


def test_hostile_documents_are_read_as_results() -> None:
    request = httpx.Request("GET", "https://api.test/s/1")
    for content in (b"[" * 100_000, b'{"status": "running"' + b" " * 2_000_000 + b"}", b"\xff\xfe"):
        response = httpx.Response(200, content=content, request=request)
        assert read_status(first(), request.url, response).outcome == "succeeded"


def test_result_of_another_origin_is_not_fetched() -> None:
    assert get_request(CALL, "https://evil.test/r") is None
