"""A request's header fields: what arguments, credentials and configuration may set; nothing breaks out of its line.

Later sources replace earlier ones by name: computed, arguments, credentials, configuration, a body's Content-Type.
Specification: RFC 9110 §5 and §7.6.1, RFC 6265 §5.4 (one Cookie header), OpenAPI 3.2 Parameter Object.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final

from . import auth, parameter_values, styles
from .errors import ArgumentError, RequestError
from .models import Argument

Fields = list[tuple[str, str]]
Lines = list[tuple[bytes, bytes]]
Given = Collection[tuple[Argument, Any]]

FRAMING: Final = frozenset(
    {"connection", "content-length", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
)
"""Fields of one connection or of one message's framing: computed, never given."""

NOT_ARGUMENTS: Final = FRAMING | {
    *("host", "authorization", "cookie", "proxy-authorization"),  # whom it goes to, and as whom
    *("accept", "content-type"),  # OpenAPI: such a parameter SHALL be ignored
}

# User-Agent: some APIs refuse requests without one. Accept-Encoding: what httpx decodes with the standard library.
COMPUTED: Final = (("User-Agent", "mcp-openapi-bridge"), ("Accept-Encoding", "gzip, deflate"))

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def build(
    *,
    host: bytes,
    accept: str,
    given: Given,
    cookies: Given,
    credentials: auth.Credentials,
    configured: Collection[tuple[str, str]],
    content_type: str | None,
) -> Lines:
    """All fields but Content-Length, in UTF-8, Host first. Raises ArgumentError and RequestError."""
    if not (given or cookies or credentials.headers or credentials.cookies or configured):
        return list(_plain(host, accept, content_type))
    by_argument = [_argument(argument, value) for argument, value in given]
    secret = [*_cookie(cookies, credentials), *credentials.headers]
    by_owner = [_configured(name, value) for name, value in configured]
    fields = [("Accept", accept), *COMPUTED]
    for source in (by_argument, secret, by_owner):
        fields = replaced(fields, source)
    return _lines(host, fields, content_type)


def _lines(host: bytes, fields: Fields, content_type: str | None) -> Lines:
    if content_type is not None:
        fields = replaced(fields, [("Content-Type", content_type)])
    lines = [(_name(name), value.encode("utf-8")) for name, value in fields]
    return lines if any(name.lower() == b"host" for name, _ in lines) else [(b"Host", host), *lines]


@lru_cache(1024)  # of the documents' tools
def _plain(host: bytes, accept: str, content_type: str | None) -> Lines:
    """What requests have that nobody gave a field."""
    return _lines(host, [("Accept", accept), *COMPUTED], content_type)


def replaced(fields: Fields, by: Fields) -> Fields:
    """`fields` and then `by`, without those of `fields` that `by` names too (case-insensitively)."""
    if not by:
        return fields
    names = {name.lower() for name, _ in by}
    return [field for field in fields if field[0].lower() not in names] + by


def _argument(argument: Argument, value: Any) -> tuple[str, str]:
    name = argument.wire_name or argument.name
    if name.lower() in NOT_ARGUMENTS:
        raise ArgumentError(f"`{argument.name}` cannot be set: the header {name} is not the caller's to choose.")
    text = styles.header_text(argument, parameter_values.written(argument, value)).strip(" \t")
    if _CONTROL.search(text):
        raise ArgumentError(f"`{argument.name}` holds a line break or control character, which a header cannot carry.")
    return name, text


def _cookie(given: Given, credentials: auth.Credentials) -> Fields:
    """One Cookie header, or none; a credential replaces an argument of its name."""
    pairs = [pair for item, value in given for pair in styles.cookie_pairs(item, parameter_values.written(item, value))]
    escaping = styles.COOKIE_OCTETS
    secrets = [(escaping.name(name), escaping.value(value)) for name, value in credentials.cookies]
    taken = {name for name, _ in secrets}
    pairs = [pair for pair in pairs if pair[0] not in taken] + secrets
    return [("Cookie", "; ".join(f"{name}={value}" for name, value in pairs))] if pairs else []


def _configured(name: str, value: str) -> tuple[str, str]:
    if name.lower() in FRAMING:
        raise RequestError(f"The configured header `{name}` cannot be set: it is computed for each request.")
    if _CONTROL.search(value):
        raise RequestError(f"The configured header `{name}` holds a line break or control character.")
    return name, value.strip(" \t")


def is_name(name: str) -> bool:
    """Whether a header can be called that."""
    return _TOKEN.fullmatch(name) is not None


@lru_cache(1024)  # names are a document's and the configuration's, never a call's
def _name(name: str) -> bytes:
    if not is_name(name):
        raise RequestError(
            f"{name!r} is not a header name (RFC 9110 §5.1): the document or the configuration is wrong."
        )
    return name.encode("ascii")
