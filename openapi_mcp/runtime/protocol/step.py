"""`Step`: what one message caused, as data, for a server that describes itself so and a client that settled that.

It says what is to be done and does none of it; `actions` holds what that can be.
"""

from dataclasses import dataclass
from typing import Literal

from ..types import Implementation, JsonObject
from .actions import Action
from .log_levels import LogLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDescription:
    """What the server tells about itself.

    `ttl_ms` and `cache_scope` are the caching hints of 2026-07-28: for how many milliseconds, and by whom, the list of
    tools may be kept. Five minutes is what the specification's own examples say. `list_changed` promises to tell when
    that list changes. `explicit_fields` says `structuredContent` and `nextCursor` also where there is none (as `{}` and
    as `""`), for clients that insist on them.
    """

    implementation: Implementation
    instructions: str | None = None
    ttl_ms: int = 300_000
    cache_scope: Literal["public", "private"] = "public"
    list_changed: bool = False
    explicit_fields: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """What a client of the handshake era settled: nothing in it concerns a message of the stateless era.

    `revision` is what `initialize` answered, or None before (and without) it. `id` is the HTTP session's, None on
    stdio and for clients without a session. `log_level` is what `logging/setLevel` asked for, None where nobody did.
    """

    revision: str | None = None
    id: str | None = None
    log_level: LogLevel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one message caused.

    At most one of `reply`, `action` and `batch` is set, and none of them where nothing is to be said or done. `status`
    is the HTTP status of the answer. `batch` holds one Step for each message of a JSON-RPC batch (2025-03-26), whose
    replies together make one array. `ends_with_connection` means that a client which closes the HTTP exchange wants
    the action stopped (2026-07-28); where it is False, a lost connection means nothing.
    """

    session: Session
    status: int = 200
    reply: JsonObject | None = None
    action: Action | None = None
    batch: tuple["Step", ...] = ()
    ends_with_connection: bool = False
    opens: bool = False
