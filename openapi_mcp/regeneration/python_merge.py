"""Rules for merging Python modules: statements are compared with statements of the same name, imports are sets.

A range that these rules do not understand is merged line by line.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from .merge import REFUSALS, Lines, Resolve, changes, parse

WIDTH: Final = 120
"""Columns of generated and merged lines."""

Imports = dict[str, list[str]]
"""Imported names by module (`..runtime`); no names for `import re`."""


def statements(lines: Lines) -> Iterable[tuple[str, int]]:
    """Return the top-level statements of a module by the names that they bind, with the lines above them."""
    text = "\n".join(lines)
    try:
        body = [] if "\r" in text else parse(text).body
    except REFUSALS:
        body = []
    counts: Counter[str] = Counter()
    parts: list[tuple[str, int]] = []
    for statement in body:
        key = " ".join(_bound(statement)) or type(statement).__name__
        counts[key] += 1
        parts.append((f"{key} {counts[key]}", statement.end_lineno or 0))
    return [*parts, ("the end", len(lines))]


def resolver(base: Lines, yours: Lines) -> Resolve:
    """Return the rule that merges ranges of a module which its owner changed from `base` to `yours`."""
    added = [line for change in changes(base, yours, statements) for line in change.lines]
    used = set(re.findall(r"\w+", "\n".join(line for line in added if not line.startswith(("from ", "import ")))))

    def resolve(original: Lines, left: Lines, right: Lines) -> list[str] | None:
        if not any(original):
            return [*left, *right] if _independent(left, right) else None
        return _imports(original, left, right, used)

    return resolve


def _independent(yours: Lines, generated: Lines) -> bool:
    """Return whether two insertions can follow each other: statements that bind different names, or items."""
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
    """Yield the items of a tuple or list, each with its comma."""
    text = "\n".join(lines).rstrip()
    value = ast.parse(f"(\n{text}\n)", mode="eval").body
    if text.endswith(",") and isinstance(value, ast.Tuple):
        yield from map(ast.dump, value.elts)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds, of the kinds that can be inserted side by side."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ImportFrom():
            yield f"from {_origin(statement)}"
        case ast.Import(names=names):
            yield from (alias.asname or alias.name for alias in names)
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _imports(original: Lines, left: Lines, right: Lines, used: set[str]) -> list[str] | None:
    """Return imports with the generated names, those that the owner added, and those that the owner's lines use."""
    base, yours, generated = (_imported(lines) for lines in (original, left, right))
    if not base or not yours or generated is None:
        return None
    merged: Imports = {}
    for module in dict.fromkeys([*generated, *yours]):
        new, old, own = (set(imports.get(module, ())) for imports in (generated, base, yours))
        names = new | (own - old) | {name for name in own - new if name.split()[-1] in used}
        if names or module in generated or (module in yours and module not in base):
            merged[module] = sorted(names, key=_isorted)
    if merged == {module: sorted({*names}, key=_isorted) for module, names in generated.items()}:
        return [*right]
    return [line for module, names in merged.items() for line in _statement(module, names)]


def _imported(lines: Lines) -> Imports | None:
    """Return the imports of a range that consists of imports, else None."""
    imports: Imports = {}
    try:
        body = parse("\n".join(lines)).body
    except REFUSALS:
        return None
    for statement in body:
        match statement:
            case ast.ImportFrom(names=names):
                imports.setdefault(_origin(statement), []).extend(map(_alias, names))
            case ast.Import(names=[name]):
                imports[f"import {_alias(name)}"] = []
            case _:
                return None
    plain = all(line and "#" not in line for line in lines)
    return imports if plain else None


def _origin(statement: ast.ImportFrom) -> str:
    return "." * statement.level + (statement.module or "")


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _isorted(name: str) -> tuple[int, str]:
    """Return the sort key of ruff: constants, classes, others."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2), name


def _statement(module: str, names: Sequence[str]) -> list[str]:
    if not names:
        return [module]
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return [line]
    return [f"from {module} import (", *(f"    {name}," for name in names), ")"]
