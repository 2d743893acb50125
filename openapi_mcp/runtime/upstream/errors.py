"""Descriptions, for a model to read, of why the API gave no response: what happened and at which host.

The text follows the most specific of an error's causes. It names the host, never a path, a query or a credential.
"""

import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Final

import httpx

from .decoding import UnreadableCoding
from .http11 import IncompleteResponse, MalformedResponse


def describe(error: Exception, host: str, timeouts: Mapping[str, float | None]) -> str:
    """Return one sentence about `error`; `timeouts` are the limits in seconds for `connect` and `read`."""
    for kind, text in _SENTENCES:
        if any(isinstance(cause, kind) for cause in causes(error)):
            seconds = {name: f"{value or 0:g} seconds" for name, value in timeouts.items()}
            return text.format(host=host, reason=_reason(error), **seconds)
    return f"The request to the API at {host} failed ({type(error).__name__})."


_SENTENCES: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (httpx.PoolTimeout, "Too many calls to {host} are in progress; none ended within {read}."),
    (httpx.ConnectTimeout, "No connection to {host} within {connect}."),
    (httpx.ReadTimeout, "The API at {host} did not answer within {read}."),
    (httpx.WriteTimeout, "The API at {host} did not accept the request within {read}."),
    (httpx.ProxyError, "The proxy did not pass the request on to {host}."),
    (socket.gaierror, "The host {host} is not known; is the base URL right?"),
    (ssl.SSLError, "No secure connection to {host}: {reason}."),
    (ConnectionRefusedError, "{host} refused the connection; is the API running there?"),
    (httpx.ConnectError, "{host} cannot be reached."),
    (UnreadableCoding, "The API at {host} sent a body that is {reason}."),
    (httpx.DecodingError, "The API at {host} sent a body that is not compressed as its Content-Encoding says."),
    (MalformedResponse, "The API at {host} sent something that is not HTTP/1.1: {reason}."),
    (IncompleteResponse, "The API at {host} {reason}."),
    (httpx.RemoteProtocolError, "The API at {host} closed the connection early, or sent something that is not HTTP."),
    (httpx.NetworkError, "The connection to {host} broke off."),
    (httpx.LocalProtocolError, "The request cannot be sent: one of its headers is not allowed in HTTP."),
)
"""Sentences by exception class. The first class found among an error's causes is used: specific classes come first."""


def _reason(error: Exception) -> str:
    """Return why this program could not read a response, or why TLS failed."""
    texts = (cause for cause in causes(error) if isinstance(cause, _WITH_REASON))
    return next(map(str, texts), "") or _tls_reason(error)


_WITH_REASON: Final = (UnreadableCoding, MalformedResponse, IncompleteResponse)
"""The exceptions of this program whose texts are for a model; those of others may repeat what was received."""


def _tls_reason(error: Exception) -> str:
    """Return why the TLS handshake failed, and the option that helps."""
    tls_error = next((cause for cause in causes(error) if isinstance(cause, ssl.SSLError)), None)
    hint = f"; {certificate_hint(error)}" if certificate_hint(error) else ""
    if isinstance(tls_error, ssl.SSLCertVerificationError):
        return f"{tls_error.verify_message}{hint}"
    return f"{(tls_error.reason if tls_error else '') or 'the TLS handshake failed'}{hint}"


_UNTRUSTED: Final = frozenset({2, 18, 19, 20, 21})
"""OpenSSL's codes of a certificate that no trusted one vouches for: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT and so on."""


def certificate_hint(error: Exception) -> str:
    """Return the option that helps where TLS failed because of a certificate; an empty text where none does."""
    for cause in causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            untrusted = getattr(cause, "verify_code", None) in _UNTRUSTED  # which only OpenSSL sets
            return "if you trust that server, give its certificate with `--ca`" if untrusted else ""
        if isinstance(cause, ssl.SSLError) and "CERTIFICATE_REQUIRED" in (cause.reason or ""):
            return "it asks for a client certificate (`--client-cert`)"
    return ""


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and everything that caused it, the members of exception groups included."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for inner in error.exceptions:
                yield from causes(inner)
        error = error.__cause__ or error.__context__
