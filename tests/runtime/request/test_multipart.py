"""Multipart bodies: parts, headers and boundaries, byte for byte; werkzeug reads the written fields back."""

from email import message_from_bytes
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.formparser import MultiPartParser

from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.request import multipart
from openapi_mcp.runtime.tool import Encoding, MediaType
from tests.runtime.making import form

FORM = MediaType(content_type="multipart/form-data")
FILE = Encoding(content_type="application/octet-stream", binary=True)
NAMES = st.text(st.sampled_from("ab é日_-[].;="), min_size=1)  # the escaping of others is tested above
TEXT = st.text(st.characters(codec="utf-8"))


def lines(value: Any, media: MediaType) -> list[str]:
    """Return the body as lines of text, with its boundary as `=`."""
    content_type, body = multipart.encode(value, media)
    boundary = content_type.partition("; boundary=")[2]
    return body.decode("utf-8").replace(boundary, "=").split("\r\n")


def parts(value: Any, **encoding: Encoding) -> list[str]:
    """Return the parts between the delimiters: headers and data with `|` for line ends."""
    text = "|".join(lines(value, form("multipart/form-data", **encoding)))
    return [part.strip("|") for part in text.split("--=")[1:-1]]


def test_body_is_parts_between_delimiters() -> None:
    assert lines({"a": "x", "n": 1}, FORM) == [
        "--=",
        'Content-Disposition: form-data; name="a"',
        "Content-Type: text/plain",
        "",
        "x",
        "--=",
        'Content-Disposition: form-data; name="n"',
        "Content-Type: text/plain",
        "",
        "1",
        "--=--",
        "",
    ]


@pytest.mark.parametrize(
    ("value", "encoding", "expected"),
    [
        ("é", Encoding(), ['form-data; name="f"|Content-Type: text/plain; charset=utf-8||é']),
        (True, Encoding(), ['form-data; name="f"|Content-Type: text/plain||true']),
        (["x", "y"], Encoding(), ['form-data; name="f"|Content-Type: text/plain||' + item for item in "xy"]),
        ({"a": 1}, Encoding(), ['form-data; name="f"|Content-Type: application/json||{"a":1}']),
        ([{"a": 1}], Encoding(), ['form-data; name="f"|Content-Type: application/json||{"a":1}']),
        ("v", Encoding(content_type="application/json"), ['form-data; name="f"|Content-Type: application/json||"v"']),
        ("<x/>", Encoding(content_type="application/xml"), ['form-data; name="f"|Content-Type: application/xml||<x/>']),
        ("YQ==", FILE, ['form-data; name="f"; filename="f"|Content-Type: application/octet-stream||a']),
        (
            ["YQ==", "Yg=="],
            Encoding(content_type="image/png", binary=True),
            [f'form-data; name="f"; filename="f"|Content-Type: image/png||{item}' for item in "ab"],
        ),
        (
            "data:image/jpeg;name=c%20d.jpg;base64,YQ==",
            Encoding(content_type="image/png, image/*", binary=True),
            ['form-data; name="f"; filename="c%20d.jpg"|Content-Type: image/jpeg||a'],
        ),
        ("YQ==", Encoding(content_type="image/*", binary=True), [
            'form-data; name="f"; filename="f"|Content-Type: image/png||a'
        ]),
        (["a", "b"], Encoding(style="form"), ['form-data; name="f"|Content-Type: text/plain||a,b']),
        (["a", "é b"], Encoding(style="form", explode=True), [
            'form-data; name="f"|Content-Type: text/plain||a',
            'form-data; name="f"|Content-Type: text/plain; charset=utf-8||é b',
        ]),
        ({"a": {"b": 1}}, Encoding(style="deepObject"), ['form-data; name="f[a][b]"|Content-Type: text/plain||1']),
        ("x", Encoding(headers=(("X-Rate", "5"), ("Content-Type", "ignored"))), [
            'form-data; name="f"|Content-Type: text/plain|X-Rate: 5||x'
        ]),
        ("x", Encoding(headers=(("X-Bad", "a\r\nX-Evil: 1"),)), [
            'form-data; name="f"|Content-Type: text/plain|X-Bad: a  X-Evil: 1||x'
        ]),
        ("x", Encoding(headers=(("content-disposition", "attachment"),)), [
            "Content-Type: text/plain|content-disposition: attachment||x"
        ]),
        (None, Encoding(), []),
        ([], Encoding(), []),
    ],
)  # fmt: skip
def test_part_is_encoded_by_its_encoding_object(value: Any, encoding: Encoding, expected: list[str]) -> None:
    assert [part.replace("Content-Disposition: ", "") for part in parts({"f": value}, f=encoding)] == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("naïve näme", 'name="naïve näme"'),
        ('a"b', 'name="a%22b"'),
        ("a\r\nX-Evil: 1", 'name="a%0D%0AX-Evil: 1"'),
        ("a\\b%20", 'name="a\\b%20"'),
    ],
)
def test_names_are_escaped_like_in_browsers(name: str, expected: str) -> None:
    assert lines({name: "v"}, FORM)[1] == f"Content-Disposition: form-data; {expected}"


def test_array_is_parts_by_position() -> None:
    media = MediaType(
        content_type="multipart/mixed",
        encoding={"1": Encoding(content_type="text/html"), "*": Encoding(content_type="image/*", binary=True)},
    )
    with_meta = MediaType(content_type="multipart/mixed", encoding={**media.encoding, "0": Encoding()})
    text = "|".join(lines([{"a": 1}, "<p>", "YQ=="], with_meta))
    assert text == (
        '--=|Content-Type: application/json||{"a":1}|--=|Content-Type: text/html||<p>|'
        "--=|Content-Type: image/png||a|--=--|"
    )


def test_content_type_keeps_its_parameters_and_gets_a_boundary() -> None:
    content_type, _ = multipart.encode({}, MediaType(content_type='multipart/related; type="text/xml"'))
    assert content_type.startswith('multipart/related; type="text/xml"; boundary=')
    content_type, body = multipart.encode({"a": 1}, MediaType(content_type="multipart/form-data; boundary=mine"))
    assert content_type == "multipart/form-data; boundary=mine"
    assert body.startswith(b"--mine\r\n")
    assert multipart.encode({}, MediaType(content_type="multipart/*"))[0].startswith("multipart/form-data; boundary=")


def test_boundary_occurs_in_no_part() -> None:
    content_type, body = multipart.encode(
        {"a": "--mine--"}, MediaType(content_type="multipart/form-data; boundary=mine")
    )
    assert content_type != "multipart/form-data; boundary=mine"
    assert body.count(content_type.partition("boundary=")[2].encode()) == 2


def test_equal_calls_have_equal_bytes() -> None:
    assert multipart.encode({"a": "x"}, FORM) == multipart.encode({"a": "x"}, FORM)


def test_body_without_parts_is_refused() -> None:
    with pytest.raises(ArgumentError, match="must be an object"):
        multipart.encode("text", FORM)


def test_file_that_is_not_base64_is_refused_by_name() -> None:
    with pytest.raises(ArgumentError, match="`photo`"):
        multipart.encode({"photo": ["YQ==", "?"]}, form("multipart/form-data", photo=FILE))


@given(st.dictionaries(NAMES, st.one_of(TEXT, st.lists(TEXT, min_size=1)), min_size=1))
def test_werkzeug_reads_the_fields_back(fields: dict[str, Any]) -> None:
    content_type, body = multipart.encode(fields, FORM)
    boundary = content_type.partition("boundary=")[2].encode("ascii")
    read, files = MultiPartParser(max_form_memory_size=None).parse(BytesIO(body), boundary, len(body))
    assert not files
    assert {name: read.getlist(name) for name in read} == {
        name: value if isinstance(value, list) else [value] for name, value in fields.items()
    }


def test_part_may_be_multipart_or_a_form() -> None:
    inner = {"a": Encoding(content_type="text/html"), "b": Encoding(content_type="image/png", binary=True)}
    rules = {
        "both": Encoding(content_type="multipart/mixed", encoding=inner),
        "form": Encoding(
            content_type="application/x-www-form-urlencoded", encoding={"t": Encoding(style="pipeDelimited")}
        ),
    }
    value = {"both": {"a": "<p>", "b": "AAE="}, "form": {"t": ["x", "y"], "u": "v w"}}
    content_type, body = multipart.encode(value, MediaType(content_type="multipart/form-data", encoding=rules))
    read: Any = message_from_bytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body).get_payload()
    both, coded = read
    assert [part.get_content_type() for part in both.get_payload()] == ["text/html", "image/png"]
    assert [part.get_payload(decode=True) for part in both.get_payload()] == [b"<p>", b"\0\1"]
    assert (coded.get_content_type(), coded.get_payload(decode=True)) == (rules["form"].content_type, b"t=x%7Cy&u=v+w")


@pytest.mark.parametrize("value", [{"a": [""] * 10_001}, [""] * 10_001])
def test_more_parts_than_servers_take_are_refused(value: Any) -> None:
    with pytest.raises(ArgumentError, match="more than 10,000 parts"):
        multipart.encode(value, FORM)
