"""`CallProgress`: how far a call of the API has come, so that the error of a call whose time ends says what took it."""

from typing import Final, Literal, TypeAlias

EXTENSION: Final = "openapi_mcp.progress"
"""The request extension that holds the CallProgress."""

Stage: TypeAlias = Literal["connection", "sending", "response", "body", "wait"]

_STAGES: Final[dict[Stage, str]] = {
    "connection": "it was waiting for a connection",
    "sending": "the request was still being sent",
    "response": "the head of the response had not arrived",
    "body": "the body of the response ({status}) was still arriving, {received} so far",
    "wait": "it was waiting before the next attempt",
}


class CallProgress:
    """The stage of a call, and what came before it.

    `attempts` counts requests that failed and were or will be repeated, `waited` are the seconds of the waits between
    them, `status` is that of the response whose body is read, else 0, and `received` counts the bytes of this body.
    """

    stage: Stage = "response"
    attempts = redirects = received = status = 0
    waited = 0.0

    @property
    def is_unsent(self) -> bool:
        """True if no byte of a request can have left."""
        return self.stage == "connection" and not self.attempts and not self.redirects

    def status_note(self) -> str:
        """Return a sentence about a response whose body could not be read; empty without one."""
        return f" The status of its response is {self.status}." if self.status else ""

    def describe(self) -> str:
        """Return what took the time, as clauses of a sentence."""
        clauses = [_STAGES[self.stage].format(status=self.status, received=_count(self.received, "byte"))]
        if self.attempts:
            attempts = _count(self.attempts, "attempt")
            clauses.append(f"{attempts} had failed before, with {self.waited:.3g} seconds of waiting")
        if self.redirects:
            clauses.append(f"{_count(self.redirects, 'redirect')} had been followed")
        return "; ".join(clauses)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
