"""The syntax that generated Python may contain: a walk that reports everything but known declarations."""

import ast
from collections.abc import Iterator

from openapi_mcp.runtime import toolkit

TYPES = {"Any", "Literal", "NotRequired", "TypeAlias", "TypedDict", "str", "int", "float", "bool", "list", "dict"}
CALLED = set(toolkit.__all__) | {"TypedDict"}
VERBS = {"get", "put", "post", "delete", "patch", "operation"}


def faults(source: str) -> Iterator[str]:
    """Yield everything in a module of tools, or in `api.py`, that is not an import, a declaration or a tool."""
    tree = ast.parse(source)
    if ast.get_docstring(tree) is None:
        yield "the module has no docstring"
    known = {"SCHEMAS", "__file__"} | TYPES | CALLED
    for node in tree.body[1:]:
        match node:
            case (
                ast.ImportFrom(module="typing", level=0, names=names)
                | ast.ImportFrom(module="runtime" | "api", level=1 | 2, names=names)
            ):
                known |= {name.name for name in names if name.asname is None}
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield from expression(value, known)
                known.add(name)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=ast.expr() as value):
                yield from expression(annotation, known)
                yield from expression(value, known)
                known.add(name)
            case ast.ClassDef(bases=[ast.Name(id="TypedDict")], keywords=[], decorator_list=[]):
                known.add(node.name)
                for member in node.body:
                    yield from typed_member(member, known)
            case ast.AsyncFunctionDef(decorator_list=[ast.Call() as decorator]):
                yield from function(node, decorator, known)
            case _:
                yield f"line {node.lineno}: {type(node).__name__}"


def typed_member(member: ast.stmt, known: set[str]) -> Iterator[str]:
    match member:
        case ast.AnnAssign(target=ast.Name(), value=None, annotation=annotation):
            yield from expression(annotation, known)
        case _:
            yield f"line {member.lineno}: {type(member).__name__} in a class"


def function(node: ast.AsyncFunctionDef, decorator: ast.Call, known: set[str]) -> Iterator[str]:
    """Check a tool: a decorator of the toolbox, and a body of a docstring and one call."""
    match decorator.func:
        case ast.Attribute(value=ast.Name(id="tools"), attr=verb) if verb in VERBS:
            for value in [*decorator.args, *(keyword.value for keyword in decorator.keywords)]:
                yield from expression(value, known)
        case _:
            yield f"line {node.lineno}: an unknown decorator"
    parameters = {argument.arg for argument in node.args.kwonlyargs}
    for argument in node.args.kwonlyargs:
        if argument.annotation is not None:
            yield from expression(argument.annotation, known)
    for default in node.args.kw_defaults:
        if not (default is None or isinstance(default, ast.Constant | ast.UnaryOp)):
            yield f"line {default.lineno}: a default that is not a constant"
    match node.body:
        case [
            ast.Expr(value=ast.Constant(value=str())),
            ast.Return(
                value=ast.Await(
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Name(id="api"), attr="call"),
                        args=[ast.Name(id=name)],
                        keywords=keywords,
                    )
                )
            ),
        ] if name == node.name:
            sent = {word.arg: word.value.id for word in keywords if word.arg and isinstance(word.value, ast.Name)}
            if sent != {parameter: parameter for parameter in parameters} or len(sent) != len(keywords):
                yield f"line {node.lineno}: {node.name} does not pass on its arguments"
        case _:
            yield f"line {node.lineno}: {node.name} does more than call the API"


def expression(node: ast.expr, known: set[str]) -> Iterator[str]:
    """Check a value: literals, known names, and calls of names of the runtime."""
    for inner in ast.walk(node):
        match inner:
            case ast.Constant() | ast.List() | ast.Tuple() | ast.Dict() | ast.keyword() | ast.Load():
                pass
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()) | ast.USub():
                pass
            case ast.BinOp(op=ast.BitOr()) | ast.BitOr() | ast.Subscript(value=ast.Name()):
                pass
            case ast.Name(id=name) if name in known:
                pass
            case ast.Call(func=ast.Name(id=name)) if name in CALLED:
                pass
            case _:
                yield f"line {node.lineno}: {ast.dump(inner)[:200]}"
