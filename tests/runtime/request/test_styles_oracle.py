"""Styles against another implementation: openapi-core's deserialisers return the value that was written.

openapi-core splits after percent-decoding, so these values contain no delimiter of their style; `test_styles` shows
that delimiters within values are escaped.
"""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema_path import SchemaPath
from openapi_core.casting.schemas import oas31_schema_casters_factory
from openapi_core.deserializing.styles import StyleDeserializersFactory, style_deserializers
from werkzeug.datastructures import ImmutableMultiDict

from openapi_mcp.runtime.request import styles
from openapi_mcp.runtime.tool import Argument, Location, Style

SCHEMAS: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "array": {"type": "array", "items": {"type": "string"}},
    "integers": {"type": "array", "items": {"type": "integer"}},
    "object": {
        "type": "object",
        "properties": {"s": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"}},
    },
}
SPEC = SchemaPath.from_dict({"openapi": "3.1.0", "schemas": SCHEMAS})
READERS = StyleDeserializersFactory(oas31_schema_casters_factory, style_deserializers)

# No delimiter of most styles and no lone surrogate; many characters that a URL escapes.
TEXT = st.text(st.sampled_from("ab Z0/?#%&+é日😀\"'<>\\^`{}~-_:@$()*!"), min_size=1, max_size=8)
VALUES = {
    "string": TEXT,
    "integer": st.integers(),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "array": st.lists(TEXT, min_size=1, max_size=4),
    "integers": st.lists(st.integers(), min_size=1, max_size=4),
    "object": st.fixed_dictionaries({"s": TEXT, "n": st.integers(), "b": st.booleans()}),
}
DELIMITERS = {("spaceDelimited", False): " ", ("form", True): "&"}
ALL = tuple(VALUES)
ARRAYS_AND_OBJECTS = ("array", "integers", "object")

Locate = Callable[[Argument, Any], Mapping[str, Any]]


def in_path(mark: str) -> Locate:
    """Return a reader that finds a path parameter as openapi-core does: under the RFC 6570 expression."""

    def locate(argument: Argument, value: Any) -> Mapping[str, Any]:
        return {f"{mark}color{'*' if mark and argument.explode else ''}": unquote(styles.path_text(argument, value))}

    return locate


def in_header(argument: Argument, value: Any) -> Mapping[str, Any]:
    return {"color": styles.header_text(argument, value)}


def in_query(argument: Argument, value: Any) -> Mapping[str, Any]:
    pairs = styles.query_pairs(argument, value)
    if argument.explode and isinstance(value, dict) and argument.style == "form":
        return {"color": "&".join(f"{unquote(name)}={unquote(text)}" for name, text in pairs)}
    if argument.style == "spaceDelimited":  # openapi-core needs this delimiter percent-encoded
        return {name: "%20".join(unquote(part) for part in text.split("%20")) for name, text in pairs}
    query = "&".join(f"{name}={text}" for name, text in pairs)
    return ImmutableMultiDict(parse_qsl(query, keep_blank_values=True))


def in_cookie(argument: Argument, value: Any) -> Mapping[str, Any]:
    return {unquote(name): unquote(text) for name, text in styles.cookie_pairs(argument, value)}


CASES: list[tuple[Location, Style, bool, tuple[str, ...], Locate]] = [
    ("path", "matrix", False, ALL, in_path(";")),
    ("path", "matrix", True, ALL, in_path(";")),
    ("path", "label", False, ALL, in_path(".")),
    ("path", "label", True, ALL, in_path(".")),
    ("path", "simple", False, ALL, in_path("")),
    ("path", "simple", True, ALL, in_path("")),
    ("header", "simple", False, ALL, in_header),
    ("header", "simple", True, ALL, in_header),
    ("query", "form", False, ALL, in_query),
    ("query", "form", True, ALL, in_query),
    ("cookie", "form", False, ALL, in_cookie),
    ("query", "spaceDelimited", False, ARRAYS_AND_OBJECTS, in_query),
    ("query", "pipeDelimited", False, ARRAYS_AND_OBJECTS, in_query),
    ("query", "deepObject", True, ("object",), in_query),
]


@pytest.mark.parametrize(
    ("location", "style", "explode", "kind", "locate"),
    [
        pytest.param(location, style, explode, kind, locate, id=f"{location}-{style}-{explode}-{kind}")
        for location, style, explode, kinds, locate in CASES
        for kind in kinds
    ],
)
def test_openapi_core_reads_the_value_back(
    location: Location, style: Style, explode: bool, kind: str, locate: Locate
) -> None:
    argument = Argument(name="color", location=location, style=style, explode=explode)
    reader = READERS.create(SPEC, SPEC / "schemas" / kind, style, explode, "color")

    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(VALUES[kind])
    def read_back(value: Any) -> None:
        value = _without(DELIMITERS.get((style, explode), ""), value)
        if style == "label" and explode and kind == "number":
            value = float(int(value))  # openapi-core takes any dot for a delimiter
        assert reader.deserialize(locate(argument, value)) == value

    read_back()


def _without(delimiter: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_without(delimiter, item) for item in value]
    if isinstance(value, dict):
        return {key: _without(delimiter, item) for key, item in value.items()}
    return value.replace(delimiter, "_") if isinstance(value, str) and delimiter else value
