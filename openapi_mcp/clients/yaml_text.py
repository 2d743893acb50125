"""Edits of YAML text: an entry is added to, or removed from, a mapping of the root; all other lines stay."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

_WIDTH = 1 << 20
"""Characters of a line, so that none is folded."""


def parsed(text: str) -> Any:
    """Return the value of a text; None of an empty one. Raises ValueError."""
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        raise ValueError(f"line {mark.line + 1}: {error.problem}" if mark else "it cannot be read") from None  # type: ignore[union-attr]


def put(text: str, path: Sequence[str], key: str, value: Any) -> str:
    """Return the text with a new entry as the first of the mapping that the root has under `path[0]`."""
    (name,) = path
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    place = _line_of(lines, name)
    if place is None:
        gap = line_end if text and not text.endswith("\n") else ""
        return text + gap + f"{name}:{line_end}" + _entry(key, value, "  ", line_end)
    opening = re.sub(r":[ \t]*(\{[ \t]*\}|null|~)", ":", lines[place].rstrip("\r\n"), count=1) + line_end
    following = next((line for line in lines[place + 1 :] if line.strip() and not line.lstrip().startswith("#")), "")
    indent = following[: len(following) - len(following.lstrip(" "))] or "  "
    return "".join([*lines[:place], opening, _entry(key, value, indent, line_end), *lines[place + 1 :]])


def removals(text: str, path: Sequence[str], key: str) -> Iterator[str]:
    """Yield the texts without an entry; where the mapping becomes empty, without its line and with `{}` too."""
    lines = text.splitlines(keepends=True)
    place = _line_of(lines, path[0])
    found = None if place is None else _line_of_entry(lines, place, key)
    if place is None or found is None:
        return
    indent = len(lines[found]) - len(lines[found].lstrip(" "))
    last = end = found + 1
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" " * (indent + 1))):
        end += 1
        last = end if lines[end - 1].strip() else last
    kept = [*lines[:found], *lines[last:]]
    if not any(line.startswith(" " * indent) and line.strip() for line in kept[place + 1 : place + 2]):
        without = "".join([*kept[:place], *kept[place + 1 :]])
        yield without
        yield without.rstrip("\r\n")
        stripped = kept[place].rstrip()
        yield "".join([*kept[:place], stripped, " {}", kept[place][len(stripped) :], *kept[place + 1 :]])
        yield "".join([*kept[:place], stripped, " {}", *kept[place + 1 :]])
    yield "".join(kept)


def rendered(value: Any) -> str:
    """Return a value as YAML of several lines."""
    import yaml

    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=_WIDTH)


def _entry(key: str, value: Any, indent: str, line_end: str) -> str:
    return "".join(f"{indent}{line}{line_end}" for line in rendered({key: value}).splitlines())


def _line_of(lines: Sequence[str], name: str) -> int | None:
    """Return the index of the line with a key of the root."""
    return next((index for index, line in enumerate(lines) if _names(line, name) and line[0] not in " \t"), None)


def _line_of_entry(lines: Sequence[str], place: int, key: str) -> int | None:
    """Return the index of the line with a key of the mapping that begins after the line `place`."""
    inside = [index for index in range(place + 1, len(lines)) if lines[index].strip()]
    first = next((index for index in inside if not lines[index].lstrip().startswith("#")), None)
    if first is None:
        return None
    indent = len(lines[first]) - len(lines[first].lstrip(" "))
    depths = {index: len(lines[index]) - len(lines[index].lstrip(" ")) for index in inside}
    return next((index for index in inside if depths[index] == indent > 0 and _names(lines[index], key)), None)


def _names(line: str, key: str) -> bool:
    """Return whether a line begins with a key, with or without quotes."""
    return re.match(rf"""[ ]*(["']?){re.escape(key)}\1:(\s|$)""", line) is not None
