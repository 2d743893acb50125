"""Edits of TOML text: a table is added at the end or removed; all other bytes stay. Specification: TOML 1.0."""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any, Final

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def parsed(text: str) -> Any:
    """Return the value of a text; None of an empty one. Raises ValueError."""
    return tomllib.loads(text) if text.strip() else None


def put(text: str, path: Sequence[str], key: str, value: Any) -> str:
    """Return the text with a new table at its end."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text.strip() else line_end if text.endswith("\n") else line_end * 2
    lines = [_header(path, key), *(f"{bare_key(name)} = {literal(item)}" for name, item in value.items())]
    return text + gap + line_end.join(lines) + line_end


def removals(text: str, path: Sequence[str], key: str) -> Iterator[str]:
    """Yield the texts without a table: with the blank line before it, without that, and without the line end there.

    A line of a text may look like the header of the table; what its removal yields is another value or no TOML.
    """
    lines = text.splitlines(keepends=True)
    headers = {_header(path, key), f"[{'.'.join([*path, json.dumps(key)])}]"}
    for index, line in enumerate(lines):
        if line.strip() in headers:
            yield from _without(lines, index)


def _without(lines: Sequence[str], first: int) -> Iterator[str]:
    """Yield the texts without the table whose header is a line."""
    last = end = first + 1
    while end < len(lines) and not lines[end].startswith("["):
        end += 1
        if lines[end - 1].strip() and not lines[end - 1].startswith("#"):
            last = end
    before, after = "".join(lines[:first]), "".join(lines[last:])
    shorter = before[: -len(_line_end(before))] if before.endswith(("\n\n", "\r\n\r\n")) else before
    yield shorter + after
    yield before + after
    if shorter and not after:
        yield shorter[: -len(_line_end(shorter))]


def _line_end(text: str) -> str:
    return "\r\n" if text.endswith("\r\n") else "\n"


def _header(path: Sequence[str], key: str) -> str:
    return f"[{'.'.join(map(bare_key, [*path, key]))}]"


def bare_key(name: str) -> str:
    """Return a key as TOML: in quotes where it has other characters than letters, digits, - and _."""
    return name if _BARE.fullmatch(name) else literal(name)


def literal(value: Any) -> str:
    """Return a value as TOML: texts as JSON writes them, which TOML reads alike, save DEL."""
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{bare_key(name)} = {literal(item)}" for name, item in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
