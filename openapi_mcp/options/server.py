"""Options of a running server: limits, HTTP, access and operation."""

from pathlib import Path
from typing import Final

from .option import ACCESS, CALLING, HTTP, LIMITS, OPERATION, SERVE, Option

# fmt: off
SERVER_OPTIONS: Final = (
    Option(
        "timeout", LIMITS, CALLING, "Seconds to wait for the next byte of the API's response.",
        metavar="SECONDS", kind=float, default=60.0, minimum=0, scope="each"
    ),
    Option(
        "connect_timeout", LIMITS, CALLING, "Seconds to connect to the API.",
        metavar="SECONDS", kind=float, default=10.0, minimum=0, scope="each"
    ),
    Option(
        "total_timeout", LIMITS, CALLING,
        "Seconds for a whole call: waits, retries, redirects and the body; 0 is no limit.",
        metavar="SECONDS", kind=float, default=55.0, minimum=0, scope="each"
    ),
    Option(
        "task_timeout", LIMITS, CALLING,
        "Seconds that a task follows an operation which the API carries out in the background (202 with the "
        "address of its status). For clients without tasks the call itself waits, at most as long as a call may "
        "take; 0: it does not wait.",
        metavar="SECONDS", kind=float, default=3600.0, minimum=0, scope="each"
    ),
    Option(
        "retries", LIMITS, CALLING,
        "Repetitions of a call that the API postponed (429, 503) or that never reached it.",
        metavar="N", kind=int, default=2, minimum=0, scope="each"
    ),
    Option(
        "max_result_tokens", LIMITS, CALLING,
        "Largest result, in tokens of four bytes, text and structured content together; a larger one is cut.",
        metavar="TOKENS", kind=int, default=20_000, minimum=256, scope="each"
    ),
    Option(
        "select", LIMITS, CALLING,
        "Offer the arguments `select` (JMESPath: the part of the answer to show) and `pages` (how many pages of a "
        "list to read as one) for tools with large answers (auto), for all, or never. They add 45 tokens to a tool.",
        choices=("auto", "all", "never"), default="auto", scope="each"
    ),
    Option(
        "max_response_size", LIMITS, CALLING,
        "Largest answer of the API that is read whole; of a larger one only the beginning is read. A result shows "
        "much less.",
        metavar="MIB", kind=int, default=16, minimum=1, scope="each"
    ),
    Option(
        "rate_limit", LIMITS, SERVE,
        "Calls that one client may make of one tool: 20/second, or 100/minute;2000/day. Over HTTP a client is a "
        "session (four of an address, further ones count together), else the token, else the address.",
        metavar="LIMIT", default_text="no limit", scope="each"
    ),
    Option(
        "confirm", ACCESS, SERVE,
        "Ask the user before calls that destroy or replace data (destructive), or before all that change data "
        "(changing): by a form where the client has elicitation, else by refusing the call until the user has agreed.",
        choices=("never", "destructive", "changing"), default="never", scope="server"
    ),
    Option(
        "upstream_rate_limit", LIMITS, SERVE,
        "Requests that this server sends to one host of the API: 100/minute, or 10/second;1000/hour. A request waits "
        "up to 10 seconds for its turn. With --redis all replicas count together; without it each worker counts alone.",
        metavar="LIMIT", default_text="no limit", scope="each"
    ),
    Option(
        "circuit_breaker", LIMITS, SERVE,
        "Failures in a row, within a minute, after which a host that does not answer gets no requests for 5 to 60 "
        "seconds. Any answer ends the row; 0 turns this off.",
        metavar="N", kind=int, default=20, minimum=0, scope="each"
    ),
    Option(
        "sign_in_port", ACCESS, SERVE,
        "Let the user sign in during a call that needs it (stdio). The authorization server redirects to this port "
        "of 127.0.0.1, which must be registered for the client; 0 takes a free one.",
        metavar="PORT", kind=int, minimum=0, maximum=65535, default_text="`openapi-mcp login` before", scope="server"
    ),
    Option(
        "sign_in_url", ACCESS, SERVE,
        "Let each user sign in during a call that needs it (http), at the authorization server of the document's "
        "security scheme: the address of this server for browsers, as https://mcp.example.com. Its /oauth/callback is "
        "registered for the client; with --auth-issuer for --auth-client-id too.",
        to="http", metavar="URL"
    ),
    Option(
        "max_concurrency", LIMITS, SERVE,
        "Calls that each worker makes at once; further ones are answered with 503. One client gets at most four "
        "fifths of them, and 429 beyond that (http).",
        to="http", metavar="N", kind=int, default=320, minimum=1
    ),
    Option(
        "max_body_bytes", LIMITS, SERVE, "Largest message that a client may send (http).",
        to="http", metavar="BYTES", kind=int, default=4_194_304, minimum=1024
    ),
    Option(
        "request_timeout", LIMITS, SERVE, "Seconds that a client may wait for a response (http).",
        to="http", metavar="SECONDS", kind=float, default=600.0, minimum=0.1
    ),
    Option(
        "transport", HTTP, SERVE, "How clients reach the server.", to="start", choices=("stdio", "http"),
        default_text="http at a terminal or with --host, --port or --path, else stdio", scope="server"
    ),
    Option("host", HTTP, SERVE, "Address to listen on.", to="http", metavar="HOST", default="127.0.0.1"),
    Option(
        "port", HTTP, SERVE, "Port to listen on; 0 takes a free one.",
        to="http", metavar="PORT", kind=int, default=8000, minimum=0, maximum=65535
    ),
    Option("path", HTTP, SERVE, "Path of the MCP endpoint.", to="http", metavar="PATH", default="/mcp"),
    Option(
        "workers", HTTP, SERVE, "Processes that share the work.",
        to="http", metavar="N", kind=int, default=1, minimum=1
    ),
    Option(
        "no_ui", HTTP, SERVE,
        "Serve no page at /. The page shows the tools, with a form to try each, to the users of this machine, or to "
        "those who have the token or, with --auth-issuer and --auth-client-id, sign in.",
        to="http", kind=bool, default=False
    ),
    Option(
        "auth_token", ACCESS, SERVE, "Bearer token that clients must send (http). The environment variable is safer.",
        to="http", metavar="TOKEN", variable="OPENAPI_MCP_AUTH_TOKEN"
    ),
    Option(
        "auth_issuer", ACCESS, SERVE,
        "Authorization server (OAuth 2.1) whose access tokens clients must send (http): its issuer URL.",
        to="http", metavar="URL"
    ),
    Option(
        "auth_audience", ACCESS, SERVE,
        "Canonical URI of this server, as clients reach it: https://mcp.example.com/mcp. Tokens must be issued for "
        "it, or for a further one given here.",
        to="http", metavar="URI", many=True, single=True
    ),
    Option(
        "auth_introspection", ACCESS, SERVE,
        "Ask the authorization server about each token (RFC 7662), for tokens that are not JSON Web Tokens.",
        to="http", kind=bool, default=False
    ),
    Option(
        "auth_client_id", ACCESS, SERVE,
        "Client of this server at the authorization server: asks with --auth-introspection, tells users apart with "
        "--sign-in-url, and lets people sign in to the page.", to="http", metavar="ID"
    ),
    Option(
        "auth_client_secret", ACCESS, SERVE, "Secret of --auth-client-id. The environment variable is safer.",
        to="http", metavar="SECRET", variable="OPENAPI_MCP_AUTH_CLIENT_SECRET"
    ),
    Option(
        "auth_scopes", ACCESS, SERVE,
        "Scopes that tokens need for the tools of a pattern (delete*, method:get, tag:pets, path:/pets/*), instead of "
        "those in the document; the first pattern that matches counts. 'a b|c' is a and b, or c.",
        metavar="PATTERN=SCOPES", many=True, pairs=True, scope="server"
    ),
    Option(
        "auth_includes", ACCESS, SERVE, "A scope that includes others: 'repo=repo:read repo:write', 'admin=*'.",
        metavar="SCOPE=SCOPES", many=True, pairs=True, scope="server"
    ),
    Option(
        "allow_unauthenticated", ACCESS, SERVE, "Listen to other machines without --auth-token or --auth-issuer.",
        to="http", kind=bool, default=False
    ),
    Option(
        "allow_host", ACCESS, SERVE, "A name that clients reach this server by, with or without port.",
        to="http", metavar="HOST", many=True
    ),
    Option(
        "allow_origin", ACCESS, SERVE,
        "Origin of web pages that may use this server, as https://app.example.com or http://localhost:6274, besides "
        "localhost with the port of this server.",
        to="http", metavar="ORIGIN", many=True
    ),
    Option(
        "trusted_proxy", ACCESS, SERVE,
        "Address or network of a proxy, whose X-Forwarded-For tells clients apart: 10.0.0.7 or 10.0.0.0/8 (http).",
        to="http", metavar="ADDRESS", many=True
    ),
    Option(
        "forward_header", ACCESS, SERVE,
        "Header of the client's request to forward to the API, e.g. X-Tenant (http).",
        to="http", metavar="NAME", many=True
    ),
    Option(
        "session_secret", ACCESS, SERVE,
        "Secret that signs session ids (http); the same for all replicas behind one address. The environment "
        "variable is safer.",
        to="http", metavar="SECRET", variable="OPENAPI_MCP_SESSION_SECRET", default_text="random"
    ),
    Option(
        "log_format", OPERATION, SERVE,
        "Write a line for each call to stderr, as text or as JSON; with json all other lines are JSON too.",
        choices=("text", "json"), default_text="text at a terminal, else no line for a call", scope="server"
    ),
    Option(
        "strict", OPERATION, SERVE,
        "Do not start unless every API of the settings file can be loaded. Without this option the others are served.",
        to="start", kind=bool, default=False, scope="server"
    ),
    Option(
        "quiet", OPERATION, SERVE, "Print warnings and errors only: no line at the start, none for a call.",
        kind=bool, default=False, scope="server"
    ),
    Option(
        "audit", OPERATION, SERVE,
        "Append a JSON line for each call to this file: the caller, the tool, the names of its arguments, and the "
        "status.", metavar="FILE", kind=Path, scope="server"
    ),
    Option(
        "audit_arguments", OPERATION, SERVE,
        "Write the values of the arguments into the audit file too, without secrets.",
        kind=bool, default=False, scope="server"
    ),
    Option(
        "metrics", OPERATION, SERVE,
        "Offer metrics for Prometheus at this path of the server, which needs the same token as the endpoint, or at a "
        "port of its own on this machine (http; needs the extra `metrics`).", metavar="PATH|PORT", scope="server"
    ),
    Option(
        "redis", OPERATION, SERVE,
        "Redis or Valkey that all replicas of this server share: rate limits, sessions that ended, tasks, "
        "sign-ins of users (http; needs --session-secret and the extra `redis`). The environment variable is safer.",
        metavar="URL", variable="OPENAPI_MCP_REDIS", scope="server"
    ),
)
# fmt: on
"""These options, in the order of `--help`."""
