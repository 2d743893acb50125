"""`ProtectedResource`: the canonical URI of this server, its metadata (RFC 9728), and the challenges that refer to it.

Specification: MCP basic/authorization, "Canonical Server URI" and "Scope Challenge Handling";
basic/authorization/authorization-server-discovery; RFC 9728 §§2, 3, 5.1; RFC 6750 §3; RFC 8707 §2.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from ..egress.addresses import is_secure
from ..errors import UsageError
from ..runtime.types import JsonObject

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"

NOT_OF_RESOURCES: Final = frozenset({"offline_access"})
"""Scopes that no challenge and no metadata names: refresh tokens are no requirement of a resource."""

MAX_SCOPE_CHARACTERS: Final = 4096
"""Characters of the scopes in a challenge: half of what the strictest clients take as all headers of a response."""

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_SCOPE: Final = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]+")
"""A scope (RFC 6749 §3.3); no other text gets into a header."""


def canonical(uri: str) -> str:
    """Return a URI with scheme and host in lower case, without a default port and a slash at its end.

    Another text is returned as it is.
    """
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        return uri
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or "@" in parts.netloc:
        return uri
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    suffix = "" if port in {None, _DEFAULT_PORTS[parts.scheme]} else f":{port}"
    query = f"?{parts.query}" if parts.query else ""
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    return f"{parts.scheme}://{host}{suffix}{parts.path.rstrip('/')}{query}{fragment}"


def check_url(url: str, option: str) -> None:
    """Raise UsageError for an issuer or a canonical URI that cannot be one."""
    try:
        parts = urlsplit(url)
        is_plain = not (parts.query or parts.fragment or "#" in url or "@" in parts.netloc or parts.port == 0)
    except ValueError:
        parts, is_plain = urlsplit(""), False
    if not (is_plain and parts.hostname and url.isascii() and url.isprintable() and " " not in url and '"' not in url):
        hint = "write an absolute URL without user, query and fragment, as https://example.com/mcp"
        raise UsageError("not a URL that identifies a server", where=option, hint=hint)
    if not is_secure(parts):
        raise UsageError("the URL must be https, or http on this machine", where=option, hint="use its https address")


@dataclass(frozen=True, slots=True)
class ProtectedResource:
    """This server, as its authorization server knows it.

    `uri` is its canonical URI; `audiences` are further values that the `aud` of its tokens may have. `path` is that of
    the endpoint in this process, which differs behind a proxy that maps paths.
    """

    uri: str
    issuer: str
    path: str = "/mcp"
    audiences: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        """The host of the canonical URI, without port."""
        host = urlsplit(self.uri).hostname or ""
        return f"[{host}]" if ":" in host else host

    @property
    def origin(self) -> str:
        """Scheme, host and port of the canonical URI."""
        parts = urlsplit(self.uri)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def metadata_url(self) -> str:
        """The address of the metadata: the well-known path, inserted between host and path (RFC 9728 §3.1)."""
        return f"{self.origin}{WELL_KNOWN}{urlsplit(self.uri).path}"

    @property
    def metadata_paths(self) -> tuple[str, ...]:
        """The paths that serve the metadata: with the public path, with that of this process, and without."""
        paths = (urlsplit(self.uri).path, "/" + self.path.strip("/"), "")
        return tuple(dict.fromkeys(WELL_KNOWN + path.rstrip("/") for path in paths))

    def metadata(self, scopes: Iterable[str]) -> JsonObject:
        """Return the metadata document (RFC 9728 §2)."""
        supported = shown(scopes)
        return {
            "resource": self.uri,
            "authorization_servers": [self.issuer],
            "bearer_methods_supported": ["header"],
            **({"scopes_supported": supported} if supported else {}),
        }

    def is_audience(self, value: object) -> bool:
        """Return whether the `aud` of a token, a text or a list of texts, names this server."""
        values = value if isinstance(value, list) else [value]
        own = {canonical(self.uri), *map(canonical, self.audiences)}
        return any(isinstance(each, str) and canonical(each) in own for each in values)

    def challenge(self, scopes: Collection[str]) -> str:
        """Return the parameters of a challenge that tell a client where to get a token, and with which scopes."""
        listed = " ".join(_fitting(shown(scopes)))
        return ", ".join([f'resource_metadata="{self.metadata_url}"', *([f'scope="{listed}"'] if listed else [])])


def shown(scopes: Iterable[str]) -> list[str]:
    """Return the scopes that a client may be told, each once, in their order."""
    return [scope for scope in dict.fromkeys(scopes) if scope not in NOT_OF_RESOURCES and _SCOPE.fullmatch(scope)]


def _fitting(scopes: Iterable[str]) -> Iterable[str]:
    """Yield the scopes that fit into a header."""
    free = MAX_SCOPE_CHARACTERS
    for scope in scopes:
        free -= len(scope) + 1
        if free >= 0:
            yield scope
