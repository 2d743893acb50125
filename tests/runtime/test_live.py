"""`Live`: servers are replaced under their calls, and who listens hears of it, once, and of nothing else."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.catalog import Catalog
from openapi_mcp.runtime.live import Changes, Live
from openapi_mcp.runtime.models import Tool
from openapi_mcp.runtime.protocol import Session
from openapi_mcp.runtime.requests import RequestOptions
from openapi_mcp.runtime.server import Server
from openapi_mcp.runtime.upstream import Upstream
from tests.runtime.pets import DESCRIPTION, GET_PET, LIST_PETS, SING, TOOLS
from tests.runtime.wire import SUBSCRIPTION, call, listen

TELLING = replace(DESCRIPTION, list_changed=True)
SESSION = Session("2025-11-25")


class Api(httpx.AsyncBaseTransport):
    """An API that answers once it may; `asked` tells that somebody waits, `closed` that nobody can any more."""

    def __init__(self) -> None:
        self.asked, self.may, self.closed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.set()
        await self.may.wait()
        assert not self.closed.is_set(), "closed under a call"
        return httpx.Response(200, json=[], request=request)

    async def aclose(self) -> None:
        self.closed.set()


def server(*tools: Tool, api: httpx.AsyncBaseTransport | None = None) -> Server:
    options = RequestOptions(base_url="http://api.test")
    return Server(Catalog(tools or TOOLS), TELLING, Upstream(transport=api or Api()), options=options)


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(20):
            await test()

    asyncio.run(limited())


def test_a_server_becomes_a_live_one_and_a_live_one_stays_itself() -> None:
    live = Live.of(server())
    assert Live.of(live) is live
    assert live.description is live.server.description


def test_a_call_ends_with_the_server_it_began_with_which_is_closed_then() -> None:
    async def test() -> None:
        old, new = Api(), Api()
        live = Live(server(api=old))
        calling = asyncio.create_task(live.perform(live.receive(call(1, "listPets"), SESSION)))
        await old.asked.wait()
        live.replace(server(LIST_PETS, api=new))
        assert not old.closed.is_set()
        new.may.set()
        other = await live.perform(live.receive(call(2, "listPets"), SESSION))
        assert json.loads(other.body or b"")["result"]["structuredContent"] == {"result": []}
        assert not old.closed.is_set()
        old.may.set()
        assert not json.loads((await calling).body or b"")["result"]["isError"]
        await old.closed.wait()
        assert not new.closed.is_set()
        await live.aclose()
        assert new.closed.is_set()

    run(test)


def test_what_a_new_server_lists_is_listed_at_once() -> None:
    async def test() -> None:
        live = Live(server())
        live.replace(server(SING))
        answer = await live.perform(live.receive({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, SESSION))
        assert [tool["name"] for tool in json.loads(answer.body or b"")["result"]["tools"]] == ["sing"]
        await live.aclose()

    run(test)


def test_closing_closes_the_retired_too_whatever_they_are_doing() -> None:
    async def test() -> None:
        old, new = Api(), Api()
        live = Live(server(api=old))
        calling = asyncio.create_task(live.perform(live.receive(call(1, "listPets"), SESSION)))
        await old.asked.wait()
        live.replace(server(api=new))
        await live.aclose()
        assert (old.closed.is_set(), new.closed.is_set()) == (True, True)
        calling.cancel()

    run(test)


def test_a_server_that_cannot_be_closed_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Stubborn(Api):
        async def aclose(self) -> None:
            raise ZeroDivisionError

    async def test() -> None:
        live = Live(server(api=Stubborn()))
        live.replace(server())
        await live.aclose()

    with caplog.at_level(logging.ERROR, "openapi_mcp"):
        run(test)
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    ("tools", "told"),
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
def test_only_what_clients_are_told_is_a_change(tools: list[Tool], told: int) -> None:
    async def test() -> None:
        live = Live(server())
        changes = live.changes.listen()
        live.replace(server(*tools))
        await live.aclose()
        assert len([change async for change in changes]) == told

    run(test)


def test_a_listener_has_one_change_however_many_there_were() -> None:
    async def test() -> None:
        changes = Changes()
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
    """Whether nothing comes, until something is announced; for a listener that is not used any more."""
    waiting = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(0)
    try:
        return not waiting.done()
    finally:
        waiting.cancel()


class Client:
    """Hears what is said before an answer."""

    def __init__(self) -> None:
        self.said: asyncio.Queue[Any] = asyncio.Queue()

    async def notify(self, message: bytes) -> None:
        self.said.put_nowait(json.loads(message))


def test_a_subscription_is_acknowledged_told_and_ended() -> None:
    async def test() -> None:
        live, client = Live(server()), Client()
        step = live.receive(listen("l1", toolsListChanged=True, promptsListChanged=True), Session())
        holding = asyncio.create_task(live.perform(step, client.notify))
        acknowledged = await client.said.get()
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
        assert acknowledged["params"] == {"_meta": {SUBSCRIPTION: "l1"}, "notifications": {"toolsListChanged": True}}
        for tools in ([SING], [GET_PET]):
            live.replace(server(*tools))
            changed = await client.said.get()
            assert changed["method"] == "notifications/tools/list_changed"
            assert changed["params"] == {"_meta": {SUBSCRIPTION: "l1"}}
        live.changes.end()
        reply = json.loads((await holding).body or b"")
        assert (reply["id"], reply["result"]["resultType"]) == ("l1", "complete")
        assert reply["result"]["_meta"][SUBSCRIPTION] == "l1"
        assert client.said.empty()
        await live.aclose()

    run(test)


def test_a_change_during_the_acknowledgement_is_told_after_it() -> None:
    async def test() -> None:
        live, said = Live(server()), []

        async def notify(message: bytes) -> None:
            said.append(json.loads(message)["method"])
            if len(said) == 1:
                live.replace(server(SING))
                live.changes.end()

        await live.perform(live.receive(listen(1, toolsListChanged=True), Session()), notify)
        assert said == ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"]
        await live.aclose()

    run(test)


def test_who_subscribes_to_nothing_is_told_nothing() -> None:
    async def test() -> None:
        live, client = Live(server()), Client()
        holding = asyncio.create_task(live.perform(live.receive(listen(1), Session()), client.notify))
        assert (await client.said.get())["params"]["notifications"] == {}
        live.replace(server(SING))
        live.changes.end()
        assert json.loads((await holding).body or b"")["id"] == 1
        assert client.said.empty()
        await live.aclose()

    run(test)


def test_a_subscription_of_who_cannot_be_told_ends_at_once() -> None:
    async def test() -> None:
        live = Live(server())
        answer = await live.perform(live.receive(listen(1, toolsListChanged=True), Session()))
        assert json.loads(answer.body or b"")["result"]["resultType"] == "complete"
        await live.aclose()

    run(test)
