"""`DoorSettings`: the authorization server, this server as it knows it, and the way in which tokens are verified."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self

from ..egress.policy import NO_RULES, EgressPolicy, EgressRules
from ..errors import UsageError
from .resource import ProtectedResource, canonical, check_url

if TYPE_CHECKING:
    from .discovery import Tls
    from .door import OAuthDoor
    from .tokens import TokenVerifier

PAGE_CALLBACK: Final = "/ui/callback"
"""The path to which the authorization server returns people who sign in to the page of this server."""

_OPTIONS: Final = ("auth_audience", "auth_introspection", "auth_client_id", "auth_client_secret")


@dataclass(frozen=True, slots=True)
class DoorSettings:
    """The options of the door. With `introspects` tokens are introspected by its client, else verified by keys.

    The client, which may have no secret, also lets users say who they are on the pages of `--sign-in-url`, and people
    sign in to the page at `/`.
    """

    resource: ProtectedResource
    client_id: str | None = None
    client_secret: str = field(default="", repr=False)
    introspects: bool = False

    @classmethod
    def from_options(cls, options: Mapping[str, Any], path: str) -> Self | None:
        """Read the options of `--help`; None where no issuer is named. Raises UsageError."""
        issuer, audiences = options.get("auth_issuer"), tuple(options.get("auth_audience") or ())
        if not issuer:
            _check_alone(options)
            return None
        if options.get("auth_token"):
            hint = "leave --auth-token and OPENAPI_MCP_AUTH_TOKEN out, or --auth-issuer"
            raise UsageError(
                "a fixed token and an authorization server cannot be used together",
                where="--auth-token and --auth-issuer",
                hint=hint,
            )
        check_url(issuer, "--auth-issuer")
        if not audiences:
            hint = "name the URL by which clients reach this server, for which tokens are issued"
            raise UsageError("the audience of access tokens is missing", where="--auth-audience", hint=hint)
        check_url(audiences[0], "--auth-audience")
        resource = ProtectedResource(canonical(audiences[0]), issuer, path, audiences[1:])
        client_id, secret = options.get("auth_client_id"), options.get("auth_client_secret") or ""
        introspects = bool(options.get("auth_introspection"))
        _check_client(options, client_id, secret)
        return cls(resource, client_id, secret, introspects)

    @property
    def page_callback(self) -> str:
        """The redirect URI of the page, which is registered for the client."""
        return f"{self.resource.origin}{PAGE_CALLBACK}"

    def door(self, tls: "Tls", scopes: "Callable[[], Collection[str]]", egress: EgressRules = NO_RULES) -> "OAuthDoor":
        """Make the door; `tls` is for requests to the authorization server, which `egress` limits.

        `scopes` are those that the tools need.
        """
        from .door import OAuthDoor

        return OAuthDoor(self.resource, self.verifier(tls, EgressPolicy(egress)), scopes)

    def verifier(self, tls: "Tls", egress: EgressPolicy) -> "TokenVerifier":
        """Make the verifier of tokens."""
        from .keys import SigningKeys
        from .tokens import IntrospectionVerifier, JwtVerifier

        if self.introspects:
            client = self.client_id or "", self.client_secret
            return IntrospectionVerifier(self.resource, *client, tls, egress=egress)
        return JwtVerifier(self.resource, SigningKeys(self.resource.issuer, tls, egress=egress))


def _check_alone(options: Mapping[str, Any]) -> None:
    for name in _OPTIONS:
        if options.get(name) and name != "auth_client_secret":  # whose variable may be set for other servers
            where = f"--{name.replace('_', '-')}"
            raise UsageError("no authorization server is named", where=where, hint="add --auth-issuer URL")


def _check_client(options: Mapping[str, Any], client_id: str | None, secret: str) -> None:
    """Raise UsageError for a client that is missing, or needed for nothing."""
    if options.get("auth_introspection"):
        if not client_id or not secret:
            hint = "set --auth-client-id, and OPENAPI_MCP_AUTH_CLIENT_SECRET to its secret"
            raise UsageError("introspection needs a client id and its secret", where="--auth-introspection", hint=hint)
    elif options.get("sign_in_url"):
        if not client_id:
            hint = "register a client at the authorization server of --auth-issuer, with this server's /oauth/callback"
            raise UsageError(
                "signing users in needs a client of the authorization server",
                where="--sign-in-url",
                hint=f"{hint}; then set --auth-client-id",
            )
    elif client_id and options.get("no_ui"):
        message = "a client is needed for introspection, --sign-in-url and the page only"
        raise UsageError(message, where="--auth-client-id", hint="leave it, or --no-ui, out")
