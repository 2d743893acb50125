"""The output of `--print`: the settings of one server alone, a command, and links that open a client."""

import base64
import json
import shlex
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from .edits import FORMATS
from .server import InstalledServer
from .table import CLIENTS, Client
from .yaml_text import rendered


def snippet(client: Client, server: InstalledServer) -> str:
    """Return the settings of a client that has this server only; for Claude Code the command that adds it."""
    entry = client.entry(server)
    if client.name == "claude-code":
        if server.url and not server.token_variable:
            return shlex.join(["claude", "mcp", "add", "--transport", "http", server.name, server.url])
        return shlex.join(["claude", "mcp", "add-json", server.name, json.dumps(entry, ensure_ascii=False)])
    if client.format == "yaml":
        return rendered({client.path[0]: {server.name: entry}})
    if client.format == "toml":
        return FORMATS["toml"].put("", client.path, server.name, entry)
    inputs = client.inputs(server)
    settings = {**({"inputs": inputs} if inputs else {}), client.path[0]: {server.name: entry}}
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def link(client: Client, server: InstalledServer) -> str:
    """Return a link that opens the client and offers to add the server; empty where it has none."""
    maker = _LINKS.get(client.name)
    return maker(client, server) if maker else ""


def _cursor_link(client: Client, server: InstalledServer) -> str:
    config = base64.b64encode(json.dumps(client.entry(server)).encode()).decode()
    return f"cursor://anysphere.cursor-deeplink/mcp/install?name={quote(server.name)}&config={quote(config, safe='')}"


def _vscode_link(client: Client, server: InstalledServer) -> str:
    inputs = client.inputs(server)
    config = {"name": server.name, **client.entry(server), **({"inputs": inputs} if inputs else {})}
    return f"vscode:mcp/install?{quote(json.dumps(config), safe='')}"


_LINKS: Final = {"cursor": _cursor_link, "vscode": _vscode_link}


def notes(client: Client, server: InstalledServer) -> Iterator[str]:
    """Yield what the user still has to do for the variables of a server."""
    if not server.secrets:
        return
    names = ", ".join(server.secrets)
    if client.asks:
        yield f"{client.title} asks for {names}."
    elif client.name == "goose":
        yield f"{client.title} takes {names} from its secrets (`goose configure`) or its environment."
    elif client.fill_in and any(
        client.placeholder(server, name) in str(client.entry(server)) for name in server.secrets
    ):
        yield f"Replace the placeholder of {names} by its value: {client.title} does not do that."
    else:
        yield f"Set {names} in the environment that {client.title} starts from."


def http_command(name: str, url: str) -> str:
    """Return the command that connects Claude Code to a server at a URL."""
    return snippet(CLIENTS["claude-code"], InstalledServer(name=name, url=url))
