"""`Endpoint`: where and to whom a server is offered over HTTP; nothing of the tools, which may change meanwhile."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from .errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The address, the processes behind it, and the door. `port` 0 takes a free one; times are in seconds.

    `auth_token` is what clients must show (`Authorization: Bearer …`); without one, only this machine is listened to
    unless `allow_unauthenticated`. `session_secret` signs session ids; a random one is used where there is none.
    `allow_host` and `allow_origin` are names besides those of this machine.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    path: str = "/mcp"
    workers: int = 1
    auth_token: str | None = field(default=None, repr=False)
    allow_unauthenticated: bool = False
    allow_host: tuple[str, ...] = ()
    allow_origin: tuple[str, ...] = ()
    session_secret: str | None = field(default=None, repr=False)
    max_concurrency: int = 256
    max_body_bytes: int = 4 * 1024 * 1024
    request_timeout: float = 600.0

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Read options as the command line and a settings file have them (see OPTIONS). Raises UsageError."""
        given = {name: options[name] for name in OPTIONS if name in options}
        for name in ("allow_host", "allow_origin"):
            if name in given:
                given[name] = tuple(given[name])
        if "path" in given:
            given["path"] = "/" + given["path"].strip("/")
        port = given.get("port", 0)
        if not 0 <= port <= 65535:
            raise UsageError("there is no such port", where=f"--port {port}", hint="give one from 0 to 65535")
        token = given.get("auth_token")
        if token is not None and not (token.isascii() and token.isprintable() and token.split() == [token]):
            raise UsageError(
                "a token is visible ASCII characters without spaces", where="--auth-token", hint="choose another"
            )
        return cls(**given)


OPTIONS: Final[Mapping[str, type]] = {
    "host": str,
    "port": int,
    "path": str,
    "workers": int,
    "auth_token": str,
    "allow_unauthenticated": bool,
    "allow_host": list,
    "allow_origin": list,
    "session_secret": str,
    "max_concurrency": int,
    "max_body_bytes": int,
    "request_timeout": float,
}
"""What a settings file may hold of these, by the type of its value."""

LISTENING: Final = frozenset({"host", "port", "path"})
"""Who says one of these wants to listen."""
