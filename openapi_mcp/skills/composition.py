"""`compose`: the skill of an API, for a caller who has some of its tools.

It names no tool that the caller lacks, and no value of a credential. The texts of the document are bounded and quoted.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from .. import plain_text
from ..instructions import facts_of, grouped
from ..runtime.request.redaction import redact
from ..runtime.server.catalog import ListedTool
from ..runtime.tool import Tool
from ..runtime.types import Implementation
from . import chapters
from .markdown import inline, quoted, section, size
from .references import OTHERS, references
from .skill import MAIN_FILE, MAX_DESCRIPTION, Skill, SkillFile, frontmatter, slug

MAX_SKILL_BYTES: Final = 8192
"""Bytes of `SKILL.md`, some 2,000 tokens: it is read as a whole as soon as the skill is used."""

MIN_GROUPS_BYTES: Final = 1000
"""Bytes that the groups have at least: the document's own text is cut before them."""

_MAX_OWN_TEXT: Final = 1500
"""Characters of the document's own text."""

_ABOUT_CHANGES: Final = 1
"""The index of the sentence about changes among the facts about tools; those about pages follow."""


def compose(
    about: Implementation, text: str, tools: Sequence[Tool], listed: Sequence[ListedTool], *, read_only: bool = False
) -> Skill:
    """Return the skill of an API. `text` is the document's own, or the one that the server's owner wrote.

    `listed` is what the caller sees in the list; `read_only`: the owner left out tools that change data.
    """
    title = plain_text.line(about.title or about.name)
    name, members = slug(about.name, "api"), _groups(tools)
    description = _description(title, redact(about.description or ""), members)
    files = references(members)
    facts = facts_of(tools, read_only=read_only)
    head = f"{frontmatter(name, description)}\n# {inline(title, 120)}\n\n"
    after = [
        chapters.workflows(listed),
        chapters.access(listed),
        section("Pages", facts[_ABOUT_CHANGES + 1 :]),
        chapters.changes(tools, facts[_ABOUT_CHANGES]),
        chapters.credentials(tools),
        chapters.limits(text, tools),
        chapters.errors(),
    ]
    tail = _fitting(after, MAX_SKILL_BYTES - size(head) - MIN_GROUPS_BYTES)
    room = MAX_SKILL_BYTES - size(head) - size(tail) - 1
    own = _own_text(text.removeprefix(title).lstrip() or about.description or "", room - MIN_GROUPS_BYTES)
    shown = chapters.groups(members, files, room - size(own) - 1)
    whole = head + "\n".join(filter(None, (own, shown, tail)))
    return Skill(name, description, (SkillFile(MAIN_FILE, title, whole), *files.values()))


def _groups(tools: Sequence[Tool]) -> dict[str, list[Tool]]:
    """Return the groups of the tools, the last of which are the tools that belong to none."""
    members = grouped(tools)
    in_groups = {tool.name for each in members.values() for tool in each}
    rest = [tool for tool in tools if tool.name not in in_groups]
    return {**members, OTHERS: [*members.get(OTHERS, ()), *rest]} if rest else members


def _description(title: str, about: str, members: Mapping[str, Sequence[Tool]]) -> str:
    """Return what the skill is for and when to load it, without the brackets of markup."""
    topics = plain_text.line(", ".join(members), MAX_DESCRIPTION // 4)
    sentences = (
        f"How to use the tools of {title}",
        plain_text.line(about, MAX_DESCRIPTION // 2),
        f"Load it before work with these tools{f', which are about: {topics}' if topics else ''}",
    )
    text = " ".join(each if each.endswith(_SENTENCE_ENDS) else f"{each}." for each in sentences if each)
    return plain_text.line(text.translate(_NO_BRACKETS), MAX_DESCRIPTION)


_SENTENCE_ENDS: Final = (".", "!", "?", "…")
_NO_BRACKETS: Final = str.maketrans("<>", "  ")


def _own_text(text: str, room: int) -> str:
    """Return the document's own text as a quotation, in at most `room` bytes; empty where there is too little room."""
    limit = _MAX_OWN_TEXT
    while text and limit >= _MIN_OWN_TEXT:
        shown = f"The API says of itself:\n\n{quoted(text, limit)}\n"
        if size(shown) <= room:
            return shown
        limit //= 2
    return ""


_MIN_OWN_TEXT: Final = 60
"""Characters of the document's own text that are worth a quotation."""


def _fitting(sections: Sequence[str], room: int) -> str:
    """Return the sections one after the other, without those for which no room is left."""
    kept: list[str] = []
    for each in filter(None, sections):
        if size(each) + 1 <= room:
            kept.append(each)
            room -= size(each) + 1
    return "\n".join(kept)
