"""The pet tools over the stdio of a process of their own: `python -m tests.runtime.pets_over_stdio BASE_URL`."""

import asyncio
import logging
import sys

from openapi_mcp.runtime import stdio
from tests.runtime.pets import pet_server


async def main(base_url: str) -> None:
    # What anything prints while MCP is served must not reach the client.
    asyncio.get_running_loop().call_soon(print, "A stray print.")
    await stdio.serve(pet_server(base_url))


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr)
    asyncio.run(main(sys.argv[1]))
