"""`PageReader`: the pages of a list, one call after the other: the items of a page, and the arguments of the next one.

APIs tell the next page in many ways. They are tried in this order, and the one that the first page tells holds for all:
the header Link (RFC 8288), a link in the body, a cursor in the body, a statement that there is more with the last
item's id, and at last the number of the page or of its first item. A link is read for the arguments that it has. One
with others, or of another path, becomes a request of its own (`links`), at the API's origin only and where the caller
says which address a page has. The end of a list is explained: a page that cannot be followed, or the limit that was
reached.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import islice
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlsplit

import httpx

from ..runtime.result.headers import MAX_LINK
from ..runtime.tool import Argument, Tool
from .frame import (
    CURRENT,
    CURSORS,
    LAST,
    LAST_ITEMS,
    LINKS,
    LISTS,
    MAX_FACTS,
    MORE,
    NEXT,
    OFFSETS,
    PAGES,
    SIZES,
    TOTAL_PAGES,
    TOTALS,
    ListPage,
    facts,
    letters,
    lists,
    with_list,
)
from .links import LinkError, base_path, linked_call

DEFAULT_LIMIT: Final = 1000
"""Items that `paginate` returns unless the program asks for more or less."""

MAX_LIMIT: Final = 10_000

_MAX_PAGE_SIZE: Final = 1000
"""Items that are asked for in one call, where the document allows as many."""

_MAX_PAIRS: Final = 100
"""Pairs of a link's query that are read."""


_DEEP: Final = re.compile(r"([^\[\]]+)\[([^\[\]]+)\]")

Arguments: TypeAlias = dict[str, Any]


class PagingError(Exception):
    """A list whose pages cannot be read, for the reason in the message."""


class PageReader:
    """The pages of one list.

    `tool` and `arguments` are those of the next call; the arguments are None at the end, which `end` explains. `new`
    are those of the page behind it, as far as they differ from the last call's.
    """

    def __init__(
        self, tool: Tool, arguments: Mapping[str, Any], limit: int = DEFAULT_LIMIT, *, largest_pages: bool = True
    ) -> None:
        """Begin before the first page; `largest_pages` asks for pages as large as the document allows."""
        self.items: list[Any] = []
        self.pages = 0
        self.end = ""
        self.new: Arguments = {}
        self.tool = self._own_tool = tool
        self._limit = limit
        self.arguments: Arguments | None = dict(arguments)
        if largest_pages:
            self.arguments = self._with_page_size(dict(arguments))
        self._sent = self._first = self.arguments
        self._base: int | None = None
        self._key: str = ""
        self._way: Callable[[Arguments, ListPage], Arguments | None] | None = None
        self._last_items: list[Any] = []
        self._last_value: Any = None
        self._seen: set[str] = set()
        self._address: httpx.URL | None = None
        self._base_path: list[str] | None = None
        self._linked: Tool | None = None

    def add(self, value: Any, headers: Mapping[str, Any], address: httpx.URL | None = None) -> None:
        """Add the page that is the answer to a call with `arguments`. Raises PagingError for one without a list.

        `address` is that of the request; without it, links are followed by arguments of the tool alone.
        """
        assert self.arguments is not None  # noqa: S101 - there is a next page
        self._address, self._linked = address, None
        if address is not None and self._base_path is None:
            self._base_path = base_path(self._own_tool, address)
        told = [(letters(name).removeprefix("x"), text) for name, text in headers.items() if isinstance(text, str)]
        page = ListPage(self._items_of(value), [*islice(facts(value), MAX_FACTS), *told], headers)
        self.pages += 1
        if self.pages > 1 and page.items and page.items == self._last_items:
            self._stop("the API returned the same page again")
            return
        self._last_items, self._last_value = page.items, value
        self.items += page.items
        following = self._next(self.arguments, page)
        if len(self.items) > self._limit:
            del self.items[self._limit :]
            self._stop(f"limit={self._limit} is reached, and there is more")
        elif following is None:
            self._stop(self.end or "that was the last page")
        elif len(self.items) == self._limit:
            self._stop(f"limit={self._limit} is reached, and there may be more", following)
        elif (state := self._state(following)) in self._seen:
            self._stop("the API named a page again that was read before")
        else:
            self._seen.add(state)
            self._sent, self.arguments = self.arguments, following
            self.tool = self._linked or self._own_tool

    def whole(self) -> Any:
        """Return the last page with the items of all pages in its list, so that its cursor and links are true of it."""
        if self._last_value is self._last_items:
            return self.items
        return with_list(self._last_value, self._last_items, self.items) or self.items

    def _state(self, following: Arguments) -> str:
        """Return what tells a page from others."""
        path = self._linked.path if self._linked else ""
        return path + repr(sorted(self._new(following, self._first).items()))

    def interrupt(self, reason: str) -> None:
        """End before the next page for a reason of the caller."""
        following, self.arguments = self.arguments, self._sent
        self._linked = None if self.tool is self._own_tool else self.tool
        self._stop(reason, following)

    def _stop(self, reason: str, following: Arguments | None = None) -> None:
        """End before the next page; `following` are its arguments, of which the reason names those that are new."""
        self.new = new = self._new(following or {}, self.arguments) if self._linked is None else {}
        names = ", ".join(f"{name}={str(value)[:100]}" for name, value in new.items())
        self.end = f"{reason}; the next page has {names}" if names else reason
        if following is not None and self._linked is not None:
            self.end = f"{reason}; only one call with more `pages` reaches the next one"
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
        size = self._argument(SIZES)
        largest = self._schema(size).get("maximum") if size else None
        if size is None or size.name in arguments or not isinstance(largest, int) or largest < 1:
            return arguments
        return {**arguments, size.name: min(largest, self._limit, _MAX_PAGE_SIZE)}

    def _next(self, sent: Arguments, page: ListPage) -> Arguments | None:
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
        if not self._way and page.first(MORE, bool):
            self.end = "the API says that there is more, but not how to ask for it"
        return None

    def _says_end(self, page: ListPage) -> bool:
        """Return whether an answer says that it is the last page."""
        if page.first(MORE, bool) is False or page.first(LAST, bool) is True:
            return True
        links = page.headers.get("link", {})
        if "next" not in links and ({"prev", "previous"} & links.keys()):
            return True
        is_named = [value for name, value in page.facts if name in LINKS or (name in NEXT and "next" in name)]
        return bool(is_named) and all(value in (None, "", False) for value in is_named)

    def _by_header(self, sent: Arguments, page: ListPage) -> Arguments | None:
        link = page.headers.get("link", {}).get("next", "")
        return self._from_link(sent, link) if link else None

    def _by_link(self, sent: Arguments, page: ListPage) -> Arguments | None:
        texts = (value for name, value in page.facts if name in LINKS and isinstance(value, str))
        link = next((text for text in texts if "?" in text or (self._address and "/" in text)), "")
        return self._from_link(sent, link) if link else None

    def _from_link(self, sent: Arguments, link: str) -> Arguments | None:
        """Return the arguments that a link has, beside those that were sent. Notes if none of them is new."""
        if len(link) >= MAX_LINK:
            self.end = f"the link to the next page has more than {MAX_LINK} characters"
            return None
        if self._address is not None:
            try:
                call = linked_call(self._own_tool, sent, link, self._address, self._base_path or [])
            except LinkError as error:
                self.end = str(error)
                return None
            if call is not None:
                self._linked, linked = call
                return linked
        following = dict(sent)
        pairs = parse_qsl(urlsplit(link).query, keep_blank_values=True, max_num_fields=None)[:_MAX_PAIRS]
        for name, value in pairs:
            deep = _DEEP.fullmatch(name)
            if (argument := self._by_wire_name.get(name)) is not None:
                is_of_page = letters(name) in {*CURSORS, *PAGES, *OFFSETS, *SIZES}
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

    def _by_cursor(self, sent: Arguments, page: ListPage) -> Arguments | None:
        is_same = False
        for key in NEXT:
            values = [value for name, value in page.facts if name == key and _is_cursor(value)]
            argument = self._cursor_argument(key, values[0]) if values else None
            if argument is None:
                continue
            if str(sent.get(argument.name)) != str(values[0]):
                return {**sent, argument.name: values[0]}
            is_same = True
        if is_same:
            self.end = "the API named a page again that was read before"
            return None
        last = page.items[-1] if page.items else None
        argument = self._argument(LAST_ITEMS, number=False)
        if argument is not None and page.first(MORE, bool) and isinstance(last, dict) and _is_cursor(last.get("id")):
            return {**sent, argument.name: last["id"]}
        return None

    def _cursor_argument(self, key: str, value: Any) -> Argument | None:
        """Return the argument that takes the value of a property: of the same name, else one for cursors or pages."""
        base = key.removeprefix("next").removeprefix("end")
        is_number = isinstance(value, int) or value.isdecimal()
        same = self._argument((key, *([base] if base else [])), number=False)
        return (
            same
            or self._argument(CURSORS, number=False)
            or (self._argument((*PAGES, *OFFSETS)) if is_number and key in {"next", "nextpage"} else None)
        )

    def _by_number(self, sent: Arguments, page: ListPage) -> Arguments | None:
        """Return the arguments with the number of the next page, or of its first item, unless a total is reached."""
        if not page.items:
            return None
        total = page.first(TOTALS, int) or _header_number(page.headers, TOTALS)
        if total is not None and total < len(page.items):
            total = None  # it is not that of all items
        if (argument := self._argument(PAGES)) is not None:
            number = self._page_number(argument, sent, page)
            pages = page.first(TOTAL_PAGES, int) or _header_number(page.headers, TOTAL_PAGES)
            pages = pages if pages is None or pages > 0 else None
            is_read = self._base == self._first_number and len(self.items) >= (total or len(self.items) + 1)
            is_last = is_read or number - min(self._base or 0, 1) + 1 >= (pages or number + 2)
            return None if is_last else {**sent, argument.name: number + 1}
        if (argument := self._argument(OFFSETS)) is not None:
            start = _number(sent.get(argument.name, self._schema(argument).get("default")))
            first = 1 if self._schema(argument).get("minimum") == 1 else 0
            following = (first if start is None else start) + len(page.items)
            return None if total and following - first >= total else {**sent, argument.name: following}
        return None

    def _page_number(self, argument: Argument, sent: Arguments, page: ListPage) -> int:
        """Return the number of a page, and note that of the first page that was read."""
        schema = self._schema(argument)
        asked = _number(sent.get(argument.name))
        told = page.first(CURRENT, int)
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
        schema = self._own_tool.input_schema.get("properties", {}).get(argument.name)
        return schema if isinstance(schema, dict) else {}

    @cached_property
    def _by_letters(self) -> Mapping[str, Argument]:
        arguments = [each for each in self._own_tool.arguments if each.location in {"query", "body"}]
        by_name = {letters(each.name): each for each in reversed(arguments)}
        return {letters(each.wire_name or ""): each for each in reversed(arguments)} | by_name

    @cached_property
    def _by_wire_name(self) -> Mapping[str, Argument]:
        return {each.wire_name or each.name: each for each in self._own_tool.arguments if each.location == "query"}

    def _items_of(self, value: Any) -> list[Any]:
        """Return the items of a page: the answer, or the list in it, by the same name on every page."""
        if isinstance(value, list):
            return value
        if not isinstance(value, dict):
            raise PagingError(f"the answer is {_KINDS.get(type(value), 'a single value')}, not a list")
        found = dict(lists(value))
        name = self._key or self._list_name(found)
        if name not in found and not self.pages:
            names = ", ".join(map(str, value))[:300]
            raise PagingError(f"the answer has no list, or several: it has {names}")
        self._key = name
        return found.get(name, [])

    def _list_name(self, found: Mapping[str, list[Any]]) -> str:
        """Return the list of an answer that is the one of its items: called as the path is, or as lists are."""
        segments = [letters(part) for part in self._own_tool.path.split("/") if "{" not in part]
        by_letters = {letters(name.rpartition(".")[2]): name for name in reversed(list(found))}
        known = (by_letters[name] for name in (*segments[-1:], *LISTS) if name in by_letters)
        return next(known, next(iter(found)) if len(found) == 1 else "")


_KINDS: Final = {type(None): "empty or no JSON", str: "text"}
"""Answers without a list in words."""


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
    texts = (value for name, value in headers.items() if letters(name).removeprefix("x") in wanted)
    return next((number for text in texts if (number := _number(text)) is not None), None)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
