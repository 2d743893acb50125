"""`MemoryWatch`: a limit on the memory that programs hold together, since each may hold its own limit.

The program that holds the most, of the client whose programs hold the most, is ended when all together exceed it.
Memory is read from `/proc`, so that there is no such limit on other systems than Linux; the limits of each program hold
everywhere.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

MAX_BYTES: Final = 160 * 1024 * 1024
"""Bytes that programs hold together: more than twice the limit of one, or thirty small programs.

Those that allocate at the same moment hold more for the time between two looks.
"""

SMALL_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a process that holds little data; without any it has some 6 MiB."""

_INTERVAL: Final = 0.02
"""Seconds between two looks: a program allocates its limit in about as long."""


class Holder(Protocol):
    """A program as far as its memory is concerned."""

    @property
    def client(self) -> object:
        """The client that runs it."""
        ...

    @property
    def pid(self) -> int | None:
        """Its process."""
        ...

    def end_for_memory(self) -> None:
        """End it, since programs hold too much together."""
        ...


class MemoryWatch:
    """The programs that have processes, looked at while there are any."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._programs: dict[int, Holder] = {}
        self._task: asyncio.Task[None] | None = None

    def add(self, program: Holder) -> None:
        """Watch a program."""
        self._programs[id(program)] = program
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch())

    def remove(self, program: Holder) -> None:
        """Watch a program no longer."""
        self._programs.pop(id(program), None)
        if not self._programs and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_INTERVAL)
            held = {each: private_bytes(each.pid) for each in self._programs.values()}
            while sum(held.values()) > self._max_bytes:
                program = largest(held)
                program.end_for_memory()
                del held[program]


def largest(held: Mapping[Holder, int]) -> Holder:
    """Return the program that holds the most, of the client whose programs hold the most."""
    clients: Counter[object] = Counter()
    for program, size in held.items():
        clients[program.client] += size
    return max(held, key=lambda program: (clients[program.client], held[program]))


def private_bytes(pid: int | None) -> int:
    """Return the memory that a process holds and shares with no other (proc(5), statm); 0 where it is unknown."""
    if pid is not None:
        with suppress(OSError, ValueError):
            _, resident, shared, *_ = map(int, Path(f"/proc/{pid}/statm").read_bytes().split())
            return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
    return 0
