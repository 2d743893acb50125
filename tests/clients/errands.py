"""Jobs that tests give to the official Python clients of every version; drive.mjs does the same with those for Node.

A job is JSON in an argument of the program; what the client received is printed as JSON, on the last line. Any
unexpected error of the client ends the program with a failure. Several jobs, in as many arguments, are done in turn:
most of a short one's time is the import of the client. This module must run with both mcp 1.x and mcp 2.x.
"""

import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import anyio
import httpx

Job = dict[str, Any]
Wait = Callable[[], Awaitable[None]]


class OnProgress(Protocol):
    """A callback for progress notifications of a call."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None: ...


class Client(Protocol):
    """A connected client of some version."""

    version: str
    """The negotiated revision."""

    async def tools(self) -> list[str]:
        """Return the names of all tools."""

    async def call(self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None = None) -> dict[str, Any]:
        """Call a tool; return the result as JSON."""

    async def call_until(self, begun: Wait, name: str, arguments: dict[str, Any]) -> None:
        """Call a tool, and cancel the call when `begun` returns."""

    def listening(self) -> AbstractAsyncContextManager[Wait]:
        """Listen for changes of the tool list; the value of the context waits for the next one."""


async def execute(job: Job, client: Client) -> None:
    """Execute a job and print what the client received."""
    received: dict[str, Any] = {"version": client.version, "tools": await client.tools()}
    received["results"] = [await client.call(name, arguments) for name, arguments in job.get("calls", [])]
    if "progress" in job:
        received["progress"] = [await _call_with_progress(client, *each) for each in job["progress"]]
    if "cancel" in job:
        name, arguments, begun = job["cancel"]
        await client.call_until(lambda: _fetch(begun), name, arguments)
        received["afterwards"] = await client.tools()
    if job.get("watch"):
        async with client.listening() as change:
            _print("listening")
            await change()
            _print("heard")
            received["changed"] = await client.tools()
    _print(received)


async def _call_with_progress(
    client: Client, name: str, arguments: dict[str, Any], confirmation: str
) -> dict[str, Any]:
    updates: list[Any] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        updates.append([progress, total, message])
        await _fetch(confirmation)

    return {"result": await client.call(name, arguments, on_progress), "updates": updates}


async def _fetch(url: str) -> None:
    async with httpx.AsyncClient(timeout=30) as http:
        (await http.get(url)).raise_for_status()


def _print(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def run(drive: Callable[[Job], Awaitable[None]]) -> None:
    """Drive a client with each job of this process."""
    for job in sys.argv[1:]:
        anyio.run(drive, json.loads(job))
