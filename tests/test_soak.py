"""Thousands of calls over an API of which one answer in twenty is a fault, with two workers, one of which is killed.

Each call is answered once, with its own answer, or its connection ended with the killed worker; nothing is sent to the
API twice that may not be; the memory of the other worker stays. `SOAK=10000` makes so many calls; `-s` shows the
figures.
"""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from tests.command import command, serving_http
from tests.runtime.http.test_sessions_of_clients import ENVELOPE, HELLO, REVISION, message
from tests.runtime.raw import serving

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of processes is read from /proc"),
]

CALLS: Final = int(os.environ.get("SOAK") or 1000)
CLIENTS: Final = 64
FAULT_EVERY: Final = 20
MAX_GROWTH: Final = 40 * 1024
"""KiB that the other worker may grow between a fifth of the calls and the end: buffers, and what Python keeps."""

TOKEN: Final = "open-sesame"
THING: Final = {"type": "object", "properties": {"id": {"type": "integer"}}}
IN_PATH: Final = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
RESPONSES: Final = {"200": {"description": "The thing.", "content": {"application/json": {"schema": THING}}}}
DOCUMENT: Final = {
    "openapi": "3.1.0",
    "info": {"title": "Things", "version": "1"},
    "paths": {
        "/things/{id}": {
            "get": {"operationId": "getThing", "parameters": [IN_PATH], "responses": RESPONSES},
            "post": {"operationId": "makeThing", "parameters": [IN_PATH], "responses": RESPONSES},
        }
    },
}


def ok(body: bytes, status: str = "200 OK", *lines: str) -> bytes:
    fields = "".join(f"{line}\r\n" for line in lines)
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{fields}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


BROKEN: Final = b'{"broken": '
FAULTS: Final = (
    b"",  # the connection ends without an answer
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
    b"nonsense\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
    ok(BROKEN),
    ok(b"{}", "500 Internal Server Error"),
    ok(b"{}", "429 Too Many Requests", "Retry-After: 0"),
    ok(b"{}", "302 Found", "Location: http://[bad"),
    None,  # no answer at all
)


@dataclass
class FaultyApi:
    """An API of which every FAULT_EVERYth answer is one of FAULTS; `seen` counts the POST requests by id."""

    seen: Counter[int] = field(default_factory=Counter)
    requests: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            method, path, _ = head.split(b" ", 2)
            number = int(path.rpartition(b"/")[2])
            self.seen[number] += method == b"POST"
            self.requests += 1
            fault, turn = divmod(self.requests, FAULT_EVERY)
            if turn:
                writer.write(ok(b'{"id": %d}' % number))
                continue
            reply = FAULTS[fault % len(FAULTS)]
            if reply is None:
                await reader.read()
            else:
                writer.write(reply)
            return


@dataclass
class Soak:
    """The clients, what they have seen, and the server's processes."""

    url: str
    headers: dict[str, str]
    parent: int
    left: int = CALLS
    answered: Counter[str] = field(default_factory=Counter)
    lost: list[int] = field(default_factory=list)  # the client of each call without an answer
    unknown: list[Any] = field(default_factory=list)
    killed: int = 0
    memory: list[int] = field(default_factory=list)

    def workers(self) -> list[int]:
        """Return the process ids of the workers."""
        pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal())
        return [pid for pid in pids if parent_of(pid) == self.parent and b"spawn_main" in command_line(pid)]

    async def run(self) -> None:
        """Make all calls; kill a worker after two fifths of them, and watch the memory of the other one."""
        async with asyncio.TaskGroup() as group:
            for client in range(CLIENTS):
                group.create_task(self.client(client))
            await self.until(CALLS * 4 // 5)
            self.killed, survivor = sorted(self.workers())
            self.memory.append(resident(survivor))
            await self.until(CALLS * 3 // 5)
            assert not self.lost, "a connection was lost before the worker"
            os.kill(self.killed, signal.SIGKILL)
        self.memory.append(resident(survivor))

    async def until(self, left: int) -> None:
        while self.left > left:  # noqa: ASYNC110  # a moment more does not matter
            await asyncio.sleep(0.01)

    async def client(self, client: int) -> None:
        """Make calls one after the other, stateless or in a session; connect again where a connection ends."""
        session: dict[str, str] = {}
        while self.left > 0:
            try:
                async with Connection.to(self.url, self.headers) as connection:
                    if client % 2 and not session:
                        session = await connection.initialize()
                    while self.left > 0:
                        self.left -= 1
                        number = self.left
                        try:
                            self.check(number, await connection.call(number, session))
                        except (asyncio.IncompleteReadError, ConnectionError):
                            self.lost.append(client)
                            raise
            except (asyncio.IncompleteReadError, ConnectionError):
                continue

    def check(self, number: int, answer: Any) -> None:
        """Count an answer; it must be the one to this call."""
        result = answer.get("result", {})
        text = result.get("content", [{}])[0].get("text", "")
        if answer.get("id") != number or not text:
            self.unknown.append(answer)
        elif not result.get("isError"):
            is_right = result.get("structuredContent") == {"id": number}
            kind = "as it came" if text.startswith(BROKEN.decode()) else "wrong"
            self.answered["right" if is_right else kind] += 1
        else:
            self.answered["refused" if text.startswith("Too many calls") else "failed"] += 1


@dataclass
class Connection:
    """One connection of a client."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    headers: dict[str, str]

    @classmethod
    @asynccontextmanager
    async def to(cls, url: str, headers: dict[str, str]) -> AsyncIterator["Connection"]:
        host, _, port = url.removeprefix("http://").partition("/")[0].partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            yield cls(reader, writer, headers)
        finally:
            writer.transport.abort()

    async def initialize(self) -> dict[str, str]:
        headers, _ = await self.post(message("initialize", HELLO), {})
        return {"Mcp-Session-Id": headers["mcp-session-id"], "MCP-Protocol-Version": REVISION}

    async def call(self, number: int, session: dict[str, str]) -> Any:
        name = "makeThing" if number % 3 else "getThing"
        params: dict[str, Any] = {"name": name, "arguments": {"id": number}}
        if session:
            _, answer = await self.post(message("tools/call", params, number), session)
            return answer
        stateless = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name}
        _, answer = await self.post(message("tools/call", params | {"_meta": ENVELOPE}, number), stateless)
        return answer

    async def post(self, body: Any, headers: dict[str, str]) -> tuple[dict[str, str], Any]:
        content = json.dumps(body).encode()
        # Without events each answer is one JSON text.
        fields = {
            "Host": "localhost",
            "Content-Type": "application/json",
            "Accept": "application/json",
            **self.headers,
            **headers,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self.writer.write(f"POST /mcp HTTP/1.1\r\n{lines}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        received = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        answer = await self.reader.readexactly(int(received["content-length"]))
        if head[0].split()[1] in {"502", "504"}:  # a proxy whose replica died
            raise ConnectionError(head[0])
        assert head[0] == "HTTP/1.1 200 OK", answer
        return received, json.loads(answer)


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def resident(pid: int) -> int:
    """Return the memory of a process in KiB."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(lines["VmRSS"].split()[0])


@pytest.mark.parametrize(
    ("options", "headers"),
    [
        ([], {}),
        (["--auth-token", TOKEN, "--rate-limit", "100/second"], {"Authorization": f"Bearer {TOKEN}"}),
    ],
    ids=["open", "token and rate limit"],
)
def test_each_call_is_answered_once_or_lost_with_its_worker(
    options: list[str], headers: dict[str, str], tmp_path: Path
) -> None:
    document = tmp_path / "things.json"
    document.write_text(json.dumps(DOCUMENT))
    pids: list[int] = []

    async def soak() -> tuple[FaultyApi, Soak]:
        api = FaultyApi()
        async with serving(api.serve) as base_url:
            serve = command(document, base_url, "--workers", "2", "--timeout", "1", *options)
            with serving_http(serve, pids) as url:
                run = Soak(url, headers, pids[0])
                await run.run()
        return api, run

    api, run = asyncio.run(soak())
    figures = f"{CALLS} calls: {dict(run.answered)}, lost {len(run.lost)}, KiB {run.memory}, requests {api.requests}"
    sys.stdout.write(f"{figures}\n")
    assert not run.unknown, run.unknown[:3]
    assert run.answered["wrong"] == 0
    assert run.answered.total() + len(run.lost) == CALLS, figures
    assert len(run.lost) == len(set(run.lost)), "a client lost a call without its worker"
    assert run.answered["right"] > 0
    assert run.answered["failed"] > 0
    assert bool(options) == (run.answered["refused"] > 0)
    # Only what the API itself postponed, or a connection that was closed before, is sent again.
    assert max(api.seen.values()) <= 3
    assert run.memory[1] - run.memory[0] < MAX_GROWTH, figures
