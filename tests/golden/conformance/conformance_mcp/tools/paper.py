"""Tools: paper."""

from typing import Any

from ..api import BASE_URL
from ..runtime import Api, Result, Toolbox

tools = Toolbox(base_url=BASE_URL, accept="application/pdf, */*;q=0.5")


@tools.get("/paper")
async def test_embedded_resource(api: Api) -> Result[Any]:
    """Get a document

    A PDF document without pages, which is neither text nor picture nor sound.
    """
    return await api.call(test_embedded_resource)
