"""Probes of an API: safe operations are called, and the answers compared with the document.

Only GET and HEAD are sent, to operations whose required arguments have values that are known: examples, defaults and
choices of the document, and ids in answers to earlier probes. Each is sent once as plainly as possible and, where that
is answered, once with its optional arguments. Calls go through the runtime, with the rules of `call` for credentials,
hosts and redirects; numbers and time are bounded, and nothing is repeated.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import httpx

from ..bridge import Bridge
from ..contract.checker import Contract, Drift
from ..runtime.json_schema.examples import example_of
from ..runtime.request.build import RequestOptions
from ..runtime.result.sanitizer import secrets_of
from ..runtime.server.catalog import Catalog
from ..runtime.server.server import Server
from ..runtime.tool import Argument, Tool
from ..runtime.types import MISSING, JsonObject, Schema

MAX_PROBES: Final = 200
"""Requests of one run: most APIs have fewer safe operations; the others stand for those left out."""

MAX_SECONDS: Final = 120.0
"""Time of one run: that of MAX_PROBES answers of half a second."""

REQUEST_SECONDS: Final = 15.0
"""Time of one request. An API that takes longer for a list is judged by its other operations."""

MAX_OPTIONAL: Final = 10
"""Optional arguments that are tried together."""

MAX_KEPT_BYTES: Final = 1 << 20
"""Bytes of an answer that is read for ids and examples."""

SAFE_METHODS: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Observation:
    """A request of a tool and its answer."""

    tool: Tool
    request: httpx.Request
    response: httpx.Response

    @property
    def value(self) -> Any:
        """The JSON of the answer; None where it has none."""
        if "json" not in self.response.headers.get("content-type", "") or len(self.response.content) > MAX_KEPT_BYTES:
            return None
        try:
            return self.response.json()
        except ValueError:
            return None


@dataclass(slots=True)
class ProbeResult:
    """The exchanges of a run, the differences they show, safe operations left out with the reason, and failures."""

    exchanges: list[Observation] = field(default_factory=list)
    drifts: list[Drift] = field(default_factory=list)
    left_out: list[tuple[Tool, str]] = field(default_factory=list)
    failures: list[tuple[Tool, str]] = field(default_factory=list)
    accepted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The security schemes that the API accepts of a tool, where it refuses the first alternative of its document."""


def probe(bridge: Bridge) -> ProbeResult:
    """Call the safe operations of a bridge whose base URL is that of the API to be probed."""
    options = bridge.request_options()
    secrets = [*secrets_of(options), *options.credentials.values(), *(value for _, value in options.headers)]
    return asyncio.run(_Prober(bridge, Contract(bridge.document, secrets)).run())


class _Prober:
    """One run of probes."""

    def __init__(self, bridge: Bridge, contract: Contract) -> None:
        config = replace(
            bridge.config,
            timeout=min(bridge.config.timeout, REQUEST_SECONDS),
            total_timeout=min(bridge.config.total_timeout, REQUEST_SECONDS),
            retries=0,
            lenient=True,
            confirm="never",
            sign_in_port=None,
        )
        self._bridge = replace(bridge, config=config)
        self._contract = contract
        self._known = _KnownValues()
        self._left = MAX_PROBES
        self._last_status = 0
        self._deadline = time.monotonic() + MAX_SECONDS
        self.result = ProbeResult()

    async def run(self) -> ProbeResult:
        """Send the probes, those without required arguments first: their answers have ids for the others."""
        options = self._bridge.request_options()
        server = self._server(options)
        safe = [tool for tool in self._bridge.tools if tool.method in SAFE_METHODS and not tool.deprecated]
        try:
            for tool in sorted(safe, key=_required_count):
                await self._probe(server, tool)
        finally:
            await server.aclose()
        return self.result

    def _server(self, options: RequestOptions) -> Server:
        return Server(
            Catalog(self._bridge.tools),
            self._bridge.description(),
            self._bridge.config.upstream(self._bridge.egress),
            options=options,
            source=self._bridge.oauth_tokens(options.credentials),
            observer=self._observe,
        )

    async def _try_credentials(self, tool: Tool, arguments: JsonObject) -> None:
        """Find which alternative of a tool's security the API accepts, where it refused the first one."""
        options = self._bridge.request_options()
        for alternative in tool.security:
            names = tuple(scheme.name for scheme in alternative)
            if not names or not set(names) <= options.credentials.keys():
                continue
            only = replace(options, credentials={name: options.credentials[name] for name in names})
            server = self._server(only)
            try:
                if await self._send(server, tool, arguments):
                    self.result.accepted[tool.name] = names
                    return
            finally:
                await server.aclose()

    async def _probe(self, server: Server, tool: Tool) -> None:
        arguments, missing = self._required(tool)
        if missing:
            self.result.left_out.append((tool, f"no value is known for {', '.join(missing)}"))
        elif not await self._send(server, tool, arguments):
            if len(tool.security) > 1 and self._last_status == 401:
                await self._try_credentials(tool, arguments)
        elif more := self._optional(tool):
            await self._send(server, tool, {**more, **arguments})

    async def _send(self, server: Server, tool: Tool, arguments: JsonObject) -> bool:
        """Call a tool; return whether the API answered with a success."""
        if self._left <= 0 or time.monotonic() > self._deadline:
            self.result.left_out.append((tool, "the limit of requests or of time was reached"))
            return False
        self._left -= 1
        before, self._last_status = len(self.result.exchanges), 0
        result = await server.call(tool.name, arguments)
        if len(self.result.exchanges) == before:
            text = str(result.content[0].get("text", "no answer")) if result.content else "no answer"
            self.result.failures.append((tool, text.splitlines()[0][:300] if text else "no answer"))
            return False
        self._last_status = self.result.exchanges[-1].response.status_code
        return self._last_status < 300

    def _observe(self, tool: Tool, request: httpx.Request, response: httpx.Response) -> None:
        exchange = Observation(tool, request, response)
        self.result.exchanges.append(exchange)
        self.result.drifts += self._contract.check(tool, request, response)
        if response.status_code < 300:
            self._known.add(tool, exchange.value)

    def _required(self, tool: Tool) -> tuple[JsonObject, list[str]]:
        """Return values of the required arguments, and the names of those that have none."""
        values: JsonObject = {}
        missing = []
        for argument in tool.arguments:
            if argument.required:
                value = _documented(tool, argument)
                value = self._known.find(tool, argument) if value is MISSING else value
                if value is MISSING:
                    missing.append(argument.name)
                else:
                    values[argument.name] = value
        return values, missing

    def _optional(self, tool: Tool) -> JsonObject:
        """Return values of optional arguments of the query: known ones, else one of the documented type."""
        values: JsonObject = {}
        for argument in tool.arguments:
            if not argument.required and argument.location == "query" and len(values) < MAX_OPTIONAL:
                value = _documented(tool, argument)
                value = example_of(tool.input_schema, _schema(tool, argument)) if value is MISSING else value
                if value is not MISSING:
                    values[argument.name] = value
        return values


def _required_count(tool: Tool) -> int:
    return sum(argument.required for argument in tool.arguments)


def _schema(tool: Tool, argument: Argument) -> Schema:
    schema = tool.input_schema.get("properties", {}).get(argument.name)
    return schema if isinstance(schema, dict) else {}


def _documented(tool: Tool, argument: Argument) -> Any:
    """Return a value that the document gives for an argument; MISSING where it gives none."""
    schema = _schema(tool, argument)
    for keyword in ("examples", "enum"):
        if isinstance(schema.get(keyword), list) and schema[keyword]:
            return schema[keyword][0]
    return next((schema[keyword] for keyword in ("const", "default") if keyword in schema), MISSING)


class _KnownValues:
    """Values of earlier answers, by the path that they came from: the id of the first pet for `/pets/{petId}`."""

    def __init__(self) -> None:
        self._objects: dict[str, Mapping[str, Any]] = {}

    def add(self, tool: Tool, value: Any) -> None:
        """Remember the first object of an answer."""
        for found in _first_objects(value):
            self._objects.setdefault(tool.path.rstrip("/"), found)

    def find(self, tool: Tool, argument: Argument) -> Any:
        """Return a value for an argument of a path: one of its name, else an id, of the collection before it."""
        name = argument.wire_name or argument.name
        if argument.location != "path":
            return MISSING
        collection = tool.path.partition("{" + name + "}")[0].rstrip("/")
        known = self._objects.get(collection, {})
        names = [name, "id", "uuid", "key", "name", "slug"]
        scalars = (known.get(each) for each in names)
        return next((each for each in scalars if isinstance(each, str | int) and not isinstance(each, bool)), MISSING)


def _first_objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the first object of a list, or of a list within an object (`data`, `items`, …)."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        yield value[0]
    elif isinstance(value, dict):
        for inner in value.values():
            if isinstance(inner, list) and inner and isinstance(inner[0], dict):
                yield inner[0]
                return
