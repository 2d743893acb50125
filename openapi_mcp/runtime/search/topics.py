"""`Topics`: the tags of an API, or where there are none the beginnings of paths, by which tools are browsed.

A topic is also any beginning of a path: `/repos/{owner}/{repo}/branches`, with or without a first slash. Lists are in
pages, in the order of the paths.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ..tool import Tool
from .answers import MAX_ANSWER, entry_line, fitting, size

TOPICS_PER_PAGE: Final = 50
"""Topics of a page, at 20 tokens each."""

TOOLS_PER_PAGE: Final = 25
"""Tools of a page without another limit, at 40 tokens each."""

_MAX_SENTENCE: Final = 600
"""Bytes of the topics in the description of `search_tools`."""

_MAX_TOPIC: Final = 40
"""Characters of a topic; a longer tag or path segment is not one."""

_MAX_EXAMPLES: Final = 3
_MAX_EXAMPLE: Final = 50
"""Characters of a tool's title as an example of a topic."""

_PREFIX_SEGMENT: Final = re.compile(r"api|rest|v?\d+(\.\d+)*", re.IGNORECASE)
"""A segment with which all paths of an API may begin."""


def topics(tools: Iterable[Tool]) -> str:
    """Return the topics of the tools as a sentence with the number of tools of each, the most frequent first.

    The topics of a tool are its tags; a tool without tags has the beginning of its path.
    """
    counts = Counter(topic for tool in tools for topic in topics_of(tool))
    sentence = ""
    for topic, count in counts.most_common():
        longer = f"{sentence}, {topic} ({count})" if sentence else f"\n\nTopics: {topic} ({count})"
        if size(longer) > _MAX_SENTENCE:
            return f"{sentence}, …"
        sentence = longer
    return sentence


def topics_of(tool: Tool) -> Sequence[str]:
    """Return the topics of a tool; none if its tags and its path have no name that is short enough."""
    tags = [tag for tag in (" ".join(tag.split()) for tag in tool.tags) if 0 < len(tag) <= _MAX_TOPIC]
    fixed = [part for part in tool.path.split("/") if part and "{" not in part and not _PREFIX_SEGMENT.fullmatch(part)]
    return tags or [part for part in fixed[:1] if len(part) <= _MAX_TOPIC]


class Topics:
    """The topics of some tools."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = sorted(tools, key=lambda tool: (tool.path.split("/"), tool.method))
        self._by_topic: dict[str, list[Tool]] = {}
        for tool in self._tools:
            for topic in topics_of(tool):
                self._by_topic.setdefault(topic, []).append(tool)

    def tools(self, topic: str) -> list[Tool]:
        """Return the tools of a topic: of the tag, in whatever case, else of the paths that begin with it."""
        plain = " ".join(topic.casefold().split())
        names = [name for name in self._by_topic if name.casefold() == plain]
        if names:
            return [tool for name in names for tool in self._by_topic[name]]
        parts = _segments(topic)
        return [tool for tool in self._tools if parts and _begins(_segments(tool.path), parts)]

    def counted(self) -> list[tuple[str, Sequence[Tool], list[str]]]:
        """Return each topic, its tools and what some of them do; topics of many tools come first."""
        ranked = sorted(self._by_topic.items(), key=lambda each: (-len(each[1]), each[0]))
        return [(topic, tools, list(_examples(tools))) for topic, tools in ranked]

    def page(self, number: int, limit: int = TOPICS_PER_PAGE) -> str:
        """Return a page of the topics, each on a line with its number of tools and examples of them."""
        lines = [f"- {topic} ({len(tools)}): {'; '.join(examples)}" for topic, tools, examples in self.counted()]
        hint = "search_tools with a `topic` lists its tools."
        return _page(f"{len(lines):,} topics", lines, number, limit, hint)

    def tools_page(self, topic: str, number: int, limit: int, names: dict[str, str]) -> str:
        """Return a page of the tools of a topic; `names` are those that they are called by."""
        tools = self.tools(topic)
        if not tools:
            return self.unknown(topic)
        lines = [f"- {entry_line(tool, names.get(tool.name, tool.name))}" for tool in tools]
        return _page(
            f"{len(lines):,} tools of {topic}", lines, number, limit, "describe_tool shows the arguments of one."
        )

    def unknown(self, topic: str) -> str:
        """Return a sentence about a topic without tools, with those that are nearest to it."""
        from ..arguments.spelling import did_you_mean

        hint = did_you_mean(topic, self._by_topic, str) or ". An empty query lists the topics."
        return f"There is no topic {topic[:100]!r}, and no path begins with it{hint}"


def _page(heading: str, lines: Sequence[str], number: int, limit: int, hint: str) -> str:
    """Return a page of lines under a heading that says which page it is, and how the next one is asked for."""
    pages = max(-(-len(lines) // limit), 1)
    first = (min(number, pages) - 1) * limit
    shown = list(fitting(lines[first : first + limit], MAX_ANSWER))
    missing = min(limit, len(lines) - first) - len(shown)
    where = f", page {min(number, pages)} of {pages}" if pages > 1 else ""
    more = f" page={number + 1} shows more." if number < pages else ""
    cut = [f"{missing} more did not fit; use a smaller limit."] if missing else []
    return "\n".join([f"{heading}{where}. {hint}{more}", *shown, *cut])


def _examples(tools: Sequence[Tool]) -> Iterator[str]:
    """Yield what a few tools do: those with the shortest paths."""
    from .schema_types import first_sentence

    first = sorted(tools, key=lambda tool: (tool.path.count("/"), tool.path, tool.method))[:_MAX_EXAMPLES]
    titles = (first_sentence(tool.title or tool.description or tool.name, _MAX_EXAMPLE) for tool in first)
    yield from dict.fromkeys(title.removesuffix("…") for title in titles)


def _segments(path: str) -> list[str]:
    parts = [part.casefold() for part in path.strip().split("/") if part]
    return ["{}" if part.startswith("{") else part for part in parts]


def _begins(path: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether a path begins with these segments; fixed ones that all paths may have can be left out."""
    for start, part in enumerate(path):
        if list(path[start : start + len(parts)]) == list(parts):
            return True
        if not _PREFIX_SEGMENT.fullmatch(part):
            return False
    return False
