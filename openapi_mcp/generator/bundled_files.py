"""The files of a package's folder that are packed into its archive: what its program needs, and nothing that is secret.

Packed are

- generated files, which the lock names, and files that the manifest or `pyproject.toml` names;
- of the folders of the program (with generated modules, or an `__init__.py`), files that do not look like a secret;
- elsewhere only texts for people, pictures and lists of requirements: beside a package its owner keeps keys, settings,
  data and notes.

A file looks like a secret by its name (`id_rsa`, `key.pem`, `secrets.json`, `prod.env`, settings) or by its content (a
private key, a settings file of this program). Hidden files are never packed. A link is judged by what it leads to, too.
"""

import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from ..options.table import SETTINGS

_PICTURES: Final = frozenset({".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico"})
_FOR_PEOPLE: Final = _PICTURES | {".md", ".rst"}
"""Suffixes of files that are packed wherever they are."""

_NAMED: Final = re.compile(
    r"manifest\.json|pyproject\.toml|uv\.lock|requirements[\w-]*\.txt|"
    r"(licen[cs]e|notice|copying|authors|changelog)(\.txt)?",
    re.IGNORECASE,
)
"""Names of files that are packed wherever they are."""

_CODE: Final = frozenset({".py", ".pyi", ".typed"})

_KEY_NAME: Final = re.compile(
    r"id_[a-z0-9]+(\.pub)?|.*\.(pem|key|p12|pfx|p8|pk8|der|jks|keystore|keytab|kdbx|ppk|asc|gpg|pgp|ovpn|tfstate|tfvars)",
    re.IGNORECASE,
)
_DATA_NAME: Final = re.compile(r".*\.(log|bak|old|orig|dump|sql|sqlite3?|db)(-\w+)?", re.IGNORECASE)
_SECRET_WORD: Final = re.compile(
    r"(?<![a-z])(secrets?|credentials?|creds|passwords?|passwd|htpasswd|netrc|tokens?|api[-_]?keys?|private[-_]?key|"
    r"service[-_]?account|kubeconfig|env|settings|config|local)(?![a-z])",
    re.IGNORECASE,
)
"""A word in the name of a file, other than of code, that keeps secrets or may: settings often do."""

_PRIVATE_KEY: Final = re.compile(rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File")
_CERTIFICATE: Final = b"-----BEGIN CERTIFICATE"
_SECRET_SETTINGS: Final = {SETTINGS[name].setting for name in ("auth", "header", "spec_header", "auth_token")} | {
    SETTINGS[name].setting for name in ("session_secret", "base_url", "client_key")
}


@dataclass(frozen=True)
class PackedFiles:
    """The rule for one package: its generated files, the files that it names, and the folders of its program."""

    generated: Collection[PurePosixPath]
    named: Collection[PurePosixPath]
    program: Collection[PurePosixPath]

    @classmethod
    def of(cls, files: Mapping[PurePosixPath, bytes], generated: Collection[PurePosixPath]) -> "PackedFiles":
        """Return the rule for a package with these files."""
        named = set(_named(files))
        modules = [path for path in {*generated, *named} if path.suffix == ".py"]
        program = {path.parent for path in (*modules, *files) if path in modules or path.name == "__init__.py"}
        return cls(generated, named, program - {PurePosixPath()})

    def refusal(self, path: PurePosixPath, target: PurePosixPath, content: bytes) -> str:
        """Return the reason why a file is left out, empty if it is packed; `target` is where a link leads."""
        if path in self.generated and path == target:
            return ""
        for name in {path, target}:
            if reason := _secret_name(name, content):
                return reason
        if _PRIVATE_KEY.search(content):
            return "holds a private key"
        if path.suffix == ".toml" and _is_settings(content):
            return "holds settings of openapi-mcp, which may be secret"
        if path in self.named or path.suffix.lower() in _FOR_PEOPLE or _NAMED.fullmatch(path.name):
            return ""
        if any(parent in self.program for parent in path.parents):
            return ""
        return "is outside of the program's folder, and neither the manifest nor pyproject.toml names it"


def _secret_name(path: PurePosixPath, content: bytes) -> str:
    """Return the reason why a file is left out because of its name; empty if there is none."""
    if any(part.startswith(".") for part in path.parts):
        return "is hidden"
    if path.suffix.lower() in _CODE:
        return ""
    is_certificate = _CERTIFICATE in content and not _PRIVATE_KEY.search(content)
    if _KEY_NAME.fullmatch(path.name) and not is_certificate:
        return "may be a key"
    if _DATA_NAME.fullmatch(path.name):
        return "is a log, a database or a copy"
    if path.suffix.lower() not in _PICTURES and _SECRET_WORD.search(path.name):
        return "may hold a secret; give it another name if it does not"
    return ""


def _is_settings(content: bytes) -> bool:
    try:
        return bool(_SECRET_SETTINGS & tomllib.loads(content.decode("utf-8")).keys())
    except ValueError:
        return False


def _named(files: Mapping[PurePosixPath, bytes]) -> Iterator[PurePosixPath]:
    """Yield the files that the manifest and `pyproject.toml` name, wherever they do: icons, a licence, a read-me."""
    for text in _strings((_manifest(files), _project(files))):
        path = PurePosixPath(text.removeprefix("./"))
        if path in files:
            yield path


def _manifest(files: Mapping[PurePosixPath, bytes]) -> Any:
    try:
        return json.loads(files.get(PurePosixPath("manifest.json"), b"null"))
    except ValueError:
        return None


def _project(files: Mapping[PurePosixPath, bytes]) -> Any:
    try:
        return tomllib.loads(files.get(PurePosixPath("pyproject.toml"), b"").decode("utf-8"))
    except ValueError:
        return None


def _strings(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, dict):
            waiting += node.values()
        elif isinstance(node, list | tuple):
            waiting += node
