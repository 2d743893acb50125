"""Call every tool of a document against the referee, through the whole runtime, and count the results.

Each tool is two calls; each call is accepted, refused, or not driven, with a reason.
"""

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.generator.samples import NoSample, sample
from openapi_mcp.runtime.protocol import ServerDescription
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import SecurityScheme, Tool
from openapi_mcp.runtime.types import JsonObject
from openapi_mcp.runtime.upstream.client import Upstream

from .referee import NoReferee, Reason, reasons, referee
from .request_side import request_side

DOCUMENT_SECONDS: Final = 300
"""Time limit for the calls of one document. GitHub's 2,446 calls take about a minute."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that was not accepted, with all reasons. `request` is None if none was sent; `path` is the template."""

    tool: str
    arguments: JsonObject
    request: httpx.Request | None
    reasons: tuple[Reason, ...]
    path: str = ""


@dataclass(slots=True)
class Tally:
    """The results of one document. `emptied` counts requests repeated without required parts: Prism should refuse them.

    `overlooked` names the tools for which it did not.
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
        """Return the number of calls."""
        return self.accepted + len(self.refusals)


def drive(name: str, source: str) -> Tally:
    """Start the referee with a document and call all its tools. Raises DocumentError."""
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


def draw(schema: JsonObject, *, full: bool) -> Any:
    """Return arguments that fit only one alternative of each union, or any if that leaves values out. Raises NoSample.

    A tool says `anyOf` where its document says `oneOf`, to which the referee holds the values.
    """
    arguments = sample(schema, full=full)
    with contextlib.suppress(NoSample):
        exclusive = sample(_exclusive(schema), full=full)
        return exclusive if _size(exclusive) >= _size(arguments) else arguments
    return arguments


def _size(value: Any) -> int:
    """Return the number of values in a value: an optional one without an exclusive alternative is left out."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_size, parts))


def _exclusive(node: Any) -> Any:
    if isinstance(node, list):
        return [_exclusive(item) for item in node]
    if not isinstance(node, dict):
        return node
    union = {"anyOf": "oneOf"} if isinstance(node.get("anyOf"), list) and "oneOf" not in node else {}
    return {union.get(key, key): _exclusive(value) for key, value in node.items()}


class _Recorder(httpx.AsyncHTTPTransport):
    """A transport that keeps the last exchange."""

    def __init__(self) -> None:
        super().__init__()
        self.last: httpx.Response | None = None

    def last_response(self) -> httpx.Response | None:
        """Return the last response, with its request."""
        return self.last

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await super().handle_async_request(request)
        content = await answer.aread()
        await answer.aclose()
        self.last = httpx.Response(answer.status_code, headers=answer.headers, content=content, request=request)
        return httpx.Response(answer.status_code, headers=answer.headers, content=content)


class _Driver:
    """A server in front of the referee, with a credential for every security scheme."""

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
            arguments: JsonObject = draw(tool.input_schema, full=full)
        except NoSample as error:
            self._tally.not_driven.append(f"no value for {tool.name}: {error}")
            return
        self._recorder.last = None
        result = await self._server.call(tool.name, arguments)
        answer = self._recorder.last_response()
        if answer is None:
            refusal_reasons: tuple[Reason, ...] = (Reason("NOT_SENT", (), str(result.content[0].get("text"))),)
        else:
            refusal_reasons = reasons(answer)
        if refusal_reasons:
            self._tally.refusals.append(
                Refusal(tool.name, arguments, answer.request if answer else None, refusal_reasons, tool.path)
            )
            return
        self._tally.accepted += 1
        if answer is not None and not full:
            await self._emptied(tool, answer.request)

    async def _emptied(self, tool: Tool, request: httpx.Request) -> None:
        """Repeat an accepted request without its required query and body, which the referee should refuse."""
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
    """Return whether the query carries a credential: then refusing an empty query proves nothing."""
    return any(scheme.location == "query" for alternative in tool.security for scheme in alternative)


def _credential(scheme: SecurityScheme) -> str:
    return "user:password" if scheme.scheme == "basic" else "secret"
