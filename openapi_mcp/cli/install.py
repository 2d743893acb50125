"""The commands `init`, `install` and `uninstall`: a server's own settings, and servers in those of MCP clients."""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from ..errors import UsageError
from ..options import examples
from ..options.commands import CLIENTS
from . import console
from .commands import Values, command, reported_errors

if TYPE_CHECKING:
    from ..bridge import Bridge
    from ..clients.server import InstalledServer
    from ..gateway.gateway import Served
    from ..settings.starter import Starter
    from .settings import Settings

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
EXAMPLES: Final = """\b
Examples:
  openapi-mcp install petstore.yaml --client claude-desktop
      Claude Desktop starts `openapi-mcp serve petstore.yaml`
  openapi-mcp install petstore.yaml --client vscode --scope project --include tag:pets
      with options of `serve`, in the settings of this folder
  openapi-mcp install petstore.yaml --client cursor --print
      what would be written, and a link that opens Cursor; nothing is changed
  openapi-mcp install petstore.yaml --client claude-code --http http://127.0.0.1:8000/mcp
      a server that runs already
  openapi-mcp install --client cursor
      what openapi-mcp.toml in this folder says, all of its APIs
  openapi-mcp uninstall petstore.yaml --client claude-desktop
      the settings as they were before
"""


INIT_EXAMPLES: Final = """\b
Examples:
  openapi-mcp init
      asks for the document, the transport, credentials, a client
  openapi-mcp init --from petstore.yaml
      asks nothing; then `openapi-mcp serve` serves it
  openapi-mcp init --from petstore.yaml --print
"""


def register(app: typer.Typer) -> None:
    """Register the commands."""
    command(app, epilog=INIT_EXAMPLES)(init)
    command(app, epilog=EXAMPLES)(install)
    command(app, epilog=examples.UNINSTALL)(uninstall)


def init(document: str | None, force: bool, print_only: bool, debug: bool) -> None:
    """Write openapi-mcp.toml, the settings of a server.

    The file is written into this folder, with comments. On a terminal it asks a few questions; with --from it asks
    none. `openapi-mcp serve` then needs no argument.
    """
    from ..settings.file import FILE_NAME

    with reported_errors(debug):
        path = Path(FILE_NAME)
        if path.exists() and not (force or print_only):
            raise UsageError("there is a settings file already", where=FILE_NAME, hint="replace it with --force")
        asks = document is None
        if asks and not sys.stdin.isatty():
            raise UsageError("there is no terminal to ask questions on", where="init", hint="name the document: --from")
        starter = _starter(document or _ask("The OpenAPI document (a path or URL)"), asks=asks)
        if print_only:
            console.out(starter.text().removesuffix("\n"))
            return
        path.write_text(starter.text(), encoding="utf-8")
        console.err(f"{path}: written; `openapi-mcp serve` serves it, `openapi-mcp inspect` shows the tools")
        client = _ask(f"Install into a client ({', '.join(CLIENTS)})", default="no") if asks else "no"
    if client != "no":
        install(None, client, None, None, None, None, force=False, print_only=False, debug=debug, values={})


def _starter(document: str, *, asks: bool) -> "Starter":
    """Return the settings for a document, with the user's answers. Raises BridgeError."""
    from ..runtime.request.redaction import redact
    from ..selection import only_reads
    from ..settings.starter import Starter
    from .settings import Settings, open_bridge

    if document == "-" or any(console.secrets_of_options(document, {})):
        hint = 'write spec = "https://${NAME}@…" into the file yourself, or name a document without a secret'
        message = "the settings file cannot name this document: it is stdin, or its address holds a secret"
        raise UsageError(message, where="--from", hint=hint)
    bridge = open_bridge(Settings(document))
    reading = sum(only_reads(tool.method, tool.annotations.get("readOnlyHint")) for tool in bridge.tools)
    variables = {scheme.name: scheme.variable for scheme in bridge.security_schemes() if scheme.variable}
    starter = Starter(
        spec=document,
        title=_description(bridge),
        tags=list(dict.fromkeys(tag for tool in bridge.tools for tag in tool.tags)),
        operations=len(bridge.tools),
        read_only_operations=reading,
        base_url=next((redact(tool.base_url) for tool in bridge.tools if tool.base_url), None),
        variables=variables,
    )
    return _answered(starter) if asks else starter


def _answered(starter: "Starter") -> "Starter":
    """Return the settings with what the user chooses at the terminal."""
    transport = _ask("Transport: stdio (a client starts the server) or http", default="stdio")
    while transport not in ("stdio", "http"):
        transport = _ask("stdio or http", default="stdio")
    question = f"Offer only the {starter.read_only_operations} of {starter.operations} tools that change nothing?"
    read_only = typer.confirm(question, default=False, err=True)
    own = {}
    for scheme, variable in starter.variables.items():
        chosen = _ask(f"Environment variable with the credential of {scheme}", default=variable)
        if chosen != variable and _VARIABLE.fullmatch(chosen):
            own[scheme] = chosen
    return replace(starter, transport=transport, read_only=read_only, own_variables=own)


def _ask(question: str, default: str | None = None) -> str:
    """Return an answer at the terminal; the question goes to stderr, since stdout may be a file."""
    return str(typer.prompt(question, default=default, err=True)).strip()


def install(
    spec: str | None,
    client: str,
    server_name: str | None,
    scope: str | None,
    http: str | None,
    http_token: str | None,
    force: bool,
    print_only: bool,
    debug: bool,
    values: Values,
) -> None:
    """Add the server of SPEC to the settings of an MCP client.

    The client then starts `openapi-mcp serve SPEC` with the options given here. Nothing else in its settings file
    changes, and a backup is kept beside it. Values of credentials are never written, only the names of their variables.
    """
    from ..clients import installation, snippets
    from ..clients.server import Machine
    from ..clients.table import client_named

    with reported_errors(debug):
        row = client_named(client)
        if http and row.reached is None:
            console.err(f"note: {row.title} takes no server at a URL, so it gets the command that starts one")
            http = None
        server = _server(spec, values, server_name, http, http_token)
        place = installation.SettingsFile(row, Machine.this(), scope == "project")
        if print_only:
            console.out(snippets.snippet(row, server).removesuffix("\n"))
            if link := snippets.link(row, server):
                console.out(link)
        else:
            changed = installation.install(place, server, force=force)
            console.err(f"{server.name}: {'written to' if changed else 'is already in'} {place.path}. {row.restart}")
        for note in snippets.notes(row, server):
            console.err(f"note: {note}")


def uninstall(target: str, client: str, scope: str | None, http: str | None, force: bool, debug: bool) -> None:
    """Remove a server from the settings of an MCP client.

    The server is that of the document SPEC, or has this NAME. The file gets the bytes that it had before `install`, if
    nothing else in it has changed since; else only the entry is removed.
    """
    from ..clients import installation
    from ..clients.server import Machine
    from ..clients.table import client_named

    with reported_errors(debug):
        place = installation.SettingsFile(client_named(client), Machine.this(), scope == "project")
        name = installation.uninstall(place, target, _absolute(target), url=http or "", force=force)
        console.err(f"{name}: removed from {place.path}")


def _server(
    spec: str | None, values: Values, name: str | None, http: str | None, token: str | None
) -> "InstalledServer":
    """Return the server that the command line describes. Raises BridgeError."""
    from ..clients.server import InstalledServer
    from .settings import ProgressLine, Settings

    _check(name, http, token)
    options = dict(values)
    file = options.pop("config", None)
    _check_source(spec or "", options)
    settings = Settings.find(spec, options, file)
    with ProgressLine(f"reading {settings.place}") as progress:
        served = settings.open(progress)
    if http:
        name = name or _name(served)
        return InstalledServer(name=name, description=_description(served), url=http, token_variable=token or "")
    return started_server(settings, served, name)


def started_server(settings: "Settings", served: "Served", name: str | None = None) -> "InstalledServer":
    """Return the server of some settings as a client starts it. Raises UsageError where that cannot be written down."""
    from ..clients.server import InstalledServer

    _check_source(settings.source, settings.command_line)
    words = [*_source_words(settings), *_words(settings.command_line)]
    variables = dict.fromkeys(each for part in _parts(served, settings) for each in _variables(*part))
    return InstalledServer.started(
        name or _name(served), words, description=_description(served), variables=list(variables)
    )


def _check_source(source: str, options: Mapping[str, Any]) -> None:
    """Raise UsageError for a document and for options that cannot be in the settings of a client."""
    if source == "-":
        raise UsageError("a client cannot give the document on stdin", where="SPEC", hint="write it to a file")
    if any(console.secrets_of_options(source, options)):
        hint = "use --auth SCHEME=env:NAME, or ${NAME} in a file for --config"
        raise UsageError(
            "a credential would be written into the client's settings", where="the options of this command", hint=hint
        )


def _name(served: "Served") -> str:
    """Return the name of an entry: that of the API, as clients take it."""
    from ..clients.profiles import installed_name

    return installed_name(re.sub(r"[^A-Za-z0-9_-]+", "-", served.implementation.name).strip("-")) or "api"


def _source_words(settings: "Settings") -> list[str]:
    """Return the words of a command line that name the document, the settings file or both, in any folder."""
    source = [_absolute(settings.source)] if settings.source else [settings.api] if settings.api else []
    return [*source, *(["--config", str(settings.file.absolute())] if settings.file else [])]


def _check(name: str | None, http: str | None, token: str | None) -> None:
    if name is not None and not _NAME.fullmatch(name):
        raise UsageError(f"not a name: {name!r}", where="--name", hint="use up to 64 letters, digits, - and _")
    if http is not None and not re.fullmatch(r"https?://[^\s@]+", http):
        hint = "write http://127.0.0.1:8000/mcp, without a password"
        raise UsageError("not the URL of a server", where="--http", hint=hint)
    if token is not None and not (http and _VARIABLE.fullmatch(token)):
        hint = "write the name of the variable that holds the token, and --http URL too"
        raise UsageError("--http-token names an environment variable", where="--http-token", hint=hint)


def _description(served: "Served") -> str:
    from .report import printable

    return printable(served.implementation.title or served.implementation.name)


def _absolute(source: str) -> str:
    """Return a path that means the same in every folder; a URL as it is."""
    return source if "://" in source else os.path.abspath(source)  # noqa: PTH100  # Path.resolve would follow links


def _words(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options of `serve` as words of a command line."""
    from ..options.table import SETTINGS

    for name, value in options.items():
        for item in value if isinstance(value, list | tuple) else [value]:
            text = str(item)
            if SETTINGS[name].is_source or SETTINGS[name].kind is Path:  # the client may start it in another folder
                text = _absolute(text)
            elif name == "instructions" and text.startswith("@"):
                text = f"@{_absolute(text[1:])}"
            yield from [f"--{SETTINGS[name].setting}", *([] if item is True else [text])]


def _parts(served: "Served", settings: "Settings") -> "Iterator[tuple[Bridge, Mapping[str, Any], Sequence[str]]]":
    """Yield the bridge of each API with its options, and the variables of the settings file."""
    from ..bridge import Bridge

    file = settings.contents()
    if isinstance(served, Bridge):
        yield served, settings.options(), file.variables
        return
    for name, bridge in served.bridges.items():
        yield bridge, file.of_api(name), file.variables


def _variables(bridge: "Bridge", options: Mapping[str, Any], in_file: Sequence[str]) -> Iterator[str]:
    """Yield the environment variables that the server reads, each once: credentials, and those of the settings file.

    Where some of the credentials that the document's schemes name are set on this machine, the others are left out.
    """
    from ..runtime.request.credentials import FROM_ENVIRONMENT

    given = bridge.config.credentials
    texts = [text for name in ("oauth", "set") for text in _values(options.get(name) or ())]
    named = [
        text.removeprefix(FROM_ENVIRONMENT).strip()
        for text in (*given.values(), *texts)
        if isinstance(text, str) and text.startswith(FROM_ENVIRONMENT)
    ]
    schemes = [each.variable for each in bridge.security_schemes() if each.name not in given and each.variable]
    present = [name for name in schemes if os.environ.get(name)]
    yield from dict.fromkeys((*named, *in_file, *(present if present or named else schemes)))


def _values(pairs: Any) -> list[str]:
    """Return the values of an option with NAME=VALUE, from the command line or a settings file."""
    return list(map(str, pairs.values())) if isinstance(pairs, dict) else [text.partition("=")[2] for text in pairs]
