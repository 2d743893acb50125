"""The beginning of a large JSON text: as much of its arrays and objects as a result may hold, however large they are.

Python's JSON reader lets no other thread run until it is done, and its values take up to fifty times as much memory as
their text. Here the text is outlined first: where its large arrays and objects are, and where these can be divided
between two items. Then that reader reads pieces of it, and the others are left out.

Specification: RFC 8259.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

PIECE: Final = 64 * 1024
"""Bytes of text that are read at once: about two milliseconds."""

MAX_DEPTH: Final = 2_000
"""Arrays and objects in each other: more than `json` reads. Each that is open takes some hundred bytes of memory."""

MAX_TOKENS: Final = 1_000_000
"""Tokens of a text that are outlined, in about a second. Behind them the items are not even counted."""

_TEXT: Final = rb'"[^"\\]{0,4096}+(?:\\.[^"\\]{0,4096}+){0,64}+"'
_TOKEN: Final = re.compile(
    rb'[\[{][^\[\]{}"]{0,4096}+(?:%b[^\[\]{}"]{0,4096}+){0,64}+[\]}]|%b|[\[{\]}"]' % (_TEXT, _TEXT), re.DOTALL
)
"""An array or object without others, a string, or a bracket; a quotation mark by itself begins a longer string."""

_STRING: Final = re.compile(_TEXT, re.DOTALL)

_AFTER_NAME: Final = re.compile(rb"[ \t\r\n]*:")
_CHARACTERS: Final = re.compile(rb"(?:[^\\\x00-\x1f\"]|\\(?:u[0-9A-Fa-f]{4}|[^u]))*+", re.DOTALL)
_OPENING: Final = frozenset(b"[{")
_CLOSING: Final = {ord("["): ord("]"), ord("{"): ord("}")}
_QUOTE: Final = ord('"')
_BACKSLASH: Final = ord("\\")
_OBJECT: Final = ord("{")

Decode: TypeAlias = Callable[[str], Any]
"""A reader of one JSON text. Raises ValueError."""


class PartialArray(list[Any]):
    """The first items of an array; `total` says how many it has: `7`, or `at least 7`."""

    total: str = ""


class PartialObject(dict[str, Any]):
    """The first properties of an object; `total` says how many it has, as of a PartialArray."""

    total: str = ""


class PartialText(str):
    """The first characters of a string; `total` says how many it has, as of a PartialArray."""

    __slots__ = ("total",)
    total: str


def like(value: Any, original: Any) -> Any:
    """Return a value that was made from another one, partial if that is."""
    is_partial = isinstance(original, PartialArray | PartialObject | PartialText)
    return _partial(value, original.total) if is_partial else value


@dataclass(slots=True)
class _Container:
    """An array or object in a text, from its bracket at `start` to its end, divided at commas of its own.

    A segment is the place of some items, or another large container with the place of its name. While the outline is
    made, `mark` is where the next segment begins, `comma` the last comma, and `follows` whether a container was just
    added, after which only a comma or the end may stand.
    """

    start: int
    mark: int
    comma: int
    end: int = 0
    commas: int = 0
    follows: bool = False
    is_cut: bool = False
    segments: "list[tuple[int, int, _Container | None]]" = field(default_factory=list)


def read_beginning(data: bytes, decode: Decode, budget: int) -> Any:
    """Return the value of a JSON text in UTF-8 without what is beyond about `budget` bytes of its arrays and objects.

    Where something is left out, the value has a PartialArray or PartialObject. What is left out may be no JSON. Raises
    ValueError and RecursionError.
    """
    root = _Outline(data).root
    return decode(data.decode()) if root is None else _build(root, data, decode, budget)


class _Outline:
    """The large arrays and objects of a text. `root` is the outermost one, None if the text is small or has none."""

    def __init__(self, data: bytes) -> None:
        self.root: _Container | None = None
        self._has_ended = False
        self._data = data
        self._open: list[_Container] = []
        last, has_other = 0, False  # text outside of the value
        for _ in range(MAX_TOKENS):
            token = _TOKEN.search(data, last, last + PIECE)
            start, end = token.span() if token else (min(last + PIECE, len(data)),) * 2
            if self._open:
                self._divide(self._open[-1], last, start)
            else:
                has_other = has_other or bool(data[last:start].strip())
                if [self._has_ended, has_other, token is not None].count(True) > 1:
                    raise ValueError("something stands beside the value")
            if token:
                if data[start] == _QUOTE and end == start + 1:
                    end = _end_of_string(data, end)
                self._take(start, end)
            elif end == len(data):
                if self._open:
                    raise ValueError("the value does not end where its text ends")
                break
            last = end
        while self._open:
            self._close(self._open.pop(), last, is_cut=True)

    def _take(self, start: int, end: int) -> None:
        """Take a token into the outline."""
        first = self._data[start]
        parent = self._open[-1] if self._open else None
        if parent is not None and parent.follows and first not in _CLOSING.values():
            raise ValueError("there is no comma between two items")
        if first == _QUOTE:
            self._take_string(start, end)
        elif first not in _OPENING:
            if parent is None or first != _CLOSING[self._data[parent.start]]:
                raise ValueError("a bracket closes what was not opened")
            self._close(self._open.pop(), end)
        elif end == start + 1:
            if len(self._open) == MAX_DEPTH:
                raise RecursionError("the value is nested too deeply")
            self._open.append(_Container(start, mark=end, comma=start))
        elif end - start > PIECE or parent is None:
            self._take_flat(start, end)

    def _take_flat(self, start: int, end: int) -> None:
        """Take an array or object without others into the outline, divided between its strings."""
        if self._data[end - 1] != _CLOSING[self._data[start]]:
            raise ValueError("a bracket closes what was not opened")
        container = _Container(start, mark=start + 1, comma=start)
        self._open.append(container)
        last = start + 1
        for string in _STRING.finditer(self._data, start + 1, end - 1):
            self._divide(container, last, string.start())
            last = string.end()
            self._take_string(string.start(), last)
        self._divide(container, last, end - 1)
        self._close(self._open.pop(), end)

    def _take_string(self, start: int, end: int) -> None:
        """Take a large string into the outline as if it contained something, unless it is a name."""
        if end - start > PIECE and not _AFTER_NAME.match(self._data, end):
            self._close(_Container(start, mark=end, comma=start, follows=True), end)

    def _divide(self, container: _Container, start: int, end: int) -> None:
        """Divide a container at the commas of a text without strings and brackets."""
        data = self._data
        if container.follows:
            comma = data.find(b",", start, end)
            if data[start : end if comma < 0 else comma].strip():
                raise ValueError("there is no comma between two items")
            if comma < 0:
                return
            container.commas += 1
            container.follows, container.comma, container.mark, start = False, comma, comma + 1, comma + 1
        commas = data.count(b",", start, end)
        if not commas:
            return
        container.commas += commas
        container.comma = data.rfind(b",", start, end)
        while container.comma - container.mark >= PIECE:
            comma = data.rfind(b",", start, container.mark + PIECE)
            if comma < container.mark:
                comma = data.find(b",", max(start, container.mark), end)
            container.segments.append((container.mark, comma, None))
            container.mark = comma + 1

    def _close(self, container: _Container, end: int, *, is_cut: bool = False) -> None:
        """End a container; a large one is added to the one around it. One that is cut ends at its last comma."""
        container.end, container.is_cut = end, is_cut
        if not container.follows:
            last = container.comma if is_cut else end - 1
            if last >= container.mark or not is_cut:
                container.segments.append((container.mark, last, None))
        if not self._open:
            self.root, self._has_ended = container, True
        elif end - container.start > PIECE or is_cut:
            parent = self._open[-1]
            if parent.comma >= parent.mark:
                parent.segments.append((parent.mark, parent.comma, None))
            parent.segments.append((max(parent.mark, parent.comma + 1), container.start, container))
            parent.mark, parent.follows = end, True


def _build(container: _Container, data: bytes, decode: Decode, budget: int) -> Any:
    """Return the value of a container, or of a large string, without what is beyond a budget of bytes."""
    if data[container.start] == _QUOTE:
        return _build_text(data, container, decode, budget)
    builder = _build_object if data[container.start] == _OBJECT else _build_array
    value, is_partial = builder(container, data, decode, budget)
    total = f"at least {max(container.commas, len(value))}" if container.is_cut else str(container.commas + 1)
    return _partial(value, total) if is_partial or container.is_cut else value


def _build_array(container: _Container, data: bytes, decode: Decode, budget: int) -> tuple[list[Any], bool]:
    """Return the first items of an array, and whether others are left out."""
    items: list[Any] = []
    share = _share(container, budget)
    for start, end, inner in container.segments:
        if budget <= 0:
            return items, True
        if inner is None:
            items += decode(f"[{_items_text(container, data[start:end])}]")
        elif data[start:end].strip():
            raise ValueError("there is no comma between two items")
        else:
            items.append(_build(inner, data, decode, share))
        budget -= end - start if inner is None else share
    return items, False


def _build_object(container: _Container, data: bytes, decode: Decode, budget: int) -> tuple[dict[str, Any], bool]:
    """Return the first properties of an object, and whether others are left out."""
    properties: dict[str, Any] = {}
    share = _share(container, budget)
    for start, end, inner in container.segments:
        if budget <= 0:
            return properties, True
        if inner is None:
            properties |= decode(f"{{{_items_text(container, data[start:end])}}}")
        else:
            properties[_name(data[start:end], decode)] = _build(inner, data, decode, share)
        budget -= end - start if inner is None else share
    return properties, False


def _build_text(data: bytes, string: _Container, decode: Decode, budget: int) -> str:
    """Return the first characters of a string, none of them divided."""
    size = string.end - string.start - 2
    if size <= budget:
        return str(decode(data[string.start : string.end].decode()))
    start = _CHARACTERS.match(data, string.start + 1, string.start + max(budget, 16))
    text: str = _partial(decode(f'"{start[0].decode(errors="ignore") if start else ""}"'), f"about {size}")
    return text


def _share(container: _Container, budget: int) -> int:
    """Return the part of a budget that each large container within another has, after the other items."""
    inner = sum(each is not None for _, _, each in container.segments)
    others = sum(end - start for start, end, each in container.segments if each is None)
    return max(PIECE, (budget - others) // (inner or 1))


def _items_text(container: _Container, text: bytes) -> str:
    """Return the text of a segment. Raises ValueError if it is empty, unless it is all of its container."""
    if not text.strip() and (container.commas or len(container.segments) > 1):
        raise ValueError("there is no item between two commas")
    return text.decode()


def _name(text: bytes, decode: Decode) -> str:
    """Return the name of a property, from the text before its value."""
    name, colon, rest = text.rpartition(b":")
    value = decode(name.decode()) if colon and not rest.strip() else None
    if isinstance(value, str):
        return value
    raise ValueError("a property has no name")


def _end_of_string(data: bytes, start: int) -> int:
    """Return the place behind the quotation mark that ends a string. Raises ValueError if there is none."""
    place = data.find(b'"', start)
    while place >= 0:
        before = place
        while data[before - 1] == _BACKSLASH:
            before -= 1
        if (place - before) % 2 == 0:
            return place + 1
        place = data.find(b'"', place + 1)
    raise ValueError("a string does not end")


def _partial(value: Any, total: str) -> Any:
    kinds = {list: PartialArray, dict: PartialObject, str: PartialText}
    partial: Any = next(partial for kind, partial in kinds.items() if isinstance(value, kind))(value)
    partial.total = total
    return partial
