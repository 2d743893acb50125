"""`WorkerChannel`: messages between processes, here within one; dead and slow processes block nobody."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from openapi_mcp.runtime.http import workers
from openapi_mcp.runtime.http.workers import EndedSessions, WorkerChannel, private_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    with private_folder() as path:
        assert path is not None
        yield path


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110  # nothing there can be awaited
            await asyncio.sleep(0.001)


def run(body: Callable[[list[WorkerChannel], list[list[bytes]]], Awaitable[None]], folder: Path | None) -> None:
    async def once() -> None:
        channels, received = [WorkerChannel(folder) for _ in range(3)], [list[bytes]() for _ in range(3)]
        for one, messages in zip(channels, received, strict=True):
            one.open(messages.append)
        try:
            await body(channels, received)
        finally:
            for one in channels:
                one.close()

    asyncio.run(once())


def test_broadcast_reaches_all_other_processes(folder: Path) -> None:
    async def body(channels: list[WorkerChannel], received: list[list[bytes]]) -> None:
        channels[0].broadcast(b"one")
        channels[0].broadcast(b"two")
        channels[2].broadcast(b"three")
        await until(lambda: sorted(map(len, received)) == [1, 2, 3])
        assert received[0] == [b"three"]
        assert received[2] == [b"one", b"two"]
        assert sorted(received[1]) == [b"one", b"three", b"two"]

    run(body, folder)


def test_dead_processes_are_skipped(folder: Path) -> None:
    async def body(channels: list[WorkerChannel], received: list[list[bytes]]) -> None:
        channels[0].close()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as dead:
            dead.bind(str(folder / "dead.socket"))
        (folder / "no socket").touch()
        channels[1].broadcast(b"still here")
        await until(lambda: received[2] == [b"still here"])
        assert received[0] == []
        assert not (folder / "dead").exists()

    run(body, folder)


def test_slow_process_receives_everything(folder: Path) -> None:
    async def body(channels: list[WorkerChannel], received: list[list[bytes]]) -> None:
        messages = [str(number).encode() for number in range(400)]
        for message in messages:  # they cannot read meanwhile: it is one thread
            channels[0].broadcast(message)
        await until(lambda: len(received[1]) == len(received[2]) == len(messages))
        assert set(received[1]) == set(received[2]) == set(messages)

    run(body, folder)


def test_channel_without_a_folder_has_no_siblings() -> None:
    async def body(channels: list[WorkerChannel], received: list[list[bytes]]) -> None:
        channels[0].broadcast(b"message")
        assert received == [[], [], []]

    run(body, None)


def test_folder_is_private_and_removed_at_the_end() -> None:
    with private_folder() as path:
        assert path is not None
        assert path.stat().st_mode & 0o777 == 0o700
    assert not path.exists()


def test_ended_sessions_are_shared_with_later_processes(folder: Path) -> None:
    early, late = EndedSessions(folder / ".ended"), EndedSessions(folder / ".ended")
    early.open()
    early.add(b"a" * 16)
    late.open()
    assert late.new() == [b"a" * 16]
    late.add(b"b" * 16)
    late.close()
    assert early.new() == [b"a" * 16, b"b" * 16]
    assert early.new() == ()
    early.close()


def test_oldest_of_too_many_ended_sessions_are_overwritten(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MAX_DIGESTS", 2)
    ended = EndedSessions(folder / ".ended")
    ended.open()
    for letter in (b"a", b"b", b"c"):
        ended.add(letter * 16)
    assert ended.new() == [b"b" * 16, b"c" * 16]
    assert (folder / ".ended").stat().st_size == 8 + 2 * 16
    ended.close()


def test_without_a_path_ended_sessions_are_not_shared() -> None:
    ended = EndedSessions(None)
    ended.open()
    ended.add(b"a" * 16)
    assert ended.new() == ()
    ended.close()


def test_other_files_of_the_folder_are_no_processes_and_stay(folder: Path) -> None:
    files = [folder / name for name in (".state-1f", "counter_7.db")]
    for file in files:
        file.write_text("kept")

    async def body(channels: list[WorkerChannel], received: list[list[bytes]]) -> None:
        channels[0].broadcast(b"one")
        await until(lambda: received[1] == received[2] == [b"one"])
        assert channels[0].siblings() == {channels[1].name, channels[2].name}

    run(body, folder)
    assert [file.read_text() for file in files] == ["kept", "kept"]


def test_file_of_ended_sessions_is_no_process(folder: Path) -> None:
    async def body(channels: list[WorkerChannel], received: list[list[bytes]]) -> None:
        channels[0].ended.add(b"a" * 16)
        channels[0].broadcast(b"one")
        await until(lambda: received[1] == received[2] == [b"one"])
        assert channels[0].siblings() == {channels[1].name, channels[2].name}
        assert list(channels[1].ended.new()) == [b"a" * 16]

    run(body, folder)
