"""See `description`."""

from ..runtime import Api, Result, Toolbox

tools = Toolbox(accept="text/plain, */*;q=0.5")


@tools.get("/text")
async def test_simple_text(api: Api) -> Result:
    """Get a text

    A line of plain text.
    """
    return await api.call(test_simple_text)
