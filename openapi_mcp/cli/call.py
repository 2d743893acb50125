"""Call one tool from the command line, through the runtime that serves clients."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

import httpx

from ..bridge import Bridge
from ..errors import UsageError
from ..runtime.arguments.validation import check, prepare
from ..runtime.errors import RuntimeFailure
from ..runtime.request.build import RequestOptions, build_request
from ..runtime.request.context import context_of
from ..runtime.request.credentials import credential_lines
from ..runtime.request.redaction import REMOVED, redact
from ..runtime.tool import Preset, Tool
from ..runtime.types import CallToolResult, JsonObject, ToolDescription
from . import destinations
from .report import printable

MASK: Final = "***"
"""Text that replaces a credential in a printed request."""


def read_arguments(tool: ToolDescription, pairs: Sequence[str], text: str | None) -> JsonObject:
    """Read the arguments of a call: one JSON object, or KEY=VALUE pairs. Raises UsageError.

    A repeated key makes a list, and so does a single one if the argument is a list. A value stays text here; if the
    tool's schema has a number, a list or an object, the runtime reads it as JSON.
    """
    if text is not None and pairs:
        raise UsageError(
            "--json and KEY=VALUE exclude each other", where="--json and KEY=VALUE", hint="use one of the two"
        )
    if text is not None:
        return _json_object(text)
    collected: dict[str, list[str]] = {}
    for number, pair in enumerate(pairs, 1):
        key, equals, value = pair.partition("=")
        if not equals:  # not shown: of a header without quotes it is the secret
            raise UsageError(
                "an argument must be written KEY=VALUE, in quotes if it has spaces",
                where=f"argument {number} of {tool.name}",
                hint="or pass all arguments with --json '{…}'",
            )
        collected.setdefault(key, []).append(value)
    return {
        key: values if len(values) > 1 or _takes_list(tool, key, values[0]) else values[0]
        for key, values in collected.items()
    }


def _takes_list(tool: ToolDescription, key: str, value: str) -> bool:
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
        raise UsageError("--json must be a JSON object", where="--json", hint="""for example: --json '{"id": 1}'""")
    return value


def request_text(bridge: Bridge, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the HTTP request of a call as text, and notes: deviations from the document, missing credentials."""
    request, deviations = masked_request(bridge, tool, arguments)
    notes = [f"does not fit the document: {sentence}" for sentence in deviations]
    return http_text(request), [*notes, *(f"credential {line}" for line in missing_credentials(bridge, tool))]


def missing_credentials(bridge: Bridge, tool: Tool) -> list[str]:
    """Return a line for each credential that a call of a tool lacks: none where one alternative has all of its own."""
    options = bridge.request_options()
    tokens = bridge.oauth_tokens(options.credentials, is_shown=True)
    known = {*options.credentials, *(tokens.sources if tokens else ())}
    schemes = {scheme for alternative in tool.security for scheme in (*alternative, *tool.required_schemes)}
    if options.client_certificate:
        known |= {scheme.name for scheme in schemes if scheme.type == "mutualTLS"}
    wanted = [{scheme.name for scheme in (*alternative, *tool.required_schemes)} for alternative in tool.security]
    if not wanted or any(names <= known for names in wanted):
        return []
    return [printable(line) for line in credential_lines([tool], options, without=known)]


def advice(bridge: Bridge, tool: ToolDescription) -> str:
    """Return what can be done about a call whose answer is an error."""
    missing = missing_credentials(bridge, tool) if isinstance(tool, Tool) else []
    if missing:
        return f"the answer is printed above; credential {'; '.join(missing)}"
    if not isinstance(tool, Tool):
        return "the answer is printed above; --dry-run prints the steps"
    return f"the answer is printed above; --dry-run prints the request, `{_describe(bridge, tool)}` the arguments"


def masked_request(bridge: Bridge, tool: Tool, arguments: Mapping[str, Any]) -> tuple[httpx.Request, list[str]]:
    """Return the HTTP request of a call, and its deviations from the document, which `--lenient` allows.

    Credentials, configured headers, and user, password and query of the base URL are `***` in it. Raises UsageError.
    """
    options = bridge.request_options()
    try:
        checked, refusal = check(tool, arguments) if options.lenient else (prepare(tool, arguments), "")
        tool = replace(tool, presets=tuple(_masked(each) if each.header else each for each in tool.presets))
        deviations = context_of(build_request(tool, checked, options)).deviations
        request = _masked_request(tool, checked, options)
    except RuntimeFailure as error:
        raise UsageError(str(error), where=tool.name, hint=_describe(bridge, tool)) from None
    return request, [*([refusal] if refusal else []), *deviations]


def http_text(request: httpx.Request) -> str:
    """Return a masked request as text: request line, headers, body."""
    head = [f"{request.method} {str(request.url).replace(quote(MASK), MASK)} HTTP/1.1"]
    head += [f"{name.decode('latin-1')}: {value.decode('latin-1')}" for name, value in request.headers.raw]
    return "\n".join(head) + "\n" + _body_text(request.read())


def _masked_request(tool: Tool, arguments: JsonObject, options: RequestOptions) -> httpx.Request:
    """Return the request of a call with MASK instead of each secret."""
    base_url = options.base_url or tool.base_url or ""
    masked = replace(
        options,
        base_url=redact(base_url).replace(REMOVED, MASK) or None,
        headers=tuple((name, MASK) for name, _ in options.headers),
        credentials=dict.fromkeys(options.credentials, MASK),
    )
    presets = (_masked(each) for each in tool.presets)
    request = build_request(replace(tool, presets=tuple(presets)), arguments, masked)
    if httpx.URL(base_url).userinfo:  # which is sent as Basic credentials
        request.headers["Authorization"] = f"Basic {MASK}"
    return request


def _masked(preset: Preset) -> Preset:
    is_secret = preset.variable is not None or preset.header is not None
    return replace(preset, variable=None, header=None, value=MASK) if is_secret else preset


def _describe(bridge: Bridge, tool: Tool) -> str:
    return f"openapi-mcp inspect {redact(bridge.config.source)} {tool.name}"


def _body_text(body: bytes) -> str:
    if not body:
        return ""
    try:
        return f"\n{body.decode().replace(quote(MASK), MASK)}\n"
    except UnicodeDecodeError:
        return f"\n({len(body):,} bytes that are not text)\n"


def call(bridge: Bridge, tool: ToolDescription, arguments: Mapping[str, Any]) -> CallToolResult:
    """Call a tool and return its result; an invalid argument or a broken connection gives a result too.

    Whoever types the command needs no other confirmation. Raises HostChanged.
    """
    destinations.check(bridge)
    bridge = replace(bridge, config=replace(bridge.config, confirm="never", sign_in_port=None))

    async def run() -> CallToolResult:
        server = bridge.server(asks=False)  # a person types the call
        try:
            return await server.call(tool.name, arguments)
        finally:
            await server.aclose()

    return asyncio.run(run())


def result_lines(result: CallToolResult) -> Iterator[str]:
    """Yield a result as text: text blocks unchanged, a line about each block of another kind."""
    for block in result.content:
        if block["type"] == "text":
            yield block["text"]
        elif block["type"] == "resource_link":
            yield f"(link: {block['uri']})"
        else:
            data = block.get("resource", block)
            size = len(data.get("blob", data.get("data", ""))) * 3 // 4
            yield f"({block['type']}: {data.get('mimeType', 'unknown type')}, about {size:,} bytes)"
