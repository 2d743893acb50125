"""The options of the commands: what each is called, which values it takes, and what `--help` says of it."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .mode import Mode


class Runtime(StrEnum):
    """Where a generated package has its runtime from."""

    VENDORED = "vendored"
    INSTALLED = "installed"


class Transport(StrEnum):
    """How clients reach the server."""

    STDIO = "stdio"
    HTTP = "http"


TransportOption = Annotated[
    Transport | None,
    typer.Option(help="stdio or http; if not given: http at a terminal or with --host, --port or --path, else stdio."),
]
Host = Annotated[str | None, typer.Option(help="Address to listen on (http).", show_default="127.0.0.1")]
Port = Annotated[
    int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.", show_default="8000")
]
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
ModeOption = Annotated[
    Mode | None,
    typer.Option(
        "--mode",
        help="all: list every tool; search: list three tools that find, describe and call the others; "
        "code: the third runs programs that call them (needs the extra `code`); "
        "auto: all, but search above 128 tools or 40,000 tokens.",
        show_default="auto",
    ),
]
Pin = Annotated[
    list[str] | None,
    typer.Option("--pin", metavar="TOOL", help="List this tool in search or code mode as well; may be repeated."),
]
CodeTimeout = Annotated[
    float | None,
    typer.Option(min=0.1, help="Seconds for a program of code mode, its calls included.", show_default="50"),
]
CodeCalls = Annotated[
    int | None, typer.Option(min=1, help="Calls that a program of code mode may make.", show_default="100")
]
PageSize = Annotated[
    int | None,
    typer.Option(min=1, help="Tools in a page of the list; many clients read one page only.", show_default="all"),
]
ExplicitFields = Annotated[
    bool,
    typer.Option(
        "--explicit-fields",
        help="For clients that want every field: structuredContent {} where there is none, nextCursor '' at the end.",
    ),
]
Watch = Annotated[
    bool,
    typer.Option("--watch", help="Load the document again when it changes, and tell the clients (as SIGHUP does)."),
]
WatchInterval = Annotated[
    float | None,
    typer.Option(min=0.1, help="Seconds between two questions whether a URL changed.", show_default="1"),
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Processes that share the work (http).", show_default="1", metavar="N")
]
AuthToken = Annotated[
    str | None,
    typer.Option(
        envvar="OPENAPI_MCP_AUTH_TOKEN", help="The bearer token that clients must show (http). Better as a variable."
    ),
]
RateLimit = Annotated[
    str | None,
    typer.Option(metavar="LIMIT", help="Calls a caller may make of a tool: 20/second, or 100/minute;2000/day."),
]
SessionSecret = Annotated[
    str | None,
    typer.Option(
        envvar="OPENAPI_MCP_SESSION_SECRET",
        help="Signs session ids (http); the same for all replicas behind one address. Better as a variable.",
        show_default="random",
    ),
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(metavar="HOST", help="A name this server is reached by, with or without port; may be repeated."),
]
AllowOrigin = Annotated[
    list[str] | None,
    typer.Option(metavar="ORIGIN", help="A web page's origin that may use this server, as https://app.example.com."),
]
AllowUnauthenticated = Annotated[
    bool,
    typer.Option("--allow-unauthenticated", help="Listen to other machines without --auth-token."),
]
MaxConcurrency = Annotated[
    int | None,
    typer.Option(min=1, help="Requests at once; one more is told to come back later (503).", show_default="256"),
]
MaxBodyBytes = Annotated[
    int | None, typer.Option(min=1024, help="The largest message a client may send (http).", show_default="4194304")
]
RequestTimeout = Annotated[
    float | None, typer.Option(min=0.1, help="Seconds that a client may wait for an answer (http).", show_default="600")
]
CheckContract = Annotated[
    bool,
    typer.Option(
        "--check-contract",
        help="Log where requests and answers differ from the document, and sum it up at the end; changes no call.",
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="TOKENS",
        help="What descriptions, and schemas of answers, may take in all tools together; of many tools each says less. "
        "Input schemas stay whole.",
        show_default="65536",
    ),
]
Compact = Annotated[
    bool, typer.Option("--compact", help="Short descriptions and no schemas of answers, however few the tools are.")
]
MaxTools = Annotated[
    int | None, typer.Option(min=1, help="At most so many tools: the first ones, deprecated ones last.")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Make the tools anew, and keep them for no later start.")]


class CacheAction(StrEnum):
    """What may be done with the cache."""

    CLEAR = "clear"


CacheActionArgument = Annotated[
    CacheAction | None, typer.Argument(metavar="[clear]", help="clear: remove everything.", show_default=False)
]
Settings = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help='Options in a TOML file: base-url = "…"; the command line wins.'),
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show tracebacks and log what is sent to the API (no credentials).")
]
Out = Annotated[Path, typer.Argument(metavar="OUT", help="The package's folder; what is in it is never lost.")]
PackageName = Annotated[
    str | None, typer.Option("--name", help="The package's distribution name.", show_default="the title and -mcp")
]
RuntimeOption = Annotated[
    Runtime | None,
    typer.Option(
        "--runtime",
        help="vendored: a copy of the runtime is in the package; installed: it depends on this one.",
        show_default="as it is there, else vendored",
    ),
]
TemplatesFolder = Annotated[
    Path | None,
    typer.Option("--templates", metavar="FOLDER", help="Templates that take the place of the built-in ones, by name."),
]
Check = Annotated[
    bool, typer.Option("--check", help="Write nothing; exit with 7 where the package is not what SPEC says now.")
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Generate into a folder with files of its own: those stay, ours are put beside."),
]
Bundle = Annotated[bool, typer.Option("--bundle", help="Also make the .mcpb archive that desktop clients install.")]
