"""`SessionState`: values that modules keep for a session while it lasts. Transports make it, and drop it at its end.

Over stdio a session lasts as long as the connection. Requests without a session over HTTP have one state together, or
one for each subject where access tokens name their subjects.
"""

import secrets
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
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

    `key` signs what a client keeps for this server; all processes that answer requests of the session have the same.
    `spend` returns whether a text is spent for the first time, in any of those processes. `waiting` are the functions
    that wait for an answer of the client, by the id of the request that this server sent.
    """

    is_session: bool = True
    file: Path | None = None
    values: dict[str, Any] = field(default_factory=dict)
    key: bytes = field(default_factory=partial(secrets.token_bytes, 32), repr=False)
    spend: Callable[[str], bool] | None = None
    waiting: dict[str, Callable[[Any], None]] = field(default_factory=dict)

    def answer(self, request_id: str, result: Any) -> None:
        """Pass on the client's answer to a request; one that nothing waits for any more is ignored."""
        if (waiting := self.waiting.pop(request_id, None)) is not None:
            waiting(result)


SESSION_STATE: Final[ContextVar[Callable[[], SessionState] | None]] = ContextVar("session_state", default=None)
"""Returns the state of the session whose request is being served; None outside of a transport."""
