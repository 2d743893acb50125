"""`SigningKeys`: the public keys of an authorization server, kept, renewed, and fetched again for an unknown key.

However many requests ask, one fetch is under way. An unknown key id causes one, but not within MIN_FETCH_INTERVAL of
the last: clients can invent key ids. Keys that are older than MAX_KEY_AGE are renewed beside the requests.
Specification: RFC 7517 (JWK Set), RFC 7518 §6, OpenID Connect Core 1.0 §10.1.1 (rotation).
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..egress.policy import EgressPolicy
from ..runtime.types import JsonObject
from .discovery import NO_POLICY, AuthorizationServerError, Tls, discover, fetch

logger = logging.getLogger("openapi_mcp")

MIN_FETCH_INTERVAL: Final = 10.0
"""Seconds between two fetches that unknown key ids cause."""

MIN_RETRY_INTERVAL: Final = 2.0
"""Seconds between two fetches if the last one failed."""

MAX_KEY_AGE: Final = 600.0
"""Seconds after which keys are fetched again: a key that was withdrawn is not trusted for longer, or not much."""

MAX_STALE_AGE: Final = 3600.0
"""Seconds for which keys are used that cannot be renewed: about the life of an access token."""

MAX_KEYS: Final = 100
"""Keys of a set that are read. Authorization servers publish two or three."""

ALGORITHMS: Final = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
    **dict.fromkeys(("ES256", "ES384", "ES512"), "EC"),
    **dict.fromkeys(("EdDSA", "Ed25519"), "OKP"),
}
"""The algorithms of signatures that are accepted, with the type of their keys. None uses a shared secret."""

_CURVES: Final = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521", "EdDSA": "Ed25519", "Ed25519": "Ed25519"}
_MIN_MODULUS, _MAX_MODULUS, _MAX_EXPONENT = 342, 1366, 8
"""Characters in base64 of an RSA modulus of 2048 and of 8192 bits, and of the longest exponent: verifying takes as long
as they are."""


@dataclass(frozen=True, slots=True)
class KeySet:
    """The keys of one fetch; `number` differs between different sets."""

    keys: Sequence[JsonObject]
    number: int
    fetched: float

    def select(self, algorithm: str, key_id: str | None) -> JsonObject | None:
        """Return the key for a signature; without a key id the only one that can be meant."""
        fitting = [key for key in self.keys if _fits(key, algorithm)]
        if key_id is None:
            return fitting[0] if len(fitting) == 1 else None
        return next((key for key in fitting if key.get("kid") == key_id), None)


def _fits(key: JsonObject, algorithm: str) -> bool:
    """Return whether a key may verify signatures of an algorithm (RFC 7517 §4.2 to §4.4)."""
    return (
        key.get("kty") == ALGORITHMS[algorithm]
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) in {algorithm, *({"EdDSA"} if algorithm == "Ed25519" else ())}
        and (not isinstance(key.get("key_ops"), list) or "verify" in key["key_ops"])
        and (key["kty"] == "RSA" or key.get("crv") == _CURVES[algorithm])
    )


def readable_keys(document: JsonObject) -> list[JsonObject]:
    """Return the public keys of a JWK Set that can be used here; others are left out (RFC 7517 §5)."""
    keys = document.get("keys")
    return [key for key in (keys if isinstance(keys, list) else [])[:MAX_KEYS] if _is_usable(key)]


def _is_usable(key: Any) -> bool:
    if not isinstance(key, dict) or key.get("kty") not in ALGORITHMS.values():
        return False
    if not isinstance(key.get("kid"), str | None):
        return False
    if key["kty"] != "RSA":
        return True
    modulus, exponent = key.get("n"), key.get("e")
    if not (isinstance(modulus, str) and isinstance(exponent, str)):
        return False
    return _MIN_MODULUS <= len(modulus) <= _MAX_MODULUS and len(exponent) <= _MAX_EXPONENT


class SigningKeys:
    """The keys of one issuer, for one event loop."""

    def __init__(
        self,
        issuer: str,
        tls: Tls,
        clock: Callable[[], float] = time.monotonic,
        egress: EgressPolicy = NO_POLICY,
    ) -> None:
        self._issuer = issuer
        self._egress = egress
        self._tls = tls
        self._clock = clock
        self._url: str | None = None
        self._set: KeySet | None = None
        self._fetching: asyncio.Task[KeySet] | None = None
        self._next_fetch = 0.0
        self._next_search = 0.0
        self._failure = "it was not asked yet"
        self.on_change: Callable[[], None] = lambda: None

    @property
    def number(self) -> int:
        """The number of the current set; another one after a change."""
        return 0 if self._set is None else self._set.number

    async def find(self, algorithm: str, key_id: str | None) -> JsonObject | None:
        """Return the key for a signature; None if the issuer has none. Raises AuthorizationServerError."""
        key = (await self.current()).select(algorithm, key_id)
        if key is not None or (self._fetching is None and self._clock() < self._next_search):
            return key
        self._next_search = self._clock() + MIN_FETCH_INTERVAL
        return (await self._fetched()).select(algorithm, key_id)

    async def current(self) -> KeySet:
        """Return the keys; fetch them if there are none, and renew old ones beside the request.

        Raises AuthorizationServerError.
        """
        age = self._clock() - self._set.fetched if self._set is not None else MAX_STALE_AGE
        if self._set is not None and age < MAX_STALE_AGE:
            if age > MAX_KEY_AGE and self._clock() >= self._next_fetch:
                self._start().add_done_callback(_log_failure)
            return self._set
        if self._fetching is None and self._clock() < self._next_fetch:
            raise AuthorizationServerError(self._failure)
        return await self._fetched()

    async def _fetched(self) -> KeySet:
        return await asyncio.shield(self._start())

    def _start(self) -> "asyncio.Task[KeySet]":
        """Return the fetch that is under way; begin one if there is none."""
        if self._fetching is None:
            self._fetching = asyncio.create_task(self._fetch())
            self._fetching.add_done_callback(retrieve)
        return self._fetching

    async def _fetch(self) -> KeySet:
        self._next_fetch = self._clock() + MIN_RETRY_INTERVAL
        try:
            keys = await self._read()
            is_same = self._set is not None and keys == self._set.keys
            self._set = KeySet(keys, self.number + (not is_same), self._clock())
            if not is_same:
                self.on_change()
        except AuthorizationServerError as error:
            self._failure, self._url = str(error), None
            raise
        finally:
            self._fetching = None
        return self._set

    async def _read(self) -> list[JsonObject]:
        if self._url is None:
            self._url = str((await discover(self._issuer, self._tls, "jwks_uri", self._egress))["jwks_uri"])
        policy = await self._egress.inside(self._issuer, self._url)
        keys = readable_keys(await fetch(self._url, self._tls, egress=policy))
        if not keys:
            raise AuthorizationServerError(f"{self._url} has no key with an accepted signature algorithm")
        return keys


def retrieve(task: "asyncio.Task[Any]") -> None:
    """Take the exception of a task for which nobody may wait any more, so that it is not logged as forgotten."""
    if not task.cancelled():
        task.exception()


def _log_failure(task: "asyncio.Task[KeySet]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.warning("The keys of the authorization server could not be renewed: %s", error)
