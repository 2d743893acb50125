"""Addresses of documents: http(s) addresses, local paths and `file:` URLs; and the certificates for fetching them.

A start with cached tools needs no more of this folder.
"""

import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ..errors import UsageError
from ..runtime.errors import RequestError
from ..runtime.upstream.tls import tls_context


def is_remote(source: str) -> bool:
    """Return whether a path or URI is an http(s) address."""
    return source[:8].lower().startswith(("http://", "https://"))


def local_path(source: str) -> Path:
    """Return the path of a local file that is given as a path or as a `file:` URL."""
    return Path(url2pathname(urlsplit(source).path)) if source.startswith("file:") else Path(source)


def real_path(path: Path) -> Path:
    """Return the absolute path with symbolic links followed, as far as they lead.

    Of links that lead back to themselves opening the file reports OSError (ELOOP). `Path.resolve` raises RuntimeError
    for them before Python 3.13, and nothing since.
    """
    return Path(os.path.realpath(path))


@dataclass(frozen=True, slots=True)
class Certificates:
    """The files of the trusted certificates and of the client's own (PEM), as `tls_context` takes them."""

    ca: Path | None = None
    client_cert: Path | None = None
    client_key: Path | None = None

    def context(self, *, own: bool) -> ssl.SSLContext | bool:
        """Return httpx's `verify`, with the client certificate for the document's `own` origin. Raises UsageError."""
        try:
            return tls_context(self.ca, self.client_cert if own else None, self.client_key if own else None)
        except RequestError as error:
            hint = "see --ca, --client-cert and --client-key"
            raise UsageError(str(error), where="the certificates", hint=hint) from None
