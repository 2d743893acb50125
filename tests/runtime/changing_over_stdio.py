"""Pet tools that change, over stdio: `python -m tests.runtime.changing_over_stdio BASE_URL`.

A call of listPets removes the tool `sing`; a call of getPet ends the changes.
"""

import asyncio
import sys
from dataclasses import replace

import httpx

from openapi_mcp.runtime import stdio
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.reloadable import ReloadableServer
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.upstream.client import Upstream
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
            reloadable.replace(server(GET_PET, LIST_PETS))
        elif tool is GET_PET:
            reloadable.changes.end()

    reloadable = ReloadableServer(server(GET_PET, LIST_PETS, SING))
    await stdio.serve(reloadable)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
