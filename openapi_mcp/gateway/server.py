"""`GatewayServer`: an MCP server whose calls are made by the servers of several APIs, each with what is its own.

A call of a tool goes to the server of its API: its credentials, its connections, its limits, its checks. Only the list,
the search and programs are common, and what hides secrets: no credential of one API is shown in an answer of another.
"""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import httpx

from ..runtime.protocol import ServerDescription
from ..runtime.request.build import RequestOptions
from ..runtime.result.sanitizer import Sanitizer
from ..runtime.server.calls import Calls
from ..runtime.server.catalog import BuiltinTool, Catalog, ListedTool
from ..runtime.server.hooks import Elicitor, OperationFollower, SkillSource
from ..runtime.server.server import Rights, Server
from ..runtime.types import CallToolResult
from ..runtime.upstream.client import Upstream


class _NoApi(httpx.AsyncBaseTransport):
    """A transport to nowhere: every request is made by the server of an API."""

    async def handle_async_request(self, _request: httpx.Request) -> NoReturn:
        """Raise, since no request belongs here."""
        raise httpx.UnsupportedProtocol("A request belongs to no API of this server.")


class GatewayCalls(Calls):
    """The maker of calls of several APIs: `makers` are those of each tool, by its name."""

    def __init__(
        self,
        makers: Mapping[str, Calls],
        sanitizer: Sanitizer,
        max_result_bytes: int,
        follower: Callable[[], OperationFollower] | None,
    ) -> None:
        super().__init__(
            Upstream(transport=_NoApi()), RequestOptions(), max_result_bytes=max_result_bytes, follower=follower
        )
        self.sanitizer = sanitizer
        self._makers = makers

    async def call(self, tool: ListedTool, arguments: Mapping[str, Any], **context: Any) -> CallToolResult:
        """Return the result of a call, as `Calls.call` does."""
        if isinstance(tool, BuiltinTool):
            return await super().call(tool, arguments, **context)
        return await self._makers[tool.name].call(tool, arguments, **context)


class GatewayServer(Server):
    """A server for the tools of several APIs. `servers` are those of the APIs, `routes` their names by tool."""

    def __init__(
        self,
        catalog: Catalog,
        description: ServerDescription,
        servers: Mapping[str, Server],
        routes: Mapping[str, str],
        *,
        sanitizer: Sanitizer,
        max_result_bytes: int,
        rights: Callable[[], Rights],
        elicitor: Elicitor | None,
        follower: Callable[[], OperationFollower] | None = None,
        skills: Callable[[], SkillSource] | None = None,
    ) -> None:
        makers = {name: server.calls for name, server in servers.items()}
        for each in makers.values():
            each.sanitizer = sanitizer
        calls = GatewayCalls({tool: makers[api] for tool, api in routes.items()}, sanitizer, max_result_bytes, follower)
        super().__init__(
            catalog,
            description,
            calls.upstream,
            options=RequestOptions(),
            max_result_bytes=max_result_bytes,
            rights=rights,
            elicitor=elicitor,
            skills=skills,
        )
        self._calls = calls
        calls.others = makers  # for the workflows of each API
        self._servers = tuple(servers.values())

    async def aclose(self) -> None:
        """Stop following operations, then close the connections to all APIs."""
        await super().aclose()
        for server in self._servers:
            await server.aclose()
