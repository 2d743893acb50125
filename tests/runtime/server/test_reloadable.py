"""`ReloadableServer`: servers are replaced during calls, and listeners are notified of changed lists only."""

import asyncio
import gc
import json
import logging
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.protocol import Session
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.reloadable import ListChanges, ReloadableServer
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.upstream.client import Upstream
from tests.runtime.pets import DESCRIPTION, GET_PET, LIST_PETS, SING, TOOLS
from tests.runtime.wire import SUBSCRIPTION, call, listen

DESCRIPTION_WITH_CHANGES = replace(DESCRIPTION, list_changed=True)
SESSION = Session("2025-11-25")


class Api(httpx.AsyncBaseTransport):
    """An API that answers once `may_answer` is set; `requested` is set by a request, `closed` by `aclose`."""

    def __init__(self) -> None:
        self.requested, self.may_answer, self.closed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requested.set()
        await self.may_answer.wait()
        assert not self.closed.is_set(), "closed under a call"
        return httpx.Response(200, json=[], request=request)

    async def aclose(self) -> None:
        self.closed.set()


def server(*tools: Tool, api: httpx.AsyncBaseTransport | None = None) -> Server:
    options = RequestOptions(base_url="http://api.test")
    return Server(Catalog(tools or TOOLS), DESCRIPTION_WITH_CHANGES, Upstream(transport=api or Api()), options=options)


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(20):
            await test()

    asyncio.run(limited())


def test_wrap_returns_a_reloadable_server_unchanged() -> None:
    live = ReloadableServer.wrap(server())
    assert ReloadableServer.wrap(live) is live
    assert live.description is live.server.description


def test_replaced_server_ends_its_calls_and_is_closed() -> None:
    async def test() -> None:
        old, new = Api(), Api()
        live = ReloadableServer(server(api=old))
        call_task = asyncio.create_task(live.perform(live.receive(call(1, "listPets"), SESSION)))
        await old.requested.wait()
        live.replace(server(LIST_PETS, api=new))
        assert not old.closed.is_set()
        new.may_answer.set()
        other = await live.perform(live.receive(call(2, "listPets"), SESSION))
        assert json.loads(other.body or b"")["result"]["structuredContent"] == {"result": []}
        assert not old.closed.is_set()
        old.may_answer.set()
        assert not json.loads((await call_task).body or b"")["result"]["isError"]
        await old.closed.wait()
        assert not new.closed.is_set()
        await live.aclose()
        assert new.closed.is_set()

    run(test)


def test_new_server_lists_its_tools_at_once() -> None:
    async def test() -> None:
        live = ReloadableServer(server())
        live.replace(server(SING))
        answer = await live.perform(live.receive({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, SESSION))
        assert [tool["name"] for tool in json.loads(answer.body or b"")["result"]["tools"]] == ["sing"]
        await live.aclose()

    run(test)


def test_closing_closes_replaced_servers_with_calls() -> None:
    async def test() -> None:
        old, new = Api(), Api()
        live = ReloadableServer(server(api=old))
        call_task = asyncio.create_task(live.perform(live.receive(call(1, "listPets"), SESSION)))
        await old.requested.wait()
        live.replace(server(api=new))
        await live.aclose()
        assert (old.closed.is_set(), new.closed.is_set()) == (True, True)
        call_task.cancel()

    run(test)


def test_failure_to_close_a_server_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Stubborn(Api):
        async def aclose(self) -> None:
            raise ZeroDivisionError

    async def test() -> None:
        live = ReloadableServer(server(api=Stubborn()))
        live.replace(server())
        await live.aclose()

    with caplog.at_level(logging.ERROR, "openapi_mcp"):
        run(test)
    assert "ZeroDivisionError" in caplog.text


def test_whoever_has_compared_the_lists_says_whether_they_are_the_same() -> None:
    async def test() -> None:
        live = ReloadableServer(server())
        changes = live.changes.listen()
        live.replace(server(SING), lists_same_tools=True)
        await live.aclose()
        assert [change async for change in changes] == []

    run(test)


def test_replaced_server_goes_with_its_last_reference() -> None:
    async def test() -> None:
        live = ReloadableServer(server())
        await live.perform(live.receive({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, SESSION))
        gone = asyncio.Event()
        replaced = weakref.ref(live.server, lambda _: gone.set())
        live.replace(server(SING))
        await gone.wait()
        assert replaced() is None
        await live.aclose()

    gc.disable()
    try:
        run(test)
    finally:
        gc.enable()


@pytest.mark.parametrize("method", ["tools/list", "tools/call"])
def test_event_loop_runs_while_many_tools_are_listed_or_compared(method: str) -> None:
    async def test() -> None:
        live = ReloadableServer(server(*(replace(SING, name=f"sing_{number}") for number in range(2000))))
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": "song_1"}}
        answering = asyncio.create_task(live.perform(live.receive(message, SESSION)))
        turns = 0
        while not answering.done():
            await asyncio.sleep(0)
            turns += 1
        assert b"sing_1" in (answering.result().body or b"")
        assert turns > 10
        await live.aclose()

    run(test)


@pytest.mark.parametrize(
    ("tools", "announcements"),
    [
        (TOOLS, 0),
        ([replace(GET_PET, path="/other/{petId}"), LIST_PETS, SING], 0),
        ([GET_PET, LIST_PETS], 1),
        ([SING, LIST_PETS, GET_PET], 1),
        ([replace(GET_PET, description="Another one."), LIST_PETS, SING], 1),
        ([replace(GET_PET, annotations={"readOnlyHint": 1}), LIST_PETS, SING], 1),
        ([replace(GET_PET, output_schema=None), LIST_PETS, SING], 1),
    ],
    ids=["the same", "called otherwise", "one less", "another order", "described otherwise", "1 for true", "no output"],
)
def test_change_of_unlisted_fields_is_not_announced(tools: list[Tool], announcements: int) -> None:
    async def test() -> None:
        live = ReloadableServer(server())
        changes = live.changes.listen()
        live.replace(server(*tools))
        await live.aclose()
        assert len([change async for change in changes]) == announcements

    run(test)


def test_changes_are_merged_for_a_slow_listener() -> None:
    async def test() -> None:
        changes = ListChanges()
        slow, late = changes.listen(), None
        for _ in range(3):
            changes.announce()
        late = changes.listen()
        await anext(slow)
        assert await pending(slow)
        changes.announce()
        await anext(late)
        changes.announce()
        changes.end()
        assert (len([one async for one in late]), [one async for one in changes.listen()]) == (1, [])

    run(test)


async def pending(changes: AsyncIterator[None]) -> bool:
    """Return whether a listener has no item; it must not be used afterwards."""
    waiting = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(0)
    try:
        return not waiting.done()
    finally:
        waiting.cancel()


class Client:
    """A client that collects the messages before a reply."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[Any] = asyncio.Queue()

    async def notify(self, message: bytes) -> None:
        self.messages.put_nowait(json.loads(message))


def test_subscription_is_acknowledged_notified_and_ended() -> None:
    async def test() -> None:
        live, client = ReloadableServer(server()), Client()
        step = live.receive(listen("l1", toolsListChanged=True, promptsListChanged=True), Session())
        subscription_task = asyncio.create_task(live.perform(step, client.notify))
        acknowledged = await client.messages.get()
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
        assert acknowledged["params"] == {"_meta": {SUBSCRIPTION: "l1"}, "notifications": {"toolsListChanged": True}}
        for tools in ([SING], [GET_PET]):
            live.replace(server(*tools))
            changed = await client.messages.get()
            assert changed["method"] == "notifications/tools/list_changed"
            assert changed["params"] == {"_meta": {SUBSCRIPTION: "l1"}}
        live.changes.end()
        reply = json.loads((await subscription_task).body or b"")
        assert (reply["id"], reply["result"]["resultType"]) == ("l1", "complete")
        assert reply["result"]["_meta"][SUBSCRIPTION] == "l1"
        assert client.messages.empty()
        await live.aclose()

    run(test)


def test_change_during_the_acknowledgement_follows_it() -> None:
    async def test() -> None:
        live, messages = ReloadableServer(server()), []

        async def notify(message: bytes) -> None:
            messages.append(json.loads(message)["method"])
            if len(messages) == 1:
                live.replace(server(SING))
                live.changes.end()

        await live.perform(live.receive(listen(1, toolsListChanged=True), Session()), notify)
        assert messages == ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"]
        await live.aclose()

    run(test)


def test_empty_subscription_gets_no_notifications() -> None:
    async def test() -> None:
        live, client = ReloadableServer(server()), Client()
        subscription_task = asyncio.create_task(live.perform(live.receive(listen(1), Session()), client.notify))
        assert (await client.messages.get())["params"]["notifications"] == {}
        live.replace(server(SING))
        live.changes.end()
        assert json.loads((await subscription_task).body or b"")["id"] == 1
        assert client.messages.empty()
        await live.aclose()

    run(test)


def test_subscription_without_notifications_ends_at_once() -> None:
    async def test() -> None:
        live = ReloadableServer(server())
        answer = await live.perform(live.receive(listen(1, toolsListChanged=True), Session()))
        assert json.loads(answer.body or b"")["result"]["resultType"] == "complete"
        await live.aclose()

    run(test)
