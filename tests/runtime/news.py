"""Tools whose answers come bit by bit, and the API behind them; over stdio: `python -m tests.runtime.news BASE_URL`."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from openapi_mcp.runtime import stdio
from openapi_mcp.runtime.catalog import Catalog
from openapi_mcp.runtime.models import Tool
from openapi_mcp.runtime.requests import RequestOptions
from openapi_mcp.runtime.server import Server
from openapi_mcp.runtime.upstream import Upstream
from tests.runtime.pets import DESCRIPTION, NO_ARGUMENTS

STREAMS = {
    "events": ("text/event-stream", "event: news\r\ndata: {}\r\n\r\n"),
    "lines": ("application/x-ndjson", "{}\n"),
    "sequence": ("application/json-seq", "\x1e{}\n"),
}
"""Each tool's media type, and how an entry is written there."""
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
    """Sends three entries, each once its turn has come; `left` tells that somebody did not stay until the end."""

    def __init__(self) -> None:
        self.turns = [threading.Event() for _ in ENTRIES]
        self.done = threading.Event()
        self.left = threading.Event()
        self.app = Starlette(routes=[Route("/{name}", self._stream)])

    async def _stream(self, request: Request) -> Response:
        media_type, written = STREAMS[request.path_params["name"]]
        return StreamingResponse(self._entries(written), headers={"content-type": media_type})

    async def _entries(self, written: str) -> AsyncIterator[str]:
        try:
            for turn, entry in zip(self.turns, ENTRIES, strict=True):
                assert await asyncio.to_thread(turn.wait, 20), "nobody saw the entry before this one"
                yield written.replace("{}", entry)
            assert await asyncio.to_thread(self.done.wait, 20), "nobody saw the last entry"
        except asyncio.CancelledError:
            self.left.set()
            raise

    def proceed(self, seen: int) -> None:
        """The next entry may come, or the end."""
        [*self.turns, self.done][seen].set()

    def let_go(self) -> None:
        """Nobody waits for anything."""
        for number in range(len(ENTRIES) + 1):
            self.proceed(number)


def news_server(base_url: str, upstream: Upstream | None = None, *, max_result_bytes: int = 256 * 1024) -> Server:
    """An MCP server of these tools over the API at `base_url`."""
    options = RequestOptions(base_url=base_url)
    upstream = upstream or Upstream()
    return Server(Catalog(TOOLS), DESCRIPTION, upstream, options=options, max_result_bytes=max_result_bytes)


if __name__ == "__main__":
    asyncio.run(stdio.serve(news_server(sys.argv[1])))
