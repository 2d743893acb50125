"""`CoalescingTransport`: one packet for each turn of the event loop, no large buffers, nothing sent after the end."""

import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from openapi_mcp.runtime.http.connections import CoalescingTransport

Do = Callable[[CoalescingTransport], None]


class Receiver(asyncio.Protocol):
    """A client that collects packets until the connection ends."""

    def __init__(self) -> None:
        self.packets: list[bytes] = []
        self.over = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.packets.append(data)

    def connection_lost(self, _exc: Exception | None) -> None:
        self.over.set()


def packets(do: Do) -> list[bytes]:
    """Return the packets that a client receives from a server that calls `do` on each connection."""

    class Sender(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            do(CoalescingTransport(cast("asyncio.Transport", transport), asyncio.get_running_loop()))

    async def once() -> list[bytes]:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Sender, "127.0.0.1", 0)
        async with server, asyncio.timeout(20):
            _, receiver = await loop.create_connection(Receiver, *server.sockets[0].getsockname()[:2])
            await receiver.over.wait()
        return receiver.packets

    return asyncio.run(once())


def write_and_close_later(transport: CoalescingTransport) -> None:
    for piece in (b"head ", b"and ", b"body"):
        transport.write(piece)
    asyncio.get_running_loop().call_later(0.01, transport.close)


def write_and_close(transport: CoalescingTransport) -> None:
    transport.write(b"last ")
    transport.write(b"words")
    transport.close()
    transport.write(b"too late")


def write_and_abort(transport: CoalescingTransport) -> None:
    transport.write(b"never sent")
    transport.abort()


@pytest.mark.parametrize(
    ("do", "expected"),
    [(write_and_close_later, [b"head and body"]), (write_and_close, [b"last words"]), (write_and_abort, [])],
)
def test_writes_of_one_turn_are_sent_together(do: Do, expected: list[bytes]) -> None:
    assert packets(do) == expected


def test_large_writes_are_sent_at_once_and_in_order() -> None:
    buffered: list[int] = []

    def do(transport: CoalescingTransport) -> None:
        transport.write(b"a" * 10)
        transport.write(b"b" * 10_000_000)
        buffered.append(transport.get_write_buffer_size())
        transport.write(b"c")
        transport.close()

    assert b"".join(packets(do)) == b"a" * 10 + b"b" * 10_000_000 + b"c"
    assert buffered[0] > 0  # so that whoever writes can be told to wait
