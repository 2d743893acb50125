"""An API with lists in pages, told in every way, and a server in front of it without sockets."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from openapi_mcp import Bridge, Config
from openapi_mcp.answers.shaper import AnswerShaper
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.calls import Calls
from openapi_mcp.runtime.server.hooks import Limiter
from openapi_mcp.runtime.types import CallToolResult
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.runtime.upstream.events import NO_EVENTS, CallEvents

ITEMS = [{"id": number, "name": f"n{number}", "owner": {"login": "ada"}, "text": "x" * 90} for number in range(25)]
HOST = "http://api.test/v1"


def parameters(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "in": "query", "schema": {"type": "integer"}} for name in names]


def operation(name: str, *arguments: str, schema: Any = None, **fields: Any) -> dict[str, Any]:
    content = {"application/json": {"schema": schema or {}}}
    responses = {"200": {"description": "", "content": content}}
    return {"operationId": name, "parameters": parameters(*arguments), "responses": responses, **fields}


ITEM = {"type": "object", "properties": {f"property_{number}": {"type": "string"} for number in range(12)}}
LIST = {"type": "array", "items": ITEM}

DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Lists", "version": "1"},
    "servers": [{"url": HOST}],
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "query", "name": "key"}}},
    "security": [{"key": []}],
    "paths": {
        "/items": {"get": operation("list_items", "page", "per_page", schema=LIST), "post": operation("add_item")},
        "/items/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "get": operation("get_item", schema=ITEM),
        },
        "/cursors": {"get": operation("list_cursors", "cursor", schema={"type": "object"})},
        "/marks": {"get": operation("list_marks")},
        "/chain": {"get": operation("list_chain")},
        "/elsewhere": {"get": operation("list_elsewhere", "select", "pages")},
        "/broken": {"get": operation("list_broken", "page")},
    },
}


@dataclass
class ListApi:
    """The API; `requests` are those that it got, `served` makes a server's calls of it."""

    requests: list[httpx.Request] = field(default_factory=list)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        name = request.url.path.removeprefix("/v1/").partition("/")[0]
        query = dict(request.url.params)
        made: Callable[[httpx.Request, Mapping[str, str]], httpx.Response] = getattr(self, name)
        return made(request, query)

    @property
    def sent(self) -> list[str]:
        """Path and query of each request, without the key that each has."""
        texts = [str(request.url).removeprefix(HOST) for request in self.requests]
        assert all("key=s3cret" in text for text in texts)
        return [text.replace("&key=s3cret", "").replace("?key=s3cret", "") for text in texts]

    @staticmethod
    def items(request: httpx.Request, query: Mapping[str, str]) -> httpx.Response:
        if request.method == "POST" or request.url.path != "/v1/items":
            return httpx.Response(200, json={**ITEMS[0], "secret": "kept"})
        number, size = int(query.get("page", 1)), int(query.get("per_page", 10))
        more = {"Link": f'<{HOST}/items?page={number + 1}>; rel="next"'} if number * size < len(ITEMS) else {}
        return httpx.Response(200, json=ITEMS[(number - 1) * size : number * size], headers=more)

    @staticmethod
    def cursors(_: httpx.Request, query: Mapping[str, str]) -> httpx.Response:
        start = int(query.get("cursor", 0))
        following = start + 10 if start + 10 < len(ITEMS) else None
        return httpx.Response(200, json={"data": ITEMS[start : start + 10], "next_cursor": following})

    @staticmethod
    def marks(_: httpx.Request, query: Mapping[str, str]) -> httpx.Response:
        start = int(query.get("mark", 0))
        following = f"?mark={start + 10}&tag=a&tag=b" if start + 10 < len(ITEMS) else None
        return httpx.Response(200, json={"data": ITEMS[start : start + 10], "next": following})

    @staticmethod
    def chain(request: httpx.Request, _: Mapping[str, str]) -> httpx.Response:
        start = int(request.url.path.rpartition("/")[2].removeprefix("chain") or 0)
        following = f"/v1/chain/{start + 10}" if start + 10 < len(ITEMS) else None
        return httpx.Response(200, json={"data": ITEMS[start : start + 10], "next_page_url": following})

    @staticmethod
    def elsewhere(*_: object) -> httpx.Response:
        return httpx.Response(200, json={"data": ITEMS[:1], "next": "https://evil.test/v1/elsewhere?mark=1"})

    @staticmethod
    def broken(_: httpx.Request, query: Mapping[str, str]) -> httpx.Response:
        number = int(query.get("page", 1))
        if number == 3:
            return httpx.Response(500, json={"detail": "broken"})
        return httpx.Response(200, json=[{"id": number}])

    def bridge(self, folder: Path, **options: Any) -> Bridge:
        """Open the document of the API."""
        (folder / "lists.json").write_text(json.dumps(DOCUMENT))
        return Bridge.open(Config.from_options(str(folder / "lists.json"), {"no_cache": True, **options}))

    def call(
        self,
        bridge: Bridge,
        name: str,
        /,
        _limiter: Limiter | None = None,
        _events: CallEvents = NO_EVENTS,
        _upstream: Mapping[str, Any] | None = None,
        _max_result_bytes: int = 80_000,
        **arguments: Any,
    ) -> CallToolResult:
        """Return the result of a call, as the server of a bridge makes it."""

        async def ask() -> CallToolResult:
            transport = httpx.MockTransport(self.answer)
            calls = Calls(
                Upstream(transport=transport, **(_upstream or {})),
                RequestOptions(credentials={"key": "s3cret"}),
                max_result_bytes=_max_result_bytes,
                limiter=_limiter,
                shaper=AnswerShaper(),
            )
            tool = bridge.catalog.get(name)
            assert tool is not None
            return await calls.call(tool, arguments, events=_events)

        return asyncio.run(ask())
