"""Regular expressions that mean the same to every client: JavaScript's (with the `u` flag) and Python's `re`.

A pattern is read as ECMA-262 writes it, and rewritten with what both share. What one of them lacks, or what would take
exponential time on some string, makes it None: a schema without a pattern accepts more, one with a bad pattern costs a
client its whole list of tools. Specification: ECMA-262 section 22.2.1 with `UnicodeMode`; Python `re`.
"""

import re
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from .backtracking import Automaton
from .characters import ANY, CLASSES, OTHERS, NotPortable, mask_of, members_of, visible

LONGEST: Final = 2000
"""Characters. Longer ones are generated lists of words; they cost a model more than they tell it."""

_DEEPEST: Final = 30
"""Groups in groups. Nobody writes more, and a parser that calls itself must stop somewhere."""

_UNBOUNDED: Final = 1 << 16
"""Stands for any number of repetitions."""

_ANCHORS: Final = {"A": "^", "Z": "$", "z": "$", "b": r"\b", "B": r"\B"}
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|")
_QUANTIFIER: Final = re.compile(r"[*+?]|\{(\d{1,5})(,(\d{1,5})?)?\}|\{,(\d{1,5})\}")
_NAME: Final = re.compile(r"\?P?<[A-Za-z_]\w*>")
_LITERAL: Final = re.compile(r"/(?P<body>\^.*(?<!\\)\$|\^[^|]*|[^|]*(?<!\\)\$)/(?P<flags>[a-z]*)", re.DOTALL)
"""Between slashes, `^` after the first or `$` before the last: nothing is before a beginning or after an end."""

_HIGH_SURROGATE: Final = 0xD800 >> 10
_CODES: Final = {
    "u": re.compile(r"\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{4})"),
    "x": re.compile(r"([0-9A-Fa-f]{2})()"),
}


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a pattern: rewritten, the positions it may begin and end with, and whether it may match nothing."""

    text: str
    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    empty: bool = False
    loops: bool = False
    repeatable: bool = True


@lru_cache(maxsize=4096)
def portable(pattern: str) -> str | None:
    """The pattern as both dialects read it, or None where there is no such pattern."""
    try:
        rewritten = _Reader(_bare(pattern)).whole()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(rewritten)
    except (NotPortable, re.error, Warning, OverflowError, RecursionError):
        return None
    return rewritten


def _bare(pattern: str) -> str:
    """What stands between slashes, as programs write patterns; as it is written it would match nothing at all."""
    body = _LITERAL.fullmatch(pattern)
    if body is None:
        return pattern
    if body["flags"].strip("dguyv"):  # what ignores the case, say, can be written in no pattern
        raise NotPortable
    return body["body"]


class _Reader:
    """Reads one pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > LONGEST:
            raise NotPortable
        self._pattern = pattern
        self._at = 0
        self._depth = 0
        self._groups = 0
        self._referred = 0
        self._automaton = Automaton()

    def whole(self) -> str:
        """The pattern, rewritten."""
        part = self._alternatives()
        if self._at < len(self._pattern) or self._referred > self._groups:
            raise NotPortable
        return part.text

    def _peek(self, count: int = 1) -> str:
        return self._pattern[self._at : self._at + count]

    def _next(self) -> str:
        if self._at == len(self._pattern):
            raise NotPortable
        self._at += 1
        return self._pattern[self._at - 1]

    def _skip(self, text: str) -> bool:
        found = self._pattern.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _one(self, text: str, characters: int) -> _Part:
        position = (self._automaton.position(characters),)
        return _Part(text, position, position)

    def _literal(self, character: str) -> _Part:
        return self._one("\\" + character if character in _SYNTAX else visible(character), mask_of(character))

    def _alternatives(self) -> _Part:
        branches = [self._sequence()]
        while self._skip("|"):
            branches.append(self._sequence())
        return _Part(
            "|".join(branch.text for branch in branches),
            tuple(position for branch in branches for position in branch.first),
            tuple(position for branch in branches for position in branch.last),
            any(branch.empty for branch in branches),
            any(branch.loops for branch in branches),
        )

    def _sequence(self) -> _Part:
        whole = _Part("", empty=True)
        while self._peek() not in ("", "|", ")"):
            start = len(self._automaton.characters)
            part = self._repeated(self._atom(), start)
            self._automaton.connect(whole.last, part.first)
            whole = _Part(
                whole.text + part.text,
                whole.first + part.first if whole.empty else whole.first,
                whole.last + part.last if part.empty else part.last,
                whole.empty and part.empty,
                whole.loops or part.loops,
            )
        return whole

    def _atom(self) -> _Part:
        if _quantifier(self._pattern, self._at):
            raise NotPortable
        character = self._next()
        if character == "(":
            return self._group()
        if character == "[":
            return self._class()
        if character == "\\":
            return self._escape()
        if character in "^$":
            return _Part(character, empty=True, repeatable=False)
        return self._one(".", ANY) if character == "." else self._literal(character)

    def _repeated(self, part: _Part, start: int) -> _Part:
        """A part with the quantifier after it, if there is one; `start` is the first of its positions."""
        found = _quantifier(self._pattern, self._at)
        if not found:
            return part
        text, least, most = found
        self._at += len(text)
        lazy = "?" if self._skip("?") else ""
        if not part.repeatable or _quantifier(self._pattern, self._at):
            raise NotPortable  # nothing to repeat; a quantifier of a quantifier; a possessive one
        loops = most > 1 and (least != most or part.loops)
        if loops:
            self._automaton.connect(part.last, part.first)
            if self._automaton.explodes(range(start, len(self._automaton.characters))):
                raise NotPortable
        text = "{0" + text[1:] if text.startswith("{,") else text
        return _Part(part.text + text + lazy, part.first, part.last, part.empty or least == 0, loops or part.loops)

    def _group(self) -> _Part:
        opening, looks = self._opening()
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotPortable
        inner = self._alternatives()
        if self._next() != ")":
            raise NotPortable
        self._depth -= 1
        text = f"{opening}{inner.text})"
        if looks:
            return _Part(text, empty=True, loops=inner.loops, repeatable=False)
        return _Part(text, inner.first, inner.last, inner.empty, inner.loops)

    def _opening(self) -> tuple[str, bool]:
        """How a group begins, and whether it only looks. Names go: the dialects write them differently."""
        for opening in ("?=", "?!", "?<=", "?<!"):
            if self._skip(opening):
                return "(" + opening, True
        if self._skip("?:"):
            return "(?:", False
        named = _NAME.match(self._pattern, self._at)
        if named:
            self._at = named.end()
        elif self._peek() == "?":
            raise NotPortable  # flags, comments, atomic groups, conditions
        self._groups += 1
        return "(", False

    def _escape(self) -> _Part:
        character = self._next()
        if character in CLASSES:
            return self._one("\\" + character, CLASSES[character])
        if character in _ANCHORS:
            return _Part(_ANCHORS[character], empty=True, repeatable=False)
        if character in "123456789":
            return self._back_reference(character)
        return self._literal(self._character(character))

    def _back_reference(self, digit: str) -> _Part:
        if self._peek().isdigit():
            raise NotPortable  # ten groups, or one and a digit: who reads it cannot tell
        self._referred = max(self._referred, int(digit))
        position = self._automaton.position(ANY)
        return _Part(f"\\{digit}", (position,), (position,), empty=True)

    def _character(self, character: str) -> str:
        """The one character that an escape stands for."""
        if character in _CONTROLS and not (character == "0" and self._peek().isdigit()):
            return _CONTROLS[character]
        if character in _CODES:
            return self._code(character)
        if character.isalnum():
            raise NotPortable
        return character

    def _code(self, kind: str) -> str:
        code = self._number(kind)
        if code >> 10 == _HIGH_SURROGATE and self._skip("\\u"):
            low = self._number("u")
            code = 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF) if low >> 10 == _HIGH_SURROGATE + 1 else low
        if code > 0x10FFFF:
            raise NotPortable
        return chr(code)

    def _number(self, kind: str) -> int:
        """The digits of an escape."""
        found = _CODES[kind].match(self._pattern, self._at)
        if not found:
            raise NotPortable
        self._at = found.end()
        return int(found[1] or found[2], 16)

    def _class(self) -> _Part:
        negated = self._skip("^")
        members = []
        while not self._skip("]"):
            members.append(self._member())
        if not members and negated:
            return self._one(r"[\s\S]", ANY)
        if not members:
            raise NotPortable  # `[]`: nothing in one dialect, an open class in the other
        text, mask = members_of(members)
        return self._one(f"[{'^' if negated else ''}{text}]", (ANY & ~mask) | OTHERS if negated else mask)

    def _member(self) -> str:
        """A member of a class: one character, a backslash and the letter of a class, or `--` for a bare hyphen."""
        character = self._next()
        if character == "[" and self._peek() in (":", ".", "="):
            raise NotPortable  # POSIX classes
        if character == "-":
            return "--"
        if character != "\\":
            return character
        character = self._next()
        if character in CLASSES:
            return "\\" + character
        return "\b" if character == "b" else self._character(character)


def _quantifier(pattern: str, at: int) -> tuple[str, int, int] | None:
    """The quantifier there: as text, the least and the most. `{,3}` is one in Python, and meant as one elsewhere."""
    found = _QUANTIFIER.match(pattern, at)
    if not found:
        return None
    text = found[0]
    if text in "*+?":
        return text, int(text == "+"), 1 if text == "?" else _UNBOUNDED
    least = int(found[1] or 0)
    most = found[3] or found[4]
    if most and int(most) < least:
        raise NotPortable
    return text, least, int(most) if most else _UNBOUNDED if found[2] else least
