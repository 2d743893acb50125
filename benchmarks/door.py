"""Measure what verified access tokens and tracing cost: calls per second of an open door and of others.

    python -m benchmarks.door --rounds 9

The others need a fixed token, or JWTs of an issuer, or make a span of each call with OpenTelemetry's API alone: no SDK
is configured, so that nothing is recorded. The servers run at the same time and are measured in turns, so that other
load on the machine affects all alike. The authorization server is a thread of this program; it signs with RSA, as most
do.
"""

import argparse
import json
import os
import socket
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from joserfc import jwk, jwt

from .throughput import _CALL, ROOT, Measured, cpu, load, request, running

KEY: Final = jwk.generate_key("RSA", 2048, {"kid": "one", "use": "sig"})
TOKEN: Final = "open-sesame"  # noqa: S105  a token of the benchmark
OPEN: Final = "open"
WITHOUT_SDK: Final = """\
import os
from openapi_mcp.telemetry import tracing
tracing.start_sdk = lambda: None
os.environ["OTEL_TRACES_EXPORTER"] = "otlp"
from openapi_mcp.cli.main import main
main()
"""
"""A program that serves with the tracer, and with the provider of OpenTelemetry's API, which does nothing."""


@contextmanager
def issuing() -> Iterator[str]:
    """Serve metadata and keys; yield the issuer."""

    class Handler(BaseHTTPRequestHandler):
        """Answers every GET with a document that is metadata and key set in one."""

        def do_GET(self) -> None:
            issuer = f"http://{self.headers['Host']}"
            document = {"issuer": issuer, "jwks_uri": f"{issuer}/keys", "keys": [KEY.as_dict(private=False)]}
            body = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def measure(options: argparse.Namespace) -> dict[str, list[tuple[float, float]]]:
    """Return, of each round of each server, calls per second and the processor seconds of a call."""
    figures: dict[str, list[tuple[float, float]]] = {}
    with ExitStack() as stack:
        _, api = stack.enter_context(running((sys.executable, "-m", "benchmarks.measured", "backend", "PORT")))
        issuer = stack.enter_context(issuing())
        audience = "https://mcp.example.com/mcp"
        now = int(time.time())
        claims = {"iss": issuer, "aud": audience, "sub": "load", "scope": "a b c", "iat": now, "exp": now + 86_400}
        token = jwt.encode({"alg": "RS256", "typ": "at+jwt", "kid": "one"}, claims, KEY)
        serve = ("serve", options.document, "--base-url", api, "--mode", "all", "--transport", "http", "--port", "PORT")
        program, traced = (sys.executable, "-m", "openapi_mcp"), (sys.executable, "-c", WITHOUT_SDK)
        doors: dict[str, tuple[tuple[str, ...], str | None]] = {
            OPEN: ((*program, *serve), None),
            "a fixed token": ((*program, *serve, "--auth-token", TOKEN), TOKEN),
            "JWTs of an issuer": ((*program, *serve, "--auth-issuer", issuer, "--auth-audience", audience), token),
            "open, OpenTelemetry's API without an SDK": ((*traced, *serve), None),
        }
        servers = [(name, *stack.enter_context(running(command)), sent) for name, (command, sent) in doors.items()]
        for number in range(options.rounds):
            for name, pid, url, sent in servers if number % 2 else reversed(servers):
                spec = request(Measured(name, ()), "stateless", _CALL)
                headers = spec["headers"] | ({"Authorization": f"Bearer {sent}"} if sent else {})
                before = cpu(pid)
                rate = load([f"{url}/mcp"], options.concurrency, options.seconds, {**spec, "headers": headers})
                figures.setdefault(name, []).append((rate, (cpu(pid) - before) / (rate * options.seconds)))
    return figures


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--document", default=str(ROOT / "specs" / "petstore.yaml"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--concurrency", type=int, default=16)
    figures = measure(parser.parse_args())
    print(
        f"{os.cpu_count()} processors, {socket.gethostname() and 'Linux' if sys.platform == 'linux' else sys.platform}"
    )
    print("| door | calls/s | of an open one | µs CPU of a call, median | least | of an open one |")
    print("|---|--:|--:|--:|--:|--:|")
    cheapest = min(spent for _, spent in figures[OPEN])
    for name, rounds in figures.items():
        pairs = zip(rounds, figures[OPEN], strict=True)
        ratio = statistics.median(rate / other for (rate, _), (other, _) in pairs)
        rate, spent = (statistics.median(values) for values in zip(*rounds, strict=True))
        least = min(spent for _, spent in rounds)
        row = f"{name} | {rate:,.0f} | {ratio:.3f} | {spent * 1e6:,.0f} | {least * 1e6:,.0f} | {least / cheapest:.3f}"
        print(f"| {row} |")


if __name__ == "__main__":
    main()
