"""Texts that a client keeps for this server: signed, for one call of one caller, for some minutes, to be used once.

They are the `requestState` of 2026-07-28 and the phrase that confirms a call where a client has no elicitation. Nothing
is stored until one is used: every process with the key reads them (see `SessionState`).

Specification: basic/patterns/mrtr of 2026-07-28, "Server Requirements".
"""

import base64
import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ..runtime.protocol import jsonrpc

LIFETIME: Final = 600.0
"""Seconds that a text is valid: a person reads the question, looks something up, and answers."""

MAX_TOKEN_LENGTH: Final = 100
"""Characters of a text, of which each has some 60; a longer one is not looked at."""

_NONCE_BYTES: Final = 9
_SIGNATURE_BYTES: Final = 18


class SubjectOfToken(NamedTuple):
    """The scope of a token: a purpose, the caller, and a call."""

    purpose: str
    caller: str
    tool: str
    arguments: Mapping[str, Any]


class TokenSigner:
    """A signer and reader of tokens with one key. `spend` returns whether a text is spent for the first time."""

    def __init__(self, key: bytes, spend: Callable[[str], bool], clock: Callable[[], float] = time.time) -> None:
        self._key = key
        self._spend = spend
        self._clock = clock

    def issue(self, subject: SubjectOfToken) -> str:
        """Return a new token: `end.nonce.signature`, in visible ASCII."""
        body = f"{int(self._clock() + LIFETIME):x}.{secrets.token_urlsafe(_NONCE_BYTES)}"
        return f"{body}.{self._signature(body, subject)}"

    def is_valid(self, token: str, subject: SubjectOfToken) -> bool:
        """Return whether a token was issued for this subject and has not expired."""
        body, _, signature = token.rpartition(".")
        if len(token) > MAX_TOKEN_LENGTH or not token.isascii():
            return False
        if not hmac.compare_digest(self._signature(body, subject), signature):
            return False
        return int(body.partition(".")[0], 16) >= self._clock()

    def use(self, token: str) -> bool:
        """Return whether a valid token is used for the first time, in any process."""
        return self._spend(f"used {token}")

    def _signature(self, body: str, subject: SubjectOfToken) -> str:
        signed = jsonrpc.encode([body, subject.purpose, subject.caller, subject.tool, _sorted(subject.arguments)])
        digest = hmac.digest(self._key, signed, "sha256")[:_SIGNATURE_BYTES]
        return base64.urlsafe_b64encode(digest).decode()


def _sorted(value: Any) -> Any:
    """Return a JSON value whose objects have their members in order: a client may repeat them in another one."""
    if isinstance(value, Mapping):
        return {name: _sorted(value[name]) for name in sorted(value)}
    if isinstance(value, list | tuple):
        return [_sorted(item) for item in value]
    return value
