"""Tools: busy."""

from typing import NotRequired, TypedDict

from ..api import BASE_URL
from ..runtime import Api, Result, Schema, Toolbox

TEST_TOOL_WITH_LOGGING_OUTPUT: Schema = {"type": "object", "properties": {"done": {"type": "string"}}}


class TestToolWithLoggingOutput(TypedDict):
    done: NotRequired[str]


tools = Toolbox(base_url=BASE_URL)


@tools.get("/busy", output_schema=TEST_TOOL_WITH_LOGGING_OUTPUT)
async def test_tool_with_logging(api: Api) -> Result[TestToolWithLoggingOutput]:
    """Get through to a busy service

    Refused twice with a request to come back at once, then answered.
    """
    return await api.call(test_tool_with_logging)
