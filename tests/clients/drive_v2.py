"""Drive the official Python client, mcp 2.x: `python -m tests.clients.drive_v2 JOB` (see errands)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ToolListChangedNotification

from tests.clients.errands import Job, OnProgress, Wait, execute, run


class Driven:
    """The client, used as its documentation says.

    `opened` is set when its notification stream is open (handshake era).
    """

    def __init__(self, client: Client, opened: anyio.Event, changed: anyio.Event) -> None:
        self.version = client.protocol_version
        self._client = client
        self._opened = opened
        self._changed = changed

    async def tools(self) -> list[str]:
        page = await self._client.list_tools()
        names = [tool.name for tool in page.tools]
        while page.next_cursor is not None:
            page = await self._client.list_tools(cursor=page.next_cursor)
            names += [tool.name for tool in page.tools]
        return names

    async def call(self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None = None) -> dict[str, Any]:
        result = await self._client.call_tool(name, arguments, progress_callback=on_progress)
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def call_until(self, begun: Wait, name: str, arguments: dict[str, Any]) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._client.call_tool, name, arguments)
            await begun()
            tasks.cancel_scope.cancel()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Wait]:
        if self.version < "2026":
            await self._opened.wait()
            yield self._changed.wait
            return
        async with self._client.listen(tools_list_changed=True) as subscription:
            changes = aiter(subscription)

            async def change() -> None:
                await anext(changes)

            yield change


async def drive(job: Job) -> None:
    opened, changed = anyio.Event(), anyio.Event()

    async def on_response(response: httpx2.Response) -> None:
        if response.request.method == "GET":
            opened.set()

    async def on_message(message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            changed.set()

    mode = "2026-07-28" if job["era"] == "modern" else job["era"]
    http = httpx2.AsyncClient(timeout=30, event_hooks={"response": [on_response]})
    if "url" in job:
        target: Any = streamable_http_client(job["url"], http_client=http)
    else:
        opened.set()
        program, *arguments = job["command"]
        target = StdioServerParameters(command=program, args=arguments, env=job["env"])
    async with http, Client(target, mode=mode, message_handler=on_message, read_timeout_seconds=30) as client:
        await execute(job, Driven(client, opened, changed))


if __name__ == "__main__":
    run(drive)
