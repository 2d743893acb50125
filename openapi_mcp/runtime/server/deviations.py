"""Say in a result how its request deviated from the document, which `RequestOptions.lenient` allows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ..types import CallToolResult, text_content

DEVIATIONS: Final = "openapi-mcp/deviations"
"""The name in `_meta` of the sentences; the first block of the result has them too."""


def with_deviations(result: CallToolResult, sentences: Sequence[str]) -> CallToolResult:
    """Return a result that begins with these sentences, followed by those that it has already."""
    earlier = result.meta.get(DEVIATIONS, [])
    listed = [*sentences, *earlier]
    note = text_content("\n".join(["The request was sent although it does not fit the document (lenient):", *listed]))
    blocks = result.content[1:] if earlier else result.content
    return replace(result, content=(note, *blocks), meta={**result.meta, DEVIATIONS: listed})
