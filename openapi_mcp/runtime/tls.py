"""Whom the bridge trusts and as whom it speaks over TLS: certificate files as an `ssl.SSLContext`.

A file that cannot be used is a RequestError that names it and says why, when the server starts and not at the first
call. Nothing here weakens TLS: certificates and host names are always checked. Specification: OpenAPI 3.2 Security
Scheme Object (`mutualTLS`), RFC 8446 §4.4.2.
"""

import ssl
from pathlib import Path
from typing import Final

import httpx

from .errors import RequestError

# Without a password OpenSSL would ask for one on the terminal; an empty one makes an encrypted key an error instead.
_NO_PASSWORD: Final = ""


def tls_context(ca: Path | None, client_cert: Path | None, client_key: Path | None) -> ssl.SSLContext | bool:
    """How to verify the upstream, as httpx takes it: True (its own way) where no file is given. Raises RequestError.

    `ca` holds the certificates to trust, instead of all others: a PEM file, or a folder as `openssl rehash` makes it.
    `client_cert` is a PEM file with the client's certificate and those that vouch for it; its key stands in
    `client_key`, or in the same file.
    """
    if client_key is not None and client_cert is None:
        raise RequestError(f"The client key {client_key} is of no use without its certificate; give both.")
    if ca is None and client_cert is None:
        return True
    context = httpx.create_ssl_context() if ca is None else _trusting(ca)
    if client_cert is not None:
        _identify(context, client_cert, client_key)
    return context


def _trusting(ca: Path) -> ssl.SSLContext:
    try:
        if ca.is_dir():
            return ssl.create_default_context(capath=ca)
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError as error:
        raise RequestError(f"The file of trusted certificates {ca} holds none in PEM form.") from error
    except OSError as error:
        raise RequestError(f"The file of trusted certificates {ca} cannot be read: {error.strerror}.") from error


def _identify(context: ssl.SSLContext, cert: Path, key: Path | None) -> None:
    for path in (cert, key or cert):
        _check_readable(path)
    try:
        context.load_cert_chain(cert, key, password=_NO_PASSWORD)
    except ssl.SSLError as error:
        raise RequestError(_why_unusable(error, cert, key)) from error


def _check_readable(path: Path) -> None:
    """OpenSSL does not say which of the two files is not there."""
    try:
        path.open("rb").close()
    except OSError as error:
        raise RequestError(f"The client certificate file {path} cannot be read: {error.strerror}.") from error


def _why_unusable(error: ssl.SSLError, cert: Path, key: Path | None) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"The client key {key or cert} does not belong to the certificate {cert}."
    if key is None:
        return f"{cert} does not hold a client certificate and its key, unencrypted, in PEM form; is the key elsewhere?"
    return f"{cert} and {key} are not a client certificate and its key, unencrypted, in PEM form."
