"""`transport` against httpx's own: the same bytes for a request, the same response or error for received bytes."""

import asyncio
from collections.abc import AsyncIterator, Callable

import httpx
import pytest

from openapi_mcp.runtime.upstream.transport import Transport
from tests.runtime.raw import serving

Make = Callable[[], httpx.AsyncBaseTransport]


def ours() -> httpx.AsyncBaseTransport:
    return Transport(environment={})


def theirs() -> httpx.AsyncBaseTransport:
    return httpx.AsyncHTTPTransport(verify=False, trust_env=False)


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def sent(make: Make, build: Callable[[str], httpx.Request]) -> bytes:
    """Return the bytes that a server receives, with its port replaced."""
    received = bytearray()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            received.extend(data)
            if received.endswith(END):
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    async with serving(serve) as url, make() as transport:
        request = build(url)
        request.extensions = {"timeout": httpx.Timeout(5).as_dict()}
        response = await transport.handle_async_request(request)
        await response.aread()
    return bytes(received).replace(url.removeprefix("http://").encode(), b"HOST")


END = b"the end\r\n0\r\n\r\n"
"""The end of each request by which the server recognises it; chunked or in one piece."""

REQUESTS: dict[str, Callable[[str], httpx.Request]] = {
    "post": lambda url: httpx.Request("POST", f"{url}/x", content=END),
    "headers in order and case": lambda url: httpx.Request(
        "POST", f"{url}/x", headers=[("X-b", "1"), ("ACCEPT", "*/*"), ("x-a", "2"), ("X-b", "")], content=END
    ),
    "host given last": lambda url: httpx.Request("POST", url, headers=[("A", "1"), ("hOST", "api.test")], content=END),
    "utf-8 in a value": lambda url: httpx.Request("POST", url, headers=[(b"X", "é ü".encode())], content=END),
    "target": lambda url: httpx.Request("POST", f"{url}/a%2Fb/ü?q=1&q=%20+é", content=END),
    "user in the url": lambda url: httpx.Request("POST", url.replace("//", "//user:pw@"), content=END),
    "chunked": lambda url: httpx.Request("POST", url, content=pieces(b"a" * 5000, b"", b"the end")),
    "chunked in capitals": lambda url: httpx.Request(
        "POST", url, headers={"transfer-encoding": "Chunked"}, content=pieces(b"the end")
    ),
    "stream with length": lambda url: httpx.Request(
        "PUT", url, headers={"Content-Length": "14"}, content=pieces(END[:3], END[3:])
    ),
    "large": lambda url: httpx.Request("POST", url, content=b"x" * 500_000 + END),
    "method of its own": lambda url: httpx.Request("PURGE-all", url, content=END),
    "delete with a body": lambda url: httpx.Request("DELETE", url, content=END),
}


@pytest.mark.parametrize("build", REQUESTS.values(), ids=REQUESTS)
def test_transport_sends_the_same_bytes_as_httpx(build: Callable[[str], httpx.Request]) -> None:
    actual, reference = asyncio.run(sent(ours, build)), asyncio.run(sent(theirs, build))
    assert actual == reference
    assert actual.endswith(END)


@pytest.mark.parametrize(
    "headers",
    [
        {"X": "a\r\nEvil: 1"},
        {"X": "a\nb"},
        {"X": "a\0"},
        {"X": " a"},
        {"X": "a "},
        {"X Y": "a"},
        {"": "a"},
        {"X\r\n": "a"},
        {"Content-Length": "x"},
        {"Transfer-Encoding": "gzip, chunked"},
    ],
    ids=repr,
)
def test_invalid_header_fields_are_not_sent(headers: dict[str, str]) -> None:
    for make in (ours, theirs):
        with pytest.raises(httpx.LocalProtocolError):
            asyncio.run(sent(make, lambda url: httpx.Request("POST", url, headers=headers, content=END)))


@pytest.mark.parametrize("content", [lambda: END, lambda: pieces(END)], ids=["whole", "stream"])
@pytest.mark.parametrize("length", [len(END) - 1, len(END) + 1])
def test_body_length_must_match_content_length(
    length: int, content: Callable[[], bytes | AsyncIterator[bytes]]
) -> None:
    headers = {"Content-Length": str(length)}
    with pytest.raises(httpx.LocalProtocolError):
        asyncio.run(sent(ours, lambda url: httpx.Request("PUT", url, headers=headers, content=content())))


def head(*lines: str) -> bytes:
    return "".join(f"{line}\r\n" for line in ("HTTP/1.1 200 OK", *lines, "")).encode()


CHUNKED = "Transfer-Encoding: chunked"
ANSWERS: dict[str, bytes] = {
    "length": head("A: 1", "a:2", "B:   x  ", "Empty:", "Content-Length: 2") + b"hi",
    "no length": head() + b"hi",
    "nothing after all": head(),
    "chunks": head(CHUNKED) + b"2\r\nhi\r\n1;ext=x\r\n!\r\n0\r\nTrailer: x\r\n\r\n",
    "chunks and a length": head("Content-Length: 7", CHUNKED) + b"2\r\nhi\r\n0\r\n\r\n",
    "continue": b"HTTP/1.1 100 Continue\r\n\r\n" + head("Content-Length: 2") + b"hi",
    "hints": b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 3 + head("Content-Length: 2") + b"hi",
    "no content": b"HTTP/1.1 204 No Content\r\nA: 1\r\n\r\n",
    "not modified": b"HTTP/1.1 304 Not Modified\r\nContent-Length: 50\r\n\r\n",
    "reset content": b"HTTP/1.1 205 Reset\r\nContent-Length: 0\r\n\r\n",
    "no reason": b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi",
    "empty reason": b"HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nhi",
    "reason beyond ascii": b"HTTP/1.1 404 \xc3\xa9\xff\r\nContent-Length: 2\r\n\r\nhi",
    "status beyond the usual": b"HTTP/1.1 799 Odd\r\nContent-Length: 2\r\n\r\nhi",
    "1.0": b"HTTP/1.0 200 OK\r\n\r\nhi",
    "1.0 with length": b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",
    "line feeds only": b"HTTP/1.1 200 OK\nA: 1\nContent-Length: 2\n\nhi",
    "control character": head("A: a\x01b", "Content-Length: 2") + b"hi",
    "value beyond ascii": head("A: é", "Content-Length: 2") + b"hi",
    "error with body": b"HTTP/1.1 500 Oh no\r\nContent-Length: 2\r\n\r\nhi",
    "closing": head("Connection: close", "Content-Length: 2") + b"hi",
    "large": head("Content-Length: 3000000") + b"x" * 3_000_000,
    "many headers": head(*(f"X-{n}: {'v' * 100}" for n in range(500)), "Content-Length: 2") + b"hi",
    # refused:
    "nothing": b"",
    "half a head": b"HTTP/1.1 200 OK\r\nContent-",
    "half a body": head("Content-Length: 50") + b"half",
    "half a chunk": head(CHUNKED) + b"50\r\nhalf",
    "no last chunk": head(CHUNKED) + b"2\r\nhi\r\n",
    "no chunk": head(CHUNKED) + b"zz\r\nhi\r\n0\r\n\r\n",
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    "length that is no number": head("Content-Length: x") + b"hi",
    "lengths that differ": head("Content-Length: 2", "Content-Length: 3") + b"hi",
    "coding that is not known": head("Transfer-Encoding: gzip, chunked") + b"2\r\nhi\r\n0\r\n\r\n",
    "space before a colon": head("A : 1", "Content-Length: 2") + b"hi",
    "too large a head": head(f"A: {'a' * 200_000}", "Content-Length: 2") + b"hi",
    "too many headers": head(*(f"X-{n}: {'v' * 100}" for n in range(2000)), "Content-Length: 2") + b"hi",
}
SMALL = {name: answer for name, answer in ANSWERS.items() if len(answer) < 300}

Outcome = tuple[object, ...]


async def outcome(make: Make, answer: bytes, method: str = "GET", step: int | None = None) -> Outcome:
    """Return what the client reads when `answer` is written in pieces of `step` bytes; of an error httpx's class."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for start in range(0, len(answer), step or len(answer)):
            writer.write(answer[start : start + (step or len(answer))])
            await writer.drain()
            await asyncio.sleep(0)  # the client runs in the same loop: each piece may arrive by itself

    async with serving(serve) as url, make() as transport:
        request = httpx.Request(method, url, extensions={"timeout": httpx.Timeout(5).as_dict()})
        try:
            response = await transport.handle_async_request(request)
            body = await response.aread()
        except httpx.HTTPError as error:
            return (next(kind for kind in type(error).__mro__ if kind.__module__ == "httpx"),)
    extensions = response.extensions
    return response.status_code, extensions["reason_phrase"], extensions["http_version"], response.headers.raw, body


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_transport_reads_the_same_response_as_httpx(answer: bytes, method: str) -> None:
    actual, reference = asyncio.run(outcome(ours, answer, method)), asyncio.run(outcome(theirs, answer, method))
    assert actual == reference


@pytest.mark.parametrize("answer", SMALL.values(), ids=SMALL)
def test_response_does_not_depend_on_its_pieces(answer: bytes) -> None:
    reference = asyncio.run(outcome(ours, answer))
    for step in (1, 3):
        assert asyncio.run(outcome(ours, answer, step=step)) == reference
