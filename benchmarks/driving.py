"""Drives every tool of a document against the referee, through the whole runtime, and counts what came of it.

Nothing is skipped in silence: each tool is two calls, and each call is accepted, refused or not driven, with a reason.
"""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Final

import httpx

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.runtime.catalog import Catalog
from openapi_mcp.runtime.models import SecurityScheme, Tool
from openapi_mcp.runtime.protocol import ServerDescription
from openapi_mcp.runtime.server import Server
from openapi_mcp.runtime.types import JsonObject
from openapi_mcp.runtime.upstream import Upstream
from openapi_mcp.samples import NoSample, sample

from .referee import NoReferee, Reason, reasons, referee
from .request_side import request_side

DOCUMENT_SECONDS: Final = 300
"""After which the rest of a document's calls is not driven. GitHub's 2,446 calls take about a minute."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One call that was not accepted, and all that was said against it. `request` is None where none was sent."""

    tool: str
    arguments: JsonObject
    request: httpx.Request | None
    reasons: tuple[Reason, ...]


@dataclass(slots=True)
class Tally:
    """What came of one document. `emptied` counts calls sent again without what they needed: the referee must object.

    `overlooked` are the tools where it did not.
    """

    name: str
    tools: int = 0
    accepted: int = 0
    refusals: list[Refusal] = field(default_factory=list)
    not_driven: list[str] = field(default_factory=list)
    emptied: int = 0
    overlooked: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def driven(self) -> int:
        """How many calls there were."""
        return self.accepted + len(self.refusals)


def drive(name: str, source: str) -> Tally:
    """Put a document before the referee and drive its tools. Raises DocumentError."""
    started = time.monotonic()
    bridge = Bridge.open(Config(source=source))
    tally = Tally(name, tools=len(bridge.tools))
    try:
        with referee(request_side(bridge.document)) as url:
            asyncio.run(_Driver(bridge, url, tally).run())
    except NoReferee as error:
        tally.not_driven += [f"Prism did not start: {error}"] * (2 * len(bridge.tools))
    tally.seconds = time.monotonic() - started
    return tally


class _Recorder(httpx.AsyncHTTPTransport):
    """The real transport, which remembers the last exchange."""

    def __init__(self) -> None:
        super().__init__()
        self.last: httpx.Response | None = None

    def taken(self) -> httpx.Response | None:
        """The last answer, with its request."""
        return self.last

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await super().handle_async_request(request)
        content = await answer.aread()
        await answer.aclose()
        self.last = httpx.Response(answer.status_code, headers=answer.headers, content=content, request=request)
        return httpx.Response(answer.status_code, headers=answer.headers, content=content)


class _Driver:
    """The runtime in front of the referee, with a credential for every security scheme."""

    def __init__(self, bridge: Bridge, url: str, tally: Tally) -> None:
        schemes = bridge.security_schemes()
        credentials = {scheme.name: _credential(scheme) for scheme in schemes}
        config = Config(source=bridge.config.source, base_url=url, credentials=credentials)
        self._tools = bridge.tools
        self._tally = tally
        self._recorder = _Recorder()
        self._server = Server(
            Catalog(bridge.tools),
            ServerDescription(implementation=bridge.implementation),
            Upstream(transport=self._recorder),
            options=config.request_options(schemes, {}),
        )

    async def run(self) -> None:
        """Call every tool twice."""
        deadline = time.monotonic() + DOCUMENT_SECONDS
        try:
            for tool in self._tools:
                for full in (False, True):
                    if time.monotonic() < deadline:
                        await self._call(tool, full=full)
                    else:
                        self._tally.not_driven.append(f"no time left after {DOCUMENT_SECONDS} seconds")
        finally:
            await self._server.aclose()

    async def _call(self, tool: Tool, *, full: bool) -> None:
        try:
            arguments: JsonObject = sample(tool.input_schema, full=full)
        except NoSample as error:
            self._tally.not_driven.append(f"no value for {tool.name}: {error}")
            return
        self._recorder.last = None
        result = await self._server.call(tool.name, arguments)
        answer = self._recorder.taken()
        if answer is None:
            said: tuple[Reason, ...] = (Reason("NOT_SENT", (), str(result.content[0].get("text"))),)
        else:
            said = reasons(answer)
        if said:
            self._tally.refusals.append(Refusal(tool.name, arguments, answer.request if answer else None, said))
            return
        self._tally.accepted += 1
        if answer is not None and not full:
            await self._emptied(tool, answer.request)

    async def _emptied(self, tool: Tool, request: httpx.Request) -> None:
        """Send an accepted request again without the query and body that it needs; who accepts that does not look."""
        needed = any(item.required and item.location in {"query", "body"} for item in tool.arguments)
        if not needed or _has_query_secret(tool):
            return
        headers = {k: v for k, v in request.headers.items() if k not in {"content-type", "content-length"}}
        url = request.url.copy_with(query=None)
        answer = await self._recorder.handle_async_request(httpx.Request(request.method, url, headers=headers))
        self._tally.emptied += 1
        if not reasons(answer):
            self._tally.overlooked.append(tool.name)


def _has_query_secret(tool: Tool) -> bool:
    """Whether an empty query would be refused for want of a credential, which proves nothing."""
    return any(scheme.location == "query" for alternative in tool.security for scheme in alternative)


def _credential(scheme: SecurityScheme) -> str:
    return "user:password" if scheme.scheme == "basic" else "secret"
