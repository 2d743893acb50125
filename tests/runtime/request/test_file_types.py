"""A file is sent within the media types that the document declares, and never as another type."""

import base64

import pytest

from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.request import file_types, files
from openapi_mcp.runtime.tool import Encoding, MediaType
from tests.runtime.making import form, request, with_body

PNG = b"\x89PNG\r\n\x1a\n..."
PDF = b"%PDF-1.7"
TEXT = b"hello"


def value(data: bytes, named: str = "") -> str:
    encoded = base64.b64encode(data).decode()
    return f"data:{named};base64,{encoded}" if named else encoded


@pytest.mark.parametrize(
    ("declared", "data", "named", "expected"),
    [
        ("image/*", PNG, "", "image/png"),
        ("image/*", b"\xff\xd8\xff\xe0", "", "image/jpeg"),
        ("image/*", TEXT, "", "image/png"),
        ("image/*", TEXT, "image/svg+xml", "image/svg+xml"),
        ("audio/*", b"....ftypM4A ", "", "audio/mp4"),
        ("video/*", b"....ftypisom", "", "video/mp4"),
        ("model/*", TEXT, "", "model/octet-stream"),
        ("*/*", PNG, "", "image/png"),
        ("*/*", TEXT, "", "application/octet-stream"),
        ("application/pdf", PDF, "", "application/pdf"),
        ("application/pdf", TEXT, "", "application/pdf"),
        ("image/jpg", b"\xff\xd8\xff\xe0", "image/jpeg", "image/jpg"),
        ("application/octet-stream", PNG, "image/png", "application/octet-stream"),
        ("application/zip", PDF, "", "application/zip"),
        ("application/vnd.x; v=1", TEXT, "application/vnd.x", "application/vnd.x; v=1"),
        ("application/pdf, image/png", PNG, "", "image/png"),
        ("application/pdf, image/png", TEXT, "", "application/pdf"),
        ("application/pdf, application/octet-stream", PNG, "", "application/octet-stream"),
    ],
)
def test_body_is_sent_within_the_declared_types(declared: str, data: bytes, named: str, expected: str) -> None:
    assert file_types.content_type(files.decode(value(data, named), "f"), declared, "f") == expected


@pytest.mark.parametrize(
    ("declared", "data", "named"),
    [
        ("application/pdf", PNG, ""),
        ("application/pdf", TEXT, "image/png"),
        ("image/*", TEXT, "text/plain"),
        ("image/*", PDF, ""),
        ("image/png, image/jpeg", PNG, "image/gif"),
        ("application/zip", TEXT, "image/png"),
    ],
)
def test_file_of_another_type_is_refused(declared: str, data: bytes, named: str) -> None:
    with pytest.raises(ArgumentError, match="`f` must be a file of the type"):
        file_types.content_type(files.decode(value(data, named), "f"), declared, "f")


def test_type_of_a_path_is_a_guess_that_refuses_nothing() -> None:
    guessed = files.FileContent(TEXT, "text/csv", "a.csv", is_guessed=True)
    assert file_types.content_type(guessed, "application/vnd.ms-excel", "f") == "application/vnd.ms-excel"


def test_body_of_several_binary_types_is_sent_as_the_type_of_the_file() -> None:
    media = [MediaType(content_type=name, binary=True) for name in ("application/pdf", "image/png")]
    assert request(with_body(*media), body=value(PNG)).headers["Content-Type"] == "image/png"
    assert request(with_body(*media), body=value(TEXT, "image/png")).headers["Content-Type"] == "image/png"


@pytest.mark.parametrize(
    ("declared", "named", "expected"),
    [
        ("application/octet-stream", "image/png", b"image/png"),
        ("application/octet-stream", "", b"application/octet-stream"),
        ("image/*", "image/webp", b"image/webp"),
    ],
)
def test_part_keeps_the_type_of_a_data_url(declared: str, named: str, expected: bytes) -> None:
    media = form("multipart/form-data", f=Encoding(content_type=declared, binary=True))
    sent = request(with_body(media), body={"f": value(TEXT, named)})
    assert b"Content-Type: " + expected + b"\r\n" in sent.content
