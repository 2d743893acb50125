"""See `description`."""

from ..runtime import Api, Result, Toolbox

tools = Toolbox(accept="application/pdf, */*;q=0.5")


@tools.get("/paper")
async def test_embedded_resource(api: Api) -> Result:
    """Get a document

    A PDF document without pages, which is neither text nor picture nor sound.
    """
    return await api.call(test_embedded_resource)
