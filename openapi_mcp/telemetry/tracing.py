"""Traces and metrics of calls with OpenTelemetry: a span `tools/call TOOL` for each call, in the client's trace.

The span's context goes to the API as `traceparent`. The SDK is configured by its own environment variables
(`OTEL_EXPORTER_OTLP_ENDPOINT`, …), or by the program that runs this one (`opentelemetry-instrument`).
Specification: OpenTelemetry semantic conventions for MCP (`mcp.method.name`, `gen_ai.tool.name`, `error.type`,
`mcp.server.operation.duration`), W3C Trace Context.
"""

import math
import os
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from .. import __version__
from ..errors import UsageError
from ..runtime.server.hooks import CallStart
from ..runtime.types import CallToolResult
from .metrics import SECONDS
from .records import API, caller_name, result_bytes

LOOK_SECONDS: Final = 1.0
"""Seconds from one look to the next whether the program that runs this one has configured an SDK."""

_API: Final = ("opentelemetry.trace", "opentelemetry.metrics")
"""Modules of providers that record nothing: those of OpenTelemetry's API."""

_SCOPE: Final = "openapi_mcp"
_ENABLING: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER")


def is_configured() -> bool:
    """Return whether the environment asks for OpenTelemetry."""
    is_off = os.environ.get("OTEL_SDK_DISABLED") == "true" or os.environ.get("OTEL_TRACES_EXPORTER") == "none"
    return not is_off and any(os.environ.get(name) for name in _ENABLING)


@cache
def start_sdk() -> None:
    """Export traces and metrics as the environment says, once in each process. Raises UsageError without the extra.

    A program that has configured OpenTelemetry before this one decides itself.
    """
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        hint = "pip install 'mcp-openapi-bridge[otel]'"
        raise UsageError("OpenTelemetry needs the extra `otel`", where="OTEL_…", hint=hint) from None
    if isinstance(trace.get_tracer_provider(), TracerProvider):
        return
    name = os.environ.get("OTEL_SERVICE_NAME", "openapi-mcp")
    provider = TracerProvider(resource=Resource.create({"service.name": name, "service.version": __version__}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


class Tracer:
    """A CallMonitor that makes a span of each call."""

    def __init__(self) -> None:
        from opentelemetry import metrics, propagate, trace

        self._api, self._propagate = trace, propagate
        self._providers = (trace.get_tracer_provider, metrics.get_meter_provider)
        self._is_on = False
        self._next_look = -math.inf
        self._tracer = trace.get_tracer(_SCOPE, __version__)
        meter = metrics.get_meter(_SCOPE, __version__)
        self._seconds = meter.create_histogram(
            "mcp.server.operation.duration", "s", "Duration of a call", explicit_bucket_boundaries_advisory=SECONDS
        )

    def __bool__(self) -> bool:
        """Return whether an SDK may record something; without one, calls need no span, and pass on what clients sent.

        Spans that nobody records would take 5 % of the instructions of a call.
        """
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + LOOK_SECONDS
            modules = [type(provider()).__module__ for provider in self._providers]
            self._is_on = any(not module.startswith(_API) for module in modules)
        return self._is_on

    def begin(self, start: CallStart) -> "TracedCall":
        """Begin a span in the trace of the client."""
        attributes = {
            "mcp.method.name": "tools/call",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": start.tool,
            "client.address": caller_name(start.caller),
        }
        if api := API.get():
            attributes["openapi_mcp.api"] = api
        context = self._propagate.extract(start.trace) if start.trace else None
        name, kind = f"tools/call {start.tool}", self._api.SpanKind.SERVER
        span = self._tracer.start_span(name, context, kind, attributes=attributes)
        sent = start.trace
        if span.get_span_context().is_valid:
            sent = dict(sent)
            self._propagate.inject(sent, self._api.set_span_in_context(span, context))
        return TracedCall(span, self._seconds, start.tool, sent)


class TracedCall:
    """A call that has a span."""

    def __init__(self, span: Any, seconds: Any, tool: str, trace: Mapping[str, str]) -> None:
        self.trace = trace
        self._span = span
        self._seconds = seconds
        self._tool = tool
        self._begin = time.perf_counter()

    def end(self, result: CallToolResult | None, status: int) -> None:
        """End the span."""
        error = "cancelled" if result is None else "tool_error" if result.is_error else ""
        facts = {"mcp.method.name": "tools/call", "gen_ai.tool.name": self._tool}
        if error:
            facts["error.type"] = error
        self._seconds.record(time.perf_counter() - self._begin, facts)
        if self._span.is_recording():
            self._describe(result, status, error)
        self._span.end()

    def _describe(self, result: CallToolResult | None, status: int, error: str) -> None:
        """Add to the span what is known at its end."""
        from opentelemetry.trace import StatusCode

        if error:
            self._span.set_attribute("error.type", error)
            self._span.set_status(StatusCode.ERROR)
        if status:
            self._span.set_attribute("http.response.status_code", status)
        if result is not None:
            self._span.set_attribute("openapi_mcp.result.bytes", result_bytes(result))
