"""See `description`."""

from ..runtime import Api, Result, Toolbox

tools = Toolbox(accept="image/png, */*;q=0.5")


@tools.get("/picture")
async def test_image_content(api: Api) -> Result:
    """Get a picture

    A picture of one red pixel.
    """
    return await api.call(test_image_content)
