"""The header fields of a request: those that arguments, credentials and configuration set; none can end its line.

Later sources replace earlier ones by name: computed, arguments, credentials, configuration, a body's Content-Type.

Specification: RFC 9110 §5 and §7.6.1, RFC 6265 §5.4 (one Cookie header), OpenAPI 3.2 Parameter Object.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final

from ..errors import ArgumentError, RequestError
from ..tool import Argument
from . import auth, content, styles

Fields = list[tuple[str, str]]
Lines = list[tuple[bytes, bytes]]
ArgumentValues = Collection[tuple[Argument, Any]]

FRAMING: Final = frozenset(
    {"connection", "content-length", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
)
"""Fields of one connection, or of the framing of one message: only computed."""

RESERVED_NAMES: Final = FRAMING | {
    *("host", "authorization", "cookie", "proxy-authorization"),  # the receiver, and the identity of the sender
    *("accept", "content-type"),  # OpenAPI: such a parameter SHALL be ignored
}
"""Fields that no parameter of a document sets."""

_NO_ARGUMENTS: Final = RESERVED_NAMES - {"accept"}
"""Fields that no argument sets. The compile side offers a choice of Accept of its own."""

# User-Agent: some APIs refuse requests without one. Accept-Encoding: the codings that httpx decodes without extras.
COMPUTED: Final = (("User-Agent", "mcp-openapi-bridge"), ("Accept-Encoding", "gzip, deflate"))

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def build(
    *,
    host: bytes,
    accept: str,
    arguments: ArgumentValues,
    cookies: ArgumentValues,
    credentials: auth.Credentials,
    configured: Collection[tuple[str, str]],
    content_type: str | None,
) -> Lines:
    """Return all fields but Content-Length, in UTF-8, Host first. Raises ArgumentError and RequestError."""
    if not (arguments or cookies or credentials.headers or credentials.cookies or configured):
        return list(_without_arguments(host, accept, content_type))
    by_argument = [_argument_field(argument, value) for argument, value in arguments]
    by_credential = [*_cookie_field(cookies, credentials), *credentials.headers]
    by_owner = [_configured_field(name, value) for name, value in configured]
    fields = [("Accept", accept), *COMPUTED]
    for source in (by_argument, by_credential, by_owner):
        fields = replace_fields(fields, source)
    return _lines(host, fields, content_type)


def _lines(host: bytes, fields: Fields, content_type: str | None) -> Lines:
    if content_type is not None:
        fields = replace_fields(fields, [("Content-Type", content_type)])
    lines = [(_encode_name(name), value.encode("utf-8")) for name, value in fields]
    return lines if any(name.lower() == b"host" for name, _ in lines) else [(b"Host", host), *lines]


@lru_cache(1024)  # combinations in the documents' tools
def _without_arguments(host: bytes, accept: str, content_type: str | None) -> Lines:
    """Return the fields of requests without arguments, credentials and configuration in headers."""
    return _lines(host, [("Accept", accept), *COMPUTED], content_type)


def replace_fields(fields: Fields, by: Fields) -> Fields:
    """Return `fields` followed by `by`, without those of `fields` that `by` has too (case-insensitively)."""
    if not by:
        return fields
    names = {name.lower() for name, _ in by}
    return [field for field in fields if field[0].lower() not in names] + by


def _argument_field(argument: Argument, value: Any) -> tuple[str, str]:
    name = argument.wire_name or argument.name
    if name.lower() in _NO_ARGUMENTS:
        raise ArgumentError(f"`{argument.name}` cannot be set: the server itself sets the header {name}.")
    text = styles.header_text(argument, content.parameter_value(argument, value)).strip(" \t")
    if _CONTROL.search(text):
        raise ArgumentError(
            f"`{argument.name}` contains a line break or control character, which a header cannot have; remove it."
        )
    return name, text


def _cookie_field(cookies: ArgumentValues, credentials: auth.Credentials) -> Fields:
    """Return one Cookie header or none; a credential replaces an argument of its name."""
    pairs = [
        pair for item, value in cookies for pair in styles.cookie_pairs(item, content.parameter_value(item, value))
    ]
    escaping = styles.COOKIE_OCTETS
    secrets = [(escaping.name(name), escaping.value(value)) for name, value in credentials.cookies]
    secret_names = {name for name, _ in secrets}
    pairs = [pair for pair in pairs if pair[0] not in secret_names] + secrets
    return [("Cookie", "; ".join(f"{name}={value}" for name, value in pairs))] if pairs else []


def _configured_field(name: str, value: str) -> tuple[str, str]:
    if name.lower() in FRAMING:
        raise RequestError(f"The configured header `{name}` cannot be set: it is computed for each request.")
    if _CONTROL.search(value):
        raise RequestError(f"The configured header `{name}` contains a line break or control character; remove it.")
    return name, value.strip(" \t")


def is_field_name(name: str) -> bool:
    """Return whether a text is a valid name of a header (RFC 9110 §5.1)."""
    return _TOKEN.fullmatch(name) is not None


@lru_cache(1024)  # names come from documents and configuration, never from calls
def _encode_name(name: str) -> bytes:
    if not is_field_name(name):
        raise RequestError(f"{name!r} is not a header name (RFC 9110 §5.1); correct the document or the configuration.")
    return name.encode("ascii")
