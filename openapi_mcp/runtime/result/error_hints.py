"""Hints about an error of the API, by its status: which argument may be wrong, and which tool helps.

A 404 names the path arguments with their values and a tool that finds one; 409, 412 and 428 name the rule of entity
tags. A hint says "may" where the answer does not prove it.

Specification: RFC 9110 §13.1 (conditional requests), §15.5; RFC 6585 §3 (428), §4 (429); RFC 5789 §3.1 (Accept-Patch).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, Protocol

import httpx

from .. import jsontext
from ..request import auth, context
from ..tool import Argument, Tool
from ..upstream.retries import IDEMPOTENT_METHODS, requested_wait

_MAX_VALUE: Final = 60
"""Characters of a value that was sent."""

_MAX_HEADER: Final = 200
"""Characters of a header's value: the methods or media types that an API accepts."""

_MAX_NAMED: Final = 4
"""Path arguments that are named."""

_UNKNOWN_EFFECT: Final = (
    "The API did not say whether it carried the request out, so it was sent only once: check its effect before you "
    "repeat the call."
)


class RelatedTools(Protocol):
    """The tools of the same API that help after an error."""

    def finder(self, tool: Tool, argument: Argument) -> Tool | None:
        """Return a tool that lists or searches what a path argument names."""

    def reader(self, tool: Tool) -> Tool | None:
        """Return the tool that reads the resource of a tool, or the one that it is part of."""


class SentCall(NamedTuple):
    """The arguments of a call, and the tools beside its own."""

    arguments: Mapping[str, Any]
    related: RelatedTools


def hint(tool: Tool, response: httpx.Response, sent: SentCall | None, message: str) -> str:
    """Return what can be done about an error; empty for others. `message` is what its body says, else its text."""
    status = response.status_code
    if status in {401, 403}:
        return auth.refusal_hint(tool, response)
    if status == 407:
        return auth.variables_hint(tool)
    if status == 404:
        return _not_found(tool, response, sent, message)
    if requested_wait(response, 0.0) is not None:
        after = response.headers["retry-after"].strip()
        return f"Try again {f'in {after} seconds' if after.isdecimal() else f'after {after}'}."
    if status in _HINTS:
        return _HINTS[status](tool, response, sent)
    is_repeatable = status != 503 or response.request.method in IDEMPOTENT_METHODS
    return "" if is_repeatable else _UNKNOWN_EFFECT


_NO_ROUTE: Final = re.compile(
    r"(404[: -]*)?((page |path |route |url |endpoint )?(was )?not found|no such (route|path|endpoint)"
    r"|cannot (get|post|put|patch|delete) /.*|no route matches.*|no static resource.*|no handler found.*"
    r"|the requested (url|resource|path|page) .*(was not found|not found|could not be found).*)[.!]?",
    re.IGNORECASE,
)
"""Messages of frameworks for a path that no operation has; some use them for a missing resource too."""


def _not_found(tool: Tool, response: httpx.Response, sent: SentCall | None, message: str) -> str:
    """Return which path arguments name what may not exist, with a finder; and whether the base URL may be wrong."""
    if guess := context.guess_hint(response.request):
        return guess
    if sent is None:
        return ""
    in_path = [each for each in tool.arguments if each.location == "path" and each.name in sent.arguments]
    if not in_path:
        return (
            f"No argument is in the path {tool.path}: either what another argument names does not exist, or the "
            "server's `--base-url` is wrong."
        )
    values = " and ".join(f"`{each.name}` {_value(sent.arguments[each.name])}" for each in in_path[-_MAX_NAMED:])
    which = "it may not exist, or not" if len(in_path) == 1 else "one of them may not exist, or not"
    found = "".join(_found_by(tool, in_path, sent))
    is_general = not message or _NO_ROUTE.fullmatch(message[:_MAX_HEADER].strip())
    route = " If other calls fail like this, the server's `--base-url` may be wrong." if is_general else ""
    return f"The call was for {values}: {which} for these credentials.{found}{route}"


def _found_by(tool: Tool, in_path: list[Argument], sent: SentCall) -> Iterator[str]:
    """Yield a sentence for each path argument that another tool may find, the most specific first."""
    named = set[str]()
    for argument in reversed(in_path):
        finder = sent.related.finder(tool, argument)
        if finder is not None and finder.name not in named and len(named) < 2:
            named.add(finder.name)
            yield f" `{finder.name}` may find a valid `{argument.name}`."


def _value(value: Any) -> str:
    try:
        text = jsontext.write_beginning(value, _MAX_VALUE + 1)
    except RecursionError:
        return "…"
    return text if len(text) <= _MAX_VALUE else f"{text[: _MAX_VALUE - 1]}…"


_CONDITIONS: Final[Mapping[str, str]] = {
    "if-match": "`ETag`",
    "if-unmodified-since": "`Last-Modified`",
    "if-none-match": "`ETag`",
}
"""Header arguments that make a request conditional, and the header whose value they take."""

_VERSIONS: Final = frozenset({"etag", "version", "revision", "rev", "resourceversion", "lockversion", "ifmatch"})
"""Names of other arguments that hold the version of a resource: lower case, letters only."""


def _condition(tool: Tool) -> tuple[Argument, str] | None:
    """Return the argument that names the version which a request is for, and what it takes."""
    by_header = {(each.wire_name or each.name).lower(): each for each in tool.arguments if each.location == "header"}
    for header, takes in _CONDITIONS.items():
        if header in by_header:
            return by_header[header], f"the {takes} of its answer"
    for each in tool.arguments:
        if each.location != "path" and "".join(filter(str.isalpha, each.name)).lower() in _VERSIONS:
            return each, "its current one"
    return None


def _reading(tool: Tool, sent: SentCall | None) -> str:
    """Return how the current state is read: with the name of the tool, if there is one."""
    reader = sent.related.reader(tool) if sent else None
    if reader is None:
        return "read the current state"
    etag = ", whose answer has an `ETag`" if "etag" in reader.response_headers else ""
    return f"read the current state with `{reader.name}`{etag}"


def _conflict(tool: Tool, _response: httpx.Response, sent: SentCall | None) -> str:
    condition = _condition(tool)
    send = f", and send {condition[1]} as `{condition[0].name}`" if condition else ""
    reading = _reading(tool, sent)
    return (
        f"The call conflicts with the current state: it may exist already, or have been changed meanwhile. "
        f"Before you repeat the call, {reading}{send}."
    )


def _precondition(tool: Tool, response: httpx.Response, sent: SentCall | None) -> str:
    """Return the rule of entity tags for 412 and 428, and the argument of the tool for it."""
    failed = response.status_code == 412
    condition = _condition(tool)
    if condition is None:
        why = "A condition of the request does not hold" if failed else "The API asks for a conditional request"
        return (
            f"{why} (header `If-Match` with the current `ETag`). This tool has no argument for it, since the document "
            "declares none for this operation: it has to be added to the document."
        )
    argument, takes = condition
    given = sent is not None and argument.name in sent.arguments
    why = f"`{argument.name}` is not that of the current version" if given else f"`{argument.name}` is needed"
    reading = _reading(tool, sent)
    return f"{why}: {reading}, then send {takes} as `{argument.name}`."


def _method_not_allowed(tool: Tool, response: httpx.Response, _sent: SentCall | None) -> str:
    allowed = response.headers.get("allow", "").strip()[:_MAX_HEADER]
    only = f"It allows {allowed} here. " if allowed else ""
    return (
        f"The API has no {tool.method} for this path. {only}"
        "The document may be out of date, or the server's `--base-url` wrong."
    )


def _not_acceptable(tool: Tool, response: httpx.Response, _sent: SentCall | None) -> str:
    accept = response.request.headers.get("accept", "")[:_MAX_HEADER]
    argument = next((each.name for each in tool.arguments if (each.wire_name or each.name).lower() == "accept"), "")
    choose = f" Choose another with `{argument}`." if argument else ""
    return f"The API does not answer in the media types that were asked for: {accept}.{choose}"


def _gone(tool: Tool, _response: httpx.Response, sent: SentCall | None) -> str:
    in_path = [each for each in tool.arguments if each.location == "path"]
    found = "".join(_found_by(tool, in_path, sent)) if sent else ""
    return f"It was removed for good: the same call will not succeed again.{found}"


def _too_large(_tool: Tool, response: httpx.Response, _sent: SentCall | None) -> str:
    size = response.request.headers.get("content-length", "")
    sent_bytes = f" ({int(size):,} bytes were sent)" if size.isascii() and size.isdecimal() and len(size) < 16 else ""
    return f"The request's body is larger than the API takes{sent_bytes}: send less, or in several calls."


def _uri_too_long(_tool: Tool, _response: httpx.Response, _sent: SentCall | None) -> str:
    return "The URL is longer than the API takes: send fewer or shorter values, in several calls."


def _media_type(tool: Tool, response: httpx.Response, _sent: SentCall | None) -> str:
    kind = response.request.headers.get("content-type", "")[:_MAX_HEADER]
    sent_as = f"The body was sent as {kind}. " if kind else "The request had no body. "
    names = ("accept-post", "accept-patch", "accept")
    accepted = next((response.headers[name][:_MAX_HEADER] for name in names if name in response.headers), "")
    only = f"The API accepts {accepted}. " if accepted else ""
    choice = next((each.name for each in tool.arguments if each.location == "media_type"), "")
    choose = f"Choose another media type with `{choice}`." if choice else "The document declares no other media type."
    return f"{sent_as}{only}{choose}"


def _too_many(_tool: Tool, _response: httpx.Response, _sent: SentCall | None) -> str:
    return "The API limits the rate of calls, and does not say for how long: wait before the next call, and make fewer."


_HINTS: Final[Mapping[int, Callable[[Tool, httpx.Response, SentCall | None], str]]] = {
    405: _method_not_allowed,
    406: _not_acceptable,
    409: _conflict,
    410: _gone,
    412: _precondition,
    413: _too_large,
    414: _uri_too_long,
    415: _media_type,
    428: _precondition,
    429: _too_many,
}
