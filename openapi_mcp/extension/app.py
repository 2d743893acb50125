"""A bridge within an ASGI application: its endpoint beside routes of one's own, and tools made of an application.

Starlette does not run the lifespan of applications that are mounted, so `mount` chains it to the outer one's.
"""

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
from starlette.applications import Starlette

from ..config import Config
from ..errors import DocumentError, UsageError
from ..runtime.http.access import LOOPBACK
from ..runtime.http.app import create_app
from ..runtime.server.server import Server

IN_MEMORY_URL: Final = "http://localhost"
"""The base URL of an application in memory: the name of this machine, which applications accept as their host."""

_STDIO_ONLY: Final = {"file_roots": "allow_files", "sign_in_port": "sign_in_port"}
"""Fields of Config for a client on this machine, and their options."""


def endpoint(
    server: Server,
    path: str,
    *,
    allowed_hosts: Collection[str] | None,
    allowed_origins: Collection[str],
    auth_token: str | None,
) -> Starlette:
    """Return the ASGI application of `Bridge.asgi`."""
    return create_app(
        server,
        path="/" + path.strip("/"),
        allowed_hosts=None if allowed_hosts is None else (*LOOPBACK, *allowed_hosts),
        allowed_origins=allowed_origins,
        auth_token=auth_token,
    )


def check(config: Config) -> None:
    """Raise UsageError for options that a server over HTTP, or one within another application, cannot have."""
    for field, option in _STDIO_ONLY.items():
        if getattr(config, field):
            hint = "serve it over stdio, or leave the option out"
            raise UsageError("clients over HTTP are on other machines", where=option, hint=hint)
    if config.sign_in_url is not None:
        hint = "serve it with `openapi-mcp serve`, or leave the option out"
        raise UsageError("the pages of sign-ins are those of `serve`", where="sign_in_url", hint=hint)


def mount(outer: Starlette, path: str, inner: Starlette) -> None:
    """Mount an application, which ends with the lifespan of the other one."""
    own = outer.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[Mapping[str, Any] | None]:
        async with own(app) as state, inner.router.lifespan_context(inner):
            yield state

    outer.router.lifespan_context = lifespan  # type: ignore[assignment]  # its state may be None as well
    outer.mount(path.rstrip("/"), inner)


def document_of(app: Any) -> Mapping[str, Any]:
    """Return the OpenAPI document of an application. Raises DocumentError."""
    make = getattr(app, "openapi", None)
    document = make() if callable(make) else None
    if isinstance(document, Mapping):
        return document
    hint = "give the document too: Bridge.from_app(app, document)"
    raise DocumentError("the application has no method openapi() that returns its document", where="app", hint=hint)


def defaults(app: Any) -> dict[str, Any]:
    """Return the options that call an application in memory; an exception in it is its answer 500."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    return {"transport": transport, "base_url": IN_MEMORY_URL}
