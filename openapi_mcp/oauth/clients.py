"""`OAuthClient`: this program as a client of an authorization server, as `--oauth SCHEME.FIELD=VALUE` configures it.

The id and the secret may also be in the environment: `API_TITLE_SCHEME_CLIENT_ID` and `API_TITLE_SCHEME_CLIENT_SECRET`.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Final

from ..compilation import OAuthScheme
from ..egress.policy import EgressPolicy
from ..errors import UsageError
from ..runtime.request.credentials import FROM_ENVIRONMENT

AUTH_METHODS: Final = ("client_secret_basic", "client_secret_post", "none")
"""Ways to authenticate at a token endpoint (RFC 7591 §2) that are supported."""


ID_JAG: Final = "id-jag"
EXCHANGES: Final = ("token-exchange", "jwt-bearer", ID_JAG)
"""Grants that take the token of a caller: RFC 8693 §2.1, RFC 7523 §2.1, and one after the other with an assertion of
the identity provider (Identity Assertion JWT Authorization Grant)."""

CALLBACK: Final = "/oauth/callback"
"""The path of the page of this server to which those of authorization servers return."""

_CHOICES: Final = {"auth-method": AUTH_METHODS, "exchange": EXCHANGES}


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """The client of one security scheme; a URL given here replaces that of the document.

    `scopes` None means those that the document's operations demand. `audience` and `resource` (RFC 8707) are sent with
    each token request. `auth_method` is one of AUTH_METHODS; None takes what the server's metadata says. `exchange`,
    one of EXCHANGES, exchanges the token of each caller of this server for one that is for the API; with ID_JAG the
    identity provider is asked first, at `idp_token_url`, as the client `idp_client_id` (by default the same one).
    """

    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    scopes: tuple[str, ...] | None = None
    audience: str | None = None
    resource: str | None = None
    auth_method: str | None = None
    exchange: str | None = None
    token_url: str | None = None
    authorization_url: str | None = None
    device_url: str | None = None
    metadata_url: str | None = None
    idp_token_url: str | None = None
    idp_client_id: str | None = None
    idp_client_secret: str | None = field(default=None, repr=False)

    def in_environment(self, variable: str, environment: Mapping[str, str]) -> "OAuthClient":
        """Return this client with its id and secret read from the environment.

        `variable` is that of the scheme's static credential. Raises UsageError for `env:NAME` that is not set.
        """
        secret = _read_secret(self.client_secret, environment)
        return replace(
            self,
            client_id=self.client_id or environment.get(f"{variable}_CLIENT_ID") or None,
            client_secret=secret or environment.get(f"{variable}_CLIENT_SECRET") or None,
            idp_client_secret=_read_secret(self.idp_client_secret, environment),
        )

    @property
    def urls(self) -> list[str]:
        """The URLs that the user gave."""
        return [url for name in (*_URLS, "idp_token_url") if (url := getattr(self, name))]

    def of_identity_provider(self) -> "OAuthClient":
        """Return the client that asks the identity provider for assertions."""
        own = self.idp_client_id is not None
        return OAuthClient(
            client_id=self.idp_client_id or self.client_id,
            client_secret=self.idp_client_secret if own else self.idp_client_secret or self.client_secret,
            audience=self.audience,
            resource=self.resource,
            token_url=self.idp_token_url,
        )

    def endpoints(self, scheme: OAuthScheme) -> OAuthScheme:
        """Return a scheme whose URLs are those of this client, where it names them, and whose scopes are requested.

        A token endpoint of the settings also renews tokens: the document's `refreshUrl` would get the client's secret.
        """
        named = {name: url for name in _URLS if (url := getattr(self, name))}
        named |= {"refresh_url": None} if self.token_url else {}
        return replace(scheme, scopes=scheme.scopes if self.scopes is None else self.scopes, **named)


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    """The clients of a document's schemes, by name, and the certificates of connections; `source` is the document.

    `egress` judges the hosts of authorization servers. With `callback`, the address to which pages of
    theirs return, each user of this server signs in for themselves where a scheme has such pages.
    """

    source: str = field(repr=False)
    clients: Mapping[str, OAuthClient] = field(default_factory=dict)
    ca: Path | None = None
    client_cert: Path | None = None
    client_key: Path | None = None
    egress: EgressPolicy = field(default_factory=EgressPolicy)
    callback: str | None = None

    def client(self, scheme: str, variable: str, environment: Mapping[str, str] = os.environ) -> OAuthClient:
        """Return the client of a scheme, whose static credential is in `variable`. Raises UsageError."""
        return self.clients.get(scheme, OAuthClient()).in_environment(variable, environment)


def _read_secret(text: str | None, environment: Mapping[str, str]) -> str | None:
    """Return a secret, which a variable may hold (`env:NAME`). Raises UsageError."""
    if text is None or not text.startswith(FROM_ENVIRONMENT):
        return text
    name = text.removeprefix(FROM_ENVIRONMENT).strip()
    if not environment.get(name):
        hint = "set the variable, or correct --oauth"
        raise UsageError(f"the environment variable {name} is not set", where="--oauth", hint=hint)
    return environment[name]


_URLS: Final = ("token_url", "authorization_url", "device_url", "metadata_url")
_FIELDS: Final = tuple(each.name.replace("_", "-") for each in fields(OAuthClient))


def parse_clients(texts: Iterable[str]) -> dict[str, OAuthClient]:
    """Return the clients by the name of their scheme, from `SCHEME.FIELD=VALUE`. Raises UsageError.

    No value is shown in an error: it may be a secret.
    """
    clients: dict[str, OAuthClient] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        scheme, _, name = key.strip().rpartition(".")
        if not (equals and scheme and name in _FIELDS and value.strip()):
            hint = f"fields are {', '.join(_FIELDS)}; for example --oauth petstore_auth.client-id=my-client"
            raise UsageError("an OAuth setting must be written SCHEME.FIELD=VALUE", where="--oauth", hint=hint)
        setting: object = tuple(value.replace(",", " ").split()) if name == "scopes" else value.strip()
        if setting not in _CHOICES.get(name, (setting,)):
            raise UsageError(f"unknown {name}", where=f"--oauth {key}", hint=f"write {' or '.join(_CHOICES[name])}")
        client = clients.get(scheme, OAuthClient())
        clients[scheme] = replace(client, **{name.replace("-", "_"): setting})  # type: ignore[arg-type]  # by its field
    return clients
