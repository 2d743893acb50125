"""`MemoryWatch`: a limit on the memory that programs hold together, since each may hold its own limit.

The program that holds the most, of the client whose programs hold the most, is ended when all together exceed it. Until
its process has given its memory back, which takes some tenths of a second on a busy machine, the others are paused.
Only programs that compute are looked at, since others hold what they held before, and by a thread, since an event loop
may have much else to do while they allocate.
Memory is read from `/proc`, so that there is no such limit on other systems than Linux; the limits of each program hold
everywhere.
"""

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

MAX_BYTES: Final = 128 * 1024 * 1024
"""Bytes that programs hold together: twice the limit of one, and many more than small programs in all processes do.

They hold more by what they allocate between two looks.
"""

SMALL_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a process that holds little data; without any it has one or two MiB of its own."""

_INTERVAL: Final = 0.003
"""Seconds between two looks: a program allocates some 5 MiB meanwhile."""

_IDLE_SECONDS: Final = 1.0
"""Seconds without a program that computes after which the thread ends."""


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
        """End it, since programs hold too much together, without waiting for its end."""
        ...

    def pause(self) -> None:
        """Stop its process for a while, which may be stopped already."""
        ...

    def go_on(self) -> None:
        """Let its process continue."""
        ...


class MemoryWatch:
    """The programs that have processes, looked at while any of them computes."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._held: dict[Holder, int] = {}
        self._computing: set[Holder] = set()
        self._paused: set[Holder] = set()
        self._ending: set[Holder] = set()  # killed, and their processes hold memory still
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def add(self, program: Holder) -> None:
        """Count the memory of a program."""
        with self._changed:
            self._held[program] = 0

    def remove(self, program: Holder) -> None:
        """Count the memory of a program no longer."""
        with self._changed:
            self._held.pop(program, None)
            self._ending.discard(program)

    @property
    def programs(self) -> list[Holder]:
        """The programs whose memory is counted."""
        with self._changed:
            return list(self._held)

    @contextmanager
    def computing(self, program: Holder) -> Iterator[None]:
        """Look at a program, whose memory is counted, within the block."""
        with self._changed:
            self._computing.add(program)
            self._changed.notify()
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="memory", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._changed:
                self._computing.discard(program)
                self._go_on([program])
            self._look([program])

    def _watch(self) -> None:
        while True:
            with self._changed:
                if not self._changed.wait_for(lambda: self._computing or self._ending, _IDLE_SECONDS):
                    self._thread = None
                    return
                programs = list(self._computing | self._ending)
            self._look(programs)
            time.sleep(_INTERVAL)

    def _look(self, programs: list[Holder]) -> None:
        """Look at programs, end those that hold the most, and pause others while all together hold too much."""
        sizes = {program: private_bytes(program.pid) for program in programs}
        with self._changed:
            self._held |= {program: size for program, size in sizes.items() if program in self._held}
            self._ending = {program for program in self._ending if self._held.get(program)}
            remaining = {program: size for program, size in self._held.items() if program not in self._ending}
            while sum(remaining.values()) > self._max_bytes:
                program = largest(remaining)
                del remaining[program]
                self._ending.add(program)
                program.end_for_memory()
            if sum(self._held.values()) > self._max_bytes:
                self._pause()
            else:
                self._go_on(list(self._paused))

    def _pause(self) -> None:
        """Pause the programs that compute, so that they do not take what those that end have not yet given back."""
        for program in self._computing - self._ending:
            program.pause()
            self._paused.add(program)

    def _go_on(self, programs: list[Holder]) -> None:
        for program in self._paused.intersection(programs):
            program.go_on()
            self._paused.discard(program)


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
