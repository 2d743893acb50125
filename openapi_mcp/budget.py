"""What a tool costs a model that is told about it: an estimate, with one stated method, wherever tokens are shown."""

import math
from collections.abc import Iterable

from .economy import BYTES_PER_TOKEN
from .runtime.catalog import size
from .runtime.types import ToolDescription

__all__ = ["of_bytes", "size", "tokens", "total"]


def tokens(tool: ToolDescription) -> int:
    """Tokens of the tool's entry in the newest tools/list: bytes of its compact JSON divided by four, rounded up."""
    return of_bytes(size(tool))


def of_bytes(count: int) -> int:
    """So many bytes in tokens."""
    return math.ceil(count / BYTES_PER_TOKEN)


def total(sizes: Iterable[int]) -> int:
    """Tokens of tools of these sizes."""
    return sum(map(of_bytes, sizes))
