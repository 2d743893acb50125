"""Requests that the document allows and the API refuses: 400, 401, 415 and 422, as far as their texts name a cause.

Only causes that a document can state are read: a value of another type, something that is required, a media type, a
credential. That a name is taken already, or an id unknown, is no difference from the document. The texts are those of
frameworks and validators in English; another text is no finding.

Specification: RFC 9110 §11.6.1 (`WWW-Authenticate`), §15.5.16 (415 and `Accept`), RFC 5789 §3.1 (`Accept-Patch`).
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import httpx

from ..runtime.result import problem_details
from ..runtime.tool import Argument, Tool

REFUSALS: Final = frozenset({400, 415, 422})
"""Statuses with which APIs refuse the form of a request."""

MAX_BYTES: Final = 64 << 10
"""Bytes of an answer that are read; the errors of a request take some hundred."""

REFUSED_TYPE: Final = "refused type"
REFUSED_MISSING: Final = "refused missing"
REFUSED_MEDIA_TYPE: Final = "refused media type"
DEMANDED_CREDENTIAL: Final = "demanded credential"
"""Kinds of findings."""

_ARGUMENT: Final = re.compile(r"(?:the argument )?`(?P<path>[^`]{1,200})`(?: \(the API's `[^`]*`\))?: (?P<text>.+)")
_TYPE_NAMES: Final = r"integer|number|boolean|string|array|object|list|float|int|bool|dictionary"
_TYPE: Final = re.compile(
    r"(?:(?:must|should|needs? to|has to) be|expected|expects|not|input should be)"
    rf"(?: of)?(?: type)?:?(?: an?)?(?: valid)? [\"'`]?({_TYPE_NAMES})\b",
    re.IGNORECASE,
)
_FORMAT: Final = re.compile(
    r"format [\"'`]?(date-time|date|uuid|email|uri|ipv4|ipv6)\b|valid (date-time|date|uuid|email|uri)\b", re.IGNORECASE
)
_SAME_TYPES: Final = {"list": "array", "float": "number", "int": "integer", "bool": "boolean", "dictionary": "object"}
_MISSING: Final = re.compile(r"\b(required|missing|must be (?:present|provided|given))\b", re.IGNORECASE)
_NAMED: Final = re.compile(r"(?:property|field|parameter|argument)?\s*['\"`]([\w.$\[\]-]{1,100})['\"`]")
_MEDIA_TYPE: Final = re.compile(r"\b(?:application|text|multipart|image)/[\w.+-]{1,100}")
_ACCEPTED: Final = ("accept-post", "accept-patch", "accept")


def refusals(
    tool: Tool, request: httpx.Request, response: httpx.Response, *, fits: bool
) -> Iterator[tuple[str, str, str]]:
    """Yield kind, location and message of what an answer refuses; the location is as in `Drift.where`.

    If the request does not fit the document, refusals of its values say nothing about the document.
    """
    if response.status_code == 401 and not tool.security and "authorization" not in request.headers:
        challenge = response.headers.get("www-authenticate", "") or "no scheme is named"
        yield DEMANDED_CREDENTIAL, "", f"a credential is demanded, and the document names none ({challenge})"
    elif response.status_code in REFUSALS and len(response.content) <= MAX_BYTES:
        yield from _media_type(request, response)
        text = _summary(tool, response) if fits else ""
        yield from (finding for line in text.splitlines() for finding in _of_line(tool, line.removeprefix("- ")))


def _summary(tool: Tool, response: httpx.Response) -> str:
    try:
        value: Any = response.json()
    except ValueError:
        value = None
    return problem_details.summary(tool, value, response.text, response.status_code, response.reason_phrase)


def _media_type(request: httpx.Request, response: httpx.Response) -> Iterator[tuple[str, str, str]]:
    """Yield the media types that the API accepts instead, where it says them."""
    if response.status_code != 415:
        return
    sent = request.headers.get("content-type", "").partition(";")[0]
    texts = [*(response.headers.get(name, "") for name in _ACCEPTED), response.text]
    found = dict.fromkeys(name for text in texts for name in _MEDIA_TYPE.findall(text) if name != sent)
    accepted = [name for name in found if not name.startswith("application/problem")]
    yield REFUSED_MEDIA_TYPE, "body", f"{sent or 'no media type'} is refused ({', '.join(accepted) or 'none is named'})"


def _of_line(tool: Tool, line: str) -> Iterator[tuple[str, str, str]]:
    """Yield what one message of the API refuses."""
    match = _ARGUMENT.fullmatch(line)
    path, text = (match["path"], match["text"]) if match else ("", line)
    if form := _FORMAT.search(text):
        if where := _where(tool, path):
            yield REFUSED_TYPE, where, f"the API wants {(form[1] or form[2]).lower()} string"
    elif kind := _TYPE.search(text):
        name = kind[1].lower()
        if where := _where(tool, path):
            yield REFUSED_TYPE, where, f"the API wants {_SAME_TYPES.get(name, name)}"
    elif _MISSING.search(text):
        named = _NAMED.search(text)
        whole = path in {"", "body", "query", "header", "path"}
        inner = f"{'' if whole else f'{path}.'}{named[1]}" if named else path
        where = _where(tool, inner, location=path if whole else "") or _where(tool, path)
        if where and where != "body":
            yield REFUSED_MISSING, where, "the API requires it"


def _where(tool: Tool, path: str, location: str = "") -> str:
    """Return a path of an argument as a location: `query limit`, `body.pet.name`; empty where it is unknown."""
    for argument in sorted(tool.arguments, key=lambda each: -len(each.name)):
        names = {argument.name, argument.wire_name or argument.name}
        name = next((each for each in names if path == each or path.startswith((f"{each}.", f"{each}["))), None)
        if name is not None and (not location or argument.location == location):
            return _location(argument, re.sub(r"\[\d*\]|\.\d+(?=\.|$)", "[]", path[len(name) :]))
    if path and location in {"", "body"} and tool.body is not None and not path.startswith(("query", "header", "path")):
        inner = re.sub(r"\[\d*\]|\.\d+(?=\.|$)", "[]", path.removeprefix("body").removeprefix("."))
        return f"body.{inner}" if inner else "body"
    return ""


def _location(argument: Argument, rest: str) -> str:
    if argument.location == "body":
        return f"body{f'.{argument.wire_name}' if argument.wire_name else ''}{rest}"
    return f"{argument.location} {argument.wire_name or argument.name}"
