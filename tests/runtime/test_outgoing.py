"""`outgoing`: one turn of the event loop is one packet, much is not kept, and nothing is sent after an end."""

import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from openapi_mcp.runtime.outgoing import Outgoing

Do = Callable[[Outgoing], None]


class Ears(asyncio.Protocol):
    """What came, packet by packet, until the end."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.over = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.heard.append(data)

    def connection_lost(self, _exc: Exception | None) -> None:
        self.over.set()


def heard(do: Do) -> list[bytes]:
    """What a client hears of what a server does when it is connected to."""

    class Mouth(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            do(Outgoing(cast("asyncio.Transport", transport), asyncio.get_running_loop()))

    async def once() -> list[bytes]:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Mouth, "127.0.0.1", 0)
        async with server, asyncio.timeout(20):
            _, ears = await loop.create_connection(Ears, *server.sockets[0].getsockname()[:2])
            await ears.over.wait()
        return ears.heard

    return asyncio.run(once())


def closing_later(outgoing: Outgoing) -> None:
    for piece in (b"head ", b"and ", b"body"):
        outgoing.write(piece)
    asyncio.get_running_loop().call_later(0.01, outgoing.close)


def closing(outgoing: Outgoing) -> None:
    outgoing.write(b"last ")
    outgoing.write(b"words")
    outgoing.close()
    outgoing.write(b"too late")


def aborting(outgoing: Outgoing) -> None:
    outgoing.write(b"never sent")
    outgoing.abort()


@pytest.mark.parametrize(
    ("do", "expected"), [(closing_later, [b"head and body"]), (closing, [b"last words"]), (aborting, [])]
)
def test_what_is_said_in_one_turn_is_sent_together(do: Do, expected: list[bytes]) -> None:
    assert heard(do) == expected


def test_much_is_sent_at_once_and_in_order() -> None:
    waiting: list[int] = []

    def do(outgoing: Outgoing) -> None:
        outgoing.write(b"a" * 10)
        outgoing.write(b"b" * 10_000_000)
        waiting.append(outgoing.get_write_buffer_size())
        outgoing.write(b"c")
        outgoing.close()

    assert b"".join(heard(do)) == b"a" * 10 + b"b" * 10_000_000 + b"c"
    assert waiting[0] > 0  # so that whoever writes can be told to wait
