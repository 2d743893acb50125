"""The page of `serve` over HTTP: where it is served, and what it is made of when somebody opens it."""

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ...bridge import Bridge
from ...options.table import of_command
from ...runtime import serve as runtime_serve
from ...runtime.tool import Tool
from ...telemetry.feed import CallFeed
from .. import console
from ..settings import HttpSettings
from .reload import Reloader

if TYPE_CHECKING:
    from ...clients.server import InstalledServer
    from ...gateway.gateway import Served
    from ...ui.app import Page


def is_served(http: HttpSettings, *, local: bool) -> bool:
    """Return whether the server has a page: for this machine, or for those who have its token.

    Not behind an authorization server, since a browser has no access token, and not where a proxy hides who asks.
    """
    is_behind_proxy = bool(http.trusted_proxy) and not http.auth_token
    reachable = bool(http.auth_token) or (local and not is_behind_proxy)
    return reachable and not (http.no_ui or http.door is not None)


def connection(http: HttpSettings, url: str, *, local: bool) -> list[str]:
    """Return a line with the address of the page, given the URL of the MCP endpoint; none where there is no page."""
    if not is_served(http, local=local):
        return []
    root = url.removesuffix(http.path).rstrip("/") + ("/ui/" if http.path == "/" else "/")
    return [f"{root} in a browser: the tools, and a form to try each"]


def feed(http: HttpSettings, *, local: bool) -> CallFeed | None:
    """Return the feed of calls for the page; None where there is no page."""
    return CallFeed() if is_served(http, local=local) else None


def routes(reloader: Reloader, calls: CallFeed, http: HttpSettings, *, local: bool) -> list[Route]:
    """Return the routes of the page, after which the MCP endpoint keeps its own path."""
    page = PageOnDemand(reloader, calls, http, local=local)
    return [Route("/", page), Route("/ui/{rest:path}", page)]


class PageOnDemand:
    """The page as an ASGI application that is made for its first request: until then nothing of it is loaded.

    What it takes from other commands is loaded where it is called, so that the first request need not wait for it.
    """

    def __init__(self, reloader: Reloader, calls: CallFeed, http: HttpSettings, *, local: bool) -> None:
        self._reloader = reloader
        self._calls = calls
        self._http = http
        self._local = local
        self._page: Page | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        self._page = self._page or self._make()
        await self._page(scope, receive, send)

    def _make(self) -> "Page":
        from ...ui.access import PageAccess
        from ...ui.app import Page
        from ...ui.source import PageSource

        http = self._http
        source = PageSource(
            served=lambda: self._reloader.served,
            live=self._reloader.live,
            feed=self._calls,
            path=http.path,
            workers=http.workers,
            has_token=bool(http.auth_token),
            request=_masked_request,
            http_text=_http_text,
            savings=_savings,
            started=self._started,
            redact=console.safe,
        )
        access = PageAccess(
            secret=(http.session_secret or secrets.token_urlsafe(32)).encode(),
            token=http.auth_token,
            hosts=runtime_serve.allowed_names(http.allow_host, local=self._local),
        )
        return Page(source, access)

    def _started(self, served: "Served") -> "InstalledServer":
        """Return the server as a client starts it, with the options of this one that `install` takes."""
        from ..install import started_server

        settings = self._reloader.settings
        taken = {option.name for option in of_command("install")}
        options: dict[str, Any] = {name: value for name, value in settings.command_line.items() if name in taken}
        return started_server(replace(settings, command_line=options), served)


def _masked_request(bridge: Bridge, tool: Tool, arguments: Mapping[str, Any]) -> tuple[httpx.Request, list[str]]:
    from ..call import masked_request

    return masked_request(bridge, tool, arguments)


def _http_text(request: httpx.Request) -> str:
    from ..call import http_text

    return http_text(request)


def _savings(bridge: Bridge) -> Iterator[tuple[str, int]]:
    """Yield what `inspect` says; the document, which is read again for it, is not kept."""
    from .. import inspection

    return inspection.savings(replace(bridge))
