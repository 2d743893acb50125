"""The authorization code flow with PKCE: the address of a sign-in page, and the token for its answer.

Specification: RFC 6749 §4.1, RFC 7636, RFC 8707, RFC 9207.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from .endpoints import AccessToken, AuthorizationServer, OAuthFailure, check_url, printable


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """A request for a code, whose answer goes to `redirect` with `state`; `verifier` proves who made it (PKCE)."""

    redirect: str
    state: str
    verifier: str = field(repr=False)

    @classmethod
    def new(cls, redirect: str, prefix: str = "") -> Self:
        """Return a request with a state, which begins with `prefix`, and a verifier that nobody guesses."""
        return cls(redirect, prefix + secrets.token_urlsafe(32), secrets.token_urlsafe(48))

    async def page(self, server: AuthorizationServer) -> str:
        """Return the address of the page on which the user signs in. Raises OAuthFailure."""
        from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        endpoints = await server.scheme()
        if not endpoints.authorization_url:
            hint = f"set --oauth {endpoints.name}.authorization-url=…, or use --device"
            raise OAuthFailure(f"No authorization endpoint is known for `{endpoints.name}`; {hint}.")
        check_url(endpoints.authorization_url)
        named = {"resource": server.client.resource, "audience": server.client.audience}
        url: str = prepare_grant_uri(
            endpoints.authorization_url,
            client_id=server.client.client_id,
            response_type="code",
            redirect_uri=self.redirect,
            scope=server.scope or None,
            state=self.state,
            code_challenge=create_s256_code_challenge(self.verifier),
            code_challenge_method="S256",
            **{name: value for name, value in named.items() if value},
        )
        return url

    async def token(self, server: AuthorizationServer, answer: Mapping[str, str]) -> AccessToken:
        """Return the token for the answer that came with this state. Raises OAuthFailure."""
        code = read_code(answer, await server.metadata())
        fields = {"code": code, "redirect_uri": self.redirect, "code_verifier": self.verifier}
        return await server.token("authorization_code", fields)


def read_code(answer: Mapping[str, str], metadata: Mapping[str, Any]) -> str:
    """Return the code of an authorization response. Raises OAuthFailure for an error, or another issuer (RFC 9207)."""
    issuer = metadata.get("issuer")
    demanded = metadata.get("authorization_response_iss_parameter_supported") is True
    if isinstance(issuer, str) and ("iss" in answer or demanded) and answer.get("iss") != issuer:
        raise OAuthFailure("The answer came from another authorization server than the one that was asked.")
    if "error" in answer or not answer.get("code"):
        words = [answer[name] for name in ("error", "error_description") if answer.get(name)]
        reason = printable(": ".join(words))
        raise OAuthFailure(f"The sign-in was refused: {reason or 'there is no code in the answer'}.")
    return answer["code"]
