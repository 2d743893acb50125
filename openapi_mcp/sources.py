"""Where documents come from: a path, a URL or stdin for the root, and what its references may reach from there.

What is read is decided here and nowhere else. The rules for references:

- A document from a URL may refer to files of its own origin. Any other http(s) address needs `--allow-remote-refs`, and
  then has to be public (see `fetch`). It never reaches local files.
- A local document may refer to regular files by relative paths, links resolved, within its reference root. That is the
  root document's folder and what is below; of a version-controlled tree (.git, .hg) the whole tree; otherwise also the
  folder above, for `spec/openapi.yaml` beside `common/`. It never grows to the home folder or to what contains that.
  Hidden files and folders (`.name`) are only for documents in the same one.
- `file:` URLs and absolute paths are refused, whatever they point at.
"""

import hashlib
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urldefrag, urljoin, urlsplit
from urllib.request import url2pathname

from .document import Limits
from .errors import DocumentError, ReferenceRefused
from .fetch import Fetcher, is_remote, origin

STDIN: Final = "stdin:"
_VERSIONED: Final = (".git", ".hg")


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of one file, and where they came from; `charset` and `validators` are what its server says of them."""

    data: bytes
    uri: str
    charset: str | None = None
    validators: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The SHA-256 of the bytes, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()


def read_root(source: str, fetcher: Fetcher, limits: Limits) -> Content:
    """The root document from a path, a URL or `-`. Raises DocumentError."""
    if source == "-":
        return Content(_bounded(sys.stdin.buffer.read(limits.file_bytes + 1), limits), STDIN)
    if is_remote(source):
        return _fetch(fetcher, source, limits)
    if "://" in source and not source.startswith("file:"):
        raise DocumentError("this address is none that can be read", hint="give a path, or an http(s) URL")
    path = local_path(source)
    try:
        with path.open("rb") as file:
            data = file.read(limits.file_bytes + 1)
        return Content(_bounded(data, limits), path.resolve().as_uri())
    except IsADirectoryError as error:
        raise DocumentError("this is a folder", hint="name the OpenAPI document in it") from error
    except (OSError, ValueError) as error:
        raise DocumentError(f"the document cannot be read: {_reason(error)}", hint="check the path") from error


def local_path(source: str) -> Path:
    """The path of a local file that is given as a path or as a `file:` URL."""
    return Path(url2pathname(urlsplit(source).path)) if source.startswith("file:") else Path(source)


class References:
    """What the references of one document may reach, and how much of it."""

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
        self._reference_root = reference_root.resolve() if reference_root else None
        self._bytes = 0
        self._located: dict[tuple[str, str], str] = {}

    def locate(self, file: str, base: str) -> str:
        """The absolute URI of the file that a reference in the file `base` names. Raises ReferenceRefused."""
        folder = (self._home if base == STDIN else base).rpartition("/")[0] + "/"
        if (file, folder) not in self._located:
            self._located[file, folder] = _locate(file, folder)
        return self._located[file, folder]

    def read(self, uri: str) -> Content:
        """The file at a URI that `locate` gave. Raises DocumentError, ReferenceRefused."""
        if is_remote(uri):
            content = _fetch(self._fetcher, uri, self._limits, self)
        elif is_remote(self._home):
            raise ReferenceRefused("is a local file, which a document from the network may not read")
        else:
            content = self._read_local(uri)
        self._bytes += len(content.data)
        if self._bytes > self._limits.total_bytes:
            raise ReferenceRefused(f"is beyond the limit of {self._limits.total_bytes:,} bytes for all files together")
        return content

    def admit(self, url: str) -> None:
        """Let an http(s) address pass, or raise ReferenceRefused."""
        if self._allow_remote:
            return
        if not is_remote(self._home) or origin(url) != origin(self._home):
            host = urlsplit(url).netloc
            raise ReferenceRefused(f"is on another host, {host}", hint="allow it with --allow-remote-refs")

    def _read_local(self, uri: str) -> Content:
        path = Path(url2pathname(urlsplit(uri).path))
        try:
            real = path.resolve()
            self._check_place(real)
            status = real.stat()
            if not stat.S_ISREG(status.st_mode):
                raise ReferenceRefused("is not a regular file", hint="name a file")
            _check_size(status.st_size, self._limits)
            return Content(_bounded(real.read_bytes(), self._limits), uri)
        except FileNotFoundError as error:
            raise DocumentError("does not exist", hint="correct the $ref, or add the file") from error
        except (OSError, ValueError, RuntimeError) as error:
            raise DocumentError(f"cannot be read: {_reason(error)}") from error

    def _check_place(self, file: Path) -> None:
        document = Path(url2pathname(urlsplit(self._home).path))
        if self._reference_root is None:
            self._reference_root = reference_root(document)
        if not file.is_relative_to(self._reference_root):
            cure = "move it there, or put the document into a folder that holds both"
            raise ReferenceRefused(f"is outside {self._reference_root}", hint=cure)
        hidden = {part for part in file.relative_to(self._reference_root).parts if part.startswith(".")}
        if hidden - set(document.parts):
            raise ReferenceRefused("is hidden", hint="move what the document needs out of hidden folders")


def _locate(file: str, folder: str) -> str:
    try:
        return _absolute(file, folder)
    except ValueError as error:
        raise ReferenceRefused("is no address of a file", hint="correct the $ref") from error


def _absolute(file: str, folder: str) -> str:
    parts = urlsplit(file)
    if is_remote(file) or (is_remote(folder) and not parts.scheme):
        return urldefrag(urljoin(folder, file)).url
    if parts.scheme or parts.netloc or parts.path.startswith("/"):
        cure = "refer to it by a path relative to the file that needs it"
        raise ReferenceRefused("is an absolute path or URL of a local file", hint=cure)
    from prance.util.fs import abspath

    path = abspath(unquote(parts.path).replace("\\", "/"), url2pathname(urlsplit(folder).path))
    return Path(path).as_uri()


def reference_root(document: Path) -> Path:
    """The folder that the references of a local document may not leave (the rule is above)."""
    folder = document if document.is_dir() else document.parent
    versioned = (parent for parent in (folder, *folder.parents) if any((parent / mark).exists() for mark in _VERSIONED))
    tree = next(versioned, folder.parent)
    return folder if Path.home().is_relative_to(tree) else tree


def _fetch(fetcher: Fetcher, url: str, limits: Limits, references: References | None = None) -> Content:
    fetched = fetcher.get(url, limits.file_bytes, references.admit if references else lambda _: None)
    return Content(fetched.data, fetched.url, fetched.charset, fetched.validators)


def _bounded(data: bytes, limits: Limits) -> bytes:
    _check_size(len(data), limits)
    return data


def _check_size(size: int, limits: Limits) -> None:
    if size > limits.file_bytes:
        raise ReferenceRefused(f"is larger than {limits.file_bytes:,} bytes")


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
