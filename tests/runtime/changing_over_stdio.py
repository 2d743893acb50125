"""Pet tools that change, over stdio: `python -m tests.runtime.changing_over_stdio BASE_URL`.

Once the pets are listed there is no song any more; once one pet is asked for, there will be no more changes.
"""

import asyncio
import sys
from dataclasses import replace

import httpx

from openapi_mcp.runtime import stdio
from openapi_mcp.runtime.catalog import Catalog
from openapi_mcp.runtime.live import Live
from openapi_mcp.runtime.models import Tool
from openapi_mcp.runtime.requests import RequestOptions
from openapi_mcp.runtime.server import Server
from openapi_mcp.runtime.upstream import Upstream
from tests.runtime.pets import DESCRIPTION, GET_PET, LIST_PETS, SING


async def main(base_url: str) -> None:
    def server(*tools: Tool) -> Server:
        return Server(
            Catalog(tools),
            replace(DESCRIPTION, list_changed=True),
            Upstream(),
            options=RequestOptions(base_url=base_url),
            observer=observe,
        )

    def observe(tool: Tool, _request: httpx.Request, _response: httpx.Response) -> None:
        if tool is LIST_PETS:
            live.replace(server(GET_PET, LIST_PETS))
        elif tool is GET_PET:
            live.changes.end()

    live = Live(server(GET_PET, LIST_PETS, SING))
    await stdio.serve(live)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
