"""stdio: a real process behind real pipes, the official client, and every way in which a conversation ends."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.subscriptions import ToolsListChanged
from mcp.types import ToolListChangedNotification

from openapi_mcp.runtime.conversation import Conversation
from tests.runtime.pets import PetApi, pet_server
from tests.servers import running

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
    """The pet tools in a process of their own, and the client's ends of its pipes."""

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
        """Close stdin; the exit code, what was still said, and what went to stderr."""
        said, errors = self.process.communicate(timeout=20)
        return self.process.returncode, [json.loads(line) for line in said.splitlines()], errors.decode()


@contextmanager
def peer(base_url: str) -> Iterator[Peer]:
    one = Peer(base_url)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.communicate()


@pytest.fixture(scope="module")
def api() -> Iterator[tuple[PetApi, str]]:
    pets = PetApi()
    with running(pets.app) as url:
        yield pets, url


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_the_official_client_lists_and_calls(api: tuple[PetApi, str], mode: Any) -> None:
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


def test_the_official_client_hears_of_a_change_once_it_shook_hands(api: tuple[PetApi, str]) -> None:
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


def test_the_official_client_subscribes_hears_of_a_change_and_of_the_end(api: tuple[PetApi, str]) -> None:
    parameters = StdioServerParameters(command=sys.executable, args=[*CHANGING, api[1]], cwd=ROOT)

    async def drive() -> None:
        async with Client(parameters, mode="2026-07-28", read_timeout_seconds=20) as client:
            async with client.listen(tools_list_changed=True) as left:
                assert left.honored.tools_list_changed
            async with client.listen(tools_list_changed=True) as subscription:
                assert len((await client.list_tools()).tools) == 3
                await client.call_tool("listPets", {})
                with anyio.fail_after(20):
                    assert isinstance(await anext(subscription), ToolsListChanged)
                    assert [tool.name for tool in (await client.list_tools()).tools] == ["getPet", "listPets"]
                    await client.call_tool("getPet", {"petId": 1})
                    # Ends as it should: a subscription that is only cancelled raises SubscriptionLost.
                    assert [event async for event in subscription] == []

    anyio.run(drive)


def test_nothing_but_mcp_is_on_stdout(api: tuple[PetApi, str]) -> None:
    with peer(api[1]) as one:
        one.send(INITIALIZE, call(1, "listPets"))
        code, said, errors = one.end()
    assert (code, sorted(reply["id"] for reply in said)) == (0, [0, 1])
    assert "A stray print" in errors
    assert "Traceback" not in errors


def test_bad_lines_are_answered_and_the_next_one_read(api: tuple[PetApi, str]) -> None:
    with peer(api[1]) as one:
        one.send(b"{", b"", b'"\xff"', b"[" * 100_000, b'{"jsonrpc":"2.0","id":1,"method":"ping","x":"\\ud800"}\r')
        code, said, _ = one.end()
    assert code == 0
    assert [reply.get("id", reply.get("error", {}).get("code")) for reply in said] == [-32700, -32700, -32700, 1]


def test_a_line_of_twenty_megabytes_is_refused_and_the_next_one_read(api: tuple[PetApi, str]) -> None:
    with peer(api[1]) as one:
        one.send(b'{"x":"' + b"x" * 20_000_000 + b'"}', request(1, "ping"))
        code, said, _ = one.end()
    assert code == 0
    assert "id" not in said[0]
    assert (said[0]["error"]["code"], said[1]) == (-32600, {"jsonrpc": "2.0", "id": 1, "result": {}})


def test_a_slow_call_holds_up_nothing_and_is_silent_once_it_is_cancelled(api: tuple[PetApi, str]) -> None:
    pets, url = api
    pets.forget()
    with peer(url) as one:
        one.send(INITIALIZE, call(1, "wait"))
        assert pets.waiting.wait(10)
        one.send(request(2, "ping"))
        assert [one.receive()["id"], one.receive()["id"]] == [0, 2]
        one.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        assert pets.left.wait(10)
        one.send(request(3, "ping"))
        code, said, errors = one.end()
    assert (code, [reply["id"] for reply in said]) == (0, [3])
    assert "Traceback" not in errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "in a call"])
def test_a_signal_ends_the_process_at_once_and_well(
    api: tuple[PetApi, str], number: signal.Signals, busy: bool
) -> None:
    pets, url = api
    pets.forget()
    with peer(url) as one:
        one.send(INITIALIZE)
        assert one.receive()["id"] == 0
        if busy:
            one.send(call(1, "wait"))
            assert pets.waiting.wait(10)
        one.process.send_signal(number)
        assert one.process.wait(4) == 0  # less than the grace that the end of stdin gives
        assert one.stdout.read() == b""
        assert b"Traceback" not in one.stderr.read()


def test_a_signal_ends_a_process_whose_answers_nobody_reads(api: tuple[PetApi, str]) -> None:
    with peer(api[1]) as one:
        one.send(INITIALIZE, *(request(number, "tools/list") for number in range(200)))
        assert one.receive()["id"] == 0
        one.process.terminate()
        assert one.process.wait(4) == 0


def test_a_client_that_closes_both_pipes_ends_the_process(api: tuple[PetApi, str]) -> None:
    with peer(api[1]) as one:
        one.stdout.close()
        one.send(INITIALIZE)
        assert one.process.wait(10) == 0


def test_files_do_as_well_as_pipes(api: tuple[PetApi, str], tmp_path: Path) -> None:
    asked, said = tmp_path / "asked", tmp_path / "said"
    asked.write_text(json.dumps(INITIALIZE) + "\n" + json.dumps(request(1, "ping")))  # the last line has no end
    with asked.open("rb") as stdin, said.open("wb") as stdout:
        command = [sys.executable, *SCRIPT, api[1]]
        done = subprocess.run(command, cwd=ROOT, stdin=stdin, stdout=stdout, timeout=20, check=False)
    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in said.read_text().splitlines()] == [0, 1]


class Pipes:
    """A conversation in this process: what the client writes and reads."""

    def __init__(self) -> None:
        self.inlet, self._to_server = os.pipe()
        self.said: list[Any] = []

    def read(self, size: int) -> bytes:
        return os.read(self.inlet, size)

    def write(self, data: bytes) -> None:
        self.said.append(json.loads(data))

    def send(self, *messages: Any) -> None:
        os.write(self._to_server, b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def end(self) -> None:
        os.close(self._to_server)


def converse(pipes: Pipes, base_url: str, *, grace: float = 5.0) -> list[Any]:
    async def run() -> None:
        server = pet_server(base_url)
        try:
            await Conversation(server, pipes.read, pipes.write, grace=grace).run()
        finally:
            await server.aclose()

    asyncio.run(run())
    os.close(pipes.inlet)
    return pipes.said


def test_what_was_asked_before_the_end_is_answered(api: tuple[PetApi, str]) -> None:
    pipes = Pipes()
    pipes.send(INITIALIZE, *(call(number, "listPets") for number in range(1, 9)))
    pipes.end()
    assert {reply["id"] for reply in converse(pipes, api[1])} == set(range(9))


def test_a_call_that_outlasts_the_grace_is_cancelled(api: tuple[PetApi, str]) -> None:
    pets, url = api
    pets.forget()
    pipes = Pipes()
    pipes.send(INITIALIZE, call(1, "wait"))
    pipes.end()
    assert [reply["id"] for reply in converse(pipes, url, grace=0.2)] == [0]
    assert pets.left.wait(10)


def test_a_batch_is_answered_as_one_and_can_cancel(api: tuple[PetApi, str]) -> None:
    pets, url = api
    pets.forget()
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
    said = {reply["id"]: reply["result"] for reply in converse(pipes, api[1])}
    assert said[1]["resultType"] == "complete"
    assert "resultType" not in said[2]


def test_an_id_may_be_used_again_once_it_is_answered(api: tuple[PetApi, str]) -> None:
    pipes = Pipes()
    pipes.send(INITIALIZE, call(1, "listPets"), call(1, "sing"))
    pipes.end()
    assert [reply["id"] for reply in converse(pipes, api[1])].count(1) == 2


def test_a_conversation_whose_task_is_cancelled_takes_its_calls_with_it(api: tuple[PetApi, str]) -> None:
    pets, url = api
    pets.forget()
    pipes = Pipes()
    pipes.send(INITIALIZE, call(1, "wait"))

    async def run() -> None:
        server = pet_server(url)
        task = asyncio.create_task(Conversation(server, pipes.read, pipes.write).run())
        await asyncio.to_thread(pets.waiting.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.aclose()

    asyncio.run(run())
    assert pets.left.wait(10)
    assert [reply["id"] for reply in pipes.said] == [0]
    pipes.end()
