"""`TokenStore`: tokens of sign-ins, in the keyring of the operating system or in files that only their owner may read.

The keyring is used where the package `keyring` is installed and has a usable backend (extra `keyring`).
"""

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..compilation import OAuthScheme
from ..document.addresses import is_remote, local_path
from ..errors import UsageError
from ..runtime.request.redaction import redact
from .clients import OAuthClient
from .endpoints import AccessToken

if TYPE_CHECKING:
    from filelock import FileLock

VARIABLE: Final = "OPENAPI_MCP_TOKENS"
"""Environment variable that names another folder than that of the user's data; then no keyring is used."""

_SERVICE: Final = "openapi-mcp"
_LOCK_SECONDS: Final = 30.0
"""Seconds to wait for another process that renews the same token."""


def store_key(document: str, scheme: OAuthScheme, client: OAuthClient) -> str:
    """Return the key of a sign-in: the document, the scheme, its authorization server, and the client."""
    document = redact(document) if is_remote(document) or document == "-" else os.path.abspath(local_path(document))  # noqa: PTH100  # links are not followed
    endpoints = client.endpoints(scheme)
    server = endpoints.metadata_url or endpoints.token_url or endpoints.authorization_url
    text = json.dumps([document, scheme.name, server, client.client_id])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class TokenStore:
    """The stored tokens of this user, by `store_key`."""

    @cached_property
    def _folder(self) -> Path:
        if path := os.environ.get(VARIABLE):
            return Path(path)
        from platformdirs import user_data_path

        return user_data_path("openapi-mcp", appauthor=False) / "tokens"

    @cached_property
    def _keyring(self) -> Any:
        """The module `keyring`; None if it is not installed or has no backend that stores anything."""
        if os.environ.get(VARIABLE):
            return None
        try:
            import keyring
            import keyring.errors
        except ImportError:
            return None
        return keyring if keyring.get_keyring().priority >= 1 else None

    def get(self, key: str) -> AccessToken | None:
        """Return a stored token; None if there is none that can be read."""
        text = None
        if self._keyring is not None:
            with suppress(self._keyring.errors.KeyringError, OSError):
                text = self._keyring.get_password(_SERVICE, key)
        if text is None:
            with suppress(OSError, UnicodeDecodeError):
                text = self._path(key).read_text("utf-8")
        try:
            return None if text is None else AccessToken(**json.loads(text))
        except (ValueError, TypeError):
            return None

    def put(self, key: str, token: AccessToken) -> str:
        """Store a token; return where. Raises UsageError if it cannot be stored."""
        text = json.dumps(asdict(token))
        if self._keyring is not None:
            with suppress(self._keyring.errors.KeyringError, OSError):
                self._keyring.set_password(_SERVICE, key, text)
                self._path(key).unlink(missing_ok=True)
                return "the keyring of this system"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, unfinished = tempfile.mkstemp(dir=self._folder)  # only its owner may read it
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(unfinished).replace(self._path(key))
        except OSError as error:
            hint = f"set {VARIABLE} to a folder that can be written"
            raise UsageError(
                f"the token cannot be stored: {error.strerror}", where=str(self._folder), hint=hint
            ) from None
        return str(self._path(key))

    def drop(self, key: str) -> None:
        """Remove a stored token."""
        if self._keyring is not None:
            with suppress(self._keyring.errors.KeyringError, OSError):
                self._keyring.delete_password(_SERVICE, key)
        with suppress(OSError):
            self._path(key).unlink(missing_ok=True)

    def lock(self, key: str) -> "FileLock":
        """Return a lock that one process at a time holds: a refresh token may be used only once (RFC 9700 §4.14)."""
        from filelock import FileLock

        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return FileLock(self._folder / f"{key}.lock", timeout=_LOCK_SECONDS, thread_local=False)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"
