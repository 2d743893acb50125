"""What a merge of lines has to know of Python: functions are compared with themselves, and imports are sets.

It only ever adds to what lines alone would give: a stretch that is not understood goes by its lines.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from .formats import REFUSALS, parse
from .merging import Lines, Settle, changes

WIDTH: Final = 120
"""Where generated lines end, and so merged ones."""

Imports = dict[str, list[str]]
"""The names that are imported, by module (`..runtime`); none for a module that is imported itself (`import re`)."""


def statements(lines: Lines) -> Iterable[tuple[str, int]]:
    """The top-level statements of a module by the names they bind, with the comments and empty lines above them."""
    text = "\n".join(lines)
    try:
        body = [] if "\r" in text else parse(text).body
    except REFUSALS:
        body = []
    seen: Counter[str] = Counter()
    parts: list[tuple[str, int]] = []
    for statement in body:
        key = " ".join(_bound(statement)) or type(statement).__name__
        seen[key] += 1
        parts.append((f"{key} {seen[key]}", statement.end_lineno or 0))
    return [*parts, ("the end", len(lines))]


def settlement(base: Lines, yours: Lines) -> Settle:
    """How stretches are settled in a module whose owner has made of `base` what is `yours`."""
    added = [line for change in changes(base, yours, statements) for line in change.lines]
    named = set(re.findall(r"\w+", "\n".join(line for line in added if not line.startswith(("from ", "import ")))))

    def settle(original: Lines, left: Lines, right: Lines) -> list[str] | None:
        if not any(original):
            return [*left, *right] if _independent(left, right) else None
        return _imports(original, left, right, named)

    return settle


def _independent(yours: Lines, generated: Lines) -> bool:
    """Whether two insertions can stand one after the other: whole statements that bind different names, or items."""
    for names in (_definitions, _items):
        try:
            left, right = set(names(yours)), set(names(generated))
        except REFUSALS:
            continue
        return bool(left and right) and not left & right
    return False


def _definitions(lines: Lines) -> Iterator[str]:
    for statement in parse("\n".join(lines)).body:
        yield from _bound(statement)


def _items(lines: Lines) -> Iterator[str]:
    """The items of a tuple or list, each with its comma."""
    text = "\n".join(lines).rstrip()
    value = ast.parse(f"(\n{text}\n)", mode="eval").body
    if text.endswith(",") and isinstance(value, ast.Tuple):
        yield from map(ast.dump, value.elts)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement binds, as far as statements side by side are concerned."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ImportFrom():
            yield f"from {_origin(statement)}"
        case ast.Import(names=names):
            yield from (alias.asname or alias.name for alias in names)
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _imports(original: Lines, left: Lines, right: Lines, named: set[str]) -> list[str] | None:
    """Imports with the names that are generated, those that its owner added, and those that the owner's lines need."""
    base, yours, generated = (_imported(lines) for lines in (original, left, right))
    if not base or not yours or generated is None:
        return None
    merged: Imports = {}
    for module in dict.fromkeys([*generated, *yours]):
        new, old, own = (set(imports.get(module, ())) for imports in (generated, base, yours))
        names = new | (own - old) | {name for name in own - new if name.split()[-1] in named}
        if names or module in generated or (module in yours and module not in base):
            merged[module] = sorted(names, key=_isorted)
    if merged == {module: sorted({*names}, key=_isorted) for module, names in generated.items()}:
        return [*right]
    return [line for module, names in merged.items() for line in _statement(module, names)]


def _imported(lines: Lines) -> Imports | None:
    """The imports of a stretch that is nothing else."""
    found: Imports = {}
    try:
        body = parse("\n".join(lines)).body
    except REFUSALS:
        return None
    for statement in body:
        match statement:
            case ast.ImportFrom(names=names):
                found.setdefault(_origin(statement), []).extend(map(_alias, names))
            case ast.Import(names=[name]):
                found[f"import {_alias(name)}"] = []
            case _:
                return None
    plain = all(line and "#" not in line for line in lines)
    return found if plain else None


def _origin(statement: ast.ImportFrom) -> str:
    return "." * statement.level + (statement.module or "")


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _isorted(name: str) -> tuple[int, str]:
    """The order that ruff wants: constants, classes, the rest."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2), name


def _statement(module: str, names: Sequence[str]) -> list[str]:
    if not names:
        return [module]
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return [line]
    return [f"from {module} import (", *(f"    {name}," for name in names), ")"]
