"""Reports of a comparison: text for a terminal, lines with tabs for a pipe, JSON, and Markdown for a pull request.

A change that many tools share, such as that of a common schema, is one entry with the names of these tools.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from ..runtime.types import JsonObject
from .changes import Comparison, ToolChange

MAX_NAMES: Final = 5
"""Tools that are named in an entry of several."""

MAX_ENTRIES: Final = 1_000
"""Entries in Markdown: a comment on a pull request has 65,536 characters at most on GitHub, and nobody reads more."""


class _Entry(NamedTuple):
    """A change and the names of all tools that have it."""

    change: ToolChange
    tools: Sequence[str]

    @property
    def subject(self) -> str:
        """The tools and the place of the change."""
        more = f" and {len(self.tools) - MAX_NAMES} more" if len(self.tools) > MAX_NAMES else ""
        return ", ".join(self.tools[:MAX_NAMES]) + more


def as_text(comparison: Comparison) -> Iterator[str]:
    """Yield the lines of a report for people."""
    yield _headline(comparison)
    for title, entries in _sections(comparison):
        yield ""
        yield f"{title}:"
        for entry in entries:
            place = f" {entry.change.place}" if entry.change.place else ""
            yield f"  {entry.subject}{place}: {entry.change.sentence}"
    if comparison.omitted:
        yield ""
        yield "There are more changes, for which there is no room."


def as_rows(comparison: Comparison) -> Iterator[str]:
    """Yield a line for each change, with tabs between its fields."""
    for change in comparison.changes:
        verdict = "breaking" if change.is_breaking else "compatible"
        fields = (verdict, change.kind, change.tool, change.operation, change.place, change.before, change.after)
        yield "\t".join(fields)


def as_json(comparison: Comparison) -> JsonObject:
    """Return the comparison as a JSON object."""
    return {
        "old": {"document": comparison.old, "tools": comparison.old_tools},
        "new": {"document": comparison.new, "tools": comparison.new_tools},
        "breaking": comparison.breaking,
        "compatible": len(comparison.changes) - comparison.breaking,
        "complete": not comparison.omitted,
        "changes": [_change_json(change) for change in comparison.changes],
    }


def _change_json(change: ToolChange) -> JsonObject:
    fields: dict[str, Any] = {
        "kind": change.kind,
        "breaking": change.is_breaking,
        "tool": change.tool,
        "operation": change.operation,
        "place": change.place,
        "before": change.before,
        "after": change.after,
        "text": change.sentence,
    }
    return {name: value for name, value in fields.items() if value != ""}


def as_markdown(comparison: Comparison) -> Iterator[str]:
    """Yield the lines of a report for a pull request. No text of a document is read as Markdown or HTML there."""
    yield f"### Tools: {_escaped(_headline(comparison))}"
    free = MAX_ENTRIES
    for title, entries in _sections(comparison):
        yield ""
        yield f"**{title}**"
        yield ""
        yield "| tool | where | change |"
        yield "|---|---|---|"
        for entry in entries[:free]:
            cells = (entry.subject, entry.change.place, entry.change.sentence)
            yield f"| {' | '.join(map(_escaped, cells))} |"
        free -= min(free, len(entries))
    if comparison.omitted or not free:
        yield ""
        yield "There are more changes, for which there is no room."


_MARKUP: Final = str.maketrans(
    {character: f"\\{character}" for character in "\\`*_[]<>|~#!"} | {"&": "&amp;", "@": "&#64;"}
)


def _escaped(text: str) -> str:
    return text.translate(_MARKUP)


def _headline(comparison: Comparison) -> str:
    others = len(comparison.changes) - comparison.breaking
    counts = f"{comparison.old_tools:,} → {comparison.new_tools:,} tools"
    if not comparison.changes:
        return f"{counts}, no changes"
    breaking = f"{comparison.breaking:,} breaking change{'' if comparison.breaking == 1 else 's'}"
    return f"{counts}, {breaking}, {others:,} other{'' if others == 1 else 's'}"


def _sections(comparison: Comparison) -> Iterator[tuple[str, list[_Entry]]]:
    for title, is_breaking in (("Breaking", True), ("Other changes", False)):
        entries = _entries([change for change in comparison.changes if change.is_breaking == is_breaking])
        if entries:
            yield title, entries


def _entries(changes: Sequence[ToolChange]) -> list[_Entry]:
    """Return the changes with those that differ in their tools alone as one; changes of whole tools stay apart."""
    groups: dict[tuple[str, ...], list[ToolChange]] = {}
    for change in changes:
        own = "" if change.place or change.kind == "base-url-changed" else change.operation
        groups.setdefault((change.kind, change.place, change.before, change.after, own), []).append(change)
    return [_Entry(group[0], list(dict.fromkeys(change.tool for change in group))) for group in groups.values()]
