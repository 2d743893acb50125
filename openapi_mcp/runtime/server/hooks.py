"""Functions that a server may be given: limits, credentials that are fetched, questions, observers, shapers."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import httpx

from ..protocol import ResourceRequest, TaskRequest, ToolCall
from ..result.sanitizer import Sanitizer
from ..tool import Tool
from ..types import CallToolResult, JsonObject
from ..upstream.client import Upstream
from ..upstream.events import CallEvents
from .catalog import Catalog, ListedTool

Findings: TypeAlias = Future[Sequence[str]]
"""Sentences about a call, which may become known while its result is made or later."""

Observer: TypeAlias = Callable[[Tool, httpx.Request, httpx.Response], Findings | None]
"""A function that is called for each response of the API. It must not block, and must not change its arguments."""

Limiter: TypeAlias = Callable[[str, str], float | Awaitable[float | None] | None]
"""A rate limit: for a caller and a tool's name None if the call may be made, else the seconds until it may."""


def too_many_calls(tool: str, wait: float) -> str:
    """Return the sentence about a call that a limit refuses for so many seconds."""
    seconds = max(1, math.ceil(wait))
    return f"Too many calls of {tool}. Try again in {seconds} second{'s' if seconds > 1 else ''}."


class CredentialSource(Protocol):
    """A source of credentials that are fetched, such as access tokens. Both methods raise RuntimeFailure."""

    async def credentials(self, tool: Tool, static: Mapping[str, str]) -> Mapping[str, str]:
        """Return the credentials of a call by their scheme: `static` itself if it needs no others."""

    async def renewed(self, tool: Tool, static: Mapping[str, str], used: Mapping[str, str]) -> Mapping[str, str] | None:
        """Return credentials instead of those that the API refused with 401; None if there are no others."""


Notify: TypeAlias = Callable[[bytes], Awaitable[None]]
"""A function that sends a message before the result and returns once it is sent: a slow client slows its own call.

An empty message is a sign of life: a comment on an event stream, which it begins.
"""


class Elicitor(Protocol):
    """A source of questions to the users of clients, before calls that need their consent."""

    async def reply(
        self, call: ToolCall, tool: ListedTool, notify: Notify | None, answer: Callable[[], Awaitable[JsonObject]]
    ) -> JsonObject:
        """Return the reply to a client's call: that of `answer`, during which `consent` may ask, or the question."""

    async def consent(
        self, tool: Tool, arguments: Mapping[str, Any], events: CallEvents, sanitizer: Sanitizer
    ) -> Mapping[str, Any]:
        """Return the arguments of a call that may be made. Raises RuntimeFailure for one that must not."""


ACCEPTED: Final = frozenset({201, 202})
"""Statuses with which an API accepts an operation that it carries out in the background (201: Azure's creations)."""


class PollExchange(NamedTuple):
    """Functions that request the status of an operation in the background.

    `send` returns the response to a request. `renewed` returns the request of the call with other credentials in the
    place of those that the API refused; None if there are no others. Both raise RuntimeFailure.
    """

    send: Callable[[httpx.Request], Awaitable[httpx.Response]]
    renewed: Callable[[], Awaitable[httpx.Request | None]]


class OperationFollower(Protocol):
    """A follower of operations that the API carries out in the background, as tasks of clients that have them.

    `on_idle` is called when it follows none any more, so that it is not `is_busy`.
    """

    on_idle: Callable[[], None]

    @property
    def is_busy(self) -> bool:
        """True if operations are still followed whose calls have been answered."""

    async def reply(
        self,
        call: ToolCall,
        tool: ListedTool,
        notify: Notify | None,
        answer: Callable[[Notify | None], Awaitable[JsonObject]],
    ) -> JsonObject:
        """Return the reply to a call whose client has tasks: that of `answer`, or the task that it becomes."""

    async def answer(self, request: TaskRequest) -> JsonObject:
        """Return the reply to a request about a task."""

    async def follow(
        self, tool: Tool, response: httpx.Response, exchange: PollExchange, events: CallEvents, seconds: float | None
    ) -> httpx.Response:
        """Return the answer to a call whose first response is this one; `seconds` are left of the call's time."""

    def explained(self, result: CallToolResult, response: httpx.Response) -> CallToolResult:
        """Return the result of a response that was followed, with what is to be said about it."""

    async def aclose(self) -> None:
        """Stop following."""


class CallStart(NamedTuple):
    """A call that begins: the tool, its arguments as the client sent them, and the client's name for limits.

    `trace` is the W3C trace context that the client sent, by header. `operation` is the tool itself.
    """

    tool: str
    arguments: Mapping[str, Any]
    caller: str
    trace: Mapping[str, str]
    operation: Tool | None = None


MonitoredWork: TypeAlias = Callable[[Mapping[str, str], Callable[[int], None]], Awaitable[CallToolResult]]
"""A call that is made with a trace context for the API; the function gets the status of each answer."""

Monitor: TypeAlias = Callable[[CallStart, Callable[[int], None], MonitoredWork], Awaitable[CallToolResult]]
"""An observer of calls from their beginning to their result, which it returns: for logs, metrics and traces."""


class SkillSource(Protocol):
    """A source of skills: instructions for the use of tools, as resources that clients read."""

    def answer(self, request: ResourceRequest, catalog: Catalog) -> JsonObject:
        """Return the reply to a request, for a caller that has the tools of the catalog and no others."""


class Sending(NamedTuple):
    """Functions and limits with which one call of a tool sends requests.

    `send` returns the response to a tool's request with some arguments, and the observer's findings; it raises
    RuntimeFailure. `wait` returns the seconds until the rate limit lets one more be sent, None if it may be now. The
    time and the size that `upstream` allows a call hold for all of its requests.
    """

    send: Callable[[Tool, Mapping[str, Any]], Awaitable[tuple[httpx.Response, Findings | None]]]
    wait: Callable[[], Awaitable[float | None]]
    upstream: Upstream
    events: CallEvents
    sanitizer: Sanitizer


class ShapedAnswer(NamedTuple):
    """The response that a result is made of, with notes for the model and entries of `_meta`."""

    response: httpx.Response
    notes: tuple[str, ...] = ()
    meta: Mapping[str, Any] = {}


class AnswerShape(Protocol):
    """Form of the answer that a call asks for, besides the request that its tool describes."""

    async def answer(self, tool: Tool, arguments: Mapping[str, Any], sending: Sending) -> ShapedAnswer:
        """Return the answer to a call, of which something may be selected, or several. Raises RuntimeFailure."""


class Shaper(Protocol):
    """A reader of arguments that say what a call's answer shall be, and not what its request is."""

    def split(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], AnswerShape | None]:
        """Return the arguments of the request, and the shape that the others ask for. Raises ArgumentError."""

    def advised(self, tool: Tool, result: CallToolResult) -> CallToolResult:
        """Return a result that was cut, with a hint which arguments would make it smaller."""
