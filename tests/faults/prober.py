"""A client that pings servers every 20 ms and reports the longest wait: the neighbour in each row of `make faults`.

Run as a program with ports as arguments, first the server under test, then an idle one. Each line on stdin ends a
period: the program waits for the pings that are on their way and writes a line of JSON, the longest wait in seconds
for each port. It comes from another loopback address than the hostile clients, as another machine would.
"""

import asyncio
import json
import sys
import time
from typing import Final

INTERVAL: Final = 0.02
"""Seconds between two pings."""

SOURCE: Final = "127.0.0.2"
MAX_SECONDS: Final = 20.0
"""Of one ping: a server that does not answer sooner is taken for one that never does."""

RECONNECT_EVERY: Final = 25
"""Pings on one connection, so that waiting for a new connection is measured as well."""

_BODY: Final = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
_REQUEST: Final = (
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n"
    b"Content-Length: %d\r\n\r\n" % len(_BODY)
) + _BODY


class Client:
    """Pings one server until its task is cancelled; `longest` is the longest wait since it was reset."""

    def __init__(self, port: int) -> None:
        self.longest = 0.0
        self._port = port
        self._sent: float | None = None
        self._idle = asyncio.Event()
        self._writer: asyncio.StreamWriter | None = None

    async def run(self) -> None:
        count = 0
        while True:
            self._idle.clear()
            self._sent = time.perf_counter()
            try:
                async with asyncio.timeout(MAX_SECONDS):
                    await self._ping(renew=count % RECONNECT_EVERY == 0)
            except (OSError, asyncio.IncompleteReadError, ValueError, IndexError):  # a ping that failed waits forever
                self.longest = MAX_SECONDS
                self._writer = None
            self.longest = max(self.longest, time.perf_counter() - self._sent)
            self._sent = None
            self._idle.set()
            count += 1
            await asyncio.sleep(INTERVAL)

    async def result(self) -> float:
        """Return the longest wait when no ping is on its way, and begin anew."""
        await self._idle.wait()
        longest, self.longest = self.longest, 0.0
        return longest

    async def _ping(self, *, renew: bool) -> None:
        if self._writer is None or renew:
            if self._writer is not None:
                self._writer.close()
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, local_addr=(SOURCE, 0))
        self._writer.write(_REQUEST)
        head = await self._reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head[:16]:
            raise ValueError(head[:100])
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await self._reader.readexactly(length)


async def main(ports: list[int]) -> None:
    """Ping until stdin ends."""
    loop = asyncio.get_running_loop()
    clients = [Client(port) for port in ports]
    tasks = [asyncio.create_task(client.run()) for client in clients]
    while await loop.run_in_executor(None, sys.stdin.readline):
        longest = [await client.result() for client in clients]
        sys.stdout.write(json.dumps(longest) + "\n")
        sys.stdout.flush()
    for task in tasks:
        task.cancel()


if __name__ == "__main__":
    asyncio.run(main([int(word) for word in sys.argv[1:]]))
