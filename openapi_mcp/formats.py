"""What a merged file must still be in its format: a merge that breaks a file which was whole is no merge.

`defects` never says that a file is good, only what is wrong with it, so that a merge can be held to add nothing to what
was wrong before.
"""

import ast
import json
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final

UNREADABLE: Final = "it can no longer be parsed"

REFUSALS: Final = (ValueError, SyntaxError, RecursionError, MemoryError)
"""What the parsers of the standard library raise; the last two for nesting that only hostile files have."""


def defects(path: PurePosixPath, text: str) -> frozenset[str]:
    """What is wrong with a file of this name, in words; nothing where the format is not known."""
    try:
        return frozenset(PARSERS.get(path.suffix, _anything)(text))
    except REFUSALS:
        return frozenset({UNREADABLE})


def markable(path: PurePosixPath) -> bool:
    """Whether conflicts can be marked in the file itself; programs read JSON, and nothing can be marked in it."""
    return path.suffix != ".json"


def _anything(_: str) -> Iterable[str]:
    return ()


def _python(text: str) -> Iterable[str]:
    """Definitions that hide others: two sides that both add a function of one name merge without a conflict."""
    names = (node.name for node in parse(text).body if isinstance(node, DEFINITIONS))
    return [f"{name} is defined {times} times" for name, times in Counter(names).items() if times > 1]


def _json(text: str) -> Iterable[str]:
    json.loads(text, object_pairs_hook=_once)
    return ()


def _once(pairs: list[tuple[str, object]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name occurs twice in an object")


def _toml(text: str) -> Iterable[str]:
    tomllib.loads(text)
    return ()


PARSERS: Final[Mapping[str, Callable[[str], Iterable[str]]]] = {".py": _python, ".toml": _toml, ".json": _json}
"""By the end of a file's name: what is wrong with it; raises if it cannot be read at all."""

DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def parse(text: str) -> ast.Module:
    """A Python module. Raises one of REFUSALS."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the owner's escapes, which are not judged here
        return ast.parse(text)
