"""The arguments of a call: checked against the tool's inputSchema, coerced where that is safe, else explained."""

from .checking import check, check_aside, prepare, prepare_aside
from .spelling import near_name

__all__ = ["check", "check_aside", "near_name", "prepare", "prepare_aside"]
