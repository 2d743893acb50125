"""`SessionState`: values that modules keep for a session while it lasts. Transports make it, and drop it at its end.

A request of a revision without sessions has none over HTTP; over stdio the session lasts as long as the connection.
"""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(slots=True, eq=False)
class SessionState:
    """The values of one session in this process, by the names of the modules that keep them.

    `has_siblings` is true if other processes answer requests of the session too, and know nothing of the values.
    """

    has_siblings: bool = False
    values: dict[str, Any] = field(default_factory=dict)


SESSION_STATE: Final[ContextVar[Callable[[], SessionState] | None]] = ContextVar("session_state", default=None)
"""Returns the state of the session whose request is being served; None without a session."""
