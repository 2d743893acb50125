"""`McpSession`: a server on stdio, as a client sees it: its list, and the results of calls."""

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from .apis import KEY

_SECONDS: Final = 120
"""Time limit of all tasks with one server, which take some seconds."""

_HELLO: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "agents", "version": "1"},
}
_ROOT: Final = Path(__file__).parents[2]


class ServerEndedError(RuntimeError):
    """The server ended, or was ended at the time limit."""


class McpSession:
    """A session with a server after the handshake. `instructions` are those of the server, `tools` what it lists.

    `stderr` is a file to which the server writes.
    """

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]) -> None:
        self._stdin, self._stdout, self._stderr, self._id = stdin, stdout, stderr, 0
        self.instructions: str = self._request("initialize", _HELLO).get("instructions", "")
        self._send({"method": "notifications/initialized"})
        self.tools = list(self._list())

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the CallToolResult of a call. A protocol error is a result with `isError`."""
        return self._request("tools/call", {"name": name, "arguments": arguments})

    def _list(self) -> Iterator[dict[str, Any]]:
        cursor: dict[str, Any] = {}
        while True:
            page = self._request("tools/list", cursor)
            yield from page["tools"]
            if not page.get("nextCursor"):
                return
            cursor = {"cursor": page["nextCursor"]}

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        while line := self._stdout.readline():
            message = json.loads(line)
            if message.get("id") == self._id and "method" not in message:
                failure = {"isError": True, "content": [{"type": "text", "text": json.dumps(message.get("error"))}]}
                result: dict[str, Any] = message.get("result", failure)
                return result
        self._stderr.seek(0)
        raise ServerEndedError(f"the server ended before it answered: {self._stderr.read().decode(errors='replace')}")

    def _send(self, message: dict[str, Any]) -> None:
        self._stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._stdin.flush()


@contextmanager
def session(command: Sequence[str]) -> Iterator[McpSession]:
    """Start a server on stdio; end it when the block ends, or after the time limit. Raises ServerEndedError."""
    environment = os.environ | {"API_PETSTORE_SHOPKEY": KEY}
    with tempfile.TemporaryFile() as stderr, _process(command, stderr, environment) as process:
        assert process.stdin is not None  # noqa: S101 - both are pipes, which mypy does not know
        assert process.stdout is not None  # noqa: S101
        limit = threading.Timer(_SECONDS, process.kill)
        limit.start()
        try:
            yield McpSession(process.stdin, process.stdout, stderr)
        finally:
            limit.cancel()
            process.kill()


def _process(command: Sequence[str], stderr: IO[bytes], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr, env=environment, cwd=_ROOT)
