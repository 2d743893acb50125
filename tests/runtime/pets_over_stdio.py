"""The pet tools over stdio: `python -m tests.runtime.pets_over_stdio BASE_URL`."""

import asyncio
import logging
import sys

from openapi_mcp.runtime import stdio
from tests.runtime.pets import pet_server


async def main(base_url: str) -> None:
    # Text that is printed while MCP is served must not reach the client.
    asyncio.get_running_loop().call_soon(print, "A stray print.")
    await stdio.serve(pet_server(base_url))


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr)
    asyncio.run(main(sys.argv[1]))
