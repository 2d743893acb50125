"""What a user asked for, as one frozen value: where the document is, which tools are wanted, how the API is called.

It is the only place that reads the environment, and it never prints a credential.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .errors import UsageError
from .runtime.models import SecurityScheme
from .runtime.requests import RequestOptions
from .selection import Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """One bridge's settings. `credentials` are those given outright, by the name of their security scheme."""

    source: str
    spec_headers: Mapping[str, str] = field(default_factory=dict)
    allow_remote_refs: bool = False
    selection: Selection = field(default_factory=Selection)
    base_url: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    credentials: Mapping[str, str] = field(default_factory=dict)

    def request_options(self, schemes: Iterable[SecurityScheme], environment: Mapping[str, str]) -> RequestOptions:
        """How requests are made: a scheme's credential is the one given outright, else its environment variable's."""
        found = {scheme.name: environment.get(scheme.variable, "") for scheme in schemes} | dict(self.credentials)
        credentials = {name: secret for name, secret in found.items() if secret}
        return RequestOptions(base_url=self.base_url, headers=self.headers, credentials=credentials)


def parse_header(text: str) -> tuple[str, str]:
    """Read `Name: value`, as --header and --spec-header take it."""
    name, colon, value = text.partition(":")
    if not colon or not name.strip() or any(character in text for character in "\r\n\0"):
        raise UsageError(
            "a header is written 'Name: value'", where=name.strip() or text[:20], hint="quote the whole of it"
        )
    return name.strip(), value.strip()


def parse_credential(text: str) -> tuple[str, str]:
    """Read `scheme=value`, as --auth takes it."""
    scheme, equals, secret = text.partition("=")
    if not equals or not scheme or not secret:
        raise UsageError(
            "a credential is written scheme=value", where="--auth", hint="`openapi-mcp inspect` names the schemes"
        )
    return scheme, secret
