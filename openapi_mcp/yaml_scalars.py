"""What a scalar of YAML means: the core schema of YAML 1.2.2 (chapter 10.3), and nothing that YAML 1.1 added.

`true` and `false`, `null`, `~` and nothing, decimal integers (leading zeros make no octals), `0o…`, `0x…` and floats
are values. All else is the string that was written: dates, `on`, `yes`, `12:30:45`, `1_000`.
"""

import math
import re
from typing import Any, Final

_CORE: Final = "tag:yaml.org,2002:"
_STRINGS: Final = frozenset({"!", _CORE + "str", _CORE + "timestamp"})
_BINARY: Final = _CORE + "binary"
_KNOWN: Final = _STRINGS | {
    _CORE + name for name in ("int", "float", "bool", "null", "binary", "map", "seq", "set", "omap", "pairs")
}

_CONSTANTS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_DECIMAL: Final = re.compile(r"[-+]?[0-9]+")
_BASED: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MOST_DIGITS: Final = 4300
"""Python converts no longer integers (sys.int_info.default_max_str_digits)."""


def is_known(tag: str) -> bool:
    """Whether a tag is one of YAML's own. No tag, known or not, makes anything but plain values."""
    return tag in _KNOWN


def plain(text: str) -> Any:
    """The value of a scalar without quotes and tag."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "-+.0123456789":
        return text
    if _DECIMAL.fullmatch(text):
        return int(text) if len(text) <= _MOST_DIGITS else text
    if _FLOAT.fullmatch(text):
        return float(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    return math.inf if _NOT_FINITE.fullmatch(text) else text


def explicit(text: str, tag: str | None, *, quoted: bool) -> Any:
    """The value of a scalar that is quoted or has a tag. Binary stays the base64 text it is."""
    if tag is None or tag in _STRINGS:
        return text
    if tag == _BINARY:
        return "".join(text.split())
    return text if quoted and tag not in _KNOWN else plain(text)


def spelling(value: Any, text: str) -> str | None:
    """How a scalar was written, where `json` would write its value differently."""
    kind = type(value)
    if kind is str:
        return None
    same = repr(value) == text if kind is int or kind is float else text in ("true", "false", "null")
    return None if same else text
