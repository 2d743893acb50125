"""Tools: mixture."""

from typing import Any

from ..api import BASE_URL
from ..runtime import Api, Result, Toolbox

tools = Toolbox(base_url=BASE_URL, accept="multipart/mixed, */*;q=0.5")


@tools.get("/mixture")
async def test_multiple_content_types(api: Api) -> Result[Any]:
    """Get several things

    A text, a picture and a document in one answer.
    """
    return await api.call(test_multiple_content_types)
