"""What a tool costs a model that is told about it: an estimate, with one stated method, wherever tokens are shown."""

import json
import math
from collections.abc import Iterable
from typing import Final

from .economy import BYTES_PER_TOKEN
from .runtime.protocol import STATELESS
from .runtime.types import ToolDescription

_NEWEST: Final = list(STATELESS.values())[-1]


def tokens(tool: ToolDescription) -> int:
    """Tokens of the tool's entry in the newest tools/list: bytes of its compact JSON divided by four, rounded up."""
    return of_bytes(size(tool))


def size(tool: ToolDescription) -> int:
    """Bytes of the tool's entry in the newest tools/list."""
    entry = json.dumps(_NEWEST.tool(tool), ensure_ascii=False, separators=(",", ":"))
    return len(entry) if entry.isascii() else len(entry.encode(errors="replace"))


def of_bytes(count: int) -> int:
    """So many bytes in tokens."""
    return math.ceil(count / BYTES_PER_TOKEN)


def total(sizes: Iterable[int]) -> int:
    """Tokens of tools of these sizes."""
    return sum(map(of_bytes, sizes))
