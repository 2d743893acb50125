"""One tool call from the command line, through the very runtime that serves clients."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from .bridge import Bridge
from .errors import UsageError
from .runtime.arguments import prepare
from .runtime.errors import RuntimeFailure
from .runtime.models import Tool
from .runtime.requests import build_request
from .runtime.types import CallToolResult, JsonObject

HIDDEN: Final = "***"


def read_arguments(tool: Tool, pairs: Sequence[str], text: str | None) -> JsonObject:
    """The arguments of a call: one JSON object, or key=value pairs.

    A repeated key makes a list, and so does a single one where the tool takes a list. A value stays text here; where
    the tool's schema wants a number, a list or an object, the runtime reads it as JSON.
    """
    if text is not None and pairs:
        raise UsageError("arguments are given twice", where="--json and KEY=VALUE", hint="use one of the two")
    if text is not None:
        return _json_object(text)
    collected: dict[str, list[str]] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(
                "an argument is written key=value", where=pair, hint="or give all of them with --json '{…}'"
            )
        collected.setdefault(key, []).append(value)
    return {
        key: values if len(values) > 1 or _takes_list(tool, key, values[0]) else values[0]
        for key, values in collected.items()
    }


def _takes_list(tool: Tool, key: str, value: str) -> bool:
    schema = tool.input_schema["properties"].get(key, {})
    definition = tool.input_schema.get("$defs", {}).get(schema.get("$ref", "").removeprefix("#/$defs/"), schema)
    return "array" in definition.get("type", ()) and "string" not in definition["type"] and not value.startswith("[")


def _json_object(text: str) -> JsonObject:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(
            f"not JSON: {error}", where="--json", hint="""quote it for the shell: --json '{"id": 1}'"""
        ) from None
    if not isinstance(value, dict):
        raise UsageError(
            "the arguments are not a JSON object", where="--json", hint="""for example: --json '{"id": 1}'"""
        )
    return value


def request_text(bridge: Bridge, tool: Tool, arguments: Mapping[str, Any]) -> str:
    """The HTTP request that a call would send, as text; credentials show as `***`. Raises UsageError."""
    options = bridge.request_options()
    hidden = replace(options, credentials=dict.fromkeys(options.credentials, HIDDEN))
    try:
        request = build_request(tool, prepare(tool, arguments), hidden)
    except RuntimeFailure as error:
        raise UsageError(str(error), where=tool.name, hint=_describe(bridge, tool)) from None
    head = [f"{request.method} {request.url} HTTP/1.1"]
    head += [f"{name.decode('latin-1')}: {value.decode('latin-1')}" for name, value in request.headers.raw]
    return "\n".join(head) + "\n" + _body_text(request.read())


def _describe(bridge: Bridge, tool: Tool) -> str:
    return f"openapi-mcp inspect {bridge.config.source} {tool.name}"


def _body_text(body: bytes) -> str:
    if not body:
        return ""
    try:
        return f"\n{body.decode()}\n"
    except UnicodeDecodeError:
        return f"\n({len(body):,} bytes that are not text)\n"


def call(bridge: Bridge, tool: Tool, arguments: Mapping[str, Any]) -> CallToolResult:
    """Call a tool and wait for its result; a refused argument or a broken connection is a result too."""

    async def once() -> CallToolResult:
        server = bridge.server()
        try:
            return await server.call(tool.name, arguments)
        finally:
            await server.aclose()

    return asyncio.run(once())


def result_lines(result: CallToolResult) -> Iterator[str]:
    """A result as text: text blocks as they are, a line about each block of another kind."""
    for block in result.content:
        if block["type"] == "text":
            yield block["text"]
        else:
            data = block.get("resource", block)
            size = len(data.get("blob", data.get("data", ""))) * 3 // 4
            yield f"({block['type']}: {data.get('mimeType', 'unknown type')}, about {size:,} bytes)"
