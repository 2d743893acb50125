"""`translate`: the program of a model in the Python of the sandbox.

Models write Python with asyncio's tasks, `async with`, `del`, and tools in `map` and sort keys. What the sandbox lacks
of that is replaced by functions of the `prelude`; what cannot be replaced is refused (`lacks`). A program may await a
tool's call or not: `Translation.awaited` has the places of the calls that make coroutines, all others make values.

f-strings of Python 3.12, which may hold the quotes that they are in, are written as calls of `format` for an older one.
A program that this Python cannot parse is run as it is: the sandbox reads newer syntax, and reports what is wrong.
"""

import ast
import io
import re
import threading
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from .await_analysis import Awaited
from .dialect import Dialect
from .lacks import lacks
from .objects import PREFIX
from .prelude import PRELUDE

_FILE: Final = "<program>"


class UnsupportedProgramError(Exception):
    """A program that the sandbox cannot run, with a sentence for each line that is why."""


@dataclass(frozen=True, slots=True)
class Translation:
    """A program in the sandbox's Python, and what is known about it.

    `awaited` holds start and end, in bytes, of calls that make coroutines; None: unknown, then all do if there is an
    `await`. `lines` are the numbers of the program's lines by those of `source`; empty if they are the same.
    """

    source: str
    original: str
    needs_prelude: bool = False
    awaited: frozenset[tuple[int, int]] | None = None
    lines: dict[int, int] = field(default_factory=dict)

    @property
    def is_async(self) -> bool:
        """True if the program contains `await`."""
        return awaits(self.original)

    def line(self, number: int) -> int:
        """Return the line of the program for a line of `source`."""
        return self.lines.get(number, number)

    def line_at(self, offset: int) -> int:
        """Return the line of the program for an offset in `source`, in bytes."""
        return self.line(bisect_right(_line_starts(self.source), offset))

    def text(self, number: int) -> str:
        """Return a line of the program."""
        lines = self.original.splitlines()
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def awaits(source: str) -> bool:
    """Return whether a program contains `await`."""
    try:
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        return any(token.type == tokenize.NAME and token.string == "await" for token in tokens)
    except (tokenize.TokenError, SyntaxError):  # the sandbox reports it
        return False


def translate(program: str, functions: Container[str]) -> Translation:
    """Return a program that calls these functions in the sandbox's Python. Raises UnsupportedProgramError."""
    tree = _tree(program)
    if tree is None:
        return Translation(program, program)
    if sentences := lacks(tree):
        raise UnsupportedProgramError("\n".join(sentences))
    try:
        return _translated(program, tree, functions)
    except (ValueError, RecursionError, MemoryError):  # nested too deeply, or an f-string that cannot be written again
        return Translation(program, program)


def _tree(program: str) -> ast.Module | None:
    """Return the tree of a program; None if this Python cannot parse it, without f-strings of a newer one either."""
    errors = (SyntaxError, ValueError, RecursionError, MemoryError)
    with suppress(*errors):
        return _parse(program)
    with suppress(*errors):
        return _parse(without_f_strings(program))
    return None


_parsing: Final = threading.Lock()
"""Held while a program is parsed: CPython to 3.12 counts the depth of all trees in one place, for all threads."""


def _parse(program: str) -> ast.Module:
    warnings.filterwarnings("ignore", module=f"^{_FILE}$")  # of invalid escapes; again, since tests reset the filters
    with _parsing:
        return ast.parse(program, _FILE)


def _translated(program: str, tree: ast.Module, functions: Container[str]) -> Translation:
    awaited = Awaited(tree, functions)
    translated = Dialect(tree, functions, awaited).module(tree)
    source = ast.unparse(translated)
    places: set[tuple[int, int]] = set()
    lines: dict[int, int] = {}
    statements: dict[int, int] = {}
    starts = _line_starts(source)
    for old, new in _pairs(translated, _parse(source)):
        if isinstance(old, ast.expr | ast.ExceptHandler):
            lines[new.lineno] = min(old.lineno, lines.get(new.lineno, old.lineno))
        elif isinstance(old, ast.stmt):
            statements[new.lineno] = min(old.lineno, statements.get(new.lineno, old.lineno))
        if old in awaited.calls:
            places.add(_place(new, starts))
    names = {node.id for node in ast.walk(translated) if isinstance(node, ast.Name)}
    needs_prelude = "asyncio" in names or any(name.startswith(PREFIX) for name in names)
    return Translation(source, program, needs_prelude, frozenset(places), lines | statements)


@cache
def prelude_awaited() -> frozenset[tuple[int, int]]:
    """Return the places of the calls in the prelude that make coroutines."""
    starts = _line_starts(PRELUDE)
    [function] = [
        node for node in _parse(PRELUDE).body if isinstance(node, ast.FunctionDef) and node.name.endswith("map_awaited")
    ]
    return frozenset(_place(node, starts) for node in ast.walk(function) if isinstance(node, ast.Call))


def _place(node: Any, starts: list[int]) -> tuple[int, int]:
    return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset


def _line_starts(source: str) -> list[int]:
    """Return the offset of each line in bytes."""
    starts = [0]
    for line in source.encode("utf-8", "surrogatepass").split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts[:-1]


def _pairs(old: ast.AST, new: ast.AST) -> Iterator[tuple[ast.AST, Any]]:
    """Yield the nodes of two trees of one shape. Raises ValueError if they differ."""
    pending = [(old, new)]
    while pending:
        old, new = pending.pop()
        children, others = list(ast.iter_child_nodes(old)), list(ast.iter_child_nodes(new))
        if type(old) is not type(new) or len(children) != len(others):
            raise ValueError("the program was not written again as it is")
        yield old, new
        pending += zip(children, others, strict=True)


_TOKEN: Final = re.compile(r"""#[^\n]*|(?<!\w)(?P<prefix>[A-Za-z]{0,2})(?P<quote>\'{3}|"{3}|'|")""")
"""A comment, or the beginning of a string."""

_BRACKETS: Final = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_DEBUG: Final = re.compile(r"(?<![=!<>])=\s*$")
"""The end of the expression in `{total=}`."""

_MAX_NESTING: Final = 20
"""f-strings within one another."""


def without_f_strings(source: str, depth: int = 0) -> str:
    """Return a program with calls of `format` instead of f-strings. Raises ValueError where one does not end."""
    if depth > _MAX_NESTING:
        raise ValueError("f-strings are nested too deeply")
    writer, position = _Writer(), 0
    while token := _TOKEN.search(source, position):
        writer.add_code(source[position : token.start()])
        if not token["quote"]:
            text, position = token[0], token.end()
            writer.parts.append(text)
            continue
        is_formatted = "f" in token["prefix"].lower()
        if is_formatted:
            text, position = _formatted(source, token, depth)
        else:
            position = _string_end(source, token.end(), token["quote"])
            text = source[token.start() : position]
        writer.add_string(text, is_formatted=is_formatted)
    return writer.end(source[position:])


class _Writer:
    """The parts of a program, in which strings that follow each other are added if one of them is a call now."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._strings: list[int] = []
        self._is_formatted = False
        self._nesting = 0

    def add_code(self, text: str) -> None:
        """Add what is neither string nor comment."""
        plain = text.replace("\\\n", "")
        self._nesting += sum(_BRACKETS.get(character, 0) for character in plain)
        if plain.strip() or ("\n" in plain and self._nesting <= 0):
            self._end_strings()
        self.parts.append(text)

    def add_string(self, text: str, *, is_formatted: bool) -> None:
        """Add a string, or the call instead of one."""
        self._strings.append(len(self.parts))
        self._is_formatted |= is_formatted
        self.parts.append(text)

    def end(self, text: str) -> str:
        """Return the program with its end."""
        self.add_code(text)
        self._end_strings()
        return "".join(self.parts)

    def _end_strings(self) -> None:
        if self._is_formatted and len(self._strings) > 1:
            first, *others = self._strings
            self.parts[first] = f"({self.parts[first]}"
            for place in others:
                self.parts[place] = f"+ {self.parts[place]}"
            self.parts[others[-1]] += ")"
        self._strings, self._is_formatted = [], False


def _string_end(source: str, position: int, quote: str) -> int:
    """Return the place behind a string that is not formatted."""
    while not source.startswith(quote, position):
        if position >= len(source):
            raise ValueError("a string does not end")
        position += 2 if source[position] == "\\" else 1
    return position + len(quote)


def _formatted(source: str, token: re.Match[str], depth: int) -> tuple[str, int]:
    """Return the call of `format` for an f-string, and the place behind that."""
    quote, prefix = token["quote"], token["prefix"].lower().replace("f", "")
    arguments: list[str] = []
    literal, position = _template(source, token.end(), quote, arguments, depth)
    return f"{prefix}{quote}{literal}{quote}.format({', '.join(arguments)})", position + len(quote)


def _template(source: str, position: int, end: str, arguments: list[str] | None, depth: int) -> tuple[str, int]:
    """Return the text up to `end` with empty fields, and the place of `end`.

    The expressions of the fields are added to `arguments`; without these, only the place counts.
    """
    parts = []
    while not source.startswith(end, position):
        if position >= len(source):
            raise ValueError("an f-string does not end")
        step = 2 if source[position] == "\\" or source.startswith(("{{", "}}"), position) else 1
        if source[position] == "{" and (step == 1 or end == "}"):
            shown, position = _field(source, position + 1, arguments, depth)
            parts.append(shown)
        else:
            parts.append(source[position : position + step])
            position += step
    return "".join(parts), position


def _field(source: str, position: int, arguments: list[str] | None, depth: int) -> tuple[str, int]:
    """Return a field without its expression, and the place behind it."""
    end = _expression_end(source, position)
    expression, shown, conversion = source[position:end], "", ""
    if _DEBUG.search(expression):
        shown, conversion, expression = expression.replace("{", "{{").replace("}", "}}"), "!r", expression.rstrip()[:-1]
    if arguments is not None:
        arguments.append(f"({without_f_strings(expression, depth + 1).strip()})")
    if source[end] == "!":
        conversion, end = source[end : end + 2], end + 2
    if source[end : end + 1] != ":":
        return f"{shown}{{{conversion}}}", end + 1
    form, end = _template(source, end + 1, "}", arguments, depth + 1)
    return f"{shown}{{{'' if shown else conversion}:{form}}}", end + 1


def _expression_end(source: str, position: int) -> int:
    """Return the place of the `!`, `:` or `}` that ends the expression of a field."""
    nesting = 0
    while position < len(source):
        if (token := _TOKEN.match(source, position)) and token["quote"]:
            position = _nested_end(source, token)
            continue
        character = source[position]
        if not nesting and (character in "}:" or (character == "!" and source[position + 1 : position + 2] != "=")):
            return position
        nesting += _BRACKETS.get(character, 0)
        position += 1
    raise ValueError("a field does not end")


def _nested_end(source: str, token: re.Match[str]) -> int:
    """Return the place behind a string in a field."""
    if "f" in token["prefix"].lower():
        return _template(source, token.end(), token["quote"], None, 0)[1] + len(token["quote"])
    return _string_end(source, token.end(), token["quote"])
