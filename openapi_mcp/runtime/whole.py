"""`Whole`: an answer of the API that came at once, body and all, as it is; what reading one takes is done already.

httpx reads every body as a stream of pieces that may have to be decoded, which costs more than most bodies are worth.
"""

from typing import Any

import httpx


class Whole(httpx.Response):
    """An answer with its body, which is not encoded. `content_type` is its header, empty where there is none."""

    def __init__(
        self,
        status: int,
        headers: list[tuple[bytes, bytes]],
        body: bytes,
        *,
        content_type: str,
        extensions: dict[str, Any],
    ) -> None:
        super().__init__(status, headers=headers, stream=httpx.ByteStream(body), extensions=extensions)
        self.content_type = content_type
        self._body = body

    @property
    def content(self) -> bytes:
        """The body."""
        return self._body

    def read(self) -> bytes:
        """The body."""
        return self._body

    async def aread(self) -> bytes:
        """The body."""
        return self._body

    async def aclose(self) -> None:
        """There is nothing to close."""


def content_type(response: httpx.Response) -> str:
    """The header of any answer, empty where there is none."""
    return response.content_type if isinstance(response, Whole) else response.headers.get("content-type", "")
