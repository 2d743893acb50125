"""Demonstration: a REST API, the bridge in front of it, and an MCP client that calls its tools.

    python -m examples.demo            show the calls and end
    python -m examples.demo --keep     leave API and bridge running, and show how to connect a client of your own

The API is the sample pet store with its data in SQLite, the bridge is the command `openapi-mcp serve`, the client is
the official one for Python. API and bridge are processes of their own on 127.0.0.1 and end with this program.
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
import textwrap
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.types import CallToolResult, TextContent

from openapi_mcp.clients.server import InstalledServer
from openapi_mcp.clients.snippets import snippet
from openapi_mcp.clients.table import CLIENTS

ROOT = Path(__file__).parents[1]
KEY = "open-sesame"
STEPS: list[tuple[str, str, dict[str, Any]]] = [
    ("Create a pet:", "createPet", {"name": "Otto", "tags": ["dog"], "price": 250}),
    ("Read it:", "getPet", {"petId": 5}),
    ("Search for it:", "listPets", {"q": "ot", "status": ["available"]}),
    (
        "Call with an invalid argument; the bridge answers, the API is not called:",
        "createPet",
        {"name": "Ida", "status": "lost"},
    ),
    (
        "Ask for a pet that does not exist; the API answers with an error:",
        "getPet",
        {"petId": 999},
    ),
]


def main() -> None:
    """Start the API and the bridge, then show the calls or wait for Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m examples.demo", description="Show the bridge at work.")
    parser.add_argument("--keep", action="store_true", help="leave the API and the bridge running")
    keep = parser.parse_args().keep
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the context managers end both processes
    with tempfile.TemporaryDirectory() as folder, ExitStack() as processes:
        database = Path(folder) / "pets.sqlite3"
        api = processes.enter_context(running("-m", "examples.petstore", "--database", str(database)))
        bridge = processes.enter_context(
            running("-m", "openapi_mcp", "serve", "specs/petstore.yaml", "--base-url", api, "--transport", "http")
        )
        if keep:
            print(f"Sample API:  {api}\nMCP server:  {bridge}/mcp\n\nConnect a client:")
            print(connections(f"{bridge}/mcp"))
            wait_for_interrupt()
        else:
            asyncio.run(show(f"{bridge}/mcp"))


async def show(url: str) -> None:
    """List and call the tools at an MCP endpoint, and print calls and results."""
    print("Started a pet store (a REST API, its data in SQLite), and the bridge in front of it:\n")
    print("  $ openapi-mcp serve specs/petstore.yaml\n")
    async with Client(url) as client:
        tools = (await client.list_tools()).tools
        print(f"An MCP client (revision {client.protocol_version}) lists the tools, one for each operation:\n")
        for tool in tools:
            text = textwrap.shorten(tool.title or tool.description or "", 70, placeholder=" …")
            print(f"  {tool.name:13} {text}")
        for comment, name, arguments in STEPS:
            print(f"\n{comment}\n\n  {name} {json.dumps(arguments)}")
            print(indented(await client.call_tool(name, arguments)))
    print("\nTo leave both running and connect a client of your own: make demo KEEP=1")


def connections(url: str) -> str:
    """Return what connects each client to an MCP endpoint: a command, or what its settings file needs."""
    server = InstalledServer(name="pet-store", description="Pet store", url=url)
    clients = [client for client in CLIENTS.values() if client.reached]
    return "\n".join(f"  {each.title}:\n{textwrap.indent(snippet(each, server).rstrip(), '    ')}" for each in clients)


def indented(result: CallToolResult) -> str:
    """Return the text of a result, indented, with an arrow before a success and a cross before an error."""
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    mark = "✗" if result.is_error else "→"
    lines = [f"  {mark if number == 0 else ' '} {line}".rstrip() for number, line in enumerate(text.splitlines())]
    return "\n".join(lines)


@contextmanager
def running(*arguments: str) -> Iterator[str]:
    """Run a Python program that serves on `--port` until the block ends; yield its URL once it accepts connections."""
    port = free_port()
    environment = os.environ | {"PETSTORE_KEY": KEY, "API_PETSTORE_SHOPKEY": KEY}
    command = [sys.executable, *arguments, "--port", str(port)]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(command, cwd=ROOT, env=environment, stderr=errors) as process,
    ):
        try:
            if not wait_until_listening(process, port):
                errors.seek(0)
                sys.exit(f"{' '.join(command)} did not start:\n{errors.read()}")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def free_port() -> int:
    """Return a port that no program listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def wait_until_listening(process: "subprocess.Popen[bytes]", port: int) -> bool:
    """Wait until the process accepts connections; return False if it ends, or takes longer than 30 seconds."""
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.05)
    return False


def wait_for_interrupt() -> None:
    """Wait for Ctrl-C."""
    print("Press Ctrl-C to end both.", flush=True)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main()
