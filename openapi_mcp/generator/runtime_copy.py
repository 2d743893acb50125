"""The copy of the runtime in a package: the modules that its tools can reach, unchanged, and no others.

The copy begins with `toolkit`, which is all that a package imports, and follows the imports that Python would. What the
command line alone uses (search mode, several processes) is not reached from there. An import inside a function is
followed too, unless it names one of `runtime.optional.OPTIONAL_MODULES` that no tool of the package needs. So each
module that a copied module imports at its top is in the copy, and each that a call of the tools may import.

The files are byte for byte those of this distribution, so that they can be compared with a release instead of being
read.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from .. import __version__
from ..runtime.optional import OPTIONAL_MODULES, optional_modules
from ..runtime.tool import Tool
from .metadata import DISTRIBUTION

RUNTIME: Final = Path(__file__).parents[1] / "runtime"

ENTRY: Final = "toolkit.py"
"""The module that a package imports; its own `runtime.py` re-exports it."""

STAMP: Final = "VENDORED"
"""The file that names the release of a copy, and its checksum."""


class ModuleImport(NamedTuple):
    """A relative import: the file that it runs, relative to the runtime, and whether it is inside a function."""

    path: PurePosixPath
    is_lazy: bool


def runtime_copy(folder: PurePosixPath, tools: Iterable[Tool]) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the files of a package's runtime in `folder`: the modules that its tools need, and the stamp."""
    digest = hashlib.sha256()
    for path in sorted(reachable(optional_modules(tools))):
        content = (RUNTIME / path).read_bytes()
        digest.update(f"{path} {len(content)}\n".encode() + content)
        yield folder / path, content
    stamp = (
        f"{DISTRIBUTION} {__version__}\n"
        f"sha256 {digest.hexdigest()}\n"
        "An unchanged copy of the modules of openapi_mcp/runtime that this package needs. It need not be read.\n"
    )
    yield folder / STAMP, stamp.encode()


def reachable(optional: Iterable[str]) -> set[PurePosixPath]:
    """Return the files that `toolkit` may import, given which of the optional modules the tools need."""
    omitted = {_file_of(RUNTIME / name.replace(".", "/")) for name in OPTIONAL_MODULES.keys() - set(optional)}
    reached: set[PurePosixPath] = set()
    waiting = [PurePosixPath(ENTRY)]
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting += [parent / "__init__.py" for parent in path.parents]
            waiting += [target for target, is_lazy in module_imports(path) if not (is_lazy and target in omitted)]
    return reached


@cache
def module_imports(path: PurePosixPath) -> tuple[ModuleImport, ...]:
    """Return the relative imports of a file of the runtime, but for those that only type checkers run."""
    tree = ast.parse((RUNTIME / path).read_text(encoding="utf-8"))
    return tuple(
        ModuleImport(target, is_lazy)
        for node, is_lazy in _import_nodes(tree.body, is_lazy=False)
        for target in _targets(RUNTIME / path, node)
    )


def _import_nodes(nodes: Iterable[ast.AST], *, is_lazy: bool) -> Iterator[tuple[ast.ImportFrom, bool]]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            yield node, is_lazy
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from _import_nodes(node.orelse, is_lazy=is_lazy)
        else:
            inside = is_lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from _import_nodes(ast.iter_child_nodes(node), is_lazy=inside)


def _targets(path: Path, node: ast.ImportFrom) -> Iterator[PurePosixPath]:
    """Yield the files that an import runs: `from ..request import auth` runs the package and its module."""
    base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
    for place in (base, *(base / alias.name for alias in node.names)):
        if place != RUNTIME and (place.with_suffix(".py").exists() or (place / "__init__.py").exists()):
            yield _file_of(place)


def _file_of(place: Path) -> PurePosixPath:
    """Return the file of a module or package, relative to the runtime."""
    file = place.with_suffix(".py")
    return PurePosixPath((file if file.exists() else place / "__init__.py").relative_to(RUNTIME).as_posix())
