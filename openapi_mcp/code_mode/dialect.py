"""`Dialect`: a program's tree in the Python of the sandbox, with the `prelude` for what the sandbox lacks."""

import ast
import copy
from collections.abc import Container, Iterable, Iterator
from typing import Any, Final

from .await_analysis import Awaited, called_name
from .lacks import ANNOTATION_MODULES
from .objects import ATTRIBUTE_FUNCTIONS, PREFIX, ObjectDialect, attribute, name_of, prelude_call, stored

_BACKGROUND: Final = frozenset({"create_task", "ensure_future", "TaskGroup", "as_completed", "wait"})
"""Names of asyncio that leave tasks behind, which the end of the program waits for."""

_COROUTINES: Final = frozenset({"gather", "sleep", "wait", "wait_for", "to_thread", "shield"})
"""Functions of asyncio that make coroutines."""

_UNIMPORTED: Final = frozenset(
    ("base64", "collections", "datetime", "functools", "itertools", "json", "math", "random", "re", "time")
)
"""Modules that a program may use without importing them."""

_SHORT_NAMES: Final = {"gather": "asyncio", "sleep": "asyncio", "defaultdict": "collections", "Counter": "collections"}
"""Functions that a program may use without importing them, and their modules."""


class Dialect(ObjectDialect, ast.NodeTransformer):
    """The replacement of what the sandbox lacks, in a tree."""

    def __init__(self, tree: ast.Module, functions: Container[str], awaited: Awaited) -> None:
        nodes = list(ast.walk(tree))
        self._functions = functions
        self._awaited = awaited
        self._coroutines = {node.name for node in nodes if isinstance(node, ast.AsyncFunctionDef)}
        self._defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        self._is_async = any(isinstance(node, ast.Await | ast.AsyncFunctionDef | ast.AsyncWith) for node in nodes)
        self._has_tasks = any(getattr(node, "attr", getattr(node, "id", "")) in _BACKGROUND for node in nodes)
        self.bound = set(_bound_names(nodes))
        self._loaded = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        self._evaluated = _evaluated_names(nodes)
        imported = dict(_imported(nodes))
        self._asyncio = {name for name, meant in imported.items() if meant == "asyncio"}
        self._waiting = {name for name, meant in imported.items() if meant in _COROUTINES}
        self._waiting |= {"gather", "sleep"} - self.bound
        self.namespaces = set(_namespaces(nodes)) | (_UNIMPORTED - self.bound) | {"asyncio", "self", "cls"}
        self._blocks = 0

    def module(self, tree: ast.Module) -> ast.Module:
        """Return the translated program."""
        body = tree.body[:-1] + _main_block(tree.body[-1]) if tree.body else []
        imports = list(self._imports(body[0])) if body else []
        translated = [statement for old in body for statement in self._visited(old)]
        if body and (self._is_async or self._has_tasks):
            translated = self._finished(translated, is_value=isinstance(body[-1], ast.Expr))
        return ast.fix_missing_locations(ast.Module([*imports, *translated], []))

    def _visited(self, statement: ast.stmt) -> list[ast.stmt]:
        visited = self.visit(statement)
        return visited if isinstance(visited, list) else [visited]

    def _imports(self, first: ast.stmt) -> Iterator[ast.stmt]:
        """Yield imports of the modules and functions that the program uses and forgot to import."""
        missing = self._loaded - self.bound
        for name in sorted(missing & _UNIMPORTED):
            if name not in self._functions:
                yield ast.copy_location(ast.Import([ast.alias(name)]), first)
        for name in sorted(missing & _SHORT_NAMES.keys()):
            if name not in self._functions:
                module = _SHORT_NAMES[name]
                if module == "asyncio":
                    yield _assign(name, attribute(name_of(module), name), first)
                else:
                    yield ast.copy_location(ast.ImportFrom(module, [ast.alias(name)], 0), first)

    def _finished(self, body: list[ast.stmt], *, is_value: bool) -> list[ast.stmt]:
        """Return the statements of a program with one at the end that waits for its tasks and has the last value."""
        last = body[-1]
        if is_value and isinstance(last, ast.Expr):
            last.value = ast.copy_location(ast.Await(prelude_call("finish", [last.value])), last.value)
            return body
        return [*body, ast.copy_location(ast.Expr(ast.Await(prelude_call("finish", []))), last)]

    def visit_Import(self, node: ast.Import) -> Any:
        """Replace `import asyncio` by the asyncio of the prelude."""
        named = [alias.asname for alias in node.names if alias.name == "asyncio" and alias.asname]
        node.names = [alias for alias in node.names if alias.name != "asyncio"]
        kept: list[ast.stmt] = [node] if node.names else [ast.copy_location(ast.Pass(), node)]
        return [*kept, *(_assign(name, name_of("asyncio"), node) for name in named)]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """Replace `from asyncio import` likewise, and leave out what only annotations use."""
        if node.module == "asyncio":
            return [
                _assign(alias.asname or alias.name, attribute(name_of("asyncio"), alias.name), node)
                for alias in node.names
            ]
        if node.module in ANNOTATION_MODULES:
            node.names = [alias for alias in node.names if (alias.asname or alias.name) in self._evaluated]
            return node if node.names else ast.copy_location(ast.Pass(), node)
        if node.module == "datetime":
            return self._without_utc(node)
        return node

    def _without_utc(self, node: ast.ImportFrom) -> Any:
        """Replace `from datetime import UTC`, which the sandbox lacks, by `timezone.utc`."""
        names = [alias.asname or alias.name for alias in node.names if alias.name == "UTC"]
        if not names:
            return node
        node.names = [alias for alias in node.names if alias.name != "UTC"]
        node.names.append(ast.alias("timezone", f"{PREFIX}timezone"))
        return [node, *(_assign(name, attribute(name_of(f"{PREFIX}timezone"), "utc"), node) for name in names)]

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """Replace `datetime.UTC` likewise."""
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        if node.attr == "UTC" and owner in {"datetime", "dt"}:
            return ast.copy_location(attribute(attribute(node.value, "timezone"), "utc"), node)
        return super().visit_Attribute(node)

    def visit_match_case(self, node: ast.match_case) -> Any:
        """Leave the pattern of a case as it is: calls have another meaning there."""
        pattern = copy.deepcopy(node.pattern)
        self.generic_visit(node)
        node.pattern = pattern
        return node

    def visit_Await(self, node: ast.Await) -> Any:
        """Let the program await tasks, and values that are none."""
        self.generic_visit(node)
        if not (isinstance(node.value, ast.Call) and self._is_tool(node.value)):
            node.value = ast.copy_location(prelude_call("awaited", [node.value]), node.value)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        """Replace calls of Python's functions that cannot wait for a tool; run coroutines that nothing awaits."""
        self._visit_parts(node)
        if node not in self._awaited.calls and self._is_coroutine(node):
            return ast.copy_location(prelude_call("run", [node]), node)
        if replacement := self._replacement(node):
            node.func = ast.copy_location(name_of(PREFIX + replacement), node.func)
        elif self._is_builtin(node, "next") and node.args and isinstance(node.args[0], ast.GeneratorExp):
            node.args[0] = ast.copy_location(ast.Call(name_of("iter"), [node.args[0]], []), node.args[0])
        return node

    def _visit_parts(self, node: ast.Call) -> None:
        """Translate what a call is of, but a method that it calls only as far as its object is concerned."""
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
        else:
            node.func = self.visit(node.func)
        node.args = [self.visit(argument) for argument in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Replace `values.sort(key=…)` where the key calls a tool."""
        call = node.value
        keywords = call.keywords if isinstance(call, ast.Call) and called_name(call) == "sort" else []
        keys = [keyword.value for keyword in keywords if keyword.arg == "key"]
        if not keys or not self._may_call_tool(keys[0]):
            return self.generic_visit(node)
        assert isinstance(call, ast.Call)  # noqa: S101 - its name is known
        assert isinstance(call.func, ast.Attribute)  # noqa: S101 - a method
        whole = ast.Subscript(copy.deepcopy(call.func.value), ast.Slice(), ast.Store())
        return self.visit(
            ast.copy_location(ast.Assign([whole], prelude_call("sorted", [call.func.value], keywords)), node)
        )

    def visit_Delete(self, node: ast.Delete) -> Any:
        """Replace `del values[key]` by `values.pop(key)`, of a slice by an empty one, and of a name by None."""
        self.generic_visit(node)
        return [ast.copy_location(_deletion(target), node) for target in node.targets]

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """Leave out the base class `object`."""
        node.bases = [base for base in node.bases if not (isinstance(base, ast.Name) and base.id == "object")]
        return self.generic_visit(node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> Any:
        """Replace `async with` by calls of `__aenter__` and `__aexit__`."""
        self.generic_visit(node)
        body = node.body
        for item in reversed(node.items):
            self._blocks += 1
            names = (f"{PREFIX}manager{self._blocks}", f"{PREFIX}error{self._blocks}")
            body = [ast.copy_location(statement, node) for statement in _with(item, body, *names)]
        return body

    def _replacement(self, node: ast.Call) -> str:
        """Return the name in the prelude of the function that replaces the one that a call calls; empty: none."""
        if called_name(node) == "dumps" and any(keyword.arg == "default" for keyword in node.keywords):
            return "dumps"
        keys = [keyword.value for keyword in node.keywords if keyword.arg == "key"]
        for name in ATTRIBUTE_FUNCTIONS:
            if self._is_builtin(node, name) and not node.keywords:
                return name
        for name in ("sorted", "min", "max"):
            if self._is_builtin(node, name):
                return name if keys and self._may_call_tool(keys[0]) else ""
        if self._is_builtin(node, "filter") and node.args and self._may_call_tool(node.args[0]):
            return "filter"
        if self._is_builtin(node, "map") and node.args and self._may_call_tool(node.args[0]):
            return "map_awaited" if node in self._awaited.maps else "map"
        return ""

    def _is_coroutine(self, node: ast.Call) -> bool:
        """Return whether a call makes a coroutine, which is lost where nothing awaits it."""
        if called_name(node) in self._coroutines | self._awaited.functions:
            return True
        if isinstance(node.func, ast.Attribute):
            is_asyncio = isinstance(node.func.value, ast.Name) and node.func.value.id in self._asyncio
            return is_asyncio and node.func.attr in _COROUTINES
        return isinstance(node.func, ast.Name) and node.func.id in self._waiting and node.func.id not in self._functions

    def _is_builtin(self, node: ast.Call, name: str) -> bool:
        return isinstance(node.func, ast.Name) and node.func.id == name and name not in self.bound

    def _is_tool(self, node: ast.Call) -> bool:
        return isinstance(node.func, ast.Name) and node.func.id in self._functions and node.func.id not in self.bound

    def _may_call_tool(self, function: ast.expr) -> bool:
        """Return whether a function that is passed on may call a tool."""
        if isinstance(function, ast.Name):
            return function.id in self.bound or function.id in self._functions
        if isinstance(function, ast.Attribute):
            return function.attr in self._defined | self._coroutines
        if isinstance(function, ast.Lambda):
            calls = [node for node in ast.walk(function.body) if isinstance(node, ast.Call)]
            return any(self._may_call_tool(call.func) for call in calls)
        return not isinstance(function, ast.Constant)


def _with(item: ast.withitem, body: list[ast.stmt], manager: str, error: str) -> list[ast.stmt]:
    """Return the statements for `async with item: body`."""
    enter = ast.Await(ast.Call(attribute(name_of(manager), "__aenter__"), [], []))
    kind = ast.IfExp(
        ast.Compare(name_of(error), [ast.Is()], [ast.Constant(None)]),
        ast.Constant(None),
        ast.Call(name_of("type"), [name_of(error)], []),
    )
    arguments = [kind, name_of(error), ast.Constant(None)]
    leave = ast.Expr(ast.Await(ast.Call(attribute(name_of(manager), "__aexit__"), arguments, [])))
    caught = f"{error}_caught"
    handler = ast.ExceptHandler(
        name_of("BaseException"), caught, [ast.Assign([stored(error)], name_of(caught)), ast.Raise()]
    )
    return [
        ast.Assign([stored(manager)], item.context_expr),
        ast.Assign([item.optional_vars], enter) if item.optional_vars else ast.Expr(enter),
        ast.Assign([stored(error)], ast.Constant(None)),
        ast.Try(body, [handler], [], [leave]),
    ]


def _deletion(target: ast.expr) -> ast.stmt:
    """Return the statement for `del target`."""
    if not isinstance(target, ast.Subscript):
        return ast.Assign([stored(target.id) if isinstance(target, ast.Name) else target], ast.Constant(None))
    if isinstance(target.slice, ast.Slice):
        target.ctx = ast.Store()
        return ast.Assign([target], ast.List([], ast.Load()))
    return ast.Expr(ast.Call(attribute(target.value, "pop"), [target.slice], []))


def _main_block(last: ast.stmt) -> list[ast.stmt]:
    """Return the statements of a last `if __name__ == "__main__":`, whose last value is then the program's."""
    is_main = isinstance(last, ast.If) and not last.orelse and ast.unparse(last.test) == "__name__ == '__main__'"
    return last.body if is_main and isinstance(last, ast.If) else [last]


def _bound_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that a program gives values to."""
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name


def _imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield the names of asyncio and of what a program imports from it, and what they stand for."""
    yield "asyncio", "asyncio"
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names if alias.name == "asyncio")
        elif isinstance(node, ast.ImportFrom) and node.module == "asyncio":
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)


def _namespaces(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names of modules and classes in a program."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ClassDef):
            yield node.name


def _in_annotations(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the annotations of a program."""
    for node in nodes:
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation:
            yield node.annotation
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns:
            yield node.returns


def _evaluated_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that a program uses outside of annotations, which the sandbox does not evaluate."""
    nodes = list(nodes)
    annotations = {inner for annotation in _in_annotations(nodes) for inner in ast.walk(annotation)}
    return {node.id for node in nodes if isinstance(node, ast.Name) and node not in annotations}


def _assign(name: str, value: ast.expr, place: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Assign([stored(name)], value), place)
