"""TLS towards the API: the certificates to trust and the client's own, from files to an `ssl.SSLContext`.

A file that cannot be used is a RequestError with its path and the reason when the server starts, not at the first call.
Nothing here weakens TLS: certificates and host names are always checked. Specification: OpenAPI 3.2 Security Scheme
Object (`mutualTLS`), RFC 8446 §4.4.2.
"""

import ssl
from pathlib import Path
from typing import Final

import httpx

from ..errors import RequestError

# Without a password OpenSSL would ask for one on the terminal; an empty one makes an encrypted key an error instead.
_NO_PASSWORD: Final = ""


def tls_context(ca: Path | None, client_cert: Path | None, client_key: Path | None) -> ssl.SSLContext | bool:
    """Return httpx's `verify`: a context, or True (httpx's default certificates) without files. Raises RequestError.

    `ca` holds the certificates to trust instead of all others: a PEM file, or a folder as `openssl rehash` makes it.
    `client_cert` is a PEM file with the client's certificate and its intermediate certificates; its key is in
    `client_key`, or in the same file.
    """
    if client_key is not None and client_cert is None:
        raise RequestError(f"The client key {client_key} needs its certificate: set the client certificate too.")
    if ca is None and client_cert is None:
        return True
    context = httpx.create_ssl_context() if ca is None else _context_trusting(ca)
    if client_cert is not None:
        _load_client_certificate(context, client_cert, client_key)
    return context


def _context_trusting(ca: Path) -> ssl.SSLContext:
    try:
        if ca.is_dir():
            return ssl.create_default_context(capath=ca)
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError as error:
        raise RequestError(f"The file of trusted certificates {ca} holds none in PEM form.") from error
    except OSError as error:
        raise RequestError(f"The file of trusted certificates {ca} cannot be read: {error.strerror}.") from error


def _load_client_certificate(context: ssl.SSLContext, cert: Path, key: Path | None) -> None:
    for path in (cert, key or cert):
        _check_readable(path)
    try:
        context.load_cert_chain(cert, key, password=_NO_PASSWORD)
    except ssl.SSLError as error:
        raise RequestError(_describe_failure(error, cert, key)) from error


def _check_readable(path: Path) -> None:
    """Raise a RequestError for a file that cannot be opened: OpenSSL does not say which of the two files it is."""
    try:
        path.open("rb").close()
    except OSError as error:
        raise RequestError(f"The client certificate file {path} cannot be read: {error.strerror}.") from error


def _describe_failure(error: ssl.SSLError, cert: Path, key: Path | None) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"The client key {key or cert} does not belong to the certificate {cert}."
    if key is None:
        return (
            f"{cert} must hold a client certificate and its unencrypted key in PEM form. "
            "If the key is in another file, set that too."
        )
    return f"{cert} and {key} are not a client certificate and its unencrypted key in PEM form."
