"""`Reception`: whose session a request belongs to, and what its message means for that session.

Joins `sessions` (what an id says) and `ledger` (what happened since). Only messages of the handshake era get here with
a session. Specification: basic/transports, "Session Management"; basic/utilities/cancellation.
"""

from functools import partial
from typing import Final

from .door import Headers
from .ledger import Follow, Ledger
from .protocol import Cancellation, Session, Step, ToolCall
from .replies import Refused
from .sessions import Sessions

SESSION: Final = "mcp-session-id"


class Reception:
    """The sessions of one endpoint."""

    def __init__(self, sessions: Sessions, ledger: Ledger) -> None:
        self.ledger = ledger
        self._sessions = sessions

    def session(self, headers: Headers) -> Session:
        """What the client of a request settled; nothing where it has no session. Raises Refused (404).

        Of the JSON-RPC codes, that of an invalid request is the only one that fits; clients look at the status.
        """
        token = headers.get(SESSION)
        if token is None:
            return Session()
        session = self._sessions.read(token)
        recalled = None if session is None else self.ledger.recall(session)
        if recalled is None:
            raise Refused(404, "There is no such session; it may have ended. Begin another with initialize.")
        return recalled

    def note(self, step: Step, session: Session) -> list[tuple[bytes, bytes]]:
        """Do what a message of this session asks for besides its answer; the headers that this adds to it."""
        if step.opens:
            return [(SESSION.encode(), self._sessions.issue(step.session).encode())]
        if session.id is None:
            return []
        if step.session.log_level != session.log_level:
            self.ledger.set_level(step.session)
        for part in step.batch or (step,):
            if isinstance(part.action, Cancellation):
                self.ledger.cancel(session, part.action.request_id)
        return []

    def following(self, step: Step, session: Session) -> Follow | None:
        """What is told how to stop this message, to do so if its session cancels it, or ends; None for others.

        Calls can be cancelled, but not those of a batch: their answers are one, and what is done cannot be undone.
        """
        if session.id is None or not isinstance(step.action, ToolCall):
            return None
        return partial(self.ledger.call, session, step.action.request_id)
