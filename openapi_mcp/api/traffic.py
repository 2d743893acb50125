"""Traffic between a server, the API and MCP clients: the client of the API with its guards, limits and tokens."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from ..compilation import OAuthScheme
from ..config import Config
from ..egress.breaker import CircuitBreaker
from ..egress.guard import MIN_UNANSWERED, GuardedTransport
from ..egress.policy import EgressPolicy
from ..runtime.server.hooks import Limiter, Monitor, OperationFollower
from ..runtime.tool import SecurityScheme, Tool
from ..runtime.upstream.client import Upstream

if TYPE_CHECKING:
    from ..extension.hooks import Extension
    from ..oauth.clients import OAuthSettings
    from ..oauth.sign_ins import ApiSignIns
    from ..oauth.tokens import OAuthTokens
    from ..tasks.store import SharedRecords


def upstream(
    config: Config, egress: EgressPolicy, name: str, base_urls: Collection[str], extension: "Extension | None"
) -> Upstream:
    """Return the client of the API: a transport that spares hosts which fail, and keeps to the rate limit of each.

    `name` is that of the server, `base_urls` those of all operations. Raises UsageError.
    """
    make: Callable[..., Upstream] = Upstream
    own = None
    if extension is not None:
        from ..extension.calls import BorrowedTransport, ExtendedUpstream

        make = partial(ExtendedUpstream, extension)
        own = None if extension.transport is None else BorrowedTransport(extension.transport)

    def guarded(*, transport: httpx.AsyncBaseTransport, **options: Any) -> Upstream:
        return make(transport=_guarded(config, name, base_urls, transport), **options)

    return config.upstream(egress, guarded, own)


def _guarded(
    config: Config, name: str, base_urls: Collection[str], transport: httpx.AsyncBaseTransport
) -> httpx.AsyncBaseTransport:
    hosts = {urlsplit(url).netloc for url in set(base_urls)}
    limiter = None
    if config.upstream_rate_limit:
        from ..replicas.rate_limits import rate_limit

        limiter = rate_limit(config.upstream_rate_limit, config.redis, f"{name}:upstream")
    return GuardedTransport(
        transport,
        CircuitBreaker(config.circuit_breaker) if config.circuit_breaker else None,
        limiter,
        rate=config.upstream_rate_limit or "",
        is_shared=len(hosts) > 1 and config.only_base_url is None,
        patience=min(MIN_UNANSWERED, (config.total_timeout or MIN_UNANSWERED) / 2),
    )


def monitor(own: Monitor | None, extension: "Extension | None") -> Monitor | None:
    """Return the monitor of calls, with the hooks of an extension that has some for calls."""
    if extension is None or not extension.watches_calls:
        return own
    from ..extension.calls import watched

    return watched(extension, own)


def call_limiter(config: Config, name: str) -> Limiter | None:
    """Return the limit of calls of a server, if there is one."""
    if not config.rate_limit:
        return None
    from ..replicas.rate_limits import rate_limit

    return rate_limit(config.rate_limit, config.redis, name)


def follower(config: Config, tools: Callable[[], Iterable[Tool]], *, may_delete: bool) -> OperationFollower:
    """Return what follows operations that the API carries out in the background (see `TaskBoard`)."""
    from ..tasks.board import TaskBoard

    shared = None if config.redis is None else _shared_records(config.redis)
    return TaskBoard(config.task_timeout, tools, may_delete=may_delete, shared=shared)


def _shared_records(redis: str) -> "SharedRecords":
    from ..oauth.endpoints import OAuthFailure
    from ..oauth.sealed_store import InRedis, SealedStore, name_of_server
    from ..tasks.store import SharedRecords

    return SharedRecords(lambda key: SealedStore(InRedis(redis, name_of_server(key)), key), (OAuthFailure, OSError))


def oauth_tokens(
    settings: "OAuthSettings",
    candidates: Sequence[OAuthScheme],
    schemes: Mapping[str, SecurityScheme],
    sign_ins: "ApiSignIns | None",
    *,
    sign_in_port: int | None,
    is_shown: bool,
) -> "OAuthTokens | None":
    """Return the source of access tokens for some schemes, as `Bridge.oauth_tokens` does. Raises UsageError."""
    from ..oauth.conversation import local_sign_ins
    from ..oauth.tokens import OAuthTokens

    if sign_ins is None and not is_shown:
        settings = replace(settings, callback=None)
    tokens = OAuthTokens(settings, sign_ins or local_sign_ins(sign_in_port), sign_ins.api if sign_ins else "")
    for scheme in candidates:
        tokens.add(scheme, schemes[scheme.name].variable)
    if sign_ins is not None:
        sign_ins.learn(tokens.sources)
    return tokens if tokens.sources else None
