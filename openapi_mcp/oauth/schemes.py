"""Read the OAuth endpoints and scopes of a document's security schemes, once, when the document is compiled.

Specification: OpenAPI 3.2 Security Scheme Object and OAuth Flows Object.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urljoin

from ..compilation import OAuthScheme
from ..document.model import Document, join
from ..document.resolver import BrokenReference, Resolver

MAX_SCOPES: Final = 200
"""Scopes of one scheme that are requested together; real documents have up to some fifty."""

_ENDPOINTS: Final = {
    "token_url": "tokenUrl",
    "refresh_url": "refreshUrl",
    "authorization_url": "authorizationUrl",
    "device_url": "deviceAuthorizationUrl",
}
"""Fields of an OAuthScheme, and of an OAuth Flow Object."""

_KINDS: Final = frozenset({"oauth2", "openIdConnect"})


def oauth_schemes(document: Document) -> tuple[OAuthScheme, ...]:
    """Return the OAuth and OpenID Connect schemes of a document; what is not of its type counts as absent."""
    components = _mapping(document.root.get("components"))
    nodes = _mapping(components.get("securitySchemes"))
    demanded = _demanded_scopes(document)
    resolver = Resolver(document)
    resolved = ((name, _resolved(resolver, node, str(name))) for name, node in nodes.items())
    return tuple(
        _scheme(document, str(name), node, tuple(demanded.get(name, ()))) for name, node in resolved if node is not None
    )


def _resolved(resolver: Resolver, node: Any, name: str) -> Mapping[str, Any] | None:
    """Return the object of an OAuth scheme, None for any other; a broken reference is reported by `tools.security`."""
    try:
        node, _ = resolver.follow(node, join("#/components/securitySchemes", name))
    except BrokenReference:
        return None
    kind = node.get("type") if isinstance(node, dict) else None
    return node if isinstance(kind, str) and kind in _KINDS else None


def _scheme(document: Document, name: str, node: Mapping[str, Any], scopes: tuple[str, ...]) -> OAuthScheme:
    flows = {kind: flow for kind, flow in _mapping(node.get("flows")).items() if isinstance(flow, dict)}
    endpoints = {
        field: next(filter(None, (_url(document, flow.get(key)) for flow in flows.values())), None)
        for field, key in _ENDPOINTS.items()
    }
    return OAuthScheme(
        name=name,
        flows=tuple(map(str, flows)),
        metadata_url=_url(document, node.get("openIdConnectUrl") or node.get("oauth2MetadataUrl")),
        scopes=scopes[:MAX_SCOPES],
        **endpoints,
    )


def _url(document: Document, value: Any) -> str | None:
    """Return an absolute URL; a relative one is resolved against the document's own (OpenAPI 3.1 §4.6)."""
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        url = urljoin(document.uri, value.strip())
    except ValueError:
        return None
    return url if url.startswith(("https://", "http://")) else None


def _demanded_scopes(document: Document) -> dict[str, dict[str, None]]:
    """Return the scopes that operations demand, by the name of the scheme, in the order of the document."""
    scopes: dict[str, dict[str, None]] = {}
    for requirement in _requirements(document.root):
        for name, demanded in requirement.items():
            if isinstance(demanded, list):
                known = scopes.setdefault(name, {})
                known.update(dict.fromkeys(scope for scope in demanded if isinstance(scope, str)))
    return scopes


def _requirements(root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    paths = _mapping(root.get("paths")).values()
    operations = (node for item in paths if isinstance(item, dict) for node in item.values() if isinstance(node, dict))
    for node in (root, *operations):
        security = node.get("security")
        if isinstance(security, list):
            yield from (requirement for requirement in security if isinstance(requirement, dict))


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}
