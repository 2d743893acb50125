"""The records of tasks: in memory, and in files where several processes of a machine answer the same clients.

A record is found by its id and its owner together: nobody finds another caller's task, nor learns that it exists. It is
forgotten when its time is over.
"""

import hashlib
import json
import os
import secrets
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ..runtime.jsontext import byte_length
from ..runtime.types import JsonObject

TaskStatus: TypeAlias = Literal["working", "completed", "failed", "cancelled"]

MAX_KEPT: Final = 1_000
"""Records of a process, with their results; beyond that the oldest is forgotten."""

MAX_KEPT_BYTES: Final = 64 * 1024 * 1024
"""Bytes of the results that the records of a process have together; beyond that the oldest is forgotten."""

MAX_RECORD_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a file with a record: more than any result has."""

_ID_BYTES: Final = 24
"""Random bytes of an id: nobody guesses one (ext-tasks, "Task ID unguessability")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """A task: times are seconds since 1970, `interval` the seconds to the next question. `outcome` is its reply's part.

    `outcome` has the member `result` of a completed task, or `error` of a failed one.
    """

    owner: str
    seconds: float
    id: str = field(default_factory=lambda: secrets.token_urlsafe(_ID_BYTES))
    status: TaskStatus = "working"
    message: str = ""
    created: float = field(default_factory=time.time)
    updated: float = field(default_factory=time.time)
    interval: float = 1.0
    outcome: JsonObject = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """True if its time is over."""
        return time.time() > self.created + self.seconds

    def changed(self, **fields: Any) -> "TaskRecord":
        """Return the record with other values, updated now."""
        return replace(self, updated=time.time(), **fields)

    def wire(self) -> JsonObject:
        """Return the task as the protocol has it, without its outcome."""
        message = {"statusMessage": self.message} if self.message else {}
        times = {"createdAt": _timestamp(self.created), "lastUpdatedAt": _timestamp(self.updated)}
        limits = {"ttlMs": round(self.seconds * 1000), "pollIntervalMs": max(1, round(self.interval * 1000))}
        return {"taskId": self.id, "status": self.status, **message, **times, **limits}


def _timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class TaskRecords:
    """The records of this process; with the `file` of a session's state also those of its siblings, beside it."""

    def __init__(self) -> None:
        self._records: dict[str, TaskRecord] = {}
        self._bytes: dict[str, int] = {}  # of the outcomes, by the ids of their tasks

    def write(self, record: TaskRecord, file: Path | None) -> None:
        """Keep a record; every process finds it from then on."""
        self._records[record.id] = record
        if record.outcome:
            self._bytes[record.id] = byte_length(record.outcome)
        self._forget(file, record.id)
        if file is not None:
            path = _path(file, record.id)
            temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
            with open(temporary, "x", opener=_private) as stream:
                json.dump(asdict(record), stream)
            temporary.replace(path)

    def find(self, task_id: str, owner: str, file: Path | None) -> TaskRecord | None:
        """Return the record of a caller's task; None if there is none, or no longer."""
        record = self._records.get(task_id) or (None if file is None else _read(_path(file, task_id)))
        if record is None or record.owner != owner or record.id != task_id:
            return None
        if record.is_over:
            self._drop(task_id, file)
            return None
        return record

    def ask_to_cancel(self, task_id: str, file: Path | None) -> None:
        """Tell the process that follows a task to cancel it."""
        if file is not None:
            with suppress(FileExistsError), open(_cancellation(file, task_id), "x", opener=_private):
                pass

    def is_cancelled(self, task_id: str, file: Path | None) -> bool:
        """Return whether another process was asked to cancel a task; the question is forgotten."""
        if file is None or not (path := _cancellation(file, task_id)).exists():
            return False
        path.unlink(missing_ok=True)
        return True

    def _forget(self, file: Path | None, newest: str) -> None:
        """Forget what is over, and the oldest of too many, but not the newest."""
        for task_id in [each.id for each in self._records.values() if each.is_over]:
            self._drop(task_id, file)
        others = [task_id for task_id in self._records if task_id != newest]
        for task_id in others:
            if len(self._records) <= MAX_KEPT and sum(self._bytes.values()) <= MAX_KEPT_BYTES:
                return
            self._drop(task_id, file)

    def _drop(self, task_id: str, file: Path | None) -> None:
        self._records.pop(task_id, None)
        self._bytes.pop(task_id, None)
        if file is not None:
            _path(file, task_id).unlink(missing_ok=True)


def _path(file: Path, task_id: str) -> Path:
    digest = hashlib.sha256(task_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return file.with_name(f".task-{digest}")


def _cancellation(file: Path, task_id: str) -> Path:
    path = _path(file, task_id)
    return path.with_name(f"{path.name}-cancel")


def _read(path: Path) -> TaskRecord | None:
    try:
        if path.stat().st_size > MAX_RECORD_BYTES:
            return None
        return TaskRecord(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError, RecursionError):
        return None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
