"""HTTP/1.1 without I/O: a request to bytes, and `ResponseParser`, which makes a response of bytes in any pieces.

Requests are written as httpx's own transport writes them: header fields in their order and case, but Host first; no
value can break out of its line. `ResponseParser` (over httptools) decides where a body ends, and so whether the
connection can be reused: only after a response that declared its end, ended there, and was followed by nothing.
Malformed input raises MalformedResponse, and the end of a connection before that of its response IncompleteResponse.
What surrounds a body (header fields, 1xx responses, chunk extensions, trailers) is limited in bytes and number.

`BufferedResponse` is a response that arrived together with its body. httpx reads every body as a stream of pieces that
may have to be decoded, which costs more than most bodies need.

Specification: RFC 9112 §3 to §7 and §9.3, RFC 9110 §5.5 and §15.2. `transport` says why this is not httpx's own.
"""

import re
from functools import cached_property, lru_cache
from typing import Any, Final

import httptools
import httpx

MAX_HEAD_BYTES: Final = 100 * 1024
"""Header fields and trailers of one response, those of its 1xx responses too; httpx's own transport takes as many."""

MAX_FIELDS: Final = 1000
"""Header fields of one response; servers send fewer than a hundred."""

MAX_FRAMING_FACTOR: Final = 16
"""Bytes of chunk sizes and extensions for each byte of a body, beyond `MAX_HEAD_BYTES`: a chunk of one needs five."""

SURPLUS: Final = "openapi_mcp.surplus"
"""The response extension that marks a body after whose Content-Length more bytes arrived, which were dropped."""

_TOKEN: Final = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# A value has no line break, no null and no space around it; other control characters pass, as httpx lets them.
_VALUE: Final = rb"(?:[^\x00\s](?:[^\x00\r\n\x0b\x0c]*[^\x00\s])?)?"
_LINE: Final = re.compile(rb"%b [!-~]+ HTTP/1\.1\r\n" % _TOKEN)
_FIELDS: Final = re.compile(rb"(?:%b: %b\r\n)*" % (_TOKEN, _VALUE))
_INVALID_HEAD: Final = "The method, the target or a header field holds what HTTP does not allow there."
# Values of a body's length that are no Content-Length.
_CHUNKED: Final = -1
_EMPTY: Final = 0

_STATUSES_WITHOUT_BODY: Final = frozenset({204, 304})
_CODING_FIELDS: Final = frozenset({b"content-encoding", b"transfer-encoding"})
_BODY_FIELDS: Final = _CODING_FIELDS | {b"content-length", b"content-type"}
# What llhttp would refuse and httpx accepts: lines that end in a line feed only, folded lines, control characters in a
# value, and both a length and chunks (the chunks count). A response is never passed on as HTTP: no other
# parser can read it differently.
_LENIENCIES: Final = {
    "lenient_headers": True,
    "lenient_optional_cr_before_lf": True,
    "lenient_chunked_length": True,
}
_HEAD_TOO_LARGE: Final = f"it has more than {MAX_HEAD_BYTES} bytes of header fields"
_TOO_MUCH_FRAMING: Final = "its chunks have far more bytes around the body than in it"
_VERSIONS: Final = frozenset({"1.1", "1.0"})
_NOT_HTTP: Final = "it does not begin with HTTP/1.1 or HTTP/1.0"
_CONTROL_CHARACTERS: Final = bytes(range(32)) + b"\x7f"


class MalformedResponse(httpx.RemoteProtocolError):
    """A response is not HTTP/1.1; the text says why, for a model, and holds nothing that was received."""


class IncompleteResponse(httpx.RemoteProtocolError):
    """A connection ended before its response did; the text says where, as what the API did: "closed the …"."""


def request_head(request: httpx.Request) -> tuple[bytes, "BodyWriter"]:
    """Return request line and header fields, and the writer of the body. Raises httpx.LocalProtocolError."""
    line = b"%b %b HTTP/1.1\r\n" % (request.method.encode(), request.url.raw_path)
    fields, length = _fields(tuple(raw_headers(request)))
    if _LINE.fullmatch(line) is None:
        raise httpx.LocalProtocolError(_INVALID_HEAD)
    return line + fields, BodyWriter(length)


def raw_headers(message: httpx.Request | httpx.Response) -> list[tuple[bytes, bytes]]:
    """Return the header fields of a message without making `httpx.Headers` of them, which few messages need."""
    known: list[tuple[bytes, bytes]] | None = getattr(message, "fields", None)
    return message.headers.raw if known is None or "headers" in vars(message) else known


@lru_cache(256)  # calls of one tool mostly have the same
def _fields(raw: tuple[tuple[bytes, bytes], ...]) -> tuple[bytes, int]:
    """Return header fields with the empty line after them, and the body's length. Raises httpx.LocalProtocolError."""
    lines: list[bytes] = []
    length = _EMPTY
    for name, value in raw:
        field = name.lower()
        if field == b"transfer-encoding":
            value, length = b"chunked", _check_chunked(value)  # noqa: PLW2901  # as httpx writes it
        elif field == b"content-length" and length != _CHUNKED:
            length = _parse_length(value)
        lines.insert(0 if field == b"host" else len(lines), b"%b: %b\r\n" % (name, value))
    text = b"".join(lines)
    if text.count(b"\n") != len(lines) or _FIELDS.fullmatch(text) is None:
        raise httpx.LocalProtocolError(_INVALID_HEAD)
    return text + b"\r\n", length


def _check_chunked(coding: bytes) -> int:
    if coding.lower() != b"chunked":
        raise httpx.LocalProtocolError("The only Transfer-Encoding is chunked.")
    return _CHUNKED


def _parse_length(value: bytes) -> int:
    if not value.isdigit():
        raise httpx.LocalProtocolError("The Content-Length is not a number.")
    return int(value)


class BodyWriter:
    """The framing of one request body: as it is or in chunks, checked against its Content-Length."""

    def __init__(self, length: int) -> None:
        self._remaining = length

    def piece(self, data: bytes) -> bytes:
        """Return a piece of the body as it is sent. Raises httpx.LocalProtocolError beyond the Content-Length."""
        if self._remaining == _CHUNKED:
            return b"%x\r\n%b\r\n" % (len(data), data) if data else b""
        self._remaining -= len(data)
        if self._remaining < 0:
            raise httpx.LocalProtocolError("The body is longer than its Content-Length.")
        return data

    def end(self) -> bytes:
        """Return what follows the last piece. Raises httpx.LocalProtocolError below the Content-Length."""
        if self._remaining > 0:
            raise httpx.LocalProtocolError("The body is shorter than its Content-Length.")
        return b"0\r\n\r\n" if self._remaining == _CHUNKED else b""


class ResponseParser:
    """The parser of one response.

    `feed` and `end` take what arrives; the methods named `on_…` are callbacks of httptools. `has_data` tells whether
    anything arrived; `status` is 0 until the head is complete; `body` holds the pieces that `take_body` has not
    returned, `buffered_bytes` their size; `is_complete` tells whether the response is complete, `is_reusable` whether
    its connection can be reused, `has_surplus` whether bytes arrived after the end that a Content-Length declared.
    """

    has_data = is_complete = is_reusable = has_surplus = False
    status = buffered_bytes = 0
    version = "1.1"
    reason = b""
    _is_informational = _ends_with_connection = _has_ambiguous_end = _has_null = False
    _field_bytes = _bytes_without_body = _body_bytes = _received_bytes = 0

    def __init__(self, method: str) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self.body: list[bytes] = []
        self._fields: dict[bytes, list[bytes]] = {}  # the header fields about the body, by names in lower case
        self._is_bodiless = method == "HEAD"
        self._parser: Any = httptools.HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(**_LENIENCIES)

    @property
    def is_encoded(self) -> bool:
        """True if the body has a content or transfer coding."""
        return not _CODING_FIELDS.isdisjoint(self._fields)

    @property
    def content_type(self) -> str:
        """The Content-Type header, empty without one."""
        return b", ".join(self._fields.get(b"content-type", ())).decode("latin-1")

    def feed(self, data: bytes) -> None:
        """Parse what arrived. Raises MalformedResponse."""
        is_first, self.has_data = not self.has_data, True
        if is_first and data[:1] != b"H" and data.lstrip(b"\r\n")[:1] not in {b"H", b""}:
            raise MalformedResponse(_NOT_HTTP)  # httptools takes other protocols too
        if self.is_complete:
            self._note_surplus()
            return
        self._bytes_without_body += len(data)
        self._received_bytes += len(data)
        if not self.status and 0 in data:
            self._has_null = True
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._end_with(error)
        if self._bytes_without_body > MAX_HEAD_BYTES and not self.is_complete:
            raise MalformedResponse(_TOO_MUCH_FRAMING if self.status else _HEAD_TOO_LARGE)
        if self._received_bytes > MAX_HEAD_BYTES + MAX_FRAMING_FACTOR * self._body_bytes and not self.is_complete:
            raise MalformedResponse(_TOO_MUCH_FRAMING)

    def _end_with(self, error: Exception) -> None:
        """Raise MalformedResponse, unless the response is complete: what follows does not invalidate it."""
        self.is_reusable = False
        if not self.is_complete:
            raise MalformedResponse(_reason(error)) from error
        self._note_surplus()

    def _note_surplus(self) -> None:
        """Note bytes that answer no request."""
        self.is_reusable = False
        self.has_surplus = self._body_bytes > 0 and b"content-length" in self._fields

    def end(self) -> None:
        """Handle the end of the connection. Raises IncompleteResponse if the response is not complete."""
        if self._ends_with_connection:
            self.is_complete = True
        elif not self.is_complete:
            raise IncompleteResponse(f"closed the connection {self._place()}")

    def _place(self) -> str:
        """Return where an incomplete response ended."""
        if not self.has_data:
            return "without an answer"
        if not self.status:
            return "early, within the head of its response"
        length = b"".join(self._fields.get(b"content-length", ())).decode("ascii", "replace")
        if length and b"transfer-encoding" not in self._fields:
            return f"early: it sent {self._body_bytes} of the {length} bytes of its response"
        return "early: the body of its response ended without its last chunk"

    def close(self) -> None:
        """Forget the parser, whose callbacks are methods of this object: a circle is left to garbage collection."""
        self._parser = None

    def take_body(self) -> bytes:
        """Return what arrived of the body since the last time, and forget it."""
        body = self.body[0] if len(self.body) == 1 else b"".join(self.body)
        self.body.clear()
        self.buffered_bytes = 0
        return body

    def on_message_begin(self) -> None:
        """Handle the start of the response, of another one after a 1xx, or of one that was not requested."""
        if self.is_complete:
            self._note_surplus()

    def on_status(self, reason: bytes) -> None:
        """Append a piece of the reason phrase."""
        if not self.status:
            self.reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header field; after the body it is a trailer, which is dropped as httpx does."""
        self._field_bytes += len(name) + len(value)
        if self._field_bytes > MAX_HEAD_BYTES:
            raise ValueError(_HEAD_TOO_LARGE)
        if not self.status:
            value = value.rstrip(b" \t")
            self.headers.append((name, value))
            if (field := name.lower()) in _BODY_FIELDS:
                self._fields.setdefault(field, []).append(value)

    def on_headers_complete(self) -> None:
        """Handle the end of the head; the head of a 1xx response is forgotten."""
        if self.is_complete:
            return
        status = self._parser.get_status_code()
        version = self._parser.get_http_version()
        if version not in _VERSIONS:
            raise ValueError(_NOT_HTTP)
        if status < 100:
            raise ValueError("its status is below 100")
        if self._has_null or len(self.headers) > MAX_FIELDS:
            self._check_fields()
        self._is_informational = status < 200
        if status == 101:
            raise ValueError("it switches to a protocol that was not requested")
        if self._is_informational:
            self.reason = b""
            self.headers.clear()
            self._fields.clear()
            return
        self._determine_end(status)
        self.version = version
        if self.reason != b"OK":  # as most are
            self.reason = self.reason.translate(None, _CONTROL_CHARACTERS)
        self.status = status

    def _check_fields(self) -> None:
        if self._has_null and any(b"\0" in value for _, value in self.headers):
            raise ValueError("a header field has a null character")
        if len(self.headers) > MAX_FIELDS:
            raise ValueError(f"it has more than {MAX_FIELDS} header fields")

    def on_body(self, data: bytes) -> None:
        """Store a piece of the body."""
        self._bytes_without_body = 0
        if not self.is_complete:
            self.body.append(data)
            self.buffered_bytes += len(data)
            self._body_bytes += len(data)

    def on_message_complete(self) -> None:
        """Handle the end of the response, or of a 1xx response."""
        if not self._is_informational and not self.is_complete:
            self._complete()

    def _determine_end(self, status: int) -> None:
        """Set what ends the body, from the status and the header fields (RFC 9112 §6.3)."""
        codings = self._fields.get(b"transfer-encoding", ())
        if codings and any(coding.lower() != b"chunked" for coding in codings):
            raise ValueError("its Transfer-Encoding is not known")
        if self._is_bodiless or status in _STATUSES_WITHOUT_BODY:
            self._complete()
        self._ends_with_connection = not codings and b"content-length" not in self._fields
        self._has_ambiguous_end = len(codings) > 1 or (bool(codings) and b"content-length" in self._fields)

    def _complete(self) -> None:
        self.is_complete = True
        self.is_reusable = self._parser.should_keep_alive() and not self._has_ambiguous_end


def _reason(error: Exception) -> str:
    """Return why a response is malformed: the reason of a callback above if one raised, else httptools' own."""
    return str(error.__context__ or error)


class BufferedResponse(httpx.Response):
    """A response together with its body, which is not encoded. `content_type` is its header, empty without one.

    It skips the constructor of httpx, and makes `headers` of its `fields` when they are asked for.
    """

    is_closed = is_stream_consumed = False
    next_request = None
    default_encoding = "utf-8"
    _request = None
    _num_bytes_downloaded = 0

    def __init__(
        self,
        status: int,
        fields: list[tuple[bytes, bytes]],
        body: bytes,
        *,
        content_type: str,
        extensions: dict[str, Any],
    ) -> None:
        self.status_code = status
        self.fields = fields
        self.extensions = extensions
        self.content_type = content_type
        self._content = body

    @cached_property
    def headers(self) -> httpx.Headers:  # type: ignore[override]
        """The header fields."""
        return httpx.Headers(self.fields)

    @cached_property
    def history(self) -> list[httpx.Response]:  # type: ignore[override]
        """No responses: redirects are followed elsewhere."""
        return []

    @cached_property
    def stream(self) -> httpx.ByteStream:  # type: ignore[override]
        """The body."""
        return httpx.ByteStream(self._content)

    async def aclose(self) -> None:
        """Do nothing: the body is in memory and its connection was released."""


def content_type(response: httpx.Response) -> str:
    """Return a response's Content-Type header, empty without one."""
    return response.content_type if isinstance(response, BufferedResponse) else response.headers.get("content-type", "")
