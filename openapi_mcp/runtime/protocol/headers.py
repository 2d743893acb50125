"""The HTTP headers that mirror a message (Streamable HTTP), as text to compare; nothing here decides what follows.

Specification: basic/transports/streamable-http of 2026-07-28, "Standard MCP Request Headers" and "Value Encoding".
Header names are lower case, and lines of one name are joined by `, `: a header sent twice equals no single value.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Final, TypeAlias

Headers: TypeAlias = Mapping[str, str]

VERSION: Final = "mcp-protocol-version"
METHOD: Final = "mcp-method"
NAME: Final = "mcp-name"

HEADER_MISMATCH: Final = -32020
"""The error code when a header does not say what the message says."""

_VALUE: Final = re.compile(r"[\t -~]*")
_PREFIX: Final = "=?base64?"
_SUFFIX: Final = "?="


def value(headers: Headers, name: str) -> str | None:
    """A header without the white space around it, or None where it is absent or has what none may have (RFC 9110 §5.5).

    That is all but visible ASCII, spaces and tabs.
    """
    text = headers.get(name)
    return text.strip(" \t") if text is not None and _VALUE.fullmatch(text) else None


def decoded(text: str | None) -> str | None:
    """What a header value stands for: the text inside `=?base64?…?=`, other text as it is, None for a broken one."""
    if text is None or not _is_encoded(text):
        return text
    payload = text[len(_PREFIX) : -len(_SUFFIX)]
    try:
        data = base64.b64decode(payload, validate=True)
        return data.decode() if base64.b64encode(data).decode() == payload else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def _is_encoded(text: str) -> bool:
    return len(text) >= len(_PREFIX) + len(_SUFFIX) and text.startswith(_PREFIX) and text.endswith(_SUFFIX)
