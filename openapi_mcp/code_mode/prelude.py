"""`PRELUDE`: the part of Python that programs need and the sandbox lacks, written in the sandbox's Python.

It is run before a program that uses it; `dialect` puts names that begin with `_sandbox_` instead of Python's.

The sandbox awaits coroutines, gathers them, and runs one within another (`asyncio.run` in a coroutine), but it cannot
start one in the background. So a task starts when the program awaits a task, and all tasks that wait start with it;
what the program never awaits runs at its end. A time limit of `wait_for` ends what it waits for; one of `timeout` is
judged when the call is over.

`_sandbox_wait(key)`, `_sandbox_wake(key)` and `_sandbox_timer(key, seconds, timed)` are functions of the host
(`sandbox`): the first returns a coroutine that ends at the next call of the second. So does the third, which raises
TimeoutError if there is none in time: it makes a `gather` end before the others in it, which are never resumed then.
"""

from typing import Final

from .objects import OBJECTS

HOST_FUNCTIONS: Final = frozenset({"_sandbox_wait", "_sandbox_wake", "_sandbox_timer"})

_ASYNCIO: Final = """
gather sleep run create_task ensure_future shield wait wait_for as_completed to_thread timeout TaskGroup Semaphore
BoundedSemaphore Lock get_event_loop get_running_loop new_event_loop set_event_loop current_task iscoroutine
iscoroutinefunction TimeoutError CancelledError InvalidStateError FIRST_COMPLETED FIRST_EXCEPTION ALL_COMPLETED
Task Future
"""
ASYNCIO_NAMES: Final = frozenset(_ASYNCIO.split())
"""The members of `asyncio` in programs."""

_ASYNCIO_AND_BUILTINS: Final = """\
import asyncio as _aio
import time as _time
import json as _json
_native_sorted, _native_min, _native_max = sorted, min, max

class _SandboxTask:
    def __init__(self, coroutine, key):
        self._coroutine = coroutine
        self._key = key
        self._state = "waiting"
        self._value = None
        self._error = None
        self._is_seen = False
        self._is_cancelled = False

    def done(self):
        return self._state == "done"

    def result(self):
        return _sandbox_run(self)

    def exception(self):
        self._is_seen = True
        return self._error

    def cancel(self, msg=None):
        if self._state != "waiting":
            return False
        self._stop()
        return True

    def _stop(self):
        if self._state != "done":
            self._state = "done"
            self._error = KeyboardInterrupt("the task was cancelled")
            self._is_seen = self._is_cancelled = True
            _sandbox_wake(self._key)

    def cancelled(self):
        return self._is_cancelled

    def get_name(self):
        return "Task-" + str(self._key)

_sandbox_tasks = []
_sandbox_keys = []

def _sandbox_key():
    _sandbox_keys.append(1)
    return len(_sandbox_keys)

def _sandbox_task(coroutine, name=None, context=None):
    if isinstance(coroutine, _SandboxTask):
        return coroutine
    task = _SandboxTask(coroutine, _sandbox_key())
    _sandbox_tasks.append(task)
    return task

async def _sandbox_drive(task):
    if task._state != "waiting":
        return
    task._state = "running"
    try:
        task._value = await _sandbox_awaited(task._coroutine)
    except Exception as error:
        task._error = error
    task._state = "done"
    _sandbox_wake(task._key)

async def _sandbox_start():
    waiting = [task for task in _sandbox_tasks if task._state == "waiting"]
    if waiting:
        await _aio.gather(*[_sandbox_drive(task) for task in waiting])

async def _sandbox_settled(task):
    while task._state == "running":
        await _sandbox_wait(task._key)
    task._is_seen = True
    if task._error is not None:
        raise task._error
    return task._value

async def _sandbox_awaited(value):
    if isinstance(value, _SandboxTask):
        if value._state == "waiting":
            await _sandbox_start()
        return await _sandbox_settled(value)
    if type(value).__name__ == "coroutine":
        return await value
    return value

async def _sandbox_one(value):
    if isinstance(value, _SandboxTask):
        await _sandbox_drive(value)
        return await _sandbox_settled(value)
    if type(value).__name__ == "coroutine":
        return await value
    return value

async def _sandbox_caught(value):
    try:
        return await _sandbox_one(value)
    except (Exception, KeyboardInterrupt) as error:
        return error

def _sandbox_run(value, debug=None):
    if type(value).__name__ == "coroutine" or isinstance(value, _SandboxTask):
        return _aio.run(_sandbox_awaited(value))
    return value

async def _sandbox_finish(value=None):
    value = await _sandbox_awaited(value)
    await _sandbox_start()
    for task in _sandbox_tasks:
        if task._error is not None and not task._is_seen:
            raise task._error
    return _sandbox_resolved(value) if _sandbox_tasks else value

def _sandbox_resolved(value):
    if isinstance(value, _SandboxTask):
        return _sandbox_run(value)
    if isinstance(value, (list, tuple)):
        return [_sandbox_resolved(item) for item in value]
    if isinstance(value, dict):
        return {key: _sandbox_resolved(item) for key, item in value.items()}
    return value

def _sandbox_single(values):
    if len(values) == 1 and (isinstance(values[0], list) or isinstance(values[0], tuple)):
        return list(values[0])
    return list(values)

async def _sandbox_gather(*values, return_exceptions=False):
    if return_exceptions:
        return await _aio.gather(*[_sandbox_caught(value) for value in _sandbox_single(values)])
    return await _aio.gather(*[_sandbox_one(value) for value in _sandbox_single(values)])

async def _sandbox_wait_for(value, timeout=None):
    if timeout is None:
        return await _sandbox_awaited(value)
    key = _sandbox_key()
    before = [task for task in _sandbox_tasks if task._state == "running"]
    try:
        timed = repr(value._coroutine if isinstance(value, _SandboxTask) else value)
        return (await _aio.gather(_sandbox_until(value, key), _sandbox_timer(key, timeout, timed)))[0]
    except TimeoutError:
        for task in _sandbox_tasks:
            if task is value or (task._state == "running" and task not in before):
                task._stop()
        raise

async def _sandbox_until(value, key):
    try:
        return await _sandbox_one(value)
    finally:
        _sandbox_wake(key)

def _sandbox_check(start, timeout):
    if timeout is not None and _time.monotonic() - start > timeout:
        raise TimeoutError("it took more than " + str(timeout) + " seconds; it was not interrupted")

async def _sandbox_wait_all(values, timeout=None, return_when=None):
    tasks = [_sandbox_task(value) for value in values]
    await _aio.gather(*[_sandbox_caught(task) for task in tasks])
    return tasks, []

def _sandbox_as_completed(values, timeout=None):
    return [_sandbox_task(value) for value in values]

async def _sandbox_to_thread(function, *args, **keywords):
    return await _sandbox_awaited(function(*args, **keywords))

class _SandboxGroup:
    def __init__(self):
        self._tasks = []

    def create_task(self, coroutine, name=None, context=None):
        task = _sandbox_task(coroutine)
        self._tasks.append(task)
        return task

    async def __aenter__(self):
        return self

    async def __aexit__(self, kind, error, trace):
        if error is not None:
            for task in self._tasks:
                task.cancel()
            return False
        while [task for task in self._tasks if not task.done()]:
            await _aio.gather(*[_sandbox_caught(task) for task in self._tasks])
        for task in self._tasks:
            await _sandbox_settled(task)
        return False

class _SandboxTimeout:
    def __init__(self, seconds):
        self._seconds = seconds
        self._start = _time.monotonic()

    async def __aenter__(self):
        return self

    async def __aexit__(self, kind, error, trace):
        if error is None:
            _sandbox_check(self._start, self._seconds)
        return False

class _SandboxSemaphore:
    def __init__(self, value=1):
        self._value = value
        self._key = _sandbox_key()

    async def acquire(self):
        while self._value <= 0:
            await _sandbox_wait(self._key)
        self._value -= 1
        return True

    def release(self):
        self._value += 1
        _sandbox_wake(self._key)

    def locked(self):
        return self._value <= 0

    async def __aenter__(self):
        await self.acquire()

    async def __aexit__(self, kind, error, trace):
        self.release()
        return False

class _SandboxLoop:
    def run_until_complete(self, value):
        return _sandbox_run(value)

    def create_task(self, coroutine, name=None):
        return _sandbox_task(coroutine)

    def run_in_executor(self, executor, function, *args):
        return _sandbox_to_thread(function, *args)

    def time(self):
        return _time.monotonic()

    def is_running(self):
        return True

    def close(self):
        return None

class _SandboxAsyncio:
    FIRST_COMPLETED = "FIRST_COMPLETED"
    FIRST_EXCEPTION = "FIRST_EXCEPTION"
    ALL_COMPLETED = "ALL_COMPLETED"

    def TaskGroup(self):
        return _SandboxGroup()

    def timeout(self, delay):
        return _SandboxTimeout(delay)

    def Semaphore(self, value=1):
        return _SandboxSemaphore(value)

    def BoundedSemaphore(self, value=1):
        return _SandboxSemaphore(value)

    def Lock(self):
        return _SandboxSemaphore(1)

    def get_event_loop(self):
        return _SandboxLoop()

    def get_running_loop(self):
        return _SandboxLoop()

    def new_event_loop(self):
        return _SandboxLoop()

    def set_event_loop(self, loop):
        return None

    def current_task(self):
        return None

    def iscoroutine(self, value):
        return type(value).__name__ == "coroutine"

    def iscoroutinefunction(self, value):
        return False

asyncio = _SandboxAsyncio()
asyncio.gather = _sandbox_gather
asyncio.sleep = _aio.sleep
asyncio.run = _sandbox_run
asyncio.create_task = _sandbox_task
asyncio.ensure_future = _sandbox_task
asyncio.shield = _sandbox_awaited
asyncio.wait = _sandbox_wait_all
asyncio.wait_for = _sandbox_wait_for
asyncio.as_completed = _sandbox_as_completed
asyncio.to_thread = _sandbox_to_thread
asyncio.TimeoutError = TimeoutError
asyncio.CancelledError = KeyboardInterrupt
asyncio.InvalidStateError = RuntimeError
asyncio.Task = _SandboxTask
asyncio.Future = _SandboxTask

def _sandbox_map(function, *iterables):
    return [_sandbox_run(function(*values)) for values in zip(*iterables)]

def _sandbox_map_awaited(function, *iterables):
    return [function(*values) for values in zip(*iterables)]

def _sandbox_filter(function, values):
    return [value for value in values if _sandbox_run(function(value))]

def _sandbox_sorted(values, *, key=None, reverse=False):
    values = list(values)
    if key is None:
        return _native_sorted(values, reverse=reverse)
    keys = [_sandbox_run(key(value)) for value in values]
    places = _native_sorted(range(len(values)), key=lambda place: keys[place], reverse=reverse)
    return [values[place] for place in places]

def _sandbox_best(choose, values, key, default):
    values = list(values[0]) if len(values) == 1 else list(values)
    if not values and default:
        return default[0]
    keys = [_sandbox_run(key(value)) for value in values]
    return values[choose(range(len(values)), key=lambda place: keys[place])]

def _sandbox_min(*values, key, **options):
    return _sandbox_best(_native_min, values, key, list(options.values()))

def _sandbox_max(*values, key, **options):
    return _sandbox_best(_native_max, values, key, list(options.values()))

"""

PRELUDE: Final = _ASYNCIO_AND_BUILTINS + OBJECTS
"""Source of the functions and of `asyncio`."""
