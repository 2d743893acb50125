"""What processes tell each other, here within one; and that nobody waits for one who does not listen."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from openapi_mcp.runtime.peers import Peers, private_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    with private_folder() as path:
        assert path is not None
        yield path


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110  # nothing there can be awaited
            await asyncio.sleep(0.001)


def run(body: Callable[[list[Peers], list[list[bytes]]], Awaitable[None]], folder: Path | None) -> None:
    async def once() -> None:
        peers, heard = [Peers(folder) for _ in range(3)], [list[bytes]() for _ in range(3)]
        for one, messages in zip(peers, heard, strict=True):
            one.open(messages.append)
        try:
            await body(peers, heard)
        finally:
            for one in peers:
                one.close()

    asyncio.run(once())


def test_what_one_says_all_the_others_hear(folder: Path) -> None:
    async def body(peers: list[Peers], heard: list[list[bytes]]) -> None:
        peers[0].tell(b"one")
        peers[0].tell(b"two")
        peers[2].tell(b"three")
        await until(lambda: sorted(map(len, heard)) == [1, 2, 3])
        assert heard[0] == [b"three"]
        assert heard[2] == [b"one", b"two"]
        assert sorted(heard[1]) == [b"one", b"three", b"two"]

    run(body, folder)


def test_those_who_are_gone_are_not_missed(folder: Path) -> None:
    async def body(peers: list[Peers], heard: list[list[bytes]]) -> None:
        peers[0].close()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as died:
            died.bind(str(folder / "died"))
        (folder / "never was").touch()
        peers[1].tell(b"still here")
        await until(lambda: heard[2] == [b"still here"])
        assert heard[0] == []
        assert not (folder / "died").exists()

    run(body, folder)


def test_who_is_slow_hears_everything_in_the_end(folder: Path) -> None:
    async def body(peers: list[Peers], heard: list[list[bytes]]) -> None:
        messages = [str(number).encode() for number in range(400)]
        for message in messages:  # nobody reads meanwhile: it is one thread
            peers[0].tell(message)
        await until(lambda: len(heard[1]) == len(heard[2]) == len(messages))
        assert set(heard[1]) == set(heard[2]) == set(messages)

    run(body, folder)


def test_without_a_folder_there_are_none() -> None:
    async def body(peers: list[Peers], heard: list[list[bytes]]) -> None:
        peers[0].tell(b"anybody?")
        assert heard == [[], [], []]

    run(body, None)


def test_the_folder_is_private_and_leaves_with_its_server() -> None:
    with private_folder() as path:
        assert path is not None
        assert path.stat().st_mode & 0o777 == 0o700
    assert not path.exists()
