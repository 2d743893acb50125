"""Options of the API, of the document, of the tools and of code mode."""

from pathlib import Path
from typing import Final

from .option import (
    API,
    CALLING,
    CHOOSING,
    CODE,
    DOCUMENT,
    FETCHING,
    MAKING,
    OPENING,
    PROBING,
    READING,
    SELECTING,
    SERVE,
    SIGN_IN,
    TOOLS,
    Option,
)

# fmt: off
API_OPTIONS: Final = (
    Option(
        "base_url", API, MAKING,
        "Base URL of the API, instead of all servers in the document, also those of single operations. FROM=TO "
        "replaces one server: FROM is its URL, the beginning of that URL, or its host.",
        metavar="URL|FROM=TO", many=True, pairs=True, single=True
    ),
    Option(
        "server", API, MAKING, "Which of the document's `servers` to call: its index from 0, its URL or its name.",
        metavar="N|URL|NAME"
    ),
    Option("server_var", API, MAKING, "Value of a server variable.", metavar="NAME=VALUE", many=True, pairs=True),
    Option("header", API, PROBING, "'Name: value' to send with every call to the API.", metavar="HEADER", many=True),
    Option(
        "auth", API, PROBING, "Credential of a security scheme (basic: user:password). "
        "SCHEME=env:NAME reads it from the environment variable NAME, which is safer; by default it is the variable "
        "that `openapi-mcp inspect` names (API_TITLE_SCHEME).",
        metavar="SCHEME=VALUE", many=True, pairs=True
    ),
    Option(
        "oauth", API, (*PROBING, *SIGN_IN), "OAuth client of a security scheme: client-id, client-secret "
        "(env:NAME reads a variable), scopes, audience, resource, auth-method; token-url, authorization-url, "
        "device-url or metadata-url instead of the document's. The variables API_TITLE_SCHEME_CLIENT_ID and "
        "API_TITLE_SCHEME_CLIENT_SECRET are read too.",
        metavar="SCHEME.FIELD=VALUE", many=True, pairs=True
    ),
    Option(
        "set", API, MAKING,
        "Fix an argument in every tool that has it, or in those whose names match TOOLS (list_*), and hide it from "
        "models; NAME may be an inner property (filter.owner). env:NAME reads an environment variable.",
        metavar="[TOOLS:]NAME=VALUE", many=True, pairs=True
    ),
    Option(
        "lenient", API, CALLING,
        "Send calls even if arguments do not fit the document or a required credential is missing, and say so in "
        "the result. For documents that are stricter than their API.",
        kind=bool, default=False, scope="each"
    ),
    Option(
        "allow_files", API, CALLING, "Let binary arguments be file:// URLs of files in this folder.",
        metavar="FOLDER", kind=Path, many=True
    ),
    Option(
        "follow_redirects_to", API, PROBING,
        "Follow redirects of the API to this host too: host, host:port or *.host. It gets no credentials.",
        metavar="HOST", many=True
    ),
    Option(
        "accept_host", API, PROBING,
        "Send credentials to this host, which the document did not name at the last start. Needed once.",
        metavar="HOST", many=True
    ),
    Option(
        "egress_allow", API, FETCHING,
        "Let documents and authorization servers on public hosts refer to this private host, address or network: "
        "host, host:port, *.host, 10.0.0.0/8.", metavar="HOST|CIDR", many=True, scope="each"
    ),
    Option(
        "egress_only", API, FETCHING,
        "Contact only these hosts, addresses or networks: for the document, its references, authorization servers and "
        "the API.", metavar="HOST|CIDR", many=True, scope="each"
    ),
    Option(
        "ca", API, FETCHING,
        "File of certificates (PEM) to trust instead of the usual ones, for the API and the document's host.",
        metavar="FILE", kind=Path, scope="each"
    ),
    Option(
        "client_cert", API, FETCHING, "Client certificate to show to the API and to the document's host (PEM).",
        metavar="FILE", kind=Path
    ),
    Option(
        "client_key", API, FETCHING, "Key of the client certificate, if it is in a file of its own.",
        metavar="FILE", kind=Path
    ),
    Option(
        "spec_header", DOCUMENT, FETCHING, "'Name: value' to send when the document is fetched.",
        metavar="HEADER", many=True
    ),
    Option(
        "overlay", DOCUMENT, FETCHING,
        "OpenAPI Overlay (1.0, 1.1) that changes the document before anything else: a path or URL. Several are "
        "applied in order.", metavar="OVERLAY", many=True, is_source=True
    ),
    Option(
        "workflow", DOCUMENT, OPENING,
        "Arazzo Description (1.0, 1.1) whose workflows are tools: a path or URL.",
        metavar="WORKFLOW", many=True, is_source=True
    ),
    Option(
        "workflows", DOCUMENT, (),
        "Workflows of the settings file, by name: a table for each, with steps (docs/workflows.md).", kind=dict
    ),
    Option(
        "allow_remote_refs", DOCUMENT, FETCHING,
        "Let the document refer to files on other hosts (never to private addresses).",
        kind=bool, default=False, scope="each"
    ),
    Option(
        "no_cache", DOCUMENT, READING, "Compile the tools again, and do not cache them for the next start.",
        kind=bool, default=False, scope="server"
    ),
    Option(
        "watch", DOCUMENT, SERVE, "Reload the document when it changes, and tell the clients (SIGHUP does the same).",
        kind=bool, default=False, scope="server"
    ),
    Option(
        "watch_interval", DOCUMENT, SERVE, "Seconds between two requests that ask whether a URL has changed.",
        metavar="SECONDS", kind=float, default=1.0, minimum=0.1, scope="server"
    ),
    Option(
        "check_contract", DOCUMENT, SERVE,
        "Log where requests and responses differ from the document, with a summary at the end; changes no call.",
        kind=bool, default=False, scope="each"
    ),
    Option(
        "include", TOOLS, CHOOSING,
        "Only these operations: tag:pets, path:/pets/*, method:get or id:listPets.", metavar="RULE", many=True
    ),
    Option("exclude", TOOLS, CHOOSING, "Not these operations; rules as for --include.", metavar="RULE", many=True),
    Option(
        "read_only", TOOLS, CHOOSING, "Only operations that change nothing (GET, HEAD, …).",
        kind=bool, default=False, scope="each"
    ),
    Option(
        "prefix", TOOLS, MAKING,
        "Put this word and _ before the names of the tools. Of several APIs in a settings file, each has its own name "
        "as prefix unless its table sets another, or none ('').", metavar="WORD"
    ),
    Option(
        "client", TOOLS, MAKING,
        "Fit names, schemas and texts to what this client or model API accepts; `inspect` shows what that changes.",
        choices=("generic", "claude", "openai", "gemini", "cursor", "vscode"), default="generic", scope="server"
    ),
    Option(
        "mode", TOOLS, ("serve", "inspect"),
        "all: list every tool; search: list three tools that find, describe and call the others; "
        "code: the third runs programs that call them (needs the extra `code`); "
        "auto: all, but search above 128 tools or 20,000 tokens.",
        choices=("all", "search", "code", "auto"), default="auto", scope="server"
    ),
    Option(
        "pin", TOOLS, SERVE, "List this tool in search or code mode as well.",
        metavar="TOOL", many=True, scope="server"
    ),
    Option(
        "budget", TOOLS, SELECTING,
        "Tokens for the descriptions of all tools together, and as many for their output schemas; with more tools "
        "each tool gets fewer. In input schemas only descriptions are cut.",
        metavar="TOKENS", kind=int, default_text="65536", minimum=0, scope="each"
    ),
    Option(
        "compact", TOOLS, SELECTING, "Short descriptions and no output schemas, however few tools there are.",
        kind=bool, default=False, scope="each"
    ),
    Option(
        "max_tools", TOOLS, SELECTING, "At most this many tools: the first ones, deprecated ones last.",
        metavar="N", kind=int, minimum=1, default_text="all", scope="each"
    ),
    Option(
        "max_instructions", TOOLS, SELECTING,
        "Characters of the instructions that clients put before every conversation: an overview of the tools, then the "
        "API's description.",
        metavar="N", kind=int, default=1200, minimum=0, scope="server"
    ),
    Option(
        "instructions", TOOLS, SELECTING,
        "Instructions for clients, instead of those made from the document; @FILE reads them from a file.",
        metavar="TEXT|@FILE", scope="server"
    ),
    Option(
        "plugin", TOOLS, ("serve", "inspect", "search", "call"),
        "Change tools, requests and results with this installed plugin (entry point `openapi_mcp.plugins`; "
        "docs/library.md).", metavar="NAME", many=True, scope="each"
    ),
    Option(
        "page_size", TOOLS, SERVE, "Tools in a page of the list; many clients read only one page.",
        metavar="N", kind=int, minimum=1, default_text="all", scope="server"
    ),
    Option(
        "explicit_fields", TOOLS, SERVE,
        "Always send structuredContent ({} where there is none) and nextCursor ('' on the last page), for clients "
        "that require them.",
        kind=bool, default=False, scope="server"
    ),
    Option(
        "no_skills", TOOLS, SERVE,
        "Offer no skill (io.modelcontextprotocol/skills): a guide to the API that clients with this extension read "
        "when they need it.",
        kind=bool, default=False, scope="server"
    ),
    Option(
        "code_timeout", CODE, SERVE, "Seconds for a program, its calls included.",
        metavar="SECONDS", kind=float, default=50.0, minimum=0.1, scope="server"
    ),
    Option(
        "code_calls", CODE, SERVE, "Calls that a program may make.",
        metavar="N", kind=int, default=100, minimum=1, scope="server"
    ),
)
# fmt: on
"""These options, in the order of `--help`."""
