"""See `description`."""

from ..runtime import Api, Result, Toolbox

tools = Toolbox()


@tools.get("/failure")
async def test_error_handling(api: Api) -> Result:
    """Fail

    Always answered with an error.
    """
    return await api.call(test_error_handling)
