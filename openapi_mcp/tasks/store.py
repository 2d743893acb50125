"""`SharedRecords`: the records of tasks for all replicas of a server, in a store that seals them.

A record of a task that goes on is kept a few minutes longer than the next question is away, and written anew with each
question: a replica that dies takes its tasks along. One that has ended is kept until the task's time is over.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final, Protocol

from .records import TaskRecord

LEASE_SECONDS: Final = 300.0
"""Seconds after the next question for which a task counts as followed: a question, and what follows the last one, may
take as long as a call."""

FAILURE_SECONDS: Final = 10.0
"""Seconds for which a store that failed is not asked again, so that its timeouts hold up nobody else."""


class SharingError(Exception):
    """A store that does not answer."""


class Store(Protocol):
    """A store of JSON values by name, each for some seconds (`oauth.sealed_store`). Methods wait: they run in threads.

    They raise any RuntimeFailure or OSError where the store does not answer.
    """

    def get(self, name: str) -> Any:
        """Return a value; None if there is none."""

    def put(self, name: str, value: Any, seconds: float) -> None:
        """Store a value for some seconds."""

    def take(self, name: str) -> Any:
        """Return a value and remove it."""


class SharedRecords:
    """The records of all replicas. `open_store` returns the store that a key seals."""

    def __init__(self, open_store: Callable[[bytes], Store], errors: tuple[type[Exception], ...]) -> None:
        self._open_store = open_store
        self._errors = errors
        self._stores: dict[bytes, Store] = {}
        self._failed_until = 0.0

    async def write(self, record: TaskRecord, key: bytes) -> None:
        """Keep a record. Raises SharingError."""
        end = record.created + record.seconds
        if record.status == "working":
            end = min(end, time.time() + record.interval + LEASE_SECONDS)
        seconds = end - time.time()
        if seconds > 0:
            await self._asked(key, lambda store: store.put(_name(record.id), asdict(record), seconds))

    async def find(self, task_id: str, owner: str, key: bytes) -> TaskRecord | None:
        """Return the record of a caller's task; None if there is none, or no longer. Raises SharingError."""
        fields = await self._asked(key, lambda store: store.get(_name(task_id)))
        try:
            record = TaskRecord(**fields)
        except TypeError:
            return None
        return record if (record.id, record.owner) == (task_id, owner) and not record.is_over else None

    async def ask_to_cancel(self, record: TaskRecord, key: bytes) -> None:
        """Tell the replica that follows a task to cancel it. Raises SharingError."""
        await self._asked(key, lambda store: store.put(_cancellation(record.id), True, record.seconds))

    async def is_cancelled(self, task_id: str, key: bytes) -> bool:
        """Return whether a replica was asked to cancel a task; the question is forgotten. Raises SharingError."""
        return await self._asked(key, lambda store: store.take(_cancellation(task_id))) is not None

    async def _asked(self, key: bytes, question: Callable[[Store], Any]) -> Any:
        if time.monotonic() < self._failed_until:
            raise SharingError("the store of tasks did not answer just now")
        try:
            return await asyncio.to_thread(lambda: question(self._store(key)))
        except self._errors as error:
            self._failed_until = time.monotonic() + FAILURE_SECONDS
            raise SharingError("the store of tasks does not answer") from error

    def _store(self, key: bytes) -> Store:
        if key not in self._stores:
            self._stores[key] = self._open_store(key)
        return self._stores[key]


def _name(task_id: str) -> str:
    return f"task {task_id}"


def _cancellation(task_id: str) -> str:
    return f"cancelled task {task_id}"
