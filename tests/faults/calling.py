"""A small MCP client for hostile calls: raw bodies over asyncio, one connection for each, from one loopback address."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.faults.rows import Target, UnexpectedResult

MAX_SECONDS: Final = 30.0
"""Of one call, which the server ends after 5 seconds."""

HEADERS: Final = {
    "Host": "localhost",
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """Response to one request over HTTP."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def message(self) -> dict[str, Any]:
        """Return the JSON-RPC answer, also if it is the last event of a stream."""
        text = self.body
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            text = [line[5:] for line in self.body.splitlines() if line.startswith(b"data:")][-1]
        try:
            message = json.loads(text)
        except ValueError as error:
            raise UnexpectedResult(f"{self.status} whose body is no JSON: {self.body[:100]!r}") from error
        assert isinstance(message, dict)
        return message


async def exchange(
    target: Target, body: bytes, headers: Mapping[str, str] = HEADERS, *, seconds: float = MAX_SECONDS
) -> Answer:
    """Send one POST and return what came back, within a time limit (TimeoutError)."""
    async with asyncio.timeout(seconds):
        reader, writer = await asyncio.open_connection(target.host, target.port)
        try:
            lines = [f"{name}: {value}" for name, value in headers.items()]
            head = "\r\n".join(["POST /mcp HTTP/1.1", *lines, f"Content-Length: {len(body)}", "Connection: close"])
            writer.write(head.encode("latin-1") + b"\r\n\r\n")
            writer.write(body)
            return answer(await reader.read(-1))
        finally:
            writer.close()


def answer(received: bytes) -> Answer:
    """Return what a response consists of; raises UnexpectedResult if it is none."""
    head, _, body = received.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    if not lines[0].startswith("HTTP/1.1 "):
        raise UnexpectedResult(f"the connection ended with {received[:60]!r}" if received else "no answer")
    headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines[1:])}
    if headers.get("transfer-encoding") == "chunked":
        body = b"".join(_chunks(body))
    return Answer(int(lines[0].split()[1]), headers, body)


def _chunks(body: bytes) -> list[bytes]:
    chunks = []
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        chunks.append(body[:length])
        body = body[length + 2 :]
    return chunks


async def call(target: Target, tool: str, arguments: Any, *, seconds: float = MAX_SECONDS) -> dict[str, Any]:
    """Call a tool and return its result; a JSON-RPC error is returned as `{"error": …}`.

    `arguments` is a value, or the bytes of JSON that no value has: numbers and depths that Python refuses.
    """
    raw = arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode()
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%s,"arguments":%s}}' % (
        json.dumps(tool).encode(),
        raw,
    )
    reply = await exchange(target, body, seconds=seconds)
    message = reply.message()
    return message["result"] if "result" in message else {"error": message.get("error"), "status": reply.status}


def text_of(result: Mapping[str, Any]) -> str:
    """Return the first text of a result, or its JSON-RPC error."""
    if "error" in result:
        return f"JSON-RPC error {result['error']['code']}: {result['error']['message']}"
    blocks = result.get("content") or [{}]
    first = blocks[0]
    return str(first.get("text", f"{first.get('type', 'nothing')} content"))


def sentence(result: Mapping[str, Any]) -> str:
    """Return the beginning of a result in one line, with whether it is an error."""
    words = " ".join(text_of(result).split())
    printable = "".join(each if each.isprintable() else "·" for each in words)
    kind = "" if "error" in result else "error: " if result.get("isError") else "result: "
    return kind + (printable if len(printable) <= 110 else printable[:109] + "…")
