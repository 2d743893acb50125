"""`TaskBoard`: follows what the API carries out in the background, as tasks of clients that have them.

A call whose client has tasks is answered with one as soon as the API has accepted the operation; the call goes on here
until the operation has ended, and its reply becomes the task's. For any other client the call waits as long as a call
may take, with progress, and then says how to go on.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx

from ..runtime.errors import RuntimeFailure
from ..runtime.protocol import TaskRequest, ToolCall, jsonrpc, tasks
from ..runtime.server.catalog import BuiltinTool, ListedTool
from ..runtime.server.grants import GRANT, subject
from ..runtime.server.hooks import Notify, PollExchange
from ..runtime.session_state import SESSION_STATE
from ..runtime.tool import Tool
from ..runtime.types import CallToolResult, JsonObject, text_content
from ..runtime.upstream.events import CallEvents
from .polling import AcceptedOperation, Finished
from .records import TaskRecord, TaskRecords
from .routes import route_to
from .store import SharedRecords, SharingError

logger = logging.getLogger("openapi_mcp")

MAX_TASKS_OF_CALLER: Final = 32
"""Tasks of one caller that go on at a time in a process; a call beyond that waits instead."""

MAX_TASKS: Final = 1_000
"""Tasks that go on at a time in a process: each is a timer and a request now and then."""

MIN_REMAINING: Final = 1.0
"""Seconds before the end of a call's time at which it is answered that the operation goes on."""

_OUTCOME: Final = "openapi_mcp.operation"
"""The extension of a response that holds what a result says about its operation: a note, and whether it failed."""

Answer = Callable[[Notify | None], Awaitable[JsonObject]]


class TaskBoard:
    """The operations that are followed for one server, whose tools `tools` returns.

    A task lasts `seconds` at most. `may_delete` tells whether a cancelled task may end its operation by a documented
    DELETE: not where calls wait for a person's consent. Replicas find each other's tasks in the `shared` records.

    A server of several APIs has a board of its own, which replies, and one for each API, whose calls that one follows.
    """

    def __init__(
        self,
        seconds: float,
        tools: Callable[[], Iterable[Tool]],
        *,
        may_delete: bool = True,
        shared: SharedRecords | None = None,
    ) -> None:
        self.seconds = seconds
        self._tools = tools
        self._may_delete = may_delete
        self._shared = shared
        self._running: dict[str, _RunningTask] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self.on_idle: Callable[[], None] = lambda: None

    @property
    def is_busy(self) -> bool:
        """True if tasks are running."""
        return bool(self._running or self._ending)

    async def reply(self, call: ToolCall, tool: ListedTool, notify: Notify | None, answer: Answer) -> JsonObject:
        """Return the reply to a call whose client has tasks: that of `answer`, or the task that it becomes."""
        if isinstance(tool, BuiltinTool) and not isinstance(tool.target(call.arguments), str):
            return await answer(notify)  # a program may make several calls, of which one alone would be the task
        task = _RunningTask(self, TaskRecord(owner=subject(), seconds=self.seconds))
        token = _CURRENT.set(task)
        try:
            work = asyncio.create_task(_coroutine(answer(task.muted(notify))))
        finally:
            _CURRENT.reset(token)
        task.work = work
        try:
            waiting: set[asyncio.Future[Any]] = {work, task.accepted}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            work.cancel()
            raise
        if not task.accepted.done():
            return work.result()
        work.add_done_callback(lambda _: self._end(task))
        return tasks.created(call, task.record.wire())

    async def answer(self, request: TaskRequest) -> JsonObject:
        """Return the reply to a request about a task."""
        try:
            record = await self._find(request.task_id)
            if record is None:
                return tasks.unknown(request)
            if request.method == "tasks/get":
                return tasks.described(request, {**record.wire(), **record.outcome})
            if request.method == "tasks/cancel" and record.status == "working":
                await self._cancel_anywhere(record)
        except SharingError as error:
            message = f"The task cannot be looked up now: {error}. Ask again."
            return jsonrpc.error(jsonrpc.INTERNAL_ERROR, message, request_id=request.request_id)
        return tasks.acknowledged(request)

    async def _find(self, task_id: str) -> TaskRecord | None:
        """Return the record of a caller's task: of this process, of its siblings, or of a replica."""
        place = _RecordPlace.of_request()
        record = RECORDS.find(task_id, subject(), place.file)
        if record is not None or self._shared is None or place.key is None:
            return record
        return await self._shared.find(task_id, subject(), place.key)

    async def _cancel_anywhere(self, record: TaskRecord) -> None:
        """Cancel a task, or have the process cancel it that follows it. Raises SharingError."""
        running, place = self._running.get(record.id), _RecordPlace.of_request()
        if running is not None:
            await self._cancel(running)
            return
        RECORDS.ask_to_cancel(record.id, place.file)
        if self._shared is not None and place.key is not None:
            await self._shared.ask_to_cancel(record, place.key)

    async def follow(
        self, tool: Tool, response: httpx.Response, exchange: PollExchange, events: CallEvents, seconds: float | None
    ) -> httpx.Response:
        """Return the answer to a call whose first response is this one; `seconds` are left of the call's time."""
        operation = AcceptedOperation.accepted(tool, response, exchange)
        if operation is None:
            return response
        task = _CURRENT.get()
        if task is not None and await task.board.accept(task, operation, self):
            seconds = self.seconds
        elif seconds is not None:
            seconds = max(0.0, seconds - MIN_REMAINING)

        async def report(operation: AcceptedOperation) -> None:
            if task is not None and task.accepted.done():
                await task.board.update(task, operation)
            else:
                await events.on_step(_words(operation))

        finished = await operation.finish(seconds, report)
        if isinstance(finished, Finished):
            answer, note = finished.response, ""
        else:
            answer, note = response, self._how_to_go_on(operation, finished.wait)
        has_failed = isinstance(finished, Finished) and finished.has_failed
        answer.extensions = {**answer.extensions, _OUTCOME: (note, has_failed)}
        if answer is not response:
            await events.on_response(answer)  # as that of any call: a workflow goes on with it
        return answer

    def explained(self, result: CallToolResult, response: httpx.Response) -> CallToolResult:
        """Return the result of a response that was followed: an error if the operation failed, with its note first."""
        note, has_failed = response.extensions.get(_OUTCOME, ("", False))
        if note:
            result = replace(result, content=(text_content(note), *result.content))
        return replace(result, is_error=True) if has_failed else result

    async def aclose(self) -> None:
        """Stop following."""
        works = [task.work for task in self._running.values() if task.work is not None]
        for work in works:
            work.cancel()
        if works:
            await asyncio.wait(works)
        if self._ending:
            await asyncio.wait(self._ending)

    async def accept(self, task: "_RunningTask", operation: AcceptedOperation, follower: "TaskBoard") -> bool:
        """Make a call a task, unless it is one or the caller has too many; return whether it is.

        `follower` is the board of the operation's API.
        """
        task.follower = follower
        if task.accepted.done():
            return True
        of_caller = sum(each.record.owner == task.record.owner for each in self._running.values())
        if of_caller >= MAX_TASKS_OF_CALLER or len(self._running) >= MAX_TASKS:
            return False
        task.operation = operation
        self._running[task.record.id] = task
        try:
            task.write(message=_words(operation), interval=operation.interval, seconds=follower.seconds)
            await self._share(task)
        except BaseException as error:
            del self._running[task.record.id]
            if not isinstance(error, OSError | SharingError):  # of the folder or the store that processes share
                raise
            logger.warning("A call does not become a task: %s", error)
            return False
        task.accepted.set_result(None)
        return True

    async def update(self, task: "_RunningTask", operation: AcceptedOperation) -> None:
        """Note how far the operation of a task is, or cancel the task if a client has asked another process for it."""
        task.operation = operation
        if await self._is_cancelled(task):
            await self._cancel(task)
            return
        message = _words(operation)
        if message != task.record.message or operation.interval != task.record.interval:
            task.write(message=message, interval=operation.interval)
        with suppress(SharingError):  # the replicas know an older state for a while
            await self._share(task)

    async def _is_cancelled(self, task: "_RunningTask") -> bool:
        """Return whether another process was asked to cancel a task."""
        if RECORDS.is_cancelled(task.record.id, task.place.file):
            return True
        if self._shared is None or task.place.key is None:
            return False
        with suppress(SharingError):
            return await self._shared.is_cancelled(task.record.id, task.place.key)
        return False

    async def _share(self, task: "_RunningTask") -> None:
        """Let the replicas know of a task. Raises SharingError."""
        if self._shared is not None and task.place.key is not None:
            await self._shared.write(task.record, task.place.key)

    async def _cancel(self, task: "_RunningTask") -> None:
        """End a task: by the API's own DELETE of the operation where it documents one, else only the wait ends."""
        task.write(status="cancelled", message="The task was cancelled.")
        operation = task.operation
        if operation is not None and task.follower.may_delete(operation):
            try:
                await operation.delete()
            except RuntimeFailure as failure:  # the task is cancelled whatever the API answers
                logger.warning("The operation of %s could not be deleted: %s", operation.tool.name, failure)
        if task.work is not None and task.work is not asyncio.current_task():
            task.work.cancel()
        elif task.work is not None:
            raise asyncio.CancelledError

    def _end(self, task: "_RunningTask") -> None:
        """Keep the reply of a call whose task has ended."""
        del self._running[task.record.id]
        try:
            if task.record.status == "working":
                task.write(**_ending(task.work))
        finally:
            ending = asyncio.get_running_loop().create_task(self._share_end(task))
            self._ending.add(ending)
            ending.add_done_callback(self._ended)

    async def _share_end(self, task: "_RunningTask") -> None:
        try:
            await self._share(task)
        except SharingError as error:
            logger.warning("Other replicas do not hear of the end of a task: %s.", error)

    def _ended(self, ending: "asyncio.Task[None]") -> None:
        self._ending.discard(ending)
        if not self.is_busy:
            self.on_idle()

    def may_delete(self, operation: AcceptedOperation) -> bool:
        """Return whether a cancelled task may end its operation: its caller may call a tool that does it."""
        return self._may_delete and route_to(self._allowed_tools(), "DELETE", operation) is not None

    def _allowed_tools(self) -> list[Tool]:
        """Return the tools that the caller may call, by the scopes of its token."""
        grant = GRANT.get()
        if grant is None:
            return list(self._tools())
        return [
            tool for tool in self._tools() if not tool.scopes or any(grant.scopes >= set(each) for each in tool.scopes)
        ]

    def _how_to_go_on(self, operation: AcceptedOperation, wait: float) -> str:
        """Return the note of a result whose operation goes on."""
        said = f" ({operation.status.message})" if operation.status.message else ""
        text = (
            f"The API accepted this call and carries it out in the background; it has not finished yet{said}. "
            "Do not make the call again: that could start it a second time."
        )
        route = route_to(self._allowed_tools(), "GET", operation)
        if route is None:
            return f"{text} The headers below have the address of its status, for which there is no tool."
        arguments = jsonrpc.encode(route.arguments).decode()
        return (
            f"{text} To see how far it is, call {route.tool.name} with {arguments} in {max(1, round(wait))} s or later."
        )


class _RecordPlace(NamedTuple):
    """The place where processes that answer the same clients share records.

    `file` is the file beside which siblings keep them, None where there is one process; `key` seals those of replicas.
    """

    file: Path | None = None
    key: bytes | None = None

    @classmethod
    def of_request(cls) -> "_RecordPlace":
        """Return the place for the request that is being served."""
        state = SESSION_STATE.get()
        return cls() if state is None else cls(state().file, state().key)


class _RunningTask:
    """A call that is a task of a board, or may become one: `accepted` is done as soon as it is one."""

    def __init__(self, board: TaskBoard, record: TaskRecord) -> None:
        self.board = self.follower = board
        self.record = record
        self.place = _RecordPlace.of_request()
        self.accepted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.work: asyncio.Task[JsonObject] | None = None
        self.operation: AcceptedOperation | None = None

    def write(self, **fields: Any) -> None:
        """Change the record; whoever asks for the task sees it from now on."""
        self.record = self.record.changed(**fields)
        RECORDS.write(self.record, self.place.file)

    def muted(self, notify: Notify | None) -> Notify | None:
        """Return a function that sends messages until the call is a task: then its exchange with the client is over."""
        if notify is None:
            return None

        async def send(message: bytes) -> None:
            if not self.accepted.done():
                await notify(message)

        return send


RECORDS: Final = TaskRecords()
"""The tasks of this process: they outlast a server that is replaced when its document changes."""

_CURRENT: Final[ContextVar[_RunningTask | None]] = ContextVar("task", default=None)
"""The task that the call which is being answered may become."""


async def _coroutine(answer: Awaitable[JsonObject]) -> JsonObject:
    return await answer


def _ending(work: "asyncio.Task[JsonObject] | None") -> dict[str, Any]:
    """Return the fields of the record of a call that has ended."""
    if work is None or work.cancelled():
        return {"status": "cancelled", "message": "The server stopped following this operation."}
    if work.exception() is not None:
        logger.error("A task failed.", exc_info=work.exception())
        error = {"code": jsonrpc.INTERNAL_ERROR, "message": "The server failed while it followed this operation."}
        return {"status": "failed", "message": error["message"], "outcome": {"error": error}}
    reply = work.result()
    if "error" in reply:
        message = str(reply["error"].get("message", ""))
        return {"status": "failed", "message": message, "outcome": {"error": reply["error"]}}
    return {"status": "completed", "message": "The operation has ended.", "outcome": {"result": reply["result"]}}


def _words(operation: AcceptedOperation) -> str:
    message = operation.status.message
    return f"The API carries it out in the background{': ' if message else ''}{message}."
