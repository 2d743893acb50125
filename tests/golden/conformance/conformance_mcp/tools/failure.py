"""Tools: failure."""

from typing import Any

from ..api import BASE_URL
from ..runtime import Api, Result, Toolbox

tools = Toolbox(base_url=BASE_URL)


@tools.get("/failure")
async def test_error_handling(api: Api) -> Result[Any]:
    """Fail

    Always answered with an error.
    """
    return await api.call(test_error_handling)
