"""See `description`."""

from ..runtime import Api, Result, Toolbox

tools = Toolbox(accept="multipart/mixed, */*;q=0.5")


@tools.get("/mixture")
async def test_multiple_content_types(api: Api) -> Result:
    """Get several things

    A text, a picture and a document in one answer.
    """
    return await api.call(test_multiple_content_types)
