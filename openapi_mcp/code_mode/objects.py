"""Objects of the API in programs are dicts, of which `item.name` is `item["name"]`: `ObjectDialect`, `OBJECTS`.

The sandbox has no class that behaves like a dict (no `__len__`, `__getattr__`, inheritance), so values of calls stay
dicts, which iterate, compare and end in a result as such. The translation lets attributes read and write their keys by
functions of the prelude, whose errors name the keys that are nearly the same, and then all; the first ones of a program
only, since comparing names takes milliseconds.
"""

import ast
import copy
import datetime as dt
import re
from collections.abc import Sequence
from typing import Any, Final

PREFIX: Final = "_sandbox_"
"""The first characters of the names that only the prelude and the translation use."""

_TYPES: Final = (dict, list, str, tuple, set, bytes, dt.datetime, dt.timedelta, re.Match)
_PYTHON_METHODS: Final = frozenset(name for kind in _TYPES for name in dir(kind) if callable(getattr(kind, name)))
"""Names of methods of Python's values, which may be properties of an object of the API too."""

_METHOD_OWNERS: Final = frozenset(("str", "dict", "list", "set", "tuple", "int", "float", "bytes"))
ATTRIBUTE_FUNCTIONS: Final = ("getattr", "hasattr", "setattr")

OBJECTS: Final = """\
def _sandbox_attribute(value, name):
    if isinstance(value, _SandboxTask):
        value = _sandbox_run(value)
    if not isinstance(value, dict):
        if isinstance(value, list):
            raise AttributeError("a list has no " + name + "; its items may: rows[0]." + name)
        return getattr(value, name)
    if name not in value:
        raise AttributeError("the object has no " + name + _sandbox_keys_of(value, name))
    return value[name]

def _sandbox_method(value, name, method):
    if isinstance(value, dict):
        return value[name] if name in value else method
    return getattr(value, name, method)

def _sandbox_getattr(value, name, *default):
    if isinstance(value, dict):
        return value.get(name, *default) if default else _sandbox_attribute(value, name)
    return getattr(value, name, *default)

def _sandbox_hasattr(value, name):
    return name in value if isinstance(value, dict) else hasattr(value, name)

def _sandbox_setattr(value, name, new):
    if isinstance(value, dict):
        value[name] = new
    else:
        setattr(value, name, new)

def _sandbox_item(value, key):
    if isinstance(value, list):
        raise TypeError("a list has no key " + key + "; its items may: rows[0]['" + key + "']")
    try:
        return value[key]
    except KeyError:
        raise KeyError(key + _sandbox_keys_of(value, key))

_sandbox_misses = []

def _sandbox_keys_of(value, name):
    names = [str(key) for key in list(value)[:50]]
    near = []
    if len(_sandbox_misses) < 20:
        _sandbox_misses.append(name)
        near = [key for key in names if _sandbox_is_near(_sandbox_letters(name), _sandbox_letters(key))][:3]
    hint = "; did you mean " + " or ".join(near) + "?" if near else ";"
    return hint + (" It has " if near else " it has ") + (", ".join(names)[:500] or "no properties")

def _sandbox_letters(name):
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()[:40]

def _sandbox_is_near(name, other):
    if len(name) > 2 and len(other) > 2 and (name in other or other in name):
        return True
    longest = _native_max([len(name), len(other)])
    if abs(len(name) - len(other)) > longest // 3:
        return False
    row = list(range(len(other) + 1))
    for place in range(len(name)):
        left, row[0] = row[0], place + 1
        for index in range(len(other)):
            best = left + (name[place] != other[index])
            left = row[index + 1]
            row[index + 1] = _native_min([best, left + 1, row[index] + 1])
    return row[-1] <= longest // 3

def _sandbox_plain(value, default):
    if isinstance(value, dict):
        return {key: _sandbox_plain(item, default) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_sandbox_plain(item, default) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    return _sandbox_plain(default(value), default)

def _sandbox_dumps(value, *, default, **options):
    return _json.dumps(_sandbox_plain(value, default), **options)
"""
"""Source of the functions that replace attributes, keys, `getattr`, `hasattr` and `json.dumps`."""


class ObjectDialect(ast.NodeTransformer):
    """The replacement of attributes and keys in a tree.

    `bound` are the names that the program gives values to, `namespaces` those of modules and classes.
    """

    bound: set[str]
    namespaces: set[str]

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """Let `item.name` be `item["name"]` of an object of the API.

        For the program's own objects it stays the attribute. A method that is not called becomes a lambda: the sandbox
        has no such values of its own types.
        """
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or owner in self.namespaces or node.attr.startswith("__"):
            return node
        if owner in _METHOD_OWNERS and owner not in self.bound:
            return ast.copy_location(_unbound_method(node.attr), node)
        name = ast.Constant(node.attr)
        if node.attr in _PYTHON_METHODS and owner:
            method = _bound_method(name_of(owner), node.attr)
            return ast.copy_location(prelude_call("method", [node.value, name, method]), node)
        return ast.copy_location(prelude_call("attribute", [node.value, name]), node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Let the error of `item["name"]` say what the object has."""
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        self.generic_visit(node)
        is_key = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        if not is_key or not isinstance(node.ctx, ast.Load) or owner in self.namespaces | _METHOD_OWNERS:
            return node
        return ast.copy_location(prelude_call("item", [node.value, node.slice]), node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Let `item.name = value` set the key of an object of the API."""
        target = node.targets[0]
        self.generic_visit(node)
        if len(node.targets) > 1 or not self._may_be_object(target):
            return node
        assert isinstance(target, ast.Attribute)  # noqa: S101 - it may be an object's
        return ast.copy_location(
            ast.Expr(prelude_call("setattr", [target.value, ast.Constant(target.attr), node.value])), node
        )

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Replace `item.name += value` likewise, unless the object is the value of a call."""
        target = node.target
        if not self._may_be_object(target) or _calls_any(target):
            return self.generic_visit(node)
        assert isinstance(target, ast.Attribute)  # noqa: S101 - it may be an object's
        read = ast.copy_location(ast.Attribute(copy.deepcopy(target.value), target.attr, ast.Load()), target)
        value = ast.copy_location(ast.BinOp(read, node.op, node.value), node.value)
        return self.visit(ast.copy_location(ast.Assign([target], value), node))

    def _may_be_object(self, target: ast.expr) -> bool:
        """Return whether a target is an attribute of what may be an object of the API."""
        if not isinstance(target, ast.Attribute) or target.attr.startswith("__"):
            return False
        return not (isinstance(target.value, ast.Name) and target.value.id in self.namespaces)


def _calls_any(value: ast.expr) -> bool:
    """Return whether an expression has effects, so that it may be evaluated once only."""
    return any(isinstance(node, ast.Call | ast.Await | ast.NamedExpr) for node in ast.walk(value))


def _bound_method(value: ast.expr, name: str) -> ast.expr:
    """Return `lambda *values: value.name(*values)`."""
    return _lambda([], attribute(value, name))


def _unbound_method(name: str) -> ast.expr:
    """Return `lambda value, *values: value.name(*values)`, the meaning of `str.lower`."""
    return _lambda(["_sandbox_value"], attribute(name_of("_sandbox_value"), name))


def _lambda(names: list[str], method: ast.expr) -> ast.expr:
    """Return a function of some parameters, and of any more that it passes on to a method."""
    body = ast.Call(method, [ast.Starred(name_of("_sandbox_values"), ast.Load())], [])
    parameters = [ast.arg(name) for name in names]
    return ast.Lambda(ast.arguments([], parameters, ast.arg("_sandbox_values"), [], [], None, []), body)


def name_of(name: str) -> ast.Name:
    """Return the expression of a name."""
    return ast.Name(name, ast.Load())


def stored(name: str) -> ast.Name:
    """Return a name as the target of an assignment."""
    return ast.Name(name, ast.Store())


def attribute(value: ast.expr, name: str) -> ast.Attribute:
    """Return the expression of an attribute."""
    return ast.Attribute(value, name, ast.Load())


def prelude_call(name: str, arguments: list[ast.expr], keywords: Sequence[ast.keyword] = ()) -> ast.Call:
    """Return a call of a function of the prelude."""
    return ast.Call(name_of(PREFIX + name), arguments, list(keywords))
