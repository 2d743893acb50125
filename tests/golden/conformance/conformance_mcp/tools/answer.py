"""Tools: answer."""

from typing import NotRequired, TypedDict

from ..api import BASE_URL
from ..runtime import Api, Result, Schema, Toolbox

TEST_LOGGING_TOOL_OUTPUT: Schema = {"type": "object", "properties": {"done": {"type": "string"}}}


class TestLoggingToolOutput(TypedDict):
    done: NotRequired[str]


tools = Toolbox(base_url=BASE_URL)


@tools.get("/answer", output_schema=TEST_LOGGING_TOOL_OUTPUT)
async def test_logging_tool(api: Api) -> Result[TestLoggingToolOutput]:
    """Get an answer

    An answer that nothing needs to be logged for.
    """
    return await api.call(test_logging_tool)
