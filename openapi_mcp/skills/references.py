"""The files `references/GROUP.md` of a skill: the tools of one group, each with a line about it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from .. import plain_text
from ..runtime.tool import Tool
from .markdown import inline, size
from .skill import SkillFile, slug

FOLDER: Final = "references"

MAX_REFERENCES: Final = 100
"""Files of groups, with `SKILL.md` fewer than the 512 that the extension lets a skill have."""

MAX_REFERENCE_BYTES: Final = 32_768
"""Bytes of a file, some 8,000 tokens: it is read as a whole."""

_MAX_LINE: Final = 160
"""Characters about a tool; its description says the rest."""

OTHERS: Final = "others"
"""The group of tools that have neither a tag nor a word in their path."""


def references(groups: Mapping[str, Sequence[Tool]]) -> dict[str, SkillFile]:
    """Return the files of the first groups, by group."""
    files: dict[str, SkillFile] = {}
    taken: set[str] = set()
    for group, tools in list(groups.items())[:MAX_REFERENCES]:
        name = _free(slug(group, "group"), taken)
        taken.add(name)
        title = f"The tools of {plain_text.line(group, 100)}"
        files[group] = SkillFile(f"{FOLDER}/{name}.md", title, _text(group, tools))
    return files


def _free(name: str, taken: set[str]) -> str:
    """Return a name that no other file has."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


def _text(group: str, tools: Sequence[Tool]) -> str:
    head = f"# {inline(group, 100)}\n\n"
    room = MAX_REFERENCE_BYTES - size(head) - _ROOM_FOR_REST
    lines = list(_fitting(map(_line, tools), room))
    rest = len(tools) - len(lines)
    more = f"- and {rest:,} more, which the list or the search of the server shows\n" if rest else ""
    return head + "".join(lines) + more


_ROOM_FOR_REST: Final = 100
"""Bytes for the line that says how many tools are left out."""


def _fitting(lines: Iterable[str], room: int) -> Iterator[str]:
    """Yield lines as long as they fit into so many bytes."""
    for line in lines:
        room -= size(line)
        if room < 0:
            return
        yield line


def _line(tool: Tool) -> str:
    """Return a line with a tool's name, what it does, and a warning where it changes data or is deprecated."""
    about = plain_text.sentence(tool.description, _MAX_LINE) or tool.description
    notes = "".join(f" ({note})" for note in _notes(tool))
    return f"- `{tool.name}`{notes}: {inline(about, _MAX_LINE)}\n"


def _notes(tool: Tool) -> Iterator[str]:
    if not tool.annotations.get("readOnlyHint"):
        yield "replaces or deletes data" if tool.annotations.get("destructiveHint") else "changes data"
    if tool.deprecated:
        yield "deprecated"
