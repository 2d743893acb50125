"""Serves the tools over stdio, or over HTTP where that is asked for; `--help` shows how."""

import argparse
import asyncio
import os
import sys
from pathlib import Path

from redocly_museum_api_mcp import __version__, runtime, server


def main() -> None:
    """Run the command line."""
    given = arguments().parse_args()
    over_http = given.transport == "http" or (given.transport is None and (given.host or given.port is not None))
    if over_http and given.allow_files:
        sys.exit("--allow-files is for clients on this machine: use --transport stdio")
    try:
        if over_http:
            serve_http(given)
        else:
            asyncio.run(runtime.serve_stdio(create_server(given)))
    except runtime.RuntimeFailure as failure:
        sys.exit(str(failure))


def serve_http(given: argparse.Namespace) -> None:
    """Listen until a signal comes."""
    runtime.serve_http(
        create_server(given),
        host=given.host or "127.0.0.1",
        port=8000 if given.port is None else given.port,
        path="/" + given.path.strip("/"),
        auth_token=os.environ.get("OPENAPI_MCP_AUTH_TOKEN") or None,
        allow_unauthenticated=given.allow_unauthenticated,
        allowed_hosts=given.allow_host,
        allowed_origins=given.allow_origin,
    )


def create_server(given: argparse.Namespace) -> runtime.Server:
    """The server that the command line describes."""
    return server.create_server(
        options=runtime.RequestOptions(
            base_url=given.base_url,
            headers=tuple(given.header),
            credentials=server.credentials() | dict(given.auth),
            client_certificate=given.client_cert is not None,
            file_roots=tuple(given.allow_files),
        ),
        upstream=runtime.Upstream(
            connect_timeout=given.connect_timeout,
            read_timeout=given.timeout,
            total_timeout=given.total_timeout,
            retries=runtime.Retries(attempts=given.retries + 1),
            ca=given.ca,
            client_cert=given.client_cert,
            client_key=given.client_key,
        ),
        max_result_bytes=given.max_result_bytes,
    )


def arguments() -> argparse.ArgumentParser:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        prog="redocly-museum-api-mcp",
        description="MCP tools for Redocly Museum API.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    serving = parser.add_argument_group("serving")
    serving.add_argument("--transport", choices=["stdio", "http"], help="stdio, unless --host or --port is given")
    serving.add_argument("--host", help="address to listen on (http); default 127.0.0.1")
    serving.add_argument("--port", type=int, help="port to listen on (http), 0 for a free one; default 8000")
    serving.add_argument("--path", default="/mcp", help="path of the MCP endpoint (http)")
    serving.add_argument("--allow-host", metavar="NAME", action="append", default=[], help="a name of this server")
    serving.add_argument("--allow-origin", metavar="ORIGIN", action="append", default=[], help="pages that may use it")
    serving.add_argument(
        "--allow-unauthenticated",
        action="store_true",
        help="listen to other machines also where OPENAPI_MCP_AUTH_TOKEN, the token that clients show, is not set",
    )
    requests = parser.add_argument_group("requests to the API")
    requests.add_argument("--base-url", metavar="URL", help="where the API is")
    requests.add_argument("--header", type=header, action="append", default=[], help="'Name: value' for every request")
    requests.add_argument(
        "--auth",
        metavar="SCHEME=VALUE",
        type=credential,
        action="append",
        default=[],
        help="a security scheme's credential; environment variables are safer",
    )
    requests.add_argument("--timeout", type=float, default=60.0, help="seconds without a byte of an answer")
    requests.add_argument("--connect-timeout", type=float, default=10.0, help="seconds to connect")
    requests.add_argument("--total-timeout", type=float, help="seconds for a whole call; default: no limit")
    requests.add_argument("--retries", type=int, default=2, help="how often a call that the API put off is made again")
    requests.add_argument("--max-result-bytes", type=int, default=256 * 1024, help="where longer answers are cut")
    requests.add_argument("--ca", type=Path, metavar="FILE", help="certificates to trust instead of the usual ones")
    requests.add_argument("--client-cert", type=Path, metavar="FILE", help="certificate to show to the API")
    requests.add_argument("--client-key", type=Path, metavar="FILE", help="its key, where that is in another file")
    requests.add_argument(
        "--allow-files",
        metavar="FOLDER",
        type=Path,
        action="append",
        default=[],
        help="let arguments name files in here",
    )
    return parser


def header(text: str) -> tuple[str, str]:
    """`Name: value` as a pair."""
    name, colon, value = text.partition(":")
    if not colon or not name.strip() or any(character in text for character in "\r\n\0"):
        raise argparse.ArgumentTypeError("a header is written 'Name: value'")
    return name.strip(), value.strip()


def credential(text: str) -> tuple[str, str]:
    """`scheme=value` as a pair."""
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise argparse.ArgumentTypeError("a credential is written SCHEME=VALUE")
    return name, value


if __name__ == "__main__":
    main()
