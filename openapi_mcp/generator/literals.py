"""Write values as Python literals that `ast.literal_eval` reads back, in the layout of `ruff format`.

Text of a document becomes source only here: strings are always quote, and unprintable characters escaped. The names,
calls and keywords between the values are `Source`, which only modules of the generator make.

A description becomes a docstring only if the runtime reads the docstring back as that description.
"""

import ast
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self, TypeAlias

from ..runtime import declarations

WIDTH: Final = 120
"""Columns of a line."""

INDENT: Final = 4

_MAX_INTEGER: Final = 10**4000
"""Python refuses to read longer decimal numbers (sys.set_int_max_str_digits)."""


class Source(str):
    """Text that is Python source: an identifier, or a text that this module wrote."""

    __slots__ = ()


class Quoted(str):
    """A string literal with its value, which is needed to split it over several lines."""

    __slots__ = ("value",)
    value: str

    def __new__(cls, literal: str, value: str) -> Self:
        """Return the literal of a value."""
        self = super().__new__(cls, literal)
        self.value = value
        return self


@dataclass(frozen=True, slots=True)
class Group:
    """Items in brackets, on one line if they fit, else one on each line. An item is a prefix and a node."""

    opening: str
    items: Sequence[tuple[str, "Node"]]
    closing: str
    single: bool = False
    """True if a comma follows a single item (a tuple)."""


Node: TypeAlias = str | Group


def literal(value: Any, *, indent: int = 0, before: int = 0, after: int = 0) -> Source:
    """Return the source of a JSON value or tuple. Raises TypeError for other values, ValueError for NaN.

    `indent` is that of the first line, `before` the columns that the line has already, `after` those that will follow.
    """
    return layout(node(value), indent=indent, before=before, after=after)


def layout(tree: Node, *, indent: int = 0, before: int = 0, after: int = 0) -> Source:
    """Return the source of a node; see `literal` for the parameters."""
    return Source("".join(_pieces(tree, indent, before, after)))


def node(value: Any) -> Node:
    """Return the node of a value; Source and groups unchanged."""
    if isinstance(value, Source | Group):
        return value
    if isinstance(value, str):
        return Quoted(quote(value), value)
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return str(value) if -_MAX_INTEGER < value < _MAX_INTEGER else f"{value:#X}".replace("X", "x")
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, dict):
        return Group("{", [(f"{node(key)}: ", node(item)) for key, item in value.items()], "}")
    if isinstance(value, list):
        return Group("[", [("", node(item)) for item in value], "]")
    if isinstance(value, tuple):
        return Group("(", [("", node(item)) for item in value], ")", single=True)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def call(function: str, *args: Any, **kwargs: Any) -> Group:
    """Return the node of a call; the function and keywords are identifiers, the arguments are values."""
    items = [("", node(value)) for value in args]
    items += [(f"{name}=", node(value)) for name, value in kwargs.items()]
    return Group(f"{function}(", items, ")")


def quote(text: str) -> str:
    """Return a string literal, in double quotes unless single quotes need fewer escapes."""
    if '"' not in text:
        return '"' + repr("'" + text)[2:]  # the quote makes repr choose the others
    if "'" not in text:
        return repr(text)
    if text.count('"') > text.count("'"):
        return repr(text)
    return '"' + repr(text)[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'


def _float(value: float) -> str:
    if math.isnan(value):
        raise ValueError("NaN is not a JSON value")
    if math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    return repr(value).replace("e+", "e")


def _pieces(tree: Node, indent: int, before: int, after: int) -> Iterator[str]:
    columns = WIDTH - before - after
    flat = _flat(tree, columns)
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


def _flat(tree: Node, columns: int) -> str | None:
    """Return a node on one line, or None where it has more than `columns`."""
    if isinstance(tree, str):
        return tree if width(tree) <= columns else None
    parts: list[str] = []
    columns -= len(tree.opening) + len(tree.closing) + 2 * max(len(tree.items) - 1, 0)
    for prefix, item in tree.items:
        flat = _flat(item, columns - width(prefix))
        if flat is None:
            return None
        parts.append(prefix + flat)
        columns -= width(parts[-1])
    comma = "," if tree.single and len(parts) == 1 else ""
    line = ", ".join(parts)
    return f"{tree.opening}{line}{comma}{tree.closing}" if columns >= len(comma) else None


def width(text: str) -> int:
    """Return the columns of a text: 2 for wide East Asian characters (Unicode Annex 11), 0 for combining marks."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _split(text: str, indent: int) -> Iterator[str]:
    """Yield a long string as several literals in parentheses; unchanged where it cannot be split."""
    columns = WIDTH - indent - INDENT
    value = text.value if isinstance(text, Quoted) else ""
    parts = list(_parts(value, columns))
    if not value or any(width(part) > columns for part in parts):
        yield text
        return
    yield "(\n"
    for part in parts:
        yield f"{' ' * (indent + INDENT)}{part}\n"
    yield " " * indent + ")"


def _parts(text: str, columns: int) -> Iterator[str]:
    """Yield the literals of a text, one for each line, split after spaces where possible."""
    line = ""
    for word in _words(text, columns):
        if line and width(quote(line + word)) > columns:
            yield quote(line)
            line = ""
        line += word
    yield quote(line)


def _words(text: str, columns: int) -> Iterator[str]:
    """Yield words with the spaces after them; longer ones in pieces that fit on a line."""
    for word in re.findall(r"[^ ]* +|[^ ]+", text):
        piece = ""
        for character in word if width(quote(word)) > columns else ():
            if width(quote(piece + character)) > columns:
                yield piece
                piece = ""
            piece += character
        yield piece or word


_DOCSTRING_WIDTH: Final = WIDTH - INDENT
_BREAK: Final = re.compile(r" (?=[^\W\d_])")
"""A possible line break: for the runtime, a line that begins with a letter continues the line before."""


def exact_docstring(description: str) -> Source | None:
    """Return a docstring that the runtime reads as this description, or None where it would not be legible."""
    lines = [line for paragraph in _escape(description).split("\n") for line in _wrap(paragraph)]
    if not all(line.isprintable() and line == line.rstrip() and width(line) <= _DOCSTRING_WIDTH for line in lines):
        return None
    if not description or description[0] in ' "' or description[-1] in '"\\':
        return None
    docstring = _docstring(lines)
    return docstring if declarations.description_of(ast.literal_eval(docstring)) == description else None


def summary_docstring(*texts: str) -> Source:
    """Return a docstring of one line: the first of these texts with any legible character, shortened and plain."""
    lines = (_plain_line(text) for text in texts)
    return _docstring([next((line for line in lines if line), _NAMELESS)])


_NAMELESS: Final = "Without a description."
_UNSAFE: Final = re.compile(r'[\\"]')


def _plain_line(text: str) -> str:
    """Return a text in one line of a docstring, without quotation marks, backslashes and unprintable characters."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    line = _UNSAFE.sub("'", " ".join(printable.split())).strip(" '")
    columns = _DOCSTRING_WIDTH - 6
    if width(line) <= columns:
        return line
    while width(line) > columns - 2:
        line = line[: -max(1, (width(line) - columns) // 2)]
    return f"{line.rpartition(' ')[0] or line} …"


def _wrap(line: str) -> list[str]:
    """Return a line as several that the runtime joins again."""
    lines: list[str] = []
    current = ""
    for piece in _BREAK.split(line):
        longer = f"{current} {piece}" if current else piece
        if current and width(longer) + 6 * (not lines) > _DOCSTRING_WIDTH:
            lines.append(current)
            longer = piece
        current = longer
    return [*lines, current]


def _escape(text: str) -> str:
    """Escape text for a docstring. Unprintable characters are not escaped: `exact_docstring` refuses them."""
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _docstring(lines: list[str]) -> Source:
    """Return the docstring of escaped lines."""
    if len(lines) == 1:
        return Source(f'"""{lines[0]}"""')
    indented = [" " * INDENT * bool(line) + line for line in lines[1:]]
    return Source("\n".join([f'"""{lines[0]}', *indented, " " * INDENT + '"""']))
