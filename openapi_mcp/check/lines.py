"""The lines at which the parts of a YAML or JSON document begin, by JSON pointer.

JSON is YAML, so that one scanner serves both. It reads events, makes no values and expands no alias, and stops after
MAX_EVENTS: lines are for people, and a report without them is complete.
"""

from collections.abc import Iterator
from typing import Any, Final

from ..document.model import join

MAX_BYTES: Final = 8 << 20
"""Bytes of a document whose lines are looked up; a larger one takes half a minute."""

MAX_EVENTS: Final = 2_000_000
MAX_LEVELS: Final = 5
"""Levels of the document that have lines: #/paths/~1pets/get/parameters/0. Deeper parts have the line of these."""


def lines_of(text: str) -> dict[str, int]:
    """Return the lines, counted from 1, of the parts of a document; empty for one that cannot be read so."""
    import yaml

    if len(text) > MAX_BYTES:
        return {}
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    lines: dict[str, int] = {}
    try:
        for count, (pointer, line) in enumerate(_places(yaml.parse(text, Loader=loader))):
            lines.setdefault(pointer, line)
            if count > MAX_EVENTS:
                break
    except (yaml.YAMLError, RecursionError, UnicodeError):
        return lines
    return lines


def _places(events: Any) -> Iterator[tuple[str, int]]:
    """Yield pointer and line of each key and item of the first levels."""
    stack: list[_Level] = []
    for event in events:
        name = type(event).__name__
        if name.endswith("EndEvent"):
            if name in ("MappingEndEvent", "SequenceEndEvent"):
                stack.pop()
            continue
        if name not in ("MappingStartEvent", "SequenceStartEvent", "ScalarEvent", "AliasEvent"):
            continue
        pointer = "#"
        if stack:
            level = stack[-1]
            if level.expects_key:
                level.key = str(getattr(event, "value", ""))
                level.line = event.start_mark.line + 1
                if name == "ScalarEvent":
                    level.expects_key = False
                    continue
            line = level.line if level.is_mapping else event.start_mark.line + 1
            pointer = level.next_pointer()
            if len(stack) <= MAX_LEVELS:
                yield pointer, line
        else:
            yield pointer, event.start_mark.line + 1
        if name.endswith("StartEvent"):
            stack.append(_Level(pointer, is_mapping=name == "MappingStartEvent"))


class _Level:
    """A mapping or sequence that is being read."""

    def __init__(self, pointer: str, *, is_mapping: bool) -> None:
        self.pointer = pointer
        self.is_mapping = is_mapping
        self.expects_key = is_mapping
        self.key = ""
        self.line = 0
        self._index = -1

    def next_pointer(self) -> str:
        """Return the pointer of the value that begins."""
        if self.is_mapping:
            self.expects_key = True
            return join(self.pointer, self.key)
        self._index += 1
        return join(self.pointer, self._index)
