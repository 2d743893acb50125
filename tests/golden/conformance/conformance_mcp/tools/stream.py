"""See `description`."""

from ..runtime import Api, Result, Toolbox

tools = Toolbox(accept="application/x-ndjson, */*;q=0.5")


@tools.get("/stream")
async def test_streaming_elicitation(api: Api) -> Result:
    """Read a stream

    Three entries of a stream. Nothing is asked of whoever reads it.
    """
    return await api.call(test_streaming_elicitation)
