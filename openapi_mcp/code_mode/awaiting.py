"""`Awaited`: which calls of a program make coroutines that the program awaits, in its own order, and which make values.

A call is awaited if its value reaches an `await`, or an argument of a function such as `gather` or `create_task`,
directly or through names, lists, comprehensions, and functions of the program that return it. The analysis ignores
scopes: a name stands for all variables of that name. It decides when a tool is called, never whether: a call that is
found to be awaited may run beside others, and any other one ends before the program goes on.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable
from typing import Final, TypeAlias

Def: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

AWAITING: Final = frozenset(
    (
        "gather",
        "wait",
        "wait_for",
        "shield",
        "create_task",
        "ensure_future",
        "as_completed",
        "run",
        "run_until_complete",
    )
)
"""Functions and methods that await their arguments."""

_KEEPING_FUNCTIONS: Final = frozenset(
    ("list", "tuple", "set", "reversed", "sorted", "zip", "enumerate", "dict", "iter", "filter")
)
_KEEPING_METHODS: Final = frozenset(("values", "items", "keys", "copy", "get", "pop", "popleft", "setdefault"))
_ADDING_METHODS: Final = frozenset(("append", "extend", "add", "insert", "appendleft", "update", "setdefault"))


def called_name(call: ast.Call) -> str:
    """Return the name of the function or method that a call calls; empty for a call of another expression."""
    if isinstance(call.func, ast.Name):
        return call.func.id
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


class Awaited:
    """The calls of a program that it awaits: `calls`, and those of `map` among them: `maps`.

    `functions` are the names of functions of the program, not asynchronous, that return what is awaited somewhere.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.calls: set[ast.Call] = set()
        self.maps: set[ast.Call] = set()
        self.functions: set[str] = set()
        self._values: defaultdict[str, list[ast.expr]] = defaultdict(list)
        self._returned: defaultdict[str, list[ast.expr]] = defaultdict(list)
        self._parameters: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        self._calls_of: defaultdict[str, list[ast.Call]] = defaultdict(list)
        self._names: set[str] = set()
        self._seen: set[ast.AST] = set()
        self._pending: list[ast.expr] = []
        nodes = list(ast.walk(tree))
        for node in nodes:
            self._collect(node)
        for node in nodes:
            if isinstance(node, ast.Await):
                self._pending.append(node.value)
            elif isinstance(node, ast.Call) and called_name(node) in AWAITING:
                self._add_arguments(node)
        while self._pending:
            self._follow(self._pending.pop())

    def _collect(self, node: ast.AST) -> None:
        """Note the values that a statement or expression gives to names."""
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            if node.value is not None:
                self._assign(node.target, node.value)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._assign(node.target, node.iter)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._collect_function(node)
        elif isinstance(node, ast.Call):
            self._calls_of[called_name(node)].append(node)
            if isinstance(node.func, ast.Attribute) and node.func.attr in _ADDING_METHODS:
                for argument in node.args:
                    self._assign(node.func.value, argument)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        """Note that the names of a target have a value, or a part of it."""
        if isinstance(target, ast.Name):
            self._values[target.id].append(value)
        elif isinstance(target, ast.Attribute):
            self._values[target.attr].append(value)
        elif isinstance(target, ast.Subscript | ast.Starred):
            self._assign(target.value, value)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            for index, part in enumerate(target.elts):
                self._assign(part, parts[index] if len(parts) == len(target.elts) else value)

    def _collect_function(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        positional = [*function.args.posonlyargs, *function.args.args]
        shift = 1 if positional and positional[0].arg == "self" else 0
        for index, parameter in enumerate(positional):
            self._parameters[parameter.arg].append((function.name, index - shift))
        for parameter in [*function.args.kwonlyargs, *filter(None, [function.args.vararg])]:
            self._parameters[parameter.arg].append((function.name, -1))
        if isinstance(function, ast.FunctionDef):  # the value of an async one is not its coroutine
            returns = (node for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None)
            self._returned[function.name] += [node.value for node in returns if node.value is not None]

    def _add_arguments(self, call: ast.Call) -> None:
        self._pending += [*call.args, *(keyword.value for keyword in call.keywords)]

    def _follow(self, value: ast.expr) -> None:
        """Follow an expression whose value is awaited, or holds what is, to the calls and names that it comes from."""
        if value in self._seen:
            return
        self._seen.add(value)
        if isinstance(value, ast.Call):
            self._follow_call(value)
        elif isinstance(value, ast.Name):
            self._follow_name(value.id)
        elif isinstance(value, ast.Attribute):
            self._follow_name(value.attr)
        else:
            self._pending += _parts(value)

    def _follow_call(self, call: ast.Call) -> None:
        name = called_name(call)
        self.calls.add(call)
        if name in AWAITING:
            return
        self._follow_function(name)
        if isinstance(call.func, ast.Lambda):
            self._pending.append(call.func.body)
        elif name == "map" and call.args:
            self.maps.add(call)
            function = call.args[0]
            if isinstance(function, ast.Lambda):
                self._pending.append(function.body)
            elif isinstance(function, ast.Name):
                self._follow_function(function.id)
        elif isinstance(call.func, ast.Name) and name in _KEEPING_FUNCTIONS:
            self._pending += call.args
        elif isinstance(call.func, ast.Attribute) and name in _KEEPING_METHODS:
            self._pending.append(call.func.value)

    def _follow_function(self, name: str) -> None:
        """Follow a function whose results are awaited."""
        lambdas = [value.body for value in self._values[name] if isinstance(value, ast.Lambda)]
        if lambdas or self._returned[name]:
            self.functions.add(name)
        self._pending += [*lambdas, *self._returned[name]]

    def _follow_name(self, name: str) -> None:
        if name in self._names:
            return
        self._names.add(name)
        self._pending += self._values[name]
        for function, index in self._parameters[name]:
            for call in self._calls_of[function]:
                self._pending += call.args if index < 0 else call.args[index : index + 1]
                self._pending += [keyword.value for keyword in call.keywords if keyword.arg == name]


def _parts(value: ast.expr) -> Iterable[ast.expr]:
    """Return the expressions that an expression takes its value, or elements of it, from."""
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return value.elts
    if isinstance(value, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return [value.elt]
    if isinstance(value, ast.Dict):
        return value.values
    if isinstance(value, ast.DictComp | ast.NamedExpr | ast.Starred | ast.Subscript):
        return [value.value]
    if isinstance(value, ast.IfExp):
        return [value.body, value.orelse]
    if isinstance(value, ast.BoolOp):
        return value.values
    return [value.left, value.right] if isinstance(value, ast.BinOp) else []
