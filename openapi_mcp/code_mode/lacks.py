"""Python that programs cannot use: `lacks` finds it before a program runs, `cure` explains errors of the sandbox.

The sandbox runs a subset of Python. A program that uses more is refused before any of its calls is made, with each line
and what to write instead, since a program that stops in the middle leaves its effects behind.
"""

import ast
import builtins
import re
from collections.abc import Iterator
from typing import Final

from .prelude import ASYNCIO_NAMES

MODULES: Final = (
    "asyncio, base64, bisect, collections, copy, csv, dataclasses, datetime, decimal, functools, hashlib, itertools, "
    "json, math, random, re, time, typing"
)
"""The modules that programs can use."""

_OTHER_MODULES: Final = frozenset(("binascii", "os", "pathlib", "posixpath", "sys", "tomllib", "unicodedata"))
"""Modules that can be imported too, which a program rarely needs: for example `os` without files and environment."""

_KNOWN_MODULES: Final = frozenset(MODULES.split(", ")) | _OTHER_MODULES
ANNOTATION_MODULES: Final = frozenset({"typing", "typing_extensions", "collections.abc", "__future__", "types", "abc"})
"""Modules whose names annotations use; the sandbox evaluates none."""

_NETWORK: Final = "a program has no network: call the API's tools as functions"
_TABLES: Final = "use lists and dicts with sorted, sum and comprehensions"
_PARALLEL: Final = "await asyncio.gather(…) makes calls at once"
_INSTEAD: Final = {
    **dict.fromkeys(("requests", "httpx", "aiohttp", "urllib", "urllib3", "http", "socket", "ssl"), _NETWORK),
    **dict.fromkeys(("pandas", "numpy", "polars", "scipy"), _TABLES),
    **dict.fromkeys(("concurrent", "threading", "multiprocessing", "queue"), _PARALLEL),
    "statistics": "write sum(values) / len(values), sorted(values)[len(values) // 2]",
    "operator": "write lambda item: item[key]",
    "enum": "use strings",
    "io": "use strings",
    "string": "write the characters",
    "heapq": "use sorted(values)[:n]",
    "pprint": "use print, or end the program with the value",
    "logging": "use print",
    "traceback": "use print with the exception",
    "contextlib": "use try and finally",
    "uuid": "let the API choose ids, or make one of random and hashlib",
    "zoneinfo": "use datetime.timezone(datetime.timedelta(hours=…))",
    "calendar": "use datetime",
    "subprocess": "a program cannot start others",
    "collections.abc": "annotations need no import",
}

_KNOWN: Final = f"Programs can import {MODULES}."
_LACKS: Final = "NotImplementedError: the sandbox"
_ASYNCIO: Final = "has no asyncio.{name}: make calls at once with asyncio.gather(…)"
_YIELD: Final = "has no yield: append the values to a list and return it"
_ASYNC_FOR: Final = "has no async for: write a for loop, and await the values"
_INHERITANCE: Final = "has no class inheritance: raise RuntimeError or ValueError, and use dicts or dataclasses"
_DECORATORS: Final = "has no decorators of methods: write a plain method, or a function outside of the class"
_CLASS_BODY: Final = "has classes of methods and simple variables only: move this out of the class"
_DEL: Final = "has no del of attributes: assign None"
_LOOP_METHODS: Final = "has no {name} of tasks and loops: await the task, and go on with its result"
_ABSENT_METHODS: Final = frozenset({"add_done_callback", "run_forever", "call_soon", "call_later"})

_SYNTAX: Final = {
    "Yield": _YIELD,
    "YieldFrom": _YIELD,
    "AsyncFor": _ASYNC_FOR,
    "TryStar": "has no except*: write except",
    "TypeAlias": "has no type statement: leave it out",
}
"""Cures for nodes of these types."""


def lacks(tree: ast.Module) -> list[str]:
    """Return a sentence for each line of a program that the sandbox cannot run, in their order."""
    guards = [node for node in ast.walk(tree) if isinstance(node, ast.Try) and _catches_import_errors(node)]
    guarded = {inner for guard in guards for statement in guard.body for inner in ast.walk(statement)}
    found = {(line, text): None for node in ast.walk(tree) for line, text in _lacks_of(node, node in guarded)}
    sentences = [f"Line {line}: {text}" for line, text in sorted(found)]
    return [_KNOWN, *sentences] if any("ModuleNotFoundError" in text for _, text in found) else sentences


def _catches_import_errors(node: ast.Try) -> bool:
    names = {
        name.id
        for handler in node.handlers
        for name in (ast.walk(handler.type) if handler.type else [ast.Name("Exception")])
        if isinstance(name, ast.Name)
    }
    return not names.isdisjoint({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def _lacks_of(node: ast.AST, is_guarded: bool) -> Iterator[tuple[int, str]]:
    """Yield the line and the sentence for each thing of a node that the sandbox lacks."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from (() if is_guarded else ((node.lineno, text) for text in _imports(node)))
    elif isinstance(node, ast.ClassDef):
        yield from _class(node)
    elif isinstance(node, ast.comprehension):
        if node.is_async:
            yield node.target.lineno, f"{_LACKS} {_ASYNC_FOR}."
    elif sentence := _syntax(node):
        yield node.lineno, f"{_LACKS} {sentence}."  # type: ignore[attr-defined]  # a statement or expression


def _syntax(node: ast.AST) -> str:
    """Return what to do about a statement or an expression that the sandbox lacks; empty if it has it."""
    if isinstance(node, ast.Attribute):
        return _attribute(node)
    if isinstance(node, ast.Delete):
        return _DEL if any(isinstance(target, ast.Attribute) for target in node.targets) else ""
    return _SYNTAX.get(type(node).__name__, "")


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or "."]
    for name in names:
        if isinstance(node, ast.ImportFrom) and name in ANNOTATION_MODULES:
            continue
        if name not in _KNOWN_MODULES and name != "os.path":
            instead = _INSTEAD.get(name) or _INSTEAD.get(name.partition(".")[0])
            cure = f"; {instead}" if instead else ""
            yield f"ModuleNotFoundError: no module {name} in the sandbox{cure}."
        elif name == "asyncio" and isinstance(node, ast.ImportFrom):
            lacking = [alias.name for alias in node.names if alias.name not in ASYNCIO_NAMES]
            yield from (f"{_LACKS} {_ASYNCIO.format(name=name)}." for name in lacking)


def _attribute(node: ast.Attribute) -> str:
    if isinstance(node.value, ast.Name) and node.value.id == "asyncio" and node.attr not in ASYNCIO_NAMES:
        return _ASYNCIO.format(name=node.attr)
    if isinstance(node.value, ast.Name) and node.value.id == "sys" and node.attr == "exit":
        return "cannot exit: end the program with its last line, or raise an error"
    return _LOOP_METHODS.format(name=node.attr) if node.attr in _ABSENT_METHODS else ""


def _class(node: ast.ClassDef) -> Iterator[tuple[int, str]]:
    bases = [base for base in node.bases if not (isinstance(base, ast.Name) and base.id == "object")]
    if bases or node.keywords:
        yield node.lineno, f"{_LACKS} {_INHERITANCE}."
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            if statement.decorator_list:
                yield statement.lineno, f"{_LACKS} {_DECORATORS}."
        elif not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Pass | ast.Expr):
            yield statement.lineno, f"{_LACKS} {_CLASS_BODY}."


_SUBSET: Final = (
    "The sandbox runs a subset of Python, which may lack this. Write it with plain loops, functions, comprehensions, "
    "lists and dicts."
)
_NATIVE: Final = (
    "A tool cannot be called by a method or function of Python itself, such as list.sort or re.sub. Call it in a loop "
    "or a comprehension: [tool(id=item) for item in items]."
)
_PLAIN: Final = r"'(str|list|dict|set|tuple|int|float|bytes|function|datetime\.\w+|re\.\w+)' object has no"
_CURES: Final = {
    r"NotImplementedError: .*cannot suspend": _NATIVE,
    r"TypeError: .*(can't be awaited|coroutine|_SandboxTask|not awaitable|awaitable is required)": (
        "A call of a coroutine has a value only after await: write `await f(…)`, or (await f(…))[key]."
    ),
    r"TypeError: 'list' object is not an iterator": "Write next(iter(values), None), or values[0].",
    r"AttributeError: 'dict' object has no attribute": (
        'A property is not called: write item.name or item["name"], and item.get("name") where it may be missing.'
    ),
    r"AttributeError: 'NoneType' object has no attribute": (
        "The value before the dot is None: null in the answer, or an answer without content."
    ),
    r"PermissionError": "A program has no files: return what it finds, or print it.",
    r"ModuleNotFoundError": _KNOWN,
    r"NameError: name '(exit|quit)'": "A program ends with its last line; to end it early, raise an error.",
    r"NameError: name '(input|breakpoint)'": "Nobody answers a program: all that it needs must be in its text.",
    rf"NameError: name '({'|'.join(dir(builtins))})'": _SUBSET,
    r"RuntimeError: suspension limit": "A program may call tools, and sleep, 10,000 times in all.",
    r"NotImplementedError|\w*Error: .*not( yet)? support|AttributeError: (module|type object) ": _SUBSET,
    rf"AttributeError: {_PLAIN}|ImportError: cannot import|TypeError: \S+\(\) got an unexpected keyword": _SUBSET,
}
"""Cures for errors, by regular expressions for their last lines; the first that matches."""


def cure(error: str) -> str:
    """Return what to do about an error of the sandbox, given its last line; empty where Python's message says it."""
    return next((sentence for pattern, sentence in _CURES.items() if re.match(pattern, error)), "")
