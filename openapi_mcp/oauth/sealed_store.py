"""`SealedStore`: what users' sign-ins over HTTP leave behind, encrypted, where all processes of a server find it.

Values are sealed with AES-256-GCM under a key that is derived from the session secret. The name of a value is
authenticated with it, so that a value which somebody moves to another name, as one user's token to another user's,
cannot be read. Names are digests: who reads the store learns nothing about users.

A storage is the memory of one process, a private folder of several, or Redis (`--redis`).
"""

import hashlib
import hmac
import json
import os
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Protocol, cast

from .endpoints import OAuthFailure

MAX_ENTRIES: Final = 20_000
"""Values that one process keeps in its memory: tokens and sign-ins of ten thousand users, some 40 MB."""

LOCK_SECONDS: Final = 30.0
"""Seconds to wait for another process that renews the same token, and after which its lock ends."""

REDIS_TIMEOUT: Final = 2.0
"""Seconds to wait for Redis."""

SWEEP_SECONDS: Final = 60.0
"""Seconds between two searches for files whose time is over."""

_NONCE_BYTES: Final = 12
_TIME_BYTES: Final = 8


class ProcessLock(Protocol):
    """A lock that one process at a time holds."""

    def acquire(self) -> object:
        """Wait for the lock. Raises TimeoutError or OSError where another holds it too long."""

    def release(self) -> object:
        """Let others have it."""


class Storage(Protocol):
    """A storage of values by name, each until its time is over. Methods may wait; they are called in threads."""

    def get(self, name: str) -> bytes | None:
        """Return a value."""

    def put(self, name: str, value: bytes, seconds: float) -> None:
        """Store a value."""

    def take(self, name: str) -> bytes | None:
        """Return a value and remove it; of several who take it at once, one gets it."""

    def lock(self, name: str) -> ProcessLock:
        """Return the lock of a name."""


class InMemory:
    """The memory of this process."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._values: dict[str, tuple[float, bytes]] = {}
        self._access = threading.Lock()

    def get(self, name: str) -> bytes | None:
        """Return a value."""
        with self._access:
            end, value = self._values.get(name, (0.0, b""))
            return value if end > self._clock() else None

    def put(self, name: str, value: bytes, seconds: float) -> None:
        """Store a value; beyond MAX_ENTRIES the oldest are forgotten."""
        with self._access:
            self._values.pop(name, None)
            self._values[name] = self._clock() + seconds, value
            if len(self._values) > MAX_ENTRIES:
                del self._values[next(iter(self._values))]

    def take(self, name: str) -> bytes | None:
        """Return a value and remove it."""
        with self._access:
            end, value = self._values.pop(name, (0.0, b""))
            return value if end > self._clock() else None

    def lock(self, _name: str) -> ProcessLock:
        """Return a lock of its own: `TokenSource` lets one call of this process at a time renew a token."""
        return threading.Lock()


class InFolder:
    """A private folder that the workers of one server share: a file for each value, its time first."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock
        self._swept = clock()

    def get(self, name: str) -> bytes | None:
        """Return a value."""
        return self._read(self._path(name))

    def put(self, name: str, value: bytes, seconds: float) -> None:
        """Store a value, in one step for those who read it."""
        self._sweep()
        handle, unfinished = tempfile.mkstemp(dir=self._folder, prefix=".sign-in-")
        with os.fdopen(handle, "wb") as file:
            file.write(int(self._clock() + seconds).to_bytes(_TIME_BYTES) + value)
        Path(unfinished).replace(self._path(name))

    def take(self, name: str) -> bytes | None:
        """Return a value and remove it."""
        taken = self._folder / f".sign-in-{secrets.token_hex(8)}"
        try:
            self._path(name).rename(taken)  # which one process can do
        except FileNotFoundError:
            return None
        value = self._read(taken)
        taken.unlink(missing_ok=True)
        return value

    def lock(self, name: str) -> ProcessLock:
        """Return the lock of a name."""
        from filelock import FileLock

        path = self._folder / f".sign-in-lock-{_digest(name)}"
        return cast("ProcessLock", FileLock(path, timeout=LOCK_SECONDS, thread_local=False))

    def _path(self, name: str) -> Path:
        return self._folder / f"sign-in-{_digest(name)}"

    def _read(self, path: Path) -> bytes | None:
        with suppress(FileNotFoundError):
            data = path.read_bytes()
            return data[_TIME_BYTES:] if int.from_bytes(data[:_TIME_BYTES]) > self._clock() else None
        return None

    def _sweep(self) -> None:
        """Remove files whose time is over, now and then."""
        if self._clock() - self._swept < SWEEP_SECONDS:
            return
        self._swept = self._clock()
        for path in self._folder.glob("sign-in-*"):
            with suppress(OSError):
                if self._read(path) is None:
                    path.unlink(missing_ok=True)


class InRedis:
    """Redis or Valkey, which all replicas share; `name` tells its servers apart."""

    def __init__(self, url: str, name: str) -> None:
        from redis import Redis

        self._client: Any = Redis.from_url(url, socket_timeout=REDIS_TIMEOUT, socket_connect_timeout=REDIS_TIMEOUT)
        self._prefix = f"openapi-mcp:sign-ins:{name}"

    def get(self, name: str) -> bytes | None:
        """Return a value."""
        with _reported():
            return cast("bytes | None", self._client.get(self._key(name)))

    def put(self, name: str, value: bytes, seconds: float) -> None:
        """Store a value."""
        with _reported():
            self._client.set(self._key(name), value, ex=max(1, int(seconds)))

    def take(self, name: str) -> bytes | None:
        """Return a value and remove it."""
        with _reported(), self._client.pipeline(transaction=True) as pipeline:
            pipeline.get(self._key(name)).delete(self._key(name))
            value, _ = pipeline.execute()
            return cast("bytes | None", value)

    def lock(self, name: str) -> ProcessLock:
        """Return the lock of a name."""
        return _RedisLock(self._client, f"{self._key(name)}:lock")

    def _key(self, name: str) -> str:
        return f"{self._prefix}:{_digest(name)}"


class _RedisLock:
    """A lock in Redis, which ends by itself if its holder has died."""

    def __init__(self, client: Any, key: str) -> None:
        self._lock: Any = client.lock(key, timeout=LOCK_SECONDS, blocking_timeout=LOCK_SECONDS, thread_local=False)

    def acquire(self) -> None:
        """Wait for the lock. Raises TimeoutError."""
        with _reported():
            if not self._lock.acquire():
                raise TimeoutError

    def release(self) -> None:
        """Let others have it; one that has ended is released already."""
        from redis.exceptions import RedisError

        with suppress(RedisError):
            self._lock.release()


@contextmanager
def _reported() -> Iterator[None]:
    """Turn an error of Redis into an OAuthFailure."""
    from redis.exceptions import RedisError

    try:
        yield
    except RedisError as error:
        raise OAuthFailure("The sign-ins of users cannot be read now: Redis does not answer.") from error


class SealedStore:
    """JSON values by name in a Storage, sealed with a secret. Methods may wait; they are called in threads."""

    def __init__(self, storage: Storage, secret: bytes) -> None:
        self._storage = storage
        self._key = hmac.digest(secret, b"openapi-mcp sealed sign-ins", "sha256")

    def get(self, name: str) -> Any:
        """Return a value; None if there is none that this server has sealed under this name."""
        return self._opened(name, self._storage.get(name))

    def put(self, name: str, value: Any, seconds: float) -> None:
        """Store a value for some seconds."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = AESGCM(self._key).encrypt(nonce, json.dumps(value).encode(), name.encode())
        self._storage.put(name, nonce + sealed, seconds)

    def take(self, name: str) -> Any:
        """Return a value and remove it; of several who take it at once, one gets it."""
        return self._opened(name, self._storage.take(name))

    def lock(self, name: str) -> ProcessLock:
        """Return the lock of a name."""
        return self._storage.lock(name)

    def _opened(self, name: str, sealed: bytes | None) -> Any:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if sealed is None or len(sealed) <= _NONCE_BYTES:
            return None
        try:
            text = AESGCM(self._key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], name.encode())
        except InvalidTag:
            return None
        return json.loads(text)


def name_of_server(secret: bytes) -> str:
    """Return the name by which servers with the same secret find each other's values in Redis."""
    return hmac.digest(secret, b"openapi-mcp name of sign-ins", "sha256").hex()[:32]


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
