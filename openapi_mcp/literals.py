"""Values as Python source that `ast.literal_eval` reads back, laid out as `ruff format` would; nothing but literals.

Text of a document reaches source here or nowhere: a string is always quoted, and what cannot be seen is escaped. What
stands between the values (names, calls, keywords) is `Source`, which only the generator's own modules make.
"""

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self, TypeAlias

WIDTH: Final = 120
"""Columns of a line."""

INDENT: Final = 4

_LARGEST: Final = 10**4000
"""Python refuses to read longer decimal numbers (sys.set_int_max_str_digits)."""


class Source(str):
    """Text that is Python already: an identifier, or what this module wrote."""

    __slots__ = ()


class Quoted(str):
    """A string literal that remembers its value, since it may have to be cut."""

    __slots__ = ("value",)
    value: str

    def __new__(cls, literal: str, value: str) -> Self:
        """The literal of a value."""
        self = super().__new__(cls, literal)
        self.value = value
        return self


@dataclass(frozen=True, slots=True)
class Group:
    """Something in brackets: items on one line where that fits, else one a line. An item: what precedes it, it."""

    opening: str
    items: Sequence[tuple[str, "Node"]]
    closing: str
    single: bool = False
    """Whether one item alone has a comma after it (a tuple)."""


Node: TypeAlias = str | Group


def literal(value: Any, *, indent: int = 0, before: int = 0, after: int = 0) -> Source:
    """A value as source. Raises TypeError for what is no JSON value, ValueError for NaN.

    `indent` is that of the line it begins on, `before` how many columns are taken there, `after` how many will be.
    """
    return layout(node(value), indent=indent, before=before, after=after)


def layout(tree: Node, *, indent: int = 0, before: int = 0, after: int = 0) -> Source:
    """A tree as source; see `literal`."""
    return Source("".join(_pieces(tree, indent, before, after)))


def node(value: Any) -> Node:
    """A value as a tree. Source is taken as it is."""
    if isinstance(value, Source | Group):
        return value
    if isinstance(value, str):
        return Quoted(quoted(value), value)
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return str(value) if -_LARGEST < value < _LARGEST else f"{value:#X}".replace("X", "x")
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, dict):
        return Group("{", [(f"{node(key)}: ", node(item)) for key, item in value.items()], "}")
    if isinstance(value, list):
        return Group("[", [("", node(item)) for item in value], "]")
    if isinstance(value, tuple):
        return Group("(", [("", node(item)) for item in value], ")", single=True)
    raise TypeError(f"{type(value).__name__} has no literal")


def call(function: str, *args: Any, **kwargs: Any) -> Group:
    """A call, whose function and keywords are identifiers and whose arguments are values."""
    items = [("", node(value)) for value in args]
    items += [(f"{name}=", node(value)) for name, value in kwargs.items()]
    return Group(f"{function}(", items, ")")


def quoted(text: str) -> str:
    """A string literal, in double quotes unless single ones need fewer escapes."""
    if '"' not in text:
        return '"' + repr("'" + text)[2:]  # the quote makes repr choose the others
    if "'" not in text:
        return repr(text)
    if text.count('"') > text.count("'"):
        return repr(text)
    return '"' + repr(text)[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'


def _float(value: float) -> str:
    if math.isnan(value):
        raise ValueError("NaN is no JSON value")
    if math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    return repr(value).replace("e+", "e")


def _pieces(tree: Node, indent: int, before: int, after: int) -> Iterator[str]:
    room = WIDTH - before - after
    flat = _flat(tree, room)
    if flat is not None:
        yield flat
    elif isinstance(tree, str):
        yield from _split(tree, indent)
    elif not tree.items:
        yield tree.opening + tree.closing
    else:
        yield tree.opening + "\n"
        for prefix, item in tree.items:
            yield " " * (indent + INDENT) + prefix
            yield from _pieces(item, indent + INDENT, indent + INDENT + width(prefix), 1)
            yield ",\n"
        yield " " * indent + tree.closing


def _flat(tree: Node, room: int) -> str | None:
    """The tree on one line, or None where it is longer than that."""
    if isinstance(tree, str):
        return tree if width(tree) <= room else None
    parts: list[str] = []
    room -= len(tree.opening) + len(tree.closing) + 2 * max(len(tree.items) - 1, 0)
    for prefix, item in tree.items:
        flat = _flat(item, room - width(prefix))
        if flat is None:
            return None
        parts.append(prefix + flat)
        room -= width(parts[-1])
    comma = "," if tree.single and len(parts) == 1 else ""
    line = ", ".join(parts)
    return f"{tree.opening}{line}{comma}{tree.closing}" if room >= len(comma) else None


def width(text: str) -> int:
    """Columns of a text: East Asian wide characters take two (Unicode Standard Annex 11), marks on others none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _split(text: str, indent: int) -> Iterator[str]:
    """A string that is too long: in parentheses, and as several if need be; what cannot be cut stays as it is."""
    room = WIDTH - indent - INDENT
    value = text.value if isinstance(text, Quoted) else ""
    parts = list(_parts(value, room))
    if not value or any(width(part) > room for part in parts):
        yield text
        return
    yield "(\n"
    for part in parts:
        yield f"{' ' * (indent + INDENT)}{part}\n"
    yield " " * indent + ")"


def _parts(text: str, room: int) -> Iterator[str]:
    """A text as literals of a line each, cut after spaces where there are any."""
    line = ""
    for word in _words(text, room):
        if line and width(quoted(line + word)) > room:
            yield quoted(line)
            line = ""
        line += word
    yield quoted(line)


def _words(text: str, room: int) -> Iterator[str]:
    """Words with the spaces after them, the longest in pieces that fit on a line."""
    for word in re.findall(r"[^ ]* +|[^ ]+", text):
        piece = ""
        for character in word if width(quoted(word)) > room else ():
            if width(quoted(piece + character)) > room:
                yield piece
                piece = ""
            piece += character
        yield piece or word
