"""Build one `httpx.Request` from a tool and the arguments of a call: pure but for files, and exact to the byte.

All parts are escaped before httpx gets them. The host comes from configuration and document, never from an argument. A
client's trace context is added last; it replaces neither arguments nor configured headers.

Specification: OpenAPI 3.2 Operation and Parameter Objects, RFC 9110; for the trace context MCP basic of 2026-07-28
("Trace context") and W3C Trace Context §3.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeAlias

import httpx

from .. import media_types
from ..errors import ArgumentError, RequestError
from ..tool import Argument, Preset, SecurityScheme, Tool
from . import auth, bodies, content, context, headers, styles, urls


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The options of the server's operator that apply to every request.

    `base_url` replaces that of the document; `other_base_urls` are those of single tools, whose secrets no result may
    hold. `headers` replace computed ones of the same name, but not a body's Content-Type. `credentials` are keyed by
    `SecurityScheme.name`, `variables` (of presets) by the name of the environment variable. None is shown in a repr.
    `credential_sources` name the variable or option of a credential that is not read from the variable of its scheme.
    `client_certificate` says that connections use one, which satisfies mutualTLS. Files in the folders `file_roots`, at
    any depth, may be sent by their URL (`file:///…`); by default none. `lenient` sends what deviates from the document,
    as far as it can be written: undeclared arguments in the query, files and bodies of other media types, and
    requests without a required credential.
    """

    base_url: str | None = field(default=None, repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    credential_sources: Mapping[str, str] = field(default_factory=dict)
    client_certificate: bool = False
    file_roots: tuple[Path, ...] = ()
    lenient: bool = False
    other_base_urls: tuple[str, ...] = field(default=(), repr=False)
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)


def build_request(tool: Tool, arguments: Mapping[str, Any], options: RequestOptions) -> httpx.Request:
    """Return the request of a call. Raises ArgumentError and RequestError.

    The arguments are validated, or `options.lenient` allows others. `context_of` returns its deviations then.
    """
    try:
        if not options.lenient:
            return _build(tool, arguments, options, [])
        with context.deviations_allowed() as deviations:
            return _build(tool, arguments, options, deviations)
    except UnicodeEncodeError as error:
        raise ArgumentError(
            "An argument contains a lone surrogate (half of a character), which UTF-8 cannot encode."
        ) from error
    except RecursionError as error:
        raise ArgumentError("The arguments are nested too deeply.") from error
    except ModuleNotFoundError as error:  # a package has the modules that its document's media types need
        raise ArgumentError("The arguments take a media type that this package was generated without.") from error


def add_trace_context(tool: Tool, request: httpx.Request, trace: Mapping[str, str]) -> None:
    """Add the headers of a trace, except those that the request has already or that an argument of the tool sets.

    A `tracestate` belongs to the `traceparent` of the same trace and is not sent without it.
    """
    if not trace:
        return
    arguments = {(item.wire_name or item.name).lower() for item in tool.arguments if item.location == "header"}
    excluded = {name for name in trace if name in request.headers or name in arguments}
    if "traceparent" in excluded:
        excluded.add("tracestate")
    for name, value in trace.items():
        if name not in excluded:
            request.headers[name] = value


def _build(tool: Tool, arguments: Mapping[str, Any], options: RequestOptions, deviations: list[str]) -> httpx.Request:
    if tool.presets:
        tool, arguments = _with_presets(tool, arguments, options.variables)
    by_location, undeclared = _by_location(tool, arguments, lenient=options.lenient)
    deviations += undeclared
    credentials = auth.build_credentials(tool, options.credentials, client_certificate=options.client_certificate)
    base_url = urls.parse_base_url(options.base_url or tool.base_url)
    if tool.required_schemes:
        deviations += _without_credentials(tool, options, base_url.query)
    path_values = {item.wire_name or item.name: _path_value(item, value) for item, value in by_location["path"]}
    url = urls.build(base_url, tool.path, path_values, _query(tool.path, by_location["query"], credentials))
    body = None if tool.body is None else bodies.build(tool, arguments, options.file_roots)
    fields = headers.build(
        host=base_url.host,
        accept=tool.accept,
        arguments=by_location["header"],
        cookies=by_location["cookie"],
        credentials=credentials,
        configured=options.headers,
        content_type=body.content_type if body else tool.content_type,
    )
    request = PreparedRequest(tool.method, url, fields, body.content if body else b"")
    is_guess = tool.base_url_is_guess and not options.base_url
    if tool.security or is_guess or deviations:
        context.attach(request, context.RequestContext(_sent(tool, options), is_guess, tuple(deviations)))
    return request


def _with_presets(
    tool: Tool, arguments: Mapping[str, Any], variables: Mapping[str, str]
) -> tuple[Tool, dict[str, Any]]:
    """Return a tool whose hidden arguments are its own, and the arguments of a call with the values of all presets.

    `variables` are those of `credentials.read_variables`. Raises RequestError for a variable that is not among them.
    """
    values = dict(arguments)
    for preset in tool.presets:
        name = preset.argument.name
        if preset.path:
            if name in values:
                values[name] = _with_inner(values[name], preset, preset.path, _preset_value(preset, variables))
        elif not (preset.is_default and name in values):
            values[name] = _preset_value(preset, variables)
    hidden = (preset.argument for preset in tool.presets if not (preset.is_default or preset.path))
    return replace(tool, arguments=(*hidden, *tool.arguments), presets=()), values


def _with_inner(value: Any, preset: Preset, path: tuple[str, ...], new: Any) -> Any:
    """Return a value with another one at a path in it, where the objects and lists on the way are there."""
    name, *rest = path
    if name == EACH_ITEM:
        return [_with_inner(item, preset, tuple(rest), new) for item in value] if isinstance(value, list) else value
    if (
        not isinstance(value, dict)
        or (rest and name not in value)
        or (preset.is_default and not rest and name in value)
    ):
        return value
    return {**value, name: _with_inner(value[name], preset, tuple(rest), new) if rest else new}


def _preset_value(preset: Preset, variables: Mapping[str, str]) -> Any:
    if preset.variable is None and preset.header is None:
        return preset.value
    if preset.header is not None:
        text, source = _caller_header(preset), f"header `{preset.header}` of the client's request"
    else:
        text, source = variables.get(preset.variable or "", ""), f"environment variable `{preset.variable}`"
        if not text:
            raise unset_variable(preset)
    if not preset.is_json:
        return text
    try:
        return json.loads(text)
    except ValueError:  # the text may be a secret: it is not shown
        raise RequestError(f"The value of the {source} is not JSON.") from None


def _caller_header(preset: Preset) -> str:
    """Return the header of the client's request that a preset names. Raises RequestError where there is none."""
    headers = context.CALLER_HEADERS.get()
    name, argument = preset.header or "", preset.argument.name
    if headers is None:
        cure = "serve over HTTP, or fix the argument to another value with --set"
        raise RequestError(f"The argument `{argument}` is the header `{name}` of the client's HTTP request; {cure}.")
    if not headers.get(name.lower()):
        cure = "the client has to send it with each request"
        raise RequestError(f"The client's request has no header `{name}`, which is the argument `{argument}`: {cure}.")
    return headers[name.lower()]


def unset_variable(preset: Preset) -> RequestError:
    """Return the error for a preset whose environment variable has no value."""
    return RequestError(
        f"The argument `{preset.argument.name}` is to be read from the environment variable `{preset.variable}`, which "
        "is not set."
    )


def _without_credentials(tool: Tool, options: RequestOptions, base_query: str) -> list[str]:
    """Return the deviation of a request without a required credential. Raises RequestError unless that is allowed."""
    missing, cure = auth.missing_credentials(tool, options.credentials, options.headers, base_query)
    if missing and not options.lenient:
        raise RequestError(f"{missing}, so the call was not sent. {cure}")
    return [f"{missing}. {cure}"] if missing else []


def _sent(tool: Tool, options: RequestOptions) -> tuple[tuple[SecurityScheme, str], ...]:
    """Return the schemes whose credentials a request carries, each with the source of its credential."""
    schemes = auth.sent_schemes(tool, options.credentials, client_certificate=options.client_certificate)
    sources = options.credential_sources
    return tuple(
        (scheme, "--client-cert" if scheme.type == "mutualTLS" else sources.get(scheme.name, scheme.variable))
        for scheme in schemes
    )


class PreparedRequest(httpx.Request):
    """A request that needs none of what the constructor of httpx does, which takes eight times as long.

    Together with `BufferedResponse`, which does the same, it saves 4 % of a call.

    `headers` are made of its `fields` when they are asked for.
    """

    def __init__(self, method: str, url: httpx.URL, fields: headers.Lines, content: bytes) -> None:
        if content:
            fields.append((b"Content-Length", b"%d" % len(content)))
        elif method in _WITH_LENGTH:
            fields.insert(1, (b"Content-Length", b"0"))
        self.method = method
        self.url = url
        self.fields = fields
        self.extensions = {}
        self.stream = httpx.ByteStream(content)
        self._content = content

    @cached_property
    def headers(self) -> httpx.Headers:  # type: ignore[override]
        """The header fields."""
        return httpx.Headers(self.fields)


_WITH_LENGTH: Final = frozenset({"POST", "PUT", "PATCH"})
"""Methods whose requests have a Content-Length without content too (RFC 9110 §8.6)."""


EACH_ITEM: Final = "*"
"""The step of a preset's path that is each item of a list."""

_LOCATIONS: Final = {"querystring": "query"}

_ArgumentValues: TypeAlias = list[tuple[Argument, Any]]
"""Arguments with their values, in the document's order."""


def _by_location(
    tool: Tool, arguments: Mapping[str, Any], *, lenient: bool
) -> tuple[Mapping[str, _ArgumentValues], list[str]]:
    """Return the arguments of the call by location, and deviations; `querystring` counts as `query`.

    Raises ArgumentError for an argument of no location, and for a path without one of its arguments.
    """
    by_location: dict[str, _ArgumentValues] = {"path": [], "query": [], "header": [], "cookie": []}
    count, deviations = 0, []
    for argument in tool.arguments:
        if argument.name in arguments:
            count += 1
            if (values := by_location.get(_LOCATIONS.get(argument.location, argument.location))) is not None:
                values.append((argument, arguments[argument.name]))
        elif lenient and argument.location == "path":
            raise ArgumentError(f"`{argument.name}` is a part of the path and missing.")
    unknown = _unknown(tool, arguments) if count < len(arguments) else []
    if unknown and not lenient:
        _refuse_unknown(tool, unknown)
    for name in unknown:
        deviations.append(f"`{name}` is sent in the query.")
        by_location["query"].append(
            (Argument(name=name, location="query", wire_name=name, style="form", explode=True), arguments[name])
        )
    return by_location, deviations


def _unknown(tool: Tool, arguments: Mapping[str, Any]) -> list[str]:
    """Return the arguments that the tool does not declare, unless they become properties of the body.

    A body that is one argument, or no body, has no such properties.
    """
    if tool.body is not None and not any(a.location == "body" and a.wire_name is None for a in tool.arguments):
        return []
    declared = {argument.name for argument in tool.arguments}
    return [name for name in arguments if name not in declared]


def _refuse_unknown(tool: Tool, unknown: Iterable[str]) -> None:
    names = " or ".join(f"`{name}`" for name in unknown)
    available = ", ".join(f"`{argument.name}`" for argument in tool.arguments)
    raise ArgumentError(f"This tool has no argument {names}. Its arguments are: {available or 'none'}.")


def _path_value(argument: Argument, value: Any) -> urls.PathValue:
    if argument.style == "simple" and argument.content_type is None:  # as most are
        text = str(value) if type(value) is int else value
        if isinstance(text, str) and text.isalnum() and text.isascii():
            return urls.PathValue(argument.name, text)
    value = content.parameter_value(argument, value)
    if isinstance(value, str) and argument.style != "simple":  # whose text is the value alone: `urls.build` judges it
        urls.check_value(argument.name, value)
    return urls.PathValue(argument.name, styles.path_text(argument, value))


def _query(template: str, arguments: _ArgumentValues, credentials: auth.Credentials) -> str:
    """Return the query string.

    A credential replaces an argument of its name: only the configuration sets it. No argument replaces a pair that the
    path template fixes, also not as a property of an object or within a query that is one argument.
    """
    if not (arguments or credentials.query):
        return ""
    secrets = [(styles.percent_encode(name), styles.percent_encode(value)) for name, value in credentials.query]
    secret_names = {name for name, _ in secrets}
    parts: list[str] = []
    for argument, value in arguments:
        if argument.location == "querystring":
            parts.append(_querystring(argument, value))
        else:
            pairs = styles.query_pairs(argument, content.parameter_value(argument, value))
            parts += [f"{name}={text}" for name, text in pairs if name not in secret_names]
    if fixed := urls.fixed_pairs(template):
        parts = [pair for part in parts for pair in part.split("&") if urls.pair_name(pair) not in fixed]
    parts += [f"{name}={text}" for name, text in secrets]
    return "&".join(part for part in parts if part)


def _querystring(argument: Argument, value: Any) -> str:
    """Return the value of an `in: querystring` parameter, which is the query itself in its media type (OpenAPI 3.2)."""
    content_type = argument.content_type or content.FORM
    text = content.parameter_text(argument, value, content_type)
    return text if isinstance(value, dict) and media_types.is_form(content_type) else styles.percent_encode(text)
