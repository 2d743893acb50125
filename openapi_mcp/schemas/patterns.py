r"""Rewrite regular expressions so that JavaScript (with the `u` flag), Python's `re` and Rust's read them alike.

A pattern is parsed as ECMA-262 and written with the syntax that all share. It is dropped where one of them lacks the
syntax or where it could take exponential time: a schema without a pattern accepts more values, but with a pattern that
does not compile it costs a client the whole list of tools.

`\b` is written out: in ECMA-262 it is the edge of a word of ASCII characters, in Python and Rust of Unicode's.

Specification: ECMA-262 section 22.2.1 with `UnicodeMode`, ClassRanges among it; Python `re`.
"""

import re
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from .backtracking import Automaton, PatternTooComplex
from .character_classes import (
    ANY,
    CLASSES,
    MEMBERS,
    NotPortable,
    class_of,
    mask_of,
    visible,
)

MAX_PATTERN_LENGTH: Final = 2000
"""Characters of a pattern. Longer ones are generated lists of words, which cost a model more than they explain."""

_STEPS_PER_CHARACTER: Final = 3
"""Parsing and compiling a character takes as long as this many steps of the test."""

_MAX_DEPTH: Final = 30
"""Nested groups. Real patterns have fewer, and the parser is recursive."""

_UNBOUNDED: Final = 1 << 16
"""Number that stands for unlimited repetitions."""

_EDGE: Final = "(?:(?<=[{word}])(?{end}[{word}])|(?<![{word}])(?{start}[{word}]))"
_ANCHORS: Final = {
    "A": "^",
    "Z": "$",
    "z": "$",
    "b": _EDGE.format(word=MEMBERS["w"], end="!", start="="),
    "B": _EDGE.format(word=MEMBERS["w"], end="=", start="!"),
}
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|")
_QUANTIFIER: Final = re.compile(r"[*+?]|\{([0-9]{1,5})(,([0-9]{1,5})?)?\}|\{,([0-9]{1,5})\}")
_NAME: Final = re.compile(r"\?P?<[A-Za-z_]\w*>")
_LITERAL: Final = re.compile(r"/(?P<body>\^.*(?<!\\)\$|\^[^|]*|[^|]*(?<!\\)\$)/(?P<flags>[a-z]*)", re.DOTALL)
"""A pattern between slashes with `^` after the first or `$` before the last: nothing can be before `^` or after `$`."""

_HIGH_SURROGATE: Final = 0xD800 >> 10
_CODES: Final = {
    "u": re.compile(r"\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{4})"),
    "x": re.compile(r"([0-9A-Fa-f]{2})()"),
}


def portable(pattern: str) -> str | None:
    """Return the pattern for both dialects, or None if it cannot be written or could take exponential time."""
    return analyse(pattern)[0]


@lru_cache(maxsize=4096)
def analyse(pattern: str) -> tuple[str | None, int]:
    """Return what `portable` returns, and the steps that this took."""
    automaton = Automaton()
    try:
        rewritten = _PatternParser(_without_slashes(pattern), automaton).parse()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(rewritten)
    except (NotPortable, PatternTooComplex, re.error, Warning, OverflowError, RecursionError):
        return None, automaton.steps + _STEPS_PER_CHARACTER * len(pattern[:MAX_PATTERN_LENGTH])
    return rewritten, automaton.steps + _STEPS_PER_CHARACTER * len(pattern)


def _without_slashes(pattern: str) -> str:
    """Return the body of a `/pattern/` literal; read as a pattern, the slashes would let it match nothing."""
    body = _LITERAL.fullmatch(pattern)
    if body is None:
        return pattern
    if body["flags"].strip("dguyv"):  # flags such as `i` have no syntax inside a pattern
        raise NotPortable
    return body["body"]


@dataclass(frozen=True, slots=True)
class _PatternPiece:
    """A piece of a pattern: its rewritten text, its first and last positions, and whether it may match nothing."""

    text: str
    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    empty: bool = False
    loops: bool = False
    repeatable: bool = True


class _PatternParser:
    """Recursive descent parser of one pattern."""

    def __init__(self, pattern: str, automaton: Automaton) -> None:
        if len(pattern) > MAX_PATTERN_LENGTH:
            raise NotPortable
        self._pattern = pattern
        self._at = 0
        self._depth = 0
        self._groups = 0
        self._referred = 0
        self._automaton = automaton

    def parse(self) -> str:
        """Parse the whole pattern, and return it rewritten."""
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
        matches = self._pattern.startswith(text, self._at)
        self._at += len(text) if matches else 0
        return matches

    def _one(self, text: str, characters: int) -> _PatternPiece:
        position = (self._automaton.position(characters),)
        return _PatternPiece(text, position, position)

    def _literal(self, character: str) -> _PatternPiece:
        return self._one("\\" + character if character in _SYNTAX else visible(character), mask_of(character))

    def _alternatives(self) -> _PatternPiece:
        branches = [self._sequence()]
        while self._skip("|"):
            branches.append(self._sequence())
        return _PatternPiece(
            "|".join(branch.text for branch in branches),
            tuple(position for branch in branches for position in branch.first),
            tuple(position for branch in branches for position in branch.last),
            any(branch.empty for branch in branches),
            any(branch.loops for branch in branches),
        )

    def _sequence(self) -> _PatternPiece:
        sequence = _PatternPiece("", empty=True)
        while self._peek() not in ("", "|", ")"):
            start = len(self._automaton.characters)
            part = self._repeated(self._atom(), start)
            self._automaton.connect(sequence.last, part.first)
            sequence = _PatternPiece(
                sequence.text + part.text,
                sequence.first + part.first if sequence.empty else sequence.first,
                sequence.last + part.last if part.empty else part.last,
                sequence.empty and part.empty,
                sequence.loops or part.loops,
            )
        return sequence

    def _atom(self) -> _PatternPiece:
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
            return _PatternPiece(character, empty=True, repeatable=False)
        return self._one(".", ANY) if character == "." else self._literal(character)

    def _repeated(self, part: _PatternPiece, start: int) -> _PatternPiece:
        """Return a part with the quantifier after it, if any; `start` is the first of its positions."""
        quantifier = _quantifier(self._pattern, self._at)
        if not quantifier:
            return part
        text, least, most = quantifier
        self._at += len(text)
        lazy = "?" if self._skip("?") else ""
        if not part.repeatable or _quantifier(self._pattern, self._at):
            raise NotPortable  # nothing to repeat, a quantified or a possessive quantifier
        loops = most > 1 and (least != most or part.loops)
        if loops:
            self._automaton.connect(part.last, part.first)
            if self._automaton.is_exponential(range(start, len(self._automaton.characters))):
                raise NotPortable
        text = "{0" + text[1:] if text.startswith("{,") else text
        return _PatternPiece(
            part.text + text + lazy, part.first, part.last, part.empty or least == 0, loops or part.loops
        )

    def _group(self) -> _PatternPiece:
        opening, is_lookaround = self._opening()
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise NotPortable
        inner = self._alternatives()
        if self._next() != ")":
            raise NotPortable
        self._depth -= 1
        text = f"{opening}{inner.text})"
        if is_lookaround:
            return _PatternPiece(text, empty=True, loops=inner.loops, repeatable=False)
        return _PatternPiece(text, inner.first, inner.last, inner.empty, inner.loops)

    def _opening(self) -> tuple[str, bool]:
        """Return the opening of a group, and whether it is a lookaround. Names are dropped: the dialects differ."""
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

    def _escape(self) -> _PatternPiece:
        character = self._next()
        if character in CLASSES:
            return self._one(*class_of(["\\" + character], negated=False))
        if character in _ANCHORS:
            return _PatternPiece(_ANCHORS[character], empty=True, repeatable=False)
        if character in "123456789":
            return self._back_reference(character)
        return self._literal(self._character(character))

    def _back_reference(self, digit: str) -> _PatternPiece:
        if self._peek().isdigit():
            raise NotPortable  # ambiguous: group 10, or group 1 and a digit
        self._referred = max(self._referred, int(digit))
        position = self._automaton.position(ANY)
        return _PatternPiece(f"\\{digit}", (position,), (position,), empty=True)

    def _character(self, character: str) -> str:
        """Return the character of an escape."""
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
        """Read the hexadecimal digits of an escape."""
        match = _CODES[kind].match(self._pattern, self._at)
        if not match:
            raise NotPortable
        self._at = match.end()
        return int(match[1] or match[2], 16)

    def _class(self) -> _PatternPiece:
        negated = self._skip("^")
        members = []
        while not self._skip("]"):
            members.append(self._member())
        if not members and negated:
            return self._one(r"[\s\S]", ANY)
        if not members:
            raise NotPortable  # `[]`: matches nothing in JavaScript, an open class in Python
        return self._one(*class_of(members, negated=negated))

    def _member(self) -> str:
        """Read a member of a class: a character, a class escape with its backslash, or `--` for a bare hyphen."""
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
    """Return the quantifier at a position: text, minimum, maximum. `{,3}`, which only Python knows, is one as well."""
    match = _QUANTIFIER.match(pattern, at)
    if not match:
        return None
    text = match[0]
    if text in "*+?":
        return text, int(text == "+"), 1 if text == "?" else _UNBOUNDED
    least = int(match[1] or 0)
    most = match[3] or match[4]
    if most and int(most) < least:
        raise NotPortable
    return text, least, int(most) if most else _UNBOUNDED if match[2] else least
