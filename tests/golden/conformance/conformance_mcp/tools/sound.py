"""See `description`."""

from ..runtime import Api, Result, Toolbox

tools = Toolbox(accept="audio/wav, */*;q=0.5")


@tools.get("/sound")
async def test_audio_content(api: Api) -> Result:
    """Get a sound

    A moment of silence.
    """
    return await api.call(test_audio_content)
