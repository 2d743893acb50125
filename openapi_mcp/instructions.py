"""The server's instructions: what the API is, its groups of tools, what changes data, how to search and to page.

They are made from the document and its tools, the same on every run; the document's own text follows as far as the
limit allows. Specification: MCP lifecycle ("Initialization", `instructions`).
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from . import plain_text, regular_files
from .compilation import DocumentInfo
from .errors import UsageError
from .runtime.tool import Tool

MAX_OVERVIEW: Final = 900
"""Bytes of what is said about the tools: less than 300 tokens, since clients put them before every conversation. Names
with numbers take a token for three bytes."""

MAX_OWN_TEXT: Final = 20_000
"""Characters of instructions that a user writes: 5,000 tokens before every conversation are a mistake."""

_MAX_GROUPS: Final = 240
"""Bytes of the groups."""

_MAX_GROUP: Final = 40
"""Characters of a group's name; a longer tag or path segment is none."""

_MAX_DEPTH: Final = 4
"""Segments of paths that are tried for groups, where all tools are of one: `/mail/v1/users/{id}/messages`."""

_MAX_PAGING: Final = 2
"""Ways of paging that are described; an API with more has them in its tools."""


class Instructions(NamedTuple):
    """The instructions, and the characters that they would have without a limit."""

    text: str | None
    length: int


def instructions(info: DocumentInfo, overview: str, limit: int) -> Instructions:
    """Return the overview and the document's own text within `limit` characters; links of the document stay."""
    own, links = _own_text(info), info.instructions_links
    parts = [overview, own, links]
    whole = "\n\n".join(part for part in parts if part)
    lost = info.instructions_length - len(info.instructions or "")
    if len(whole) > limit:
        free = limit - len(overview) - 2
        if links and len(links) + 2 <= free // 2:
            own = plain_text.trim(own, free - len(links) - 2)
        else:
            own, links = plain_text.trim(own, free) if own and free > 0 else "", ""
        parts = [overview if free >= -2 else plain_text.trim(overview, limit), own, links]
    text = "\n\n".join(part for part in parts if part)[:limit]
    return Instructions(text or None, len(whole) + lost)


def _own_text(info: DocumentInfo) -> str:
    """Return the document's own text without its heading, its links, and what the overview has of it."""
    text = (info.instructions or "").removesuffix(info.instructions_links).rstrip()
    text = text.removeprefix(info.implementation.title or "").lstrip()
    first = info.implementation.description or ""
    paragraph, _, rest = text.partition("\n\n")
    if " ".join(paragraph.split()) == first:
        return rest
    begun = first.removesuffix(" …")
    return f"… {text.removeprefix(begun).lstrip()}" if begun != first and text.startswith(begun) else text


def overview(title: str, description: str, facts: Sequence[str], listed: str = "") -> str:
    """Return what a model should know before it looks at the tools, in at most MAX_OVERVIEW bytes.

    `facts` are those of `facts_of`; `listed` says how tools are found that are not listed.
    """
    name = title.rstrip(".")
    first = f"{name}: {description}" if description and description != title else f"{name}."
    kept = [line for line in (first, *facts[:_ABOUT_ALL], listed, *facts[_ABOUT_ALL:]) if line]
    while len(kept) > 1 and len("\n".join(kept).encode(errors="replace")) > MAX_OVERVIEW:
        kept.pop()
    return "\n".join(kept)


_ABOUT_ALL: Final = 2
"""Facts that stand before the search: groups and effects."""


def facts_of(tools: Sequence[Tool], *, read_only: bool = False) -> tuple[str, ...]:
    """Return sentences about the tools: groups, what they change, how they page.

    `read_only`: the user left out those that change data.
    """
    return (_groups(tools), _effects(tools, read_only=read_only), *_paging(tools))


SEARCHED: Final = (
    "The tools are not listed: `search_tools` finds them by a task in plain words or by topic, `call_tool` calls one."
)
PROGRAMMED: Final = (
    "The tools are not listed: `search_tools` finds them by a task in plain words or by topic, programs call them in "
    "`run_code`."
)
"""Instructions for search mode and for code mode."""


def _groups(tools: Sequence[Tool]) -> str:
    """Return the number of tools, and of each group, the largest first."""
    groups = grouped(tools)
    head = f"{len(tools):,} tool{'' if len(tools) == 1 else 's'}"
    listed = ""
    for number, (group, members) in enumerate(groups.items()):
        part = f"{', ' if listed else ''}{group} ({len(members):,})"
        if len((listed + part).encode(errors="replace")) > _MAX_GROUPS:
            listed += f" and {len(groups) - number:,} more"
            break
        listed += part
    return f"{head}; groups: {listed}." if len(groups) > 1 else f"{head}."


def grouped(tools: Sequence[Tool]) -> dict[str, list[Tool]]:
    """Return the tools of each group, the largest group first: by tags, else by the words of their paths.

    A tool may be in several groups, or in none.
    """
    first = groups = _by_group(tools, _groups_of)
    for depth in range(1, _MAX_DEPTH):
        if len(groups) > 1 or len(tools) < 2:
            break
        groups = _by_group(tools, partial(_segment, depth=depth))
    groups = groups if len(groups) > 1 else first
    return dict(sorted(groups.items(), key=lambda each: (-len(each[1]), each[0])))


def _by_group(tools: Sequence[Tool], groups_of: Callable[[Tool], Collection[str]]) -> dict[str, list[Tool]]:
    groups: dict[str, list[Tool]] = {}
    for tool in tools:
        for group in groups_of(tool):
            groups.setdefault(group, []).append(tool)
    return groups


def _segment(tool: Tool, *, depth: int) -> Collection[str]:
    """Return a segment of a tool's path, if it has so many."""
    return _segments(tool)[depth : depth + 1]


_PREFIX_SEGMENT: Final = re.compile(r"api|rest|v?\d+(\.\d+)*", re.IGNORECASE)
"""A segment with which all paths of an API may begin."""


def _groups_of(tool: Tool) -> Collection[str]:
    """Return the groups of a tool: its tags, else the first segment of its path that names something."""
    tags = [tag for tag in map(_line, tool.tags) if 0 < len(tag) <= _MAX_GROUP]
    return dict.fromkeys(tags) or _segments(tool)[:1]


@lru_cache(1024)
def _line(tag: str) -> str:
    return plain_text.line(tag, _MAX_GROUP + 1)


@lru_cache(4096)
def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name)).lower()


def _segments(tool: Tool) -> list[str]:
    """Return the segments of a tool's path that name something."""
    parts = (part for part in tool.path.split("/") if part and "{" not in part and not _PREFIX_SEGMENT.fullmatch(part))
    return [part for part in parts if len(part) <= _MAX_GROUP]


def _effects(tools: Sequence[Tool], *, read_only: bool) -> str:
    """Return how many tools read, change and destroy."""
    changing = [tool for tool in tools if not tool.annotations.get("readOnlyHint")]
    destructive = sum(tool.annotations.get("destructiveHint", False) for tool in changing)
    if not tools:
        return ""
    if not changing:
        return "They only read" + (": those that change data are left out (`--read-only`)." if read_only else ".")
    some = f", {destructive:,} of these replace or delete" if destructive else ""
    return f"{len(tools) - len(changing):,} only read; {len(changing):,} change data{some}."


_PAGES: Final = frozenset("page pagenumber pageno pageindex pagenum".split())  # noqa: SIM905 (a list of words)
_OFFSETS: Final = frozenset("offset skip startat startindex".split())  # noqa: SIM905
_CURSOR_WORDS: Final = (
    "cursor pagetoken nexttoken nextcursor nextpagetoken startingafter continuationtoken continuation paginationtoken "
    "marker bookmark pageafter startcursor scrollid"
)
_CURSORS: Final = frozenset(_CURSOR_WORDS.split())
_SIZES: Final = (
    "perpage",
    "pagesize",
    "limit",
    "size",
    "maxresults",
    "pagelen",
    "itemsperpage",
    "top",
    "take",
    "count",
)
"""Names of arguments that page, in lower case, letters only."""


class _Paging(NamedTuple):
    kind: str
    argument: str
    size: str


def _paging(tools: Iterable[Tool]) -> Iterator[str]:
    """Yield a sentence about the ways of paging that most tools have, with the names of their arguments."""
    ways: Counter[_Paging] = Counter()
    largest: dict[str, Counter[int]] = {}
    has_links = False
    for tool in tools:
        names = {_letters(each.name): each.name for each in tool.arguments}
        size = next((names[name] for name in _SIZES if name in names), "")
        for kind, known in (("cursor", _CURSORS), ("page", _PAGES), ("offset", _OFFSETS)):
            if argument := next((own for name, own in names.items() if name in known), ""):
                ways[_Paging(kind, argument, size)] += 1
                has_links = has_links or "link" in tool.response_headers
                most = tool.input_schema.get("properties", {}).get(size)
                if isinstance(most, dict) and isinstance(most.get("maximum"), int):
                    largest.setdefault(size, Counter())[most["maximum"]] += 1
                break
    chosen: dict[str, _Paging] = {}
    for way, _ in sorted(ways.items(), key=lambda each: (-each[1], each[0])):
        chosen.setdefault(way.kind, way)
    phrases = [_phrase(way, largest.get(way.size)) for way in islice(chosen.values(), _MAX_PAGING)]
    if phrases:
        links = " The line `Headers:` of an answer shows its next page." if has_links else ""
        yield f"Lists come in pages: {'; or '.join(phrases)}.{links}"


def _phrase(way: _Paging, largest: Counter[int] | None) -> str:
    most = f" (at most {max(largest.items(), key=lambda each: (each[1], each[0]))[0]})" if largest else ""
    size = f", `{way.size}`{most} its size" if way.size else ""
    if way.kind == "cursor":
        return f"`{way.argument}` is the cursor that the page before gave{size}"
    if way.kind == "offset":
        return f"`{way.argument}` is the number of items before the page{size}"
    return f"`{way.argument}` is the page's number{size}"


def read_own(text: str) -> str:
    """Return the instructions that a user gave: the text, or after `@` the content of a file. Raises UsageError."""
    if text.startswith("@"):
        path = Path(text[1:])
        try:
            text = regular_files.read_regular(path, 4 * MAX_OWN_TEXT).decode("utf-8-sig")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or getattr(error, "reason", None) or error
            message = f"the instructions cannot be read: {reason}"
            raise UsageError(message, where=f"--instructions @{path}", hint="name a text file") from None
    cleaned = plain_text.clean(text)
    if len(cleaned) > MAX_OWN_TEXT:
        message = f"the instructions have {len(cleaned):,} characters, more than {MAX_OWN_TEXT:,}"
        raise UsageError(
            message, where="--instructions", hint="clients put them before every conversation: shorten them"
        )
    return cleaned
