"""The facts of an API on the page: where calls go, credentials, what the list costs, and how clients connect."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..bridge import Bridge
from ..clients import snippets
from ..clients.server import InstalledServer
from ..clients.table import CLIENTS
from ..errors import BridgeError
from ..gateway.gateway import Served, bridges_of
from ..runtime.request.build import RequestOptions
from ..runtime.request.redaction import redact
from ..runtime.search.full_text import is_available
from ..runtime.search.tools import search_catalog
from ..runtime.tool import SecurityScheme
from ..token_budget import tokens, tokens_of_bytes
from .source import PageSource
from .tool_list import ToolTable

MAX_BASE_URLS: Final = 3
"""Base URLs in the overview, those of most tools."""

TOKEN_VARIABLE: Final = "OPENAPI_MCP_AUTH_TOKEN"  # noqa: S105  # the name of a variable
"""Variable that clients read the server's token from, as `install --http-token` names it."""

MAX_QUICK: Final = 300
"""Operations for which the other options are tried without being asked for: all tools are made again for each."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A security scheme that tools use: how it is sent, the variable or option it comes from, and whether it is set.

    An OAuth token is neither: `source` says what is known of it.
    """

    name: str
    kind: str
    source: str
    is_set: bool | None


@dataclass(frozen=True, slots=True)
class TokenCount:
    """The tokens of the list with some options; `share` is the part, in per cent, of the largest."""

    label: str
    tokens: int
    share: int
    is_served: bool = False


@dataclass(frozen=True, slots=True)
class Overview:
    """The facts of what is served; `tries` says when other options are tried (see `_tries`)."""

    title: str
    version: str
    documents: Sequence[tuple[str, str]]
    description: str
    base_urls: Sequence[tuple[str, int]]
    credentials: Sequence[Credential]
    mode: str
    reason: str
    tokens: Sequence[TokenCount]
    tries: str


def overview(table: ToolTable) -> Overview:
    """Return the facts of what is served."""
    served = table.served
    bridges = bridges_of(served)
    offered, listed = _mode(served)
    about = served.implementation
    return Overview(
        title=about.title or about.name,
        version=about.version,
        documents=[(redact(bridge.config.source), _kind(bridge)) for bridge in bridges],
        description=(about.description or "")[:400],
        base_urls=base_urls(bridges),
        credentials=[each for bridge in bridges for each in credentials(bridge)],
        mode=offered,
        reason=served.mode_decision.reason,
        tokens=shares(_quick_counts(table, listed)),
        tries=_tries(served),
    )


def _kind(bridge: Bridge) -> str:
    version = bridge.document_info.version
    return ("Swagger " if version == "2.0" else "OpenAPI ") + version


def _tries(served: Served) -> str:
    """Return when other options are tried: `now`, `later` (when somebody asks), or never."""
    if not isinstance(served, Bridge):
        return ""
    return "now" if served.compilation.operations <= MAX_QUICK else "later"


def base_urls(bridges: Sequence[Bridge]) -> Sequence[tuple[str, int]]:
    """Return the base URLs that calls go to, with the number of their tools, those of most tools first."""
    urls = ((bridge.config.only_base_url or tool.base_url or "") for bridge in bridges for tool in bridge.tools)
    counts = Counter(map(redact, urls))
    return [(url or "nowhere: set --base-url", count) for url, count in counts.most_common(MAX_BASE_URLS)]


def credentials(bridge: Bridge) -> Sequence[Credential]:
    """Return the credentials that the tools may need; those of OAuth with the state of their token."""
    options = bridge.request_options()
    oauth = bridge.oauth_tokens(options.credentials, is_shown=True)
    states = dict(line.split(": ", 1) for line in oauth.lines() if ": " in line) if oauth else {}
    return [_credential(scheme, options, states.get(scheme.name)) for scheme in bridge.security_schemes()]


def _credential(scheme: SecurityScheme, options: RequestOptions, state: str | None) -> Credential:
    kinds = {"apiKey": f"{scheme.location} {scheme.parameter}", "http": f"HTTP {scheme.scheme}"}
    kind = kinds.get(scheme.type, scheme.type)
    if state is not None:
        return Credential(scheme.name, kind, state, None)
    if scheme.type == "mutualTLS":
        return Credential(scheme.name, kind, "--client-cert", options.client_certificate)
    source = options.credential_sources.get(scheme.name, scheme.variable)
    return Credential(scheme.name, kind, source, scheme.name in options.credentials)


def _mode(served: Served) -> tuple[str, int]:
    """Return how the tools are offered, in words, and the tokens of what is listed."""
    listed = served.catalog.tools
    if served.mode_decision.searches:
        return f"searched: {len(listed)} tools listed for {len(served.tools):,}", sum(map(tokens, listed))
    return f"all {len(listed):,} tools listed", sum(map(tokens_of_bytes, served.sizes.values()))


def _quick_counts(table: ToolTable, listed: int) -> Iterator[tuple[str, int, bool]]:
    """Yield what needs no other compilation: the list as it is served, and with other choices."""
    if table.served.mode_decision.searches:
        yield "as served: search", listed, True
        yield "every tool, texts whole", table.total, False
        return
    yield "as served: all tools", listed, True
    if not table.served.config.selection.read_only:
        yield "--read-only", table.read_only_tokens, False
    if is_available():
        yield "--mode search", sum(map(tokens, search_catalog(table.served.tools).tools)), False


def shares(counts: Iterable[tuple[str, int, bool]]) -> Sequence[TokenCount]:
    """Return counts with their share of the largest."""
    found = list(counts)
    most = max((count for _, count, _ in found), default=1) or 1
    return [TokenCount(label, count, max(1, round(100 * count / most)), served) for label, count, served in found]


def all_counts(source: PageSource, bridge: Bridge) -> Sequence[TokenCount]:
    """Return the list as it is served and with each option that `inspect` names; large APIs take seconds."""
    _, listed = _mode(bridge)
    label = "as served: search" if bridge.mode_decision.searches else "as served: all tools"
    return shares([(label, listed, True), *((option, count, False) for option, count in source.savings(bridge))])


@dataclass(frozen=True, slots=True)
class ClientEntry:
    """A way to add the server to a client: the settings or command, a link that opens the client, and what is left."""

    client: str
    title: str
    file: str
    text: str
    link: str
    notes: Sequence[str]


def connections(source: PageSource, served: Served, url: str) -> Sequence[ClientEntry]:
    """Return the entries of this running server in each client that takes a URL."""
    variable = TOKEN_VARIABLE if source.has_token else ""
    started = _started(source, served)
    about = served.implementation
    name = started.name if isinstance(started, InstalledServer) else about.name
    running = InstalledServer(name=name, description=about.title or "", url=url, token_variable=variable)
    return list(_entries(running))


def commands(source: PageSource, served: Served) -> tuple[Sequence[ClientEntry], str]:
    """Return the entries of a server that each client starts itself; or none, and the reason."""
    started = _started(source, served)
    return ([], started) if isinstance(started, str) else (list(_entries(started)), "")


def _started(source: PageSource, served: Served) -> InstalledServer | str:
    try:
        return source.started(served)
    except BridgeError as error:
        return source.redact(f"{error.message}. {error.hint}")


def _entries(server: InstalledServer) -> Iterator[ClientEntry]:
    from ..clients.server import Machine

    machine = Machine.this()
    for client in CLIENTS.values():
        if server.url and client.reached is None:
            continue
        is_command = client.name == "claude-code"
        yield ClientEntry(
            client=client.name,
            title=client.title,
            file="in a terminal" if is_command else _short(str(client.settings_file(machine)), str(machine.home)),
            text=snippets.snippet(client, server).rstrip("\n"),
            link=snippets.link(client, server),
            notes=list(snippets.notes(client, server)),
        )


def _short(path: str, home: str) -> str:
    return f"~{path.removeprefix(home)}" if path.startswith(home) else path
