"""Tools: picture."""

from typing import Any

from ..api import BASE_URL
from ..runtime import Api, Result, Toolbox

tools = Toolbox(base_url=BASE_URL, accept="image/png, */*;q=0.5")


@tools.get("/picture")
async def test_image_content(api: Api) -> Result[Any]:
    """Get a picture

    A picture of one red pixel.
    """
    return await api.call(test_image_content)
