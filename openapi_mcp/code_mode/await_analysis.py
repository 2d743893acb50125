"""`Awaited`: which calls of a program make coroutines that the program awaits, in its own order, and which make values.

A call is awaited if its value reaches an `await`, or an argument of a function such as `gather` or `create_task`,
directly or through names, lists, comprehensions, and functions of the program that return it. The analysis ignores
scopes: a name stands for all variables of that name. It decides when a tool is called, never whether: a call that is
found to be awaited may run beside others, and any other one ends before the program goes on.
"""

import ast
from collections import defaultdict
from collections.abc import Container, Iterable
from typing import Final, Literal, TypeAlias

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

_OPTIONS: Final = frozenset(("timeout", "return_exceptions", "return_when", "name", "context", "debug"))
"""Arguments of theirs that they do not await."""

_KEEPING_FUNCTIONS: Final = frozenset(
    ("list", "tuple", "set", "reversed", "sorted", "zip", "enumerate", "dict", "iter", "filter")
)
_KEEPING_METHODS: Final = frozenset(("values", "items", "keys", "copy", "get", "pop", "popleft", "setdefault"))
_ADDING_METHODS: Final = frozenset(("append", "add", "insert", "appendleft", "setdefault"))
_EXTENDING_METHODS: Final = frozenset(("extend", "update"))

_Relation: TypeAlias = Literal["same", "part", "holds"]
"""The way in which a name got a value: it has it, it has a part of it, or it holds it among others."""

_Found: TypeAlias = tuple[ast.expr, bool]
"""An expression whose value is awaited, or, if true, one whose value holds what is awaited."""


def called_name(call: ast.Call) -> str:
    """Return the name of the function or method that a call calls; empty for a call of another expression."""
    if isinstance(call.func, ast.Name):
        return call.func.id
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


class Awaited:
    """The calls of a program that it awaits: `calls`, and calls of `map` whose results it awaits: `maps`.

    `functions` are the names of functions of the program, not asynchronous, that return what is awaited somewhere.
    `tools` are the names of the tools, whose arguments are never awaited.
    """

    def __init__(self, tree: ast.Module, tools: Container[str] = ()) -> None:
        self.calls: set[ast.Call] = set()
        self.maps: set[ast.Call] = set()
        self.functions: set[str] = set()
        self._values: defaultdict[str, list[tuple[ast.expr, _Relation]]] = defaultdict(list)
        self._returned: defaultdict[str, list[ast.expr]] = defaultdict(list)
        self._parameters: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        self._calls_of: defaultdict[str, list[ast.Call]] = defaultdict(list)
        self._seen: set[tuple[ast.expr | str, bool]] = set()
        self._pending: list[_Found] = []
        nodes = list(ast.walk(tree))
        for node in nodes:
            self._collect(node)
        for node in nodes:
            if isinstance(node, ast.Await):
                self._pending.append((node.value, False))
            elif isinstance(node, ast.Call) and called_name(node) in AWAITING and not _is_call_of(node, tools):
                self._pending += [(value, False) for value in _arguments(node)]
        while self._pending:
            self._follow(*self._pending.pop())

    def _collect(self, node: ast.AST) -> None:
        """Note the values that a statement or expression gives to names."""
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            if node.value is not None:
                self._assign(node.target, node.value)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._assign(node.target, node.iter, "part")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._collect_function(node)
        elif isinstance(node, ast.Call):
            self._calls_of[called_name(node)].append(node)
            if isinstance(node.func, ast.Attribute) and node.func.attr in _ADDING_METHODS | _EXTENDING_METHODS:
                relation: _Relation = "holds" if node.func.attr in _ADDING_METHODS else "same"
                for argument in node.args:
                    self._assign(node.func.value, argument, relation)

    def _assign(self, target: ast.expr, value: ast.expr, relation: _Relation = "same") -> None:
        """Note that the names of a target have a value, a part of it, or hold it."""
        if isinstance(target, ast.Name):
            self._values[target.id].append((value, relation))
        elif isinstance(target, ast.Attribute):
            self._values[target.attr].append((value, relation))
        elif isinstance(target, ast.Subscript):
            self._assign(target.value, value, "holds")
        elif isinstance(target, ast.Starred):
            self._assign(target.value, value, relation)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) and relation == "same" else []
            for index, part in enumerate(target.elts):
                if len(parts) == len(target.elts):
                    self._assign(part, parts[index])
                else:
                    self._assign(part, value, "part")

    def _collect_function(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        positional = [*function.args.posonlyargs, *function.args.args]
        shift = 1 if positional and positional[0].arg == "self" else 0
        for index, parameter in enumerate(positional):
            self._parameters[parameter.arg].append((function.name, index - shift))
        for parameter in [*function.args.kwonlyargs, *filter(None, [function.args.vararg])]:
            self._parameters[parameter.arg].append((function.name, -1))
        if isinstance(function, ast.FunctionDef):  # the value of an async one is not its coroutine
            returns = (node.value for node in ast.walk(function) if isinstance(node, ast.Return))
            self._returned[function.name] += filter(None, returns)

    def _follow(self, value: ast.expr, holds: bool) -> None:
        """Follow an expression whose value is awaited, or holds what is, to the calls and names that it comes from."""
        if (value, holds) in self._seen:
            return
        self._seen.add((value, holds))
        if isinstance(value, ast.Call):
            self._follow_call(value, holds)
        elif isinstance(value, ast.Name):
            self._follow_name(value.id, holds)
        elif isinstance(value, ast.Attribute):
            self._follow_name(value.attr, holds)
        else:
            self._pending += _parts(value, holds)

    def _follow_call(self, call: ast.Call, holds: bool) -> None:
        name = called_name(call)
        if not holds:
            self.calls.add(call)
        if name in AWAITING:
            return
        self._follow_function(name, holds)
        if isinstance(call.func, ast.Lambda):
            self._pending.append((call.func.body, holds))
        elif name == "map" and call.args:
            self.maps.add(call)
            function = call.args[0]
            if isinstance(function, ast.Lambda):
                self._pending.append((function.body, False))
            elif isinstance(function, ast.Name):
                self._follow_function(function.id, holds=False)
        elif isinstance(call.func, ast.Name) and name in _KEEPING_FUNCTIONS:
            self._pending += [(argument, True) for argument in call.args]
        elif isinstance(call.func, ast.Attribute) and name in _KEEPING_METHODS:
            self._pending.append((call.func.value, True))

    def _follow_function(self, name: str, holds: bool) -> None:
        """Follow a function whose results are awaited, or hold what is."""
        returned = [value.body for value, _ in self._values[name] if isinstance(value, ast.Lambda)]
        returned += self._returned[name]
        if returned:
            self.functions.add(name)
        self._pending += [(value, holds) for value in returned]

    def _follow_name(self, name: str, holds: bool) -> None:
        if (name, holds) in self._seen:
            return
        self._seen.add((name, holds))
        followed = {"same": holds, "part": True, "holds": False}
        self._pending += [(value, followed[relation]) for value, relation in self._values[name]]
        for function, index in self._parameters[name]:
            for call in self._calls_of[function]:
                arguments = call.args if index < 0 else call.args[index : index + 1]
                arguments += [keyword.value for keyword in call.keywords if keyword.arg == name]
                self._pending += [(argument, holds and index >= 0) for argument in arguments]


def _is_call_of(call: ast.Call, names: Container[str]) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in names


def _arguments(call: ast.Call) -> Iterable[ast.expr]:
    """Return the arguments that a call awaits."""
    return [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg not in _OPTIONS)]


def _parts(value: ast.expr, holds: bool) -> Iterable[_Found]:
    """Return the expressions that an expression takes its value, or elements of it, from."""
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return [(element, False) for element in value.elts]
    if isinstance(value, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return [(value.elt, False)]
    if isinstance(value, ast.Dict):
        return [(element, False) for element in value.values]
    if isinstance(value, ast.DictComp):
        return [(value.value, False)]
    if isinstance(value, ast.Starred | ast.Subscript):
        return [(value.value, True)]
    same: list[ast.expr] = []
    if isinstance(value, ast.NamedExpr):
        same = [value.value]
    elif isinstance(value, ast.IfExp):
        same = [value.body, value.orelse]
    elif isinstance(value, ast.BoolOp):
        same = value.values
    elif isinstance(value, ast.BinOp):
        same = [value.left, value.right]
    return [(part, holds) for part in same]
