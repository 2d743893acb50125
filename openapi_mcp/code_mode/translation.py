"""`translate`: the program of a model in the Python of the sandbox.

Models write Python with asyncio's tasks, `async with`, `del`, and tools in `map` and sort keys. What the sandbox lacks
of that is replaced by functions of the `prelude`; what cannot be replaced is refused (`lacks`). A program may await a
tool's call or not: `Translation.awaited` has the places of the calls that make coroutines, all others make values.

A program that this Python cannot parse is run as it is: the sandbox reads newer syntax, and reports what is wrong.
"""

import ast
import io
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from .awaiting import Awaited
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
    try:
        tree = _parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Translation(program, program)
    if sentences := lacks(tree):
        raise UnsupportedProgramError("\n".join(sentences))
    try:
        return _translated(program, tree, functions)
    except (ValueError, RecursionError, MemoryError):  # nested too deeply, or an f-string that cannot be written again
        return Translation(program, program)


def _parse(program: str) -> ast.Module:
    warnings.filterwarnings("ignore", module=f"^{_FILE}$")  # of invalid escapes; again, since tests reset the filters
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
