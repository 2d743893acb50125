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
        name="swagger-petstore",
        version="1.0.0",
        title="Swagger Petstore",
        description=(
            "This is a sample server Petstore server. You can find out more about Swagger at "
            "[http://swagger.io](http://swagger.io) or on [irc.freenode.net, #swagger](http://swagger.io/irc/). …"
        ),
        website_url="http://swagger.io",
    ),
    instructions=(
        "Swagger Petstore: This is a sample server Petstore server. You can find out more about Swagger at "
        "[http://swagger.io](http://swagger.io) or on [irc.freenode.net, #swagger](http://swagger.io/irc/). …\n20 "
        "tools; groups: pet (8), user (8), store (4).\n8 only read; 12 change data, 5 of these replace or "
        "delete.\n\nThis is a sample server Petstore server.  You can find out more about Swagger at "
        "[http://swagger.io](http://swagger.io) or on [irc.freenode.net, #swagger](http://swagger.io/irc/).  For this "
        "sample, you can use the api key `special-key` to test the authorization filters.\n\nFind out more about "
        "Swagger: http://swagger.io\nTerms of service: http://swagger.io/terms/\nContact: apiteam@swagger.io"
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
