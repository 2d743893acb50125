"""What a tool costs a model that is told about it: an estimate, with one stated method, wherever tokens are shown."""

import json
import math
from typing import Final

from .runtime.protocol import STATELESS
from .runtime.types import ToolDescription

BYTES_PER_TOKEN: Final = 4
"""Tokenisers differ; for the JSON of schemas with English descriptions they lie between 3.5 and 4.5 bytes a token."""

_NEWEST: Final = list(STATELESS.values())[-1]


def tokens(tool: ToolDescription) -> int:
    """Tokens of the tool's entry in the newest tools/list: bytes of its compact JSON divided by four, rounded up."""
    entry = json.dumps(_NEWEST.tool(tool), ensure_ascii=False, separators=(",", ":"))
    return math.ceil(len(entry.encode(errors="replace")) / BYTES_PER_TOKEN)
