"""`Sandbox`: run untrusted Python programs, each in a process of its own with access only to the given functions.

The interpreter is pydantic-monty's (MIT, in Rust): it has no file, network, environment or import of its own, its
worker starts with an empty environment in a few milliseconds, and a worker that does not stop by itself is killed.
RestrictedPython is no sandbox, and CPython in a separate process is one only with the permissions to build a jail.

A program cannot slow down others: threads wait for its process, never the event loop (monty's AsyncMonty is not used,
since its threads may abort a Python that exits). Its process ends with its call and is never reused, so that no data of
one client reaches another.

Values that leave a sandbox are copied into JSON up to a size: a list of a list of a list, each a thousand times the
same, is a few kilobytes in the program and gigabytes as text.
"""

import asyncio
import base64
import datetime as dt
import decimal
import io
import json
import math
import os
import signal
import tokenize
from collections.abc import Awaitable, Callable, Container, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import pydantic_monty as monty

from .limits import DEFAULT_LIMITS, CodeLimits

MAX_PROGRAMS: Final = 8
"""Concurrent programs, and concurrent calls of one program; others wait."""

MAX_JSON_BYTES: Final = 8 * 1024 * 1024
"""Approximate bytes of a value as JSON: as much as an upload may have, and converted in well under a second."""

_KILL_DELAY: Final = 1.0
"""Seconds after its time limit until a process that has not stopped by itself is killed."""

_MAX_ERROR_LENGTH: Final = 4000
_SCRIPT: Final = "<python-input-0>"


class ProgramError(Exception):
    """An error of a function, raised in the program as a built-in exception of type `exc_type`."""

    def __init__(self, exc_type: monty.ExcType, message: str) -> None:
        super().__init__(message)
        self._exc_type: monty.ExcType = exc_type

    def as_result(self) -> monty.ExternalExceptionData:
        """Return the error in the sandbox's format."""
        return {"exc_type": self._exc_type, "message": str(self)}


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The end of a program: its value or its error, its printed output, and the number of characters cut from that."""

    value: Any = None
    error: str = ""
    output: str = ""
    omitted_characters: int = 0


FunctionHandler: TypeAlias = Callable[[str, list[Any], dict[str, Any]], Awaitable[Any]]
"""Executes a call by function name, positional and keyword arguments, all JSON values. May raise ProgramError."""


class Sandbox:
    """A runner of programs. It belongs to one event loop and needs no closing.

    Raises FileNotFoundError where the interpreter is not installed.
    """

    def __init__(self, limits: CodeLimits = DEFAULT_LIMITS) -> None:
        monty.Monty(min_processes=0)  # looks for the interpreter without starting a process
        self.limits = limits
        self._threads = ThreadPoolExecutor(MAX_PROGRAMS, thread_name_prefix="program")
        self._programs = asyncio.Semaphore(MAX_PROGRAMS)

    async def run(self, source: str, functions: Container[str], handler: FunctionHandler) -> ProgramResult:
        """Run a program whose `functions` are executed by `handler`. Cancelling this ends the program."""
        async with self._programs:
            worker = _SandboxProcess(self.limits)
            program = _Program(worker, self._threads, functions, handler, is_async=awaits(source))
            value, error = None, ""
            try:
                async with asyncio.timeout(self.limits.seconds):
                    value = await program.value(source)
            except TimeoutError:
                error = f"TimeoutError: the program took more than {self.limits.seconds:g} seconds, its calls included"
            except NotSerializableError as failure:
                error = f"TypeError: the program ended, but its result cannot be shown: {failure}"
            except monty.MontyError as failure:
                error = _error_text(failure, self.limits)
            finally:
                await program.end()
            return ProgramResult(value, error, "".join(worker.output), max(0, -worker.output_limit))


def awaits(source: str) -> bool:
    """Return whether a program contains `await`: then its functions are asynchronous and can run concurrently."""
    try:
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        return any(token.type == tokenize.NAME and token.string == "await" for token in tokens)
    except (tokenize.TokenError, SyntaxError):  # the sandbox reports it
        return False


_Snapshot: TypeAlias = monty.SyncSnapshot


@dataclass(frozen=True, slots=True)
class _Suspension:
    """A suspended program. `data` is its value at the end, or the arguments of a call, or a ProgramError for these."""

    snapshot: _Snapshot
    data: Any = None


class _SandboxProcess:
    """The process of one program. All methods but `kill` block until it is suspended, so they run in a thread."""

    def __init__(self, limits: CodeLimits) -> None:
        self.output: list[str] = []
        self.output_limit = limits.output_characters
        self._limits = limits
        self._resources = ExitStack()
        self._session: monty.MontySession | None = None
        self._pid: int | None = None

    def open(self) -> None:
        """Start the process."""
        compute_seconds = min(self._limits.compute_seconds, self._limits.seconds)
        pool = monty.Monty(min_processes=0, max_processes=1, request_timeout=compute_seconds + _KILL_DELAY)
        limits = monty.ResourceLimits(
            max_feed_duration_secs=compute_seconds,
            max_memory=self._limits.memory_bytes,
            max_recursion_depth=200,
            max_suspensions=10_000,
        )
        self._session = self._resources.enter_context(self._resources.enter_context(pool).checkout(limits=limits))
        self._pid = self._session.worker_pid

    def feed(self, source: str) -> _Suspension:
        """Start the program and run it until it is suspended."""
        assert self._session is not None  # noqa: S101 - it is open
        return self._suspension(self._session.feed_start(source, print_callback=self._print))

    def resume(self, action: Callable[[], _Snapshot]) -> _Suspension:
        """Resume the program by this action of its last snapshot, and run it until it is suspended."""
        return self._suspension(action())

    def close(self) -> None:
        """End the process."""
        self._pid = None
        self._resources.close()

    def kill(self) -> None:
        """Kill the process without waiting for it."""
        if self._pid is not None:
            with suppress(OSError):  # it has ended by itself
                os.kill(self._pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    def _suspension(self, snapshot: _Snapshot) -> _Suspension:
        """Convert the values of a snapshot to JSON, here in the thread since that may take long."""
        if isinstance(snapshot, monty.MontyComplete):
            return _Suspension(snapshot, json_value(snapshot.output))
        if not isinstance(snapshot, monty.FunctionSnapshot):
            return _Suspension(snapshot)
        try:
            return _Suspension(snapshot, (json_value(list(snapshot.args)), json_value(snapshot.kwargs)))
        except NotSerializableError as failure:
            message = f"an argument of {snapshot.function_name} cannot be sent: {failure}"
            return _Suspension(snapshot, ProgramError("TypeError", message))

    def _print(self, _stream: str, text: str) -> None:
        if self.output_limit > 0:
            self.output.append(text[: self.output_limit])
        self.output_limit -= len(text)


class _Program:
    """The execution of one program: answers its requests whenever it is suspended, and resumes it."""

    def __init__(
        self,
        worker: _SandboxProcess,
        threads: ThreadPoolExecutor,
        functions: Container[str],
        handler: FunctionHandler,
        *,
        is_async: bool,
    ) -> None:
        self._worker = worker
        self._threads = threads
        self._functions = functions
        self._handler = handler
        self._is_async = is_async
        self._concurrent_calls = asyncio.Semaphore(MAX_PROGRAMS)
        self._tasks: dict[int, asyncio.Task[monty.ExternalSettledResult]] = {}

    async def value(self, source: str) -> Any:
        """Run the program to its end and return its value. Raises MontyError and NotSerializableError."""
        await self._in_thread(self._worker.open)
        suspension = await self._in_thread(partial(self._worker.feed, source))
        while not isinstance(suspension.snapshot, monty.MontyComplete):
            action = await self._answer(suspension.snapshot, suspension.data)
            suspension = await self._in_thread(partial(self._worker.resume, action))
        return suspension.data

    async def end(self) -> None:
        """Cancel the calls of the program and end its process."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self._in_thread(self._worker.close)

    async def _in_thread(self, step: Callable[[], Any]) -> Any:
        """Run a step in a thread. On cancellation kill the process, so that the thread ends too."""
        future = asyncio.get_running_loop().run_in_executor(self._threads, step)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            self._worker.kill()
            await asyncio.wait([future])
            future.exception()  # marks it as retrieved
            raise

    async def _answer(self, snapshot: _Snapshot, data: Any) -> Callable[[], _Snapshot]:
        """Return the action that resumes the program with what it waits for."""
        if isinstance(snapshot, monty.FutureSnapshot):
            return partial(snapshot.resume, await self._completed(snapshot.pending_call_ids))
        if isinstance(snapshot, monty.NameLookupSnapshot):
            is_function = snapshot.object_id is None and snapshot.variable_name in self._functions
            return partial(snapshot.resume, value=_named(snapshot.variable_name)) if is_function else snapshot.resume
        assert isinstance(snapshot, monty.FunctionSnapshot)  # noqa: S101 - there is no other kind
        if snapshot.is_os_function:
            return await self._system_call(snapshot, data)
        result = self._call(snapshot.function_name, data)
        if self._is_async and snapshot.function_name in self._functions:
            return self._in_background(snapshot, result)
        return partial(snapshot.resume, await result)

    async def _system_call(self, snapshot: monty.FunctionSnapshot, data: Any) -> Callable[[], _Snapshot]:
        """Execute a sleep. All other system calls fail, since the sandbox has no resources."""
        if snapshot.function_name == "system.async_sleep":
            return self._in_background(snapshot, _sleep(data))
        if snapshot.function_name == "system.sleep":
            return partial(snapshot.resume, await _sleep(data))
        return snapshot.resume_auto

    def _in_background(
        self, snapshot: monty.FunctionSnapshot, result: Coroutine[Any, Any, monty.ExternalSettledResult]
    ) -> Callable[[], _Snapshot]:
        """Execute the call in a task; the program continues and waits where it awaits the result."""
        self._tasks[snapshot.call_id] = asyncio.create_task(result)
        return partial(snapshot.resume, {"future": ...})

    async def _completed(self, call_ids: Iterable[int]) -> dict[int, monty.ExternalSettledResult]:
        """Wait until one of these calls has ended, and return the results of all that have."""
        tasks = {self._tasks[call_id]: call_id for call_id in call_ids}
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return {tasks[task]: task.result() for task in done}

    async def _call(self, name: str, data: Any) -> monty.ExternalSettledResult:
        if name not in self._functions:
            return {"exc_type": "NameError", "message": f"name '{name}' is not defined"}
        if isinstance(data, ProgramError):
            return data.as_result()
        try:
            async with self._concurrent_calls:
                return {"return_value": await self._handler(name, *data)}
        except ProgramError as error:
            return error.as_result()


async def _sleep(data: Any) -> monty.ExternalSettledResult:
    """Sleep as long as the program asks for; its time limit goes on."""
    await asyncio.sleep(min(max(0.0, float(data[0][0])), 3600.0))
    return {"return_value": None}


def _named(name: str) -> Callable[[], None]:
    """Return the value of a function's name that the program uses without calling it."""

    def function() -> None: ...

    function.__name__ = name
    return function


def _error_text(failure: monty.MontyError, limits: CodeLimits) -> str:
    """Return an error for the program's author: with lines of the program, and no details of this process."""
    if isinstance(failure, monty.MontyCrashedError):
        timeout = f"TimeoutError: the program computed for more than {limits.compute_seconds:g} seconds"
        return timeout if failure.timed_out else "MemoryError: the program ran out of memory, and its process crashed"
    if not isinstance(failure, monty.MontySyntaxError | monty.MontyRuntimeError):
        return f"RuntimeError: {failure}"[:_MAX_ERROR_LENGTH]
    text = failure.display().replace(f'File "{_SCRIPT}", line', "Line")
    half = _MAX_ERROR_LENGTH // 2
    return text if len(text) <= _MAX_ERROR_LENGTH else f"{text[:half]}\n…\n{text[-half:]}"


_MAX_DEPTH: Final = 100
_MAX_INTEGER_BITS: Final = 14_000
"""Python converts integers of at most 4,300 digits to text."""

_BYTES_PER_VALUE: Final = 8
"""Counted for each value besides its text."""


class NotSerializableError(Exception):
    """A value cannot be converted to JSON, for the reason in the message."""


def json_value(value: Any, max_bytes: int = MAX_JSON_BYTES) -> Any:
    """Return an independent JSON copy of a value. Raises NotSerializableError for values without JSON, or too large.

    Tuples and sets become arrays; dates, times and decimals text; bytes base64; an object the object of its attributes.
    """
    return _JsonCopy(max_bytes).of(value, 0)


@dataclass(slots=True)
class _JsonCopy:
    remaining_bytes: int

    def of(self, value: Any, depth: int) -> Any:
        self._count(_BYTES_PER_VALUE)
        if depth > _MAX_DEPTH:
            raise NotSerializableError(f"it is nested more than {_MAX_DEPTH} deep")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, list | tuple | set | frozenset):
            return [self.of(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return {self._key(key, depth): self.of(item, depth + 1) for key, item in value.items()}
        return self._scalar(value, depth)

    def _scalar(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            self._count(len(value))
            return value
        if isinstance(value, int):
            if value.bit_length() > _MAX_INTEGER_BITS:
                raise NotSerializableError("it has a number of more than 4,300 digits")
            return int(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, bytes):
            self._count(len(value))
            return base64.b64encode(value).decode()
        if isinstance(value, dt.date | dt.time):
            return value.isoformat()
        if isinstance(value, decimal.Decimal | dt.timedelta | dt.timezone):
            return str(value)
        return self._object(value, depth)

    def _object(self, value: Any, depth: int) -> Any:
        """Return the attributes of an instance of a class of the program."""
        attributes = getattr(value, "attributes", None)
        if not isinstance(attributes, dict):
            raise NotSerializableError(f"{getattr(value, 'name', None) or type(value).__name__} is not data")
        return self.of(attributes, depth + 1)

    def _key(self, key: Any, depth: int) -> str:
        copy = self.of(key, depth + 1)
        return copy if isinstance(copy, str) else json.dumps(copy)

    def _count(self, size: int) -> None:
        self.remaining_bytes -= size
        if self.remaining_bytes < 0:
            raise NotSerializableError("it is too large")
