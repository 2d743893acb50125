"""`ReplicaChannel`: messages about sessions between all processes of all replicas, through Redis.

Ended sessions are also kept in Redis as long as a session could live, so that a replica that starts later, or was not
connected, refuses them. While Redis cannot be reached the processes of one machine go on telling each other.
"""

import asyncio
import hashlib
import logging
import secrets
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from ..runtime.http.sessions import ENDED, LIFETIME
from ..runtime.http.workers import CHANGED, MAX_DIGESTS, MAX_MESSAGE_BYTES, OnMessage, WorkerChannel
from ..runtime.server.reloadable import ReloadableServer

logger = logging.getLogger("openapi_mcp")

MAX_WAITING: Final = 10_000
"""Messages that wait for Redis; beyond that the oldest are lost."""

RETRY_SECONDS: Final = 1.0
"""Seconds between two attempts to reach Redis."""

RECEIVE_SECONDS: Final = 1.0
"""Seconds to wait for a message before a cancellation is looked for."""

START_SECONDS: Final = 5.0
"""Seconds that a start waits for the sessions that have ended."""

_NAME_BYTES: Final = 8


class ReplicaChannel(WorkerChannel):
    """The channel of this process to its siblings on this machine and to all other replicas.

    `secret` is the session secret: replicas with the same one serve the same clients.
    """

    def __init__(self, folder: Path | None, url: str, secret: str) -> None:
        super().__init__(folder)
        self._url = url
        self._own = secrets.token_bytes(_NAME_BYTES)
        self._key = f"openapi-mcp:sessions:{hashlib.sha256(secret.encode()).hexdigest()[:32]}"
        self._outgoing: deque[bytes] = deque(maxlen=MAX_WAITING)
        self._has_outgoing = asyncio.Event()
        self._is_synchronised = asyncio.Event()

    def broadcast(self, message: bytes) -> None:
        """Send a message to all other processes; it does not wait, and never fails."""
        super().broadcast(message)
        if message[:1] != CHANGED:  # changes of the list are announced on each machine by itself
            self._outgoing.append(message)
            self._has_outgoing.set()

    @contextmanager
    def connect(self, server: ReloadableServer, on_message: OnMessage) -> Iterator[None]:
        """Receive the messages of the other processes within the block."""
        with super().connect(server, on_message):
            task = asyncio.get_running_loop().create_task(self._run(on_message))
            try:
                yield
            finally:
                task.cancel()

    async def synchronised(self) -> None:
        """Wait until the ended sessions are known, or for START_SECONDS if Redis cannot be reached."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._is_synchronised.wait(), START_SECONDS)

    async def _run(self, on_message: OnMessage) -> None:
        from redis import asyncio as redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
        from redis.exceptions import RedisError

        is_reported = False
        no_retry = Retry(NoBackoff(), 0)  # a lost connection ends `_receive`, which then asks what it has missed
        client = redis.from_url(
            self._url, socket_connect_timeout=RETRY_SECONDS, health_check_interval=10, retry=no_retry
        )
        try:
            while True:
                try:
                    async with asyncio.TaskGroup() as tasks:
                        tasks.create_task(self._receive(client, on_message))
                        tasks.create_task(self._send_all(client))
                except* (RedisError, OSError) as group:
                    if not is_reported:
                        error = type(group.exceptions[0]).__name__
                        logger.warning("Redis cannot be reached (%s): other replicas do not hear of sessions.", error)
                    is_reported = True
                await asyncio.sleep(RETRY_SECONDS)
        finally:
            await client.aclose()

    async def _receive(self, client: Any, on_message: OnMessage) -> None:
        """Pass on the messages of other replicas; first the sessions that have ended."""
        async with client.pubsub(ignore_subscribe_messages=True) as channel:
            await channel.subscribe(self._key)
            for digest in await client.zrange(self._ended_key, -MAX_DIGESTS, -1):
                on_message(ENDED + digest)
            self._is_synchronised.set()
            task = asyncio.current_task()
            while task is not None and not task.cancelling():  # redis-py swallows cancellations now and then
                message = await channel.get_message(timeout=RECEIVE_SECONDS)
                data: bytes = message["data"] if message else b""
                is_message = _NAME_BYTES < len(data) <= _NAME_BYTES + MAX_MESSAGE_BYTES
                if is_message and not data.startswith(self._own):
                    on_message(data[_NAME_BYTES:])

    async def _send_all(self, client: Any) -> None:
        """Send the messages that wait, and later ones; one that fails is sent again."""
        while True:
            while self._outgoing:
                await self._send_to_replicas(client, self._outgoing[0])
                self._outgoing.popleft()
            self._has_outgoing.clear()
            await self._has_outgoing.wait()

    async def _send_to_replicas(self, client: Any, message: bytes) -> None:
        async with client.pipeline(transaction=True) as pipeline:
            if message.startswith(ENDED):
                now = time.time()
                pipeline.zadd(self._ended_key, {message[1:]: now})
                pipeline.zremrangebyscore(self._ended_key, 0, now - LIFETIME)
                pipeline.zremrangebyrank(self._ended_key, 0, -MAX_DIGESTS - 1)
                pipeline.expire(self._ended_key, int(LIFETIME))
            pipeline.publish(self._key, self._own + message)
            await pipeline.execute()

    @property
    def _ended_key(self) -> str:
        return f"{self._key}:ended"
