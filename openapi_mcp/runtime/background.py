"""Threads for work that would hold up the event loop: judging and reading what is large.

Each lane is one thread, which does one task after the other, so that small tasks do not wait for large ones. Python
lets other threads run every few milliseconds, so the event loop goes on; it would wait for each of many threads.
"""

import asyncio
import contextvars
import gc
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, Final, Literal, ParamSpec, TypeAlias, TypeVar
from weakref import WeakSet

P = ParamSpec("P")
R = TypeVar("R")

Lane: TypeAlias = Literal["small", "large"]
"""The kind of a task: some hundredths of a second, or seconds."""

_CHARACTERS_PER_PART: Final = 64
"""Characters of a text that are read in about the time of another part."""

MAX_SMALL_PARTS: Final = 1_000
"""Parts of a value that is small: of arguments that are judged while an event loop waits, or in that lane."""


_CONTAINERS: Final = (dict, list, tuple)  # a union of types is made anew each time


def exceeds(value: Any, limit: int) -> bool:
    """Return whether a JSON value has more parts than `limit`: items, properties, and the length of texts."""
    count, waiting = 1, [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            count += len(node) // _CHARACTERS_PER_PART
            continue
        if not isinstance(node, _CONTAINERS):
            continue
        count += len(node)
        if count > limit:
            return True
        for item in node.values() if isinstance(node, dict) else node:
            if isinstance(item, str):
                count += len(item) // _CHARACTERS_PER_PART
            elif isinstance(item, _CONTAINERS):
                waiting.append(item)
    return count > limit


async def run(lane: Lane, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Return what a function returns that is called in a thread, once the tasks before it in its lane are done.

    Raises what it raises. A caller that is cancelled does not stop a task that has begun.
    """
    context = contextvars.copy_context()
    context.run(_IS_ASIDE.set, True)
    call = partial(context.run, partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_thread(lane), call)


def is_aside() -> bool:
    """Return whether the caller runs in one of the threads, and should divide what lets no other thread run."""
    return _IS_ASIDE.get()


_IS_ASIDE: Final[contextvars.ContextVar[bool]] = contextvars.ContextVar("is_aside", default=False)


_SWITCH_INTERVAL: Final = 0.001
"""Seconds after which a thread lets another one run. An event loop waits so long each time that it has something to do
while a task runs; by default it is five times as long."""


@cache
def _thread(lane: Lane) -> ThreadPoolExecutor:
    sys.setswitchinterval(min(sys.getswitchinterval(), _SWITCH_INTERVAL))
    return ThreadPoolExecutor(1, thread_name_prefix=lane)


MAX_YOUNG_OBJECTS: Final = 10_000
"""New objects after which those in circles are looked for, instead of 700, which 16 calls in progress have. A call
leaves no such circles, and the search takes 4 % of its time."""


def collect_rarely() -> None:
    """Let this process, which serves calls, look for unused objects in circles less often."""
    gc.set_threshold(MAX_YOUNG_OBJECTS)


_USUAL_PASSES: Final = 10
_RARE_PASSES: Final = 1_000_000
"""Looks at the objects of middle age after which all objects are looked at: Python's default, and hardly ever."""

_large_values: Final[WeakSet[object]] = WeakSet()


def hold_large_value(holder: object) -> None:
    """Look at no old objects from now on, until `holder` gives a large value back: that has no circles.

    To look at a million arrays stops all threads for 0.1 s. What is young is looked at as usual.
    """
    _large_values.add(holder)
    gc.set_threshold(gc.get_threshold()[0], _USUAL_PASSES, _RARE_PASSES)


def give_back_large_value(holder: object) -> None:
    """End what `hold_large_value` began, in the next turn of the event loop: until then the caller has the value.

    Nothing happens for a holder of nothing.
    """
    if holder in _large_values:
        asyncio.get_running_loop().call_soon(_forget_large_value, holder)


def _forget_large_value(holder: object) -> None:
    _large_values.discard(holder)
    if not _large_values:
        gc.set_threshold(gc.get_threshold()[0], _USUAL_PASSES, _USUAL_PASSES)
