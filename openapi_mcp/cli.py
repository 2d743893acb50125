"""The command line. Commands translate options into a Config and a Bridge into text; what they do is done elsewhere."""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import __version__
from .errors import BridgeError, CallFailed, UsageError

if TYPE_CHECKING:
    from .bridge import Bridge
    from .errors import Problem

app = typer.Typer(
    name="openapi-mcp",
    help="Turn an OpenAPI document into MCP tools: every operation is a tool, a call is proxied to the REST API.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Transport(StrEnum):
    """How clients reach the server."""

    STDIO = "stdio"
    HTTP = "http"


TransportOption = Annotated[
    Transport | None,
    typer.Option(help="stdio or http; if not given: http at a terminal or with --host, --port or --path, else stdio."),
]
Host = Annotated[str | None, typer.Option(help="Address to listen on (http).", show_default="127.0.0.1")]
Port = Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one.", show_default="8000")]
EndpointPath = Annotated[str | None, typer.Option(help="Path of the MCP endpoint.", show_default="/mcp")]
Spec = Annotated[
    str, typer.Argument(metavar="SPEC", help="An OpenAPI 3.x or Swagger 2.0 document: a path, a URL, or - for stdin.")
]
SpecHeader = Annotated[
    list[str] | None,
    typer.Option(help="'Name: value' to send when the document is fetched; may be repeated.", metavar="HEADER"),
]
RemoteRefs = Annotated[
    bool,
    typer.Option("--allow-remote-refs", help="Let the document pull in files from other hosts (never private ones)."),
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE",
        help="Only these operations: tag:pets, path:/pets/*, method:get or id:listPets; may be repeated.",
    ),
]
Exclude = Annotated[
    list[str] | None, typer.Option(metavar="RULE", help="Not these operations; rules as for --include.")
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Only operations that change nothing (GET, HEAD, …).")]
BaseUrl = Annotated[
    str | None, typer.Option(metavar="URL", help="Where the API is, instead of what the document's `servers` say.")
]
Header = Annotated[
    list[str] | None,
    typer.Option(metavar="HEADER", help="'Name: value' to send with every call to the API; may be repeated."),
]
Auth = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SCHEME=VALUE",
        help="The credential of a security scheme (basic: user:password). Environment variables are safer: "
        "`openapi-mcp inspect` names them.",
    ),
]
Server = Annotated[
    str | None, typer.Option(metavar="N|URL|NAME", help="Which of the document's `servers` to call, from 0.")
]
ServerVar = Annotated[
    list[str] | None, typer.Option(metavar="NAME=VALUE", help="The value of a server variable; may be repeated.")
]
ResultBytes = Annotated[
    int | None,
    typer.Option("--max-result-bytes", min=1024, help="Where longer answers are cut.", show_default="262144"),
]
Timeout = Annotated[float | None, typer.Option(min=0, help="Seconds without a byte of an answer.", show_default="60")]
ConnectTimeout = Annotated[float | None, typer.Option(min=0, help="Seconds to connect to the API.", show_default="10")]
TotalTimeout = Annotated[
    float | None, typer.Option(min=0, help="Seconds for a whole call, retries included.", show_default="no limit")
]
Retries = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="How often a call is tried again that the API put off (429, 503) or that never reached it.",
        show_default="2",
    ),
]
Ca = Annotated[Path | None, typer.Option(metavar="FILE", help="Certificates to trust instead of the usual ones (PEM).")]
ClientCert = Annotated[Path | None, typer.Option(metavar="FILE", help="Certificate to show to the API (PEM).")]
ClientKey = Annotated[Path | None, typer.Option(metavar="FILE", help="Its key, where it is in a file of its own.")]
AllowFiles = Annotated[
    list[Path] | None,
    typer.Option(metavar="FOLDER", help="Let binary arguments be file:// URLs of files in here; may be repeated."),
]
CheckContract = Annotated[
    bool,
    typer.Option(
        "--check-contract",
        help="Log where requests and answers differ from the document, and sum it up at the end; changes no call.",
    ),
]
Settings = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help='Options in a TOML file: base-url = "…"; the command line wins.'),
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show tracebacks and log what is sent to the API (no credentials).")
]


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Turn an OpenAPI document into MCP tools: every operation is a tool, a call is proxied to the REST API.

    Try `openapi-mcp inspect petstore.yaml` to see the tools, then `openapi-mcp serve petstore.yaml` to offer them.
    """
    if version:
        typer.echo(f"openapi-mcp {__version__}")
        raise typer.Exit


@app.command()
def serve(
    context: typer.Context,
    spec: Spec,
    transport: TransportOption = None,
    host: Host = None,
    port: Port = None,
    path: EndpointPath = None,
    base_url: BaseUrl = None,
    server: Server = None,
    server_var: ServerVar = None,
    header: Header = None,
    auth: Auth = None,
    max_result_bytes: ResultBytes = None,
    timeout: Timeout = None,
    connect_timeout: ConnectTimeout = None,
    total_timeout: TotalTimeout = None,
    retries: Retries = None,
    ca: Ca = None,
    client_cert: ClientCert = None,
    client_key: ClientKey = None,
    allow_files: AllowFiles = None,
    include: Include = None,
    exclude: Exclude = None,
    read_only: ReadOnly = False,
    check_contract: CheckContract = False,
    spec_header: SpecHeader = None,
    allow_remote_refs: RemoteRefs = False,
    config: Settings = None,
    debug: Debug = False,
) -> None:
    """Serve the operations of SPEC as MCP tools.

    Each call of a tool is one request to the API, and its answer the result.
    A client that starts this command itself speaks over stdio; started at a terminal it listens on
    http://127.0.0.1:8000/mcp (Streamable HTTP). It runs until it is interrupted or its stdin ends.
    What is served, and how to connect, is printed on stderr.
    """
    from . import serving

    with reported(debug):
        over_http = (transport or _transport(listening=(host, port, path) != (None, None, None))) is Transport.HTTP
        if spec == "-" and not over_http:
            raise UsageError("stdin cannot be the document and the client at once", hint="add --transport http")
        bridge = _opened(context)
        serving.end_on_signals()
        if over_http:
            _serve_over_http(bridge, host or "127.0.0.1", 8000 if port is None else port, path or "mcp")
        else:
            _serve_over_stdio(bridge)


@app.command()
def inspect(
    context: typer.Context,
    spec: Spec,
    tool: Annotated[str | None, typer.Argument(help="Show this one tool whole.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON, for programs.")] = False,
    validate: Annotated[
        bool, typer.Option("--validate/--no-validate", help="Judge the whole document too; takes seconds on a big one.")
    ] = True,
    base_url: BaseUrl = None,
    server: Server = None,
    server_var: ServerVar = None,
    include: Include = None,
    exclude: Exclude = None,
    read_only: ReadOnly = False,
    spec_header: SpecHeader = None,
    allow_remote_refs: RemoteRefs = False,
    config: Settings = None,
    debug: Debug = False,
) -> None:
    """Show the tools of SPEC and its problems.

    The tools with what each costs a model, and what is wrong with the document.
    Tokens are estimated: the bytes of the tool's entry in the list, divided by four.
    """
    from . import report

    with reported(debug):
        bridge = _opened(context)
        if tool is not None:
            found = bridge.tool(tool)
            _print_json(report.tool_json(found)) if as_json else typer.echo("\n".join(report.tool_page(found)))
            return
        problems = bridge.problems + (_validated(bridge) if validate else ())
        if as_json:
            _print_json(report.bridge_json(bridge, problems))
        else:
            report.print_tools(bridge, problems)


@app.command()
def call(
    context: typer.Context,
    spec: Spec,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The tool's name, as `openapi-mcp inspect` shows it.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Arguments; values are text or JSON; a repeated key makes a list."),
    ] = None,
    json_arguments: Annotated[
        str | None, typer.Option("--json", metavar="OBJECT", help="Arguments as one JSON object, instead of KEY=VALUE.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the HTTP request instead of sending it.")] = False,
    base_url: BaseUrl = None,
    server: Server = None,
    server_var: ServerVar = None,
    header: Header = None,
    auth: Auth = None,
    max_result_bytes: ResultBytes = None,
    timeout: Timeout = None,
    connect_timeout: ConnectTimeout = None,
    total_timeout: TotalTimeout = None,
    retries: Retries = None,
    ca: Ca = None,
    client_cert: ClientCert = None,
    client_key: ClientKey = None,
    allow_files: AllowFiles = None,
    spec_header: SpecHeader = None,
    allow_remote_refs: RemoteRefs = False,
    config: Settings = None,
    debug: Debug = False,
) -> None:
    """Call one tool of SPEC and print the result.

    The call is made as a client would make it.
    Text goes to stdout as it is; images and other bytes are described. The exit code is 5 where the result is an error.
    """
    from . import calling

    with reported(debug):
        bridge = _opened(context)
        found = bridge.tool(tool)
        given = calling.read_arguments(found, arguments or [], json_arguments)
        if dry_run:
            typer.echo(calling.request_text(bridge, found, given), nl=False)
            return
        result = calling.call(bridge, found, given)
        for line in calling.result_lines(result):
            typer.echo(line)
        if result.is_error:
            raise CallFailed("the call failed", where=tool, hint="the API's answer is printed above")


def main() -> None:
    """Run the command line."""
    app()


@contextmanager
def reported(debug: bool) -> Iterator[None]:
    """Turn errors a user can cure into what, where and how to; anything else is a bug, and shows its traceback."""
    if debug:
        logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
        logging.getLogger("openapi_mcp").setLevel(logging.DEBUG)  # and not httpx, which logs queries and their keys
    try:
        yield
    except BridgeError as error:
        if debug:
            raise
        typer.echo(f"openapi-mcp: {error.message}", err=True)
        for label, text in (("where", error.where), ("what to do", error.hint)):
            if text:
                typer.echo(f"  {label}: {text}", err=True)
        raise typer.Exit(error.exit_code) from None


def _serve_over_http(bridge: "Bridge", host: str, port: int, path: str) -> None:
    from . import report, serving

    if bridge.config.file_roots:
        raise UsageError("files by name are for clients on this machine", where="--allow-files", hint="use stdio")
    with serving.listening(host, port) as listener:
        endpoint = "/" + path.strip("/")
        url = f"http://{serving.address(listener)}{endpoint}"
        typer.echo(report.serving(bridge, report.connections(bridge, url)), err=True)
        serving.over_http(bridge, listener, endpoint)


def _serve_over_stdio(bridge: "Bridge") -> None:
    from . import report, serving

    typer.echo(report.serving(bridge, ["stdio: this process's stdin and stdout"]), err=True)
    serving.over_stdio(bridge)


def _transport(*, listening: bool) -> Transport:
    at_terminal = sys.stdin is not None and sys.stdin.isatty()
    return Transport.HTTP if listening or at_terminal else Transport.STDIO


def _opened(context: typer.Context) -> "Bridge":
    """The bridge that a command's options describe."""
    from .bridge import Bridge
    from .config import OPTIONS, Config, read_settings
    from .progress import Progress

    given = {name: value for name, value in context.params.items() if name in OPTIONS and _is_given(value)}
    settings = context.params["config"]
    config = Config.from_options(context.params["spec"], (read_settings(settings) if settings else {}) | given)
    with Progress(f"reading {config.source}") as progress:
        return Bridge.open(config, progress)


def _is_given(value: object) -> bool:
    """Whether an option was used: one that was not is None, False or an empty list, while 0 says something."""
    return value is not None and value is not False and value not in ([], ())


def _validated(bridge: "Bridge") -> "tuple[Problem, ...]":
    from .progress import Progress

    with Progress("validating the document (--no-validate skips this)"):
        return tuple(bridge.validate())


def _print_json(value: object) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=True))
