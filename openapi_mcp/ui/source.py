"""`PageSource`: what the page shows, given by the command that serves. It loads nothing."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import httpx

from ..bridge import Bridge
from ..runtime.server.reloadable import ReloadableServer
from ..runtime.tool import Tool

if TYPE_CHECKING:
    from ..clients.server import InstalledServer
    from ..gateway.gateway import Served
    from ..telemetry.feed import CallFeed

MaskedRequest: TypeAlias = Callable[[Bridge, Tool, Mapping[str, Any]], tuple[httpx.Request, list[str]]]
"""Returns the request of a call without its secrets, and how it deviates from the document. Raises UsageError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSource:
    """The server behind the page, and the texts of the command line about it.

    `served` returns what is served now, `feed` has the calls of `live`. `path` is that of the MCP endpoint, `url` its
    public address if that is known, `workers` the number of processes whose calls are not in one feed. The endpoint
    asks for a fixed token with `has_token`; `signs_in`: people sign in to the page. `request` and `http_text` are those
    of a dry run, `savings` the tokens of the list with other options, `started` the server as a client starts it
    (raises UsageError). `redact` removes all secrets that the program knows.
    """

    served: "Callable[[], Served]"
    live: ReloadableServer
    feed: "CallFeed"
    path: str
    url: str | None
    workers: int
    has_token: bool
    signs_in: bool
    request: MaskedRequest
    http_text: Callable[[httpx.Request], str]
    savings: Callable[[Bridge], Iterable[tuple[str, int]]]
    started: "Callable[[Served], InstalledServer]"
    redact: Callable[[str], str]
