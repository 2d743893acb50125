"""`to_result`: a response of the API as a CallToolResult, read by its media type, with all of its JSON structured.

A status of 400 and above is an error result with status, reason, what the API says is wrong, and body. Every other
response is a success, an empty one too; its content is never judged. Specification: MCP server/tools ("Tool Result",
"Structured Content", "Error Handling"), RFC 9110 §15.
"""

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import httpx

from .. import jsontext, media_types
from ..request.redaction import redact
from ..tool import Tool
from ..types import MISSING, CallToolResult, JsonObject, Missing, text_content
from ..upstream import redirects
from ..upstream.client import TRUNCATED
from ..upstream.http11 import content_type
from . import content, headers, html_text, links, truncation
from .sanitizer import NO_SECRETS, Sanitizer

if TYPE_CHECKING:
    from .error_hints import SentCall

# The first lines of an error's body say what is wrong; stack traces and pages of HTML follow them.
_MAX_ERROR_BYTES: Final = 8 * 1024

_BLOCK_BYTES: Final = 40
"""Bytes of a content block besides its text; each of many parts takes them."""

_MAX_NOTES: Final = 5
"""Notes about parts that were cut, and about parts that were not read; more say nothing more."""

CUT: Final = "openapi-mcp/cut"
"""The name in `_meta` of what was left out of an answer: `limitBytes`, `answerBytes`, `leftOut`, `arguments`."""

CUT_START: Final = "This is a part of the answer."
"""The first words of the block that says what was left out."""

NO_CONTENT: Final = "the answer has no content."
"""The last words of the line for an answer without a body."""

_LIMITING_WORDS: Final = (
    "limit page perpage pagesize pagelen pagetoken cursor offset skip top count size max maxresults "
    "first last after before startingafter endingbefore since until from to "
    "q query search filter filters fields select expand include exclude projection"
)
_LIMITING_NAMES: Final = frozenset(_LIMITING_WORDS.split())
"""Names that APIs give to arguments which make the response smaller; in lower case, letters only."""

_MAX_ADDRESS: Final = 2000
"""Characters of a redirect's address: as long as URLs are in practice."""

_NOT_THE_API: Final = "This looks like a login or start page: is the base URL right?"


def to_result(
    tool: Tool,
    response: httpx.Response,
    *,
    max_bytes: int,
    on_truncation: Callable[[str], object] = lambda _: None,
    sanitizer: Sanitizer = NO_SECRETS,
    sent: "SentCall | None" = None,
) -> CallToolResult:
    """Return the result of a call that the API answered; `max_bytes` limits its text and structured content together.

    If anything is left out, the first block and `_meta` say what, so that nobody takes a part for the whole, and
    `on_truncation` is called with the same sentence. `sanitizer` removes the secrets of the request. `sent` is what an
    error is explained with.
    """
    response = sanitizer.response(response)
    if response.status_code >= 400:
        return sanitizer.result(_error(tool, response, max_bytes, sanitizer, sent))
    if response.status_code in redirects.STATUSES and response.headers.get("location"):
        return sanitizer.result(_redirect(tool, response, max_bytes, sanitizer))
    if not response.content:
        blocks = [text_content(_status_and_headers(tool, response)), *links.location_links(response)]
        return sanitizer.result(_success(tool, blocks, MISSING, {}))
    body = sanitizer.body(_read(response, max_bytes))
    if body.is_html and (_documents_json(tool) or media_types.is_json(media_types.essence(content_type(response)))):
        return _page(response, body, max_bytes, sanitizer)
    try:
        blocks, value, notes = _fit(body, max_bytes)
    except RecursionError:  # a value nested too deeply to be measured is still text
        blocks, value, notes = _fit(content.DecodedBody(body.text), max_bytes)
    if not notes:
        blocks += _links(response, body)
    missing: str = response.extensions.get(TRUNCATED, "")
    meta: JsonObject = {}
    if notes or missing:
        note = _truncation_note(tool, max_bytes, notes, missing)
        on_truncation(note)
        blocks.insert(0, text_content(note))
        meta[CUT] = {
            "limitBytes": max_bytes,
            "answerBytes": len(response.content),
            "leftOut": [*notes, *([missing] if missing else [])],
            "arguments": _limiting_arguments(tool),
        }
    if shown := headers.needed_headers(tool, response):
        meta[headers.HEADERS] = sanitizer.value(shown)
        blocks.append(text_content(sanitizer.text(headers.line(shown, response))))
    return _success(tool, blocks, value, meta)


def _read(response: httpx.Response, max_bytes: int) -> content.DecodedBody:
    """Return the body of a response, up to more than a result of `max_bytes` can hold."""
    limits = content.ReadLimits(max(content.MAX_WHOLE, 2 * max_bytes), max_bytes * content.BINARY_FACTOR)
    return content.read(content_type(response), response.content, partial(_uri, response), limits=limits)


def _redirect(tool: Tool, response: httpx.Response, max_bytes: int, sanitizer: Sanitizer) -> CallToolResult:
    """Return the result for a redirect that was not followed: its status, where it leads, and the text of its body.

    It is an error where the tool has an output schema, which no redirect fulfils.
    """
    message = (
        f"{_status(response)}: the API redirects to {_target(response)}. That was not followed, since it leads away "
        "from the API; the server's option `--follow-redirects-to` names other hosts that may be called."
    )
    is_page = media_types.essence(content_type(response)) in html_text.TYPES
    body = "" if is_page else _error_body(response, max_bytes, sanitizer)[1]
    blocks = [text_content("\n\n".join(part for part in (message, body) if part))]
    if tool.output_schema is not None:
        return CallToolResult(content=tuple(blocks), is_error=True)
    location = response.headers["location"]
    return CallToolResult(content=(*blocks, *(links.location_links(response) if redact(location) == location else ())))


def _target(response: httpx.Response) -> str:
    """Return the address of a redirect without the secrets that it may carry."""
    location: str = response.headers["location"]
    with suppress(httpx.InvalidURL, ValueError):  # ValueError: from urllib, with which httpx joins
        location = str(response.request.url.join(location))
    return redact(location)[:_MAX_ADDRESS]


def _documents_json(tool: Tool) -> bool:
    """Return whether the document says that this operation answers JSON and no page."""
    names = [media_types.essence(name) for name in tool.accept.split(",")]
    is_declared = tool.output_schema is not None or tool.accept != Tool.__dataclass_fields__["accept"].default
    return is_declared and media_types.is_json(names[0]) and not any(name in html_text.TYPES for name in names)


def _page(response: httpx.Response, body: content.DecodedBody, max_bytes: int, sanitizer: Sanitizer) -> CallToolResult:
    """Return the error result for a page in place of JSON: its status, the likely reason, and its text."""
    text = truncation.truncate_text(body.text or "", min(max_bytes, _MAX_ERROR_BYTES))
    message = f"{_status(response)}: the API answered with an HTML page in place of JSON. {_NOT_THE_API}"
    return sanitizer.result(CallToolResult(content=(text_content(f"{message}\n\n{text}"),), is_error=True))


def _links(response: httpx.Response, body: content.DecodedBody) -> list[JsonObject]:
    """Return the links of an answer that is only links to files."""
    if isinstance(body.value, dict | list):
        return []
    is_list = media_types.essence(content_type(response)) == links.URI_LIST
    text = body.value if isinstance(body.value, str) else body.text
    return [] if text is None else links.file_links(text, is_list=is_list)


def _success(tool: Tool, blocks: Iterable[JsonObject], value: Any | Missing, meta: JsonObject) -> CallToolResult:
    """Return a result; a tool with an output schema always has structured content."""
    return CallToolResult(content=tuple(blocks), structured_content=structured(tool, value), meta=meta)


def structured(tool: Tool, value: Any | Missing) -> Any | Missing:
    """Return the structured content for a value: all of it, since the listed output schema refuses nothing.

    A tool with an output schema needs some (server/tools, "Output Schema"): without a value it is `{}` or `[]`.
    """
    if value is not MISSING or tool.output_schema is None:
        return value
    return [] if tool.output_schema.get("type") == "array" else {}


def _fit(body: content.DecodedBody, max_bytes: int) -> tuple[list[JsonObject], Any | Missing, list[str]]:
    """Return content blocks and value within the limit, and notes on what was left out."""
    if body.text is not None:
        return _fit_text(body.text, body, max_bytes)
    blocks: list[JsonObject] = []
    notes: list[str] = []
    remaining = max_bytes
    for block in body.blocks:
        if blocks and remaining < _BLOCK_BYTES:
            notes.append(f"{len(blocks)} of {len(body.blocks)} parts")
            break
        fitted, block_notes = _fit_block(block, remaining)
        remaining -= _cost(fitted)
        blocks.append(fitted)
        notes += block_notes
    return blocks, MISSING, [*notes[:_MAX_NOTES], *body.notes[-_MAX_NOTES:]]


def _fit_text(
    text: str, body: content.DecodedBody, max_bytes: int
) -> tuple[list[JsonObject], Any | Missing, list[str]]:
    """Return the text if it fits, JSON without white space; of larger JSON that of the cut value; else its beginning.

    A value is in the result twice, as text and as structured content, so each gets half of the limit.
    """
    value: Any | Missing = body.value
    notes: list[str] = []
    if value is not MISSING:
        max_bytes //= 2
    if body.is_json and not body.is_partial:
        text = jsontext.minify(text, value)
    if value is not MISSING and (body.is_partial or not truncation.surely_fits(text, max_bytes)):
        value, notes = truncation.truncate(value, max_bytes, is_partial=body.is_partial)
    if _bytes(text) <= max_bytes:
        fitted = text
    elif body.is_json:
        fitted = jsontext.write(value)
    else:
        fitted = truncation.truncate_text(text, max_bytes)
        notes = notes or [f"the first {_bytes(fitted)} of {_bytes(text) + body.unread} bytes"]
    if body.unread and not notes:
        notes = [f"{body.unread} bytes behind it were not read"]
    return [text_content(fitted)], value, notes


def _fit_block(block: JsonObject, max_bytes: int) -> tuple[JsonObject, list[str]]:
    """Return a block within the limit, with notes; bytes cannot be truncated and are replaced by their description."""
    if _cost(block) <= max_bytes:
        return block, []
    if block["type"] == "text":
        text = truncation.truncate_text(block["text"], max(max_bytes - _BLOCK_BYTES, 0))
        return text_content(text), [f"the first {_bytes(text)} of {_bytes(block['text'])} bytes of a part"]
    data = _base64_data(block)
    size = len(data) * 3 // 4 - data[-2:].count("=")
    description = f"{size} bytes of {block.get('resource', block)['mimeType']}"
    return text_content(f"[{description}: too large to be shown]"), [f"{description} left out"]


def _cost(block: JsonObject) -> int:
    """Return the bytes of the limit that a block takes."""
    size = _bytes(block["text"]) if block["type"] == "text" else len(_base64_data(block)) // content.BINARY_FACTOR
    return size + _BLOCK_BYTES


def _base64_data(block: JsonObject) -> str:
    """Return the base64 text of an image, a recording or other bytes."""
    data: str = block["resource"]["blob"] if block["type"] == "resource" else block["data"]
    return data


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _truncation_note(tool: Tool, max_bytes: int, notes: Collection[str], missing: str) -> str:
    """Return sentences about what was left out, and the arguments of this tool that make the response smaller.

    `missing` is a sentence about what was not read.
    """
    names = " or ".join(f"`{name}`" for name in _limiting_arguments(tool))
    hint = f"Ask for less with {names}." if names else "The server shows more with a larger `--max-result-tokens`."
    cut = f"It was cut to {max_bytes} bytes: {'; '.join(notes)}. {hint}" if notes else ""
    return " ".join(part for part in ("This is a part of the answer.", missing, cut) if part)


def _limiting_arguments(tool: Tool) -> list[str]:
    """Return the names of arguments that make the response smaller, or ask for its next part."""
    return [item.name for item in tool.arguments if _letters(item.name) in _LIMITING_NAMES][:5]


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name)).lower()


def _status_and_headers(tool: Tool, response: httpx.Response) -> str:
    """Return the text for a response without a body: its status, and the headers that a model needs.

    The response to HEAD has all its headers except Set-Cookie: they are what was asked for.
    """
    is_head = response.request.method == "HEAD"
    status = _status(response) if is_head else f"{_status(response)}: {NO_CONTENT}"
    needed = headers.needed_headers(tool, response)
    shown = [
        f"{name}: {value}"
        for name, value in response.headers.multi_items()
        if (is_head or name in needed) and name != "set-cookie"
    ]
    return "\n".join([status, *shown])


def _status(response: httpx.Response) -> str:
    return f"{response.status_code} {response.reason_phrase}".strip()


def _uri(response: httpx.Response) -> str:
    """Return a name for the source of bytes: the path without host and query, since a query may hold a key."""
    return f"upstream://{response.request.url.raw_path.decode('ascii').partition('?')[0]}"


def _error(
    tool: Tool, response: httpx.Response, max_bytes: int, sanitizer: Sanitizer, sent: "SentCall | None"
) -> CallToolResult:
    """Return an error result: status, reason, what the API says is wrong, the body, and for some statuses a hint."""
    from .error_hints import hint
    from .problem_details import summary

    body, text = _error_body(response, max_bytes, sanitizer)
    status = _status(response)
    found = MISSING if body.is_html else body.value
    message = summary(tool, found, None if body.is_html else body.text, response.status_code, response.reason_phrase)
    status = f"{status}:{'' if message.startswith(chr(10)) else ' '}{message}" if message else status
    blocks = [text_content("\n\n".join(part for part in (status, text) if part))]
    if advice := hint(tool, response, sent, message or ("" if body.is_json else text)):
        blocks.append(text_content(advice))
    shown = headers.needed_headers(tool, response)
    if shown:
        blocks.append(text_content(headers.line(shown, response)))
    return CallToolResult(content=tuple(blocks), is_error=True, meta={headers.HEADERS: shown} if shown else {})


def _error_body(response: httpx.Response, max_bytes: int, sanitizer: Sanitizer) -> tuple[content.DecodedBody, str]:
    """Return the body of an error, and the beginning of its text."""
    if not response.content:
        return content.DecodedBody(""), ""
    body = sanitizer.body(_read(response, max_bytes))
    text = body.text if body.text is not None else "\n".join(block.get("text", "") for block in body.blocks)
    fitted = truncation.truncate_text(text.strip(), min(max_bytes, _MAX_ERROR_BYTES))
    return body, fitted if fitted == text.strip() else f"{fitted}\n… ({_bytes(text) - _bytes(fitted)} bytes more)"
