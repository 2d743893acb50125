"""Compiled tools as bytes: reading returns the written values; no other bytes are accepted, or take much memory.

Whoever forges a file can compute its digest, so the hostile contents here have correct ones.
"""

import copy
import dataclasses
import json
import pickle
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp import __version__
from openapi_mcp.cache import decoder
from openapi_mcp.cache.decoder import CacheEntry, InvalidCacheFile, load
from openapi_mcp.cache.encoder import dump
from openapi_mcp.compilation import Compilation, CompileOptions, DocumentInfo
from openapi_mcp.runtime.tool import Argument, Encoding, MediaType, RequestBody, Tool, XmlDocument, XmlNode
from openapi_mcp.runtime.types import Implementation
from openapi_mcp.tools import compiler
from tests.conftest import ROOT


def compiled(path: Path | str) -> CacheEntry:
    document = compiler.load(str(path), CompileOptions())
    return compiler.document_info(document, CompileOptions()), compiler.compile_document(document, CompileOptions())


PETSTORE = compiled(ROOT / "specs" / "petstore.yaml")
DUMPED = dump(PETSTORE)
SPECS = sorted([*(ROOT / "specs").glob("*.yaml"), ROOT / "specs" / "petstore-2.0.json"])


def sealed(content: Any) -> bytes:
    """Return a file of this content, with the first line that it needs."""
    encoded = content if isinstance(content, bytes) else json.dumps(content).encode()
    return decoder.header(encoded) + encoded


def content() -> Any:
    """The content of the file of the petstore, to be changed, as one line; none of its parts has several."""
    joined: dict[str, list[Any]] = {}
    for line in DUMPED.splitlines()[1:]:
        for name, part in json.loads(line).items():
            joined[name] = joined.get(name, []) + part
    return joined


def entry(*tools: Tool, **fields: Any) -> CacheEntry:
    info = DocumentInfo(uri="file:///api.json", version="3.1.0", implementation=Implementation("api", "1"), **fields)
    return info, Compilation(tools=tools, sizes=tuple(1 for _ in tools))


def tool(**fields: Any) -> Tool:
    required = {"name": "get", "description": "", "input_schema": {}, "annotations": {}, "method": "GET", "path": "/"}
    return Tool(**(required | fields))


def test_load_returns_the_dumped_values() -> None:
    assert load(DUMPED) == PETSTORE


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_load_returns_the_dumped_values_of_our_documents(path: Path) -> None:
    values = compiled(path)
    assert load(dump(values)) == values


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name",
    [
        "petstore-v2/petstore.json",
        "docker-engine/api/swagger.yaml",
        "github-rest/api.github.com.json",
        "stripe/openapi/spec3.yaml",
    ],
)
def test_load_returns_the_dumped_values_of_real_documents(corpus: Path, name: str) -> None:
    values = compiled(corpus / name)
    assert load(dump(values)) == values


def test_every_field_of_every_class_is_kept() -> None:
    node = XmlNode(
        node_type="attribute",
        properties={"a": XmlNode(name="b"), "b": XmlNode(items=XmlNode(ref="c"))},
        prefix_items=(XmlNode(), XmlNode(namespace="urn:x")),
        when=("kind", ("cat", None, 1, 1.0, True, {"deep": [1]})),
    )
    form = Encoding(headers=(("X-A", "1"), ("X-B", "2")), encoding={"inner": Encoding(style="deepObject")})
    media = MediaType(content_type="a/b", encoding={"f": form}, xml=XmlDocument(root=node, definitions={"c": node}))
    argument = Argument(name="q", location="querystring", items_style="pipeDelimited", media=media)
    first = tool(arguments=(argument,), body=RequestBody(media_types=(media,)), meta={"order": {"b": 1, "a": [None]}})
    second = tool(output_schema={"const": 0, "enum": [False, 0.0, "0", None, -0.0]}, security=((), ()))
    values = entry(first, second, validators={"https://a": {"If-None-Match": "x"}}, unread=("https://b",))
    read = load(dump(values))
    assert read == values
    assert repr(read) == repr(values), "1, 1.0 and true are equal in Python, and so are differently ordered objects"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@pytest.mark.slow
@given(st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=4))
def test_any_schemas_are_kept(schemas: list[dict[str, Any]]) -> None:
    values = entry(*(tool(input_schema=schema) for schema in schemas))
    assert repr(load(dump(values))) == repr(values)


def test_lone_surrogates_are_kept() -> None:
    values = entry(tool(description="\ud800 \udc00\ud800 \U0001f600", input_schema={"\udfff": 1}))
    assert load(dump(values)) == values


def test_equal_parts_are_one_object() -> None:
    parts = [{"type": "object", "properties": {"id": {"type": "integer"}}} for _ in range(2)]
    arguments = (Argument(name="a", location="path"),)
    tools = [tool(input_schema={"$defs": {"Pet": part}}, arguments=arguments) for part in parts]
    _, read = load(dump(entry(*tools, tool(output_schema=parts[0]["properties"]))))
    first, second, third = read.tools
    assert first is second
    assert third.output_schema is first.input_schema["$defs"]["Pet"]["properties"]


def test_shared_definitions_stay_small() -> None:
    definitions = {f"D{number}": {"type": "object", "description": "x" * 100} for number in range(100)}
    tools = [tool(name=f"t{number}", input_schema={"$defs": copy.deepcopy(definitions)}) for number in range(100)]
    data = dump(entry(*tools))
    assert len(data) < 50_000
    tracemalloc.start()
    read = load(data)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(read[1].tools) == 100
    assert kept < 500_000


@pytest.mark.parametrize(
    "fields",
    [
        {"meta": {"when": object()}},
        {"meta": {"when": (1, 2)}},
        {"meta": {1: "one"}},
        {"meta": {"ratio": float("inf")}},
        {"arguments": ("q",)},
        {"arguments": None},
    ],
    ids=["object", "tuple", "number-key", "infinite", "text", "none"],
)
def test_values_that_json_does_not_have_are_not_written(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"Error|JSON compliant"):
        dump(entry(tool(**fields)))


def test_values_that_nest_too_deeply_are_not_written() -> None:
    schema: dict[str, Any] = {}
    for _ in range(sys.getrecursionlimit() * 2):
        schema = {"not": schema}
    with pytest.raises(ValueError, match="RecursionError"):
        dump(entry(tool(input_schema=schema)))


@given(st.integers(0, len(DUMPED) - 1), st.integers(1, 255))
def test_changed_byte_is_noticed(index: int, change: int) -> None:
    damaged = bytearray(DUMPED)
    damaged[index] ^= change
    with pytest.raises(InvalidCacheFile):
        load(bytes(damaged))


def test_no_line_is_long() -> None:
    values = entry(*(tool(name=f"t{number}", input_schema={"x": [number]}) for number in range(5_000)))
    data = dump(values)
    assert load(data) == values
    assert max(map(len, data.splitlines())) < 200_000 < len(data)


@given(st.integers(0, len(DUMPED) - 1))
def test_truncated_file_is_noticed(length: int) -> None:
    with pytest.raises(InvalidCacheFile):
        load(DUMPED[:length])


@pytest.mark.parametrize("part", [b"openapi-mcp", str(decoder.FORMAT).encode(), __version__.encode()])
def test_file_of_another_program_format_or_version_is_refused(part: bytes) -> None:
    line, newline, rest = DUMPED.partition(b"\n")
    assert part in line
    with pytest.raises(InvalidCacheFile, match="first line"):
        load(line.replace(part, b"9" + part, 1) + newline + rest)


@given(st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_other_bytes_are_invalid(data: bytes) -> None:
    for forged in (data, sealed(data)):
        with pytest.raises(InvalidCacheFile):
            load(forged)


class Hostile:
    def __reduce__(self) -> Any:
        return open, ("forged", "w")


@pytest.mark.parametrize("value", [Hostile(), PETSTORE], ids=["hostile", "tools"])
def test_pickle_is_neither_read_nor_called(value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidCacheFile):
        load(sealed(pickle.dumps(value)))
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@given(st.data())
def test_changed_content_is_valid_or_refused(data: st.DataObject) -> None:
    changed = content()
    place = changed
    while True:
        key = data.draw(st.sampled_from(sorted(place)) if isinstance(place, dict) else st.integers(0, len(place) - 1))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.integers(0, 3)) == 0:
            break
        place = place[key]
    place[key] = data.draw(JSON)
    try:
        read = load(sealed(changed))
    except InvalidCacheFile:
        return
    assert conforms(read[0], DocumentInfo)
    assert conforms(read[1], Compilation)
    assert load(dump(read)) == read


def conforms(value: Any, hint: Any) -> bool:
    """Return whether a value is of an annotation, judged without the code that reads it."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return isinstance(value, str | int | float | bool | None | list | dict)
    if origin is Literal:
        return value in parts
    if origin is tuple and parts[-1] is Ellipsis:
        return type(value) is tuple and all(conforms(each, parts[0]) for each in value)
    if origin is tuple:
        return type(value) is tuple and all(map(conforms, value, parts))
    if origin in (Union, UnionType):
        return any(conforms(value, part) for part in parts)
    if origin is not None:
        return type(value) is dict and all(type(key) is str and conforms(each, parts[1]) for key, each in value.items())
    if dataclasses.is_dataclass(hint):
        return type(value) is hint and all(
            conforms(getattr(value, name), each) for name, each in decoder.fields(hint.__name__)
        )
    return type(value) is hint


def cyclic(value: Any) -> None:
    value["levels"][0][0] = [len(value["scalars"])]


def forward(value: Any) -> None:
    value["records"].insert(0, value["records"].pop())


def unknown_class(value: Any) -> None:
    value["records"][0][0] = "Popen"


def missing_field(value: Any) -> None:
    value["records"][0][1].pop()


def missing_size(value: Any) -> None:
    value["records"][-1][1][[name for name, _ in decoder.fields("Compilation")].index("sizes")][0].pop()


def swapped(value: Any) -> None:
    value["entry"].reverse()


def not_finite(value: Any) -> None:
    value["scalars"][0] = float("inf")


def doubling(value: Any) -> None:
    start = len(value["scalars"]) + sum(map(len, value["levels"]))
    value["levels"] += [[[start + number - 1] * 2] for number in range(200)]
    value["levels"].append([{"properties": start + 199}])
    schema = [name for name, _ in decoder.fields("Tool")].index("input_schema")
    group = next(columns for name, columns in value["records"] if name == "Tool")
    group[schema][0] = start + 200


def deep(value: Any) -> None:
    start = len(value["scalars"]) + sum(map(len, value["levels"]))
    value["levels"] += [[[start + number - 1]] for number in range(decoder.MAX_LEVELS)]


def many_groups(value: Any) -> None:
    value["records"] = [["ToolLimits", [[], [], []]]] * decoder.MAX_LEVELS + value["records"]


@pytest.mark.parametrize(
    "change",
    [cyclic, forward, unknown_class, missing_field, missing_size, swapped, not_finite, doubling, deep, many_groups],
    ids=lambda change: change.__name__,
)
def test_hostile_content_is_refused(change: Callable[[Any], None]) -> None:
    changed = content()
    assert load(sealed(changed)) == PETSTORE
    change(changed)
    with pytest.raises(InvalidCacheFile):
        load(sealed(changed))


@pytest.mark.slow
def test_long_content_takes_no_more_memory_than_its_own_size_allows() -> None:
    for unit in (b"{},", b"[],", b'"ab",', b"[", b'{"a":'):
        data = sealed(b'{"scalars":[' + unit * (4 * (1 << 20) // len(unit)))
        tracemalloc.start()
        with pytest.raises(InvalidCacheFile):
            load(data)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 200 << 20
