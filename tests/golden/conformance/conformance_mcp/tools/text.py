"""Tools: text."""

from typing import Any

from ..api import BASE_URL
from ..runtime import Api, Result, Toolbox

tools = Toolbox(base_url=BASE_URL, accept="text/plain, */*;q=0.5")


@tools.get("/text")
async def test_simple_text(api: Api) -> Result[Any]:
    """Get a text

    A line of plain text.
    """
    return await api.call(test_simple_text)
