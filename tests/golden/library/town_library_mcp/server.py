"""The MCP server: the tools of this package in front of the API."""

import os
from collections.abc import Mapping

from .api import SECURITY_SCHEMES
from .runtime import (
    Catalog,
    Implementation,
    RequestOptions,
    Server,
    ServerDescription,
    Upstream,
    read_credentials,
)
from .tools import FUNCTIONS

DESCRIPTION = ServerDescription(
    implementation=Implementation(
        name="town-library",
        version="2026.1",
        title="Town Library",
        description="Books, readers and loans of a small library.",
    ),
    instructions=(
        "Town Library: Books, readers and loans of a small library.\n8 tools; groups: catalogue (6), loans (2).\n4 "
        "only read; 4 change data, 3 of these replace or delete.\nLists come in pages: `page` is the page's number."
    ),
)


def credentials(
    configured: Mapping[str, str] | None = None, environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return the credentials by the names of their security schemes: configured ones, others from the environment.

    A configured `env:NAME` is read from that variable. Raises RequestError where it is not set.
    """
    return read_credentials(SECURITY_SCHEMES, configured or {}, environment)


def create_server(
    *,
    options: RequestOptions | None = None,
    upstream: Upstream | None = None,
    max_result_bytes: int = 80_000,
) -> Server:
    """Return a server of all tools, not yet on a transport. `options` configure requests, `upstream` sends them."""
    return Server(
        Catalog(function.tool for function in FUNCTIONS),
        DESCRIPTION,
        upstream or Upstream(),
        options=options or RequestOptions(credentials=credentials()),
        max_result_bytes=max_result_bytes,
        functions={function.tool.name: function for function in FUNCTIONS},
    )
