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
        name="redocly-museum-api",
        version="1.2.1",
        title="Redocly Museum API",
        description=(
            "Imaginary, but delightful Museum API for interacting with museum services and information. Built with "
            "love by Redocly."
        ),
        website_url="https://redocly.com/docs/cli/",
    ),
    instructions=(
        "Redocly Museum API: Imaginary, but delightful Museum API for interacting with museum services and "
        "information. Built with love by Redocly.\n8 tools; groups: Events (5), Tickets (2), Operations (1).\n4 only "
        "read; 4 change data, 2 of these replace or delete.\nLists come in pages: `page` is the page's number, `limit` "
        "(at most 30) its size.\n\nTerms of service: https://redocly.com/subscription-agreement/\nContact: "
        "team@redocly.com, https://redocly.com/docs/cli/"
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
