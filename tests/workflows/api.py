"""An API for tests of workflows that answers from a table and keeps the requests, and bridges with workflows."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.runtime.types import CallToolResult
from openapi_mcp.workflows.tools import WorkflowTool
from tests.servers import running

Answer = Callable[["Sent"], Any]
"""Makes an answer: JSON for status 200, (status, JSON), or a Response."""


class Sent:
    """A request that the API received."""

    def __init__(self, request: Request, body: bytes) -> None:
        self.method, self.path = request.method, request.url.path
        self.query = dict(parse_qsl(request.url.query))
        self.headers = dict(request.headers)
        self.parts = request.path_params
        self.raw = body

    @property
    def line(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.raw.decode()))


class TableApi:
    """An API. `table` has the answers by `METHOD /path`; `sent` are the requests so far."""

    def __init__(self) -> None:
        self.table: dict[str, Answer] = {}
        self.sent: list[Sent] = []
        self.url = ""
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        self.app = Starlette(routes=[Route("/{path:path}", self.answer, methods=methods)])

    async def answer(self, request: Request) -> Response:
        sent = Sent(request, await request.body())
        self.sent.append(sent)
        key = sent.line if sent.line in self.table else f"{sent.method} *"
        made = self.table[key](sent) if key in self.table else (404, {"error": f"no {sent.line}"})
        if isinstance(made, Response):
            return made
        status, value = made if isinstance(made, tuple) else (200, made)
        return Response(status_code=status) if value is None else JSONResponse(value, status)

    def answers(self, table: Mapping[str, Answer]) -> None:
        """Answer so from now on, and forget the requests."""
        self.table, self.sent = dict(table), []

    @property
    def lines(self) -> list[str]:
        return [each.line for each in self.sent]


@contextmanager
def serving() -> Iterator[TableApi]:
    api = TableApi()
    with running(api.app) as url:
        api.url = url
        yield api


def bridge(spec: Path | str, *workflows: Path | str, url: str | None = None, **options: Any) -> Bridge:
    """Open a bridge with workflows, whose calls go to a URL."""
    base_url = {} if url is None else {"base_url": url}
    values = {"workflow": list(map(str, workflows)), "no_cache": True, **base_url, **options}
    return Bridge.open(Config.from_options(str(spec), values))


def call(opened: Bridge, name: str, arguments: Mapping[str, Any] | None = None) -> CallToolResult:
    """Call a tool."""

    async def run() -> CallToolResult:
        server = opened.server()
        try:
            return await server.call(name, arguments or {})
        finally:
            await server.aclose()

    return asyncio.run(run())


def tools_of(opened: Bridge) -> tuple[WorkflowTool, ...]:
    """The workflows of a bridge as tools."""
    assert opened.workflows is not None
    return opened.workflows.tools


def text(result: CallToolResult) -> str:
    """The text of a result."""
    return "\n".join(block["text"] for block in result.content)


def description(*workflows: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """An Arazzo Description of some workflows; `fields` replace others of its root."""
    sources = [{"name": "api", "url": "api.yaml", "type": "openapi"}]
    info = {"title": "Test", "version": "1"}
    return {"arazzo": "1.1.0", "info": info, "sourceDescriptions": sources, "workflows": list(workflows)} | fields


def write(folder: Path, value: Any, name: str = "test.arazzo.yaml") -> Path:
    """Write a value as YAML."""
    path = folder / name
    path.write_text(yaml.safe_dump(value, sort_keys=False))
    return path
