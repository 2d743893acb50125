"""Both halves of the story in one run: a REST API, the bridge in front of it, and an MCP client that uses it.

    python -m examples.demo            shows it and ends
    python -m examples.demo --keep     leaves API and bridge running, and says how to connect a client of your own

Everything is real: the API is another process with its data in SQLite, the bridge is the command `openapi-mcp`, the
client is the official one for Python. All of it listens on 127.0.0.1 and stops with this program.
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.types import CallToolResult, TextContent

ROOT = Path(__file__).parents[1]
KEY = "open-sesame"
STEPS: list[tuple[str, str, dict[str, Any]]] = [
    ("A pet is created.", "createPet", {"name": "Otto", "tags": ["dog"], "price": 250}),
    ("It can be read.", "getPet", {"petId": 5}),
    ("And found.", "listPets", {"q": "ot", "status": ["available"]}),
    (
        "An argument that does not fit is refused before the API sees it.",
        "createPet",
        {"name": "Ida", "status": "lost"},
    ),
    ("An error of the API reaches the model as one.", "getPet", {"petId": 999}),
]
CLIENT = """\
  Claude Code      claude mcp add --transport http pet-store {url}
  Claude Desktop, Cursor, VS Code and others:
{{"mcpServers": {{"pet-store": {{"type": "http", "url": "{url}"}}}}}}
"""


def main() -> None:
    """Run the demonstration."""
    parser = argparse.ArgumentParser(prog="python -m examples.demo", description="The bridge at work.")
    parser.add_argument("--keep", action="store_true", help="leave the API and the bridge running")
    keep = parser.parse_args().keep
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that what was started is ended, however this ends
    with tempfile.TemporaryDirectory() as folder, ExitStack() as processes:
        database = Path(folder) / "pets.sqlite3"
        api = processes.enter_context(started("-m", "examples.petstore", "--database", str(database)))
        bridge = processes.enter_context(
            started("-m", "openapi_mcp", "serve", "specs/petstore.yaml", "--base-url", api, "--transport", "http")
        )
        if keep:
            print(f"The sample API:  {api}\nThe MCP server:  {bridge}/mcp\n\nConnect a client:")
            print(CLIENT.format(url=f"{bridge}/mcp"))
            wait_for_interrupt()
        else:
            asyncio.run(show(f"{bridge}/mcp"))


async def show(url: str) -> None:
    """Use the bridge as a client would and print what happens."""
    print("A pet store (a REST API, its data in SQLite) is running, and so is the bridge in front of it:\n")
    print("  $ openapi-mcp serve specs/petstore.yaml\n")
    async with Client(url) as client:
        tools = (await client.list_tools()).tools
        print(f"An MCP client (revision {client.protocol_version}) lists its tools: one for each operation.\n")
        for tool in tools:
            print(f"  {tool.name:13} {tool.title}")
        for comment, name, arguments in STEPS:
            print(f"\n{comment}\n\n  {name} {json.dumps(arguments)}")
            print(indented(await client.call_tool(name, arguments)))
    print("\nLeave it running and connect a client of your own: make demo KEEP=1")


def indented(result: CallToolResult) -> str:
    """A result's text, marked as what came back."""
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    mark = "✗" if result.is_error else "→"
    lines = [f"  {mark if number == 0 else ' '} {line}".rstrip() for number, line in enumerate(text.splitlines())]
    return "\n".join(lines)


@contextmanager
def started(*arguments: str) -> Iterator[str]:
    """Run a Python program that serves on `--port` until the block ends; yields its URL once it answers."""
    port = free_port()
    environment = os.environ | {"PETSTORE_KEY": KEY, "SHOP_KEY": KEY}
    command = [sys.executable, *arguments, "--port", str(port)]
    with (
        tempfile.TemporaryFile("w+") as said,
        subprocess.Popen(command, cwd=ROOT, env=environment, stderr=said) as process,
    ):
        try:
            if not listens(process, port):
                said.seek(0)
                sys.exit(f"{' '.join(command)} did not start:\n{said.read()}")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def listens(process: "subprocess.Popen[bytes]", port: int) -> bool:
    """Wait until the process answers on the port; False where it ends, or takes too long."""
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.05)
    return False


def wait_for_interrupt() -> None:
    """Wait for Ctrl-C."""
    print("Ctrl-C ends both.", flush=True)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main()
