"""Tools: sound."""

from typing import Any

from ..api import BASE_URL
from ..runtime import Api, Result, Toolbox

tools = Toolbox(base_url=BASE_URL, accept="audio/wav, */*;q=0.5")


@tools.get("/sound")
async def test_audio_content(api: Api) -> Result[Any]:
    """Get a sound

    A moment of silence.
    """
    return await api.call(test_audio_content)
