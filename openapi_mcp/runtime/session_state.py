"""`SessionState`: values that modules keep for a session while it lasts. Transports make it, and drop it at its end.

Over stdio a session lasts as long as the connection. Requests without a session over HTTP have one state together, or
one for each subject where access tokens name their subjects.
"""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

STATE_FILES: Final = ".state-"
"""The first characters of the names of files for the states of sessions."""


@dataclass(slots=True, eq=False)
class SessionState:
    """The values of one session in this process, by the names of the modules that keep them.

    `file` is the path of a file for values that all processes share which answer requests of the session, None where
    there is one process. Files whose names begin with this one are removed with the session.

    `is_session` is false for the state of all requests without a session, whose clients cannot be told apart.
    """

    is_session: bool = True
    file: Path | None = None
    values: dict[str, Any] = field(default_factory=dict)


SESSION_STATE: Final[ContextVar[Callable[[], SessionState] | None]] = ContextVar("session_state", default=None)
"""Returns the state of the session whose request is being served; None outside of a transport."""
