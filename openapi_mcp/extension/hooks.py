"""`Hooks`: functions that change tools, requests and results; `Extension`: all that a program adds to a bridge.

Tools are changed when a bridge is opened, after the cache, so that cached tools are those of the document alone.
"""

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import httpx

from ..compilation import Compilation
from ..errors import UsageError
from ..instructions import facts_of
from ..runtime.tool import Tool
from ..runtime.types import CallToolResult
from ..token_budget import sizes

ToolHook: TypeAlias = Callable[[Tool], Tool | None]
"""Returns a tool as it shall be offered, or None for one that shall not be."""

RequestHook: TypeAlias = Callable[[Tool, httpx.Request], httpx.Request | Awaitable[httpx.Request | None] | None]
"""Changes the request of a call and returns None, or returns another request. It may be asynchronous."""

ResultHook: TypeAlias = Callable[[Tool, CallToolResult], CallToolResult | Awaitable[CallToolResult | None] | None]
"""Returns the result of a call as the client shall get it, None for no change. It may be asynchronous."""

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Functions that change what a bridge does: its tools, the requests of calls, their results. Each may be left out.

    `tool` is called for each tool when the bridge is opened: it returns the tool, a changed one
    (`dataclasses.replace(tool, name="…")`), or None to drop it. `request` is called for each request to the API before
    it is signed and sent; it changes the request, or returns another one. `result` is called for each result of the
    API, errors of the API too, and returns the one that the client gets. The latter two may be asynchronous; if not,
    they must not block. Raising CallFailed in them refuses the call: the model reads the message. A request that
    leads to another host than the call's first, as a status of an operation may, is sent without hooks.

        Hooks(tool=lambda tool: None if tool.deprecated else tool)
    """

    tool: ToolHook | None = None
    request: RequestHook | None = None
    result: ResultHook | None = None


@dataclass(frozen=True, slots=True)
class Extension:
    """All that a program adds to a bridge: hooks in their order, a transport and a signature of requests.

    With `auth` no credential of the document's security schemes is read or demanded.
    """

    hooks: tuple[Hooks, ...] = ()
    transport: httpx.AsyncBaseTransport | None = None
    auth: httpx.Auth | None = None

    @property
    def watches_calls(self) -> bool:
        """True if calls are changed too, and not only the tools and the transport."""
        return self.auth is not None or any(hooks.request or hooks.result for hooks in self.hooks)

    def compilation(self, made: Compilation, *, read_only: bool) -> Compilation:
        """Return a compilation with the tools as the hooks make them. Raises UsageError for what cannot be a tool.

        Dropped tools count as excluded. `read_only`: the user left out the tools that change data.
        """
        tools = tuple(tool for each in made.tools if (tool := self._tool(each)) is not None)
        if len(tools) == len(made.tools) and all(map(_is_same, tools, made.tools)):
            return made
        _check(tools)
        return replace(
            made,
            tools=tools,
            sizes=tuple(sizes(tools)),
            excluded=made.excluded + len(made.tools) - len(tools),
            facts=facts_of(tools, read_only=read_only),
        )

    def _tool(self, tool: Tool) -> Tool | None:
        """Return a tool as all hooks make it; None if one drops it. Raises UsageError for a hook that fails."""
        if self.auth is not None and (tool.security or tool.required_schemes):
            tool = replace(tool, security=(), required_schemes=())
        for hook in (hooks.tool for hooks in self.hooks if hooks.tool):
            changed: Any
            try:
                changed = hook(tool)
            except Exception as error:
                message = f"a tool hook failed: {type(error).__name__}: {error}"
                raise UsageError(message, where=tool.name, hint="correct the hook, or leave it out") from error
            if changed is None:
                return None
            if not isinstance(changed, Tool):
                message = f"a tool hook returned {type(changed).__name__}"
                raise UsageError(message, where=tool.name, hint="return a Tool, or None to drop it")
            tool = changed
        return tool

    async def request(self, tool: Tool, request: httpx.Request) -> httpx.Request:
        """Return the request of a call as all hooks make it. Raises what they raise."""
        for hook in (hooks.request for hooks in self.hooks if hooks.request):
            changed = hook(tool, request)
            changed = await changed if isinstance(changed, Awaitable) else changed
            if changed is not None and changed is not request:
                changed.extensions = {**request.extensions, **changed.extensions}
                request = changed
        return request

    async def result(self, tool: Tool, result: CallToolResult) -> CallToolResult:
        """Return the result of a call as all hooks make it. Raises what they raise."""
        for hook in (hooks.result for hooks in self.hooks if hooks.result):
            changed = hook(tool, result)
            changed = await changed if isinstance(changed, Awaitable) else changed
            result = result if changed is None else changed
        return result


def _is_same(tool: Tool, other: Tool) -> bool:
    return tool is other


def _check(tools: Iterable[Tool]) -> None:
    """Raise UsageError for a name that clients refuse, or that two tools have."""
    seen = set[str]()
    for tool in tools:
        if not _NAME.fullmatch(tool.name):
            hint = "use up to 64 letters, digits, - and _"
            raise UsageError(f"a tool hook made the name {tool.name!r}", where=f"{tool.method} {tool.path}", hint=hint)
        if tool.name.casefold() in seen:
            hint = "give each tool a name of its own"
            raise UsageError(f"tool hooks gave two tools the name {tool.name}", where=tool.path, hint=hint)
        seen.add(tool.name.casefold())
