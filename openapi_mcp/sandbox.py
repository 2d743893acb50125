"""`Sandbox`: Python programs that nobody has reviewed, each in a process of its own with nothing but what it is given.

The interpreter is pydantic-monty's (MIT, in Rust): it has no file, network, environment or import of its own, its
worker starts with an empty environment in a few milliseconds, and one that does not stop by itself is killed.
RestrictedPython is no sandbox, and CPython in a process of its own is one only with the rights to build it a jail.

Whatever a program does, it costs no other: threads wait for its process, never the event loop (its AsyncMonty was
passed over: its threads may abort a Python that ends). It ends with its call. Each has a new process, so that nothing
of one client reaches another.
"""

import asyncio
import io
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

from .code_limits import USUAL, Limits
from .plain_values import NotPlain, plain

MOST: Final = 8
"""Programs at once, and calls of one program at once; others wait."""

_GRACE: Final = 1.0
"""Seconds after which a process is killed that did not see itself that its time is over."""

_MAX_ERROR: Final = 4000
_SCRIPT: Final = "<python-input-0>"


class Raised(Exception):
    """What a function raises in the program: a built-in exception of this kind."""

    def __init__(self, kind: monty.ExcType, message: str) -> None:
        super().__init__(message)
        self._kind: monty.ExcType = kind

    def answer(self) -> monty.ExternalExceptionData:
        """As the sandbox is told."""
        return {"exc_type": self._kind, "message": str(self)}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ended: its value, or with an error; what it printed, and how many characters more than are kept."""

    value: Any = None
    error: str = ""
    printed: str = ""
    more: int = 0


Ask: TypeAlias = Callable[[str, list[Any], dict[str, Any]], Awaitable[Any]]
"""Answers the call of a function by its name and arguments, JSON values all. It may raise Raised."""


class Sandbox:
    """Runs programs. It belongs to one event loop, and holds nothing that would have to be closed.

    Raises FileNotFoundError where the interpreter is missing.
    """

    def __init__(self, limits: Limits = USUAL) -> None:
        monty.Monty(min_processes=0)  # which looks for it, and starts none
        self.limits = limits
        self._threads = ThreadPoolExecutor(MOST, thread_name_prefix="program")
        self._room = asyncio.Semaphore(MOST)

    async def run(self, source: str, functions: Container[str], ask: Ask) -> Outcome:
        """Run a program, whose functions of these names are answered by `ask`. Cancelled, it ends the program."""
        async with self._room:
            worker = _Worker(self.limits)
            program = _Program(worker, self._threads, functions, ask, awaits=awaits(source))
            value, error = None, ""
            try:
                async with asyncio.timeout(self.limits.seconds):
                    value = await program.value(source)
            except TimeoutError:
                error = f"TimeoutError: the program took more than {self.limits.seconds:g} seconds, its calls included"
            except NotPlain as failure:
                error = f"TypeError: the program ended, but its result cannot be shown: {failure}"
            except monty.MontyError as failure:
                error = _said(failure, self.limits)
            finally:
                await program.end()
            return Outcome(value, error, "".join(worker.printed), max(0, -worker.room))


def awaits(source: str) -> bool:
    """Whether a program says `await`: then its functions are asynchronous, and several can be called at once."""
    try:
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        return any(token.type == tokenize.NAME and token.string == "await" for token in tokens)
    except (tokenize.TokenError, SyntaxError):  # which the sandbox explains
        return False


_Snapshot: TypeAlias = monty.SyncSnapshot


@dataclass(frozen=True, slots=True)
class _Moment:
    """Where a program has stopped, and what it has to say: its value, or the arguments of the call it makes."""

    snapshot: _Snapshot
    said: Any = None


class _Worker:
    """The process of one program. Every method but `kill` waits for it, and so is called in a thread."""

    def __init__(self, limits: Limits) -> None:
        self.printed: list[str] = []
        self.room = limits.printed
        self._limits = limits
        self._held = ExitStack()
        self._session: monty.MontySession | None = None
        self._pid: int | None = None

    def open(self) -> None:
        """Start the process."""
        timeout = min(self._limits.computing, self._limits.seconds) + _GRACE
        pool = monty.Monty(min_processes=0, max_processes=1, request_timeout=timeout)
        limits = monty.ResourceLimits(
            max_feed_duration_secs=min(self._limits.computing, self._limits.seconds),
            max_memory=self._limits.memory,
            max_recursion_depth=200,
            max_suspensions=10_000,
        )
        self._session = self._held.enter_context(self._held.enter_context(pool).checkout(limits=limits))
        self._pid = self._session.worker_pid

    def feed(self, source: str) -> _Moment:
        """Run the program until it needs something."""
        assert self._session is not None  # noqa: S101 - it is open
        return self._moment(self._session.feed_start(source, print_callback=self._print))

    def resume(self, how: Callable[[], _Snapshot]) -> _Moment:
        """Let it run on."""
        return self._moment(how())

    def close(self) -> None:
        """End the process."""
        self._pid = None
        self._held.close()

    def kill(self) -> None:
        """End it now, whatever it does."""
        if self._pid is not None:
            with suppress(OSError):  # it has ended by itself
                os.kill(self._pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    def _moment(self, snapshot: _Snapshot) -> _Moment:
        """Values are made here, since that may take its time."""
        if isinstance(snapshot, monty.MontyComplete):
            return _Moment(snapshot, plain(snapshot.output))
        if not isinstance(snapshot, monty.FunctionSnapshot):
            return _Moment(snapshot)
        try:
            return _Moment(snapshot, (plain(list(snapshot.args)), plain(snapshot.kwargs)))
        except NotPlain as failure:
            message = f"an argument of {snapshot.function_name} cannot be sent: {failure}"
            return _Moment(snapshot, Raised("TypeError", message))

    def _print(self, _stream: str, text: str) -> None:
        if self.room > 0:
            self.printed.append(text[: self.room])
        self.room -= len(text)


class _Program:
    """Drives one program: whenever it has stopped, it is given what it asked for and runs on."""

    def __init__(
        self, worker: _Worker, threads: ThreadPoolExecutor, functions: Container[str], ask: Ask, *, awaits: bool
    ) -> None:
        self._worker = worker
        self._threads = threads
        self._functions = functions
        self._ask = ask
        self._awaits = awaits
        self._at_once = asyncio.Semaphore(MOST)
        self._tasks: dict[int, asyncio.Task[monty.ExternalSettledResult]] = {}

    async def value(self, source: str) -> Any:
        """What the program ends with. Raises MontyError and NotPlain."""
        await self._step(self._worker.open)
        moment = await self._step(partial(self._worker.feed, source))
        while not isinstance(moment.snapshot, monty.MontyComplete):
            moment = await self._step(partial(self._worker.resume, await self._answer(moment.snapshot, moment.said)))
        return moment.said

    async def end(self) -> None:
        """Stop the calls that it made, and its process."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self._step(self._worker.close)

    async def _step(self, step: Callable[[], Any]) -> Any:
        """Do it in a thread. Whoever is cancelled meanwhile ends the program, and the thread with it."""
        waiting = asyncio.get_running_loop().run_in_executor(self._threads, step)
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            self._worker.kill()
            await asyncio.wait([waiting])
            waiting.exception()  # it was heard
            raise

    async def _answer(self, snapshot: _Snapshot, said: Any) -> Callable[[], _Snapshot]:
        """How the program goes on."""
        if isinstance(snapshot, monty.FutureSnapshot):
            return partial(snapshot.resume, await self._settled(snapshot.pending_call_ids))
        if isinstance(snapshot, monty.NameLookupSnapshot):
            known = snapshot.object_id is None and snapshot.variable_name in self._functions
            return partial(snapshot.resume, value=_named(snapshot.variable_name)) if known else snapshot.resume
        assert isinstance(snapshot, monty.FunctionSnapshot)  # noqa: S101 - there is nothing else
        if snapshot.is_os_function:
            return await self._served(snapshot, said)
        answer = self._called(snapshot.function_name, said)
        if self._awaits and snapshot.function_name in self._functions:
            return self._later(snapshot, answer)
        return partial(snapshot.resume, await answer)

    async def _served(self, snapshot: monty.FunctionSnapshot, said: Any) -> Callable[[], _Snapshot]:
        """What a program may have of the system is to sleep. All else is refused, as nothing else was given."""
        if snapshot.function_name == "system.async_sleep":
            return self._later(snapshot, _slept(said))
        if snapshot.function_name == "system.sleep":
            return partial(snapshot.resume, await _slept(said))
        return snapshot.resume_auto

    def _later(
        self, snapshot: monty.FunctionSnapshot, answer: Coroutine[Any, Any, monty.ExternalSettledResult]
    ) -> Callable[[], _Snapshot]:
        """The program runs on, and waits for the answer where it needs it."""
        self._tasks[snapshot.call_id] = asyncio.create_task(answer)
        return partial(snapshot.resume, {"future": ...})

    async def _settled(self, calls: Iterable[int]) -> dict[int, monty.ExternalSettledResult]:
        """The results of those calls that have ended, as soon as one has."""
        waiting = {self._tasks[call]: call for call in calls}
        ended, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        return {waiting[task]: task.result() for task in ended}

    async def _called(self, name: str, said: Any) -> monty.ExternalSettledResult:
        if name not in self._functions:
            return {"exc_type": "NameError", "message": f"name '{name}' is not defined"}
        if isinstance(said, Raised):
            return said.answer()
        try:
            async with self._at_once:
                return {"return_value": await self._ask(name, *said)}
        except Raised as raised:
            return raised.answer()


async def _slept(said: Any) -> monty.ExternalSettledResult:
    """After as long as was asked for; the program's time goes on."""
    await asyncio.sleep(min(max(0.0, float(said[0][0])), 3600.0))
    return {"return_value": None}


def _named(name: str) -> Callable[[], None]:
    """What stands for a function whose name the program says without calling it."""

    def function() -> None: ...

    function.__name__ = name
    return function


def _said(failure: monty.MontyError, limits: Limits) -> str:
    """An error as a program's author reads it: lines of the program, and nothing of this side."""
    if isinstance(failure, monty.MontyCrashedError):
        over = f"TimeoutError: the program computed for more than {limits.computing:g} seconds"
        return over if failure.timed_out else "MemoryError: the program broke the sandbox down, which is out of memory"
    if not isinstance(failure, monty.MontySyntaxError | monty.MontyRuntimeError):
        return f"RuntimeError: {failure}"[:_MAX_ERROR]
    text = failure.display().replace(f'File "{_SCRIPT}", line', "Line")
    half = _MAX_ERROR // 2
    return text if len(text) <= _MAX_ERROR else f"{text[:half]}\n…\n{text[-half:]}"
