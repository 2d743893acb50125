"""The MCP server: the tools of this package in front of the API."""

import os
from collections.abc import Mapping

from .api import SECURITY_SCHEMES
from .runtime import Catalog, Implementation, RequestOptions, Server, ServerDescription, Upstream
from .tools import FUNCTIONS

DESCRIPTION = ServerDescription(
    implementation=Implementation(
        name="town-library",
        version="2026.1",
        title="Town Library",
        description="Books, readers and loans of a small library.",
    ),
    instructions="Town Library\n\nBooks, readers and loans of a small library.",
)


def credentials(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The credentials that are in the environment, by the names of their security schemes."""
    found = {scheme.name: environment.get(scheme.variable, "") for scheme in SECURITY_SCHEMES}
    return {name: secret for name, secret in found.items() if secret}


def create_server(
    *,
    options: RequestOptions | None = None,
    upstream: Upstream | None = None,
    max_result_bytes: int = 256 * 1024,
) -> Server:
    """A server of all tools, not yet on any transport. `options` say how requests are made, `upstream` makes them."""
    return Server(
        Catalog(function.tool for function in FUNCTIONS),
        DESCRIPTION,
        upstream or Upstream(),
        options=options or RequestOptions(credentials=credentials()),
        max_result_bytes=max_result_bytes,
        functions={function.tool.name: function for function in FUNCTIONS},
    )
