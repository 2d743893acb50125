"""`redact`: a text as it may be printed, logged, cached or shown to a client, without the secrets of its URLs.

User and password of a URL are removed, and so are the values of its query, whose names stay: a query may sign the URL
or hold a key. A text that is no valid URL is treated as what its writer meant: `user:password@host`, or a password with
a slash in it. Texts of any length take linear time.

Configured credentials that stand elsewhere in a text are replaced by `result.sanitizing`, which knows their values.
"""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

REMOVED: Final = "…"
"""Text that replaces the value of a pair of a query."""

SECRET_NAME: Final = re.compile(
    r"auth|key|token|secret|pass|cookie|session|credential|signature|(?<![a-z])sig(?![a-z])", re.IGNORECASE
)
"""Names of headers and of pairs of a query whose values are credentials."""

_RANDOM: Final = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])[\w+/=.~-]{20,}")
"""The value of a header of any other name that looks like a credential."""

_WORD: Final = re.compile(r"""[^\s"'<>`]+""")
"""Text without what surrounds URLs in sentences and code."""

# The bounds keep the time linear where a word is full of beginnings.
_USER: Final = re.compile(r"//(?:[^/?#]{0,2000}|[^/?#@:=]{0,200}:(?!\d{1,5}(?:[/?#]|$))[^@]{0,500})@")
"""User and password of a URL; also a password with characters that a URL cannot have, so that it looks like a port."""

_BARE_USER: Final = re.compile(r"(?<![^=(,])[^/?#@:=(,]{1,200}:[^/?#]{1,500}@(?=[\w\[])")
"""`user:password@host` without a scheme."""


def redact(text: str) -> str:
    """Return a text, or a URL, without users, passwords and the values of queries in its URLs."""
    return _WORD.sub(_redacted, text) if "@" in text or "?" in text else text


def _redacted(match: re.Match[str]) -> str:
    word = match[0]
    if "@" in word:
        word = _BARE_USER.sub("", _USER.sub("//", word))
    address, mark, query = word.partition("?")
    if not mark or "//" not in address:
        return word
    query, hash_mark, fragment = query.partition("#")
    return f"{address}?{_names(query)}{hash_mark}{fragment}"


def _names(query: str) -> str:
    """Return a query with its names alone; a pair without `=` may be a secret as a whole."""
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return "&".join(f"{name}={REMOVED}" if equals else REMOVED for name, equals, _ in pairs)


def without_user(url: str) -> str:
    """Return a URL that is written into files: without user and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if "@" in parts.netloc else url


def without_secrets(url: str) -> str:
    """Return a URL of the user that is written into files: also without the pairs of its query with a secret's name."""
    parts = urlsplit(without_user(url))
    pairs = parts.query.split("&")
    kept = [pair for pair in pairs if not SECRET_NAME.search(pair.partition("=")[0])]
    return without_user(url) if kept == pairs else urlunsplit(parts._replace(query="&".join(kept)))


def secrets_of_url(url: str) -> Iterator[str]:
    """Yield `user:password` of a URL, and the values of its query that have a secret's name."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    if parts.password:
        yield f"{unquote(parts.username or '')}:{unquote(parts.password)}"
    yield from (value for name, value in parse_qsl(parts.query) if SECRET_NAME.search(name))


def is_secret_header(name: str, value: str) -> bool:
    """Return whether the value of a configured header is a credential, by its name or by its look."""
    return SECRET_NAME.search(name) is not None or _RANDOM.fullmatch(value.strip()) is not None
