"""`Sessions`: session ids that carry what was negotiated, signed; so every process with the secret knows every session.

Nothing of a session is remembered here, and an id proves nothing about who shows it. Specification: basic/transports,
"Session Management", of 2025-03-26 to 2025-11-25.
"""

import base64
import hmac
import secrets
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from .protocol import HANDSHAKE, Session

LIFETIME: Final = 7 * 24 * 3600.0
"""Seconds that a session lasts: longer than most clients are left open, as not all of them begin anew by themselves."""

KNOWN: Final = 1024
"""Ids of which it is kept whether they were issued here: half a megabyte, and the signature is made once a session."""

_LONGEST: Final = 200
"""Characters of an id, twice over; nothing longer needs to be looked at."""


class Sessions:
    """Issues session ids and reads them back. Ids of one `principal` are worth nothing to another one."""

    def __init__(
        self,
        secret: bytes,
        lifetime: float = LIFETIME,
        clock: Callable[[], float] = time.time,
        *,
        principal: str = "",
    ) -> None:
        self._secret = secret
        self._lifetime = lifetime
        self._clock = clock
        self._key = hmac.digest(secret, b"openapi-mcp session\0" + principal.encode(), "sha256")
        self._body = lru_cache(KNOWN)(self._verified)

    @classmethod
    def random(cls) -> "Sessions":
        """Sessions that end with this process."""
        return cls(secrets.token_bytes(32))

    def of(self, principal: str) -> "Sessions":
        """The same for whoever shows this credential, and for nobody else."""
        return Sessions(self._secret, self._lifetime, self._clock, principal=principal)

    def issue(self, session: Session) -> str:
        """The id, in visible ASCII, of a session that begins now: `revision.time.nonce.signature`."""
        body = f"{session.revision}.{int(self._clock()):x}.{session.id or secrets.token_urlsafe(16)}"
        return f"{body}.{self._signature(body)}"

    def read(self, token: str) -> Session | None:
        """The session of an id; None where it was not issued here, was changed on its way, or has expired."""
        body = self._body(token) if len(token) <= _LONGEST else None
        if body is None:
            return None
        revision, issued, nonce = body.split(".")
        expired = int(issued, 16) + self._lifetime < self._clock()
        return None if expired or revision not in HANDSHAKE else Session(revision=revision, id=nonce)

    def _verified(self, token: str) -> str | None:
        """What was signed; None where it was not."""
        body, _, signature = token.rpartition(".")
        return body if token.isascii() and hmac.compare_digest(self._signature(body), signature) else None

    def _signature(self, body: str) -> str:
        digest = hmac.digest(self._key, body.encode(), "sha256")
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")
