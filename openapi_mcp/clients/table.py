"""The table of clients: where each keeps its servers, in which format and shape, and what it makes of variables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, Literal, TypeAlias

from ..errors import UsageError
from .server import InstalledServer, Machine

Format: TypeAlias = Literal["json", "toml", "yaml"]
Entry: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A program that uses MCP servers.

    `file` is its settings file of the user, `project` that of a folder, relative to it; `path` are the keys to its
    servers. `started` and `reached` make an entry, of a server that it starts and of one at a URL (None: it takes
    none). `variable` is the text that the client replaces by the value of the variable `{name}`; with `asks` it asks
    the user for the value, with `fill_in` the user writes it there, since the client replaces nothing. `home` is the
    folder in the user's home that shows that the client is installed, where that is not the folder of `file`.
    `restart` says how the change takes effect.
    """

    name: str
    title: str
    file: Callable[[Machine], PurePath]
    path: Sequence[str] = ("mcpServers",)
    format: Format = "json"
    project: str = ""
    started: Callable[["Client", InstalledServer], Entry]
    reached: Callable[["Client", InstalledServer], Entry] | None = None
    variable: str = "${{{name}}}"
    asks: bool = False
    fill_in: bool = False
    home: str = ""
    restart: str = "Restart it to use the server."

    def entry(self, server: InstalledServer) -> Entry:
        """Return the entry of a server in this client's settings. Raises UsageError for a URL that it does not take."""
        if not server.url:
            return self.started(self, server)
        if self.reached is None:
            hint = "leave --http out: it starts the server itself"
            raise UsageError(f"{self.title} takes no server at a URL", where=f"--client {self.name}", hint=hint)
        return self.reached(self, server)

    def inputs(self, server: InstalledServer) -> list[Entry]:
        """Return what the client asks its user for."""
        return [_input(server, name) for name in server.secrets] if self.asks else []

    def placeholder(self, server: InstalledServer, name: str) -> str:
        """Return the text that stands for the value of a variable."""
        return f"${{input:{input_id(server.name, name)}}}" if self.asks else self.variable.format(name=name)

    def settings_file(self, machine: Machine, *, of_project: bool = False) -> PurePath:
        """Return the settings file of the user, or of the project. Raises UsageError."""
        if not of_project:
            return self.file(machine)
        if not self.project:
            hint = "leave --scope project out"
            raise UsageError(f"{self.title} has no settings for one project", where="--scope project", hint=hint)
        return machine.project / self.project


def input_id(server: str, variable: str) -> str:
    """Return the id of the input of VS Code for a variable of a server."""
    return f"{server}-{variable}"


def _input(server: InstalledServer, variable: str) -> Entry:
    description = f"{variable}, for {server.name}"
    return {
        "type": "promptString",
        "id": input_id(server.name, variable),
        "description": description,
        "password": True,
    }


def _environment(client: Client, server: InstalledServer) -> Entry:
    variables = {name: client.placeholder(server, name) for name in server.variables}
    return {"env": variables} if variables else {}


def _command(client: Client, server: InstalledServer) -> Entry:
    return {"command": server.command, "args": list(server.args), **_environment(client, server)}


def _typed_command(client: Client, server: InstalledServer) -> Entry:
    return {"type": "stdio", **_command(client, server)}


def _inheriting(_client: Client, server: InstalledServer) -> Entry:
    return {"command": server.command, "args": list(server.args)}


def _url(key: str, **more: str) -> Callable[[Client, InstalledServer], Entry]:
    """Return a maker of entries that have a URL under a key, and the token as a header."""

    def make(client: Client, server: InstalledServer) -> Entry:
        token = server.token_variable and client.placeholder(server, server.token_variable)
        return {**more, key: server.url, **({"headers": {"Authorization": f"Bearer {token}"}} if token else {})}

    return make


def _codex(_client: Client, server: InstalledServer) -> Entry:
    variables = {"env_vars": list(server.variables)} if server.variables else {}
    return {"command": server.command, "args": list(server.args), **variables}


def _codex_url(_client: Client, server: InstalledServer) -> Entry:
    return {"url": server.url, **({"bearer_token_env_var": server.token_variable} if server.token_variable else {})}


def _goose(_client: Client, server: InstalledServer) -> Entry:
    return {
        "enabled": True,
        "type": "stdio",
        "name": server.name,
        "description": server.description,
        "cmd": server.command,
        "args": list(server.args),
        "envs": {},
        "env_keys": list(server.variables),
        "timeout": 300,
    }


def _goose_url(client: Client, server: InstalledServer) -> Entry:
    headers = _url("uri")(client, server).get("headers", {})
    return {
        "enabled": True,
        "type": "streamable_http",
        "name": server.name,
        "description": server.description,
        "uri": server.url,
        "envs": {},
        "env_keys": list(server.secrets),
        "headers": headers,
        "timeout": 300,
    }


def _claude_code_file(machine: Machine) -> PurePath:
    return machine.folder("CLAUDE_CONFIG_DIR", ".") / ".claude.json"


def _goose_file(machine: Machine) -> PurePath:
    if machine.platform == "win32":
        return machine.settings / "Block" / "goose" / "config" / "config.yaml"
    return machine.xdg / "goose" / "config.yaml"


def _zed_file(machine: Machine) -> PurePath:
    folder = machine.settings / "Zed" if machine.platform == "win32" else machine.xdg / "zed"
    return folder / "settings.json"


CLIENTS: Final[Mapping[str, Client]] = {
    client.name: client
    for client in (
        Client(
            name="claude-desktop",
            title="Claude Desktop",
            file=lambda machine: machine.settings / "Claude" / "claude_desktop_config.json",
            started=_command,
            fill_in=True,
        ),
        Client(
            name="claude-code",
            title="Claude Code",
            file=_claude_code_file,
            project=".mcp.json",
            started=_typed_command,
            reached=_url("url", type="http"),
            home=".claude",
            variable="${{{name}:-}}",  # without a default, a variable that is not set makes the entry invalid
        ),
        Client(
            name="cursor",
            title="Cursor",
            file=lambda machine: machine.home / ".cursor" / "mcp.json",
            project=".cursor/mcp.json",
            started=_command,
            reached=_url("url"),
            variable="${{env:{name}}}",
        ),
        Client(
            name="vscode",
            title="VS Code",
            file=lambda machine: machine.settings / "Code" / "User" / "mcp.json",
            path=("servers",),
            project=".vscode/mcp.json",
            started=_typed_command,
            reached=_url("url", type="http"),
            asks=True,
            restart="Run `MCP: List Servers` to start it.",
        ),
        Client(
            name="windsurf",
            title="Windsurf",
            file=lambda machine: machine.home / ".codeium" / "windsurf" / "mcp_config.json",
            started=_command,
            reached=_url("serverUrl"),
            variable="${{env:{name}}}",
            restart="Refresh its MCP servers to use it.",
        ),
        Client(
            name="gemini",
            title="Gemini CLI",
            file=lambda machine: machine.home / ".gemini" / "settings.json",
            project=".gemini/settings.json",
            started=_command,
            reached=_url("httpUrl"),
        ),
        Client(
            name="codex",
            title="Codex",
            file=lambda machine: machine.folder("CODEX_HOME", ".codex") / "config.toml",
            path=("mcp_servers",),
            format="toml",
            project=".codex/config.toml",
            started=_codex,
            reached=_codex_url,
        ),
        Client(
            name="goose",
            title="Goose",
            file=_goose_file,
            path=("extensions",),
            format="yaml",
            started=_goose,
            reached=_goose_url,
        ),
        Client(
            name="zed",
            title="Zed",
            file=_zed_file,
            path=("context_servers",),
            project=".zed/settings.json",
            started=_inheriting,  # it replaces nothing in `env`, but its servers get the variables that it was given
            reached=_url("url"),
            fill_in=True,
            restart="It starts the server at once.",
        ),
        Client(
            name="lm-studio",
            title="LM Studio",
            file=lambda machine: machine.home / ".lmstudio" / "mcp.json",
            started=_command,
            reached=_url("url"),
            fill_in=True,
            restart="It starts the server at once.",
        ),
    )
}
"""The clients by the name that `--client` takes."""


def client_named(name: str) -> Client:
    """Return a client. Raises UsageError, with the nearest names."""
    if client := CLIENTS.get(name):
        return client
    from ..runtime.arguments.spelling import suggestion

    hint = suggestion(name, CLIENTS) or f"clients are {', '.join(CLIENTS)}"
    raise UsageError(f"unknown client: {name}", where="--client", hint=hint)
