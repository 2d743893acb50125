"""The lines of a document that its problems point to, found in its text: YAML, of which JSON is a part.

The text is read again only if it is still the one that the tools were made of. A pointer into what an overlay or a
conversion added leads to no line, or to that of the nearest parent. Specification: RFC 6901; YAML 1.2.2.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import unquote, urljoin

from ..bridge import Bridge
from ..document.addresses import is_remote, local_path
from ..errors import BridgeError, Problem
from ..regular_files import UnfitFile, read_regular
from ..runtime.request.redaction import redact

MAX_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a file whose lines are looked for: it takes about as long as parsing it."""

MAX_LINE: Final = 200
"""Characters of a line that are shown."""

Place: TypeAlias = tuple[str, ...]
"""The keys and indices from the root of a file to a value."""


@dataclass(frozen=True, slots=True)
class LocatedProblem:
    """A problem with its file and line; `line` is 0 where none was found, `text` is what stands there."""

    problem: Problem
    file: str
    line: int = 0
    text: str = ""


def located(bridge: Bridge) -> Sequence[LocatedProblem]:
    """Return the problems of a document, those that lost an operation first, with the lines that they point to."""
    problems = sorted(bridge.problems, key=lambda problem: problem.operation is None)
    by_file: dict[str, list[Problem]] = {}
    for problem in problems:
        by_file.setdefault(problem.pointer.partition("#")[0], []).append(problem)
    found: dict[int, LocatedProblem] = {}
    for file, those in by_file.items():
        uri = urljoin(bridge.document_info.uri, file)
        lines = (_text(bridge, uri) or "").split("\n")
        places = {id(problem): _place(problem.pointer) for problem in those}
        numbers = line_numbers("\n".join(lines), set(places.values()))
        for problem in those:
            number = numbers.get(places[id(problem)], 0)
            text = lines[number - 1].strip()[:MAX_LINE] if number else ""
            found[id(problem)] = LocatedProblem(problem, redact(uri.rpartition("/")[2]), number, text)
    return [found[id(problem)] for problem in problems]


def line_numbers(text: str, places: Collection[Place]) -> Mapping[Place, int]:
    """Return the lines, from 1, on which places begin: that of the key, or of the nearest parent that is there."""
    wanted = {place[:length] for place in places for length in range(len(place) + 1)}
    try:
        lines = {place: line for place, line in _places(text) if place in wanted} if text else {}
    except (ValueError, RecursionError):
        return {}
    return {
        place: next(lines[place[:length]] for length in range(len(place), -1, -1) if place[:length] in lines)
        for place in places
        if lines
    }


def _places(text: str) -> Iterator[tuple[Place, int]]:
    """Yield each place of a text with its line; up to where it is no YAML. Raises ValueError."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    path: list[Any] = []  # of each open collection: the number of its next item, or its key
    keys: list[bool] = []  # whether the open collection is a mapping that expects a key
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.CollectionEndEvent):
                path.pop()
                keys.pop()
                _advance(path, keys)
            elif isinstance(event, yaml.NodeEvent):
                line = event.start_mark.line + 1 if event.start_mark else 0
                if keys and keys[-1] and isinstance(event, yaml.ScalarEvent):
                    path[-1] = event.value
                    keys[-1] = False
                    yield tuple(map(str, path)), line
                    continue
                if path and isinstance(path[-1], int):
                    yield tuple(map(str, path)), line
                if not path:
                    yield (), line
                if isinstance(event, yaml.CollectionStartEvent):
                    path.append("" if isinstance(event, yaml.MappingStartEvent) else 0)
                    keys.append(isinstance(event, yaml.MappingStartEvent))
                else:
                    _advance(path, keys)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _advance(path: list[Any], keys: list[bool]) -> None:
    """Go on after a value: to the next item, or the next key."""
    if path and isinstance(path[-1], int):
        path[-1] += 1
    elif keys:
        keys[-1] = True


def _place(pointer: str) -> Place:
    tokens = pointer.partition("#")[2].split("/")[1:]
    return tuple(unquote(token).replace("~1", "/").replace("~0", "~") for token in tokens)


def _text(bridge: Bridge, uri: str) -> str | None:
    """Return the text of a file of the document as it was read; None if it has changed or cannot be read again."""
    digest = bridge.document_info.digests.get(uri)
    try:
        data = _data(bridge, uri) if digest else b""
    except (BridgeError, UnfitFile, OSError, ValueError):
        return None
    if not data or hashlib.sha256(data).hexdigest() != digest:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _data(bridge: Bridge, uri: str) -> bytes:
    if uri.startswith("file:"):
        return read_regular(local_path(uri), MAX_BYTES)
    if not is_remote(uri):
        return b""
    from ..document.fetcher import Fetcher
    from ..egress.policy import EgressPolicy

    options, source = bridge.config.compile_options, bridge.config.source
    policy = EgressPolicy(options.egress)
    fetcher = Fetcher(source, options.headers, certificates=options.certificates, egress=policy)
    return fetcher.get(source if uri == bridge.document_info.uri else uri, MAX_BYTES).data
