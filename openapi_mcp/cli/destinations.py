"""Destinations of credentials: the hosts that a document sends each to, remembered from one start to the next.

A document that names another host than before gets no credential sent there: it may have been changed by somebody who
wants to have it. The first start of a document is trusted, and so is what its user says: `--base-url` and
`--accept-host`. Hosts are remembered for each document and each credential (by the name of its variable or option) in a
private folder beside the cached tools; the command `cache clear` does not remove them. No secret is written.

A document from stdin has no name to remember it by. Where the folder cannot be used, the start says so.
"""

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ..bridge import Bridge
from ..cache.files import Cache, folder, refusal
from ..config import Config
from ..document.addresses import is_remote, local_path
from ..errors import HostChanged
from ..runtime.errors import RequestError
from ..runtime.request import urls
from ..runtime.request.build import RequestOptions
from ..runtime.request.redaction import is_secret_header, redact
from ..runtime.tool import Tool

Origins: TypeAlias = Mapping[str, tuple[str, ...]]
"""Origins (scheme, host and port) by the source of the credential that is sent to them."""

FOLDER: Final = "hosts"
"""Name of the folder within that of the cache."""

MAX_MEMORY_BYTES: Final = 4 << 20
"""Bytes of all files together: some ten thousand documents. Those used longest ago are removed."""

MAX_ORIGINS: Final = 1000
"""Origins that are remembered for a credential: no document of the corpus has more hosts."""

MAX_SHOWN: Final = 5
"""Hosts in an error about one credential."""

_session: Final = dict[str, Origins]()
"""Hosts that this process remembers, for reloads where nothing can be written."""


def check(bridge: Bridge) -> None:
    """Remember where a bridge sends credentials. Raises HostChanged if that is a host it did not before.

    The documents of other APIs that workflows call are checked too, each by itself.
    """
    for other in bridge.workflows.others.values() if bridge.workflows else ():
        check(other)
    sent = document_origins(bridge)
    if not sent:
        return
    memory = HostMemory.of(bridge.config)
    if memory is None:
        return
    known = memory.read()
    if known is not None:
        _check_known(bridge.config, sent, known)
    memory.write(_merged(known or {}, sent))


def lines_of_options(bridge: Bridge, options: RequestOptions) -> Iterator[str]:
    """Yield a line for each credential that is no security scheme's: the option that sets it, and the hosts."""
    used = list(dict.fromkeys(url for tool in bridge.tools if (url := options.base_url or tool.base_url)))
    hosts = list(dict.fromkeys(map(_host, filter(None, map(_origin, used)))))
    for name, value in options.headers:
        if is_secret_header(name, value):
            yield f"{name}: set by --header; sent to {_shown(hosts)}"
    for url in used:
        if redact(url).partition("?")[0] != url.partition("?")[0]:
            yield f"user and password: set by the base URL; sent to {_host(_origin(url))}"


def memory_lines(bridge: Bridge) -> Iterator[str]:
    """Yield a line if the next start will not notice that the document names other hosts."""
    memory = HostMemory.of(bridge.config) if document_origins(bridge) else None
    if memory and not memory.is_stored():
        yield (
            f"cannot remember the hosts that get credentials in {folder() / FOLDER}: a document that names other "
            "hosts will not be noticed"
        )


def document_origins(bridge: Bridge) -> Origins:
    """Return the origins that a bridge sends its credentials to where the document decides, and not the user."""
    options = bridge.request_options()
    origins: dict[str, dict[str, None]] = {}
    for source, url in (*_calls(bridge, options), *_token_requests(bridge, options)):
        if origin := _origin(url):
            origins.setdefault(source, {})[origin] = None
    return {source: tuple(found)[:MAX_ORIGINS] for source, found in origins.items()}


def _calls(bridge: Bridge, options: RequestOptions) -> Iterator[tuple[str, str | None]]:
    """Yield the sources of credentials with the base URLs that calls take them to."""
    headers = [f"--header {name}" for name, value in options.headers if is_secret_header(name, value)]
    tokens = bridge.oauth_tokens(options.credentials)
    fetched = tokens.sources.keys() if tokens else frozenset[str]()
    if bridge.config.only_base_url or not (
        headers or options.credentials or options.variables or options.client_certificate or fetched
    ):
        return
    for tool, original in zip(bridge.tools, bridge.compilation.tools, strict=True):
        if tool.base_url == original.base_url:
            for source in (*headers, *_sources(tool, options, fetched)):
                yield source, tool.base_url


def _token_requests(bridge: Bridge, options: RequestOptions) -> Iterator[tuple[str, str]]:
    """Yield the sources of OAuth clients' secrets with the URLs that get them."""
    tokens = bridge.oauth_tokens(options.credentials)
    for scheme in bridge.document_info.oauth_schemes if tokens else ():
        if tokens and (source := tokens.sources.get(scheme.name)):
            for url in source.server.urls_of_document(scheme):
                yield f"OAuth client {scheme.name}", url


def _sources(tool: Tool, options: RequestOptions, fetched: Collection[str]) -> Iterator[str]:
    """Yield the variables and options whose credentials requests of a tool may carry; `fetched` are OAuth schemes."""
    yield from (preset.variable for preset in tool.presets if preset.variable is not None)
    yield from (f"header {preset.header} of clients" for preset in tool.presets if preset.header is not None)
    for scheme in {*tool.required_schemes, *(scheme for schemes in tool.security for scheme in schemes)}:
        if scheme.type == "mutualTLS":
            if options.client_certificate:
                yield "--client-cert"
        elif scheme.name in options.credentials:
            source = options.credential_sources.get(scheme.name, scheme.variable)
            yield f"--auth {scheme.name}" if source == "--auth" else source
        elif scheme.name in fetched:
            yield f"OAuth token {scheme.name}"


def _origin(base_url: str | None) -> str:
    """Return `scheme://host:port` of a base URL, without the scheme's own port; empty if it cannot be used."""
    try:
        parsed = urls.parse_base_url(base_url)
    except RequestError:
        return ""
    return f"{parsed.origin.partition('://')[0]}://{parsed.host.decode('ascii').lower()}"


def _check_known(config: Config, sent: Origins, known: Origins) -> None:
    everywhere = tuple(origin for origins in known.values() for origin in origins)
    changes = []
    for source, origins in sent.items():
        before = known.get(source, everywhere)
        trusted = {*before, *(f"https://{origin.removeprefix('http://')}" for origin in before)}
        new = [origin for origin in origins if origin not in trusted and not _is_accepted(origin, config.accept_hosts)]
        if new:
            changes.append((source, new, before))
    if changes:
        _refuse(config, changes)


def _refuse(config: Config, changes: list[tuple[str, list[str], tuple[str, ...]]]) -> None:
    parts = [f"{source} → {_shown(new)} (before: {_shown(before)})" for source, new, before in changes[:MAX_SHOWN]]
    hosts = dict.fromkeys(_host(origin) for _, new, _ in changes for origin in new)
    options = " ".join(f"--accept-host {host}" for host in list(hosts)[:MAX_SHOWN])
    raise HostChanged(
        f"the document now sends credentials to another host: {'; '.join(parts)}",
        where=redact(config.source),
        hint=f"if you trust it, start once with {options}; else name the API yourself with --base-url",
    )


def _shown(origins: Iterable[str]) -> str:
    hosts = [origin.removeprefix("https://") for origin in origins]
    return ", ".join(hosts[:MAX_SHOWN]) + (" …" if len(hosts) > MAX_SHOWN else "")


def _host(origin: str) -> str:
    return origin.partition("://")[2]


def _is_accepted(origin: str, accepted: Iterable[str]) -> bool:
    """Return whether a user accepted a host, with its port or on any port."""
    host = _host(origin)
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    return any(each.lower() in (host, name) for each in accepted)


def _merged(known: Origins, sent: Origins) -> Origins:
    return {
        source: tuple(dict.fromkeys((*sent.get(source, ()), *known.get(source, ()))))[:MAX_ORIGINS]
        for source in {**known, **sent}
    }


@dataclass(frozen=True, slots=True)
class HostMemory:
    """The remembered hosts of one document, and of the choice of its servers and their variables."""

    key: str
    source: str

    @classmethod
    def of(cls, config: Config) -> "HostMemory | None":
        """Return the memory of a document by the path or URL that was configured; None for one from stdin.

        Links are not followed: a new version of a document often is a new target of the same link.
        """
        if config.source == "-":
            return None
        is_local = not is_remote(config.source)
        source = os.path.abspath(local_path(config.source)) if is_local else redact(config.source)  # noqa: PTH100
        choice = [source, config.servers.server, sorted(config.servers.variables.items())]
        return cls(hashlib.sha256(json.dumps(choice).encode("utf-8", "surrogatepass")).hexdigest(), source)

    def read(self) -> Origins | None:
        """Return the remembered origins; None for a document that was not started yet."""
        cache = _cache()
        stored = _parsed(cache.get(self.key)) if cache else None
        session = _session.get(self.key)
        return stored if session is None else _merged(stored or {}, session)

    def write(self, origins: Origins) -> None:
        """Remember origins in this process, and in the file if they are new and the folder can be used."""
        _session[self.key] = origins
        cache = _cache()
        if cache and _parsed(cache.get(self.key)) != origins:
            value = {"document": self.source, "hosts": origins}
            cache.put(self.key, json.dumps(value, indent=1).encode())

    def is_stored(self) -> bool:
        """Return whether the file is there."""
        cache = _cache()
        return cache is not None and _parsed(cache.get(self.key)) is not None


def _cache() -> Cache | None:
    """Return the folder of the memory; None if that of the cache cannot be used."""
    try:
        parent = folder()
        if parent.exists() and refusal(parent):
            return None
    except (OSError, RuntimeError):  # RuntimeError: there is no home folder
        return None
    return Cache(parent / FOLDER, max_bytes=MAX_MEMORY_BYTES)


def _parsed(data: bytes | None) -> Origins | None:
    """Return the origins of a file; None if there is none that can be read."""
    try:
        value: Any = json.loads(data or b"")
        return {str(source): tuple(map(str, origins)) for source, origins in value["hosts"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
