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
        name="swagger-petstore-openapi-3-0",
        version="1.0.27-SNAPSHOT",
        title="Swagger Petstore - OpenAPI 3.0",
        description=(
            "This is a sample Pet Store Server based on the OpenAPI 3.0 specification. You can find out more about "
            "Swagger at [https://swagger.io](https://swagger.io). …"
        ),
        website_url="https://swagger.io",
    ),
    instructions=(
        "Swagger Petstore - OpenAPI 3.0: This is a sample Pet Store Server based on the OpenAPI 3.0 specification. You "
        "can find out more about Swagger at [https://swagger.io](https://swagger.io). …\n19 tools; groups: pet (8), "
        "user (7), store (4).\n8 only read; 11 change data, 5 of these replace or delete.\n\nThis is a sample Pet "
        "Store Server based on the OpenAPI 3.0 specification.  You can find out more about\nSwagger at "
        "[https://swagger.io](https://swagger.io). In the third iteration of the pet store, we've switched to the "
        "design first approach!\nYou can now help us improve the API whether it's by making changes to the definition "
        "itself or to the code.\nThat way, with time, we can improve the API in general, and expose some of the new "
        "features in OAS3.\n\nSome useful links:\n- [The Pet Store "
        "repository](https://github.com/swagger-api/swagger-petstore)\n- [The source API definition for the Pet "
        "Store](https://github.com/swagger-api/swagger-petstore/blob/master/src/main/resources/openapi.yaml)\n\nFind "
        "out more about Swagger: https://swagger.io\nTerms of service: https://swagger.io/terms/\nContact: "
        "apiteam@swagger.io"
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
