"""See `description`."""

from ..runtime import Api, Result, Toolbox

tools = Toolbox(accept="text/event-stream, */*;q=0.5")


@tools.get("/steps")
async def test_tool_with_progress(api: Api) -> Result:
    """Watch a task

    A task in five steps, each told as an event while it is done.
    """
    return await api.call(test_tool_with_progress)
