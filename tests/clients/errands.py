"""What the Python clients do for a test, whatever their version; drive.mjs does the same with those for Node.

A job comes as JSON, and what was seen goes to stdout as JSON, on the last line. Any error of the client that is not
what a test asks for ends the program: that is what the tests are about. Keep this to what mcp 1.x and 2.x both run.
"""

import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import anyio
import httpx

Job = dict[str, Any]
Hear = Callable[[], Awaitable[None]]


class OnProgress(Protocol):
    """Is told of the progress of a call."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None: ...


class Client(Protocol):
    """One version of the official client, connected."""

    version: str
    """The revision that was settled on."""

    async def tools(self) -> list[str]:
        """The names of all tools."""

    async def call(self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None = None) -> dict[str, Any]:
        """A result, as JSON."""

    async def call_until(self, begun: Hear, name: str, arguments: dict[str, Any]) -> None:
        """Begin a call, and cancel it once it has begun."""

    def listening(self) -> AbstractAsyncContextManager[Hear]:
        """What waits for the next change of the list of tools; inside the block, none is missed."""


async def do(job: Job, client: Client) -> None:
    """Do a job and print what was seen."""
    seen: dict[str, Any] = {"version": client.version, "tools": await client.tools()}
    seen["results"] = [await client.call(name, arguments) for name, arguments in job.get("calls", [])]
    if "progress" in job:
        seen["progress"] = [await _followed(client, *each) for each in job["progress"]]
    if "cancel" in job:
        name, arguments, begun = job["cancel"]
        await client.call_until(lambda: _fetched(begun), name, arguments)
        seen["afterwards"] = await client.tools()
    if job.get("watch"):
        async with client.listening() as change:
            _say("listening")
            await change()
            _say("heard")
            seen["changed"] = await client.tools()
    _say(seen)


async def _followed(client: Client, name: str, arguments: dict[str, Any], seen: str) -> dict[str, Any]:
    told: list[Any] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append([progress, total, message])
        await _fetched(seen)

    return {"result": await client.call(name, arguments, on_progress), "told": told}


async def _fetched(url: str) -> None:
    async with httpx.AsyncClient(timeout=30) as http:
        (await http.get(url)).raise_for_status()


def _say(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def given() -> Job:
    """The job of this process."""
    job: Job = json.loads(sys.argv[1])
    return job


def run(drive: Callable[[Job], Awaitable[None]]) -> None:
    """Do the job of this process."""
    anyio.run(drive, given())
