"""Files: allowed ones are read; all others are refused without telling what exists on the disk."""

import os
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.request import files
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.tool import Encoding, MediaType
from tests.runtime.making import form, request, with_body

DATA = bytes(range(256))
OCTETS = with_body(MediaType(content_type="application/octet-stream", binary=True))
FILE = Encoding(content_type="application/octet-stream", binary=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder that may be read, beside a secret file."""
    root = tmp_path / "open"
    (root / "inner").mkdir(parents=True)
    (root / "a photo#1.png").write_bytes(DATA)
    (root / "inner" / "b.bin").write_bytes(DATA[::-1])
    (tmp_path / "secret").write_bytes(b"secret")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "good-link").symlink_to(root / "inner" / "b.bin")
    (tmp_path / "open-not").mkdir()
    (tmp_path / "open-not" / "x").write_bytes(b"secret")
    return root


def sent(value: Any, *roots: Path) -> bytes:
    return request(OCTETS, RequestOptions(file_roots=roots), body=value).content


def refusal(value: Any, *roots: Path) -> str:
    with pytest.raises(ArgumentError) as caught:
        sent(value, *roots)
    assert "secret" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", ["a%20photo%231.png", "inner/../a%20photo%231.png", "%61%20photo%231.png"])
def test_file_in_an_allowed_folder_is_sent(folder: Path, name: str) -> None:
    assert sent(f"file://{folder}/{name}", folder) == DATA
    assert sent(f"FILE://localhost{folder}/{name}", folder.parent / "none", folder) == DATA


def test_link_within_the_folders_is_followed(folder: Path) -> None:
    assert sent(f"file://{folder}/good-link", folder) == DATA[::-1]


def test_allowed_folder_may_be_a_link(folder: Path) -> None:
    (folder.parent / "alias").symlink_to(folder)
    assert sent(f"file://{folder.parent}/alias/good-link", folder.parent / "alias") == DATA[::-1]


def test_without_allowed_folders_no_file_is_read(folder: Path) -> None:
    assert "`--allow-files FOLDER`" in refusal(f"file://{folder}/inner/b.bin")


@pytest.mark.parametrize(
    "path",
    ["../secret", "%2e%2e/secret", "link", "../open-not/x", "../nowhere", "inner/../../secret", "/../../etc/passwd"],
)
def test_path_outside_is_refused_whether_it_exists_or_not(folder: Path, path: str) -> None:
    assert refusal(f"file://{folder}/{path}", folder) == (
        f"`body` names a file outside of the folders that this server may read: {folder}."
    )


@pytest.mark.parametrize(
    "url",
    [
        "file:",
        "file:relative/b.bin",
        "file://elsewhere/share/b.bin",
        "file:///a%00b",
        "file:///a?b",
        "file:///a#b",
        "file://[",
    ],
)
def test_invalid_file_url_is_refused(folder: Path, url: str) -> None:
    assert "e.g. `file:///folder/photo.png`" in refusal(url, folder)


def test_missing_irregular_and_large_files_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(folder / "pipe")
    assert "cannot be read: No such file or directory" in refusal(f"file://{folder}/none", folder)
    assert "not a regular file" in refusal(f"file://{folder}/pipe", folder)
    assert "Is a directory" in refusal(f"file://{folder}/inner", folder)
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 255)
    assert "more than 0 MiB" in refusal(f"file://{folder}/good-link", folder)


def test_part_of_a_file_has_its_name_and_type(folder: Path) -> None:
    upload = with_body(form("multipart/form-data", photo=Encoding(binary=True), more=FILE, note=Encoding()))
    url = f"file://{folder}/a%20photo%231.png"
    body = request(
        upload, RequestOptions(file_roots=(folder,)), body={"photo": url, "more": [url, "AAEC"], "note": url}
    ).content
    assert body.count(b'filename="a photo#1.png"') == 2
    assert b'name="photo"; filename="a photo#1.png"\r\nContent-Type: image/png\r\n\r\n' + DATA in body
    assert b"Content-Type: application/octet-stream\r\n\r\n" + DATA in body
    assert b"Content-Type: application/octet-stream\r\n\r\n\0\1\2\r\n" in body
    assert url.encode() in body  # a field that is no file keeps its text


def test_parts_by_position_may_be_files(folder: Path) -> None:
    upload = with_body(MediaType(content_type="multipart/mixed", encoding={"0": Encoding(), "*": FILE}))
    url = f"file://{folder}/good-link"
    body = request(upload, RequestOptions(file_roots=(folder,)), body=[url, url]).content
    assert (body.count(url.encode()), body.count(DATA[::-1])) == (1, 1)


def test_form_field_of_a_file_has_its_bytes(folder: Path) -> None:
    upload = with_body(form(data=FILE))
    (folder / "short").write_bytes(b"a b")
    body = request(upload, RequestOptions(file_roots=(folder,)), body={"data": f"file://{folder}/short"}).content
    assert body == b"data=a+b"


def test_file_url_in_an_ordinary_argument_is_not_read(folder: Path) -> None:
    url = f"file://{folder}/good-link"
    upload = with_body("application/json")
    assert request(upload, RequestOptions(file_roots=(folder,)), body=url).content == f'"{url}"'.encode()
