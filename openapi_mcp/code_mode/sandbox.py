"""`Sandbox`: run untrusted Python programs, each in a process of its own with access only to the given functions.

A program cannot slow down others: threads wait for its process, never the event loop (monty's AsyncMonty is not used,
since its threads may abort a Python that exits). Its process ends with its call and is never reused, so that no data of
one client reaches another.

A program that waits, for a call or because it sleeps, takes no place of those that compute. Many that wait long are put
away, so that their number is not that of processes. Clients share all places (see `runtime.upstream.shares`).
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Container, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import pydantic_monty as monty

from ..runtime.upstream.shares import ADDRESS_RATIO, CALLER, CLIENT_RATIO, Caller, SharedSlots, Shares
from .limits import DEFAULT_LIMITS, CodeLimits
from .memory import MemoryWatch
from .prelude import HOST_FUNCTIONS
from .process import ProgramError, SandboxProcess, Snapshot
from .translation import UnsupportedProgramError, prelude_awaited
from .values import NotSerializableError

MAX_COMPUTING: Final = 4
"""Programs that compute at once; others wait for a place."""

MAX_PROCESSES: Final = 32
"""Processes of programs at once; one that waits has some 6 MiB (see `memory` for all together)."""

MAX_PROGRAMS: Final = 256
"""Programs at once, those that are put away included: 64 MiB of state. One more is refused."""

MAX_CONCURRENT_CALLS: Final = 8
"""Concurrent calls of one program; others wait."""

_PARK_SECONDS: Final = 1.0
"""Seconds that a program waits before it is put away: a hundred times as long as a process takes to start."""

_PARK_PROCESSES: Final = MAX_PROCESSES // 2
"""Processes above which programs are put away."""

_SPARE_THREADS: Final = 4
"""Threads that end processes while all others compute."""

_RATIOS: Final = (ADDRESS_RATIO, CLIENT_RATIO)
_COMPUTING_RATIOS: Final = (4, 2)
"""One client has at most three of four places to compute, and the clients at one address all (see `shares`)."""

_RETURN_LESS: Final = "Return less: dicts, lists, texts and numbers that the program picked, counted or summed."
_TOOK_LONG: Final = "the program took more than {:g} seconds, its calls included"
_STARTED_LATE: Final = "the program was not run: others took all places for {:g} seconds. Try again."
_CALL: Final = re.compile(r"<coroutine external_future\((\d+)\)>")
"""A call as the sandbox shows it, with its number."""

_NEVER_AWAITED: Final = "Line {line}: {name} was called without await, and failed: {error}"


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The end of a program: its value or its error, its printed output, and the number of characters cut from that.

    `failed` are the calls that failed after the program had ended, since it did not await them.
    """

    value: Any = None
    error: str = ""
    output: str = ""
    omitted_characters: int = 0
    failed: tuple[str, ...] = ()


FunctionHandler: TypeAlias = Callable[[str, list[Any], dict[str, Any]], Awaitable[Any]]
"""Executes a call by function name, positional and keyword arguments, all JSON values. May raise ProgramError."""


class Sandbox:
    """A runner of programs. It belongs to one event loop and needs no closing.

    Raises FileNotFoundError where the interpreter is not installed.
    """

    def __init__(self, limits: CodeLimits = DEFAULT_LIMITS) -> None:
        monty.Monty(min_processes=0)  # looks for the interpreter without starting a process
        self.limits = limits
        self._places = _Places()

    async def run(self, source: str, functions: Container[str], handler: FunctionHandler) -> ProgramResult:
        """Run a program whose `functions` are executed by `handler`. Cancelling this ends the program."""
        holder = CALLER.get()
        if not self._places.programs.take(holder):
            return ProgramResult(error="RuntimeError: too many programs are running. Try again when one has ended.")
        try:
            return await self._run(_Program(self.limits, self._places, holder, functions, handler), source)
        finally:
            self._places.programs.give_back(holder)

    async def _run(self, program: "_Program", source: str) -> ProgramResult:
        value, error = None, ""
        failed: list[str] = []
        try:
            async with asyncio.timeout(self.limits.seconds):
                value = await program.value(source)
                failed = await program.never_awaited()
        except TimeoutError:
            error = f"TimeoutError: {_TOOK_LONG if program.has_started else _STARTED_LATE}".format(self.limits.seconds)
        except NotSerializableError as failure:
            error = f"TypeError: the program ended, but its result cannot be shown: {failure}. {_RETURN_LESS}"
        except UnsupportedProgramError as failure:
            error = f"The program was not run, since the sandbox cannot run all of it.\n{failure}"
        except monty.MontyError as failure:
            error = program.worker.error_text(failure)
        finally:
            await program.end()
        worker = program.worker
        return ProgramResult(value, error, "".join(worker.output), max(0, -worker.output_limit), tuple(failed))


class _Places:
    """The places that programs share."""

    def __init__(self) -> None:
        self.programs: Shares[Caller] = Shares(MAX_PROGRAMS, _RATIOS, tuple)
        self.processes: SharedSlots[Caller] = SharedSlots(MAX_PROCESSES, _RATIOS, tuple)
        self.computing: SharedSlots[Caller] = SharedSlots(MAX_COMPUTING, _COMPUTING_RATIOS, tuple)
        self.running_processes = 0
        self.memory = MemoryWatch()
        self.threads = ThreadPoolExecutor(MAX_COMPUTING + _SPARE_THREADS, thread_name_prefix="program")


class _BackgroundCall(NamedTuple):
    """A call whose result the program has not received; `name` is empty for what is no call of a tool.

    `timed` is, of a timer, what the program waits for until then, as the sandbox shows it.
    """

    task: asyncio.Task[monty.ExternalSettledResult]
    name: str = ""
    line: int = 0
    timed: str = ""


@dataclass(slots=True, eq=False)
class _Program:
    """The execution of one program: answers its requests whenever it is suspended, and resumes it."""

    limits: CodeLimits
    places: _Places
    holder: Caller
    functions: Container[str]
    handler: FunctionHandler
    worker: SandboxProcess = field(init=False)
    has_started: bool = False
    _has_process: bool = False
    _deadline: float = 0.0
    _concurrent_calls: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CONCURRENT_CALLS))
    _calls: dict[int, _BackgroundCall] = field(default_factory=dict)
    _waiting: dict[Any, asyncio.Event] = field(default_factory=dict)
    _last_id: int = 0
    _left: set[int] = field(default_factory=set)  # calls that began within time limits of the program that have ended

    def __post_init__(self) -> None:
        self.worker = SandboxProcess(self.limits, self.holder)

    async def value(self, source: str) -> Any:
        """Run the program to its end and return its value. Raises MontyError and NotSerializableError."""
        self._deadline = asyncio.get_running_loop().time() + self.limits.seconds
        suspension = await self._compute(partial(self.worker.start, source, self.functions))
        while not isinstance(suspension.snapshot, monty.MontyComplete):
            action = await self._answer(suspension.snapshot, suspension.data)
            suspension = await self._compute(partial(self.worker.resume, action))
        return suspension.data

    async def never_awaited(self) -> list[str]:
        """Wait for the calls that the program did not await, and return a sentence for each that failed.

        Those that it left since a time limit had ended are cancelled; where a `gather` failed, they are made.
        """
        for call_id in self._left.intersection(self._calls):
            self._cancel(call_id)
        calls = [call for call in self._calls.values() if call.name]
        results = await asyncio.gather(*(call.task for call in calls))
        return [
            _NEVER_AWAITED.format(line=call.line, name=call.name, error=result.get("message", ""))
            for call, result in zip(calls, results, strict=True)
            if "exc_type" in result
        ]

    async def end(self) -> None:
        """Cancel the calls of the program and end its process."""
        tasks = [call.task for call in self._calls.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._in_thread(self.worker.close)
        self._leave_process()

    async def _compute(self, step: Callable[[], Any]) -> Any:
        """Run a step of the program in a thread, as soon as there are a process and a place for it."""
        if not self._has_process:
            await self.places.processes.acquire(self.holder, None)
            self._has_process = True
            self.places.running_processes += 1
            self.places.memory.add(self.worker)
        await self.places.computing.acquire(self.holder, None)
        self.has_started = True
        try:
            with self.places.memory.computing(self.worker):
                return await self._in_thread(step)
        finally:
            self.places.computing.release(self.holder)

    def _leave_process(self) -> None:
        if self._has_process:
            self._has_process = False
            self.places.memory.remove(self.worker)
            self.places.running_processes -= 1
            self.places.processes.release(self.holder)

    async def _in_thread(self, step: Callable[[], Any]) -> Any:
        """Run a step in a thread. On cancellation kill the process, so that the thread ends too."""
        future = asyncio.get_running_loop().run_in_executor(self.places.threads, step)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            self.worker.kill()
            await asyncio.wait([future])
            future.exception()  # marks it as retrieved
            raise

    async def _waited(self, awaitable: Coroutine[Any, Any, Any]) -> Any:
        """Return what the program waits for; if that takes long while many do, without a process."""
        task = asyncio.ensure_future(awaitable)
        try:
            await asyncio.wait([task], timeout=_PARK_SECONDS)
            is_many = self.places.running_processes > _PARK_PROCESSES
            if not task.done() and is_many and await self._in_thread(self.worker.park):
                self._leave_process()
            return await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _answer(self, snapshot: Snapshot, data: Any) -> Callable[[Any], Snapshot]:
        """Return the action that resumes the program with what it waits for."""
        if isinstance(snapshot, monty.FutureSnapshot):
            results = await self._waited(self._completed(snapshot.pending_call_ids))
            return lambda suspended: suspended.resume(results)
        if isinstance(snapshot, monty.NameLookupSnapshot):
            name = snapshot.variable_name
            is_function = snapshot.object_id is None and (name in self.functions or name in HOST_FUNCTIONS)
            return lambda suspended: suspended.resume(value=_named(name)) if is_function else suspended.resume()
        assert isinstance(snapshot, monty.FunctionSnapshot)  # noqa: S101 - there is no other kind
        if snapshot.is_os_function:
            return await self._system_call(snapshot, data)
        name = snapshot.function_name
        if name in HOST_FUNCTIONS:
            return self._synchronize(snapshot, data)
        result = self._call(name, data)
        if name in self.functions and self._is_awaited(snapshot.position):
            line = self.worker.translation.line_at(snapshot.position.start)
            return self._in_background(snapshot, result, name, line)
        answer = await self._waited(result)
        return lambda suspended: suspended.resume(answer)

    def _is_awaited(self, position: monty.SourceRange) -> bool:
        """Return whether the call at a position makes a coroutine."""
        translation = self.worker.translation
        if translation.awaited is None:
            return translation.is_async
        place = (position.start, position.end)
        if position.filename == self.worker.program_file:
            return place in translation.awaited
        return translation.needs_prelude and position.filename != "<string>" and place in prelude_awaited()

    async def _system_call(self, snapshot: monty.FunctionSnapshot, data: Any) -> Callable[[Any], Snapshot]:
        """Execute a sleep. All other system calls fail, since the sandbox has no resources."""
        if snapshot.function_name == "asyncio.sleep":
            return self._in_background(snapshot, self._sleep(data))
        if snapshot.function_name == "time.sleep":
            result = await self._waited(self._sleep(data))
            return lambda suspended: suspended.resume(result)
        return lambda suspended: suspended.resume_auto()

    def _in_background(
        self,
        snapshot: monty.FunctionSnapshot,
        result: Coroutine[Any, Any, monty.ExternalSettledResult],
        name: str = "",
        line: int = 0,
        timed: str = "",
    ) -> Callable[[Any], Snapshot]:
        """Execute the call in a task; the program continues and waits where it awaits the result."""
        self._last_id = snapshot.call_id
        self._calls[snapshot.call_id] = _BackgroundCall(asyncio.create_task(result), name, line, timed)
        return lambda suspended: suspended.resume({"future": ...})

    async def _completed(self, call_ids: Iterable[int]) -> dict[int, monty.ExternalSettledResult]:
        """Wait until one of these calls has ended, and return the results of all that have."""
        tasks = {self._calls[call_id].task: call_id for call_id in call_ids}
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            if self._calls[tasks[task]].timed and "exc_type" in task.result():
                self._leave(tasks[task])
        return {tasks[task]: _settled(task) for task in done if self._calls.pop(tasks[task])}

    def _leave(self, timer: int) -> None:
        """Note the calls that the program no longer waits for, since the time limit of this timer has ended.

        They are those that began within it, or the one call that it is for, which is cancelled at once.
        """
        call = _CALL.fullmatch(self._calls[timer].timed)
        if call is None:
            self._left.update(range(timer + 1, self._last_id + 1))
        elif int(call[1]) in self._calls:
            self._cancel(int(call[1]))

    def _cancel(self, call_id: int) -> None:
        """Cancel a call, which the sandbox may go on to ask for."""
        self._calls[call_id].task.cancel()
        self._calls[call_id] = self._calls[call_id]._replace(name="")

    async def _call(self, name: str, data: Any) -> monty.ExternalSettledResult:
        if name not in self.functions:
            return {"exc_type": "NameError", "message": f"name '{name}' is not defined"}
        if isinstance(data, ProgramError):
            return data.as_result()
        try:
            async with self._concurrent_calls:
                return {"return_value": await self.handler(name, *data)}
        except ProgramError as error:
            return error.as_result()

    async def _sleep(self, data: Any) -> monty.ExternalSettledResult:
        """Sleep as long as the program asks for, or fail at once if its time ends before that."""
        seconds, *values = data[0]
        remaining = self._deadline - asyncio.get_running_loop().time()
        if float(seconds) > remaining:
            limit = f"{max(0.0, remaining):.3g} of its {self.limits.seconds:g} seconds are left (--code-timeout)"
            return {"exc_type": "TimeoutError", "message": f"the program cannot sleep for {seconds} seconds: {limit}"}
        await asyncio.sleep(max(0.0, float(seconds)))
        return {"return_value": values[0] if values else None}

    def _synchronize(self, snapshot: monty.FunctionSnapshot, data: Any) -> Callable[[Any], Snapshot]:
        """Wait until something in the prelude changes, or tell those who do (see `prelude`)."""
        if snapshot.function_name == "_sandbox_timer":
            key, seconds, timed = data[0]
            ended = self._waiting.setdefault(str(([key], {})), asyncio.Event())
            return self._in_background(snapshot, _change(ended, float(seconds)), timed=timed)
        key = str(data)
        if snapshot.function_name == "_sandbox_wait":
            return self._in_background(snapshot, _change(self._waiting.setdefault(key, asyncio.Event())))
        if event := self._waiting.pop(key, None):
            event.set()
        return lambda suspended: suspended.resume({"return_value": None})


def _settled(task: asyncio.Task[monty.ExternalSettledResult]) -> monty.ExternalSettledResult:
    return {"exc_type": "TimeoutError", "message": "cancelled"} if task.cancelled() else task.result()


async def _change(event: asyncio.Event, seconds: float | None = None) -> monty.ExternalSettledResult:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return {"exc_type": "TimeoutError", "message": f"it took more than {seconds:g} seconds"}
    return {"return_value": None}


def _named(name: str) -> Callable[[], None]:
    """Return the value of a function's name that the program uses without calling it."""

    def function() -> None: ...

    function.__name__ = name
    return function
