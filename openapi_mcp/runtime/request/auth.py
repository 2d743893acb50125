"""Credentials of a request: those of one alternative of `security`, complete or none, and those of required parameters.

A credential that is a required parameter of the operation too is sent whenever it is configured; without it the call is
refused before it is sent.

No credential is ever part of an error's text, a log line or a repr.

Specification: OpenAPI 3.2 Security Requirement and Security Scheme Objects, RFC 9110 §11, RFC 7617, RFC 6750.
"""

import base64
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl

import httpx

from ..errors import RequestError
from ..tool import SecurityScheme, Tool
from .context import context_of


@dataclass(frozen=True, slots=True)
class Credentials:
    """The headers, query pairs and cookies of one alternative: (name, value), not yet escaped."""

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    cookies: tuple[tuple[str, str], ...] = field(default=(), repr=False)


_NONE: Final = Credentials()


def select_schemes(
    tool: Tool, credentials: Mapping[str, str], *, client_certificate: bool = False
) -> tuple[SecurityScheme, ...]:
    """Return the schemes of the first satisfied alternative; anonymous access only if no other is satisfied.

    A scheme is satisfied by its credential, mutualTLS by the client certificate of every connection. If no alternative
    is satisfied, no credential is sent, and the API's answer (its 401, for example) becomes the result.
    """

    def satisfied(scheme: SecurityScheme) -> bool:
        return client_certificate if scheme.type == "mutualTLS" else bool(credentials.get(scheme.name))

    return next((schemes for schemes in tool.security if schemes and all(map(satisfied, schemes))), ())


def build_credentials(tool: Tool, credentials: Mapping[str, str], *, client_certificate: bool = False) -> Credentials:
    """Return the credentials of a request of `tool`. Raises RequestError for one that cannot be sent."""
    if not tool.security or not (credentials or client_certificate):
        return _NONE
    by_location: dict[str, dict[str, str]] = {"header": {}, "query": {}, "cookie": {}}
    for scheme in sent_schemes(tool, credentials, client_certificate=client_certificate):
        if scheme.type != "mutualTLS":  # the connection has the certificate
            location, name, value = _locate(scheme, _strip(scheme, credentials[scheme.name]))
            by_location[location].setdefault(name, value)  # of two schemes for one header the first counts
    return Credentials(*(tuple(by_location[location].items()) for location in ("header", "query", "cookie")))


def sent_schemes(
    tool: Tool, credentials: Mapping[str, str], *, client_certificate: bool = False
) -> tuple[SecurityScheme, ...]:
    """Return the schemes whose credentials a request carries: the selected alternative's and the required ones."""
    selected = select_schemes(tool, credentials, client_certificate=client_certificate)
    required = (scheme for scheme in tool.required_schemes if credentials.get(scheme.name))
    return tuple(dict.fromkeys((*selected, *required)))


def missing_credentials(
    tool: Tool, credentials: Mapping[str, str], headers: Collection[tuple[str, str]], base_query: str
) -> tuple[str, str]:
    """Return which required parameters have no configured credential, and what to do; empty texts if all have one.

    Besides credentials, configured headers (also one with cookies) and the query of the base URL can hold it.
    """
    configured = {(scheme.location, _name(scheme)) for scheme in _schemes(tool) if credentials.get(scheme.name)}
    configured |= {("header", name.lower()) for name, _ in headers}
    configured |= {("query", name) for name, _ in parse_qsl(base_query, keep_blank_values=True)}
    cookies = (value for name, value in headers if name.lower() == "cookie")
    configured |= {("cookie", pair.partition("=")[0].strip()) for value in cookies for pair in value.split(";")}
    missing = [scheme for scheme in tool.required_schemes if (scheme.location, _name(scheme)) not in configured]
    if not missing:
        return "", ""
    names = " and ".join(dict.fromkeys(f"the {scheme.location} parameter `{scheme.parameter}`" for scheme in missing))
    sources = " and ".join(f"`{scheme.variable}` (security scheme `{scheme.name}`)" for scheme in missing)
    requirement = f"This operation requires {names}, whose credential is not configured"
    return requirement, f"Set {sources} in the environment of the server."


def _name(scheme: SecurityScheme) -> str:
    """Return the name of an API key's parameter as it is compared: names of headers are case-insensitive."""
    name = scheme.parameter or ""
    return name.lower() if scheme.location == "header" else name


def _schemes(tool: Tool) -> Iterator[SecurityScheme]:
    for alternative in tool.security:
        yield from alternative


def _locate(scheme: SecurityScheme, credential: str) -> tuple[str, str, str]:
    """Return the location, the name and the value of a credential in the request."""
    if scheme.type == "apiKey":
        return scheme.location or "header", scheme.parameter or "", credential
    if scheme.type == "http" and scheme.scheme == "basic":
        return "header", "Authorization", _with_scheme("Basic", credential, _basic)
    if scheme.type == "http" and scheme.scheme not in {None, "bearer"}:
        return "header", "Authorization", _with_scheme(_scheme_name(scheme.scheme or ""), credential, str)
    return "header", "Authorization", _with_scheme("Bearer", credential, str)


def _scheme_name(scheme: str) -> str:
    """Return a scheme as the document spells it, capitalised if it is in lower case: some servers require that."""
    return scheme.capitalize() if scheme.islower() else scheme


def _with_scheme(scheme: str, credential: str, write: Callable[[str], str]) -> str:
    """Return `Scheme credential`; a credential that begins with its scheme is unchanged."""
    first, space, _ = credential.partition(" ")
    return credential if space and first.lower() == scheme.lower() else f"{scheme} {write(credential)}"


def _basic(credential: str) -> str:
    """Return base64 of `user:password` in UTF-8 (RFC 7617 §2); a credential without a colon has no password."""
    pair = credential if ":" in credential else credential + ":"
    return base64.b64encode(pair.encode("utf-8")).decode("ascii")


def _strip(scheme: SecurityScheme, credential: str) -> str:
    """Remove the white space that files and shells leave around a credential. Raises RequestError for a line break."""
    text = credential.strip()
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise RequestError(
            f"The credential in {scheme.variable} contains a line break or control character; remove it."
        )
    return text


def refusal_hint(tool: Tool, response: httpx.Response) -> str:
    """Return what the API refused with 401 or 403, and what to do: set, correct or extend which credential.

    The API's own words follow: `error`, `error_description` and `scope` of WWW-Authenticate (RFC 6750 §3) or of the
    JSON body.
    """
    sent = context_of(response.request).sent
    if sent:
        names = " and ".join(f"the security scheme `{scheme.name}` (`{source}`)" for scheme, source in sent)
        if response.status_code == 403:
            hint = f"The credential of {names} was sent, but it does not allow this operation."
        else:
            hint = f"The credential of {names} was sent and refused: it may be wrong or expired."
    elif name := _credential_header(tool, response.request):
        hint = f"The configured header {name} was sent and refused."
    else:
        hint = _missing_hint(tool)
    return " ".join(part for part in (hint, _own_words(response)) if part)


def _credential_header(tool: Tool, request: httpx.Request) -> str | None:
    """Return the name of the configured header that carries a credential; None where there is none."""
    names = [scheme.parameter or "" for scheme in _schemes(tool) if scheme.location == "header"]
    return next((name for name in ("Authorization", *names) if name in request.headers), None)


def _missing_hint(tool: Tool) -> str:
    if described := variables_hint(tool):
        return f"No credential was sent, since none is configured. {described}"
    return (
        "The document names no security scheme for this operation. If the API needs a credential, start the server "
        "with `--header 'Authorization: Bearer …'` or the header that the API expects."
    )


_CHALLENGE: Final = re.compile(r'\b(error|error_description|scope)\s*=\s*"([^"]{1,300})"', re.IGNORECASE)


def _own_words(response: httpx.Response) -> str:
    """Return the API's reason in a sentence; empty where it gives none in a known field."""
    words = {name.lower(): text for name, text in _CHALLENGE.findall(response.headers.get("www-authenticate", ""))}
    if "error_description" not in words:
        words |= _json_words(response)
    reason = ": ".join(words[name] for name in ("error", "error_description") if name in words)
    scope = f"required scope: {words['scope']}" if "scope" in words else ""
    text = "; ".join(part for part in (reason, scope) if part)
    return f"The API says: {text.rstrip('.')}." if text else ""


def _json_words(response: httpx.Response) -> dict[str, str]:
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return {}
    fields = ("error", "error_description", "scope") if isinstance(body, dict) and "error_description" in body else ()
    return {name: body[name][:300] for name in fields if isinstance(body.get(name), str)}


def variables_hint(tool: Tool) -> str:
    """Return a sentence that tells where this operation's credentials are read from; empty if it needs none."""
    alternatives = (dict.fromkeys((*schemes, *tool.required_schemes)) for schemes in tool.security)
    sources = [" and ".join(map(_source, schemes)) for schemes in alternatives if schemes]
    if not sources:
        return ""
    return f"Credentials for it are read from the environment of the server: {', or '.join(dict.fromkeys(sources))}."


def _source(scheme: SecurityScheme) -> str:
    """Return the environment variable and the form of its value; for mutualTLS the option of the certificate."""
    if scheme.type == "mutualTLS":
        return "a client certificate (`--client-cert`)"
    if scheme.type == "http" and scheme.scheme == "basic":
        return f"`{scheme.variable}` (user:password)"
    return f"`{scheme.variable}` ({'an API key' if scheme.type == 'apiKey' else 'a token'})"
