r"""Characters that JSON writes as two halves (`\ud83d\ude00`), and halves without the other: text nothing can encode.

RFC 8259 section 7 allows both; a lone half becomes U+FFFD, because no message that holds one could ever be sent.
"""

import re
from typing import Final

_ESCAPE: Final = re.compile(
    r"\\(?:u(?P<pair>[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)
_LONE: Final = re.compile(r"\\u[dD](?:[89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..\\u[dD])[c-fC-F])")


def has_lone(text: str) -> bool:
    """Whether JSON or YAML text may hold half a character; quick, since almost none does."""
    return _LONE.search(text) is not None


def joined(text: str) -> str:
    """The same text with whole characters for pairs of halves, and U+FFFD for the rest."""
    return _ESCAPE.sub(_replacement, text)


def _replacement(match: re.Match[str]) -> str:
    if match["pair"]:
        high, low = match["pair"].split("\\u")
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
    return "\\ufffd" if match["lone"] else match[0]
