"""Tools: changes."""

from typing import NotRequired, TypedDict

from ..api import BASE_URL
from ..runtime import Api, Result, Schema, Toolbox

TEST_TRIGGER_TOOL_CHANGE_OUTPUT: Schema = {"type": "object", "properties": {"done": {"type": "string"}}}


class TestTriggerToolChangeOutput(TypedDict):
    done: NotRequired[str]


tools = Toolbox(base_url=BASE_URL)


@tools.post("/changes", output_schema=TEST_TRIGGER_TOOL_CHANGE_OUTPUT)
async def test_trigger_tool_change(api: Api) -> Result[TestTriggerToolChangeOutput]:
    """Change this document

    Adds an operation to this document, or takes it out again. A server that watches it notices.
    """
    return await api.call(test_trigger_tool_change)
