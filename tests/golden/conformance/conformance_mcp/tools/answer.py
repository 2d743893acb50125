"""See `description`."""

from ..runtime import Api, Result, Schema, Toolbox

TEST_LOGGING_TOOL_OUTPUT: Schema = {"type": "object", "properties": {"done": {"type": "string"}}}


tools = Toolbox()


@tools.get("/answer", output_schema=TEST_LOGGING_TOOL_OUTPUT)
async def test_logging_tool(api: Api) -> Result:
    """Get an answer

    An answer that nothing needs to be logged for.
    """
    return await api.call(test_logging_tool)
