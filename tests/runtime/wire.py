"""A StdioSession in the test's own event loop, and the client at its other end, which may stop reading."""

import asyncio
import contextlib
import json
import os
import threading
from collections.abc import AsyncIterator
from typing import Any

from openapi_mcp.runtime.server.reloadable import ReloadableServer
from openapi_mcp.runtime.stdio import StdioSession

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
LIMIT = 20.0


def request(request_id: int | str, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def call(request_id: int | str, name: str, arguments: Any = None, **meta: Any) -> dict[str, Any]:
    return request(request_id, "tools/call", name=name, arguments=arguments or {}, _meta=meta)


def listen(request_id: int | str, **filters: Any) -> dict[str, Any]:
    return request(request_id, "subscriptions/listen", notifications=filters, _meta=ENVELOPE)


def cancel(request_id: int | str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}


class Wire:
    """The client's end; while `reads` is not set, it does not read what is written to it."""

    def __init__(self) -> None:
        self.reads = threading.Event()
        self.reads.set()
        self.ended = False
        self._inlet, self._outlet = os.pipe()
        self._loop = asyncio.get_running_loop()
        self._written: asyncio.Queue[Any] = asyncio.Queue()

    def read(self, size: int) -> bytes:
        return os.read(self._inlet, size)

    def write(self, data: bytes) -> None:
        assert self.reads.wait(LIMIT), "the client never read again"
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self._written.put_nowait, json.loads(data))

    def send(self, *messages: Any) -> None:
        os.write(self._outlet, b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    async def receive(self) -> Any:
        return await asyncio.wait_for(self._written.get(), LIMIT)

    def rest(self) -> list[Any]:
        """Return the messages that were written and not received."""
        return [self._written.get_nowait() for _ in range(self._written.qsize())]

    def end(self) -> None:
        if not self.ended:
            self.ended = True
            os.close(self._outlet)


@contextlib.asynccontextmanager
async def conversing(live: ReloadableServer, **options: Any) -> AsyncIterator[tuple[Wire, StdioSession]]:
    """Run a session until the end of the block; then close its server."""
    wire = Wire()
    conversation = StdioSession(live, wire.read, wire.write, **options)
    running = asyncio.create_task(conversation.run())
    try:
        yield wire, conversation
        wire.end()
        await asyncio.wait_for(running, LIMIT)
    finally:
        wire.end()
        wire.reads.set()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await live.aclose()
