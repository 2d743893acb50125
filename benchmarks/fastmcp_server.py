"""Serve the same document and API with FastMCP, in an environment of its own.

PYTHON fastmcp_server.py PORT|stdio API DOCUMENT
"""

import json
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_CLIENT = "httpx2" if find_spec("httpx2") else "httpx"  # what this FastMCP itself depends on


def main() -> None:
    """Serve until the process ends."""
    port, api, document = sys.argv[1:]
    fastmcp: Any = import_module("fastmcp")
    client = import_module(_CLIENT).AsyncClient(base_url=api)
    server = fastmcp.FastMCP.from_openapi(openapi_spec=json.loads(Path(document).read_text()), client=client)
    quiet = {"show_banner": False, "log_level": "error"}
    if port == "stdio":
        server.run(transport="stdio", **quiet)
    else:
        server.run(transport="http", host="127.0.0.1", port=int(port), path="/mcp", **quiet)


if __name__ == "__main__":
    main()
