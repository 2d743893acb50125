"""The trace context of a client's request on its way to the API; what a tool or the configuration says comes first.

Specification: basic of 2026-07-28 ("Trace context"), W3C Trace Context §3.
"""

from collections.abc import Mapping

import httpx

from .models import Tool


def carry(tool: Tool, request: httpx.Request, trace: Mapping[str, str]) -> None:
    """Give a request the headers of a trace, without those that it has or that are an argument of the tool.

    A `tracestate` belongs to the `traceparent` it came with, and goes nowhere without it.
    """
    if not trace:
        return
    arguments = {(item.wire_name or item.name).lower() for item in tool.arguments if item.location == "header"}
    taken = {name for name in trace if name in request.headers or name in arguments}
    if "traceparent" in taken:
        taken.add("tracestate")
    for name, value in trace.items():
        if name not in taken:
            request.headers[name] = value
