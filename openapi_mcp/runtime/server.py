"""`Server`: one message in, at most one answer out; it joins the protocol, the tools and the API, and decides nothing.

Whatever goes wrong in a call becomes an answer: what was foreseen says so to the model, anything else goes to the log
with its traceback, and the model only hears that it happened. Transports stay thin: bytes and statuses are made here.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import httpx

from . import protocol
from .arguments import prepare
from .catalog import Catalog
from .errors import CursorError, RuntimeFailure, UnknownToolError
from .functions import Api, ToolFunction
from .models import Tool
from .progress import Notify, Progress
from .protocol import ServerDescription, Session, Step, ToolCall, ToolList, jsonrpc
from .requests import RequestOptions, build_request
from .results import to_result
from .types import MISSING, CallToolResult, JsonObject, error_result
from .upstream import Upstream

logger = logging.getLogger("openapi_mcp")

MAX_RESULT_BYTES: Final = 256 * 1024
"""How much of an API's answer a result holds: some 64,000 tokens, more than most models can read at once."""

MAX_STREAMED_BYTES: Final = 1_000_000
"""The size of a result after notifications: clients drop an event of 1 MiB, and the rest of it is not the result's."""

Observer = Callable[[Tool, httpx.Request, httpx.Response], None]
"""Is told of each call that the API answered. It must not wait, and changes nothing."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back over a transport: bytes of JSON or nothing, the session from now on, and the HTTP status."""

    body: bytes | None
    session: Session
    status: int


class Server:
    """Tools behind MCP. It belongs to one event loop; whoever makes it calls `aclose` in the end.

    `functions` are those behind tools, by the tools' names; a tool without one is its request and no more.
    """

    def __init__(
        self,
        catalog: Catalog,
        description: ServerDescription,
        upstream: Upstream,
        *,
        options: RequestOptions,
        max_result_bytes: int = MAX_RESULT_BYTES,
        observer: Observer | None = None,
        functions: Mapping[str, ToolFunction[Any, Any]] = MappingProxyType({}),
    ) -> None:
        self.catalog = catalog
        self.description = description
        self._upstream = upstream
        self._options = options
        self._max_result_bytes = max_result_bytes
        self._observer = observer
        self._functions = functions
        # Rendered pages by revision and cursor. As cursors are verified, there are only so many.
        self._pages: dict[tuple[str, str | None], JsonObject] = {}

    def receive(self, message: Any, session: Session, headers: Mapping[str, str] | None = None) -> Step:
        """What a message causes (see `protocol.receive`); `perform` makes it happen."""
        return protocol.receive(self.description, session, message, headers)

    async def perform(self, step: Step, notify: Notify | None = None) -> Answer:
        """Do what a Step asks for and write its answer. Never raises, unless it is cancelled.

        `notify` sends what is said before the answer: the progress of a call whose client asked to hear of it. A result
        that was preceded by notifications is cut to MAX_STREAMED_BYTES whatever `max_result_bytes` is, and says so.
        The messages of a batch are done one after the other, so that no single message makes many requests at once; its
        answers are one message of their own size, so nothing precedes them.
        """
        if not step.batch:
            return Answer(await self._perform(step, notify), step.session, step.status)
        bodies = [body for part in step.batch if (body := await self._perform(part, None)) is not None]
        return Answer(b"[" + b",".join(bodies) + b"]" if bodies else None, step.session, step.status)

    async def handle(self, message: Any, session: Session, headers: Mapping[str, str] | None = None) -> Answer:
        """`receive` and `perform` in one."""
        return await self.perform(self.receive(message, session, headers))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Call a tool. Raises UnknownToolError; any other failure is a result with `is_error`."""
        return await self._call(self._tool(name), arguments)

    async def aclose(self) -> None:
        """Close the connections to the API."""
        await self._upstream.aclose()

    def _tool(self, name: str) -> Tool:
        tool = self.catalog.get(name)
        if tool is None:
            raise UnknownToolError("There is no tool of that name.")
        return tool

    async def _call(self, tool: Tool, arguments: Mapping[str, Any], progress: Progress | None = None) -> CallToolResult:
        try:
            arguments = prepare(tool, arguments)
            result = partial(self._make, progress=progress)
            function = self._functions.get(tool.name)
            if function is None:
                return await result(tool, arguments)
            return await function.answer(Api(tool, arguments, result, partial(self._send, progress=progress)))
        except RuntimeFailure as failure:
            return error_result(str(failure))
        except Exception:
            logger.exception("The call of %s failed.", tool.name)
            return error_result("The server failed while it made this call; the reason is in its log.")

    async def _make(self, tool: Tool, arguments: Mapping[str, Any], progress: Progress | None) -> CallToolResult:
        response = await self._send(tool, arguments, progress)
        return self._result(tool, response, streamed=bool(progress and progress.told))

    async def _send(self, tool: Tool, arguments: Mapping[str, Any], progress: Progress | None) -> httpx.Response:
        request = build_request(tool, arguments, self._options)
        response = await self._upstream.send(request, progress.tell if progress else None)
        self._observe(tool, request, response)
        return response

    def _result(self, tool: Tool, response: httpx.Response, *, streamed: bool) -> CallToolResult:
        limit = self._max_result_bytes
        result = to_result(tool, response, max_bytes=limit)
        while streamed and limit and _size(result) > MAX_STREAMED_BYTES:
            limit = min(limit, MAX_STREAMED_BYTES) // 2
            result = to_result(tool, response, max_bytes=limit)
        return result

    def _observe(self, tool: Tool, request: httpx.Request, response: httpx.Response) -> None:
        try:
            if self._observer is not None:
                self._observer(tool, request, response)
        except Exception:
            logger.exception("The call of %s was answered, but could not be observed.", tool.name)

    async def _perform(self, step: Step, notify: Notify | None) -> bytes | None:
        action = step.action
        if isinstance(action, ToolCall):
            return _encode(await self._reply_to_call(action, notify))
        if isinstance(action, ToolList):
            return _encode(self._reply_to_list(action))
        return None if step.reply is None else _encode(step.reply)

    async def _reply_to_call(self, call: ToolCall, notify: Notify | None) -> JsonObject:
        try:
            tool = self._tool(call.name)
        except UnknownToolError as failure:
            return call.refuse(str(failure))
        progress = None if notify is None or call.progress_token is None else Progress(call, notify)
        return call.reply(await self._call(tool, call.arguments, progress), tool.output_schema)

    def _reply_to_list(self, wanted: ToolList) -> JsonObject:
        key = (wanted.revision.name, wanted.cursor)
        if key not in self._pages:
            try:
                self._pages[key] = wanted.render(*self.catalog.page(wanted.cursor))
            except CursorError as failure:
                return wanted.refuse(str(failure))
        return wanted.reply(self._pages[key])


def _size(result: CallToolResult) -> int:
    """Bytes of a result as JSON, whatever the revision makes of it."""
    structured = None if result.structured_content is MISSING else result.structured_content
    return len(jsonrpc.encode([*result.content, structured]))


def _encode(reply: JsonObject) -> bytes:
    try:
        return jsonrpc.encode(reply)
    except (TypeError, ValueError, RecursionError):
        logger.exception("An answer cannot be written as JSON.")
        request_id = reply.get("id")
        return jsonrpc.encode(
            jsonrpc.error(jsonrpc.INTERNAL_ERROR, "The answer cannot be written as JSON.", request_id=request_id)
        )
