"""The command line. Commands translate options into a Config and a Bridge into text; what they do is done elsewhere."""

import gc
import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import __version__, options
from .errors import BridgeError, CallFailed, UsageError
from .mode import Mode
from .options import Transport
from .parsing import Command, Commands

if TYPE_CHECKING:
    from .bridge import Bridge
    from .errors import Problem
    from .opening import Opening

app = typer.Typer(
    name="openapi-mcp",
    cls=Commands,
    help="Turn an OpenAPI document into MCP tools: every operation is a tool, a call is proxied to the REST API.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


@app.command(cls=Command)
def serve(
    context: typer.Context,
    spec: options.Spec,
    transport: options.TransportOption = None,
    host: options.Host = None,
    port: options.Port = None,
    path: options.EndpointPath = None,
    base_url: options.BaseUrl = None,
    server: options.Server = None,
    server_var: options.ServerVar = None,
    header: options.Header = None,
    auth: options.Auth = None,
    max_result_bytes: options.ResultBytes = None,
    timeout: options.Timeout = None,
    connect_timeout: options.ConnectTimeout = None,
    total_timeout: options.TotalTimeout = None,
    retries: options.Retries = None,
    ca: options.Ca = None,
    client_cert: options.ClientCert = None,
    client_key: options.ClientKey = None,
    allow_files: options.AllowFiles = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    read_only: options.ReadOnly = False,
    budget: options.Budget = None,
    compact: options.Compact = False,
    max_tools: options.MaxTools = None,
    page_size: options.PageSize = None,
    mode: options.ModeOption = None,
    pin: options.Pin = None,
    code_timeout: options.CodeTimeout = None,
    code_calls: options.CodeCalls = None,
    explicit_fields: options.ExplicitFields = False,
    check_contract: options.CheckContract = False,
    watch: options.Watch = False,
    watch_interval: options.WatchInterval = None,
    rate_limit: options.RateLimit = None,
    workers: options.Workers = None,
    auth_token: options.AuthToken = None,
    allow_unauthenticated: options.AllowUnauthenticated = False,
    allow_host: options.AllowHost = None,
    allow_origin: options.AllowOrigin = None,
    session_secret: options.SessionSecret = None,
    max_concurrency: options.MaxConcurrency = None,
    max_body_bytes: options.MaxBodyBytes = None,
    request_timeout: options.RequestTimeout = None,
    spec_header: options.SpecHeader = None,
    allow_remote_refs: options.RemoteRefs = False,
    no_cache: options.NoCache = False,
    config: options.Settings = None,
    debug: options.Debug = False,
) -> None:
    """Serve the operations of SPEC as MCP tools.

    Each call of a tool is one request to the API, and its answer the result.
    A client that starts this command itself speaks over stdio; started at a terminal it listens on
    http://127.0.0.1:8000/mcp (Streamable HTTP). It runs until it is interrupted or its stdin ends.
    What is served, and how to connect, is printed on stderr.
    """
    from . import serving
    from .endpoint import LISTENING, Endpoint

    with reported(debug):
        opening = _opening(context)
        settings = opening.settings()
        over_http = (transport or _transport(listening=bool(LISTENING & settings.keys()))) is Transport.HTTP
        _check_stdin(spec, settings, over_http=over_http)
        bridge = _opened(opening)
        serving.end_on_signals()
        if over_http:
            from . import listening

            listening.over_http(opening, bridge, Endpoint.from_options(settings))
        else:
            serving.over_stdio(opening, bridge)


@app.command(cls=Command)
def inspect(
    context: typer.Context,
    spec: options.Spec,
    tool: Annotated[str | None, typer.Argument(help="Show this one tool whole.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON, for programs.")] = False,
    validate: Annotated[
        bool, typer.Option("--validate/--no-validate", help="Judge the whole document too; takes seconds on a big one.")
    ] = True,
    base_url: options.BaseUrl = None,
    server: options.Server = None,
    server_var: options.ServerVar = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    read_only: options.ReadOnly = False,
    budget: options.Budget = None,
    compact: options.Compact = False,
    max_tools: options.MaxTools = None,
    mode: options.ModeOption = None,
    spec_header: options.SpecHeader = None,
    allow_remote_refs: options.RemoteRefs = False,
    no_cache: options.NoCache = False,
    config: options.Settings = None,
    debug: options.Debug = False,
) -> None:
    """Show the tools of SPEC and its problems.

    The tools with what each costs a model, what is wrong with the document, and whether `serve` lists or searches them.
    Tokens are estimated: the bytes of the tool's entry in the list, divided by four.
    """
    from . import report

    with reported(debug):
        bridge = _opened(_opening(context), with_document=tool is None)
        if tool is not None:
            found = bridge.tool(tool)
            _print_json(report.tool_json(found)) if as_json else typer.echo("\n".join(report.tool_page(found)))
            return
        problems = bridge.problems + (_validated(bridge) if validate else ())
        if as_json:
            _print_json(report.bridge_json(bridge, problems))
        else:
            report.print_tools(bridge, problems)


@app.command(cls=Command)
def call(
    context: typer.Context,
    spec: options.Spec,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The tool's name, as `openapi-mcp inspect` shows it.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Arguments; values are text or JSON; a repeated key makes a list."),
    ] = None,
    json_arguments: Annotated[
        str | None, typer.Option("--json", metavar="OBJECT", help="Arguments as one JSON object, instead of KEY=VALUE.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the HTTP request instead of sending it.")] = False,
    base_url: options.BaseUrl = None,
    server: options.Server = None,
    server_var: options.ServerVar = None,
    header: options.Header = None,
    auth: options.Auth = None,
    max_result_bytes: options.ResultBytes = None,
    timeout: options.Timeout = None,
    connect_timeout: options.ConnectTimeout = None,
    total_timeout: options.TotalTimeout = None,
    retries: options.Retries = None,
    ca: options.Ca = None,
    client_cert: options.ClientCert = None,
    client_key: options.ClientKey = None,
    allow_files: options.AllowFiles = None,
    spec_header: options.SpecHeader = None,
    allow_remote_refs: options.RemoteRefs = False,
    no_cache: options.NoCache = False,
    config: options.Settings = None,
    debug: options.Debug = False,
) -> None:
    """Call one tool of SPEC and print the result.

    The call is made as a client would make it.
    Text goes to stdout as it is; images and other bytes are described. The exit code is 5 where the result is an error.
    """
    from . import calling

    with reported(debug):
        bridge = _opened(_opening(context))
        found = bridge.tool(tool)
        given = calling.read_arguments(found, arguments or [], json_arguments)
        if dry_run:
            typer.echo(calling.request_text(bridge, found, given), nl=False)
            return
        result = calling.call(bridge, found, given)
        for line in calling.result_lines(result):
            typer.echo(line)
        if result.is_error:
            raise CallFailed("the call failed", where=tool, hint="the answer is printed above")


@app.command(cls=Command)
def cache(action: options.CacheActionArgument = None, debug: options.Debug = False) -> None:
    """Show where tools are kept between starts and how much that is, or clear it.

    Tools are made once for a document, a version of this program and the options that they depend on; as long as
    nothing of that changes, the next start takes them from here.
    """
    from .cache import Cache, folder

    with reported(debug):
        cache = Cache(folder())
        held, done = (cache.clear(), "removed") if action else (cache.held(), "kept")
        files = "file" if held.files == 1 else "files"
        typer.echo(f"{cache.folder}: {held.files:,} {files} {done}, {held.size:,} bytes")


@app.command(cls=Command)
def generate(
    context: typer.Context,
    spec: options.Spec,
    out: options.Out,
    name: options.PackageName = None,
    runtime: options.RuntimeOption = None,
    templates: options.TemplatesFolder = None,
    check: options.Check = False,
    force: options.Force = False,
    bundle: options.Bundle = False,
    base_url: options.BaseUrl = None,
    server: options.Server = None,
    server_var: options.ServerVar = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    read_only: options.ReadOnly = False,
    budget: options.Budget = None,
    compact: options.Compact = False,
    max_tools: options.MaxTools = None,
    spec_header: options.SpecHeader = None,
    allow_remote_refs: options.RemoteRefs = False,
    no_cache: options.NoCache = False,
    config: options.Settings = None,
    debug: options.Debug = False,
) -> None:
    """Write the tools of SPEC as a Python package that you own.

    The package is a server of its own: a function for each tool, tests, all that is needed to ship it.
    Generated again, what you changed in it stays: your edits are merged, and conflicts are marked as git marks them.
    """
    from . import generating

    with reported(debug):
        order = generating.Order(
            out=out,
            name=name,
            runtime=runtime.value if runtime else None,
            templates=templates,
            force=force,
        )
        bridge = _opened(_opening(context, mode=Mode.ALL.value), with_document=True)  # a package lists all its tools
        for line in generating.stale(bridge, order) if check else generating.write(bridge, order):
            typer.echo(line)
        if bundle and not check:
            typer.echo(generating.bundle(out))


@app.command("bundle", cls=Command)
def bundle_command(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A package that `openapi-mcp generate` made.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where the archive goes.")
    ] = None,
    debug: options.Debug = False,
) -> None:
    """Make the .mcpb archive of a package, which desktop clients install with a click."""
    from . import generating

    with reported(debug):
        typer.echo(generating.bundle(folder, output))


def main() -> None:
    """Run the command line."""
    # httpx has a command line of its own, which imports rich and pygments; it provides for that not being there.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # None is how a module is made unavailable
    try:
        app()
    except OSError as error:  # of the terminal or file that is written to: others are told where they happen
        if error.filename is not None or "--debug" in sys.argv:
            raise
        sys.exit(f"openapi-mcp: what was to be written could not be: {error.strerror or error}")


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


def _transport(*, listening: bool) -> Transport:
    at_terminal = sys.stdin is not None and sys.stdin.isatty()
    return Transport.HTTP if listening or at_terminal else Transport.STDIO


def _check_stdin(source: str, settings: Mapping[str, Any], *, over_http: bool) -> None:
    """A document on stdin is there once, and where the client is on stdin it is not there at all."""
    if source != "-":
        return
    if not over_http:
        raise UsageError("stdin cannot be the document and the client at once", hint="add --transport http")
    if settings.get("watch") or settings.get("workers", 1) > 1:
        raise UsageError("stdin can be read only once", hint="--watch and --workers need the document in a file")


def _opening(context: typer.Context, **decided: object) -> "Opening":
    """The document and the options that a command was given, or that are decided by what it does."""
    from .opening import Opening

    given = {name: value for name, value in context.params.items() if _is_given(value)}
    source, settings = given.pop("spec"), given.pop("config", None)
    return Opening(source, {**given, **decided}, settings)


def _opened(opening: "Opening", *, with_document: bool = False) -> "Bridge":
    """The bridge that a command's options describe."""
    from .progress import Progress

    with Progress(f"reading {opening.source}") as progress, _uncollected():
        return opening.bridge(progress, with_document=with_document)


@contextmanager
def _uncollected() -> Iterator[None]:
    """No search for garbage meanwhile: what is made here is kept, and to look through it takes a sixth of the time.

    Nor is it looked through afterwards: it is as good as part of the program.
    """
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


def _is_given(value: object) -> bool:
    """Whether an option was used: one that was not is None, False or an empty list, while 0 says something."""
    return value is not None and value is not False and value not in ([], ())


def _validated(bridge: "Bridge") -> "tuple[Problem, ...]":
    from .progress import Progress

    with Progress("validating the document (--no-validate skips this)"):
        return tuple(bridge.validate())


def _print_json(value: object) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=True))
