"""Parameter values as text: every `style`, exploded or not, for every type, in one table.

A style decides which characters separate names and values; a location (path, query, header, cookie) decides how names
and values are escaped. The schema of an argument is not used.

The specification is silent on these cases:

- Null, an empty array and an empty object are undefined (RFC 6570 §2.3) and omitted, and so are null members.
- deepObject nests: `a[b][c]=1`; arrays in it are numbered: `a[0]=x` (Stripe, qs and PHP read objects within arrays
  so).
- An array or object that a style cannot express (within an array, for example) is written as JSON text.

Specification: OpenAPI 3.2 "Style Values" and "Style Examples", RFC 6570 §3.2.1 (the algorithm), RFC 3986 §2, RFC 6265
§4.1.1.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from .. import jsontext
from ..background import exceeds
from ..errors import ArgumentError
from ..tool import Argument, Style

Pairs = list[tuple[str, str]]

MAX_PARTS: Final = 100_000
"""Items and properties of a value in a URL or a header. Each needs a separator: a URL may have 65,536 characters."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """A row of the table.

    `prefix` precedes the expansion, `joint` separates exploded members, `delimiter` the members of one value. `named`
    styles write the name also where the value is not exploded.
    """

    prefix: str
    joint: str
    delimiter: str
    named: bool = False


EXPANSIONS: Final[dict[Style, Expansion]] = {
    "matrix": Expansion(";", ";", ",", named=True),
    "label": Expansion(".", ".", ","),
    "simple": Expansion("", ",", ","),
    "form": Expansion("", ",", ","),
    "cookie": Expansion("", ",", ","),
    "spaceDelimited": Expansion("", ",", " "),
    "pipeDelimited": Expansion("", ",", "|"),
    "tabDelimited": Expansion("", ",", "\t"),
    "deepObject": Expansion("", ",", ","),
}
"""The table of styles. `prefix` and `joint` count in paths and headers; in queries, cookies and forms exploded members
are separate pairs.
"""


@dataclass(frozen=True, slots=True)
class Escaping:
    """The escaping of names, of values, and of the delimiters between joined values."""

    name: Callable[[str], str]
    value: Callable[[str], str]
    delimiter: Callable[[str], str]


def percent_encode(text: str) -> str:
    """Percent-encode all but RFC 3986's unreserved characters."""
    return text if text.isalnum() and text.isascii() else quote(text, safe="")


_TRIPLE = re.compile("(%[0-9A-Fa-f]{2})")


def _percent_encode_except(safe: str) -> Callable[[str], str]:
    """Return an encoder that leaves the characters of `safe` and percent-encoded triples (RFC 6570 §3.2.3)."""

    def escape(text: str) -> str:
        pieces = _TRIPLE.split(text)
        return "".join(piece if index % 2 else quote(piece, safe=safe) for index, piece in enumerate(pieces))

    return escape


def _delimiter(text: str) -> str:
    return quote(text, safe=",")


def unescaped(text: str) -> str:
    """Return the text itself: headers and multipart bodies are not escaped (OpenAPI 3.2, Parameter Object)."""
    return text


# The characters that `allowReserved` does not escape: RFC 3986's reserved ones without those that have a meaning in the
# location itself (OpenAPI 3.2 leaves these to the application): no value may end a segment, a query or a pair.
_RESERVED_IN_QUERY = ":/?@!$'()*,;="
_RESERVED_IN_PATH = ":@!$&'()*+,;="
_RESERVED_IN_COOKIE = ":/?#[]@!$&'()*+="
# RFC 6265 §4.1.1 cookie-octet, without `%`: triples that are escaped already stay (OpenAPI 3.2, style `cookie`).
_COOKIE_OCTETS = "!#$&'()*+-./:<=>?@[]^_`{|}~"

STRICT: Final = Escaping(percent_encode, percent_encode, _delimiter)
RAW: Final = Escaping(unescaped, unescaped, unescaped)
_cookie_name = _percent_encode_except(_COOKIE_OCTETS.replace("=", ""))
QUERY_RESERVED: Final = Escaping(percent_encode, _percent_encode_except(_RESERVED_IN_QUERY), _delimiter)
PATH_RESERVED: Final = Escaping(percent_encode, _percent_encode_except(_RESERVED_IN_PATH), _delimiter)
COOKIE_STRICT: Final = Escaping(_cookie_name, percent_encode, _delimiter)
COOKIE_RESERVED: Final = Escaping(_cookie_name, _percent_encode_except(_RESERVED_IN_COOKIE), _delimiter)
COOKIE_OCTETS: Final = Escaping(_cookie_name, _percent_encode_except(_COOKIE_OCTETS), _delimiter)


def path_text(argument: Argument, value: Any) -> str:
    """Return the replacement of `{name}` in a path."""
    return _text(argument, value, PATH_RESERVED if argument.allow_reserved else STRICT)


def header_text(argument: Argument, value: Any) -> str:
    """Return the value of a header, not yet checked for line breaks (see `headers`)."""
    return _text(argument, value, RAW)


def query_pairs(argument: Argument, value: Any) -> Pairs:
    """Return names and values, both escaped, to be joined by `&`."""
    return _pairs_of(argument, value, QUERY_RESERVED if argument.allow_reserved else STRICT)


def cookie_pairs(argument: Argument, value: Any) -> Pairs:
    """Return names and values, both escaped, to be joined by `; `: never by an ampersand (OpenAPI 3.2)."""
    if argument.style == "cookie":
        return _pairs_of(argument, value, COOKIE_OCTETS)
    return _pairs_of(argument, value, COOKIE_RESERVED if argument.allow_reserved else COOKIE_STRICT)


def _pairs_of(argument: Argument, value: Any, escaping: Escaping) -> Pairs:
    if isinstance(value, _CONTAINERS) and exceeds(value, MAX_PARTS):
        raise ArgumentError(f"`{argument.name}` has more than {MAX_PARTS:,} parts, too many for a URL or a header.")
    name = argument.wire_name or argument.name
    return pairs(
        name,
        value,
        style=argument.style,
        explode=argument.explode,
        escaping=escaping,
        items_style=argument.items_style,
    )


_CONTAINERS: Final = (dict, list)


def _text(argument: Argument, value: Any, escaping: Escaping) -> str:
    if argument.style == "simple" and not isinstance(value, _CONTAINERS):  # the most frequent case
        return "" if value is None else escaping.value(scalar_text(value))
    row = EXPANSIONS[argument.style]
    members = _pairs_of(argument, value, escaping)
    if not members:
        return ""
    exploded_object = argument.explode and isinstance(value, dict)
    return row.prefix + row.joint.join(_member(row, *member, always=exploded_object) for member in members)


def _member(row: Expansion, name: str, value: str, *, always: bool) -> str:
    if not (row.named or always):
        return value
    return f"{name}={value}" if value or not row.named else name


def pairs(
    name: str, value: Any, *, style: Style, explode: bool, escaping: Escaping, items_style: Style | None = None
) -> Pairs:
    """Return a value as pairs of names and values, escaped: several if it is exploded, none if it is undefined."""
    if not isinstance(value, dict | list):
        return [] if value is None else [(escaping.name(name), escaping.value(scalar_text(value)))]
    if style == "deepObject":
        return [(escaping.name(key), escaping.value(text)) for key, text in _deep(name, value)]
    members = _members(value)
    if isinstance(value, dict):
        separate = [(escaping.name(key), _item(item, escaping, items_style)) for key, item in members]
        joined = [text for pair in separate for text in pair]
    else:
        separate = [(escaping.name(name), _item(item, escaping, items_style)) for _, item in members]
        joined = [text for _, text in separate]
    if explode or len(joined) < 2:
        return separate
    return [(escaping.name(name), escaping.delimiter(EXPANSIONS[style].delimiter).join(joined))]


def _members(value: dict[str, Any] | list[Any]) -> list[tuple[str, Any]]:
    """Return the defined members of a value; those of an array have no name."""
    members = list(value.items()) if isinstance(value, dict) else [("", item) for item in value]
    return [(key, item) for key, item in members if item is not None]


def _item(value: Any, escaping: Escaping, items_style: Style | None) -> str:
    if isinstance(value, list) and items_style is not None:
        delimiter = escaping.delimiter(EXPANSIONS[items_style].delimiter)
        return delimiter.join(escaping.value(scalar_text(item)) for item in value)
    return escaping.value(scalar_text(value))


def _deep(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _deep(f"{name}[{key}]", item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _deep(f"{name}[{index}]", item)
    elif value is not None:
        yield name, scalar_text(value)


def scalar_text(value: Any) -> str:
    """Return one value as text: a string unchanged, a number in plain digits, any other value as JSON text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return jsontext.write(value)
    return jsontext.number(value)
