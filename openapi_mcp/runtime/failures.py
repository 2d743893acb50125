"""Why there was no answer, in one sentence for a model to read: what happened, where, and no secret.

What lies behind an error says more than the error; a sentence names the host, never a path, a query or a credential.
"""

import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Final

import httpx


def sentence(error: Exception, host: str, timeouts: Mapping[str, float | None]) -> str:
    """One sentence; `timeouts` are the seconds that were waited to `connect`, to `read` and in `total`."""
    for kind, text in _SENTENCES:
        if any(isinstance(cause, kind) for cause in causes(error)):
            seconds = {name: f"{value or 0:g} seconds" for name, value in timeouts.items()}
            return text.format(host=host, why=_why(error), **seconds)
    return f"The API at {host} could not be asked ({type(error).__name__})."


_SENTENCES: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (httpx.PoolTimeout, "Too many calls to {host} are under way; none ended within {read}."),
    (httpx.ConnectTimeout, "No connection to {host} within {connect}."),
    (httpx.ReadTimeout, "The API at {host} did not answer within {read}."),
    (httpx.WriteTimeout, "The API at {host} did not take the request within {read}."),
    (httpx.ProxyError, "The proxy did not pass the request on to {host}."),
    (socket.gaierror, "The host {host} is not known; is the base URL right?"),
    (ssl.SSLError, "No secure connection to {host}: {why}."),
    (ConnectionRefusedError, "{host} refused the connection; is the API running there?"),
    (httpx.ConnectError, "{host} cannot be reached."),
    (httpx.DecodingError, "The API at {host} sent a body that is not compressed as its Content-Encoding says."),
    (httpx.RemoteProtocolError, "The API at {host} broke the connection off, or what it sent is not HTTP."),
    (httpx.NetworkError, "The connection to {host} broke off."),
    (httpx.LocalProtocolError, "The request cannot be sent: one of its headers is not allowed in HTTP."),
    (TimeoutError, "The API at {host} was not done after {total}."),
)
"""The first that occurs among an error's causes decides; what lies deeper says more than what wraps it."""


def _why(error: Exception) -> str:
    """What TLS did not like."""
    found = next((cause for cause in causes(error) if isinstance(cause, ssl.SSLError)), None)
    if isinstance(found, ssl.SSLCertVerificationError):
        return found.verify_message
    reason = (found.reason if found else "") or ""
    if "CERTIFICATE_REQUIRED" in reason:
        return "it asks for a client certificate (`--client-cert`)"
    return reason or "the TLS handshake failed"


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and all that lies behind it."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for inner in error.exceptions:
                yield from causes(inner)
        error = error.__cause__ or error.__context__
