"""A hostile API: each path below `/f/` is one fault. Run as a program it prints its URL and serves until it is ended.

The faults are raw bytes on a connection, since no HTTP server would send them. `FAULTS` maps names to what answers.
"""

import asyncio
import contextlib
import socket
import struct
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from tests.faults import payloads

MAX_DRIPPED: Final = 2000
"""Pieces that a drip sends before the API gives up: minutes, so that a call without an end is noticed."""

CHUNK: Final = 1 << 16


def response(body: bytes, *headers: str, status: str = "200 OK", kind: str = "application/json") -> bytes:
    """Return a whole response with a correct length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


@dataclass(frozen=True, slots=True)
class Conversation:
    """One request and the connection that it came on."""

    target: str
    head: bytes
    body: bytes
    writer: asyncio.StreamWriter

    async def send(self, *parts: bytes) -> None:
        for part in parts:
            self.writer.write(part)
            await self.writer.drain()

    async def answer(self, body: bytes, *headers: str, status: str = "200 OK", kind: str = "application/json") -> None:
        """Send a whole response with a correct length."""
        await self.send(response(body, *headers, status=status, kind=kind))

    async def raw(self, head: str, *parts: bytes) -> None:
        """Send a head whose lines are given, then parts, then the end of the connection."""
        await self.send(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n", *parts)
        await self.close()

    async def repeat(self, head: str, part: bytes, times: int) -> None:
        await self.send(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n")
        for _ in range(times):
            await self.send(part)
        await self.close()

    async def drip(self, data: bytes, seconds: float = 0.2) -> None:
        """Send bytes one by one, and the last again and again."""
        for count in range(MAX_DRIPPED):
            await self.send(data[count : count + 1] or data[-1:])
            await asyncio.sleep(seconds)

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()

    def reset(self) -> None:
        """End the connection with RST."""
        peer: socket.socket = self.writer.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Fault = Callable[[Conversation], Awaitable[None]]
OK: Final = "HTTP/1.1 200 OK\nContent-Type: application/json"
GZIP: Final = OK + "\nContent-Encoding: gzip"


async def reset_at_once(it: Conversation) -> None:
    it.reset()


async def reset_in_head(it: Conversation) -> None:
    await it.send(b"HTTP/1.1 200 OK\r\nContent-Ty")
    it.reset()


async def reset_in_body(it: Conversation) -> None:
    await it.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
    it.reset()


async def hang(_: Conversation) -> None:
    await asyncio.sleep(600)


async def drip_head(it: Conversation) -> None:
    await it.drip(b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 10)


async def drip_headers(it: Conversation) -> None:
    await it.send(b"HTTP/1.1 200 OK\r\n")
    for _ in range(MAX_DRIPPED):
        await it.send(b"X-Slow: x\r\n")
        await asyncio.sleep(0.5)


async def drip_body(it: Conversation) -> None:
    await it.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
    await it.drip(b'"' + b"x" * 10)


async def drip_chunks(it: Conversation) -> None:
    await it.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(MAX_DRIPPED):
        await it.send(b"1\r\nx\r\n")
        await asyncio.sleep(0.5)


async def drip_continue(it: Conversation) -> None:
    for _ in range(MAX_DRIPPED):
        await it.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        await asyncio.sleep(0.2)


async def endless_continue(it: Conversation) -> None:
    for _ in range(200_000):
        await it.send(b"HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n" * 20)


async def endless_headers(it: Conversation) -> None:
    await it.send(b"HTTP/1.1 200 OK\r\n")
    for _ in range(100_000):
        await it.send(b"X-Bomb: 0123456789\r\n" * 100)


async def endless_status_line(it: Conversation) -> None:
    await it.send(b"HTTP/1.1 200 ")
    for _ in range(10_000):
        await it.send(b"O" * CHUNK)


async def endless_body(it: Conversation) -> None:
    await it.repeat(OK, b"[" + b"0," * 30_000, 20_000)


async def endless_chunk_extension(it: Conversation) -> None:
    await it.repeat(OK + "\nTransfer-Encoding: chunked\n\n1;x=", b"x" * CHUNK, 5000)


async def tiny_chunks(it: Conversation) -> None:
    chunks = b"1\r\n1\r\n" * 400_000
    await it.raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nTransfer-Encoding: chunked", chunks + b"0\r\n\r\n")


async def endless_trailers(it: Conversation) -> None:
    await it.repeat(OK + "\nTransfer-Encoding: chunked", b"2\r\n{}\r\n0\r\n" + b"X-Trailer: x\r\n" * 1000, 1)
    await it.close()


async def trailer_flood(it: Conversation) -> None:
    await it.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
    for _ in range(20_000):
        await it.send(b"X-Trailer: 0123456789\r\n" * 100)


async def endless_events(it: Conversation) -> None:
    await it.repeat("HTTP/1.1 200 OK\nContent-Type: text/event-stream", b'data: {"n":1}\n\n' * 1000, 20_000)


async def one_event(it: Conversation) -> None:
    await it.repeat("HTTP/1.1 200 OK\nContent-Type: text/event-stream", b"data: " + b"x" * CHUNK, 2000)


async def drip_events(it: Conversation) -> None:
    await it.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    for _ in range(MAX_DRIPPED):
        await it.send(b": still here\n\n")
        await asyncio.sleep(0.3)


async def second_answer(it: Conversation) -> None:
    """Send it together with the first one, so that whoever reads that one has it too."""
    await it.send(response(b'{"answer":"first"}') + response(b'{"answer":"smuggled"}'))


async def redirect_loop(it: Conversation) -> None:
    await it.answer(b"", f"Location: {it.target}", status="302 Found")


async def echo(it: Conversation) -> None:
    """Send the request back: head and body, as an API's error page does."""
    await it.answer(b'{"sent":%s}' % payloads.as_json(it.head.decode("latin-1")), status="400 Bad Request")


def whole(
    body: bytes | Callable[[], bytes], *headers: str, status: str = "200 OK", kind: str = "application/json"
) -> Fault:
    """Return the fault that is a whole response with a correct length."""

    async def fault(it: Conversation) -> None:
        await it.answer(body if isinstance(body, bytes) else body(), *headers, status=status, kind=kind)

    return fault


def bytes_of(head: str, *parts: bytes) -> Fault:
    """Return the fault that is a head, parts, and the end of the connection."""

    async def fault(it: Conversation) -> None:
        await it.raw(head, *parts)

    return fault


def redirect(status: str, location: str) -> Fault:
    return whole(b"moved", f"Location: {location}", status=status, kind="text/plain")


FAULTS: Final[dict[str, Fault]] = {
    "fine": whole(b'{"fine":true}'),
    "reset-at-once": reset_at_once,
    "reset-in-head": reset_in_head,
    "reset-in-body": reset_in_body,
    "closed-at-once": Conversation.close,
    "hang": hang,
    "drip-head": drip_head,
    "drip-headers": drip_headers,
    "drip-body": drip_body,
    "drip-chunks": drip_chunks,
    "drip-events": drip_events,
    "drip-continue": drip_continue,
    "endless-continue": endless_continue,
    "endless-headers": endless_headers,
    "endless-status-line": endless_status_line,
    "endless-body": endless_body,
    "endless-chunk-extension": endless_chunk_extension,
    "tiny-chunks": tiny_chunks,
    "many-trailers": endless_trailers,
    "trailer-flood": trailer_flood,
    "endless-events": endless_events,
    "one-event": one_event,
    "large-header": bytes_of(f"{OK}\nX-Bomb: {'x' * (8 << 20)}\nContent-Length: 2", b"{}"),
    "many-headers": bytes_of(OK + "\nX-Bomb: x" * 50_000 + "\nContent-Length: 2", b"{}"),
    "set-cookie-flood": bytes_of(OK + "\nSet-Cookie: a=b" * 3000 + "\nContent-Length: 2", b"{}"),
    "link-flood": bytes_of(OK + "\nLink: " + "</p>; rel=next, " * 5000 + "\nContent-Length: 2", b"{}"),
    "header-controls": bytes_of(OK + "\nETag: \x1b]0;title\x07\nLocation: /a\x9b2Jb\nContent-Length: 2", b"{}"),
    "header-bad-name": bytes_of(OK + "\nBad Name: x\nContent-Length: 2", b"{}"),
    "header-nul": bytes_of(OK + "\nX-Nul: a\0b\nContent-Length: 2", b"{}"),
    "gzip-bomb": whole(lambda: payloads.gzip_bomb(1), "Content-Encoding: gzip"),
    "gzip-gzip": whole(lambda: payloads.gzip_bomb(2), "Content-Encoding: gzip, gzip"),
    "gzip-ten": whole(lambda: payloads.gzip_layers(10), "Content-Encoding: " + ", ".join(["gzip"] * 10)),
    "gzip-two-headers": whole(lambda: payloads.gzip_bomb(2), "Content-Encoding: gzip", "Content-Encoding: gzip"),
    "deflate-gzip": whole(payloads.deflated_gzip_bomb, "Content-Encoding: gzip, deflate"),
    "gzip-members": whole(payloads.gzip_members, "Content-Encoding: gzip"),
    "gzip-corrupt": whole(b"\x1f\x8b\x08\x00 this is no gzip at all", "Content-Encoding: gzip"),
    "gzip-cut": whole(lambda: payloads.gzip_layers(1)[:-12], "Content-Encoding: gzip"),
    "coding-unknown": whole(b"???", "Content-Encoding: rot13"),
    "length-too-long": bytes_of(OK + "\nContent-Length: 1000", b'{"cut":'),
    "length-too-short": bytes_of(OK + "\nContent-Length: 2", b'{}{"smuggled":true}'),
    "length-twice": bytes_of(OK + "\nContent-Length: 2\nContent-Length: 19", b'{}{"smuggled":true}'),
    "length-negative": bytes_of(OK + "\nContent-Length: -5", b"{}"),
    "length-huge": bytes_of(OK + "\nContent-Length: 99999999999999999999999", b"{}"),
    "length-and-chunked": bytes_of(OK + "\nContent-Length: 4\nTransfer-Encoding: chunked", b"2\r\n{}\r\n0\r\n\r\n"),
    "chunk-rubbish": bytes_of(OK + "\nTransfer-Encoding: chunked", b"zz\r\n{}\r\n0\r\n\r\n"),
    "chunk-huge": bytes_of(OK + "\nTransfer-Encoding: chunked", b"ffffffffffffffffff\r\n{}\r\n"),
    "chunk-cut": bytes_of(OK + "\nTransfer-Encoding: chunked", b'10\r\n{"cut":'),
    "http-2": bytes_of("HTTP/2.0 200 OK\nContent-Type: application/json\nContent-Length: 2", b"{}"),
    "http-9": bytes_of("HTTP/9.9 200 OK\nContent-Length: 2", b"{}"),
    "http-0.9": bytes_of("<html>no status line</html>", b"x"),
    "ssh": bytes_of("SSH-2.0-OpenSSH_9.2", b"\0\0\1\2"),
    "status-42": bytes_of("HTTP/1.1 42 What\nContent-Length: 0"),
    "status-999": bytes_of("HTTP/1.1 999 Beyond\nContent-Type: text/plain\nContent-Length: 1", b"x"),
    "status-101": bytes_of(
        "HTTP/1.1 101 Switching Protocols\nUpgrade: websocket\nConnection: Upgrade", b"\x81\x05hello"
    ),
    "status-204-body": bytes_of("HTTP/1.1 204 No Content\nContent-Length: 19", b'{"smuggled":"body"}'),
    "status-205": bytes_of("HTTP/1.1 205 Reset Content\nContent-Length: 0"),
    "status-304": bytes_of("HTTP/1.1 304 Not Modified\nETag: x"),
    "status-401": whole(b'{"error":"who"}', "WWW-Authenticate: Basic realm=x", status="401 Unauthorized"),
    "second-answer": second_answer,
    "redirect-metadata": redirect("302 Found", "http://169.254.169.254/latest/meta-data/"),
    "redirect-loopback": redirect("302 Found", "http://127.0.0.1:1/admin"),
    "redirect-ipv6": redirect("302 Found", "http://[::ffff:169.254.169.254]/"),
    "redirect-file": redirect("302 Found", "file:///etc/passwd"),
    "redirect-body": redirect("307 Temporary Redirect", "http://127.0.0.2:1/steal"),
    "redirect-port": redirect("308 Permanent Redirect", "//localhost:1/"),
    "redirect-loop": redirect_loop,
    "redirect-long": redirect("302 Found", "/f/" + "x" * 60_000),
    "redirect-bad": redirect("302 Found", "http://[::1/"),
    "retry-after-huge": whole(b"later", "Retry-After: 999999999999", status="429 Too Many Requests", kind="text/plain"),
    "retry-after-bad": whole(b"later", "Retry-After: soon", status="503 Service Unavailable", kind="text/plain"),
    "kind-html": whole(b"<html><title>Sign in</title></html>"),
    "kind-json-image": whole(b'{"no":"image"}', kind="image/png"),
    "kind-none": bytes_of("HTTP/1.1 200 OK\nContent-Length: 2", b"{}"),
    "kind-rubbish": whole(b"{}", kind=";;;=/\x80"),
    "kind-quoted": whole(b"{}", kind='text/plain; a="' + ";" * 90_000),
    "kind-long": whole(b"{}", kind="application/" + "x" * 50_000),
    "json-deep": whole(lambda: b"[" * 1_000_000 + b"]" * 1_000_000),
    "json-deep-objects": whole(lambda: b'{"a":' * 500_000 + b"1" + b"}" * 500_000),
    "json-huge-number": whole(lambda: b'{"n":' + b"9" * 4_000_000 + b"}"),
    "json-1e400": whole(b'{"n":1e400,"m":-1e999}'),
    "json-nan": whole(b'{"n":NaN,"m":Infinity}'),
    "json-twice": whole(b'{"a":1,"a":2}'),
    "json-surrogates": whole(b'{"s":"\\ud800 and \\udfff"}'),
    "json-60mb": whole(payloads.large_json),
    "json-60mb-text": whole(payloads.large_string),
    "json-million-keys": whole(payloads.many_keys),
    "records-60mb": whole(payloads.large_records),
    "records-wrong": whole(payloads.wrong_records),
    "records-unique": whole(payloads.unique_records),
    "records-tree": whole(payloads.deep_tree),
    "json-lines": whole(lambda: b'{"n":1}\n' * 1_000_000, kind="application/jsonl"),
    "utf8-invalid": whole(b'{"s":"\xff\xfe\xc0\x80"}'),
    "utf16": whole('\ufeff{"s":"é"}'.encode("utf-16-le")),
    "charset-wrong": whole(b"\x80\x81", kind="text/plain; charset=nonsense"),
    "charset-names": whole(lambda: b"a-" + b"z" * 3_000_000, kind="text/plain; charset=punycode"),
    "charset-codec": whole(b"\x1f\x8b", kind="text/plain; charset=zlib_codec"),
    "controls": whole("\x1b]0;owned\x07\x1b[2Jtext\x9b31m\x00\x08".encode(), kind="text/plain"),
    "controls-json": whole(payloads.controls_json),
    "hidden-text": whole(payloads.hidden_text, kind="text/plain; charset=utf-8"),
    "echo": echo,
    "multipart-200k": whole(payloads.many_parts, kind="multipart/mixed; boundary=x"),
    "multipart-fields": whole(
        lambda: b"--x\r\n" + b"A: b\r\n" * 2_000_000 + b"\r\n", kind="multipart/mixed; boundary=x"
    ),
    "multipart-dashes": whole(lambda: b"\r\n--" * 4_000_000, kind="multipart/mixed; boundary=-"),
    "multipart-open": whole(b"--x\r\nContent-Type: text/plain\r\n\r\nno end", kind="multipart/mixed; boundary=x"),
    "multipart-nested": whole(payloads.nested_parts, kind="multipart/mixed; boundary=b0"),
    "multipart-empty-boundary": whole(b"----", kind="multipart/mixed; boundary="),
    "error-60mb": whole(payloads.large_string, status="500 Internal Server Error"),
    "xml-entities": whole(payloads.entity_bomb, kind="application/xml"),
    "xml-deep": whole(lambda: b"<a>" * 500_000, kind="application/xml"),
    "html-deep": whole(lambda: b"<div>" * 1_000_000 + b"text", kind="text/html"),
    "html-reference": whole(lambda: b"&#" + b"9" * 6_000_000, kind="text/html"),
    "html-comments": whole(lambda: b"<!--" * 500_000, kind="text/html"),
    "text-60mb": whole(lambda: b"x" * 60_000_000, kind="text/plain"),
    "bytes-60mb": whole(lambda: bytes(60_000_000), kind="application/octet-stream"),
    "image-60mb": whole(lambda: b"\x89PNG\r\n\x1a\n" + bytes(60_000_000), kind="image/png"),
}
"""Faults by the NAME of their path, `/f/NAME`."""


async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read requests and answer each with the fault that its path names."""
    with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        while not writer.is_closing():
            head = await reader.readuntil(b"\r\n\r\n")
            body = await _body(reader, head)
            target = head.split(b" ", 2)[1].decode("latin-1")
            name = target.split("?")[0].rsplit("/", 1)[-1]
            fault = FAULTS.get(name, FAULTS["fine"])
            await fault(Conversation(target, head, body, writer))
            await writer.drain()
    writer.close()


async def _body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            return await reader.readexactly(int(line.split(b":")[1]))
        if line.lower().startswith(b"transfer-encoding:"):
            return await reader.readuntil(b"0\r\n\r\n")
    return b""


async def main() -> None:
    server = await asyncio.start_server(handle, "127.0.0.1", 0, limit=64 << 20, backlog=1024)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
