"""`Server`: one message in, at most one reply out; it connects the protocol, the tools and the API.

No failure is raised: each becomes a reply. Transports stay thin: the bytes and statuses of replies are made here.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from weakref import WeakKeyDictionary, ref

from .. import background, media_types, protocol
from ..errors import CursorError, UnknownToolError
from ..protocol import (
    Action,
    ResourceRequest,
    ServerDescription,
    Session,
    Step,
    TaskRequest,
    ToolCall,
    ToolList,
    jsonrpc,
)
from ..request.build import RequestOptions
from ..result.content import BINARY_FACTOR
from ..tool import Tool
from ..types import CallToolResult, JsonObject
from ..upstream.client import Upstream
from ..upstream.events import NO_EVENTS, CallEvents
from .calls import Calls
from .catalog import BuiltinTool, Catalog, ListedTool, Page
from .grants import GRANT, Scopes
from .hooks import (
    CredentialSource,
    Elicitor,
    Limiter,
    Monitor,
    Notify,
    Observer,
    OperationFollower,
    Shaper,
    SkillSource,
)
from .notifications import ClientNotifier, Heartbeats

if TYPE_CHECKING:  # packages have functions, a live server has none
    from ..result.error_hints import RelatedTools
    from .functions import Functions

logger = logging.getLogger("openapi_mcp")

MAX_RESULT_BYTES: Final = 80_000
"""Bytes of a response that a result holds: 20,000 tokens of four bytes. Clients refuse results of more than 25,000."""

MAX_BATCH_BYTES: Final = 2 * 1024 * 1024
"""Bytes of the replies to a batch after which further messages are refused: a hundred results of calls."""

_TOO_LONG: Final = jsonrpc.Refusal(jsonrpc.INTERNAL_ERROR, "The replies to this batch are too long; send this alone.")

MAX_STREAMED_BYTES: Final = 1_000_000
"""The size of a result that follows notifications: clients drop an event of 1 MiB, which holds more than the result."""


MAX_QUICK_TOOLS: Final = 500
"""Tools that are listed, or compared with a name, while the event loop waits: in some thousandths of a second."""


class Reply(NamedTuple):
    """The reply for a transport: bytes of JSON or None, the session from now on, and the HTTP status."""

    body: bytes | None
    session: Session
    status: int


class _Related:
    """Returns the tools that help after an error of another one.

    It does not hold the server: a circle would keep the tools of a replaced one in memory until they are looked for.
    """

    def __init__(self, server: "Server") -> None:
        self._server = ref(server)

    def __call__(self) -> "RelatedTools | None":
        """Return them; None if the server is gone, and with it whoever asks."""
        server = self._server()
        return None if server is None else server.current_catalog().related


class Rights(Protocol):
    """The rights that the scopes of an access token give."""

    def catalog(self, scopes: Scopes) -> Catalog:
        """Return the tools that a token lists and calls; the same object for the same tools, as long as it is used."""

    def demanded(self, name: str, scopes: Scopes) -> tuple[str, ...]:
        """Return the scopes that a tool needs; empty if the token has them, or if there is no such tool."""


class Server:
    """An MCP server for a catalog of tools. It belongs to one event loop; its creator calls `aclose`.

    `limiter` limits the rate of calls, `observer` is called for those that the API answered. `functions` are the
    functions of tools by the tools' names; a tool without one is only its request. `source` fetches credentials,
    `monitor` observes calls, `elicitor` asks users before calls, `shaper` reads what a call's answer shall be.
    `follower` makes what follows operations that the API carries out in the background. `on_idle` is called when those
    of answered calls have ended.
    `rights` returns what the GRANT of a request allows; it is called for the first request that has one. `others` are
    servers of other APIs, by name: built-in tools call their tools, and they are closed with this one. `skills` makes
    what answers requests about skills; it is called for the first one.
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
        functions: "Functions | None" = None,
        rights: Callable[[], Rights] | None = None,
        source: CredentialSource | None = None,
        monitor: Monitor | None = None,
        elicitor: Elicitor | None = None,
        shaper: Shaper | None = None,
        follower: Callable[[], OperationFollower] | None = None,
        others: "Mapping[str, Server] | None" = None,
        skills: Callable[[], SkillSource] | None = None,
    ) -> None:
        self.catalog = catalog
        self._rights = rights
        self._elicitor = elicitor
        self.on_idle: Callable[[], None] = lambda: None
        self._skills = None if skills is None else cache(skills)
        self.description = description if skills is None else replace(description, skills=True)
        self._upstream = upstream
        self._calls = Calls(
            upstream,
            options,
            max_result_bytes=max_result_bytes,
            observer=observer,
            limiter=limiter,
            functions=functions,
            source=source,
            monitor=monitor,
            elicitor=elicitor,
            shaper=shaper,
            follower=follower,
            related=_Related(self),
        )
        self._others = dict(others or {})
        self._calls.others = {name: server.calls for name, server in self._others.items()}
        self._heartbeats = Heartbeats()
        self._max_binary_bytes = max_result_bytes * BINARY_FACTOR
        # Encoded pages by revision and cursor. Their number is bounded, since only the catalog's own cursors are valid.
        self._pages: WeakKeyDictionary[Catalog, dict[tuple[str, str | None], bytes]] = WeakKeyDictionary()
        self._description_for_callers = replace(self.description, cache_scope="private")

    @property
    def calls(self) -> Calls:
        """The maker of the calls of tools."""
        return self._calls

    def receive(self, message: Any, session: Session, headers: Mapping[str, str] | None = None) -> Step:
        """Return the Step that a message causes (see `protocol.receive`), for `perform`."""
        description = self.description if GRANT.get() is None else self._description_for_callers
        step = protocol.receive(description, session, message, headers)
        return self._check_headers(step, step.action) if isinstance(step.action, ToolCall) else step

    async def perform(
        self,
        step: Step,
        notify: Notify | None = None,
        caller: str = "",
        *,
        max_streamed_bytes: int | None = MAX_STREAMED_BYTES,
    ) -> Reply:
        """Carry out a Step and return its reply. Raises only when it is cancelled.

        `notify` sends messages before the reply: progress and log messages that the client asked for, and signs of life
        of a call that takes long (on stdio, where `max_streamed_bytes` is None, only as progress). A result that
        follows such a message is cut to `max_streamed_bytes` whatever `max_result_bytes` is, and says so. `caller`
        identifies the client to the `limiter`.
        The messages of a batch are performed one after the other, so that no message causes many requests at once; its
        replies are one message, so no notification precedes them.
        """
        if not step.batch:
            return Reply(await self._perform(step, notify, caller, max_streamed_bytes), step.session, step.status)
        bodies = [body async for body in self._replies(step.batch, caller)]
        return Reply(b"[" + b",".join(bodies) + b"]" if bodies else None, step.session, step.status)

    async def _replies(self, batch: Iterable[Step], caller: str) -> AsyncIterator[bytes]:
        """Yield the replies to a batch, each after whatever else the event loop has to do; errors where they get long.

        The list of tools may be 8 MiB, and a batch could ask for it a hundred times.
        """
        size = 0
        for part in batch:
            await asyncio.sleep(0)
            if size > MAX_BATCH_BYTES and part.action is not None and part.action.request_id is not None:
                reply: bytes | None = _encode(_TOO_LONG.reply(part.action.request_id))
            else:
                reply = await self._perform(part, None, caller)
            if reply is not None:
                size += len(reply)
                yield reply

    def demanded_scopes(self, step: Step) -> tuple[str, ...]:
        """Return all scopes that the calls of a Step need; empty if the GRANT has them, or there is none."""
        grant = GRANT.get()
        if grant is None or self._rights is None:
            return ()
        rights = self._rights()
        if rights.catalog(grant.scopes) is self.catalog:
            return ()
        if not step.batch:
            return self._demanded(rights, step.action, grant.scopes)
        demanded = [self._demanded(rights, part.action, grant.scopes) for part in step.batch]
        return tuple(dict.fromkeys(scope for each in demanded for scope in each))

    async def handle(self, message: Any, session: Session, headers: Mapping[str, str] | None = None) -> Reply:
        """Receive a message, perform its Step, and return the reply."""
        return await self.perform(self.receive(message, session, headers))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Call a tool and return its result, with `is_error` for a failure. Raises UnknownToolError."""
        tool = self.catalog.get(name)
        if tool is None:
            raise UnknownToolError(self.catalog.unknown(name))
        return await self._calls.call(tool, arguments)

    @property
    def is_busy(self) -> bool:
        """True if operations in the background are still followed whose calls have been answered with a task."""
        follower = vars(self._calls).get("follower")
        return follower is not None and follower.is_busy

    async def aclose(self) -> None:
        """Close the connections to the API, and those of the other servers."""
        if (follower := vars(self._calls).get("follower")) is not None:
            await follower.aclose()
        await self._upstream.aclose()
        for server in self._others.values():
            await server.aclose()

    def _check_headers(self, step: Step, call: ToolCall) -> Step:
        """Refuse a call whose headers contradict its arguments; done in `receive`, since it is an HTTP status too."""
        tool = self.catalog.get(call.name)
        mismatch = None if tool is None else call.header_mismatch(tool.input_schema)
        return step if mismatch is None else Step(session=step.session, status=400, reply=mismatch)

    def _demanded(self, rights: Rights, action: Action | None, scopes: Scopes) -> tuple[str, ...]:
        """Return the scopes that a call needs: of its tool, or of the one that its arguments name."""
        if not isinstance(action, ToolCall):
            return ()
        tool = self.catalog.get(action.name)
        target = tool.target(action.arguments) if isinstance(tool, BuiltinTool) else action.name
        return rights.demanded(target, scopes) if isinstance(target, str) else ()

    def current_catalog(self) -> Catalog:
        """Return the tools of the request that is being served."""
        grant = GRANT.get()
        return self.catalog if grant is None or self._rights is None else self._rights().catalog(grant.scopes)

    async def _perform(
        self, step: Step, notify: Notify | None, caller: str, max_streamed_bytes: int | None = None
    ) -> bytes | None:
        action = step.action
        if isinstance(action, ToolCall):
            catalog = self.current_catalog()
            tool = catalog.get(action.name)
            if tool is None:
                return _encode(action.refuse(await self._unknown(catalog, action.name)))
            follower = self._follower_for(action) if self.description.tasks else None
            if follower is None and self._elicitor is None:
                return _encode(await self._reply_to_call(action, tool, notify, caller, max_streamed_bytes))
            answer = partial(self._answer, action, tool, caller=caller, max_streamed_bytes=max_streamed_bytes)
            return _encode(await (answer(notify) if follower is None else follower.reply(action, tool, notify, answer)))
        if isinstance(action, TaskRequest) and self._calls.follower is not None:
            return _encode(await self._calls.follower.answer(action))
        if isinstance(action, ToolList):
            return await self._reply_to_list(action)
        if isinstance(action, ResourceRequest) and self._skills is not None:
            return _encode(self._skills().answer(action, self.current_catalog()))
        return None if step.reply is None else _encode(step.reply)

    async def _unknown(self, catalog: Catalog, name: str) -> str:
        """Return a sentence about a name that no tool has; many tools are compared with it beside the event loop."""
        if catalog.number <= MAX_QUICK_TOOLS:
            return catalog.unknown(name)
        return await background.run("large", catalog.unknown, name)

    def _follower_for(self, call: ToolCall) -> OperationFollower | None:
        """Return the follower for a call whose client has tasks, else None."""
        if not call.revision.asks_by_result:
            return None
        from ..protocol.tasks import has_tasks

        if not has_tasks(call.params) or (follower := self._calls.follower) is None:
            return None
        follower.on_idle = self.on_idle
        return follower

    async def _answer(
        self, call: ToolCall, tool: ListedTool, notify: Notify | None, *, caller: str, max_streamed_bytes: int | None
    ) -> JsonObject:
        """Return the reply to a call, before which the elicitor may ask."""
        answer = partial(self._reply_to_call, call, tool, notify, caller, max_streamed_bytes)
        return await (answer() if self._elicitor is None else self._elicitor.reply(call, tool, notify, answer))

    async def _reply_to_call(
        self, call: ToolCall, tool: ListedTool, notify: Notify | None, caller: str, max_streamed_bytes: int | None
    ) -> JsonObject:
        is_stream = max_streamed_bytes is not None
        beats = is_stream or call.progress_token is not None
        if notify is None or not (beats or call.revision.logging):
            return call.reply(await self._result(call, tool, caller, max_streamed_bytes, NO_EVENTS), tool.output_schema)
        max_binary_bytes = self._max_binary_bytes if is_stream else 0
        events = ClientNotifier(call, notify, max_binary_bytes=max_binary_bytes, sanitizer=self._calls.sanitizer)
        is_binary = is_stream and isinstance(tool, Tool) and _prefers_binary(tool.accept)
        heartbeat = events.heartbeat(self._heartbeats, is_binary=is_binary) if beats else None
        try:
            result = await self._result(call, tool, caller, max_streamed_bytes, events)
        finally:
            if heartbeat is not None and (sending := heartbeat.stop()) is not None:
                await asyncio.wait({sending})
        return call.reply(result, tool.output_schema)

    def _result(
        self, call: ToolCall, tool: ListedTool, caller: str, max_streamed_bytes: int | None, events: CallEvents
    ) -> Awaitable[CallToolResult]:
        return self._calls.call(
            tool,
            call.arguments,
            caller=caller,
            trace=call.trace,
            events=events,
            max_streamed_bytes=max_streamed_bytes,
        )

    async def _reply_to_list(self, request: ToolList) -> bytes:
        catalog = self.current_catalog()
        pages, key = self._pages.setdefault(catalog, {}), (request.revision.name, request.cursor)
        if key not in pages:
            try:
                page: Page = ((), None) if request.is_past_end else catalog.page(request.cursor)
                is_large = len(page[0]) > MAX_QUICK_TOOLS
                work = partial(_encoded_page, request, page)
                pages[key] = await background.run("large", work) if is_large else work()
            except CursorError as failure:
                return _encode(request.refuse(str(failure)))
            except (TypeError, ValueError, RecursionError):
                return _encode(request.reply(request.render(*page)))  # an error: the page cannot be written as JSON
        return request.reply_encoded(pages[key])


def _encoded_page(request: ToolList, page: Page) -> bytes:
    return jsonrpc.encode(request.render(*page))


@lru_cache(maxsize=256)  # documents have a handful of Accept headers
def _prefers_binary(accept: str) -> bool:
    """Return whether the first media type of an Accept header is not text."""
    kind = accept.partition(",")[0].strip()
    return not (kind.startswith("*/*") or not kind or media_types.is_text(kind))


def _encode(reply: JsonObject) -> bytes:
    try:
        return jsonrpc.encode(reply)
    except (TypeError, ValueError, RecursionError):
        logger.exception("An answer cannot be written as JSON.")
        request_id = reply.get("id")
        return jsonrpc.encode(
            jsonrpc.error(jsonrpc.INTERNAL_ERROR, "The answer cannot be written as JSON.", request_id=request_id)
        )
