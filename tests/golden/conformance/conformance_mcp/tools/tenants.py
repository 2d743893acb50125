"""Tools: tenants."""

from ..api import BASE_URL
from ..runtime import Api, Result, Schema, Toolbox, path

TEST_CUSTOM_HEADER_OUTPUT: Schema = {"type": "array", "items": {"type": "string"}}


tools = Toolbox(base_url=BASE_URL)


@tools.get(
    "/tenants/{tenant}/orders",
    inputs=[path("tenant", {"type": "string", "x-mcp-header": "Tenant", "description": "Whose orders."})],
    output_schema=TEST_CUSTOM_HEADER_OUTPUT,
)
async def test_custom_header(api: Api, *, tenant: str) -> Result[list[str]]:
    """List a tenant's orders

    The tenant stands in a header too, so that whatever is in between can tell where the request belongs.
    """
    return await api.call(test_custom_header, tenant=tenant)
