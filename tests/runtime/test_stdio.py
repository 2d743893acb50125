"""`stdio`: a real process behind real pipes, the official client, and every way in which a session ends."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.subscriptions import ToolsListChanged
from mcp.types import ToolListChangedNotification

from openapi_mcp.runtime.stdio import StdioSession
from tests.runtime.pets import PetApi, pet_server
from tests.servers import running

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
SCRIPT = ["-m", "tests.runtime.pets_over_stdio"]
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


def request(request_id: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def call(request_id: int, name: str, **arguments: Any) -> dict[str, Any]:
    return request(request_id, "tools/call", name=name, arguments=arguments)


class Peer:
    """The pet tools in a process, and the client's ends of its pipes."""

    def __init__(self, base_url: str) -> None:
        command = [sys.executable, *SCRIPT, base_url]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.stdin: IO[bytes] = self.process.stdin  # type: ignore[assignment]  # these are pipes
        self.stdout: IO[bytes] = self.process.stdout  # type: ignore[assignment]
        self.stderr: IO[bytes] = self.process.stderr  # type: ignore[assignment]

    def send(self, *messages: Any) -> None:
        for message in messages:
            self.stdin.write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n")
        self.stdin.flush()

    def receive(self) -> Any:
        return json.loads(self.stdout.readline())

    def end(self) -> tuple[int, list[Any], str]:
        """Close stdin; return the exit code, the remaining messages, and the text on stderr."""
        messages, errors = self.process.communicate(timeout=20)
        return self.process.returncode, [json.loads(line) for line in messages.splitlines()], errors.decode()


@contextmanager
def peer(base_url: str) -> Iterator[Peer]:
    process_peer = Peer(base_url)
    try:
        yield process_peer
    finally:
        process_peer.process.kill()
        process_peer.process.communicate()


@pytest.fixture(scope="module")
def api() -> Iterator[tuple[PetApi, str]]:
    pets = PetApi()
    with running(pets.app) as url:
        yield pets, url


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_official_client_lists_and_calls(api: tuple[PetApi, str], mode: Any) -> None:
    parameters = StdioServerParameters(command=sys.executable, args=[*SCRIPT, api[1]], cwd=ROOT)

    async def drive() -> None:
        async with Client(parameters, mode=mode, read_timeout_seconds=20) as client:
            assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == ["getPet", "listPets", "sing", "wait"]
            pet = await client.call_tool("getPet", {"petId": 1})
            assert pet.structured_content == {"name": "Minka"}
            pets = await client.call_tool("listPets", {})
            expected = [{"name": "Minka"}]
            assert pets.structured_content == ({"result": expected} if mode == "legacy" else expected)
            assert (await client.call_tool("getPet", {"petId": 404})).is_error
            assert (await client.call_tool("getPet", {"petId": "x"})).is_error

    anyio.run(drive)


CHANGING = ["-m", "tests.runtime.changing_over_stdio"]


def test_official_client_is_notified_of_a_change_after_the_handshake(api: tuple[PetApi, str]) -> None:
    parameters = StdioServerParameters(command=sys.executable, args=[*CHANGING, api[1]], cwd=ROOT)
    changed = anyio.Event()

    async def on_message(message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            changed.set()

    async def drive() -> None:
        async with Client(parameters, mode="legacy", message_handler=on_message, read_timeout_seconds=20) as client:
            assert len((await client.list_tools()).tools) == 3
            await client.call_tool("listPets", {})
            with anyio.fail_after(20):
                await changed.wait()
            assert [tool.name for tool in (await client.list_tools()).tools] == ["getPet", "listPets"]

    anyio.run(drive)


def test_official_client_subscription_gets_a_change_and_the_end(api: tuple[PetApi, str]) -> None:
    parameters = StdioServerParameters(command=sys.executable, args=[*CHANGING, api[1]], cwd=ROOT)

    async def drive() -> None:
        async with Client(parameters, mode="2026-07-28", read_timeout_seconds=20) as client:
            async with client.listen(tools_list_changed=True) as closed_subscription:
                assert closed_subscription.honored.tools_list_changed
            async with client.listen(tools_list_changed=True) as subscription:
                assert len((await client.list_tools()).tools) == 3
                await client.call_tool("listPets", {})
                with anyio.fail_after(20):
                    assert isinstance(await anext(subscription), ToolsListChanged)
                    assert [tool.name for tool in (await client.list_tools()).tools] == ["getPet", "listPets"]
                    await client.call_tool("getPet", {"petId": 1})
                    # An orderly end: a subscription that is only cancelled raises SubscriptionLost.
                    assert [event async for event in subscription] == []

    anyio.run(drive)


def test_stdout_has_only_mcp(api: tuple[PetApi, str]) -> None:
    with peer(api[1]) as process_peer:
        process_peer.send(INITIALIZE, call(1, "listPets"))
        code, messages, errors = process_peer.end()
    assert (code, sorted(reply["id"] for reply in messages)) == (0, [0, 1])
    assert "A stray print" in errors
    assert "Traceback" not in errors


def test_invalid_lines_are_answered_and_reading_goes_on(api: tuple[PetApi, str]) -> None:
    with peer(api[1]) as process_peer:
        process_peer.send(
            b"{", b"", b'"\xff"', b"[" * 100_000, b'{"jsonrpc":"2.0","id":1,"method":"ping","x":"\\ud800"}\r'
        )
        code, messages, _ = process_peer.end()
    assert code == 0
    assert [reply.get("id", reply.get("error", {}).get("code")) for reply in messages] == [-32700, -32700, -32700, 1]


def test_too_long_line_is_refused_and_reading_goes_on(api: tuple[PetApi, str]) -> None:
    with peer(api[1]) as process_peer:
        long = b"x" * 20_000_000
        process_peer.send(b'{"x":"' + long + b'"}', request(1, "ping"))
        process_peer.send(b'{"id":2,"x":"' + long + b'"}', b'{"x":"' + long + b'","jsonrpc":"2.0","id":"3"}')
        code, messages, _ = process_peer.end()
    assert code == 0
    assert [(reply.get("id"), reply.get("error", {}).get("code")) for reply in messages] == [
        (None, -32600),
        (1, None),
        (2, -32600),
        ("3", -32600),
    ]


def test_slow_call_blocks_nothing_and_is_silent_after_cancellation(api: tuple[PetApi, str]) -> None:
    pets, url = api
    pets.reset()
    with peer(url) as process_peer:
        process_peer.send(INITIALIZE, call(1, "wait"))
        assert pets.waiting.wait(10)
        process_peer.send(request(2, "ping"))
        assert [process_peer.receive()["id"], process_peer.receive()["id"]] == [0, 2]
        process_peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        assert pets.disconnected.wait(10)
        process_peer.send(request(3, "ping"))
        code, messages, errors = process_peer.end()
    assert (code, [reply["id"] for reply in messages]) == (0, [3])
    assert "Traceback" not in errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "in a call"])
def test_signal_ends_the_process_at_once_with_success(
    api: tuple[PetApi, str], number: signal.Signals, busy: bool
) -> None:
    pets, url = api
    pets.reset()
    with peer(url) as process_peer:
        process_peer.send(INITIALIZE)
        assert process_peer.receive()["id"] == 0
        if busy:
            process_peer.send(call(1, "wait"))
            assert pets.waiting.wait(10)
        process_peer.process.send_signal(number)
        assert process_peer.process.wait(4) == 0  # less than the grace period after the end of stdin
        assert process_peer.stdout.read() == b""
        assert b"Traceback" not in process_peer.stderr.read()


def test_signal_ends_a_process_whose_output_is_not_read(api: tuple[PetApi, str]) -> None:
    with peer(api[1]) as process_peer:
        process_peer.send(INITIALIZE, *(request(number, "tools/list") for number in range(200)))
        assert process_peer.receive()["id"] == 0
        process_peer.process.terminate()
        assert process_peer.process.wait(4) == 0


def test_closing_both_pipes_ends_the_process(api: tuple[PetApi, str]) -> None:
    with peer(api[1]) as process_peer:
        process_peer.stdout.close()
        process_peer.send(INITIALIZE)
        assert process_peer.process.wait(10) == 0


def test_files_work_as_stdin_and_stdout(api: tuple[PetApi, str], tmp_path: Path) -> None:
    input_path, output_path = tmp_path / "input", tmp_path / "output"
    input_path.write_text(json.dumps(INITIALIZE) + "\n" + json.dumps(request(1, "ping")))  # the last line has no end
    with input_path.open("rb") as stdin, output_path.open("wb") as stdout:
        command = [sys.executable, *SCRIPT, api[1]]
        completed = subprocess.run(command, cwd=ROOT, stdin=stdin, stdout=stdout, timeout=20, check=False)
    assert completed.returncode == 0
    assert [json.loads(line)["id"] for line in output_path.read_text().splitlines()] == [0, 1]


class Pipes:
    """The client's end of a session in this process."""

    def __init__(self) -> None:
        self.inlet, self._to_server = os.pipe()
        self.messages: list[Any] = []

    def read(self, size: int) -> bytes:
        return os.read(self.inlet, size)

    def write(self, data: bytes) -> None:
        self.messages.append(json.loads(data))

    def send(self, *messages: Any) -> None:
        os.write(self._to_server, b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def end(self) -> None:
        os.close(self._to_server)


def converse(pipes: Pipes, base_url: str, *, grace: float = 5.0) -> list[Any]:
    async def run() -> None:
        server = pet_server(base_url)
        try:
            await StdioSession(server, pipes.read, pipes.write, grace=grace).run()
        finally:
            await server.aclose()

    asyncio.run(run())
    os.close(pipes.inlet)
    return pipes.messages


def test_requests_before_the_end_of_input_are_answered(api: tuple[PetApi, str]) -> None:
    pipes = Pipes()
    pipes.send(INITIALIZE, *(call(number, "listPets") for number in range(1, 9)))
    pipes.end()
    assert {reply["id"] for reply in converse(pipes, api[1])} == set(range(9))


def test_call_that_outlasts_the_grace_period_is_cancelled(api: tuple[PetApi, str]) -> None:
    pets, url = api
    pets.reset()
    pipes = Pipes()
    pipes.send(INITIALIZE, call(1, "wait"))
    pipes.end()
    assert [reply["id"] for reply in converse(pipes, url, grace=0.2)] == [0]
    assert pets.disconnected.wait(10)


def test_end_of_input_ends_a_process_with_a_slow_call_at_once(api: tuple[PetApi, str]) -> None:
    pets, url = api
    pets.reset()
    with peer(url) as process_peer:
        process_peer.send(INITIALIZE, call(1, "wait"))
        assert pets.waiting.wait(10)
        assert process_peer.receive()["id"] == 0
        started = time.monotonic()
        code, messages, _ = process_peer.end()
        assert time.monotonic() - started < 2.0  # the calls have half a second; the rest is a slow machine's
    assert (code, messages) == (0, [])
    assert pets.disconnected.wait(10)


def test_batch_is_answered_as_one_and_can_cancel(api: tuple[PetApi, str]) -> None:
    pets, url = api
    pets.reset()
    older = {**INITIALIZE, "params": {"protocolVersion": "2025-03-26"}}
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    pipes = Pipes()
    pipes.send(older, call(1, "wait"), [request(2, "ping"), cancel, call(3, "listPets")])
    pipes.end()
    _, batch = converse(pipes, url)
    assert [reply["id"] for reply in batch] == [2, 3]


def test_both_eras_share_one_process(api: tuple[PetApi, str]) -> None:
    pipes = Pipes()
    pipes.send(request(1, "tools/list", _meta=ENVELOPE), INITIALIZE, request(2, "tools/list"))
    pipes.end()
    messages = {reply["id"]: reply["result"] for reply in converse(pipes, api[1])}
    assert messages[1]["resultType"] == "complete"
    assert "resultType" not in messages[2]


def test_request_id_may_be_reused_after_its_answer(api: tuple[PetApi, str]) -> None:
    pipes = Pipes()
    pipes.send(INITIALIZE, call(1, "listPets"), call(1, "sing"))
    pipes.end()
    assert [reply["id"] for reply in converse(pipes, api[1])].count(1) == 2


def test_cancelling_a_session_cancels_its_calls(api: tuple[PetApi, str]) -> None:
    pets, url = api
    pets.reset()
    pipes = Pipes()
    pipes.send(INITIALIZE, call(1, "wait"))

    async def run() -> None:
        server = pet_server(url)
        task = asyncio.create_task(StdioSession(server, pipes.read, pipes.write).run())
        await asyncio.to_thread(pets.waiting.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.aclose()

    asyncio.run(run())
    assert pets.disconnected.wait(10)
    assert [reply["id"] for reply in pipes.messages] == [0]
    pipes.end()
