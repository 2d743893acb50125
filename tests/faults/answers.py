"""Rows of the hostile API: one for each fault, called by one client while another pings."""

import json
import re
from typing import Final

from tests.faults import calling
from tests.faults.rows import Row, Target, UnexpectedResult

MAX_RESULT_BYTES: Final = 400_000
"""Of a whole result as JSON: 20,000 tokens of four bytes, doubled by escapes, and what stands around them."""

FORBIDDEN: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\U000e0000-\U000e007f]|canary-6f1d0c|smuggled")
"""Parts that no text of a result may contain: control and tag characters, the credential, another answer's bytes."""


NAMES: Final[set[str]] = set()
"""The faults that have a row."""


LONG: Final = frozenset(
    {
        *("hang", "drip-head", "drip-headers", "drip-body", "drip-chunks", "drip-events", "drip-continue"),
        *("endless-body", "json-deep", "json-deep-objects", "json-60mb-text", "json-million-keys", "json-lines"),
        *("records-60mb", "records-wrong", "error-60mb", "text-60mb", "bytes-60mb", "html-deep"),
    }
)
"""Faults that take seconds, which `make test` leaves to `make faults`."""


def row(name: str, description: str, expected: str, *, tool: str = "getFault", body: object = None) -> Row:
    """Return the row of a fault whose outcome must match a regular expression."""

    async def run(target: Target) -> str:
        arguments: dict[str, object] = {"name": name} if body is None else {"name": name, "body": body}
        result = await calling.call(target, tool, arguments)
        check(result)
        outcome = calling.sentence(result)
        if not re.search(expected, outcome):
            raise UnexpectedResult(f"expected /{expected}/, got: {outcome}")
        return outcome

    NAMES.add(name)
    return Row("api", description, run, short=name not in LONG)


def check(result: dict[str, object]) -> None:
    """Raise UnexpectedResult if a result is too large or shows what no model should see."""
    size = len(json.dumps(result))
    if size > MAX_RESULT_BYTES:
        raise UnexpectedResult(f"a result of {size} bytes")
    for text in strings(result):
        if found := FORBIDDEN.search(text):
            raise UnexpectedResult(f"a result with {found[0]!r} in it")


def strings(value: object) -> list[str]:
    """Return all strings of a JSON value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in strings(part)]
    return [text for part in value for text in strings(part)] if isinstance(value, list) else []


ERROR: Final = "^error: "
RESULT: Final = "^result: "
PART: Final = "^result: This is a part of the answer"

ROWS: Final = [
    row("reset-at-once", "resets the connection at once", ERROR),
    row("reset-in-head", "resets it inside the head", ERROR),
    row("reset-in-body", "resets it inside the body", ERROR),
    row("closed-at-once", "closes the connection without an answer", ERROR),
    row("hang", "never answers", ERROR),
    row("drip-head", "sends the head a byte at a time", ERROR),
    row("drip-headers", "sends a header every half second", ERROR),
    row("drip-body", "sends the body a byte at a time", ERROR),
    row("drip-chunks", "sends a chunk every half second", ERROR),
    row("drip-events", "sends comments on an event stream", PART),
    row("drip-continue", "sends 100 Continue five times a second", ERROR),
    row("endless-continue", "sends 103 Early Hints without end", ERROR),
    row("endless-headers", "sends headers without end", ERROR),
    row("endless-status-line", "sends a status line without end", ERROR),
    row("endless-body", "sends a body without end", PART),
    row("endless-chunk-extension", "sends a chunk extension without end", ERROR),
    row("tiny-chunks", "sends 400,000 chunks of a byte", PART),
    row("many-trailers", "sends 1,000 trailers and no end", ERROR),
    row("trailer-flood", "sends trailers without end", ERROR),
    row("endless-events", "sends events without end", PART),
    row("one-event", "sends one event of 130 MB", PART),
    row("large-header", "sends a header of 8 MiB", ERROR),
    row("many-headers", "sends 50,000 headers", ERROR),
    row("set-cookie-flood", "sends 3,000 cookies", ERROR),
    row("link-flood", "sends 5,000 links", RESULT),
    row("header-controls", "sends control characters in headers", RESULT),
    row("header-bad-name", "sends a header name with a space", ERROR),
    row("header-nul", "sends a NUL in a header", ERROR),
    row("gzip-bomb", "sends 1 GiB as gzip", PART),
    row("gzip-gzip", "sends 8 GiB as gzip in gzip", ERROR),
    row("gzip-two-headers", "says gzip in two headers", ERROR),
    row("gzip-ten", "sends gzip in ten layers", ERROR),
    row("deflate-gzip", "sends gzip in deflate", ERROR),
    row("gzip-members", "sends 1,000,000 empty gzip members", ERROR),
    row("gzip-corrupt", "says gzip and sends none", ERROR),
    row("gzip-cut", "cuts gzip off", PART),
    row("coding-unknown", "uses an unknown content coding", RESULT),
    row("length-too-long", "says more bytes than it sends", ERROR),
    row("length-too-short", "sends more bytes than it says", PART),
    row("length-twice", "sends two lengths", ERROR),
    row("length-negative", "sends a negative length", ERROR),
    row("length-huge", "sends a length of 23 digits", ERROR),
    row("length-and-chunked", "sends a length and chunks", RESULT),
    row("chunk-rubbish", "sends a chunk size that is no number", ERROR),
    row("chunk-huge", "sends a chunk size of 72 bits", ERROR),
    row("chunk-cut", "cuts a chunk off", ERROR),
    row("http-2", "answers with an HTTP/2.0 line", ERROR),
    row("http-9", "answers with an HTTP/9.9 line", ERROR),
    row("http-0.9", "answers without a status line", ERROR),
    row("ssh", "is an SSH server", ERROR),
    row("status-42", "answers with status 42", ERROR),
    row("status-999", "answers with status 999", ERROR),
    row("status-101", "switches protocols", ERROR),
    row("status-204-body", "sends 204 with a body", "^result: "),
    row("status-205", "sends 205", RESULT),
    row("status-304", "sends 304", RESULT),
    row("status-401", "sends 401 with a challenge", "401"),
    row("second-answer", "sends a second answer that nobody asked for", PART),
    row("redirect-metadata", "redirects to the metadata address", "302"),
    row("redirect-loopback", "redirects to another loopback port", "302"),
    row("redirect-ipv6", "redirects to the metadata address as IPv6", "302"),
    row("redirect-file", "redirects to a file", "302"),
    row("redirect-body", "redirects a body to another host", "307", tool="sendFault", body={"secret": 1}),
    row("redirect-port", "redirects a body to another port", "308", tool="sendFault", body={"secret": 1}),
    row("redirect-loop", "redirects to itself", ERROR),
    row("redirect-long", "redirects to 60,000 characters", RESULT),
    row("redirect-bad", "redirects to no URL", RESULT),
    row("retry-after-huge", "asks to wait 30,000 years", "429"),
    row("retry-after-bad", "asks to wait a word", "503"),
    row("kind-html", "sends HTML as JSON", "login or start page"),
    row("kind-json-image", "sends JSON as an image", RESULT),
    row("kind-none", "sends no media type", RESULT),
    row("kind-rubbish", "sends rubbish as the media type", RESULT),
    row("kind-quoted", "sends a media type of 90,000 semicolons in quotes", RESULT),
    row("kind-long", "sends a media type of 50,000 characters", RESULT),
    row("json-deep", "sends 1,000,000 nested arrays", PART),
    row("json-deep-objects", "sends 500,000 nested objects", PART),
    row("json-huge-number", "sends a number of 4,000,000 digits", PART),
    row("json-1e400", "sends 1e400", RESULT),
    row("json-nan", "sends NaN", RESULT),
    row("json-twice", "sends a key twice", RESULT),
    row("json-surrogates", "sends lone surrogates", RESULT),
    row("json-60mb", "sends 60 MB of JSON", PART),
    row("json-60mb-text", "sends a JSON string of 60 MB", PART),
    row("json-million-keys", "sends an object of 1,000,000 keys", PART),
    row("records-60mb", "sends 60 MB that fit the schema", PART, tool="getRecords"),
    row("records-wrong", "sends 60 MB that do not", PART, tool="getRecords"),
    row("records-unique", "sends a set of 60,000 objects", PART, tool="getRecords"),
    row("records-tree", "sends a filter with a wrong leaf", RESULT, tool="getRecords"),
    row("json-lines", "sends 1,000,000 lines of JSON", PART),
    row("utf8-invalid", "sends invalid UTF-8", RESULT),
    row("utf16", "sends UTF-16", RESULT),
    row("charset-wrong", "names an unknown charset", RESULT),
    row("charset-names", "names the codec of host names", PART),
    row("charset-codec", "names a codec that unpacks", RESULT),
    row("controls", "sends OSC and other control sequences", RESULT),
    row("controls-json", "sends them in JSON", RESULT),
    row("hidden-text", "sends invisible characters", RESULT),
    row("echo", "sends the credential back", "400"),
    row("multipart-200k", "sends 200,000 parts", PART),
    row("multipart-fields", "sends a part of 2,000,000 fields", PART),
    row("multipart-dashes", "sends 4,000,000 lines that are nearly delimiters", PART),
    row("multipart-open", "sends multipart without an end", RESULT),
    row("multipart-nested", "sends multipart in 5,000 layers", RESULT),
    row("multipart-empty-boundary", "sends multipart with an empty boundary", RESULT),
    row("error-60mb", "sends an error of 60 MB", "500"),
    row("xml-entities", "sends XML whose entities multiply", RESULT),
    row("xml-deep", "sends 500,000 nested elements", PART),
    row("html-deep", "sends 1,000,000 nested elements of HTML", PART),
    row("html-reference", "sends a character reference of 6,000,000 digits", PART),
    row("html-comments", "sends 500,000 open comments", PART),
    row("text-60mb", "sends 60 MB of text", PART),
    row("bytes-60mb", "sends 60 MB of bytes", PART),
    row("image-60mb", "sends an image of 60 MB", PART),
    row("fine", "answers", "fine"),
]
"""A row for every fault of `api.FAULTS`."""
