"""Sign-ins of users over HTTP (`--sign-in-url`): what they need at the start."""

import secrets
import socket
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from ...authorization.discovery import Tls
from ...bridge import Bridge
from ...config import Config
from ...egress.addresses import is_loopback_name
from ...errors import UsageError
from ...oauth.clients import CALLBACK
from ...oauth.identity import DoorClient
from ...oauth.sealed_store import InFolder, InMemory, InRedis, SealedStore, Storage, name_of_server
from ...oauth.sign_ins import UserSignIns
from ..settings import HttpSettings


def check(config: Config, bridges: Iterable[Bridge], http: HttpSettings, *, local: bool) -> None:
    """Raise UsageError where users could not sign in for any API, or nobody would know who they are."""
    url = config.sign_in_url
    if url is None:
        return
    where = f"--sign-in-url {url}"
    if http.workers > 1 and not config.redis and not hasattr(socket, "AF_UNIX"):
        hint = "use --redis, or --workers 1"
        raise UsageError("on this system workers share sign-ins through Redis only", where=where, hint=hint)
    if http.door is None and not (local and is_loopback_name(urlsplit(url).hostname or "")):
        hint = "name the authorization server of your users with --auth-issuer, or use this server on its machine only"
        message = "callers have no identities here, so another person could use the link of a sign-in"
        raise UsageError(message, where=where, hint=hint)
    if not any(map(_takes_users, bridges)):
        hint = f"register a client with the API's provider, with {url}{CALLBACK}; then set --oauth SCHEME.client-id=…"
        raise UsageError("no security scheme of the document lets users sign in on these pages", where=where, hint=hint)


def _takes_users(bridge: Bridge) -> bool:
    """Return whether users sign in for an API, each for themselves."""
    tokens = bridge.oauth_tokens(bridge.request_options().credentials, is_shown=True)
    return tokens is not None and any(source.is_personal for source in tokens.sources.values())


def sign_ins(config: Config, http: HttpSettings, tls: Tls, folder: Path | None) -> UserSignIns | None:
    """Return the sign-ins of users, which all processes in `folder`, or with the same Redis, share; None without a URL.

    `tls` is for requests to the door's authorization server.
    """
    if config.sign_in_url is None:
        return None
    secret = (http.session_secret or secrets.token_urlsafe(32)).encode()
    door = None if http.door is None else DoorClient(http.door, tls, config.egress)
    return UserSignIns(config.sign_in_url, SealedStore(storage(config.redis, folder, secret), secret), door)


def storage(redis: str | None, folder: Path | None, secret: bytes) -> Storage:
    """Return where sign-ins are kept: in Redis, in a folder of several processes, or in memory. Raises UsageError."""
    if redis is not None:
        try:
            return InRedis(redis, name_of_server(secret))
        except (ImportError, ValueError):
            hint = "write redis://host:6379/0, and install mcp-openapi-bridge[redis]"
            raise UsageError("the Redis server cannot be used", where="--redis", hint=hint) from None
    return InMemory() if folder is None else InFolder(folder)
