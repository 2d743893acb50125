"""A call from the page: the request of a dry run, and both sides of a call: the API's answer and the model's result.

The page is a client of the server in the same process: its calls pass the same checks, limits, logs and audit as all.
"""

import asyncio
import json
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakValueDictionary

import httpx

from ..bridge import Bridge
from ..errors import BridgeError
from ..runtime import media_types
from ..runtime.protocol import Session
from ..runtime.request.redaction import is_secret_header
from ..runtime.result.sanitizer import Sanitizer, secrets_of
from ..runtime.server.grants import GRANT, Grant
from ..runtime.tool import Tool
from ..runtime.types import JsonObject
from ..runtime.upstream.shares import CALLER, Caller
from ..telemetry.call_log import size
from ..telemetry.feed import Exchange, exchanges
from ..token_budget import tokens_of_bytes
from .source import PageSource

CALLER_NAME: Final = "page"
"""The caller of these calls in logs and limits, where the page has no door at which people show who they are."""

MAX_SHOWN: Final = 40_000
"""Characters of a text that are shown: some hundred lines more than anybody reads on a page."""

MAX_CALLS: Final = 8
"""Calls of one person at once, who makes one at a time."""

MAX_ALL_CALLS: Final = 64
"""Calls of the page at once: a fifth of what the endpoint makes."""

_IMAGES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")
_OF_THE_CONNECTION: Final = ("host", "content-length", "connection", "accept-encoding", "user-agent")
"""Headers that curl writes itself."""


@dataclass(frozen=True, slots=True)
class DryRun:
    """The request that a call would send, as text and for curl, and its deviations; or the reason why there is none."""

    http: str = ""
    curl: str = ""
    deviations: Sequence[str] = ()
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The API's answer: status line, headers, body as text, and its size."""

    status: int
    reason: str
    headers: Sequence[tuple[str, str]]
    body: str
    size: str
    cut: int


@dataclass(frozen=True, slots=True)
class Block:
    """A content block of a result: its type, its text, or the data URL of an image."""

    kind: str
    text: str = ""
    image: str = ""


@dataclass(frozen=True, slots=True)
class CallView:
    """A finished call: the request, what the API answered, and what the model gets."""

    is_error: bool
    blocks: Sequence[Block]
    structured: str
    tokens: int
    structured_tokens: int
    milliseconds: int
    answers: Sequence[Answer]
    request: DryRun


def dry_run(source: PageSource, bridge: Bridge, tool: Tool, arguments: Mapping[str, Any]) -> DryRun:
    """Return the request of a call, without its secrets."""
    try:
        request, deviations = source.request(bridge, tool, arguments)
    except BridgeError as error:
        return DryRun(refusal=source.redact(error.message))
    return DryRun(source.http_text(request).rstrip("\n"), curl(request), deviations)


def curl(request: httpx.Request) -> str:
    """Return the command of curl for a request."""
    words = [["curl"] + ([] if request.method == "GET" else ["-X", request.method]), [str(request.url)]]
    words[-1][0] = words[-1][0].replace("%2A%2A%2A", "***")
    for name, value in request.headers.items():
        if name.lower() not in _OF_THE_CONNECTION:
            words.append(["-H", f"{name}: {value}"])
    body = request.read()
    if body:
        try:
            words.append(["--data-binary", body.decode().replace("%2A%2A%2A", "***")])
        except UnicodeDecodeError:
            words.append(["--data-binary", "@body.bin"])
    return " \\\n  ".join(shlex.join(each) for each in words)


class PageCalls:
    """The maker of the page's calls."""

    def __init__(self, source: PageSource) -> None:
        self._source = source
        self._places = asyncio.Semaphore(MAX_ALL_CALLS)
        self._of_callers: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def call(self, bridge: Bridge, tool: Tool, name: str, arguments: JsonObject) -> CallView:
        """Make a call that the user has agreed to, by the name that clients use, and return both sides of it."""
        request = dry_run(self._source, bridge, tool, arguments)
        CALLER.set(Caller(client=_caller()))
        own = self._of_callers.setdefault(_caller(), asyncio.Semaphore(MAX_CALLS))
        async with own, self._places:
            start = time.perf_counter()
            with exchanges() as noted:
                reply = await self._reply(name, arguments)
            seconds = time.perf_counter() - start
        return await asyncio.to_thread(_view, bridge, reply, noted, request, seconds)

    async def _reply(self, name: str, arguments: JsonObject) -> JsonObject:
        """Return the reply of the server to `tools/call`; a question for consent is answered, since the page asked."""
        params: JsonObject = {"name": name, "arguments": arguments, "_meta": _META}
        reply = await self._perform(params)
        result = reply.get("result", {})
        if result.get("resultType") == "input_required":
            answers = {key: {"action": "accept", "content": _agreement(each)} for key, each in _requests(result)}
            reply = await self._perform(
                {**params, "inputResponses": answers, "requestState": result.get("requestState")}
            )
        return reply

    async def _perform(self, params: JsonObject) -> JsonObject:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        live = self._source.live
        reply = await live.perform(live.receive(message, Session()), None, _caller())
        decoded: JsonObject = json.loads(reply.body or b"{}")
        return decoded


def named(grant: Grant) -> str:
    """Return the caller of a person's calls, which is that of their other clients."""
    return f"subject {grant.subject}"


def _caller() -> str:
    grant = GRANT.get()
    return CALLER_NAME if grant is None else named(grant)


_META: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "openapi-mcp page", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}


def _requests(result: JsonObject) -> list[tuple[str, JsonObject]]:
    requests = result.get("inputRequests")
    return list(requests.items()) if isinstance(requests, dict) else []


def _agreement(request: JsonObject) -> JsonObject:
    """Return the content that agrees: true for each question of yes or no."""
    schema = request.get("params", {}).get("requestedSchema", {})
    return {name: True for name, each in schema.get("properties", {}).items() if each.get("type") == "boolean"}


def _view(bridge: Bridge, reply: JsonObject, noted: Sequence[Exchange], request: DryRun, seconds: float) -> CallView:
    result = reply.get("result")
    if not isinstance(result, dict):
        result = {
            "content": [{"type": "text", "text": str(reply.get("error", {}).get("message", ""))}],
            "isError": True,
        }
    blocks = [_block(each) for each in result.get("content", ())]
    structured = result.get("structuredContent")
    text = "" if structured is None else json.dumps(structured, indent=2, ensure_ascii=False)
    return CallView(
        is_error=bool(result.get("isError")),
        blocks=blocks,
        structured=text[:MAX_SHOWN],
        tokens=tokens_of_bytes(sum(_bytes(each) for each in result.get("content", ()))),
        structured_tokens=0 if structured is None else tokens_of_bytes(len(json.dumps(structured))),
        milliseconds=round(seconds * 1000),
        answers=[_answer(bridge, *each) for each in noted],
        request=request,
    )


def _block(block: JsonObject) -> Block:
    if block.get("type") == "text":
        return Block("text", _pretty(str(block.get("text", "")))[:MAX_SHOWN])
    inner = block.get("resource", block)
    media_type, data = str(inner.get("mimeType", "")), inner.get("data") or inner.get("blob") or ""
    if media_type in _IMAGES and len(data) <= 4 * MAX_SHOWN * 10:
        return Block("image", image=f"data:{media_type};base64,{data}")
    about = media_type or inner.get("uri") or "unknown type"
    return Block(str(block.get("type", "")), f"{about}, about {size(len(data) * 3 // 4)}")


def _bytes(block: JsonObject) -> int:
    inner = block.get("resource", block)
    return sum(len(str(inner[name]).encode()) for name in ("text", "data", "blob") if name in inner)


def _answer(bridge: Bridge, request: httpx.Request, response: httpx.Response) -> Answer:
    """Return an answer without configured credentials, and without those that this request was sent with."""
    sent = (value for name, value in request.headers.items() if is_secret_header(name, value))
    secrets = {part for value in sent for part in (value, value.rpartition(" ")[2])}
    sanitizer = Sanitizer({*secrets_of(bridge.request_options()), *secrets})
    body = response.content
    text = _decoded(response, body)
    headers = [
        (name, "***" if is_secret_header(name, value) else sanitizer.text(value))
        for name, value in response.headers.multi_items()
    ]
    shown = sanitizer.text(text)
    return Answer(
        response.status_code,
        response.reason_phrase,
        headers,
        shown[:MAX_SHOWN],
        size(len(body)),
        max(0, len(shown) - MAX_SHOWN),
    )


def _decoded(response: httpx.Response, body: bytes) -> str:
    try:
        text = body.decode(media_types.codec(response.headers.get("content-type", "")) or "utf-8")
    except (UnicodeDecodeError, LookupError):
        return f"({size(len(body))} that are not text)" if body else ""
    return _pretty(text)


def _pretty(text: str) -> str:
    """Return a text of JSON with lines and indentation; any other text as it is."""
    if text[:1] not in "{[" or len(text) > 4 * MAX_SHOWN:
        return text
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
