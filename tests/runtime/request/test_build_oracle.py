"""Entire requests against another implementation: openapi-core returns the arguments of the request.

Operations are random: parameters of each location and style together, and a body. Cases that openapi-core does not read
back are left out: exploded form objects and spaceDelimited in a query, lists and numbers in multipart. It splits after
percent-decoding, so texts contain no delimiter; `test_styles` shows that delimiters are escaped.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openapi_core import Config, OpenAPI
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict

from openapi_mcp.runtime.request.build import RequestOptions, build_request
from openapi_mcp.runtime.tool import Argument, Encoding, MediaType, Style, Tool
from openapi_mcp.runtime.types import Schema
from tests.runtime.making import BODY, form, parameter, tool, with_body

TEXT = st.text(st.sampled_from("ab Z0/?#%&+é日😀\"'<>\\^`{}~-_:@$()*!"), min_size=1, max_size=6).filter(
    lambda text: text == text.strip()  # white space around a header is not its value
)
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": TEXT,
    "integer": st.integers(),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
}
KEYS = st.sampled_from(["a", "b2", "kind", "x_y"])
TYPED = st.sampled_from(list(SCALARS)).map(lambda name: {"type": name})
ARRAYS = TYPED.map(lambda items: {"type": "array", "items": items})
OBJECTS = st.dictionaries(KEYS, TYPED, min_size=1, max_size=3).map(
    lambda properties: {"type": "object", "properties": properties, "required": list(properties)}
)
NESTED: st.SearchStrategy[Schema] = st.recursive(
    TYPED,
    lambda inner: (
        inner.map(lambda items: {"type": "array", "items": items})
        | st.dictionaries(KEYS, inner, max_size=3).map(lambda properties: {"type": "object", "properties": properties})
    ),
    max_leaves=6,
)


def values(schema: Schema) -> st.SearchStrategy[Any]:
    """Draw values of a schema. Arrays and objects of parameters are never empty, since those are undefined."""
    if schema["type"] == "array":
        return st.lists(values(schema["items"]), min_size=1, max_size=3)
    if schema["type"] == "object":
        return st.fixed_dictionaries({key: values(inner) for key, inner in schema["properties"].items()})
    return SCALARS[schema["type"]]


# Location, style, explode, and the schemas whose values openapi-core reads back.
STYLES: list[tuple[str, Style, bool, st.SearchStrategy[Schema]]] = [
    ("path", "simple", False, TYPED | ARRAYS | OBJECTS),
    ("path", "simple", True, TYPED | ARRAYS | OBJECTS),
    ("header", "simple", False, TYPED | ARRAYS | OBJECTS),
    ("header", "simple", True, TYPED | ARRAYS | OBJECTS),
    ("query", "form", False, TYPED | ARRAYS | OBJECTS),
    ("query", "form", True, TYPED | ARRAYS),
    ("query", "pipeDelimited", False, ARRAYS | OBJECTS),
    ("query", "deepObject", True, OBJECTS),
    ("cookie", "form", False, TYPED | ARRAYS | OBJECTS),
]
NAMES = {
    "path": ("id", "path-name"),
    "header": ("X-One", "x-two"),
    "query": ("q", "a b", "x&y=z", "日本", "100%"),
    "cookie": ("session", "c_2"),
}


@st.composite
def parameters(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw Parameter Objects, at most one of a name in a location."""
    by_name: dict[tuple[str, str], dict[str, Any]] = {}
    for location, style, explode, schemas in draw(st.lists(st.sampled_from(STYLES), max_size=6)):
        name = draw(st.sampled_from(NAMES[location]))
        if style == "deepObject":
            name = "deep"  # openapi-core takes the name for a regular expression here
        parameter_object = {"in": location, "name": name, "style": style, "explode": explode, "schema": draw(schemas)}
        by_name[location, name] = parameter_object | ({"required": True} if location == "path" else {})
    return list(by_name.values())


@st.composite
def bodies(draw: st.DrawFn) -> tuple[dict[str, Any] | None, MediaType | None]:
    """Draw the `content` of a request body and the equal MediaType, or neither."""
    kind = draw(
        st.sampled_from(["none", "application/json", "application/x-www-form-urlencoded", "multipart/form-data"])
    )
    if kind == "none":
        return None, None
    if kind == "application/json":
        return {kind: {"schema": draw(NESTED)}}, MediaType(content_type=kind)
    simple = TYPED | ARRAYS if "urlencoded" in kind else st.just({"type": "string"})
    properties = draw(st.dictionaries(KEYS, simple, max_size=3)) | {"json": draw(OBJECTS), "last": {"type": "string"}}
    encodings = {"json": Encoding(content_type="application/json")}
    declared: dict[str, Any] = {"json": {"contentType": "application/json"}}
    if "urlencoded" in kind:
        properties["deep"] = draw(OBJECTS)
        encodings["deep"] = Encoding(style="deepObject", explode=True)
        declared["deep"] = {"style": "deepObject", "explode": True}
    schema = {"type": "object", "properties": properties}
    return {kind: {"schema": schema, "encoding": declared}}, form(kind, **encodings)


class ReceivedRequest:
    """A request in the form that openapi-core reads, taken from the bytes as a framework does."""

    def __init__(self, request: httpx.Request, template: str) -> None:
        self.host_url = "http://api.test"
        self.method = request.method.lower()
        self.path = template
        self.content_type = request.headers.get("content-type", "")
        self.body = request.content or None
        raw_path, _, query = request.url.raw_path.decode("ascii").partition("?")
        self.parameters = RequestParameters(
            path=_path_values(template, raw_path),
            query=ImmutableMultiDict(parse_qsl(query, keep_blank_values=True)),
            header=Headers([(key.decode(), value.decode()) for key, value in request.headers.raw]),
            cookie=ImmutableMultiDict(_cookies(request.headers.raw)),
        )


def _path_values(template: str, path: str) -> dict[str, str]:
    pattern = re.sub(r"\\\{(.*?)\\\}", "([^/]*)", re.escape(template))
    match = re.fullmatch(pattern, path)
    assert match is not None, f"{path} is not of {template}"
    return dict(zip(re.findall(r"\{(.*?)\}", template), map(unquote, match.groups()), strict=True))


def _cookies(fields: list[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    text = next((value.decode() for key, value in fields if key.lower() == b"cookie"), "")
    pairs = (pair.partition("=") for pair in text.split("; ") if pair)
    return [(unquote(name), unquote(value)) for name, _, value in pairs]


def operation(declared: list[dict[str, Any]], media: MediaType | None) -> Tool:
    """Return the tool that the compiler makes of these parameters and this body."""
    path = "/x" + "".join(f"/{{{item['name']}}}" for item in declared if item["in"] == "path")
    arguments: tuple[Argument, ...] = tuple(map(parameter, declared))
    if media is None:
        return tool(path, *arguments)
    return tool(path, *arguments, BODY, method="POST", body=with_body(media).body)


@pytest.mark.slow
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_openapi_core_reads_the_arguments_back(data: st.DataObject) -> None:
    declared = data.draw(parameters())
    content, media = data.draw(bodies())
    operation_tool = operation(declared, media)
    given_values = {(item["in"], item["name"]): data.draw(values(item["schema"])) for item in declared}
    arguments = {f"{location}.{name}": value for (location, name), value in given_values.items()}
    if content is not None:
        schema = next(iter(content.values()))["schema"]
        arguments["body"] = data.draw(values(schema))
    request = build_request(operation_tool, arguments, RequestOptions())
    result = reader(operation_tool, declared, content).unmarshal_request(ReceivedRequest(request, operation_tool.path))
    assert result.errors == []
    for (location, name), value in given_values.items():
        assert getattr(result.parameters, location)[name] == value
    assert result.body == arguments.get("body")


def reader(operation_tool: Tool, declared: list[dict[str, Any]], content: Mapping[str, Any] | None) -> OpenAPI:
    """Return openapi-core on a document with this one operation."""
    described: dict[str, Any] = {"parameters": declared, "responses": {"200": {"description": ""}}}
    if content is not None:
        described["requestBody"] = {"required": True, "content": content}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "", "version": "1"},
        "servers": [{"url": "http://api.test"}],
        "paths": {operation_tool.path: {operation_tool.method.lower(): described}},
    }
    # The document itself is not validated.
    return OpenAPI.from_dict(document, config=Config(spec_validator_cls=None))  # type: ignore[arg-type]  # None is documented
