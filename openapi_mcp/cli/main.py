"""The command line: commands turn options into a `Config` and a `Bridge` into text; other modules do the work."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__
from ..errors import CallFailed, CheckFailed, UsageError
from ..options import examples
from . import check, console, documents, install
from .commands import CommandGroup, Values, command, named_command, reported_errors

if TYPE_CHECKING:
    from ..bridge import Bridge
    from ..gateway.gateway import Served
    from ..generator.package import Runtime
    from .inspect.tool_list import Sort
    from .settings import Settings

app = typer.Typer(
    name="openapi-mcp",
    cls=CommandGroup,
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


@command(app, epilog=examples.SERVE)
def serve(spec: str | None, transport: str | None, debug: bool, values: Values) -> None:
    """Serve the operations of SPEC as MCP tools.

    A call of a tool is one request to the API, and the response is its result.
    A client that starts this command itself speaks over stdio; started at a terminal it listens on
    http://127.0.0.1:8000/mcp (Streamable HTTP). It runs until it is interrupted or its stdin ends.
    It prints the number of tools and how to connect on stderr.
    """
    from . import destinations
    from .serve import stdio
    from .settings import LISTENING, HttpSettings, drop_placeholders, open_served

    with reported_errors(debug):
        drop_placeholders(os.environ)
        settings = _settings(spec, values)
        options = settings.options()
        transport = transport or options.get("transport") or _transport(listening=bool(LISTENING & options.keys()))
        over_http = transport == "http"
        _check_stdin(settings.source, options, over_http=over_http)
        served = open_served(settings, check=destinations.check)
        stdio.handle_signals()
        if over_http:
            from .serve import http

            http.serve(settings, served, HttpSettings.from_options(options))
        else:
            stdio.serve(settings, served)


@command(app, epilog=examples.INSPECT)
def inspect(
    spec: str | None,
    tool: str | None,
    as_json: bool,
    sort: "Sort | None",
    form: str | None,
    strict: bool,
    validate: bool,
    debug: bool,
    values: Values,
) -> None:
    """Show the tools of SPEC and its problems.

    Lists the tools with the tokens that each costs a model, the defects of the document, and whether `serve` lists or
    searches the tools. Tokens are estimated: the bytes of the tool's entry in the list, divided by four.
    """
    from ..bridge import Bridge
    from .inspect import output
    from .report import find_workflow, plural, workflow_json, workflow_page

    with reported_errors(debug):
        bridge = _served(spec, values, with_document=tool is None)
        if tool is not None and (found := find_workflow(bridge, tool)):
            _print_json(workflow_json(found[1])) if as_json else console.out("\n".join(workflow_page(found[1])))
            return
        if tool is not None:
            _, match = bridge.find(tool)
            _print_json(output.tool_json(match)) if as_json else console.out("\n".join(output.tool_page(match)))
            return
        if not isinstance(bridge, Bridge):
            from .inspect import several

            count = several.show(bridge, sort, form, validates=validate, as_json=as_json)
        else:
            count = output.show(bridge, sort, form, validates=validate, as_json=as_json)
        if strict and count:
            raise CheckFailed(plural(count, "problem"), where=spec or "", hint="they are printed above")


@command(app, epilog=examples.SEARCH)
def search(
    spec: str | None,
    query: str | None,
    explain: bool,
    limit: int | None,
    topic: str | None,
    as_json: bool,
    debug: bool,
    values: Values,
) -> None:
    """Find the tools of SPEC that a task needs, in plain words.

    This is the search that models use where `serve` searches tools instead of listing them. Without words the topics of
    the API are listed, or with --topic its tools. The exit code is 4 if nothing is found.
    """
    from .search import found_tools, print_rows

    with reported_errors(debug):
        served = _served(spec, values | {"mode": "search"})
        rows = found_tools(served.tools, query or "", topic or "", limit, explain=explain, store=served.offer.store)
        _print_json(rows) if as_json else print_rows(rows)


@command(app, epilog=examples.CALL)
def call(
    spec: str | None,
    tool: str,
    arguments: list[str] | None,
    json_arguments: str | None,
    dry_run: bool,
    debug: bool,
    values: Values,
) -> None:
    """Call one tool of SPEC and print the result.

    The call is made as a client would make it.
    Text goes to stdout as it is; images and other bytes are described. The exit code is 5 if the result is an error.
    """
    from ..runtime.tool import Tool
    from . import call as call_command
    from .report import find_workflow, workflow_plan

    with reported_errors(debug):
        served = _served(spec, values)
        workflow = find_workflow(served, tool)
        bridge, match = workflow or served.find(tool)
        call_arguments = call_command.read_arguments(match, arguments or [], json_arguments)
        if dry_run and workflow:
            console.out("\n".join(workflow_plan(workflow[1], call_arguments)))
            return
        if dry_run:
            assert isinstance(match, Tool)  # noqa: S101  # it is no workflow
            text, notes = call_command.request_text(bridge, match, call_arguments)
            for note in notes:
                console.err(f"note: {note}")
            console.out(text.removesuffix("\n"))
            return
        result = call_command.call(bridge, match, call_arguments)
        for line in call_command.result_lines(result):
            console.out(line)
        if result.is_error:
            raise CallFailed("the call failed", where=tool, hint=call_command.advice(bridge, match))


@command(app, epilog=examples.LOGIN)
def login(
    spec: str | None,
    scheme: str | None,
    device: bool,
    no_browser: bool,
    redirect_port: int | None,
    debug: bool,
    values: Values,
) -> None:
    """Sign in to the API of SPEC with OAuth.

    Opens the sign-in page of the document's security scheme, or shows a code for another device. The token is stored in
    the keyring of the operating system or in a private file; `serve` and `call` use and renew it.
    Needs the client id that the API's provider gave you: --oauth SCHEME.client-id=… or API_TITLE_SCHEME_CLIENT_ID.
    """
    from . import login as login_command

    with reported_errors(debug):
        bridge = _bridge(spec, values)
        place = login_command.sign_in(bridge, scheme, device=device, browser=not no_browser, port=redirect_port or 0)
        console.err(place)


@command(app, epilog=examples.LOGOUT)
def logout(spec: str | None, scheme: str | None, debug: bool, values: Values) -> None:
    """Sign out of the API of SPEC.

    Revokes the token of `login`, and removes it from this machine.
    """
    from . import login as login_command

    with reported_errors(debug):
        console.err(login_command.sign_out(_bridge(spec, values), scheme))


@command(app, epilog=examples.GENERATE)
def generate(
    spec: str | None,
    out: Path,
    name: str | None,
    runtime: "Runtime | None",
    templates: Path | None,
    check: bool,
    force: bool,
    bundle: bool,
    debug: bool,
    values: Values,
) -> None:
    """Write the tools of SPEC as a Python package that you own.

    The package is a server of its own: a function for each tool, tests, and all that is needed to publish it.
    Generated again, it keeps your changes: they are merged, and conflicts are marked as git marks them.
    """
    from . import generate as generate_command

    with reported_errors(debug):
        options = generate_command.GenerateOptions(
            out=out,
            name=name,
            runtime=runtime,
            templates=templates,
            force=force,
        )
        # A package lists all its tools.
        bridge = _bridge(spec, values | {"mode": "all"}, with_document=True)
        for line in generate_command.changes(bridge, options) if check else generate_command.write(bridge, options):
            console.out(line)
        if bundle and not check:
            console.out(str(generate_command.bundle(out)))


@command(app, "bundle", epilog=examples.BUNDLE)
def bundle_command(folder: Path, output: Path | None, debug: bool) -> None:
    """Make the .mcpb archive of a package.

    Desktop clients install such an archive with a click.
    """
    from . import generate as generate_command

    with reported_errors(debug):
        console.out(str(generate_command.bundle(folder, output)))


@command(app, epilog=examples.CACHE)
def cache(action: str | None, debug: bool) -> None:
    """Show the cache of compiled tools, or clear it.

    Prints its folder, the number of files and their size.
    Tools are compiled once for a document, a version of this program and the options that they depend on. As long as
    none of these changes, the next start takes them from the cache.
    """
    from ..cache.files import Cache, folder

    with reported_errors(debug):
        cache = Cache(folder())
        size, verb = (cache.clear(), "removed") if action == "clear" else (cache.size(), "kept")
        files = "file" if size.files == 1 else "files"
        console.out(f"{cache.folder}: {size.files:,} {files} {verb}, {size.bytes:,} bytes")


@command(app, "settings-schema", epilog=examples.SETTINGS_SCHEMA)
def settings_schema() -> None:
    """Print the JSON Schema of the settings file.

    For editors and other programs that read or write the file of --config.
    """
    from ..options.table import settings_schema

    _print_json(settings_schema())


install.register(app)
documents.register(app)
check.register(app)


def main() -> None:
    """Run the command line."""
    # httpx has a command line of its own, which imports rich and pygments; it provides for that not being there.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # None is how a module is made unavailable
    console.guard()
    try:
        with named_command(app, sys.argv[1:]):
            app()
    except OSError as error:  # of the terminal or file that is written to: others are reported where they happen
        if error.filename is not None or "--debug" in sys.argv:
            raise
        sys.exit(f"openapi-mcp: the output could not be written: {error.strerror or error}")


def _transport(*, listening: bool) -> str:
    """Choose the transport if the command line does not: HTTP with an option for listening or at a terminal."""
    at_terminal = sys.stdin is not None and sys.stdin.isatty()
    return "http" if listening or at_terminal else "stdio"


def _check_stdin(source: str, options: Mapping[str, Any], *, over_http: bool) -> None:
    """Raise UsageError for a document on stdin that the client needs as well, or that would be read twice."""
    if source != "-":
        return
    if not over_http:
        raise UsageError("stdin cannot carry both the document and the client's messages", hint="add --transport http")
    if options.get("watch") or options.get("workers", 1) > 1:
        raise UsageError("stdin can be read only once", hint="--watch and --workers need the document in a file")


def _settings(spec: str | None, values: Values) -> "Settings":
    """Return the settings of a command: the document, the options of the command line, and the settings file."""
    from .settings import Settings

    values = dict(values)
    file = values.pop("config", None)
    return Settings.find(spec, values, file)


def _bridge(spec: str | None, values: Values, *, with_document: bool = False) -> "Bridge":
    """Open the bridge of one document."""
    from .settings import open_bridge

    return open_bridge(_settings(spec, values), with_document=with_document)


def _served(spec: str | None, values: Values, *, with_document: bool = False) -> "Served":
    """Open the bridge of a document, or the gateway of several APIs."""
    from .settings import open_served

    return open_served(_settings(spec, values), with_document=with_document)


def _print_json(value: object) -> None:
    console.out(json.dumps(value, indent=2, ensure_ascii=True))
