"""Read documents: the root from a path, a URL or stdin, and the files that its references may reach.

Every decision about which local files may be read is in this module, that about addresses in `fetcher`. Rules for
references:

- A document from a URL may refer to files of its own origin. Any other http(s) address needs `--allow-remote-refs` and
  must be public (see `Fetcher`). A document from a URL never reaches local files.
- A local document may refer to regular files by relative paths, symbolic links resolved, within its reference root:
  the version-controlled tree (.git, .hg) that the document is in, else the folder above the document's (for
  `spec/openapi.yaml` beside `common/`). If that is or contains the home folder, it is the document's folder instead.
  Hidden files and folders (`.name`) are only readable for documents in the same hidden folder.
- `file:` URLs and absolute paths are refused, whatever they point at.

prance's `abspath` joins relative paths to the folder of the referring file and follows a link at their end. The rest of
prance's resolver is not used: it does not decode percent-encoded file names, and fetches from any host.
"""

import errno
import hashlib
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urldefrag, urljoin, urlsplit
from urllib.request import url2pathname

from ..errors import DocumentError, ReferenceRefused
from ..regular_files import UnfitFile, read_regular
from .addresses import is_remote, local_path, real_path
from .fetcher import Fetcher, origin
from .model import Limits

STDIN: Final = "stdin:"
_VERSIONED: Final = (".git", ".hg")

MAX_FETCH_SECONDS: Final = 300.0
"""Time for all files that a document refers to. A document of 1,488 files takes a minute."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The bytes of one file and its URI; `charset` and `validators` come from the HTTP response.

    `is_private`: it came from this machine or from a private address.
    """

    data: bytes
    uri: str
    charset: str | None = None
    validators: Mapping[str, str] = field(default_factory=dict)
    is_private: bool = True

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()


def read_root(source: str, fetcher: Fetcher, limits: Limits) -> SourceFile:
    """Read the root document from a path, a URL or `-` for stdin. Raises DocumentError."""
    if source == "-":
        return SourceFile(_bounded(sys.stdin.buffer.read(limits.file_bytes + 1), limits), STDIN)
    if is_remote(source):
        return _fetch(fetcher, source, limits)
    if "://" in source and not source.startswith("file:"):
        raise DocumentError("the scheme of this URL is not supported", hint="give a path or an http(s) URL")
    path = local_path(source)
    try:
        return SourceFile(read_regular(path, limits.file_bytes), real_path(path).as_uri())
    except IsADirectoryError as error:
        raise DocumentError("this is a folder", hint="name the OpenAPI document in it") from error
    except UnfitFile as error:
        hint = "give the path of a file; `-` reads a document from stdin"
        raise DocumentError(f"the document {error.reason}", hint=hint) from error
    except (OSError, ValueError) as error:
        raise DocumentError(f"the document cannot be read: {_reason(error)}", hint="check the path") from error


class References:
    """Reader of the files that one document refers to, with the rules and limits for them."""

    def __init__(
        self,
        home: str,
        fetcher: Fetcher,
        limits: Limits,
        *,
        allow_remote: bool = False,
        reference_root: Path | None = None,
    ) -> None:
        self._home = Path.cwd().as_uri() + "/" if home == STDIN else home
        self._fetcher = fetcher
        self._limits = limits
        self._allow_remote = allow_remote
        self._reference_root = real_path(reference_root) if reference_root else None
        self._bytes = 0
        self._seconds = 0.0
        self._located: dict[tuple[str, str], str] = {}

    def locate(self, file: str, base: str) -> str:
        """Return the absolute URI of `file`, a reference in the file `base`. Raises ReferenceRefused."""
        folder = (self._home if base == STDIN else base).rpartition("/")[0] + "/"
        if (file, folder) not in self._located:
            self._located[file, folder] = _locate(file, folder)
        return self._located[file, folder]

    def read(self, uri: str) -> SourceFile:
        """Read the file at a URI that `locate` returned. Raises DocumentError, ReferenceRefused."""
        if is_remote(uri):
            content = self._fetch(uri)
        elif is_remote(self._home):
            raise ReferenceRefused("is a local file, which a document from the network may not read")
        else:
            content = self._read_local(uri)
        self._bytes += len(content.data)
        if self._bytes > self._limits.total_bytes:
            raise ReferenceRefused(f"is beyond the limit of {self._limits.total_bytes:,} bytes for all files together")
        return content

    def _fetch(self, uri: str) -> SourceFile:
        if self._seconds > MAX_FETCH_SECONDS:
            message = f"is not fetched, since the files before it took more than {MAX_FETCH_SECONDS:.0f} seconds"
            raise ReferenceRefused(message)
        began = time.monotonic()
        try:
            return _fetch(self._fetcher, uri, self._limits, self)
        finally:
            self._seconds += time.monotonic() - began

    def admit(self, url: str) -> None:
        """Raise ReferenceRefused for an http(s) URL that this document may not refer to."""
        if self._allow_remote:
            return
        if not is_remote(self._home) or origin(url) != origin(self._home):
            host = urlsplit(url).netloc
            raise ReferenceRefused(f"is on another host, {host}", hint="allow it with --allow-remote-refs")

    def _read_local(self, uri: str) -> SourceFile:
        path = Path(url2pathname(urlsplit(uri).path))
        try:
            real = real_path(path)
            self._check_location(real)
            return SourceFile(read_regular(real, self._limits.file_bytes), uri)
        except IsADirectoryError as error:
            raise ReferenceRefused("is a folder", hint="name a file") from error
        except UnfitFile as error:
            raise ReferenceRefused(error.reason, hint="name a file") from error
        except FileNotFoundError as error:
            raise DocumentError("does not exist", hint="correct the $ref, or add the file") from error
        except (OSError, ValueError) as error:
            raise DocumentError(f"cannot be read: {_reason(error)}") from error

    def _check_location(self, file: Path) -> None:
        document = Path(url2pathname(urlsplit(self._home).path))
        if self._reference_root is None:
            self._reference_root = reference_root(document)
        if not file.is_relative_to(self._reference_root):
            hint = "move it into that folder, or put the document into a folder that holds both"
            raise ReferenceRefused(f"is outside {self._reference_root}", hint=hint)
        hidden = {part for part in file.relative_to(self._reference_root).parts if part.startswith(".")}
        if hidden - set(document.parts):
            raise ReferenceRefused("is hidden", hint="move what the document needs out of hidden folders")


def _locate(file: str, folder: str) -> str:
    try:
        return _absolute(file, folder)
    except ValueError as error:
        raise ReferenceRefused("is not a valid path or URL", hint="correct the $ref") from error


def _absolute(file: str, folder: str) -> str:
    parts = urlsplit(file)
    if is_remote(file) or (is_remote(folder) and not parts.scheme):
        return urldefrag(urljoin(folder, file)).url
    if parts.scheme or parts.netloc or parts.path.startswith("/"):
        hint = "refer to it by a path relative to the file that needs it"
        raise ReferenceRefused("is an absolute path or URL of a local file", hint=hint)
    return _join(url2pathname(urlsplit(folder).path), unquote(parts.path).replace("\\", "/")).as_uri()


def _join(folder: str, file: str) -> Path:
    """Return the absolute path of a file by its path relative to a folder; a link at its end is followed."""
    from prance.util.fs import abspath

    path = Path(folder, file)
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:  # which `abspath` would follow for ever
            return Path(os.path.normpath(path))
    return Path(abspath(file, folder))


def reference_root(document: Path) -> Path:
    """Return the folder that the references of a local document may not leave; the module docstring has the rule."""
    folder = document if document.is_dir() else document.parent
    versioned = (parent for parent in (folder, *folder.parents) if any((parent / mark).exists() for mark in _VERSIONED))
    tree = next(versioned, folder.parent)
    return folder if Path.home().is_relative_to(tree) else tree


def _fetch(fetcher: Fetcher, url: str, limits: Limits, references: References | None = None) -> SourceFile:
    fetched = fetcher.get(url, limits.file_bytes, references.admit if references else lambda _: None)
    return SourceFile(fetched.data, fetched.url, fetched.charset, fetched.validators, fetched.is_private)


def _bounded(data: bytes, limits: Limits) -> bytes:
    if len(data) > limits.file_bytes:
        raise ReferenceRefused(f"is larger than {limits.file_bytes:,} bytes")
    return data


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
