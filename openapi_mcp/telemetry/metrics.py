"""Metrics of calls for Prometheus, at `/metrics` of the HTTP server or of a port of its own (extra `metrics`).

With several workers the processes share files in a folder, as the package `prometheus_client` provides for
(PROMETHEUS_MULTIPROC_DIR).
"""

import os
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ..errors import UsageError
from .records import CallRecord, Sink

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the histogram of durations, as OpenTelemetry advises for `mcp.server.operation.duration`."""

MULTIPROCESS: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable with the folder of several workers; it has to be set before the package is imported."""


def prometheus_client() -> Any:
    """Return the package `prometheus_client`. Raises UsageError if it is not installed."""
    try:
        import prometheus_client
    except ImportError:
        hint = "pip install 'mcp-openapi-bridge[metrics]'"
        raise UsageError("metrics need the extra `metrics`", where="--metrics", hint=hint) from None
    return prometheus_client


@cache
def counters(*, several: bool = False) -> Sink:
    """Return the sink that counts calls, one in each process; calls of `several` APIs by API too. Raises UsageError."""
    client, labels = prometheus_client(), ["tool", *(["api"] if several else [])]
    calls = client.Counter("openapi_mcp_calls", "Calls of tools.", [*labels, "outcome", "status"])
    seconds = client.Histogram(
        "mcp_server_operation_duration_seconds", "Duration of calls of tools.", labels, buckets=SECONDS
    )
    size = client.Counter("openapi_mcp_result_bytes", "Bytes of the texts of results.", labels)

    def sink(record: CallRecord) -> None:
        values = (record.tool, record.api) if several else (record.tool,)
        calls.labels(*values, record.outcome, str(record.status or "none")).inc()
        seconds.labels(*values).observe(record.seconds)
        size.labels(*values).inc(record.bytes)

    return sink


def _registry() -> Any:
    """Return the metrics of this process, or of all workers."""
    client = prometheus_client()
    if not os.environ.get(MULTIPROCESS):
        return client.REGISTRY
    from prometheus_client import multiprocess

    registry = client.CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # as the package has it
    return registry


async def endpoint(_request: "Request") -> "Response":
    """Return all metrics in the text format of Prometheus."""
    from starlette.responses import Response

    client = prometheus_client()
    return Response(client.generate_latest(_registry()), media_type=client.CONTENT_TYPE_LATEST)


def serve_on(port: int) -> None:
    """Serve all metrics on a port of 127.0.0.1, in a thread, until the process ends. Raises UsageError."""
    try:
        prometheus_client().start_http_server(port, "127.0.0.1", _registry())
    except OSError as error:
        hint = "choose another port"
        raise UsageError(f"cannot listen: {error.strerror}", where=f"--metrics {port}", hint=hint) from None
