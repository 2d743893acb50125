"""Tools: steps."""

from typing import Any

from ..api import BASE_URL
from ..runtime import Api, Result, Toolbox

tools = Toolbox(base_url=BASE_URL, accept="text/event-stream, */*;q=0.5")


@tools.get("/steps")
async def test_tool_with_progress(api: Api) -> Result[Any]:
    """Watch a task

    A task in five steps, each told as an event while it is done.
    """
    return await api.call(test_tool_with_progress)
