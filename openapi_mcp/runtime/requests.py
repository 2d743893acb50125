"""A tool and the arguments of a call as one `httpx.Request`; pure but for named files, and exact to the byte.

Everything is escaped before httpx sees it; the host comes from configuration and document, never from an argument.
Specification: OpenAPI 3.2 Operation and Parameter Objects.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import httpx

from . import addresses, auth, bodies, forms, headers, media_types, parameter_values, styles
from .errors import ArgumentError
from .models import Argument, Tool


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What whoever runs the server adds to every request.

    `base_url` replaces the document's. `headers` replace computed ones of the same name, but not a body's Content-Type.
    `credentials` are keyed by `SecurityScheme.name`. Neither of the two appears in a repr. `client_certificate` says
    that connections are made with one, which satisfies mutualTLS. Files in `file_roots`, and in folders within them,
    may be sent by naming them (`file:///…`); by default none.
    """

    base_url: str | None = None
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    client_certificate: bool = False
    file_roots: tuple[Path, ...] = ()


def build_request(tool: Tool, arguments: Mapping[str, Any], options: RequestOptions) -> httpx.Request:
    """The request for a call whose arguments are prepared. Raises ArgumentError and RequestError."""
    try:
        return _build(tool, arguments, options)
    except UnicodeEncodeError as error:
        raise ArgumentError(
            "An argument holds half of a surrogate pair, which no text on the wire can carry."
        ) from error
    except RecursionError as error:
        raise ArgumentError("The arguments are nested too deeply.") from error


def _build(tool: Tool, arguments: Mapping[str, Any], options: RequestOptions) -> httpx.Request:
    given = _given(tool, arguments)
    credentials = auth.apply(tool, options.credentials, client_certificate=options.client_certificate)
    base = addresses.base(options.base_url or tool.base_url)
    fillings = {item.wire_name or item.name: _filling(item, value) for item, value in given["path"]}
    url = addresses.build(base, tool.path, fillings, _query(given["query"], credentials))
    body = bodies.build(tool, arguments, options.file_roots)
    fields = headers.build(
        host=base.host,
        accept=tool.accept,
        given=given["header"],
        cookies=given["cookie"],
        credentials=credentials,
        configured=options.headers,
        content_type=body.content_type if body else None,
    )
    return _request(tool.method, url, fields, body.content if body else b"")


def _request(method: str, url: httpx.URL, fields: headers.Lines, content: bytes) -> httpx.Request:
    """The same as httpx makes of its `content`, which adds Content-Length in three times the time."""
    if content:
        fields.append((b"Content-Length", b"%d" % len(content)))
    elif method in _WITH_LENGTH:
        fields.insert(1, (b"Content-Length", b"0"))
    request = httpx.Request(method, url, headers=fields, stream=httpx.ByteStream(content))
    request.read()
    request.method = method  # httpx upper-cases it, but a method is case-sensitive (RFC 9110 §9.1)
    return request


_WITH_LENGTH: Final = frozenset({"POST", "PUT", "PATCH"})
"""Methods whose requests say that they have no content (RFC 9110 §8.6)."""


_Given: TypeAlias = list[tuple[Argument, Any]]
"""Arguments that were given, with their values, in the document's order."""


def _given(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, _Given]:
    """What was given by location; a whole query is among the rest of it. Raises ArgumentError."""
    given: dict[str, _Given] = defaultdict(list)
    known = 0
    for argument in tool.arguments:
        if argument.name in arguments:
            known += 1
            location = "query" if argument.location == "querystring" else argument.location
            given[location].append((argument, arguments[argument.name]))
    if known < len(arguments):
        _refuse_homeless(tool, arguments)
    return given


def _refuse_homeless(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """What the tool does not declare becomes a property of the body; where the body has none, it has no place to go."""
    if tool.body is not None and not any(a.location == "body" and a.wire_name is None for a in tool.arguments):
        return
    known = {argument.name for argument in tool.arguments}
    homeless = [f"`{name}`" for name in arguments if name not in known]
    raise ArgumentError(f"This tool has no argument {' or '.join(homeless)}.")


def _filling(argument: Argument, value: Any) -> addresses.Filling:
    return addresses.Filling(argument.name, styles.path_text(argument, parameter_values.written(argument, value)))


def _query(given: _Given, credentials: auth.Credentials) -> str:
    """The query string; a credential replaces an argument of its name (nobody but the configuration sets it)."""
    if not (given or credentials.query):
        return ""
    secrets = [(styles.percent(name), styles.percent(value)) for name, value in credentials.query]
    taken = {name for name, _ in secrets}
    parts: list[str] = []
    for argument, value in given:
        if argument.location == "querystring":
            parts.append(_whole_query(argument, value))
        else:
            pairs = styles.query_pairs(argument, parameter_values.written(argument, value))
            parts += [f"{name}={text}" for name, text in pairs if name not in taken]
    parts += [f"{name}={text}" for name, text in secrets]
    return "&".join(part for part in parts if part)


def _whole_query(argument: Argument, value: Any) -> str:
    """`in: querystring`: the value is the query itself, by its media type (OpenAPI 3.2)."""
    content_type = argument.content_type or forms.FORM
    text = parameter_values.text(argument, value, content_type)
    return text if isinstance(value, dict) and media_types.is_form(content_type) else styles.percent(text)
