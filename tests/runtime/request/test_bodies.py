"""Bodies: their media types, arguments and bytes; no body without arguments."""

import base64
import json
from typing import Any
from urllib.parse import unquote_plus

import pytest

from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.tool import Argument, Encoding, MediaType, RequestBody, Tool, XmlDocument, XmlNode
from tests.runtime.making import BODY, CHOICE, form, request, tool, with_body

A = Argument(name="a", location="body", wire_name="a")
B = Argument(name="query_b", location="body", wire_name="b!")
BYTES = bytes(range(256))
BASE64 = base64.b64encode(BYTES).decode()
OCTETS = MediaType(content_type="application/octet-stream", binary=True)


def encode(body_tool: Tool, **arguments: Any) -> tuple[str | None, bytes]:
    sent_request = request(body_tool, **arguments)
    return sent_request.headers.get("content-type"), sent_request.content


@pytest.mark.parametrize(
    ("content_type", "value", "sent_type", "content"),
    [
        ("application/json", {"a": [1, None, "é"]}, None, '{"a":[1,null,"é"]}'),
        ("application/json", "hi", None, '"hi"'),
        ("application/json", None, None, "null"),
        ("application/json", 9007199254740993, None, "9007199254740993"),
        ("application/json", [], None, "[]"),
        ("application/json", "\ud800", None, '"\\ud800"'),
        ("application/json; charset=utf-8", {}, None, "{}"),
        ("application/vnd.api+json;version=1", {}, None, "{}"),
        ("application/merge-patch+json", {"a": None}, None, '{"a":null}'),
        ("*/*", {"a": 1}, "application/json", '{"a":1}'),
        ("application/*", {"a": 1}, "application/json", '{"a":1}'),
        ("application/jsonl", [{"n": 1}, {"n": 2}], None, '{"n":1}\n{"n":2}\n'),
        ("application/x-ndjson", {"n": 1}, None, '{"n":1}\n'),
        ("application/json-seq", [1, "a"], None, '\x1e1\n\x1e"a"\n'),
        ("application/geo+json-seq", [1], None, "\x1e1\n"),
        ("text/event-stream", [{"event": "e", "id": 1, "data": "a\nb"}], None, "event: e\nid: 1\ndata: a\ndata: b\n\n"),
        ("text/event-stream", {"n": None}, None, 'data: {"n":null}\n\n'),
        (
            "text/event-stream",
            [{"comment": "hi"}, "a\x85b\r\nc", 5],
            None,
            ": hi\n\ndata: a\x85b\ndata: c\n\ndata: 5\n\n",
        ),
        ("text/event-stream", "data: x\n\n", None, "data: x\n\n"),
        ("text/plain", "héllo", None, "héllo"),
        ("text/plain", "", None, ""),
        ("text/plain", 5.0, None, "5"),
        ("text/plain", True, None, "true"),
        ("text/*", "x", "text/plain", "x"),
        ("text/csv", "a,b\r\n1,2", None, "a,b\r\n1,2"),
        ("application/graphql", "{ a }", None, "{ a }"),
        ("application/yaml", {"a": 1}, None, '{"a":1}'),
        ("application/xml", "<a>1</a>", None, "<a>1</a>"),
        ("application/x-www-form-urlencoded", "a=1&b=2", None, "a=1&b=2"),
    ],
)
def test_body_is_encoded_by_its_media_type(content_type: str, value: Any, sent_type: str | None, content: str) -> None:
    assert encode(with_body(content_type), body=value) == (sent_type or content_type, content.encode())


@pytest.mark.parametrize(
    ("content_type", "value", "content"),
    [
        ("text/plain; charset=iso-8859-1", "é", b"\xe9"),
        ('text/plain; charset="utf-16-le"', "é", b"\xe9\x00"),
        ("text/plain; charset=nonsense", "é", b"\xc3\xa9"),
    ],
)
def test_text_is_encoded_in_its_charset(content_type: str, value: str, content: bytes) -> None:
    assert encode(with_body(content_type), body=value) == (content_type, content)


def test_characters_outside_of_the_charset_are_refused() -> None:
    with pytest.raises(ArgumentError, match="iso-8859-1"):
        encode(with_body("text/plain; charset=iso-8859-1"), body="✓")


@pytest.mark.parametrize(
    ("content_type", "value", "sent_type", "content"),
    [
        ("application/octet-stream", BASE64, "application/octet-stream", BYTES),
        ("image/png", "iVBORw", "image/png", b"\x89PNG"),
        ("image/png", " iVBO\nRw== ", "image/png", b"\x89PNG"),
        ("application/octet-stream", "-_8=", "application/octet-stream", b"\xfb\xff"),
        ("application/octet-stream", "", "application/octet-stream", b""),
        ("*/*", "AAEC", "application/octet-stream", b"\0\1\2"),
        ("image/*", "data:image/jpeg;base64,AAEC", "image/jpeg", b"\0\1\2"),
        ("application/pdf", "data:,a%20b%00", "application/pdf", b"a b\0"),
    ],
)
def test_binary_body_is_decoded_base64(content_type: str, value: str, sent_type: str, content: bytes) -> None:
    body_tool = with_body(MediaType(content_type=content_type, binary=True))
    assert encode(body_tool, body=value) == (sent_type, content)


@pytest.mark.parametrize(
    "value", ["not base64!", "A", "é", "data:image/png;base64", "data:;base64,%%", 5, None, {"a": 1}]
)
def test_invalid_base64_is_refused_by_argument_name(value: Any) -> None:
    with pytest.raises(ArgumentError, match="`body`"):
        encode(with_body(OCTETS), body=value)


def test_optional_body_without_arguments_is_omitted() -> None:
    assert encode(with_body("application/json")) == (None, b"")
    assert encode(with_body("application/json", arguments=(A, B))) == (None, b"")
    assert encode(with_body("application/json", arguments=(A, CHOICE)), content_type="application/json") == (None, b"")
    assert request(with_body("application/json")).headers["content-length"] == "0"


def test_required_body_without_arguments_is_an_empty_object() -> None:
    assert encode(with_body("application/json", required=True, arguments=(A,))) == ("application/json", b"{}")
    content_type, content = encode(with_body(form(), required=True, arguments=(A,)))
    assert (content_type, content) == ("application/x-www-form-urlencoded", b"")


def test_properties_have_the_names_and_order_of_the_document() -> None:
    body_tool = with_body("application/json", arguments=(A, B))
    assert encode(body_tool, query_b=None, a=1) == ("application/json", b'{"a":1,"b!":null}')


def test_undeclared_argument_is_a_property_of_the_body() -> None:
    query = Argument(name="q", location="query", style="form")
    body_tool = with_body("application/json", arguments=(A, query))
    sent_request = request(body_tool, more={"x": 1}, a=1, q=2)
    assert json.loads(sent_request.content) == {"a": 1, "more": {"x": 1}}
    assert sent_request.url.query == b"q=2"


@pytest.mark.parametrize(
    ("choice", "content_type", "content"),
    [
        (None, "application/json", b'{"a":"x"}'),
        ("application/json", "application/json", b'{"a":"x"}'),
        ("application/x-www-form-urlencoded", "application/x-www-form-urlencoded", b"a=x"),
    ],
)
def test_first_media_type_is_sent_unless_another_is_selected(
    choice: str | None, content_type: str, content: bytes
) -> None:
    body_tool = with_body("application/json", form(), arguments=(BODY, CHOICE))
    arguments = {"body": {"a": "x"}} | ({"content_type": choice} if choice else {})
    assert encode(body_tool, **arguments) == (content_type, content)


def test_unknown_media_type_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ArgumentError, match=r"`content_type` must be one of `application/json`, `text/plain`"):
        encode(with_body("application/json", "text/plain", arguments=(BODY, CHOICE)), body=1, content_type="x/y")


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "OPTIONS", "QUERY", "PUT", "PATCH", "LINK"])
def test_any_method_may_have_a_body(method: str) -> None:
    body_tool = tool(
        "/x", BODY, method=method, body=RequestBody(media_types=(MediaType(content_type="application/json"),))
    )
    sent_request = request(body_tool, body=[1])
    assert (sent_request.method, sent_request.content, sent_request.headers["content-length"]) == (method, b"[1]", "3")


PET = XmlDocument(
    root=XmlNode(node_type="none", ref="Pet"),
    definitions={"Pet": XmlNode(name="pet", properties={"id": XmlNode(node_type="attribute"), "name": XmlNode()})},
)


@pytest.mark.parametrize(
    ("xml", "value", "content"),
    [
        (PET, {"name": "Tom & Co", "id": 7}, '<pet id="7"><name>Tom &amp; Co</name></pet>'),
        (PET, '  <pet id="8"/>', '  <pet id="8"/>'),
        (PET, '\ufeff<?xml version="1.0"?><pet/>', '\ufeff<?xml version="1.0"?><pet/>'),
        (PET, "text", "<pet>text</pet>"),
        (None, {"a": [1, 2]}, "<root><a>1</a><a>2</a></root>"),
        (None, [{"a": 1}], "<root><item><a>1</a></item></root>"),
        (None, "<a>1</a>", "<a>1</a>"),
        (None, "text", "text"),
        (None, 5, "5"),
    ],
)
@pytest.mark.parametrize("content_type", ["application/xml", "text/xml; charset=utf-8", "application/soap+xml"])
def test_xml_body_is_built_unless_it_is_xml_text(
    content_type: str, xml: XmlDocument | None, value: Any, content: str
) -> None:
    body_tool = with_body(MediaType(content_type=content_type, xml=xml))
    assert encode(body_tool, body=value) == (content_type, content.encode())


def test_xml_is_built_from_property_arguments() -> None:
    body_tool = with_body(MediaType(content_type="application/xml", xml=PET), arguments=(A, B, CHOICE))
    assert encode(body_tool, a=1, id=2) == ("application/xml", b'<pet id="2"><a>1</a></pet>')


def test_xml_is_encoded_in_its_charset() -> None:
    body_tool = with_body(MediaType(content_type="application/xml; charset=iso-8859-1", xml=PET))
    assert encode(body_tool, body={"name": "é"})[1] == b"<pet><name>\xe9</name></pet>"


@pytest.mark.parametrize("value", [{"a b": 1}, {"name": "\x00"}, {"name": "\ud800"}, {"x><y": 1}])
def test_names_and_characters_not_allowed_in_xml_are_refused(value: Any) -> None:
    with pytest.raises(ArgumentError):
        encode(with_body(MediaType(content_type="application/xml", xml=PET)), body=value)


def test_xml_nested_too_deeply_is_refused() -> None:
    value: Any = 1
    for _ in range(10_000):
        value = {"a": value}
    with pytest.raises(ArgumentError, match="nested too deeply"):
        encode(with_body(MediaType(content_type="application/xml", xml=PET)), body=value)


@pytest.mark.parametrize("content_type", ["multipart/form-data", "application/x-www-form-urlencoded"])
def test_xml_property_is_built(content_type: str) -> None:
    body_tool = with_body(form(content_type, pet=Encoding(content_type="application/xml", xml=PET)))
    content = unquote_plus(encode(body_tool, body={"pet": {"id": 7}})[1].decode())
    assert '<pet id="7"></pet>' in content


@pytest.mark.parametrize(
    ("value", "sent_request"),
    [
        ({"a": 1}, "application/json"),
        ([{"op": "add"}], "application/json-patch+json"),
        ("hi", "text/plain"),
        (5, "text/csv"),
        (5.5, "application/json"),
        (None, "application/json"),
        (True, "application/json"),
    ],
)
def test_first_media_type_that_accepts_the_value_is_sent(value: Any, sent_request: str) -> None:
    kinds = {"application/json": "object", "application/json-patch+json": "array", "text/plain": "string"}
    media = [MediaType(content_type=name, takes=(kind,)) for name, kind in (kinds | {"text/csv": "integer"}).items()]
    body_tool = tool("/x", BODY, CHOICE, method="POST", body=RequestBody(media_types=tuple(media)))
    assert encode(body_tool, body=value)[0] == sent_request
    assert encode(body_tool, body=value, content_type="text/plain")[0] == "text/plain"


@pytest.mark.parametrize(
    ("value", "sent_request"),
    [
        ({"url": "https://example.com/a.mp3"}, "application/json"),
        ({"url": "u", "media": "m"}, "application/json"),
        ({"media": "m"}, "multipart/form-data"),
        ({"note": "lacks both"}, "application/json"),
        ("text", "application/json"),
    ],
)
def test_first_media_type_whose_required_properties_are_there_is_sent(value: Any, sent_request: str) -> None:
    names = {"application/json": "url", "multipart/form-data": "media"}
    media = [MediaType(content_type=kind, requires=(name,)) for kind, name in names.items()]
    body_tool = tool("/x", BODY, method="POST", body=RequestBody(media_types=tuple(media)))
    assert (encode(body_tool, body=value)[0] or "").partition(";")[0] == sent_request
