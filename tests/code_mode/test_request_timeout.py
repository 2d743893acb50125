"""The time that a client may wait (`--request-timeout`) holds for programs that compute, sleep, print or call."""

import asyncio
import time

import httpx
import pytest

from openapi_mcp.code_mode.limits import CodeLimits
from openapi_mcp.code_mode.tools import code_catalog
from openapi_mcp.runtime.http.app import create_app
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.upstream.client import Upstream
from tests.runtime.pets import DESCRIPTION, TOOLS
from tests.runtime.wire import ENVELOPE, call

pytestmark = pytest.mark.process

SECONDS = 0.5
HEADERS = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "run_code",
}
PROGRAMS = {
    "computing": "while True:\n    pass",
    "one long step": "sum(range(10**10))",
    "printing": "while True:\n    print('x' * 1000)",
    "sleeping": "import asyncio\nawait asyncio.sleep(12)",
    "calling": "listPets()",
    "calling at once": "import asyncio\nawait asyncio.gather(*[listPets() for _ in range(20)])",
}


async def never(_: httpx.Request) -> httpx.Response:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_request_timeout_holds_for_programs(program: str) -> None:
    async def answer() -> httpx.Response:
        limits = CodeLimits(seconds=15.0, compute_seconds=15.0)
        upstream = Upstream(transport=httpx.MockTransport(never))
        options = RequestOptions(base_url="http://api.test")
        server = Server(code_catalog(TOOLS, limits=limits), DESCRIPTION, upstream, options=options)
        app = create_app(server, request_timeout=SECONDS)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return await client.post("/mcp", json=call(1, "run_code", {"code": program}, **ENVELOPE), headers=HEADERS)

    start = time.monotonic()
    response = asyncio.run(answer())
    assert "The call took longer than 0.5 seconds and was stopped." in response.text
    assert time.monotonic() - start < 10
