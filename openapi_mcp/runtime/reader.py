"""One HTTP/1.1 answer out of bytes: pure, whatever pieces they come in; what is wrong with them is an exception.

Where a body ends is decided here, and so whether its connection can be used again: only after an answer that said where
it ends, ended there, and was followed by nothing. Specification: RFC 9112 §4 to §7 and §9.3, RFC 9110 §15.2.
"""

from typing import Final

import httptools
import httpx

MAX_HEAD_BYTES: Final = 100 * 1024
"""Header fields and trailers of one answer, those of its 1xx too; httpx's own transport takes as many."""

_NO_BODY: Final = frozenset({204, 304})
_CODINGS: Final = frozenset({b"content-encoding", b"transfer-encoding"})
_TELLING: Final = _CODINGS | {b"content-length", b"content-type"}
# What llhttp would refuse and httpx takes: lines that end in a line feed only, folded lines, control characters in a
# value, and both a length and chunks (the chunks count). An answer goes nowhere else as HTTP, so nobody is misled.
_AS_HTTPX: Final = {
    "lenient_headers": True,
    "lenient_optional_cr_before_lf": True,
    "lenient_chunked_length": True,
}


class Reader:
    """What came of one answer. `status` is 0 until its head is whole; `body` holds what was not taken yet.

    `begun` says whether anything came at all, `complete` that nothing more will, `held` how many bytes `body` has.
    `feed` and `end` are told what arrives; methods named `on_…` are the parser's.
    """

    __slots__ = (
        "_bodiless",
        "_doubtful",
        "_ended_by_close",
        "_fields",
        "_informational",
        "_parser",
        "_told",
        "_without_body",
        "begun",
        "body",
        "complete",
        "headers",
        "held",
        "reason",
        "reusable",
        "status",
        "version",
    )

    def __init__(self, method: str) -> None:
        self.begun = self.complete = self.reusable = False
        self.status = self.held = 0
        self.version = "1.1"
        self.reason = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.body: list[bytes] = []
        self._told: dict[bytes, list[bytes]] = {}  # what is said of the body, by names in lower case
        self._bodiless = method == "HEAD"
        self._informational = self._ended_by_close = self._doubtful = False
        self._fields = self._without_body = 0
        self._parser = httptools.HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(**_AS_HTTPX)

    @property
    def coded(self) -> bool:
        """Whether the body is not simply what came."""
        return not _CODINGS.isdisjoint(self._told)

    @property
    def content_type(self) -> str:
        """The header, empty where there is none."""
        return b", ".join(self._told.get(b"content-type", ())).decode("latin-1")

    def feed(self, data: bytes) -> None:
        """Read what arrived. Raises httpx.RemoteProtocolError."""
        self.begun = True
        if self.complete:
            self.reusable = False  # nobody asked for more
            return
        self._without_body += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self.reusable = False
            if not self.complete:  # what follows an answer does not make it worse
                raise httpx.RemoteProtocolError(_why(error)) from error
        if self._without_body > MAX_HEAD_BYTES and not self.complete:
            raise httpx.RemoteProtocolError(_TOO_MUCH)

    def end(self) -> None:
        """Read that nothing more will arrive. Raises httpx.RemoteProtocolError."""
        if self._ended_by_close:
            self.complete = True
        elif not self.begun:
            raise httpx.RemoteProtocolError("The server closed the connection without an answer.")
        elif not self.complete:
            raise httpx.RemoteProtocolError("The server closed the connection within its answer.")

    def take(self) -> bytes:
        """What came of the body since the last time."""
        taken = self.body[0] if len(self.body) == 1 else b"".join(self.body)
        self.body.clear()
        self.held = 0
        return taken

    def on_message_begin(self) -> None:
        """Of an answer; of another after a 1xx; or of one that nobody asked for."""
        self.reusable = False

    def on_status(self, reason: bytes) -> None:
        """A piece of the reason phrase."""
        if not self.status:
            self.reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header field; after the body, a trailer, which is left out as httpx does."""
        self._fields += len(name) + len(value)
        if self._fields > MAX_HEAD_BYTES:
            raise ValueError(_TOO_MUCH)
        if not self.status:
            value = value.rstrip(b" \t")
            self.headers.append((name, value))
            if (field := name.lower()) in _TELLING:
                self._told.setdefault(field, []).append(value)

    def on_headers_complete(self) -> None:
        """The head is whole; that of a 1xx is forgotten."""
        if self.complete:
            return
        status = self._parser.get_status_code()
        self._informational = status < 200
        if status == 101:
            raise ValueError("it switches to a protocol that nobody asked for")
        if self._informational:
            self.reason = b""
            self.headers.clear()
            self._told.clear()
            return
        self._frame(status)
        self.version = self._parser.get_http_version()
        self.status = status

    def on_body(self, data: bytes) -> None:
        """A piece of the body."""
        self._without_body = 0
        if not self.complete:
            self.body.append(data)
            self.held += len(data)

    def on_message_complete(self) -> None:
        """The end of an answer, or of a 1xx."""
        if not self._informational and not self.complete:
            self._complete()

    def _frame(self, status: int) -> None:
        """Where the body ends."""
        codings = self._told.get(b"transfer-encoding", ())
        if any(coding.lower() != b"chunked" for coding in codings):
            raise ValueError("its Transfer-Encoding is not known")
        if self._bodiless or status in _NO_BODY:
            self._complete()
        self._ended_by_close = not codings and b"content-length" not in self._told
        self._doubtful = len(codings) > 1 or (bool(codings) and b"content-length" in self._told)

    def _complete(self) -> None:
        self.complete = True
        self.reusable = self._parser.should_keep_alive() and not self._doubtful


_TOO_MUCH: Final = f"it has more than {MAX_HEAD_BYTES} bytes of header fields"


def _why(error: Exception) -> str:
    """The reason of our own where a method above had one, else the parser's."""
    return f"The answer cannot be read: {error.__context__ or error}."
