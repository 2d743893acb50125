"""The page of `serve` over HTTP: where it is served, and what it is made of when somebody opens it."""

import secrets
import socket
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ...bridge import Bridge
from ...options.table import of_command
from ...runtime.tool import Tool
from ...telemetry.feed import CallFeed
from .. import console
from ..settings import HttpSettings
from .reload import Reloader

if TYPE_CHECKING:
    from ...authorization.discovery import Tls
    from ...authorization.door import OAuthDoor
    from ...clients.server import InstalledServer
    from ...gateway.gateway import Served
    from ...oauth.sealed_store import Storage
    from ...ui.access import PageAccess
    from ...ui.app import Page
    from ...ui.door import PageDoor


def is_served(http: HttpSettings, *, local: bool) -> bool:
    """Return whether the server has a page: for this machine, for those who have its token, or who sign in.

    People sign in as a client of the authorization server (`--auth-client-id`). There is no page where a proxy hides
    who asks, and where workers could not share who has signed in.
    """
    if http.no_ui:
        return False
    if http.door is not None:
        return http.door.client_id is not None and (http.workers == 1 or hasattr(socket, "AF_UNIX"))
    is_behind_proxy = bool(http.trusted_proxy) and not http.auth_token
    return bool(http.auth_token) or (local and not is_behind_proxy)


def connection(http: HttpSettings, url: str, *, local: bool) -> list[str]:
    """Return a line with the address of the page, given the URL of the MCP endpoint.

    Behind an authorization server the line says what the page needs there; elsewhere there is none without a page.
    """
    door = http.door
    if door is not None and door.client_id is None and not http.no_ui:
        return ["no page for browsers: people sign in to it with --auth-client-id; see docs/page.md"]
    if not is_served(http, local=local):
        return []
    address = url if door is None else door.resource.origin + http.path
    root = address.removesuffix(http.path).rstrip("/") + ("/ui/" if http.path == "/" else "/")
    line = f"{root} in a browser: the tools, and a form to try each"
    return [line if door is None else f"{line} (register {door.page_callback} for {door.client_id})"]


def feed(http: HttpSettings, *, local: bool, folder: Path | None = None) -> CallFeed | None:
    """Return the feed of calls for the page, of all processes that share a folder; None where there is no page."""
    if not is_served(http, local=local):
        return None
    if folder is None:
        return CallFeed()
    from ...telemetry.shared_feed import SharedFeed

    return SharedFeed(folder)


class Entrance(NamedTuple):
    """The door of the MCP endpoint for people who sign in to the page; `storage`, given a secret, keeps who has."""

    door: "OAuthDoor"
    tls: "Tls"
    storage: "Callable[[bytes], Storage]"


def routes(
    reloader: Reloader,
    calls: CallFeed,
    http: HttpSettings,
    hosts: Collection[str] | None,
    entrance: Entrance | None = None,
) -> list[Route]:
    """Return the routes of the page, after which the MCP endpoint keeps its own path.

    `hosts` are the names of the server, None for any.
    """
    page = PageOnDemand(reloader, calls, http, hosts, entrance)
    return [Route("/", page), Route("/ui/{rest:path}", page)]


class PageOnDemand:
    """The page as an ASGI application that is made for its first request: until then nothing of it is loaded.

    Modules of other commands are loaded when they are called, so that the first request need not wait for them.
    """

    def __init__(
        self,
        reloader: Reloader,
        calls: CallFeed,
        http: HttpSettings,
        hosts: Collection[str] | None,
        entrance: Entrance | None,
    ) -> None:
        self._reloader = reloader
        self._calls = calls
        self._http = http
        self._hosts = hosts
        self._entrance = entrance
        self._page: Page | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        self._page = self._page or self._make()
        await self._page(scope, receive, send)

    def _make(self) -> "Page":
        from ...ui.access import PageAccess
        from ...ui.app import Page
        from ...ui.source import PageSource

        http, entrance = self._http, self._entrance
        resource = None if entrance is None else entrance.door.resource
        secret = (http.session_secret or secrets.token_urlsafe(32)).encode()
        source = PageSource(
            served=lambda: self._reloader.served,
            live=self._reloader.live,
            feed=self._calls,
            path=http.path,
            url=None if resource is None else resource.uri,
            workers=1 if type(self._calls) is not CallFeed else http.workers,
            has_token=bool(http.auth_token),
            signs_in=bool(http.auth_token) or resource is not None,
            request=_masked_request,
            http_text=_http_text,
            savings=_savings,
            started=self._started,
            redact=console.safe,
        )
        access = PageAccess(
            secret=secret,
            token=http.auth_token,
            hosts=self._hosts,
            url=None if resource is None else resource.origin,
            proxies=http.trusted_proxy,
        )
        return Page(source, access, None if entrance is None else self._door(entrance, access, secret))

    def _door(self, entrance: Entrance, access: "PageAccess", secret: bytes) -> "PageDoor":
        """Return the entrance of the page behind an authorization server."""
        from ...oauth.identity import DoorClient
        from ...oauth.sealed_store import SealedStore
        from ...oauth.sign_ins import UserTokens
        from ...ui.access import LIFETIME
        from ...ui.door import PageDoor

        settings, served = self._http.door, self._reloader.served
        assert settings is not None  # noqa: S101  # else there is no entrance
        egress = served.config.egress
        client = DoorClient(settings, entrance.tls, egress, lambda: self._reloader.served.rights.offered)
        tokens = UserTokens(SealedStore(entrance.storage(secret), secret), LIFETIME)
        return PageDoor(access, client, entrance.door, tokens)

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
    from ..inspect import output

    return output.savings(replace(bridge))
