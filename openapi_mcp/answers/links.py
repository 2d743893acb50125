"""Calls of the next page where only a link tells it: with pairs in its query, or a path, that no argument sets.

The link's address is not called. Its path and its query become values of a request that is built as any other: from the
base URL of the settings, with the credentials of the settings. A link to another origin, or beside the base URL's path,
is refused, so that no credential leaves the API. Specification: RFC 8288 §3.1, RFC 6454 §5.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, unquote

import httpx

from ..runtime.request.redaction import redact
from ..runtime.tool import Argument, Tool

MAX_PAIRS: Final = 100
"""Pairs of a link's query that are sent."""

MAX_SEGMENTS: Final = 100
"""Segments of a link's path."""

_KEPT: Final = frozenset({"header", "cookie"})
"""Locations of arguments that a link does not replace."""

_MAX_SHOWN: Final = 100
_PATH: Final = " path "
_QUERY: Final = " query "
# Beginnings of names that no argument has, since theirs have no space.

_Call: TypeAlias = tuple[Tool, dict[str, Any]]


class LinkError(Exception):
    """A link that is not followed, for the reason in the message."""


def linked_call(tool: Tool, sent: Mapping[str, Any], link: str, address: httpx.URL, base: list[str]) -> _Call | None:
    """Return the call of a link's target, or None where arguments of the tool express all that is new in it.

    `address` is that of the page with the link, whose call had the arguments `sent`; `base` is the `base_path` of the
    first page. Raises LinkError.
    """
    if tool.method != "GET":
        return None
    try:
        target = address.join(link)
        pairs = _pairs(target)
        segments = target.raw_path.decode("ascii").partition("?")[0].split("/")
    except (httpx.InvalidURL, ValueError):
        raise LinkError("the link to the next page is not a URL") from None
    was_linked = any(name.startswith(" ") for name in sent)
    is_same_path = target.path == address.path and not any(name.startswith(_PATH) for name in sent)
    known = {argument.wire_name or argument.name for argument in tool.arguments if argument.location == "query"}
    asked = dict(_pairs(address))
    new = [name for name, value in pairs if asked.get(name) != value]
    if is_same_path and not was_linked and all(name in known or name.partition("[")[0] in known for name in new):
        return None
    if _origin(target) != _origin(address):
        if known.intersection(new) and not was_linked:
            return None  # an API behind a proxy, which does not know its own address: its arguments count
        raise LinkError(f"the link to the next page leads to another host ({redact(str(target.host))[:_MAX_SHOWN]})")
    path, arguments = tool.path, _kept(tool, is_same_path)
    values = {argument.name: sent[argument.name] for argument in arguments if argument.name in sent}
    if not is_same_path:
        if segments[: len(base)] != base or len(segments) > MAX_SEGMENTS:
            raise LinkError("the link to the next page leads out of the API's base URL")
        path, own = _path(segments[len(base) :])
        arguments += [Argument(name=name, location="path", wire_name=name, required=True) for name in own]
        values |= own
    for number, (name, texts) in enumerate(_grouped(pairs)):
        key = f"{_QUERY}{number}"
        arguments.append(Argument(name=key, location="query", wire_name=name, style="form", explode=True))
        values[key] = texts
    presets = tuple(each for each in tool.presets if each.argument.location in {*_KEPT, "query"})
    return replace(tool, path=path, arguments=tuple(arguments), presets=_absent(presets, pairs), body=None), values


def _kept(tool: Tool, is_same_path: bool) -> list[Argument]:
    kept = {*_KEPT, "path"} if is_same_path else _KEPT
    return [argument for argument in tool.arguments if argument.location in kept]


def _absent(presets: Iterable[Any], pairs: Iterable[tuple[str, str]]) -> tuple[Any, ...]:
    """Return the presets that a link does not set itself."""
    names = {name for name, _ in pairs}
    return tuple(each for each in presets if each.argument.location != "query" or each.argument.wire_name not in names)


def _path(segments: Iterable[str]) -> tuple[str, dict[str, str]]:
    """Return a template with a variable for each segment, and their values: each is judged as any value in a path."""
    template, values = [], {}
    for number, segment in enumerate(segments):
        name = f"{_PATH}{number}"
        template.append(f"{{{name}}}" if segment else "")
        if segment:
            values[name] = unquote(segment)
    return "/" + "/".join(template), values


def base_path(tool: Tool, address: httpx.URL) -> list[str]:
    """Return the segments of the base URL's path: those of a request before the ones of the tool's own path."""
    own = tool.path.partition("#")[0].partition("?")[0].strip("/").split("/")
    segments = address.raw_path.decode("ascii").partition("?")[0].rstrip("/").split("/")
    return segments[: max(len(segments) - len(own), 1)]


def _pairs(url: httpx.URL) -> list[tuple[str, str]]:
    pairs = parse_qsl(url.query.decode("ascii"), keep_blank_values=True, max_num_fields=None)
    if len(pairs) > MAX_PAIRS:
        raise ValueError
    return pairs


def _grouped(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    grouped: dict[str, list[str]] = {}
    for name, value in islice(pairs, MAX_PAIRS):
        grouped.setdefault(name, []).append(value)
    yield from grouped.items()


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    default = {"http": 80, "https": 443}.get(url.scheme)
    return url.scheme, url.host, url.port or default
