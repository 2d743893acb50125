"""Tools with streamed responses, and their API; over stdio: `python -m tests.runtime.news BASE_URL`."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from openapi_mcp.runtime import stdio
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.upstream.client import Upstream
from tests.runtime.pets import DESCRIPTION, NO_ARGUMENTS

STREAMS = {
    "events": ("text/event-stream", "event: news\r\ndata: {}\r\n\r\n"),
    "lines": ("application/x-ndjson", "{}\n"),
    "sequence": ("application/json-seq", "\x1e{}\n"),
}
"""The media type of each tool, and the template of its entries."""
ENTRIES = tuple(f'{{"n":{number}}}' for number in (1, 2, 3))
VALUES = [{"n": 1}, {"n": 2}, {"n": 3}]
TOOLS = tuple(
    Tool(
        name=name,
        description="The news.",
        input_schema=NO_ARGUMENTS,
        output_schema={"type": "array"},
        annotations={},
        method="GET",
        path=f"/{name}",
    )
    for name in STREAMS
)


class NewsApi:
    """An API that sends three entries, each once `proceed` allows it; `disconnected` tells if the client left early."""

    def __init__(self) -> None:
        self.may_send = [threading.Event() for _ in ENTRIES]
        self.may_end = threading.Event()
        self.disconnected = threading.Event()
        self.app = Starlette(routes=[Route("/{name}", self._stream)])

    async def _stream(self, request: Request) -> Response:
        media_type, template = STREAMS[request.path_params["name"]]
        return StreamingResponse(self._entries(template), headers={"content-type": media_type})

    async def _entries(self, template: str) -> AsyncIterator[str]:
        try:
            for allowed, entry in zip(self.may_send, ENTRIES, strict=True):
                assert await asyncio.to_thread(allowed.wait, 20), "the entry before this one was not reported"
                yield template.replace("{}", entry)
            assert await asyncio.to_thread(self.may_end.wait, 20), "the last entry was not reported"
        except asyncio.CancelledError:
            self.disconnected.set()
            raise

    def proceed(self, count: int) -> None:
        """Allow the entry with index `count`, or after the last one the end."""
        [*self.may_send, self.may_end][count].set()

    def release_all(self) -> None:
        """Allow all entries and the end."""
        for number in range(len(ENTRIES) + 1):
            self.proceed(number)


def news_server(base_url: str, upstream: Upstream | None = None, *, max_result_bytes: int = 256 * 1024) -> Server:
    """Return an MCP server of these tools over the API at `base_url`."""
    options = RequestOptions(base_url=base_url)
    upstream = upstream or Upstream()
    return Server(Catalog(TOOLS), DESCRIPTION, upstream, options=options, max_result_bytes=max_result_bytes)


if __name__ == "__main__":
    asyncio.run(stdio.serve(news_server(sys.argv[1])))
