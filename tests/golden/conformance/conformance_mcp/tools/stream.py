"""Tools: stream."""

from typing import Any

from ..api import BASE_URL
from ..runtime import Api, Result, Toolbox

tools = Toolbox(base_url=BASE_URL, accept="application/x-ndjson, */*;q=0.5")


@tools.get("/stream")
async def test_streaming_elicitation(api: Api) -> Result[Any]:
    """Read a stream

    Three entries of a stream. Nothing is asked of whoever reads it.
    """
    return await api.call(test_streaming_elicitation)
