"""An API of pets behind a server in code mode, for tests of programs."""

import asyncio
import re
from typing import Any

import httpx

from openapi_mcp.code_mode.limits import DEFAULT_LIMITS, CodeLimits
from openapi_mcp.code_mode.tools import code_catalog
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.types import CallToolResult
from openapi_mcp.runtime.upstream.client import Upstream
from tests.runtime.making import tool
from tests.runtime.pets import DESCRIPTION, TOOLS

CALLS = re.compile(r"\n?\d+ calls? made: .*$", re.DOTALL)
"""The list of calls at the end of a result."""


class Api:
    """An API of pets, a server in code mode for it, and the requests that the API received."""

    def __init__(self, *tools: Tool, limits: CodeLimits = DEFAULT_LIMITS, **server: Any) -> None:
        self.requests: list[httpx.Request] = []
        self.server = Server(
            code_catalog(tools or TOOLS, limits=limits),
            DESCRIPTION,
            Upstream(transport=httpx.MockTransport(self.respond)),
            options=RequestOptions(base_url="http://api.test"),
            **server,
        )

    def respond(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.url.path == "/pets":
            return httpx.Response(200, json=[{"id": number, "name": f"pet {number}"} for number in range(3)])
        if request.url.path.endswith("/404"):
            return httpx.Response(404, json={"detail": "no such pet"})
        if request.url.path == "/text":
            return httpx.Response(200, text="just text")
        if request.url.path == "/bytes":
            return httpx.Response(200, content=b"\x89PNG", headers={"content-type": "image/png"})
        if request.url.path == "/large":
            return httpx.Response(200, json=["x" * 1000] * 1000)
        if request.url.path == "/huge":
            return httpx.Response(200, json=["x" * 1000] * 5000)
        return httpx.Response(200, json={"id": request.url.path, "unknown": True})

    def call(self, name: str, /, **arguments: Any) -> CallToolResult:
        return asyncio.run(self.server.call(name, arguments))

    def run(self, code: str) -> list[str]:
        """Run a program and return the texts of its result, without the list of its calls."""
        texts = self.texts(code)
        return [*texts[:-1], *filter(None, [CALLS.sub("", texts[-1]) if len(texts) > 1 else texts[-1]])]

    def texts(self, code: str) -> list[str]:
        """Run a program and return the texts of its result."""
        result = self.call("run_code", code=code)
        assert not result.is_error, result.content
        return [block["text"] for block in result.content]

    def error(self, code: str) -> str:
        result = self.call("run_code", code=code)
        assert result.is_error
        [block] = result.content
        text: str = block["text"]
        return text


def more(name: str, path: str = "") -> Tool:
    return tool(path or f"/{name}", name=name)
