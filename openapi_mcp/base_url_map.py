"""`BaseUrlMap`: base URLs that replace those of the document's servers one by one, as `--base-url FROM=TO` has them.

FROM is the base URL of an operation, or the beginning of one up to a `/`, or a host alone. What follows FROM is
appended to TO; of several that match, the longest is used.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Final, Self
from urllib.parse import urlsplit

from .errors import UsageError
from .runtime.errors import RequestError
from .runtime.request import urls
from .runtime.request.redaction import redact
from .runtime.tool import Tool

_PAIR: Final = re.compile(r"([^?=]+)=([A-Za-z][A-Za-z0-9+.-]*://.*)", re.DOTALL)
"""FROM=TO; a `=` in the query of a single URL does not make it a pair."""

_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}
_HINT: Final = (
    "for example --base-url https://api.example.com/v1, or --base-url https://api.example.com=https://test.example.com"
)


@dataclass(frozen=True, slots=True)
class BaseUrlMap:
    """Pairs of FROM (normalised) and TO; `other` replaces the base URLs that no pair matches."""

    pairs: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    other: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Self:
        """Read `URL` and `FROM=TO`, as --base-url takes them. Raises UsageError."""
        pairs: list[tuple[str, str]] = []
        single: list[str] = []
        for text in texts:
            match = _PAIR.fullmatch(text)
            _check(match[2] if match else text, text)
            if match:
                pairs.append((_normalised(match[1]), match[2].rstrip("/")))
            else:
                single.append(text)
        if len(single) > 1:
            message = "only one --base-url can replace all servers"
            raise UsageError(
                message, where=f"--base-url {shown(single[1])}", hint="write FROM=TO to replace one of them"
            )
        return cls(tuple(pairs), single[0] if single else None)

    def check(self, base_urls: Collection[str]) -> None:
        """Raise UsageError for a FROM that matches none of the document's base URLs."""
        known = {_normalised(url): url for url in base_urls}
        for start, _ in self.pairs:
            if not any(_rest(url, start) is not None for url in known):
                from .runtime.arguments.spelling import nearest

                close = nearest(start, known)
                names = ", ".join(redact(known[url]) for url in close or list(known)[:10])
                hint = f"did you mean {names}?" if close else f"they go to {names or 'no server'}"
                raise UsageError("no operation has this base URL", where=f"--base-url {shown(start)}=…", hint=hint)

    def apply(self, tool: Tool) -> Tool:
        """Return the tool with the base URL that is to be used."""
        url = self._target(tool.base_url)
        if url is None or url == tool.base_url:
            return tool
        return replace(tool, base_url=url, base_url_is_guess=False)

    def _target(self, base_url: str | None) -> str | None:
        other = self.other.rstrip("/") if self.other else None
        if base_url is None:
            return other
        url = _normalised(base_url)
        matches = [
            (len(start), target + rest) for start, target in self.pairs if (rest := _rest(url, start)) is not None
        ]
        return max(matches)[1] if matches else other


def _rest(url: str, start: str) -> str | None:
    """Return what follows `start` in a URL, at the boundary of a segment; None if the URL does not begin with it."""
    if "://" not in start:
        url = url.partition("://")[2]
    if url == start:
        return ""
    return url.removeprefix(start) if url.startswith((f"{start}/", f"{start}?")) else None


def _normalised(url: str) -> str:
    """Return a URL with scheme and host in lower case, without the scheme's own port and without a slash at its end."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:  # brackets that hold no address: no base URL begins with it
        return url.strip().rstrip("/").lower()
    if not parts.netloc:
        return url.strip().rstrip("/").lower()
    scheme = parts.scheme.lower()
    host = parts.netloc.lower().removesuffix(_DEFAULT_PORTS.get(scheme, ":"))
    return f"{scheme}://{host}{parts.path.rstrip('/')}{f'?{parts.query}' if parts.query else ''}"


def shown(text: str) -> str:
    """Return a value of --base-url as it may be shown; of one that is no URL nothing before the last `@`."""
    return redact(text).rpartition("@")[2]


def _check(url: str, text: str) -> None:
    try:
        urls.parse_base_url(url)
    except RequestError:
        message = "--base-url must be an absolute http(s) URL, or FROM=TO with such a URL after the ="
        raise UsageError(message, where=f"--base-url {shown(text)}", hint=_HINT) from None
