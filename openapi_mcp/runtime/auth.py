"""Credentials on a request: one alternative of `security`, complete or not at all, and nothing that was not asked for.

No credential is ever part of an error's text, a log line or a repr. Specification: OpenAPI 3.2 Security Requirement and
Security Scheme Objects, RFC 9110 §11, RFC 7617, RFC 6750.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from .errors import RequestError
from .models import SecurityScheme, Tool


@dataclass(frozen=True, slots=True)
class Credentials:
    """What one alternative adds to a request: (name, value) pairs, not yet escaped."""

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    cookies: tuple[tuple[str, str], ...] = field(default=(), repr=False)


_NONE: Final = Credentials()


def choose(
    tool: Tool, credentials: Mapping[str, str], *, client_certificate: bool = False
) -> tuple[SecurityScheme, ...]:
    """The alternative to use: the first that is satisfied, anonymous only when there is no other.

    A scheme is satisfied by its credential, mutualTLS by the certificate that every connection is made with. Without
    any, nothing is sent and the API says what it thinks of that (its 401 becomes the answer).
    """

    def satisfied(scheme: SecurityScheme) -> bool:
        return client_certificate if scheme.type == "mutualTLS" else bool(credentials.get(scheme.name))

    return next((schemes for schemes in tool.security if schemes and all(map(satisfied, schemes))), ())


def apply(tool: Tool, credentials: Mapping[str, str], *, client_certificate: bool = False) -> Credentials:
    """What to add to a request of `tool`. Raises RequestError for a credential that cannot be sent."""
    if not tool.security or not (credentials or client_certificate):
        return _NONE
    found: dict[str, dict[str, str]] = {"header": {}, "query": {}, "cookie": {}}
    for scheme in choose(tool, credentials, client_certificate=client_certificate):
        if scheme.type != "mutualTLS":  # which is a matter of the connection
            location, name, value = _placed(scheme, _clean(scheme, credentials[scheme.name]))
            found[location].setdefault(name, value)  # two schemes may want one header: the first has it
    return Credentials(*(tuple(found[location].items()) for location in ("header", "query", "cookie")))


def _placed(scheme: SecurityScheme, credential: str) -> tuple[str, str, str]:
    """Where a credential goes, under what name, and how it is written."""
    if scheme.type == "apiKey":
        return scheme.location or "header", scheme.parameter or "", credential
    if scheme.type == "http" and scheme.scheme == "basic":
        return "header", "Authorization", _prefixed("Basic", credential, _basic)
    if scheme.type == "http" and scheme.scheme not in {None, "bearer"}:
        return "header", "Authorization", _prefixed(_spelt(scheme.scheme or ""), credential, str)
    return "header", "Authorization", _prefixed("Bearer", credential, str)


def _spelt(scheme: str) -> str:
    """A scheme as its document spells it, with a capital where that has none: some servers do not ignore the case."""
    return scheme.capitalize() if scheme.islower() else scheme


def _prefixed(scheme: str, credential: str, write: Callable[[str], str]) -> str:
    """`Scheme credential`; a credential that already says its scheme is taken as it is."""
    first, space, _ = credential.partition(" ")
    return credential if space and first.lower() == scheme.lower() else f"{scheme} {write(credential)}"


def _basic(credential: str) -> str:
    """RFC 7617 §2: base64 of `user:password` in UTF-8. A credential without a colon is a user without a password."""
    pair = credential if ":" in credential else credential + ":"
    return base64.b64encode(pair.encode("utf-8")).decode("ascii")


def _clean(scheme: SecurityScheme, credential: str) -> str:
    """Without the white space that files and shells leave around it; a line break inside is refused, unshown."""
    text = credential.strip()
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise RequestError(f"The credential in {scheme.variable} holds a line break or control character.")
    return text


def hint(tool: Tool) -> str:
    """One sentence: where this operation's credentials are read from; empty where it asks for none."""
    ways = [" and ".join(map(_source, schemes)) for schemes in tool.security if schemes]
    if not ways:
        return ""
    return f"Credentials for it are read from the environment of the server: {', or '.join(dict.fromkeys(ways))}."


def _source(scheme: SecurityScheme) -> str:
    """The environment variable and what a person must put there; a certificate is not read from one."""
    if scheme.type == "mutualTLS":
        return "a client certificate (`--client-cert`)"
    if scheme.type == "http" and scheme.scheme == "basic":
        return f"`{scheme.variable}` (user:password)"
    return f"`{scheme.variable}` ({'an API key' if scheme.type == 'apiKey' else 'a token'})"
