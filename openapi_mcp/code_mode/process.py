"""`SandboxProcess`: the interpreter of one program, a process that runs it from one question to the next.

The interpreter is pydantic-monty's (MIT, in Rust): it has no file, network, environment or import of its own, its
worker starts with an empty environment in a few milliseconds, and a worker that does not stop by itself is killed.
RestrictedPython is no sandbox, and CPython in a separate process is one only with the permissions to build a jail.

A process that waits can be put away (`park`): its state is kept as bytes, and a new process goes on with it.
"""

import os
import signal
import time
from collections.abc import Callable, Container
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import pydantic_monty as monty

from .limits import CodeLimits
from .memory import MAX_BYTES, SMALL_BYTES, private_bytes
from .prelude import PRELUDE
from .translation import Translation, translate
from .values import NotSerializableError, json_value

MAX_PARKED_BYTES: Final = 256 * 1024
"""Bytes of the state of a program that is put away: some thousand small objects. A larger one keeps its process."""

_KILL_DELAY: Final = 1.0
"""Seconds after its time limit until a process that has not stopped by itself is killed."""

_MIN_COMPUTE_SECONDS: Final = 0.05
_NICENESS: Final = 5
"""Of what computes for a program, added to that of the server: the server, and thereby everybody else, goes first."""

_MAX_ERROR_LENGTH: Final = 4000
_TOO_MUCH_MEMORY: Final = (
    f"MemoryError: programs may hold {MAX_BYTES // (1024 * 1024)} MiB together, and this one held the most. "
    "Fetch less at a time."
)
_COMPUTED_TOO_LONG: Final = "TimeoutError: feed time limit exceeded"

Snapshot: TypeAlias = monty.SyncSnapshot


class ProgramError(Exception):
    """An error of a function, raised in the program as a built-in exception of type `exc_type`."""

    def __init__(self, exc_type: monty.ExcType, message: str) -> None:
        super().__init__(message)
        self._exc_type: monty.ExcType = exc_type

    def as_result(self) -> monty.ExternalExceptionData:
        """Return the error in the sandbox's format."""
        return {"exc_type": self._exc_type, "message": str(self)}


@dataclass(frozen=True, slots=True)
class Suspension:
    """A suspended program. `data` is its value at the end, or the arguments of a call, or a ProgramError for these."""

    snapshot: Snapshot
    data: Any = None


def computing_thread(pid: int | None) -> int | None:
    """Return the thread of an interpreter that computes, besides the first one, which waits for it (proc(5), task).

    On Linux it has a nice value of its own. Elsewhere this is the process.
    """
    with suppress(OSError):
        return next((int(each.name) for each in Path(f"/proc/{pid}/task").iterdir() if each.name != str(pid)), pid)
    return pid


class SandboxProcess:
    """The process of one program of a client.

    `start`, `resume`, `park` and `close` block until it is suspended or has ended, so they run in a thread.
    """

    def __init__(self, limits: CodeLimits, client: object = None) -> None:
        self.client = client
        self.output: list[str] = []
        self.output_limit = limits.output_characters
        self.translation = Translation("", "")
        self._limits = limits
        self._remaining_seconds = min(limits.compute_seconds, limits.seconds)
        self._resources = ExitStack()
        self._session: monty.MontySession | None = None
        self.pid: int | None = None
        self._kill_reason = ""
        self._snapshot: Snapshot | None = None
        self._parked: bytes | None = None

    @property
    def program_file(self) -> str:
        """The name that the sandbox gives to the program's source."""
        return f"<python-input-{int(self.translation.needs_prelude)}>"

    def start(self, source: str, functions: Container[str]) -> Suspension:
        """Start the program and run it until it is suspended. Raises UnsupportedProgramError."""
        self.translation = translate(source, functions)
        session = self._open()
        return self._timed(lambda: self._feed(session))

    def resume(self, action: Callable[[Any], Snapshot]) -> Suspension:
        """Resume the program by this action on its last snapshot, and run it until it is suspended."""
        if self._parked is not None:
            self._snapshot = self._open().load_snapshot(self._parked, print_callback=self._print)
            self._parked = None
        return self._timed(lambda: action(self._snapshot))

    def park(self) -> bool:
        """End the process of a suspended program and keep its state, unless that is large; return whether it was."""
        if self._snapshot is None or private_bytes(self.pid) > SMALL_BYTES:
            return False
        state = self._snapshot.dump()  # type: ignore[union-attr]  # it is not complete
        if len(state) > MAX_PARKED_BYTES:
            return False
        self.close()
        self._parked = state
        return True

    def close(self) -> None:
        """End the process."""
        self.pid = None
        self._snapshot = None
        self._session = None
        self._resources.close()

    def kill(self, reason: str = "") -> None:
        """Kill the process without waiting for it. `reason` is then the program's error."""
        self._kill_reason = reason
        self._send(getattr(signal, "SIGKILL", signal.SIGTERM))

    def end_for_memory(self) -> None:
        """Kill the process, since programs hold too much memory together."""
        self.kill(_TOO_MUCH_MEMORY)

    def pause(self) -> None:
        """Stop the process; of the time of its program, the pause is a part.

        The signal is sent to the thread that computes: the first one waits, and would take it to all of them only when
        it gets a turn, which takes a tenth of a second on a busy machine.
        """
        self._send(signal.SIGSTOP, computing_thread(self.pid))

    def go_on(self) -> None:
        """Let the process continue that was stopped."""
        self._send(signal.SIGCONT)

    def _send(self, number: signal.Signals, thread: int | None = None) -> None:
        if self.pid is not None:
            with suppress(OSError):  # it has ended by itself
                os.kill(thread or self.pid, number)

    def error_text(self, failure: monty.MontyError) -> str:
        """Return an error for the program's author: with lines of the program, and no details of this process."""
        timeout = f"TimeoutError: the program computed for more than {self._limits.compute_seconds:g} seconds"
        if isinstance(failure, monty.MontyCrashedError):
            crash = "MemoryError: the program ran out of memory, and its process crashed"
            return self._kill_reason or (timeout if failure.timed_out else crash)
        if not isinstance(failure, monty.MontySyntaxError | monty.MontyRuntimeError):
            return f"RuntimeError: {failure}"[:_MAX_ERROR_LENGTH]
        message = failure.display("type-msg")
        message = timeout if message.startswith(_COMPUTED_TOO_LONG) else message
        text = "\n".join([*self._frames(failure), message])
        half = _MAX_ERROR_LENGTH // 2
        return text if len(text) <= _MAX_ERROR_LENGTH else f"{text[:half]}\n…\n{text[-half:]}"

    def _frames(self, failure: monty.MontySyntaxError | monty.MontyRuntimeError) -> list[str]:
        """Return the lines of the program that led to an error, the outermost first."""
        texts = []
        for frame in failure.traceback():
            is_program = frame.filename == self.program_file
            if is_program or frame.filename == "<string>":
                line = self.translation.line(frame.line) if is_program else frame.line
                text = self.translation.text(line) if is_program else (frame.source_line or "").strip()
                place = f", in {frame.function_name}" if frame.function_name else ""
                texts.append(f"  Line {line}{place}\n    {text}")
        return ["Traceback (most recent call last):", *texts] if texts else []

    def _open(self) -> monty.MontySession:
        """Start the process."""
        seconds = max(_MIN_COMPUTE_SECONDS, self._remaining_seconds)
        pool = monty.Monty(min_processes=0, max_processes=1, request_timeout=seconds + _KILL_DELAY)
        limits = monty.ResourceLimits(
            max_feed_duration_secs=seconds,
            max_memory=self._limits.memory_bytes,
            max_recursion_depth=200,
            max_suspensions=10_000,
        )
        entered = self._resources.enter_context(pool)
        session = entered.checkout(limits=limits, os_policy=monty.OSPolicy(sleep="call_host"))
        self._session = self._resources.enter_context(session)
        self.pid = self._session.worker_pid
        if (thread := computing_thread(self.pid)) is not None and hasattr(os, "setpriority"):
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, thread, os.nice(0) + _NICENESS)
        return self._session

    def _feed(self, session: monty.MontySession) -> Snapshot:
        if self.translation.needs_prelude:
            session.feed_run(PRELUDE)
        return session.feed_start(self.translation.source, print_callback=self._print)

    def _timed(self, step: Callable[[], Snapshot]) -> Suspension:
        """Return where a step ends, its values as JSON: here in the thread, since that may take long."""
        start = time.monotonic()
        try:
            self._snapshot = step()
        finally:
            self._remaining_seconds -= time.monotonic() - start
        return self._suspension(self._snapshot)

    def _suspension(self, snapshot: Snapshot) -> Suspension:
        if isinstance(snapshot, monty.MontyComplete):
            return Suspension(snapshot, json_value(snapshot.output))
        if not isinstance(snapshot, monty.FunctionSnapshot):
            return Suspension(snapshot)
        try:
            return Suspension(snapshot, (json_value(list(snapshot.args)), json_value(snapshot.kwargs)))
        except NotSerializableError as failure:
            message = f"an argument of {snapshot.function_name} cannot be sent: {failure}"
            return Suspension(snapshot, ProgramError("TypeError", message))

    def _print(self, _stream: str, text: str) -> None:
        if self.output_limit > 0:
            self.output.append(text[: self.output_limit])
        self.output_limit -= len(text)
