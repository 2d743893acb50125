"""`within`: a limit of time that costs nothing where it is not needed: what is done at once is not timed."""

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

_Result = TypeVar("_Result")


async def within(seconds: float, work: Coroutine[Any, Any, _Result]) -> _Result:
    """What the work comes to. Raises TimeoutError; a timer is set once it waits for something."""
    try:
        awaited = work.send(None)
    except StopIteration as done:
        result: _Result = done.value
        return result
    async with asyncio.timeout(seconds):
        return await _Rest(work, awaited)


class _Rest(Generic[_Result]):
    """The rest of a coroutine that has begun and waits (PEP 380, "Formal Semantics")."""

    def __init__(self, work: Coroutine[Any, Any, _Result], awaited: Any) -> None:
        self._work = work
        self._awaited = awaited

    def __await__(self) -> Generator[Any, Any, _Result]:
        awaited = self._awaited
        try:
            while True:
                try:
                    sent = yield awaited
                except BaseException as error:  # noqa: BLE001  # it is the coroutine's, whatever it is
                    awaited = self._work.throw(error)
                else:
                    awaited = self._work.send(sent)
        except StopIteration as done:
            result: _Result = done.value
            return result
