"""The HTTP headers that repeat a message (Streamable HTTP).

Header names are in lower case, and lines of one name are joined by `, `: a header that is sent twice equals no single
value.

Specification: basic/transports/streamable-http of 2026-07-28, "Standard MCP Request Headers" and "Value Encoding".
"""

import base64
import binascii
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

Headers: TypeAlias = Mapping[str, str]

VERSION: Final = "mcp-protocol-version"
METHOD: Final = "mcp-method"
NAME: Final = "mcp-name"

KEYWORD: Final = "x-mcp-header"
"""The keyword of an inputSchema that names the header in which clients repeat an argument (`header_arguments`)."""

HEADER_MISMATCH: Final = -32020
"""The error code for a header that differs from the message."""

_VALUE: Final = re.compile(r"[\t -~]*")
_PREFIX: Final = "=?base64?"
_SUFFIX: Final = "?="


def header_value(headers: Headers, name: str) -> str | None:
    """Return a header without the white space around it, or None if it is absent or invalid.

    A valid value has only visible ASCII, spaces and tabs (RFC 9110 §5.5).
    """
    text = headers.get(name)
    return None if text is None else checked(text)


@lru_cache(128)  # clients send the same ones again; the longest ones take 8 MiB
def checked(text: str) -> str | None:
    """Return a header's value without the white space around it, None for an invalid one."""
    return text.strip(" \t") if _VALUE.fullmatch(text) else None


def decode_value(text: str | None) -> str | None:
    """Return the text that a header value stands for, None for a broken encoding.

    That is the text inside `=?base64?…?=`, or the value itself.
    """
    if text is None or not _is_encoded(text):
        return text
    payload = text[len(_PREFIX) : -len(_SUFFIX)]
    try:
        data = base64.b64decode(payload, validate=True)
        return data.decode() if base64.b64encode(data).decode() == payload else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def name_matches(name: Any, headers: Headers) -> bool:
    """Return whether the header NAME repeats a member of a message; no header repeats a member that is no text."""
    if not isinstance(name, str):
        return NAME not in headers  # the reader of the request refuses the message and says why
    return decode_value(header_value(headers, NAME)) == name


def _is_encoded(text: str) -> bool:
    return len(text) >= len(_PREFIX) + len(_SUFFIX) and text.startswith(_PREFIX) and text.endswith(_SUFFIX)
