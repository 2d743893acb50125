"""The frame of a list: what an answer says around its items, and the names that APIs have for it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeAlias

from ..runtime.tool import Tool

MAX_FACTS: Final = 200
"""Properties of an answer that are looked at: more than the frame of a list has."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Names as `letters` writes them, the most telling first.
CURSORS: Final = _words(
    "cursor pagetoken nexttoken nextpagetoken continuationtoken continuation paginationtoken startingafter after "
    "startcursor marker nextcursor pagecursor scrollid exclusivestartkey startkey pageinfo"
)
PAGES: Final = _words("page pagenumber pageno pagenum pageindex currentpage")
OFFSETS: Final = _words("offset skip start startat startindex startposition from")
SIZES: Final = _words("perpage pagesize limit size maxresults pagelimit pagelen itemsperpage count first top take rows")
LAST_ITEMS: Final = _words("startingafter after")
LINKS: Final = frozenset(_words("next nextlink odatanextlink nexturl nextpageurl nextpagelink nexthref nextrecordsurl"))
NEXT: Final = _words(
    "nextcursor nextpagetoken nexttoken nextpage next nextmarker nextcontinuationtoken nextstartingafter nextoffset "
    "endcursor continuationtoken continuation paginationtoken lastevaluatedkey scrollid after cursor marker pagetoken"
)
MORE: Final = frozenset(_words("hasmore hasnext hasnextpage more moreresults istruncated hasmoreitems"))
LAST: Final = frozenset(_words("last islast islastpage done"))
TOTALS: Final = frozenset(_words("total totalcount totalitems totalresults totalelements totalhits totalsize"))
TOTAL_PAGES: Final = frozenset(_words("totalpages pagecount numpages lastpage totalpage"))
CURRENT: Final = _words("page currentpage pagenumber number pageindex")
FRAMES: Final = frozenset(
    _words(
        "links paging pagination meta metadata pageinfo page responsemetadata info cursors next pager resultinfo "
        "data result response"
    )
)
ADDRESSES: Final = _words("href url link")
LISTS: Final = _words(
    "items data results result records entries values value rows content elements objects list hits documents docs "
    "resources member hydramember edges nodes"
)
HOLDERS: Final = _words("embedded data response result results hits page")


Facts: TypeAlias = Sequence[tuple[str, Any]]
"""Values in the frame of a list by names as `letters` writes them, the outermost first."""


def letters(name: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


@dataclass(slots=True)
class ListPage:
    """The answer to one call: the items, and what the frame and the headers say."""

    items: list[Any]
    facts: Facts
    headers: Mapping[str, Any]

    def first(self, names: Iterable[str], kind: type) -> Any:
        """Return the first value of a type under one of some names; None without any. `True` is no number."""
        wanted = frozenset(names)
        values = (value for name, value in self.facts if name in wanted)
        return next((value for value in values if type(value) is kind), None)


def lists(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Yield the lists of an answer, and those of objects that hold one, by their names."""
    for name, part in islice(value.items(), MAX_FACTS):
        if isinstance(part, list):
            yield f"{prefix}{name}", part
        elif isinstance(part, dict) and not prefix and letters(name) in HOLDERS:
            yield from lists(part, f"{name}.")


def facts(value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the values of an object and of the frames in it, the outermost first; of a link's object its URL."""
    if not isinstance(value, dict):
        return
    frames = []
    for key, part in islice(value.items(), MAX_FACTS):
        name = letters(str(key))
        if not isinstance(part, dict | list):
            yield name, part
        elif isinstance(part, dict) and name in FRAMES and depth < 3:
            frames.append((name, part))
    for name, part in frames:
        address = next((part[key] for key in ADDRESSES if isinstance(part.get(key), str)), None)
        if address is not None:
            yield name, address
        yield from facts(part, depth + 1)


def has_pages(tool: Tool) -> bool:
    """Return whether a tool has an argument for a page: a cursor, its number, or that of its first item."""
    names = {letters(each.wire_name or each.name) for each in tool.arguments if each.location in {"query", "body"}}
    return not names.isdisjoint({*CURSORS, *PAGES, *OFFSETS} - {"from", "after", "start"})


def with_list(value: Any, old: list[Any], new: list[Any]) -> Any:
    """Return an answer whose list, in it or in an object of it, is replaced by another one; None without that list."""
    if not isinstance(value, dict):
        return None
    for name, part in value.items():
        if part is old:
            return {**value, name: new}
        if isinstance(part, dict) and any(inner is old for inner in part.values()):
            return {**value, name: {key: new if inner is old else inner for key, inner in part.items()}}
    return None
