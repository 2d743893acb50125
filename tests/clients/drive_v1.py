"""Drive the official Python client mcp 1.x (handshake era): `python -m tests.clients.drive_v1 JOB` (see errands)."""

# mypy: ignore-errors
# mypy would check it against the mcp that the tests are installed with, which is 2.x.

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.clients.errands import Job, OnProgress, Wait, execute, run


class Driven:
    """The client, used as its documentation says; `opened` is set when its notification stream is open."""

    def __init__(self, session: ClientSession, version: str, opened: anyio.Event, changed: anyio.Event) -> None:
        self.version = version
        self._session = session
        self._opened = opened
        self._changed = changed

    async def tools(self) -> list[str]:
        return [tool.name for tool in (await self._session.list_tools()).tools]

    async def call(self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None = None) -> dict[str, Any]:
        result = await self._session.call_tool(name, arguments, progress_callback=on_progress)
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def call_until(self, begun: Wait, name: str, arguments: dict[str, Any]) -> None:
        request_id = self._session._request_id  # mcp 1.x has no other way to name the request to cancel
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._session.call_tool, name, arguments)
            await begun()
            params = types.CancelledNotificationParams(requestId=request_id)
            cancelled = types.CancelledNotification(method="notifications/cancelled", params=params)
            await self._session.send_notification(types.ClientNotification(cancelled))
            tasks.cancel_scope.cancel()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Wait]:
        await self._opened.wait()
        yield self._changed.wait


async def drive(job: Job) -> None:
    opened, changed = anyio.Event(), anyio.Event()

    async def on_response(response: httpx.Response) -> None:
        if response.request.method == "GET":
            opened.set()

    async def on_message(message: Any) -> None:
        if isinstance(getattr(message, "root", None), types.ToolListChangedNotification):
            changed.set()

    if "url" in job:
        http = httpx.AsyncClient(timeout=30, event_hooks={"response": [on_response]})
        transport = streamable_http_client(job["url"], http_client=http)
    else:
        opened.set()
        program, *arguments = job["command"]
        transport = stdio_client(StdioServerParameters(command=program, args=arguments, env=job["env"]))
    async with transport as (read, write, *_), ClientSession(read, write, message_handler=on_message) as session:
        result = await session.initialize()
        await execute(job, Driven(session, result.protocolVersion, opened, changed))


if __name__ == "__main__":
    run(drive)
