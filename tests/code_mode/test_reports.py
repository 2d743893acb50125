"""Calls of a program: notified while it runs, and listed in its result and in its errors."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from openapi_mcp.code_mode.limits import CodeLimits
from openapi_mcp.code_mode.report import Call, report, shorten
from openapi_mcp.code_mode.tools import code_catalog
from openapi_mcp.runtime.protocol import Session
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server import notifications
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import Argument
from openapi_mcp.runtime.upstream.client import Upstream
from tests.code_mode.api import Api, more
from tests.runtime.making import tool
from tests.runtime.pets import DESCRIPTION, TOOLS
from tests.runtime.wire import call

pytestmark = pytest.mark.process

NAME = Argument(name="name", wire_name="name", location="query", style="form")
ID = Argument(name="id", location="path", required=True)


class Shop(Api):
    """An API that makes things, one of which it refuses."""

    def __init__(self) -> None:
        super().__init__(
            tool("/items", NAME, name="create", method="POST"),
            tool("/items/{id}", ID, name="remove", method="DELETE"),
            tool("/items", name="items"),
            limits=CodeLimits(seconds=10, compute_seconds=1),
        )

    def respond(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.url.params.get("name") == "bad":
            problem = {"type": "about:blank", "title": "Unprocessable", "detail": "bad is no name", "status": 422}
            return httpx.Response(422, json=problem)
        if request.method == "POST":
            return httpx.Response(201, json={"id": len(self.requests), "name": request.url.params.get("name")})
        return httpx.Response(204) if request.method == "DELETE" else httpx.Response(200, json=[])


def test_an_error_tells_line_call_words_of_the_api_and_what_was_done() -> None:
    error = Shop().error("items()\nfor name in ('a', 'b', 'bad', 'c'):\n    items()\n    made = create(name=name)\n")
    assert "  Line 4, in <module>\n    made = create(name=name)" in error
    assert 'RuntimeError: create(name="bad"): 422' in error
    assert "bad is no name" in error
    assert error.endswith(
        "7 calls made before the error. These may have changed something, and are not undone:\n"
        '- create(name="a"): 201, id 3\n'
        '- create(name="b"): 201, id 5\n'
        '- create(name="bad"): 422\n'
        "Only read: items 200 x4."
    )


def test_a_result_lists_the_calls_with_those_first_that_may_have_changed_something() -> None:
    code = "for n in range(3):\n    items()\nremove(id=1)\ncreate(name='a')\n"
    code += "try:\n    create(name='bad')\nexcept RuntimeError:\n    pass\n'end'"
    assert Shop().texts(code) == [
        "end",
        "6 calls made: remove 204 (changing); create 201, 422 (changing); items 200 x3.",
    ]
    assert Shop().texts("1 + 1") == ["2"]


def test_other_errors_list_the_calls_too() -> None:
    made = (
        '1 call made before the error. These may have changed something, and are not undone:\n- create(name="a"): 201'
    )
    assert made in Shop().error("create(name='a')\n[][1]")
    assert made in Shop().error("create(name='a')\nwhile True: pass")
    assert made in Shop().error("create(name='a')\n['x' * 1000] * 100000")


def test_the_list_of_calls_is_bounded() -> None:
    api = Shop()
    many = [Call(more(f"get-{number}"), "", 200) for number in range(200)]
    assert len(report(many)) < 1000
    assert report(many).endswith("get-11 200; and 188 more tools.")
    change = api.server.catalog.get("create")
    assert change is not None
    changes = [Call(change, shorten({"name": "x" * 500, "other": {"a": [1] * 1000}}), 0) for _ in range(200)]  # type: ignore[arg-type]
    text = report(changes, "before the error")
    assert len(text) < 4000
    assert text.count("\n- ") == 21
    assert text.endswith("- create no response x180")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"id": 1, "name": "Rex"}, 'id=1, name="Rex"'),
        ({"pet": {"name": "Rex"}, "tags": ["a"]}, 'pet={"name": "Rex"}, tags=["a"]'),
        ({"text": "x" * 100_000}, f'text="{"x" * 38}…'),
        ({}, ""),
    ],
)
def test_arguments_are_shortened(arguments: dict[str, Any], text: str) -> None:
    assert shorten(arguments) == text


def notified(code: str, respond: Any, revision: str = "2025-11-25", token: str | None = "t") -> list[dict[str, Any]]:  # noqa: S107
    """Run a program and return its progress notifications."""
    messages: list[dict[str, Any]] = []

    async def notify(message: bytes) -> None:
        if message:
            messages.append(json.loads(message)["params"])

    async def once() -> None:
        upstream = Upstream(transport=httpx.MockTransport(respond))
        options = RequestOptions(base_url="http://api.test")
        server = Server(code_catalog(TOOLS), DESCRIPTION, upstream, options=options)
        meta = {} if token is None else {"progressToken": token}
        step = server.receive(call(1, "run_code", {"code": code}, **meta), Session(revision))
        reply = await server.perform(step, notify)
        assert not json.loads(reply.body or b"")["result"].get("isError"), reply.body

    asyncio.run(once())
    return messages


def answer(_: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={})


def test_each_call_is_notified_with_its_tool() -> None:
    messages = notified("listPets()\ngetPet(petId=1)\n1", answer)
    assert [message["message"] for message in messages] == [
        "1 call made, the last of listPets",
        "2 calls made, the last of getPet",
    ]
    assert [message["progress"] for message in messages] == [1, 2]
    assert {message["progressToken"] for message in messages} == {"t"}


def test_nothing_is_notified_without_a_token() -> None:
    assert notified("listPets()", answer, token=None) == []


def test_many_quick_calls_are_notified_now_and_then() -> None:
    messages = notified("for n in range(90):\n    listPets()", answer)
    assert len(messages) < 60
    assert messages[0]["message"] == "1 call made, the last of listPets"
    values = [message["progress"] for message in messages]
    assert values == sorted(set(values))


def test_signs_of_life_tell_the_last_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifications, "PROGRESS_INTERVAL", 0.1)
    monkeypatch.setattr(notifications, "_TIMER_TOLERANCE", 0.0)

    async def respond(request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0.5 if request.url.path != "/pets" else 0)
        return httpx.Response(200, json={})

    messages = [message["message"] for message in notified("listPets()\ngetPet(petId=1)", respond)]
    assert "still running after 0 s: 1 call made, the last of listPets" in messages
