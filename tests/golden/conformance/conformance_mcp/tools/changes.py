"""See `description`."""

from ..runtime import Api, Result, Schema, Toolbox

TEST_TRIGGER_TOOL_CHANGE_OUTPUT: Schema = {"type": "object", "properties": {"done": {"type": "string"}}}


tools = Toolbox()


@tools.post("/changes", output_schema=TEST_TRIGGER_TOOL_CHANGE_OUTPUT)
async def test_trigger_tool_change(api: Api) -> Result:
    """Change this document

    Adds an operation to this document, or takes it out again. A server that watches it notices.
    """
    return await api.call(test_trigger_tool_change)
