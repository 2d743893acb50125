"""Report strings of a document with characters that hide words from a person: directions, tags, ESC.

They are removed from what is shown, see `plain_text.clean`; a value that is sent, such as that of an enum, stays.
"""

from collections.abc import Iterator, Sequence
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
    root = resolver.document.root
    if not any(map(_may_deceive, _batches(root))):
        return
    found = ((path, code) for path, text in _strings(root) if (code := deceptive(text)))
    for (path, code), _ in zip(found, range(MAX_REPORTED), strict=False):
        yield Problem(
            pointer=resolver.display(_pointer(path)),
            message=f"this text has a hidden character ({code}), which can hide words from a person that a model reads",
            kind="text",
            hint="remove the character",
        )


_HARMLESS: Final = bytes([*range(0x09, 0x0E), *range(0x20, 0x7F)])
"""White space and printable ASCII: nearly all characters of nearly all documents."""

_BATCH: Final = 20_000
"""Texts that are joined, about: a megabyte or two."""

_PIECE: Final = 1 << 20
"""Characters that are searched at once, and one more: two hidden characters in a row deceive."""


def _may_deceive(texts: Sequence[str]) -> bool:
    """Return whether one of the texts may have such a character: a tenth of the time of asking for each."""
    text = "\n".join(texts)
    return any(_piece_may_deceive(text[start : start + _PIECE + 1]) for start in range(0, len(text), _PIECE))


def _piece_may_deceive(text: str) -> bool:
    rest = text.encode("utf-8", "surrogatepass").translate(None, _HARMLESS)
    return deceptive(rest.decode("utf-8", "surrogatepass")) is not None


def _batches(root: Any) -> Iterator[Sequence[str]]:
    """Yield the strings of a document, in any order; objects and lists that several places share are read once."""
    waiting, seen, texts, names = [root], {id(root)}, list[str](), set[Any]()
    while waiting:
        container = waiting.pop()
        if type(container) is dict:
            names.update(container)
            container = container.values()
        for item in container:
            if type(item) is str:
                texts.append(item)
            elif item and (type(item) is dict or type(item) is list) and id(item) not in seen:
                seen.add(id(item))
                waiting.append(item)
        if len(texts) >= _BATCH:
            yield texts
            texts = []
    yield [*texts, *(name for name in names if isinstance(name, str))]


def _strings(root: Any) -> Iterator[tuple[_Path, str]]:
    """Yield the strings of a document, in its order, with the steps to each; a name has those of its value."""
    stack: list[tuple[Any, _Path]] = [(root, None)]
    seen: set[int] = set()  # objects and lists that several places share are read once
    while stack:
        value, path = stack.pop()
        if isinstance(value, str):
            yield path, value
            continue
        if not value or id(value) in seen:  # a document may have two million that are empty
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
