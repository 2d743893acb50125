"""Sign in to the API with OAuth, and sign out: the commands `login` and `logout`."""

import asyncio
import webbrowser
from dataclasses import dataclass

from ..bridge import Bridge
from ..compilation import OAuthScheme
from ..errors import UsageError
from ..oauth import login as flows
from ..oauth.clients import OAuthClient
from ..oauth.endpoints import AccessToken, AuthorizationServer, OAuthFailure
from ..oauth.store import TokenStore, store_key
from ..oauth.tokens import authorization_server
from ..runtime.request.redaction import redact
from . import console

_USER_FLOWS = frozenset({"authorizationCode", "deviceAuthorization"})


@dataclass(frozen=True, slots=True)
class SignIn:
    """One scheme of a document, its authorization server, and the key of its token in the store."""

    scheme: OAuthScheme
    server: AuthorizationServer
    key: str


def sign_in(bridge: Bridge, name: str | None, *, device: bool, browser: bool, port: int) -> str:
    """Let a user sign in for a security scheme, and store the token. Return where it is. Raises UsageError."""
    chosen = _choose(bridge, name)
    scheme = chosen.server.client.endpoints(chosen.scheme)
    by_device = device or bool(scheme.device_url and not (scheme.authorization_url or scheme.metadata_url))
    work = (
        flows.with_device(chosen.server, _show_code)
        if by_device
        else flows.with_browser(chosen.server, port, _open_page if browser else _show_page)
    )
    place = TokenStore().put(chosen.key, _run(work))
    return f"signed in for the security scheme {chosen.scheme.name}; the token is in {place}"


def sign_out(bridge: Bridge, name: str | None) -> str:
    """Revoke and remove the token of a sign-in. Return what was done. Raises UsageError."""
    chosen = _choose(bridge, name)
    store = TokenStore()
    token = store.get(chosen.key)
    if token is None:
        return f"nobody is signed in for the security scheme {chosen.scheme.name}"
    store.drop(chosen.key)
    try:
        revoked = asyncio.run(chosen.server.revoke(token))
    except OAuthFailure as error:
        return f"signed out, but the token could not be revoked: {error}"
    rest = "" if revoked else "; the server has no endpoint to revoke the token, which is valid until it expires"
    return f"signed out{rest}"


def _choose(bridge: Bridge, name: str | None) -> SignIn:
    """Return the scheme of a name, or the only one that users sign in for. Raises UsageError."""
    source = redact(bridge.config.source)
    schemes = {scheme.name: scheme for scheme in bridge.document_info.oauth_schemes}
    names = ", ".join(schemes)
    if name is None:
        for_users = [each for each in schemes.values() if each.metadata_url or not _USER_FLOWS.isdisjoint(each.flows)]
        candidates = for_users or list(schemes.values())
        if len(candidates) != 1:
            message = f"the document has {len(candidates) or 'no'} security schemes to sign in for"
            raise UsageError(
                message, where=source, hint=f"choose one with --scheme: {names}" if names else "use --auth"
            )
        name = candidates[0].name
    if name not in schemes:
        hint = f"the document has {names}" if names else "the document has none; use --auth"
        raise UsageError(f"no such OAuth security scheme: {name}", where="--scheme", hint=hint)
    scheme = schemes[name]
    variables = {each.name: each.variable for each in bridge.security_schemes()}
    client: OAuthClient = bridge.oauth_settings.client(name, variables.get(name, ""))
    if not client.client_id:
        variable = f"{variables[name]}_CLIENT_ID" if name in variables else "the variable of its client id"
        hint = f"register a client with the API's provider; then set {variable} or --oauth {name}.client-id=…"
        raise UsageError(f"no OAuth client is configured for {name}", where=source, hint=hint)
    console.hide([client.client_secret or ""])
    settings = bridge.oauth_settings
    return SignIn(scheme, authorization_server(settings, scheme, client), store_key(settings.source, scheme, client))


def _run(work: "flows.SignInWork") -> AccessToken:
    try:
        return asyncio.run(work)
    except OAuthFailure as error:
        raise UsageError(str(error), where="the sign-in", hint="see --oauth and `openapi-mcp login --help`") from None


def _open_page(url: str) -> None:
    opened = webbrowser.open(url)
    console.err("Sign in in the browser." if opened else "No browser can be opened.")
    _show_page(url)


def _show_page(url: str) -> None:
    """Print the address on stdout, whose texts keep their queries."""
    console.err("The sign-in page is:")
    console.out(url)


def _show_code(page: str, code: str) -> None:
    console.err(f"On any device, open the page below and enter the code {code}")
    console.out(page)
