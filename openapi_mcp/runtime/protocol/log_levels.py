"""The levels of log messages, lowest first; only the order of this table says what is above what.

Specification: server/utilities/logging of 2024-11-05 to 2025-11-25, whose levels are those of RFC 5424 §6.2.1.
"""

from typing import Any, Final, Literal, TypeAlias, get_args

LogLevel: TypeAlias = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

LEVELS: Final[tuple[LogLevel, ...]] = get_args(LogLevel)

UNASKED: Final[LogLevel] = "warning"
"""The least that a client hears which never asked: what went wrong, and nothing of what went as it should."""


def read(value: Any) -> LogLevel | None:
    """A level by its name, None for what is none."""
    return next((level for level in LEVELS if level == value), None)


def is_wanted(level: LogLevel, wanted: LogLevel | None) -> bool:
    """Whether a message of this level reaches a client that asked for `wanted` and above, or for nothing."""
    return LEVELS.index(level) >= LEVELS.index(wanted or UNASKED)
