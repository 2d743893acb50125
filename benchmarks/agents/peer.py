"""Serve the same document and API with FastMCP on stdio, in an environment of its own.

PYTHON peer.py API DOCUMENT all|search|code, with the key of the API in API_PETSTORE_SHOPKEY.
"""

import json
import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_CLIENT = "httpx2" if find_spec("httpx2") else "httpx"  # what this FastMCP itself depends on


def main() -> None:
    """Serve until the process ends."""
    api, document, mode = sys.argv[1:]
    fastmcp: Any = import_module("fastmcp")
    headers = {"X-API-Key": os.environ["API_PETSTORE_SHOPKEY"]}
    client = import_module(_CLIENT).AsyncClient(base_url=api, headers=headers)
    server = fastmcp.FastMCP.from_openapi(openapi_spec=json.loads(Path(document).read_text()), client=client)
    if mode == "search":
        server.add_transform(import_module("fastmcp.server.transforms.search").BM25SearchTransform())
    elif mode == "code":
        server.add_transform(import_module("fastmcp.experimental.transforms.code_mode").CodeMode())
    server.run(transport="stdio", show_banner=False, log_level="error")


if __name__ == "__main__":
    main()
