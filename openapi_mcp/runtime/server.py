"""`Server`: one message in, at most one answer out; it joins the protocol, the tools and the API, and decides nothing.

Nothing that happens on the way is raised: it becomes an answer. Transports stay thin: bytes and statuses are made here.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from . import protocol
from .calls import Calls, Limiter, Observer
from .catalog import Catalog, Offered
from .errors import CursorError, UnknownToolError
from .functions import NO_FUNCTIONS, Functions
from .listener import SILENT
from .narrator import Narrator
from .progress import Notify
from .protocol import ServerDescription, Session, Step, ToolCall, ToolList, jsonrpc
from .requests import RequestOptions
from .results import BINARY_FACTOR
from .types import CallToolResult, JsonObject
from .upstream import Upstream

logger = logging.getLogger("openapi_mcp")

MAX_RESULT_BYTES: Final = 256 * 1024
"""How much of an API's answer a result holds: some 64,000 tokens, more than most models can read at once."""

MAX_STREAMED_BYTES: Final = 1_000_000
"""The size of a result after notifications: clients drop an event of 1 MiB, and the rest of it is not the result's."""


class Answer(NamedTuple):
    """What goes back over a transport: bytes of JSON or nothing, the session from now on, and the HTTP status."""

    body: bytes | None
    session: Session
    status: int


class Server:
    """Tools behind MCP. It belongs to one event loop; whoever makes it calls `aclose` in the end.

    `limiter` says which calls come too soon, `observer` is told of those that were answered. `functions` are those
    behind tools, by the tools' names; a tool without one is its request and no more.
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
        limiter: Limiter | None = None,
        functions: Functions = NO_FUNCTIONS,
    ) -> None:
        self.catalog = catalog
        self.description = description
        self._upstream = upstream
        self._calls = Calls(
            upstream,
            options,
            max_result_bytes=max_result_bytes,
            observer=observer,
            limiter=limiter,
            functions=functions,
        )
        self._max_binary_bytes = max_result_bytes * BINARY_FACTOR
        # Pages as they are written, by revision and cursor. As cursors are verified, there are only so many.
        self._pages: dict[tuple[str, str | None], bytes] = {}

    def receive(self, message: Any, session: Session, headers: Mapping[str, str] | None = None) -> Step:
        """What a message causes (see `protocol.receive`); `perform` makes it happen."""
        step = protocol.receive(self.description, session, message, headers)
        return self._checked(step, step.action) if isinstance(step.action, ToolCall) else step

    async def perform(
        self,
        step: Step,
        notify: Notify | None = None,
        caller: str = "",
        *,
        max_streamed_bytes: int | None = MAX_STREAMED_BYTES,
    ) -> Answer:
        """Do what a Step asks for and write its answer. Never raises, unless it is cancelled.

        `notify` sends what is said before the answer: the progress of a call whose client asked to hear of it, and what
        happens meanwhile. A result that was preceded by notifications is cut to `max_streamed_bytes` whatever
        `max_result_bytes` is, and says so. `caller` is for whom calls are counted where there is a `limiter`.
        The messages of a batch are done one after the other, so that no single message makes many requests at once; its
        answers are one message of their own size, so nothing precedes them.
        """
        if not step.batch:
            return Answer(await self._perform(step, notify, caller, max_streamed_bytes), step.session, step.status)
        bodies = [body for part in step.batch if (body := await self._perform(part, None, caller)) is not None]
        return Answer(b"[" + b",".join(bodies) + b"]" if bodies else None, step.session, step.status)

    async def handle(self, message: Any, session: Session, headers: Mapping[str, str] | None = None) -> Answer:
        """`receive` and `perform` in one."""
        return await self.perform(self.receive(message, session, headers))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Call a tool. Raises UnknownToolError; any other failure is a result with `is_error`."""
        tool = self.catalog.get(name)
        if tool is None:
            raise UnknownToolError(_UNKNOWN)
        return await self._calls.make(tool, arguments)

    async def aclose(self) -> None:
        """Close the connections to the API."""
        await self._upstream.aclose()

    def _checked(self, step: Step, call: ToolCall) -> Step:
        """A call whose headers do not say what its arguments say is refused here, since that is an HTTP status too."""
        tool = self.catalog.get(call.name)
        mismatch = None if tool is None else call.mismatch(tool.input_schema)
        return step if mismatch is None else Step(session=step.session, status=400, reply=mismatch)

    async def _perform(self, step: Step, notify: Notify | None, caller: str, most: int | None = None) -> bytes | None:
        action = step.action
        if isinstance(action, ToolCall):
            tool = self.catalog.get(action.name)
            return _encode(
                action.refuse(_UNKNOWN) if tool is None else await self._reply(action, tool, notify, caller, most)
            )
        if isinstance(action, ToolList):
            return self._reply_to_list(action)
        return None if step.reply is None else _encode(step.reply)

    async def _reply(
        self, call: ToolCall, tool: Offered, notify: Notify | None, caller: str, most: int | None
    ) -> JsonObject:
        kept = 0 if most is None else self._max_binary_bytes
        if notify is None or (call.progress_token is None and not call.revision.logging):
            listener = SILENT
        else:
            listener = Narrator(call, notify, max_binary_bytes=kept)
        result = await self._calls.make(
            tool,
            call.arguments,
            caller=caller,
            trace=call.trace,
            listener=listener,
            max_streamed_bytes=most,
        )
        return call.reply(result, tool.output_schema)

    def _reply_to_list(self, wanted: ToolList) -> bytes:
        key = (wanted.revision.name, wanted.cursor)
        if key not in self._pages:
            try:
                page = wanted.render(*self.catalog.page(wanted.cursor))
                self._pages[key] = jsonrpc.encode(page)
            except CursorError as failure:
                return _encode(wanted.refuse(str(failure)))
            except (TypeError, ValueError, RecursionError):
                return _encode(wanted.reply(page))  # which says that it cannot be written
        return wanted.reply_encoded(self._pages[key])


_UNKNOWN: Final = "There is no tool of that name."


def _encode(reply: JsonObject) -> bytes:
    try:
        return jsonrpc.encode(reply)
    except (TypeError, ValueError, RecursionError):
        logger.exception("An answer cannot be written as JSON.")
        request_id = reply.get("id")
        return jsonrpc.encode(
            jsonrpc.error(jsonrpc.INTERNAL_ERROR, "The answer cannot be written as JSON.", request_id=request_id)
        )
