"""The command line: serve the tools over stdio or HTTP; `--help` lists the options."""

import argparse
import asyncio
import ipaddress
import os
import sys
from pathlib import Path

from redocly_museum_api_mcp import __version__, runtime, server
from redocly_museum_api_mcp.tools import FUNCTIONS


def main() -> None:
    """Run the command line."""
    parser = argument_parser()
    options, rest = parser.parse_known_args()
    if rest:  # words are not shown: a header without quotes leaves its secret
        names = [word.partition("=")[0] for word in rest if word.startswith("--")]
        parser.error(f"unexpected: {', '.join(names) or 'a word too many'}; put a value with spaces in quotes")
    over_http = options.transport == "http" or (
        options.transport is None and (options.host or options.port is not None)
    )
    if over_http and options.allow_files:
        sys.exit("--allow-files works only with --transport stdio")
    try:
        if over_http:
            serve_http(options)
        else:
            asyncio.run(runtime.serve_stdio(create_server(options)))
    except runtime.RuntimeFailure as failure:
        sys.exit(str(failure))


def serve_http(options: argparse.Namespace) -> None:
    """Serve HTTP until SIGINT or SIGTERM."""
    runtime.serve_http(
        create_server(options),
        host=options.host or "127.0.0.1",
        port=8000 if options.port is None else options.port,
        path="/" + options.path.strip("/"),
        auth_token=os.environ.get("OPENAPI_MCP_AUTH_TOKEN") or None,
        allow_unauthenticated=options.allow_unauthenticated,
        allowed_hosts=options.allow_host,
        allowed_origins=options.allow_origin,
        trusted_proxies=options.trusted_proxy,
    )


def create_server(options: argparse.Namespace) -> runtime.Server:
    """Return the server that the options describe."""
    configured = dict(options.auth)
    request_options = runtime.RequestOptions(
        base_url=options.base_url,
        headers=tuple(options.header),
        credentials=server.credentials(configured),
        credential_sources=runtime.credential_sources(configured),
        client_certificate=options.client_cert is not None,
        file_roots=tuple(options.allow_files),
        lenient=options.lenient,
    )
    created = server.create_server(
        options=request_options,
        upstream=runtime.Upstream(
            connect_timeout=options.connect_timeout,
            read_timeout=options.timeout,
            total_timeout=options.total_timeout,
            max_bytes=options.max_response_size * 1024 * 1024,
            retries=runtime.Retries(attempts=options.retries + 1),
            follow_redirects_to=options.follow_redirects_to,
            ca=options.ca,
            client_cert=options.client_cert,
            client_key=options.client_key,
        ),
        max_result_bytes=options.max_result_tokens * 4,
    )
    for line in runtime.credential_lines((function.tool for function in FUNCTIONS), request_options):
        print(f"credential {line}", file=sys.stderr)
    return created


def argument_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="redocly-museum-api-mcp",
        description="MCP tools for Redocly Museum API.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    serving = parser.add_argument_group("server")
    serving.add_argument("--transport", choices=["stdio", "http"], help="default: stdio, or http with --host or --port")
    serving.add_argument("--host", help="address to listen on (http); default: 127.0.0.1")
    serving.add_argument("--port", type=int, help="port to listen on (http), 0 for a free one; default: 8000")
    serving.add_argument("--path", default="/mcp", help="path of the MCP endpoint (http); default: /mcp")
    serving.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="accept requests with this Host, besides those of this machine (http)",
    )
    serving.add_argument(
        "--allow-origin",
        metavar="ORIGIN",
        action="append",
        default=[],
        help="accept requests of pages from this Origin, besides localhost with the port of this server (http)",
    )
    serving.add_argument(
        "--trusted-proxy",
        metavar="ADDRESS",
        type=network,
        action="append",
        default=[],
        help="address or network of a proxy, whose X-Forwarded-For tells clients apart (http)",
    )
    serving.add_argument(
        "--allow-unauthenticated",
        action="store_true",
        help="listen on addresses other than loopback without a token in OPENAPI_MCP_AUTH_TOKEN (http)",
    )
    requests = parser.add_argument_group("requests to the API")
    requests.add_argument(
        "--base-url",
        metavar="URL",
        default=os.environ.get("OPENAPI_MCP_BASE_URL") or None,
        help="URL of the API; default: OPENAPI_MCP_BASE_URL",
    )
    requests.add_argument(
        "--header", type=header, action="append", default=[], help="'Name: value' of a header for every request"
    )
    requests.add_argument(
        "--auth",
        metavar="SCHEME=VALUE",
        type=credential,
        action="append",
        default=[],
        help="credential for a security scheme; SCHEME=env:NAME reads it from the environment variable NAME",
    )
    requests.add_argument(
        "--lenient",
        action="store_true",
        help="send calls even if arguments do not fit the document, and say so in the result",
    )
    requests.add_argument("--timeout", type=float, default=60.0, help="seconds to wait for the next byte; default: 60")
    requests.add_argument("--connect-timeout", type=float, default=10.0, help="seconds to connect; default: 10")
    requests.add_argument(
        "--total-timeout", type=float, default=55.0, help="seconds for a whole call, 0 for no limit; default: 55"
    )
    requests.add_argument(
        "--follow-redirects-to",
        metavar="HOST",
        action="append",
        default=[],
        help="follow redirects of the API to this host too (host, host:port or *.host), without credentials",
    )
    requests.add_argument("--retries", type=int, default=2, help="repetitions of a failed request; default: 2")
    requests.add_argument(
        "--max-result-tokens", type=int, default=20_000, help="largest result, four bytes a token; default: 20000"
    )
    requests.add_argument(
        "--max-response-size", type=int, default=16, help="MiB of an answer of the API that are read; default: 16"
    )
    requests.add_argument("--ca", type=Path, metavar="FILE", help="certificates to trust (PEM) instead of the usual")
    requests.add_argument("--client-cert", type=Path, metavar="FILE", help="client certificate (PEM)")
    requests.add_argument("--client-key", type=Path, metavar="FILE", help="key of the client certificate, if separate")
    requests.add_argument(
        "--allow-files",
        metavar="FOLDER",
        type=Path,
        action="append",
        default=[],
        help="let arguments name files in this folder as file: URLs (stdio)",
    )
    return parser


def header(text: str) -> tuple[str, str]:
    """Return the name and value of `Name: value`."""
    name, colon, value = text.partition(":")
    if not colon or not name.strip() or any(character in text for character in "\r\n\0"):
        raise argparse.ArgumentTypeError("must be 'Name: value'")
    return name.strip(), value.strip()


def network(text: str) -> str:
    """Return an address or a network."""
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise argparse.ArgumentTypeError("must be an address or a network") from None
    return text


def credential(text: str) -> tuple[str, str]:
    """Return the name and value of `SCHEME=VALUE`."""
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise argparse.ArgumentTypeError("must be SCHEME=VALUE")
    return name, value


if __name__ == "__main__":
    main()
