"""What a search is answered with: a line for each tool, schemas as far as there is room, the topics of an API.

Written for a model to read: no more than it needs to choose and to call.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from .models import Tool
from .search import Hit
from .types import JsonObject

_MAX_BYTES: Final = 16_000
"""The size of an answer: some 4,000 tokens."""

_LINE: Final = 160
"""Characters that say what a tool does."""

_SCHEMAS: Final = 5
"""Tools that are shown with their inputSchema, where there is room: whoever needs another one asks for it."""

_TOPICS: Final = 600
"""Bytes of the topics in the description of `search_tools`."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a found tool is shown: what it is called by, and whether the form of its result is shown as well."""

    name: Callable[[Tool], str] = lambda tool: tool.name
    results: bool = False


AS_LISTED: Final = Look()
"""By its own name, as it would be listed and called."""


def found(hits: Sequence[Hit], count: int, look: Look = AS_LISTED) -> str:
    """The answer to a search among so many tools: a line for each, and schemas of the first ones, while there is room.

    Lines for which there is no room are counted.
    """
    head = f"{len(hits)} of {count:,} tools, the best first."
    numbered = [_line(number, hit, look.name(hit.tool)) for number, hit in enumerate(hits, 1)]
    lines = list(_fitting(numbered, _MAX_BYTES - _size(head + _FOOT)))
    first = [hit.tool for hit in hits[: min(_SCHEMAS, len(lines))]]
    room = _MAX_BYTES - _size("".join((head, _FOOT, *lines)))
    inputs = list(_fitting((f"\n   input schema: {compact(tool.input_schema)}" for tool in first), room))
    results = [f"\n   result: {compact(tool.output_schema)}" if tool.output_schema else "" for tool in first]
    shown = list(_fitting(results if look.results else (), room - sum(map(_size, inputs))))
    body = ["".join(parts) for parts in zip_longest(lines, inputs, shown, fillvalue="")]
    left = len(hits) - len(lines)
    foot = [f"{left} more have no room here; ask for less at a time."] if left else []
    return "\n".join([head, *body, *foot, *([] if len(inputs) == len(lines) else [_FOOT])])


_FOOT: Final = "describe_tool shows the input schema of the tools that are without one here."


def _fitting(texts: Iterable[str], room: int) -> Iterator[str]:
    """The texts as long as they fit."""
    for text in texts:
        room -= _size(text) + 1
        if room < 0:
            return
        yield text


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))


def _line(number: int, hit: Hit, name: str) -> str:
    tool = hit.tool
    gives = f" Finds `{hit.gives}` for a tool above." if hit.gives else ""
    required = tool.input_schema.get("required", ())
    needs = f" Needs {', '.join(required)}." if required else ""
    return f"{number}. {name}: {_what(tool)} ({tool.method} {tool.path}){gives}{needs}"


def _what(tool: Tool) -> str:
    """What a tool does, in one line: its title, and how its description begins where that says more."""
    paragraphs = [" ".join(text.split()) for text in (tool.title or "", *tool.description.split("\n\n")[:2])]
    title, *described = [text.rstrip(".") for text in paragraphs if text] or [""]
    more = next((text for text in described if text != title), "")
    said = more if more.startswith(title) else f"{title}. {more}" if more else title
    return said if len(said) <= _LINE else said[: _LINE - 1].rstrip() + "…"


def nothing(tools: Iterable[Tool]) -> str:
    """The answer to a search that found nothing."""
    return f"No tool answers to any of these words. Say it in other words.{topics(tools)}"


def topics(tools: Iterable[Tool]) -> str:
    """What the tools are about, as a sentence with how many there are of each: by their tags, else by their paths."""
    counts = Counter(topic for tool in tools for topic in _topics(tool))
    said = ""
    for topic, count in counts.most_common():
        more = f"{said}, {topic} ({count})" if said else f"\n\nTopics: {topic} ({count})"
        if _size(more) > _TOPICS:
            return f"{said}, …"
        said = more
    return said


def _topics(tool: Tool) -> Sequence[str]:
    named = [tag for tag in (" ".join(tag.split()) for tag in tool.tags) if 0 < len(tag) <= _LONGEST_TOPIC]
    fixed = [part for part in tool.path.split("/") if part and "{" not in part and not _COMMON.fullmatch(part)]
    return named or [part for part in fixed[:1] if len(part) <= _LONGEST_TOPIC]


_LONGEST_TOPIC: Final = 40
_COMMON: Final = re.compile(r"api|rest|v?\d+(\.\d+)*", re.IGNORECASE)
"""Segments with which all paths of an API may begin."""


def compact(value: JsonObject) -> str:
    """JSON without blanks, and with letters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
