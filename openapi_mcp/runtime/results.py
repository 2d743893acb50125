"""An upstream's answer as a CallToolResult: read by its media type, nothing lost, structured content that conforms.

A status of 400 and above is an error result with status, reason and body; everything else is a success, also when it is
empty. What the answer means is never judged. Specification: MCP server/tools ("Tool Result", "Structured Content",
"Error Handling"), RFC 9110 §15.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

import httpx

from . import answers, auth, conformance, cutting, jsontext
from .models import Tool
from .types import MISSING, CallToolResult, JsonObject, Missing, text_content
from .whole import content_type

CUT_SHORT: Final = "openapi_mcp.cut_short"
"""The response extension that `upstream` sets when it stopped reading a body at its limit."""

# What went wrong is said in the first lines; after that come stack traces and pages of HTML.
_MAX_ERROR_BYTES: Final = 8 * 1024
BINARY_FACTOR: Final = 16
"""Pictures and recordings are not read as text: they may be larger than what is (4 MiB by default, a large photo)."""

_LESS_WORDS: Final = (
    "limit page perpage pagesize pagelen pagetoken cursor offset skip top count size max maxresults "
    "first last after before startingafter endingbefore since until from to "
    "q query search filter filters fields select expand include exclude projection"
)
_LESS: Final = frozenset(_LESS_WORDS.split())
"""Names that APIs give to arguments with which one asks for less; in lower case, letters only."""


def to_result(
    tool: Tool, response: httpx.Response, *, max_bytes: int, on_cut: Callable[[str], object] = lambda _: None
) -> CallToolResult:
    """The result of a call whose upstream answered; `max_bytes` bounds its text and its structured content, each.

    `on_cut` is told what was left out, if anything was; the result says so too.
    """
    if response.status_code >= 400:
        return _error(tool, response, max_bytes)
    if not response.content:
        return _success(tool, [text_content(_status_and_headers(response))], MISSING)
    answer = answers.read(content_type(response), response.content, _uri(response))
    try:
        blocks, value, notes = _fitted(answer, max_bytes)
    except RecursionError:  # a value too deep to be measured is still text
        blocks, value, notes = _fitted(answers.Answer(answer.text), max_bytes)
    if response.extensions.get(CUT_SHORT):
        notes.append(f"only its first {len(response.content)} bytes were read")
    if notes:
        note = _cut_note(tool, max_bytes, notes)
        on_cut(note)
        blocks.append(text_content(note))
    return _success(tool, blocks, value)


def _success(tool: Tool, blocks: Iterable[JsonObject], value: Any | Missing) -> CallToolResult:
    """A tool with an output schema always has structured content that conforms to it."""
    if tool.output_schema is not None:
        whole = conformance.empty(tool.output_schema) if value is MISSING else value
        value = conformance.conformed(tool.output_schema, whole)
    return CallToolResult(content=tuple(blocks), structured_content=value)


def _fitted(answer: answers.Answer, max_bytes: int) -> tuple[list[JsonObject], Any | Missing, list[str]]:
    """Content blocks and value within the limit, and what was left out."""
    if answer.text is not None:
        return _fitted_text(answer.text, answer, max_bytes)
    blocks: list[JsonObject] = []
    notes: list[str] = []
    room = max_bytes
    for block in answer.blocks:
        fitted, note = _fitted_block(block, room)
        room -= _cost(fitted)
        blocks.append(fitted)
        notes += note
    return blocks, MISSING, notes


def _fitted_text(
    text: str, answer: answers.Answer, max_bytes: int
) -> tuple[list[JsonObject], Any | Missing, list[str]]:
    """The text as it came where it fits; of JSON that is too large, the JSON of the value that was cut."""
    value: Any | Missing = answer.value
    notes: list[str] = []
    if value is not MISSING and not cutting.surely_fits(text, max_bytes):
        value, notes = cutting.fit(value, max_bytes)
    if _bytes(text) <= max_bytes:
        kept = text
    elif answer.is_json:
        kept = jsontext.write(value)
    else:
        kept = cutting.fit_text(text, max_bytes)
        notes = notes or [f"the first {_bytes(kept)} of {_bytes(text)} bytes"]
    return [text_content(kept)], value, notes


def _fitted_block(block: JsonObject, room: int) -> tuple[JsonObject, list[str]]:
    """A block in what room is left; bytes cannot be cut and are named instead."""
    if _cost(block) <= room:
        return block, []
    if block["type"] == "text":
        kept = cutting.fit_text(block["text"], max(room, 0))
        return text_content(kept), [f"the first {_bytes(kept)} of {_bytes(block['text'])} bytes of a part"]
    held = block.get("resource", block)
    data = _held(block)
    what = f"{len(data) * 3 // 4 - data[-2:].count('=')} bytes of {held['mimeType']}"
    return text_content(f"[{what}: too large to be shown]"), [f"{what} left out"]


def _cost(block: JsonObject) -> int:
    """How much of the limit a block takes."""
    return _bytes(block["text"]) if block["type"] == "text" else len(_held(block)) // BINARY_FACTOR


def _held(block: JsonObject) -> str:
    """The base64 text of an image, a recording or other bytes."""
    data: str = block["resource"]["blob"] if block["type"] == "resource" else block["data"]
    return data


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _cut_note(tool: Tool, max_bytes: int, notes: Iterable[str]) -> str:
    """What was left out, and by which arguments of this tool one asks for less."""
    names = [f"`{item.name}`" for item in tool.arguments if "".join(filter(str.isalpha, item.name)).lower() in _LESS]
    cure = f" Ask for less with {' or '.join(names[:5])}." if names else ""
    return f"The answer was cut to {max_bytes} bytes: {'; '.join(notes)}.{cure}"


def _status_and_headers(response: httpx.Response) -> str:
    """An answer without a body: its status, that there is none, and what its headers say of the resource."""
    head = response.request.method == "HEAD"
    status = _status(response) if head else f"{_status(response)}: the answer has no content."
    told = [(k, v) for k, v in response.headers.multi_items() if (head or k in _TELLING) and k != "set-cookie"]
    return "\n".join([status, *(f"{name}: {value}" for name, value in told)])


_TELLING: Final = frozenset({"location", "content-location", "etag", "retry-after"})
"""Headers that are the answer where there is no body: where the new thing is, when to come back (RFC 9110 §10.2)."""


def _status(response: httpx.Response) -> str:
    return f"{response.status_code} {response.reason_phrase}".strip()


def _uri(response: httpx.Response) -> str:
    """Where bytes came from, without host and query: neither is the model's business, and a query may hold a key."""
    return f"upstream://{response.request.url.raw_path.decode('ascii').partition('?')[0]}"


def _error(tool: Tool, response: httpx.Response, max_bytes: int) -> CallToolResult:
    """Status, reason, body, and for some statuses what would help."""
    blocks = [text_content("\n\n".join(part for part in (_status(response), _error_body(response, max_bytes)) if part))]
    hint = _hint(tool, response)
    if hint:
        blocks.append(text_content(hint))
    return CallToolResult(content=tuple(blocks), is_error=True)


def _error_body(response: httpx.Response, max_bytes: int) -> str:
    if not response.content:
        return ""
    answer = answers.read(content_type(response), response.content, _uri(response))
    limit = min(max_bytes, _MAX_ERROR_BYTES)
    text = answer.text if answer.text is not None else "\n".join(block.get("text", "") for block in answer.blocks)
    kept = cutting.fit_text(text.strip(), limit)
    return kept if kept == text.strip() else f"{kept}\n… ({_bytes(text) - _bytes(kept)} bytes more)"


def _hint(tool: Tool, response: httpx.Response) -> str:
    """What to do about a refusal, if anybody can do something."""
    if response.status_code in {401, 403, 407}:
        return auth.hint(tool)
    after = response.headers.get("retry-after")
    if after:
        return f"Try again {'after ' + after if not after.isdigit() else f'in {after} seconds'}."
    return ""
