"""`Grant`: what the verified access token of a request says: who sends it, and with which rights.

`GRANT` is the grant of the request that is being served, for modules below the transport that it came by. Without a
door that verifies tokens it is None, and every tool may be called.
Specification: RFC 9068 §2.2 (claims), RFC 6749 §3.3 (scopes).
"""

import math
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Final, NamedTuple, TypeAlias

Scopes: TypeAlias = frozenset[str]

Alternatives: TypeAlias = Sequence[Sequence[str]]
"""Scopes as OpenAPI's OR of ANDs: a token needs all scopes of one alternative. Empty means that it needs none."""


class Grant(NamedTuple):
    """The subject of a token, unique over all issuers, its scopes, and the client that the token was issued to.

    `expires` is the end of its time in seconds since 1970, when streams end that were opened with it.
    """

    subject: str
    scopes: Scopes = frozenset()
    client: str = ""
    expires: float = math.inf


GRANT: Final[ContextVar[Grant | None]] = ContextVar("grant", default=None)
"""The grant of the request that is being served in this context."""

SUBJECT_TOKEN: Final = ContextVar("subject_token", default="")
"""The access token of the request that is being served. It goes nowhere but to an authorization server (RFC 8693)."""


def subject() -> str:
    """Return the subject of the request that is being served; empty without a verified token."""
    grant = GRANT.get()
    return "" if grant is None else grant.subject
