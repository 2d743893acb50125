"""The one table of options: name, type, help, default, range, group, commands, and where the value goes.

The command line, its help, the settings file and the JSON Schema of the settings file are all made from it, so that a
new option is one entry here and the code that reads its value. Data only: nothing of the program is imported.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from .option import ACCESS, API, ARGUMENTS, CODE, COMMAND, DOCUMENT, GENERAL, HTTP, LIMITS, OPERATION, TOOLS, Option

_SERVE: Final = ("serve",)
_INSPECT: Final = ("inspect",)
_CALL: Final = ("call",)
_GENERATE: Final = ("generate",)
_BUNDLE: Final = ("bundle",)
_CALLING: Final = ("serve", "call")
_SEARCH: Final = ("search",)
_SELECTING: Final = ("serve", "inspect", "generate")
_CHOOSING: Final = (*_SELECTING, *_SEARCH)
_OPENING: Final = ("serve", "inspect", "search", "call", "generate")
_SIGN_IN: Final = ("login", "logout")
_READING: Final = (*_OPENING, *_SIGN_IN)
_ALL: Final = (*_READING, "cache", "bundle")

# fmt: off
OPTIONS: Final = (
    Option(
        "spec", ARGUMENTS, _READING, "An OpenAPI 3.x or Swagger 2.0 document: a path, a URL, or - for stdin.",
        to="command", metavar="SPEC", required=True
    ),
    Option("tool", ARGUMENTS, _INSPECT, "Show only this tool, with its schemas.", to="command", metavar="TOOL"),
    Option(
        "query", ARGUMENTS, _SEARCH, "The task, in plain words, in quotes.", to="command", metavar="WORDS"
    ),
    Option(
        "tool", ARGUMENTS, _CALL, "Name of the tool, as `openapi-mcp inspect` shows it.",
        to="command", metavar="TOOL", required=True
    ),
    Option(
        "arguments", ARGUMENTS, _CALL, "Arguments of the tool. Values are text or JSON; a repeated key makes a list.",
        to="command", metavar="KEY=VALUE", many=True
    ),
    Option(
        "out", ARGUMENTS, _GENERATE, "Folder of the package. Files that are in it already are never lost.",
        to="command", metavar="OUT", kind=Path, required=True
    ),
    Option(
        "folder", ARGUMENTS, _BUNDLE, "A package that `openapi-mcp generate` wrote.",
        to="command", metavar="FOLDER", kind=Path, required=True
    ),
    Option("action", ARGUMENTS, ("cache",), "clear: remove everything.", to="command", choices=("clear",)),
    Option(
        "explain", COMMAND, _SEARCH, "Show why each tool was found.", to="command", kind=bool, default=False
    ),
    Option(
        "limit", COMMAND, _SEARCH, "The largest number of tools.",
        to="command", metavar="N", kind=int, minimum=1, default_text="10; all of a topic"
    ),
    Option(
        "topic", COMMAND, _SEARCH, "Only tools with this tag, or whose path begins so: pets, /pets/{petId}.",
        to="command", metavar="TOPIC"
    ),
    Option(
        "as_json", COMMAND, (*_INSPECT, *_SEARCH), "Print everything as JSON, for programs.",
        to="command", kind=bool, default=False, flags=("--json",)
    ),
    Option(
        "validate", COMMAND, _INSPECT, "Validate the whole document too; takes seconds for a big one.",
        to="command", kind=bool, default=True, flags=("--validate/--no-validate",)
    ),
    Option(
        "json_arguments", COMMAND, _CALL, "Arguments as one JSON object, instead of KEY=VALUE.",
        to="command", metavar="OBJECT", flags=("--json",)
    ),
    Option(
        "dry_run", COMMAND, _CALL, "Print the HTTP request instead of sending it.",
        to="command", kind=bool, default=False
    ),
    Option(
        "scheme", COMMAND, _SIGN_IN, "The security scheme, if the document has several for OAuth.",
        to="command", metavar="SCHEME"
    ),
    Option(
        "device", COMMAND, ("login",), "Sign in on another device: show a code to enter there.",
        to="command", kind=bool, default=False
    ),
    Option(
        "no_browser", COMMAND, ("login",), "Print the address of the sign-in page, and open no browser.",
        to="command", kind=bool, default=False
    ),
    Option(
        "redirect_port", COMMAND, ("login",),
        "Port of http://127.0.0.1:PORT/callback, where the sign-in page returns to: one that the client is registered "
        "with.", to="command", metavar="PORT", kind=int, minimum=1, maximum=65535, default_text="a free one"
    ),
    Option(
        "name", COMMAND, _GENERATE, "Distribution name of the package.",
        to="command", metavar="NAME", default_text="the API's title and -mcp"
    ),
    Option(
        "runtime", COMMAND, _GENERATE,
        "vendored: the package holds a copy of the runtime; installed: it depends on mcp-openapi-bridge.",
        to="command", choices=("vendored", "installed"), default_text="as in the existing package, else vendored"
    ),
    Option(
        "templates", COMMAND, _GENERATE, "Templates that replace the built-in ones of the same name.",
        to="command", metavar="FOLDER", kind=Path
    ),
    Option(
        "check", COMMAND, _GENERATE, "Write nothing; exit with 7 if the package is not what SPEC generates now.",
        to="command", kind=bool, default=False
    ),
    Option(
        "force", COMMAND, _GENERATE,
        "Generate into a folder that holds other files: those stay, generated ones are put beside them.",
        to="command", kind=bool, default=False
    ),
    Option(
        "bundle", COMMAND, _GENERATE, "Also write the .mcpb archive that desktop clients install.",
        to="command", kind=bool, default=False
    ),
    Option(
        "output", COMMAND, _BUNDLE, "Path of the archive.",
        to="command", metavar="FILE", kind=Path, flags=("--output", "-o"), default_text="NAME.mcpb in FOLDER"
    ),
    Option(
        "base_url", API, _OPENING, "Base URL of the API, in the place of all the document's `servers`, also "
        "those of single operations. FROM=TO replaces one: FROM is its URL, the beginning of it, or its host.",
        metavar="URL|FROM=TO", many=True, pairs=True, single=True
    ),
    Option(
        "server", API, _OPENING, "Which of the document's `servers` to call: its index from 0, its URL or its name.",
        metavar="N|URL|NAME"
    ),
    Option("server_var", API, _OPENING, "Value of a server variable.", metavar="NAME=VALUE", many=True, pairs=True),
    Option("header", API, _CALLING, "'Name: value' to send with every call to the API.", metavar="HEADER", many=True),
    Option(
        "auth", API, _CALLING, "Credential of a security scheme (basic: user:password). "
        "SCHEME=env:NAME reads it from the environment variable NAME, which is safer; by default it is the variable "
        "that `openapi-mcp inspect` names (API_TITLE_SCHEME).",
        metavar="SCHEME=VALUE", many=True, pairs=True
    ),
    Option(
        "oauth", API, (*_CALLING, *_SIGN_IN), "OAuth client of a security scheme: client-id, client-secret "
        "(env:NAME reads a variable), scopes, audience, resource, auth-method; token-url, authorization-url, "
        "device-url or metadata-url instead of the document's. API_TITLE_SCHEME_CLIENT_ID and …_CLIENT_SECRET are read too.",
        metavar="SCHEME.FIELD=VALUE", many=True, pairs=True
    ),
    Option(
        "lenient", API, _CALLING,
        "Send arguments that do not fit the document too, and calls without a required credential, and say so in the "
        "result: for documents that are stricter than their API.",
        kind=bool, default=False
    ),
    Option(
        "allow_files", API, _CALLING, "Let binary arguments be file:// URLs of files in this folder.",
        metavar="FOLDER", kind=Path, many=True
    ),
    Option(
        "follow_redirects_to", API, _CALLING,
        "Follow redirects of the API to this host too: host, host:port or *.host. It gets no credentials.",
        metavar="HOST", many=True
    ),
    Option(
        "accept_host", API, _CALLING,
        "Send credentials to this host, which the document did not name at the last start. Needed once.",
        metavar="HOST", many=True
    ),
    Option(
        "ca", API, _READING, "Certificates to trust instead of the usual ones (PEM), of the API and of the document's "
        "host.", metavar="FILE", kind=Path
    ),
    Option(
        "client_cert", API, _READING, "Client certificate to show to the API and to the document's host (PEM).",
        metavar="FILE", kind=Path
    ),
    Option(
        "client_key", API, _READING, "Key of the client certificate, if it is in a file of its own.",
        metavar="FILE", kind=Path
    ),
    Option(
        "spec_header", DOCUMENT, _READING, "'Name: value' to send when the document is fetched.",
        metavar="HEADER", many=True
    ),
    Option(
        "allow_remote_refs", DOCUMENT, _READING,
        "Let the document refer to files on other hosts (never to private addresses).", kind=bool, default=False
    ),
    Option(
        "no_cache", DOCUMENT, _READING, "Compile the tools anew, and do not keep them for the next start.",
        kind=bool, default=False
    ),
    Option(
        "watch", DOCUMENT, _SERVE, "Reload the document when it changes, and tell the clients (SIGHUP does the same).",
        kind=bool, default=False
    ),
    Option(
        "watch_interval", DOCUMENT, _SERVE, "Seconds between two requests that ask whether a URL has changed.",
        metavar="SECONDS", kind=float, default=1.0, minimum=0.1
    ),
    Option(
        "check_contract", DOCUMENT, _SERVE,
        "Log where requests and responses differ from the document, with a summary at the end; changes no call.",
        kind=bool, default=False
    ),
    Option(
        "include", TOOLS, _CHOOSING,
        "Only these operations: tag:pets, path:/pets/*, method:get or id:listPets.", metavar="RULE", many=True
    ),
    Option("exclude", TOOLS, _CHOOSING, "Not these operations; rules as for --include.", metavar="RULE", many=True),
    Option(
        "read_only", TOOLS, _CHOOSING, "Only operations that change nothing (GET, HEAD, …).", kind=bool, default=False
    ),
    Option(
        "mode", TOOLS, ("serve", "inspect"),
        "all: list every tool; search: list three tools that find, describe and call the others; "
        "code: the third runs programs that call them (needs the extra `code`); "
        "auto: all, but search above 128 tools or 20,000 tokens.",
        choices=("all", "search", "code", "auto"), default="auto"
    ),
    Option("pin", TOOLS, _SERVE, "List this tool in search or code mode as well.", metavar="TOOL", many=True),
    Option(
        "budget", TOOLS, _SELECTING,
        "Tokens for the descriptions, and as many for the output schemas, of all tools together; the more tools, the "
        "less of each. In input schemas only descriptions are cut.",
        metavar="TOKENS", kind=int, default_text="65536", minimum=0
    ),
    Option(
        "compact", TOOLS, _SELECTING, "Short descriptions and no output schemas, however few tools there are.",
        kind=bool, default=False
    ),
    Option(
        "max_tools", TOOLS, _SELECTING, "At most this many tools: the first ones, deprecated ones last.",
        metavar="N", kind=int, minimum=1, default_text="all"
    ),
    Option(
        "max_instructions", TOOLS, _SELECTING,
        "Characters of the instructions that clients put before every conversation: an overview of the tools, then the "
        "API's description.",
        metavar="N", kind=int, default=3000, minimum=0
    ),
    Option(
        "instructions", TOOLS, _SELECTING,
        "These instructions in the place of those that are made from the document; @FILE reads them from a file.",
        metavar="TEXT|@FILE"
    ),
    Option(
        "page_size", TOOLS, _SERVE, "Tools in a page of the list; many clients read only one page.",
        metavar="N", kind=int, minimum=1, default_text="all"
    ),
    Option(
        "explicit_fields", TOOLS, _SERVE,
        "For clients that require every field: structuredContent {} where there is none, nextCursor '' at the end.",
        kind=bool, default=False
    ),
    Option(
        "code_timeout", CODE, _SERVE, "Seconds for a program, its calls included.",
        metavar="SECONDS", kind=float, default=50.0, minimum=0.1
    ),
    Option("code_calls", CODE, _SERVE, "Calls that a program may make.", metavar="N", kind=int, default=100, minimum=1),
    Option(
        "timeout", LIMITS, _CALLING, "Seconds to wait for the next byte of the API's response.",
        metavar="SECONDS", kind=float, default=60.0, minimum=0
    ),
    Option(
        "connect_timeout", LIMITS, _CALLING, "Seconds to connect to the API.",
        metavar="SECONDS", kind=float, default=10.0, minimum=0
    ),
    Option(
        "total_timeout", LIMITS, _CALLING,
        "Seconds for a whole call: waits, retries, redirects and the body; 0 is no limit.",
        metavar="SECONDS", kind=float, default=55.0, minimum=0
    ),
    Option(
        "retries", LIMITS, _CALLING,
        "How often a call is repeated that the API postponed (429, 503) or that never reached it.",
        metavar="N", kind=int, default=2, minimum=0
    ),
    Option(
        "max_result_tokens", LIMITS, _CALLING,
        "Results are cut at this size: text and structured content together, four bytes a token.",
        metavar="TOKENS", kind=int, default=20_000, minimum=256
    ),
    Option(
        "max_response_size", LIMITS, _CALLING,
        "Of a larger answer of the API only the beginning is read. A result shows much less of it.",
        metavar="MIB", kind=int, default=16, minimum=1
    ),
    Option(
        "rate_limit", LIMITS, _SERVE,
        "Calls that one client may make of one tool: 20/second, or 100/minute;2000/day. Over HTTP a client is a "
        "session (four of an address, further ones count together), else the token, else the address.",
        metavar="LIMIT", default_text="no limit"
    ),
    Option(
        "max_concurrency", LIMITS, _SERVE,
        "Calls made at once by each worker; a further one is answered with 503. One client has at most four fifths of "
        "them, then its calls are answered with 429 (http).",
        to="http", metavar="N", kind=int, default=320, minimum=1
    ),
    Option(
        "max_body_bytes", LIMITS, _SERVE, "Largest message that a client may send (http).",
        to="http", metavar="BYTES", kind=int, default=4_194_304, minimum=1024
    ),
    Option(
        "request_timeout", LIMITS, _SERVE, "Seconds that a client may wait for a response (http).",
        to="http", metavar="SECONDS", kind=float, default=600.0, minimum=0.1
    ),
    Option(
        "transport", HTTP, _SERVE, "How clients reach the server.", to="command", choices=("stdio", "http"),
        default_text="http at a terminal or with --host, --port or --path, else stdio"
    ),
    Option("host", HTTP, _SERVE, "Address to listen on.", to="http", metavar="HOST", default="127.0.0.1"),
    Option(
        "port", HTTP, _SERVE, "Port to listen on; 0 takes a free one.",
        to="http", metavar="PORT", kind=int, default=8000, minimum=0, maximum=65535
    ),
    Option("path", HTTP, _SERVE, "Path of the MCP endpoint.", to="http", metavar="PATH", default="/mcp"),
    Option(
        "workers", HTTP, _SERVE, "Processes that share the work.",
        to="http", metavar="N", kind=int, default=1, minimum=1
    ),
    Option(
        "auth_token", ACCESS, _SERVE, "Bearer token that clients must send (http). Safer as the variable.",
        to="http", metavar="TOKEN", variable="OPENAPI_MCP_AUTH_TOKEN"
    ),
    Option(
        "auth_issuer", ACCESS, _SERVE,
        "Authorization server (OAuth 2.1) whose access tokens clients must send (http): its issuer URL.",
        to="http", metavar="URL"
    ),
    Option(
        "auth_audience", ACCESS, _SERVE,
        "Canonical URI of this server, as clients reach it: https://mcp.example.com/mcp. Tokens must be issued for it; "
        "for one of those that follow too.",
        to="http", metavar="URI", many=True
    ),
    Option(
        "auth_introspection", ACCESS, _SERVE,
        "Ask the authorization server about each token (RFC 7662), for tokens that are no JSON Web Tokens.",
        to="http", kind=bool, default=False
    ),
    Option(
        "auth_client_id", ACCESS, _SERVE, "Client that asks with --auth-introspection.", to="http", metavar="ID"
    ),
    Option(
        "auth_client_secret", ACCESS, _SERVE, "Its secret. Safer as the variable.",
        to="http", metavar="SECRET", variable="OPENAPI_MCP_AUTH_CLIENT_SECRET"
    ),
    Option(
        "auth_scopes", ACCESS, _SERVE,
        "Scopes that tokens need for the tools of a pattern (delete*, method:get, tag:pets, path:/pets/*), instead of "
        "those in the document; the first pattern that matches counts. 'a b|c' is a and b, or c.",
        metavar="PATTERN=SCOPES", many=True, pairs=True
    ),
    Option(
        "auth_includes", ACCESS, _SERVE, "A scope that includes others: 'repo=repo:read repo:write', 'admin=*'.",
        metavar="SCOPE=SCOPES", many=True, pairs=True
    ),
    Option(
        "allow_unauthenticated", ACCESS, _SERVE, "Listen to other machines without --auth-token or --auth-issuer.",
        to="http", kind=bool, default=False
    ),
    Option(
        "allow_host", ACCESS, _SERVE, "A name that clients reach this server by, with or without port.",
        to="http", metavar="HOST", many=True
    ),
    Option(
        "allow_origin", ACCESS, _SERVE,
        "Origin of web pages that may use this server, as https://app.example.com or http://localhost:6274, besides "
        "localhost with the port of this server.",
        to="http", metavar="ORIGIN", many=True
    ),
    Option(
        "trusted_proxy", ACCESS, _SERVE,
        "Address or network of a proxy, whose X-Forwarded-For tells clients apart: 10.0.0.7 or 10.0.0.0/8 (http).",
        to="http", metavar="ADDRESS", many=True
    ),
    Option(
        "session_secret", ACCESS, _SERVE,
        "Signs session ids (http); the same for all replicas behind one address. Safer as the variable.",
        to="http", metavar="SECRET", variable="OPENAPI_MCP_SESSION_SECRET", default_text="random"
    ),
    Option(
        "log_format", OPERATION, _SERVE,
        "A line for each call on stderr, as text or as JSON; with json all other lines are JSON too.",
        choices=("text", "json"), default_text="text at a terminal, else no line for a call"
    ),
    Option(
        "quiet", OPERATION, _SERVE, "Print warnings and errors only: no line at the start, none for a call.",
        kind=bool, default=False
    ),
    Option(
        "audit", OPERATION, _SERVE,
        "Append a JSON line for each call to this file: who called which tool with which arguments' names, and the "
        "status.", metavar="FILE", kind=Path
    ),
    Option(
        "audit_arguments", OPERATION, _SERVE, "Write the values of the arguments into the audit file too, no secrets.",
        kind=bool, default=False
    ),
    Option(
        "metrics", OPERATION, _SERVE,
        "Offer metrics for Prometheus at this path of the server, which needs the same token as the endpoint, or at a "
        "port of its own on this machine (http; needs the extra `metrics`).", metavar="PATH|PORT"
    ),
    Option(
        "redis", OPERATION, _SERVE,
        "Redis or Valkey that all replicas of this server share: rate limits, and sessions that ended (http; needs "
        "--session-secret and the extra `redis`). Safer as the variable.",
        metavar="URL", variable="OPENAPI_MCP_REDIS"
    ),
    Option(
        "config", GENERAL, _READING,
        'Options in a TOML file: base-url = "…". ${NAME} in a text is the environment variable NAME, $$ is $. '
        "The command line wins.",
        to="command", metavar="FILE", kind=Path
    ),
    Option(
        "debug", GENERAL, _ALL, "Show tracebacks, and log what is sent to the API (no credentials).",
        to="command", kind=bool, default=False
    ),
)
# fmt: on
"""Every option, in the order of `--help`."""

SETTINGS: Final[Mapping[str, Option]] = {option.name: option for option in OPTIONS if option.to != "command"}
"""The options that a settings file may hold, by name."""

DEFAULTS: Final[Mapping[str, Any]] = {name: option.default for name, option in SETTINGS.items()}


def of_command(command: str) -> tuple[Option, ...]:
    """Return the options and arguments of a command, arguments first."""
    return tuple(option for option in OPTIONS if command in option.commands)


def settings_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the settings file, as it is published in `specs/settings.schema.json`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of openapi-mcp",
        "description": "The TOML file of --config: options of the command line by name. ${NAME} in a text is the "
        "environment variable NAME, $$ is $. The command line wins.",
        "type": "object",
        "properties": {option.setting: option.schema() for option in SETTINGS.values()},
        "additionalProperties": False,
    }
