"""`Calls`: one call of a tool, from its arguments to a result; a failure becomes a result too.

An expected failure (RuntimeFailure) is described to the model. Any other is logged with its traceback, and the model is
only told that the call failed.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import httpx

from .. import background
from ..errors import ArgumentError, RequestError, RuntimeFailure, UpstreamError
from ..protocol import jsonrpc
from ..request import build
from ..request.build import RequestOptions, build_request
from ..request.context import FORWARDED, context_of, guess_hint
from ..result.sanitizer import Sanitizer, secrets_of
from ..tool import Tool
from ..types import MISSING, CallToolResult, error_result
from ..upstream.client import Upstream
from ..upstream.errors import causes
from ..upstream.events import NO_EVENTS, CallEvents
from .catalog import BuiltinTool, CallMaker, ClientCalls, ListedTool
from .hooks import (
    ACCEPTED,
    AnswerShape,
    CallStart,
    CredentialSource,
    Elicitor,
    Findings,
    Limiter,
    Monitor,
    Observer,
    OperationFollower,
    Sending,
    Shaper,
    too_many_calls,
)
from .notifications import log_findings

if TYPE_CHECKING:  # packages have functions, a live server has none
    from ..result.error_hints import RelatedTools, SentCall
    from .functions import Functions, ToolFunction

logger = logging.getLogger("openapi_mcp")

MAX_BUILT_PARTS: Final = 10_000
"""Parts of arguments whose request is built while the event loop waits: about two milliseconds."""

MAX_READ_BYTES: Final = 128 * 1024
"""Bytes of an answer that is read while the event loop waits: some milliseconds."""

MAX_SMALL_BYTES: Final = 2 * 1024 * 1024
"""Bytes of an answer whose reading takes some hundredths of a second, and does not wait for larger ones."""

NO_TRACE: Final[Mapping[str, str]] = MappingProxyType({})


_UNSENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
"""Errors that come before the first byte of a request is sent."""


class _CallContext(NamedTuple):
    """The parameters of a call besides its arguments."""

    trace: Mapping[str, str]
    events: CallEvents
    max_streamed_bytes: int | None
    max_result_bytes: int
    on_sent: Callable[[int], None]
    shape: AnswerShape | None = None
    caller: str = ""


class Calls:
    """The maker of tool calls. `max_result_bytes` limits how much of a response a result holds (see `result.build`).

    `others` are those of other APIs, by name, whose tools built-in tools call.
    A tool with an entry in `functions` is called through its function; any other tool is only its request. `related`
    returns the tools that help after an error of the API.
    """

    def __init__(
        self,
        upstream: Upstream,
        options: RequestOptions,
        *,
        max_result_bytes: int,
        observer: Observer | None = None,
        limiter: Limiter | None = None,
        functions: "Functions | None" = None,
        source: CredentialSource | None = None,
        related: "Callable[[], RelatedTools | None] | None" = None,
        monitor: Monitor | None = None,
        elicitor: Elicitor | None = None,
        shaper: Shaper | None = None,
        follower: Callable[[], OperationFollower] | None = None,
    ) -> None:
        self.sanitizer = Sanitizer(secrets_of(options))
        self.upstream = upstream
        self.observer = observer
        self._options = options
        self._max_result_bytes = max_result_bytes
        self._limiter = limiter
        self._source = source
        self._functions: Functions = functions or {}
        self._related = related
        self._monitor = monitor
        self._elicitor = elicitor
        self._shaper = shaper
        self._make_follower = follower
        self.asks = elicitor is not None
        self.others: Mapping[str, CallMaker] = {}

    @cached_property
    def follower(self) -> OperationFollower | None:
        """The follower of operations in the background, made for the first call that needs it."""
        return None if self._make_follower is None else self._make_follower()

    @cached_property
    def _judges(self) -> tuple[Callable[..., bool], Callable[..., Awaitable[dict[str, Any]]]]:
        """The functions that judge arguments, at once and beside the event loop; imported at the first call."""
        from ..arguments import prepare_aside, surely_fit

        return surely_fit, prepare_aside

    @cached_property
    def _to_result(self) -> Callable[..., CallToolResult]:
        """The function that makes a result of a response, imported at the first call."""
        from ..result.build import to_result

        return to_result

    async def call(
        self,
        tool: ListedTool,
        arguments: Mapping[str, Any],
        *,
        caller: str = "",
        trace: Mapping[str, str] = NO_TRACE,
        events: CallEvents = NO_EVENTS,
        max_streamed_bytes: int | None = None,
        max_result_bytes: int | None = None,
        on_sent: Callable[[int], None] | None = None,
    ) -> CallToolResult:
        """Return the result of a call, cut to `max_streamed_bytes` if a notification was sent before it.

        A built-in tool makes its calls through this method: they are limited, observed and reported like any other. It
        gives `max_result_bytes` for a result that it uses itself and that is not streamed to the client, and `on_sent`
        to learn the status, or 0, once the request has left: a call with invalid arguments, or without connection, has
        no effect.
        """
        if max_result_bytes is not None:
            max_streamed_bytes = None
        try:
            if isinstance(tool, BuiltinTool):
                call = ClientCalls(self, caller, trace, events, max_streamed_bytes)
                return self.sanitizer.result(await tool.answer(await self._judges[1](tool, arguments), call))
            limit = self._max_result_bytes if max_result_bytes is None else max_result_bytes
            if max_result_bytes is None and tool.max_result_bytes is not None:
                limit = min(limit, tool.max_result_bytes)
            context = _CallContext(trace, events, max_streamed_bytes, limit, on_sent or _ignore)
            if not self._monitor:  # none, or one that observes nothing just now
                return await self._call_operation(tool, arguments, caller, context)
            start = CallStart(tool.name, arguments, caller, context.trace, tool)
            return await self._monitor(
                start,
                context.on_sent,
                lambda trace, on_sent: self._call_operation(
                    tool, arguments, caller, context._replace(trace=trace, on_sent=on_sent)
                ),
            )
        except RuntimeFailure as failure:
            return error_result(self.sanitizer.text(str(failure)))
        except Exception:
            logger.exception("The call of %s failed.", tool.name)
            return error_result("The server failed while it made this call; the reason is in its log.")

    async def _call_operation(
        self, tool: Tool, arguments: Mapping[str, Any], caller: str, context: _CallContext
    ) -> CallToolResult:
        """Return the result of a call of the API, unless the client makes too many. Raises RuntimeFailure."""
        if self._limiter is not None and (wait := await self._wait(caller, tool)) is not None:
            return error_result(too_many_calls(tool.name, wait))
        context.events.on_call(tool.name)
        if self._shaper is not None:
            arguments, shape = self._shaper.split(tool, arguments)
            context = context._replace(shape=shape, caller=caller) if shape else context
        if self._options.lenient:
            return await self._call_leniently(tool, arguments, context)
        surely_fit, prepare = self._judges
        checked = dict(arguments) if surely_fit(tool, arguments) else await prepare(tool, arguments)
        return await self._call_with_consent(tool, checked, context)

    async def _wait(self, caller: str, tool: Tool) -> float | None:
        """Return the seconds until the rate limit lets a caller call a tool; None if it may now."""
        wait = self._limiter(caller, tool.name) if self._limiter else None
        return await wait if isinstance(wait, Awaitable) else wait

    async def _call_leniently(self, tool: Tool, arguments: Mapping[str, Any], context: _CallContext) -> CallToolResult:
        """Return the result of a call whose arguments are sent, as far as they can, also where they do not fit."""
        from ..arguments import check_aside

        checked, refusal = await check_aside(tool, arguments)
        function = self._functions.get(tool.name)
        if refusal and function is not None and not function.takes(checked):
            raise ArgumentError(refusal)
        try:
            result = await self._call_with_consent(tool, checked, context)
        except (ArgumentError, RequestError) as failure:
            if not refusal:
                raise
            raise ArgumentError(f"{refusal}\nThis cannot be sent: {failure}") from failure
        except UpstreamError as failure:
            result = error_result(self.sanitizer.text(str(failure)))
        return await self._with_deviations(tool, result, [refusal], context.events) if refusal else result

    async def _with_deviations(
        self, tool: Tool, result: CallToolResult, deviations: Sequence[str], events: CallEvents
    ) -> CallToolResult:
        """Return a result that says first, and in `_meta`, how its request deviated from the document; log it."""
        sentences = [self.sanitizer.text(sentence) for sentence in deviations]
        logger.warning("The call of %s deviates from the document: %s", tool.name, " ".join(sentences))
        for sentence in sentences:
            await events.log("warning", sentence)
        from .deviations import with_deviations

        return with_deviations(result, sentences)

    def _call_with_consent(
        self, tool: Tool, arguments: Mapping[str, Any], context: _CallContext
    ) -> Awaitable[CallToolResult]:
        """Return the result of a call with valid arguments, which the elicitor may refuse."""
        if self._elicitor is None:
            return self._call(tool, arguments, context)
        return self._ask_and_call(self._elicitor, tool, arguments, context)

    async def _ask_and_call(
        self, elicitor: Elicitor, tool: Tool, arguments: Mapping[str, Any], context: _CallContext
    ) -> CallToolResult:
        arguments = await elicitor.consent(tool, arguments, context.events, self.sanitizer)
        return await self._call(tool, arguments, context)

    def _call(self, tool: Tool, arguments: Mapping[str, Any], context: _CallContext) -> Awaitable[CallToolResult]:
        """Return the result of a tool's function, or of its request."""
        function = self._functions.get(tool.name)
        if function is None:
            return self._result(tool, arguments, context)
        return self._call_function(function, tool, arguments, context)

    async def _call_function(
        self, function: "ToolFunction[Any, Any]", tool: Tool, arguments: Mapping[str, Any], context: _CallContext
    ) -> CallToolResult:
        from .functions import Api

        result = partial(self._result, context=context)
        response = partial(self._send, context=context)
        answer = function.answer(Api(tool, arguments, result, response))
        return self.sanitizer.result(await self.upstream.in_time(answer, tool.name))

    async def _send(
        self, tool: Tool, arguments: Mapping[str, Any], context: _CallContext
    ) -> tuple[httpx.Response, Findings | None]:
        """Send the request for some arguments; return the response and the observer's findings about it."""
        started = asyncio.get_running_loop().time() if self._make_follower is not None else 0.0
        options = self._options if self._source is None else await self._with_credentials(self._source, tool)
        request, response = await self._sent(tool, arguments, options, context)
        if response.status_code == 401 and (renewed := await self._renewed(tool, options)) is not None:
            options = renewed
            request, response = await self._sent(tool, arguments, options, context)
        findings = self._observe(tool, request, response) if self.observer is not None else None
        if response.status_code in ACCEPTED and self.follower is not None:
            from .operations import followed

            renew = partial(self._renewed, tool, options)
            response = await followed(self, tool, arguments, response, renew, context.events, started)
        return response, findings

    async def _renewed(self, tool: Tool, options: RequestOptions) -> RequestOptions | None:
        """Return options with other credentials than those that the API refused; None if there are no others."""
        if self._source is None:
            return None
        renewed = await self._source.renewed(tool, self._options.credentials, options.credentials)
        return None if renewed is None else self._use(renewed)

    async def _with_credentials(self, source: CredentialSource, tool: Tool) -> RequestOptions:
        """Return the options of a call with the credentials that are fetched for it."""
        credentials = await source.credentials(tool, self._options.credentials)
        return self._options if credentials is self._options.credentials else self._use(credentials)

    def _use(self, credentials: Mapping[str, str]) -> RequestOptions:
        """Return the options with other credentials, which no result holds from now on."""
        options = replace(self._options, credentials=credentials)
        self.sanitizer.hide(secrets_of(options))
        return options

    async def _sent(
        self, tool: Tool, arguments: Mapping[str, Any], options: RequestOptions, context: _CallContext
    ) -> tuple[httpx.Request, httpx.Response]:
        """Build a request, a large one beside the event loop, and send it; return it with its response.

        Note that it has left unless no connection was made.
        """
        if forwarded := FORWARDED.get():
            options = replace(options, headers=(*options.headers, *forwarded))
        if background.exceeds(arguments, MAX_BUILT_PARTS):
            request = await background.run("large", build_request, tool, arguments, options)
        else:
            request = build_request(tool, arguments, options)
        build.add_trace_context(tool, request, context.trace)
        try:
            response = await self.upstream.send(request, context.events)
        except BaseException as error:
            if not any(isinstance(cause, _UNSENT) for cause in causes(error)):
                context.on_sent(0)
            if isinstance(error, UpstreamError) and (hint := guess_hint(request)):
                raise UpstreamError(f"{error} {hint}") from error
            raise
        context.on_sent(response.status_code)
        return request, response

    def _sent_call(self, arguments: Mapping[str, Any]) -> "SentCall | None":
        """Return what an error of the API is explained with."""
        from ..result.error_hints import SentCall

        related = self._related() if self._related else None
        return None if related is None else SentCall(arguments, related)

    def _observe(self, tool: Tool, request: httpx.Request, response: httpx.Response) -> Findings | None:
        try:
            return self.observer(tool, request, response) if self.observer is not None else None
        except Exception:
            logger.exception("The call of %s succeeded, but its observer failed.", tool.name)
            return None

    async def _result(self, tool: Tool, arguments: Mapping[str, Any], context: _CallContext) -> CallToolResult:
        """Send the request and return its result.

        Notifications are sent before the size is decided: only a result that follows one is limited to
        `max_streamed_bytes`.
        """
        answer = None
        if context.shape is None and tool.select is None:
            response, findings = await self._send(tool, arguments, context)
        else:
            from .shapes import shaped

            answer, findings = await shaped(context.shape, tool, arguments, self._sending(tool, context))
            response = answer.response
        events, max_streamed_bytes = context.events, context.max_streamed_bytes
        notes: list[str] = []
        limit = context.max_result_bytes
        make = partial(self._to_result, tool, response, sanitizer=self.sanitizer)
        if response.status_code >= 400:
            make = partial(make, sent=self._sent_call(arguments))
        size = len(response.content)
        if size > MAX_READ_BYTES:
            lane: background.Lane = "small" if size < MAX_SMALL_BYTES else "large"
            result = await background.run(lane, make, max_bytes=limit, on_truncation=notes.append)
        else:
            result = make(max_bytes=limit, on_truncation=notes.append)
        if notes:
            await events.log("notice", notes[0])
        if findings is not None and events.is_enabled_for("notice"):
            await log_findings(tool, findings, events)
        while max_streamed_bytes is not None and events.has_notified and limit and _size(result) > max_streamed_bytes:
            limit = min(limit, max_streamed_bytes) // 2
            result = make(max_bytes=limit)
        if (follower := vars(self).get("follower")) is not None:
            result = follower.explained(result, response)
        if answer is not None and (answer.notes or answer.meta):
            from .shapes import with_notes

            result = with_notes(result, answer)
        if notes and self._shaper is not None and context.max_result_bytes == self._max_result_bytes:
            result = self._shaper.advised(tool, result)
        deviations = context_of(response.request).deviations
        return await self._with_deviations(tool, result, deviations, events) if deviations else result

    def _sending(self, tool: Tool, context: _CallContext) -> Sending:
        """Return what a call sends several requests with."""
        send, wait = partial(self._send, context=context), partial(self._wait, context.caller, tool)
        return Sending(send, wait, self.upstream, context.events, self.sanitizer)


def _ignore(_status: int) -> None:
    """Do nothing, for a caller that does not ask whether its request was sent."""


def _size(result: CallToolResult) -> int:
    """Return the bytes of a result as JSON, before the revision's own fields are added."""
    structured = None if result.structured_content is MISSING else result.structured_content
    return len(jsonrpc.encode([*result.content, structured]))
