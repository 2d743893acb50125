"""The MCP server: the tools of this package in front of the API."""

import os
from collections.abc import Mapping

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
        name="conformance",
        version="1.0.0",
        title="Conformance",
        description=(
            "One operation for each thing that MCP can say, as its official conformance suite asks for them by name."
        ),
        website_url="https://github.com/modelcontextprotocol/conformance",
    ),
    instructions=(
        "Conformance: One operation for each thing that MCP can say, as its official conformance suite asks for them "
        "by name.\n13 tools; groups: answer (1), busy (1), changes (1), failure (1), mixture (1), paper (1), people "
        "(1), picture (1), sound (1), steps (1), stream (1), tenants (1), text (1).\n11 only read; 2 change "
        "data.\n\nThe answers are what the suite looks for: text, a picture, a sound, a document, all of them "
        "together, an error, an\nanswer that comes bit by bit. Nothing here is made for the bridge: every operation is "
        "plain HTTP, answered by\n`tests/conformance/backend.py`.\n\nThe suite: "
        "https://github.com/modelcontextprotocol/conformance"
    ),
)


def credentials(
    configured: Mapping[str, str] | None = None, environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return the credentials by the names of their security schemes: configured ones, others from the environment.

    A configured `env:NAME` is read from that variable. Raises RequestError where it is not set.
    """
    return read_credentials((), configured or {}, environment)


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
