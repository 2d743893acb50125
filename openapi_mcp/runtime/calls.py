"""`Calls`: one call of a tool, from its arguments to a result; whatever goes wrong becomes a result too.

What was foreseen says so to the model; anything else goes to the log with its traceback, and the model only hears that
it happened.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

import httpx

from . import tracing
from .arguments import prepare
from .catalog import Offered
from .errors import RuntimeFailure
from .functions import NO_FUNCTIONS, Api, Functions
from .listener import SILENT, Listener
from .models import Tool
from .own_tools import OwnTool
from .protocol import jsonrpc
from .requests import RequestOptions, build_request
from .results import to_result
from .types import MISSING, CallToolResult, error_result
from .upstream import Upstream

logger = logging.getLogger("openapi_mcp")

Findings: TypeAlias = Future[Sequence[str]]
"""Sentences about a call that may be found out while its result is made, or after it."""

Observer: TypeAlias = Callable[[Tool, httpx.Request, httpx.Response], Findings | None]
"""Is told of each call that the API answered. It must not wait, and changes nothing."""

Limiter: TypeAlias = Callable[[str, str], float | None]
"""For a caller and the name of a tool: None where the call may be made, else the seconds until it may."""

FINDINGS_WAIT: Final = 0.25
"""Seconds that a client which wants to hear of findings waits for them: its answer is worth more."""

NO_TRACE: Final[Mapping[str, str]] = MappingProxyType({})


class _Circumstances(NamedTuple):
    """What a call brings with it besides its arguments."""

    trace: Mapping[str, str]
    listener: Listener
    max_streamed_bytes: int | None
    max_result_bytes: int


class Calls:
    """Makes the calls of tools. `max_result_bytes` is how much of an answer a result holds (see `results`).

    A tool that has one of the `functions` is called through it; any other is its request and no more.
    """

    def __init__(
        self,
        upstream: Upstream,
        options: RequestOptions,
        *,
        max_result_bytes: int,
        observer: Observer | None = None,
        limiter: Limiter | None = None,
        functions: Functions = NO_FUNCTIONS,
    ) -> None:
        self.upstream = upstream
        self.observer = observer
        self._options = options
        self._max_result_bytes = max_result_bytes
        self._limiter = limiter
        self._functions = functions

    async def make(
        self,
        tool: Offered,
        arguments: Mapping[str, Any],
        *,
        caller: str = "",
        trace: Mapping[str, str] = NO_TRACE,
        listener: Listener = SILENT,
        max_streamed_bytes: int | None = None,
        max_result_bytes: int | None = None,
    ) -> CallToolResult:
        """The result of a call; one of more than `max_streamed_bytes` is cut to them if anything was told before it.

        A tool of the server's own makes its calls through this one: they are limited, told and observed like any. A
        result that it keeps to itself is no part of the stream, and holds as much as it asks for.
        """
        if max_result_bytes is not None:
            max_streamed_bytes = None
        try:
            if isinstance(tool, OwnTool):
                call = partial(
                    self.make, caller=caller, trace=trace, listener=listener, max_streamed_bytes=max_streamed_bytes
                )
                return await tool.answer(prepare(tool, arguments), call)
            wait = self._limiter(caller, tool.name) if self._limiter else None
            if wait is not None:
                return error_result(_too_many(tool, wait))
            listener.calling(tool.name)
            limit = self._max_result_bytes if max_result_bytes is None else max_result_bytes
            circumstances = _Circumstances(trace, listener, max_streamed_bytes, limit)
            return await self._answer(tool, prepare(tool, arguments), circumstances)
        except RuntimeFailure as failure:
            return error_result(str(failure))
        except Exception:
            logger.exception("The call of %s failed.", tool.name)
            return error_result("The server failed while it made this call; the reason is in its log.")

    async def _answer(self, tool: Tool, arguments: Mapping[str, Any], circumstances: _Circumstances) -> CallToolResult:
        """The result of a tool's function, or of its request."""
        function = self._functions.get(tool.name)
        if function is None:
            return await self._ask(tool, arguments, circumstances)
        result = partial(self._ask, circumstances=circumstances)
        response = partial(self._send, circumstances=circumstances)
        return await function.answer(Api(tool, arguments, result, response))

    async def _send(
        self, tool: Tool, arguments: Mapping[str, Any], circumstances: _Circumstances
    ) -> tuple[httpx.Response, Findings | None]:
        """What the API answers to the request for some arguments, and what is found out about that."""
        request = build_request(tool, arguments, self._options)
        tracing.carry(tool, request, circumstances.trace)
        response = await self.upstream.send(request, circumstances.listener)
        return response, self._observe(tool, request, response)

    def _observe(self, tool: Tool, request: httpx.Request, response: httpx.Response) -> Findings | None:
        try:
            return self.observer(tool, request, response) if self.observer else None
        except Exception:
            logger.exception("The call of %s was answered, but could not be observed.", tool.name)
            return None

    async def _ask(self, tool: Tool, arguments: Mapping[str, Any], circumstances: _Circumstances) -> CallToolResult:
        """The result, after all that is to be told before it, since what is told may be what makes it too large."""
        response, findings = await self._send(tool, arguments, circumstances)
        listener, most = circumstances.listener, circumstances.max_streamed_bytes
        cuts: list[str] = []
        limit = circumstances.max_result_bytes
        result = to_result(tool, response, max_bytes=limit, on_cut=cuts.append)
        if cuts:
            await listener.note("notice", cuts[0])
        await _tell(tool, findings, listener)
        while most is not None and listener.told and limit and _size(result) > most:
            limit = min(limit, most) // 2
            result = to_result(tool, response, max_bytes=limit)
        return result


async def _tell(tool: Tool, findings: Findings | None, listener: Listener) -> None:
    """Tell what is found out soon, if anybody wants to hear it. It is no part of the call, nor are its failures."""
    if findings is None or not listener.hears("notice"):
        return
    found = asyncio.wrap_future(findings)
    await asyncio.wait([found], timeout=FINDINGS_WAIT)
    if not found.done() or found.cancelled():
        return
    if (error := found.exception()) is not None:
        logger.error("The call of %s was answered, but could not be judged.", tool.name, exc_info=error)
        return
    for sentence in found.result():
        await listener.note("notice", sentence)


def _too_many(tool: Tool, wait: float) -> str:
    seconds = max(1, math.ceil(wait))
    return f"Too many calls of {tool.name}. Try again in {seconds} second{'s' if seconds > 1 else ''}."


def _size(result: CallToolResult) -> int:
    """Bytes of a result as JSON, whatever the revision makes of it."""
    structured = None if result.structured_content is MISSING else result.structured_content
    return len(jsonrpc.encode([*result.content, structured]))
