"""Edits of JSON text that may have comments and trailing commas (JSONC): only the bytes of one member change.

`put` adds a member or an item, `removals` yields the texts without it. Neither writes the rest of the text anew, so
that comments, order of keys, indentation and line ends stay. Specification: RFC 8259; the comments are those of JSONC.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

_TOKEN: Final = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"/]+|(?P<skip>\s+|//[^\n]*|/\*.*?\*/)', re.DOTALL
)

Path = Sequence[str]
"""Keys that lead from the root to an object or an array."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object or an item of an array: where it begins and ends, and its comma, -1 where it has none."""

    key: str
    start: int
    value: int
    end: int
    comma: int = -1


@dataclass(frozen=True, slots=True)
class JsonContainer:
    """An object or an array: the offsets after its opening and of its closing bracket, and what is in it."""

    opening: int
    closing: int
    members: tuple[Member, ...]

    @property
    def trailing(self) -> int:
        """The offset at which the last member or its comma ends; without members that of the opening bracket."""
        return max(self.members[-1].end, self.members[-1].comma + 1) if self.members else self.opening


def parsed(text: str) -> Any:
    """Return the value of a text; None of an empty one. Raises ValueError."""
    with suppress(ValueError, RecursionError):
        return json.loads(text)  # without comments it is JSON, which is read much faster
    words = [text[start:end] for start, end in _tokens(text)]
    if not words:
        return None
    kept = [
        word
        for word, following in zip(words, [*words[1:], ""], strict=True)
        if not (word == "," and following in ("}", "]"))
    ]
    try:
        return json.loads(" ".join(kept))
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None


def put(text: str, path: Path, key: str, value: Any) -> str:
    """Return the text with a new member at the end of the object at `path`; of an array (key "") with a new item.

    Objects of the path that are absent are made; an array is made where `key` is "". The text must be valid.
    """
    line_end = "\r\n" if "\r\n" in text else "\n"
    existing = list(path)
    while existing and _container(text, existing) is None:
        existing.pop()
    missing = list(path[len(existing) :])
    if missing:
        value = [value] if not key else {key: value}
        for name in reversed(missing[1:]):
            value = {name: value}
        key = missing[0]
    if not text.strip("\ufeff \t\r\n"):
        return text + json.dumps({key: value}, indent=2, ensure_ascii=False).replace("\n", line_end) + line_end
    place = _container(text, existing)
    if place is None:
        raise ValueError("its root is not an object")
    return _inserted(text, place, key, value, line_end)


def removals(text: str, path: Path, key: str | int) -> Iterator[str]:
    """Yield the texts without a member (of an array: the item with this index).

    There are several where the object becomes empty: it stays, with and without the white space in it, or goes too.
    """
    place = _container(text, path)
    if place is None:
        return
    indices = range(len(place.members)) if isinstance(key, int) else ()
    index = key if key in indices else next((i for i, each in enumerate(place.members) if each.key == key), None)
    if not isinstance(index, int):
        return
    without = _without(text, place, index)
    if len(place.members) > 1:
        yield without
        return
    left = place.closing - (len(text) - len(without))
    if not without[place.opening : left].strip():
        yield without[: place.opening] + without[left:]
    yield without
    if path:
        yield from removals(text, path[:-1], path[-1])


@lru_cache(maxsize=1)
def _tokens(text: str) -> list[tuple[int, int]]:
    """Return start and end of each token that is no white space and no comment. Raises ValueError."""
    tokens = []
    position = 1 if text.startswith("\ufeff") else 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if not match:
            line = text.count("\n", 0, position) + 1
            raise ValueError(f"line {line} has a text that is not closed or a character that does not belong there")
        if match.lastgroup != "skip":
            tokens.append(match.span())
        position = match.end()
    return tokens


def _container(text: str, path: Path) -> JsonContainer | None:
    """Return the object or array at a path; None where there is none."""
    tokens = _tokens(text)
    if not tokens:
        return None
    index = 0
    for key in path:
        if text[tokens[index][0]] != "{":
            return None
        found = [start for start, member in _members(text, tokens, index) if member.key == key]
        if not found:
            return None
        index = found[-1]  # of several members with one name, parsers take the last
    if text[tokens[index][0]] not in "{[":
        return None
    members = [member for _, member in _members(text, tokens, index)]
    return JsonContainer(tokens[index][1], tokens[_closing(text, tokens, index)][0], tuple(members))


def _members(text: str, tokens: list[tuple[int, int]], index: int) -> Iterator[tuple[int, Member]]:
    """Yield each member of the container that begins at a token, with the index of the first token of its value."""
    is_object = text[tokens[index][0]] == "{"
    index += 1
    while text[tokens[index][0]] not in "}]":
        start, end = tokens[index]
        key = json.loads(text[start:end]) if is_object else ""
        first = index + 2 if is_object else index
        last = _closing(text, tokens, first)
        index = last + 1
        comma = tokens[index][0] if text[tokens[index][0]] == "," else -1
        yield first, Member(key, start, tokens[first][0], tokens[last][1], comma)
        index += comma >= 0


def _closing(text: str, tokens: list[tuple[int, int]], index: int) -> int:
    """Return the index of the last token of the value that begins at a token."""
    depth = 0
    while True:
        character = text[tokens[index][0]]
        depth += (character in "{[") - (character in "}]")
        if not depth:
            return index
        index += 1


def _inserted(text: str, place: JsonContainer, key: str, value: Any, line_end: str) -> str:
    """Return the text with a member after all others, in the style of these: a line each, or one line for all."""
    first = place.members[0].start if place.members else place.closing
    indent = _indent(text, first) if place.members else _indent(text, place.opening) + _unit(text)
    name = f"{json.dumps(key, ensure_ascii=False)}: " if key else ""
    tail = len(text[: place.closing].rstrip())
    head = text[:tail]
    on_one_line = "\n" not in text[place.opening : first] and tail == place.trailing  # no comment at the end
    if place.members and on_one_line:
        separator, kept = ("", ",") if place.members[-1].comma >= 0 else (",", "")
        member = f" {name}{json.dumps(value, ensure_ascii=False)}{kept}"
        return _with_comma(head, place, separator) + member + text[tail:]
    rendered = json.dumps(value, indent=_unit(text), ensure_ascii=False).replace("\n", line_end + indent)
    needs_comma = bool(place.members) and place.members[-1].comma < 0
    keeps_comma = "," if place.members and not needs_comma else ""
    head = _with_comma(head, place, "," if needs_comma else "")
    rest = text[tail:]
    if "\n" not in rest[: place.closing - tail]:
        rest = line_end + _indent(text, place.opening) + text[place.closing :]
    return f"{head}{line_end}{indent}{name}{rendered}{keeps_comma}{rest}"


def _with_comma(head: str, place: JsonContainer, comma: str) -> str:
    end = place.members[-1].end if place.members else place.opening
    return head[:end] + comma + head[end:]


def _indent(text: str, offset: int) -> str:
    """Return the white space that the line of an offset begins with."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """Return the indentation of one level: that of the first line that has one, else two spaces."""
    match = re.search(r'^([ \t]+)["{\[]', text, re.MULTILINE)
    return match[1] if match else "  "


def _without(text: str, place: JsonContainer, index: int) -> str:
    """Return the text without a member, its comma, and the white space before it."""
    member = place.members[index]
    before = max(place.members[index - 1].end, place.members[index - 1].comma + 1) if index else place.opening
    start = len(text[: member.start].rstrip())
    end = max(member.end, member.comma + 1)
    if "//" in text[before:start] and text[end : end + 1] not in ("\r", "\n"):
        start = member.start  # the line end after a comment stays
    if member.comma < 0 and index:  # the last of several: the comma before it goes
        comma = place.members[index - 1].comma
        return text[:comma] + text[comma + 1 : start] + text[end:]
    return text[:start] + text[end:]
