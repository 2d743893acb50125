"""`PageReader`: the pages of a list, one call after the other: the items of a page, and the arguments of the next one.

APIs tell the next page in many ways. They are tried in this order, and the one that the first page tells holds for all:
the header Link (RFC 8288), a link in the body, a cursor in the body, a statement that there is more with the last
item's id, and at last the number of the page or of its first item. A link is read for the arguments that it has; its
address is never called. What cannot be followed is said, and so is which limit ended the list.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from ..runtime.result.headers import MAX_LINK
from ..runtime.tool import Argument, Tool

DEFAULT_LIMIT: Final = 1000
"""Items that `paginate` returns unless the program asks for more or less."""

MAX_LIMIT: Final = 10_000

_MAX_PAGE_SIZE: Final = 1000
"""Items that are asked for in one call, where the document allows as many."""

_MAX_FACTS: Final = 200
"""Properties of an answer that are looked at: more than the frame of a list has."""

_MAX_PAIRS: Final = 100
"""Pairs of a link's query that are read."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Names as `_letters` writes them, the most telling first.
_CURSORS: Final = _words(
    "cursor pagetoken nexttoken nextpagetoken continuationtoken continuation paginationtoken startingafter after "
    "startcursor marker nextcursor pagecursor scrollid exclusivestartkey startkey pageinfo"
)
_PAGES: Final = _words("page pagenumber pageno pagenum pageindex currentpage")
_OFFSETS: Final = _words("offset skip start startat startindex startposition from")
_SIZES: Final = _words(
    "perpage pagesize limit size maxresults pagelimit pagelen itemsperpage count first top take rows"
)
_LAST_ITEMS: Final = _words("startingafter after")
_LINKS: Final = frozenset(
    _words("next nextlink odatanextlink nexturl nextpageurl nextpagelink nexthref nextrecordsurl")
)
_NEXT: Final = _words(
    "nextcursor nextpagetoken nexttoken nextpage next nextmarker nextcontinuationtoken nextstartingafter nextoffset "
    "endcursor continuationtoken continuation paginationtoken lastevaluatedkey scrollid after cursor marker pagetoken"
)
_MORE: Final = frozenset(_words("hasmore hasnext hasnextpage more moreresults istruncated hasmoreitems"))
_LAST: Final = frozenset(_words("last islast islastpage done"))
_TOTALS: Final = frozenset(_words("total totalcount totalitems totalresults totalelements totalhits totalsize"))
_TOTAL_PAGES: Final = frozenset(_words("totalpages pagecount numpages lastpage totalpage"))
_CURRENT: Final = _words("page currentpage pagenumber number pageindex")
_FRAMES: Final = frozenset(
    _words(
        "links paging pagination meta metadata pageinfo page responsemetadata info cursors next pager resultinfo "
        "data result response"
    )
)
_ADDRESSES: Final = _words("href url link")
_LISTS: Final = _words(
    "items data results result records entries values value rows content elements objects list hits documents docs "
    "resources member hydramember edges nodes"
)
_HOLDERS: Final = _words("embedded data response result results hits page")

_DEEP: Final = re.compile(r"([^\[\]]+)\[([^\[\]]+)\]")

Arguments: TypeAlias = dict[str, Any]
_Facts: TypeAlias = Sequence[tuple[str, Any]]
"""What the frame of a list says: values by names as `_letters` writes them, the outermost first."""


class PagingError(Exception):
    """A list whose pages cannot be read, for the reason in the message."""


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


@dataclass(slots=True)
class _Page:
    """The answer to one call: the items, and what the frame and the headers say."""

    items: list[Any]
    facts: _Facts
    headers: Mapping[str, Any]

    def first(self, names: Iterable[str], kind: type) -> Any:
        """Return the first value of a type under one of some names; None without any. `True` is no number."""
        wanted = frozenset(names)
        values = (value for name, value in self.facts if name in wanted)
        return next((value for value in values if type(value) is kind), None)


class PageReader:
    """The pages of one list. `arguments` are those of the next call; None at the end, which `end` explains."""

    def __init__(self, tool: Tool, arguments: Mapping[str, Any], limit: int = DEFAULT_LIMIT) -> None:
        self.items: list[Any] = []
        self.pages = 0
        self.end = ""
        self.tool = tool
        self._limit = limit
        self.arguments: Arguments | None = self._with_page_size(dict(arguments))
        self._sent = self._first = self.arguments
        self._base: int | None = None
        self._key: str = ""
        self._way: Callable[[Arguments, _Page], Arguments | None] | None = None
        self._last_items: list[Any] = []
        self._seen: set[str] = set()

    def add(self, value: Any, headers: Mapping[str, Any]) -> None:
        """Add the page that is the answer to a call with `arguments`. Raises PagingError for one without a list."""
        assert self.arguments is not None  # noqa: S101 - there is a next page
        told = [(_letters(name).removeprefix("x"), text) for name, text in headers.items() if isinstance(text, str)]
        page = _Page(self._items_of(value), [*islice(_facts(value), _MAX_FACTS), *told], headers)
        self.pages += 1
        if self.pages > 1 and page.items and page.items == self._last_items:
            self._stop("the API returned the same page again")
            return
        self._last_items = page.items
        self.items += page.items
        following = self._next(self.arguments, page)
        if len(self.items) > self._limit:
            del self.items[self._limit :]
            self._stop(f"limit={self._limit} is reached, and there is more")
        elif following is None:
            self._stop(self.end or "that was the last page")
        elif len(self.items) == self._limit:
            self._stop(f"limit={self._limit} is reached, and there may be more", following)
        elif (state := repr(sorted(self._new(following, self._first).items()))) in self._seen:
            self._stop("the API named a page again that was read before")
        else:
            self._seen.add(state)
            self._sent, self.arguments = self.arguments, following

    def interrupt(self, reason: str) -> None:
        """End before the next page for a reason of the caller."""
        following, self.arguments = self.arguments, self._sent
        self._stop(reason, following)

    def _stop(self, reason: str, following: Arguments | None = None) -> None:
        """End before the next page; `following` are its arguments, of which the reason names those that are new."""
        new = self._new(following or {}, self.arguments)
        names = ", ".join(f"{name}={str(value)[:100]}" for name, value in new.items())
        self.end = f"{reason}; the next page has {names}" if names else reason
        self.arguments = None

    @staticmethod
    def _new(following: Arguments, before: Arguments | None) -> Arguments:
        """Return the arguments that differ from those of another call."""
        return {name: value for name, value in following.items() if (before or {}).get(name) != value}

    def summary(self, name: str) -> str:
        """Return a sentence about what was read and where it ended."""
        return f"paginate({name}): {_count(len(self.items), 'item')} of {_count(self.pages, 'page')}; {self.end}."

    def _with_page_size(self, arguments: Arguments) -> Arguments:
        """Ask for pages as large as the document allows, unless the program chose."""
        size = self._argument(_SIZES)
        largest = self._schema(size).get("maximum") if size else None
        if size is None or size.name in arguments or not isinstance(largest, int) or largest < 1:
            return arguments
        return {**arguments, size.name: min(largest, self._limit, _MAX_PAGE_SIZE)}

    def _next(self, sent: Arguments, page: _Page) -> Arguments | None:
        """Return the arguments of the next page; None if this was the last one, or it cannot be told."""
        if self._says_end(page):
            return None
        ways = [self._way] if self._way else [self._by_header, self._by_link, self._by_cursor, self._by_number]
        for way in ways:
            if following := way(sent, page):
                self._way = way
                return following
            if self.end:
                return None
        if not self._way and page.first(_MORE, bool):
            self.end = "the API says that there is more, but not how to ask for it"
        return None

    def _says_end(self, page: _Page) -> bool:
        """Return whether an answer says that it is the last page."""
        if page.first(_MORE, bool) is False or page.first(_LAST, bool) is True:
            return True
        links = page.headers.get("link", {})
        if "next" not in links and ({"prev", "previous"} & links.keys()):
            return True
        is_named = [value for name, value in page.facts if name in _LINKS or (name in _NEXT and "next" in name)]
        return bool(is_named) and all(value in (None, "", False) for value in is_named)

    def _by_header(self, sent: Arguments, page: _Page) -> Arguments | None:
        link = page.headers.get("link", {}).get("next", "")
        return self._from_link(sent, link) if link else None

    def _by_link(self, sent: Arguments, page: _Page) -> Arguments | None:
        texts = (value for name, value in page.facts if name in _LINKS and isinstance(value, str))
        link = next((text for text in texts if "?" in text), "")
        return self._from_link(sent, link) if link else None

    def _from_link(self, sent: Arguments, link: str) -> Arguments | None:
        """Return the arguments that a link has, beside those that were sent. Notes if none of them is new."""
        if len(link) >= MAX_LINK:
            self.end = f"the link to the next page has more than {MAX_LINK} characters"
            return None
        following = dict(sent)
        pairs = parse_qsl(urlsplit(link).query, keep_blank_values=True, max_num_fields=None)[:_MAX_PAIRS]
        for name, value in pairs:
            deep = _DEEP.fullmatch(name)
            if (argument := self._by_wire_name.get(name)) is not None:
                is_of_page = _letters(name) in {*_CURSORS, *_PAGES, *_OFFSETS, *_SIZES}
                if (argument.name not in sent or is_of_page) and self._schema(argument).get("type") != "array":
                    following[argument.name] = value
            elif deep and (argument := self._by_wire_name.get(deep[1])) and argument.style == "deepObject":
                inner = following.get(argument.name)
                following[argument.name] = {**(inner if isinstance(inner, dict) else {}), deep[2]: value}
        if all(str(value) == str(sent.get(name)) for name, value in following.items() if value is not sent.get(name)):
            names = ", ".join(dict.fromkeys(name for name, _ in pairs))[:200]
            self.end = f"the link to the next page has no argument of this tool that is new ({names})"
            return None
        return following

    def _by_cursor(self, sent: Arguments, page: _Page) -> Arguments | None:
        for key in _NEXT:
            values = [value for name, value in page.facts if name == key and _is_cursor(value)]
            argument = self._cursor_argument(key, values[0]) if values else None
            if argument is not None and str(sent.get(argument.name)) != str(values[0]):
                return {**sent, argument.name: values[0]}
        last = page.items[-1] if page.items else None
        argument = self._argument(_LAST_ITEMS, number=False)
        if argument is not None and page.first(_MORE, bool) and isinstance(last, dict) and _is_cursor(last.get("id")):
            return {**sent, argument.name: last["id"]}
        return None

    def _cursor_argument(self, key: str, value: Any) -> Argument | None:
        """Return the argument that takes the value of a property: of the same name, else one for cursors or pages."""
        base = key.removeprefix("next").removeprefix("end")
        is_number = isinstance(value, int) or value.isdecimal()
        same = self._argument((key, *([base] if base else [])), number=False)
        return (
            same
            or self._argument(_CURSORS, number=False)
            or (self._argument((*_PAGES, *_OFFSETS)) if is_number and key in {"next", "nextpage"} else None)
        )

    def _by_number(self, sent: Arguments, page: _Page) -> Arguments | None:
        """Return the arguments with the number of the next page, or of its first item, unless a total is reached."""
        if not page.items:
            return None
        total = page.first(_TOTALS, int) or _header_number(page.headers, _TOTALS)
        if (argument := self._argument(_PAGES)) is not None:
            number = self._page_number(argument, sent, page)
            pages = page.first(_TOTAL_PAGES, int) or _header_number(page.headers, _TOTAL_PAGES)
            is_read = self._base == self._first_number and len(self.items) >= (total or len(self.items) + 1)
            is_last = is_read or number - min(self._base or 0, 1) + 1 >= (pages or number + 2)
            return None if is_last else {**sent, argument.name: number + 1}
        if (argument := self._argument(_OFFSETS)) is not None:
            start = _number(sent.get(argument.name, self._schema(argument).get("default")))
            first = 1 if self._schema(argument).get("minimum") == 1 else 0
            following = (first if start is None else start) + len(page.items)
            return None if total and following - first >= total else {**sent, argument.name: following}
        return None

    def _page_number(self, argument: Argument, sent: Arguments, page: _Page) -> int:
        """Return the number of a page, and note that of the first page that was read."""
        schema = self._schema(argument)
        asked = _number(sent.get(argument.name))
        told = page.first(_CURRENT, int)
        default = _number(schema.get("default"))
        known = [number for number in (asked, told, default) if number is not None]
        number = known[0] if known else int(schema.get("minimum") != 0)
        if self._base is None:
            self._base = number
            self._first_number = number if asked is None else int(schema.get("minimum") != 0 and default != 0)
        return number

    _first_number = 1

    def _argument(self, names: Iterable[str], *, number: bool = True) -> Argument | None:
        """Return the first argument of one of some names; with `number`, only one that is a number."""
        for name in names:
            argument = self._by_letters.get(name)
            if argument is not None and (not number or _is_number(self._schema(argument))):
                return argument
        return None

    def _schema(self, argument: Argument) -> Mapping[str, Any]:
        schema = self.tool.input_schema.get("properties", {}).get(argument.name)
        return schema if isinstance(schema, dict) else {}

    @cached_property
    def _by_letters(self) -> Mapping[str, Argument]:
        arguments = [each for each in self.tool.arguments if each.location in {"query", "body"}]
        by_name = {_letters(each.name): each for each in reversed(arguments)}
        return {_letters(each.wire_name or ""): each for each in reversed(arguments)} | by_name

    @cached_property
    def _by_wire_name(self) -> Mapping[str, Argument]:
        return {each.wire_name or each.name: each for each in self.tool.arguments if each.location == "query"}

    def _items_of(self, value: Any) -> list[Any]:
        """Return the items of a page: the answer, or the list in it, by the same name on every page."""
        if isinstance(value, list):
            return value
        if not isinstance(value, dict):
            raise PagingError(f"the answer is {'empty' if value is None else 'text'}, not a list")
        found = dict(_lists(value))
        name = self._key or self._list_name(found)
        if name not in found and not self.pages:
            names = ", ".join(map(str, value))[:300]
            raise PagingError(f"the answer has no list, or several: it has {names}")
        self._key = name
        return found.get(name, [])

    def _list_name(self, found: Mapping[str, list[Any]]) -> str:
        """Return the list of an answer that is the one of its items: called as the path is, or as lists are."""
        segments = [_letters(part) for part in self.tool.path.split("/") if "{" not in part]
        by_letters = {_letters(name.rpartition(".")[2]): name for name in reversed(list(found))}
        known = (by_letters[name] for name in (*segments[-1:], *_LISTS) if name in by_letters)
        return next(known, next(iter(found)) if len(found) == 1 else "")


def _lists(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Yield the lists of an answer, and those of objects that hold one, by their names."""
    for name, part in islice(value.items(), _MAX_FACTS):
        if isinstance(part, list):
            yield f"{prefix}{name}", part
        elif isinstance(part, dict) and not prefix and _letters(name) in _HOLDERS:
            yield from _lists(part, f"{name}.")


def _facts(value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the values of an object and of the frames in it, the outermost first; of a link's object its URL."""
    if not isinstance(value, dict):
        return
    frames = []
    for key, part in islice(value.items(), _MAX_FACTS):
        name = _letters(str(key))
        if not isinstance(part, dict | list):
            yield name, part
        elif isinstance(part, dict) and name in _FRAMES and depth < 3:
            frames.append((name, part))
    for name, part in frames:
        address = next((part[key] for key in _ADDRESSES if isinstance(part.get(key), str)), None)
        if address is not None:
            yield name, address
        yield from _facts(part, depth + 1)


def _is_cursor(value: Any) -> bool:
    return (isinstance(value, str) and value != "") or type(value) is int


def _is_number(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type")
    alternatives = [each for each in schema.get("anyOf", ()) if isinstance(each, dict)]
    return bool({"integer", "number"}.intersection([kinds] if isinstance(kinds, str) else kinds or ())) or any(
        map(_is_number, alternatives)
    )


def _number(value: Any) -> int | None:
    if type(value) is int:
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 16 else None


def _header_number(headers: Mapping[str, Any], names: Iterable[str]) -> int | None:
    wanted = frozenset(names)
    texts = (value for name, value in headers.items() if _letters(name).removeprefix("x") in wanted)
    return next((number for text in texts if (number := _number(text)) is not None), None)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
