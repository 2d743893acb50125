"""Report strings of a document with characters that hide words from a person: directions, tags, ESC.

They are removed from what is shown, see `plain_text.clean`; a value that is sent, such as that of an enum, stays.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from ..errors import Problem
from ..runtime.result.hidden_characters import deceptive
from .model import join
from .resolver import Resolver

MAX_REPORTED: Final = 20
"""Problems of this kind: a document with more was written to deceive, or by a program that writes them everywhere."""

_Path: TypeAlias = "tuple[_Path, str | int] | None"


def hidden_text_problems(resolver: Resolver) -> Iterator[Problem]:
    """Yield a Problem for each name and value with such a character, at most `MAX_REPORTED`."""
    found = ((path, code) for path, text in _strings(resolver.document.root) if (code := deceptive(text)))
    for (path, code), _ in zip(found, range(MAX_REPORTED), strict=False):
        yield Problem(
            pointer=resolver.display(_pointer(path)),
            message=f"this text has a hidden character ({code}), which can hide words from a person that a model reads",
            kind="text",
            hint="remove the character",
        )


def _strings(root: Any) -> Iterator[tuple[_Path, str]]:
    """Yield the strings of a document, in its order, with the steps to each; a name has those of its value."""
    stack: list[tuple[Any, _Path]] = [(root, None)]
    seen: set[int] = set()  # objects and lists that several places share are read once
    while stack:
        value, path = stack.pop()
        if isinstance(value, str):
            yield path, value
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            for name in value:
                if isinstance(name, str) and not (name.isascii() and name.isprintable()):
                    yield (path, name), name
            stack += [(item, (path, name)) for name, item in reversed(value.items()) if isinstance(item, _INNER)]
        else:
            stack += [
                (item, (path, index)) for index, item in reversed(list(enumerate(value))) if isinstance(item, _INNER)
            ]


_INNER: Final = (str, dict, list)


def _pointer(path: _Path) -> str:
    steps: list[str | int] = []
    while path is not None:
        path, step = path
        steps.append(step)
    return join("#", *reversed(steps))
