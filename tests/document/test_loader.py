"""Test loading from a path, a URL and stdin, and the errors of sources without a document."""

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from openapi_mcp.document.loader import load
from openapi_mcp.document.model import Document, Limits
from openapi_mcp.document.resolver import Resolver
from openapi_mcp.errors import DocumentError
from tests.servers import running

ROOT = "openapi: 3.0.0\npaths: {/a: {$ref: 'paths/a.yaml#/a'}}\n"
FILE = "a: {get: {operationId: a}}\n"
CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
ROOTS = [
    entry["name"] + "/" + root
    for entry in (json.loads((CORPUS / "manifest.json").read_text()) if CORPUS.is_dir() else [])
    for root in entry["roots"]
]


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, list[Request]]]:
    """Yield the base URL of a server of documents, and the list of the requests that it received."""
    asked: list[Request] = []

    async def answer(request: Request) -> Response:
        asked.append(request)
        path = request.url.path
        port = request.url.port
        answers: dict[str, Response] = {
            "/openapi.yaml": PlainTextResponse(ROOT),
            "/paths/a.yaml": PlainTextResponse(FILE),
            "/moved": RedirectResponse("/openapi.yaml"),
            "/elsewhere": RedirectResponse(f"http://localhost:{port}/openapi.yaml"),
            "/docs": HTMLResponse("<!doctype html><title>API</title>"),
            "/latin": Response(
                "openapi: 3.0.0\ninfo: {title: Prüfung}".encode("latin-1"), media_type="text/yaml; charset=latin-1"
            ),
            "/foreign": PlainTextResponse(
                f"openapi: 3.0.0\npaths: {{/a: {{$ref: 'http://localhost:{port}/paths/a.yaml#/a'}}}}"
            ),
            "/secret": PlainTextResponse("no", 200 if request.headers.get("x-key") == "k" else 401),
        }
        return answers.get(path, PlainTextResponse("nothing here", 404))

    app = Starlette()
    app.add_route("/{path:path}", answer)
    with running(app) as url:
        yield url, asked


def operation(document: Any) -> Any:
    return Resolver(document).follow({"$ref": "#/paths/~1a"}, "#")[0]


def test_a_path_a_url_and_stdin_give_the_same_document(
    server: tuple[str, list[Request]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "paths").mkdir()
    (tmp_path / "openapi.yaml").write_text(ROOT)
    (tmp_path / "paths" / "a.yaml").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    documents = {}
    for source in (
        "openapi.yaml",
        str(tmp_path / "openapi.yaml"),
        (tmp_path / "openapi.yaml").as_uri(),
        server[0] + "/openapi.yaml",
        "-",
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ROOT.encode())))
        documents[source] = load(source)
    assert {json.dumps(document.root) for document in documents.values()} == {json.dumps(documents["-"].root)}
    assert {operation(document)["get"]["operationId"] for document in documents.values()} == {"a"}
    assert {Resolver(document).display("#/x-openapi-mcp-files/0/a") for document in documents.values()} == {
        "paths/a.yaml#/a"
    }
    assert [document.uri for document in documents.values()] == [
        *[(tmp_path / "openapi.yaml").resolve().as_uri()] * 3,
        server[0] + "/openapi.yaml",
        "stdin:",
    ]


def test_the_uri_of_a_redirected_document_is_the_final_one(server: tuple[str, list[Request]]) -> None:
    url, asked = server
    asked.clear()
    document = load(url + "/moved", headers={"X-Key": "k"})
    assert document.uri == url + "/openapi.yaml"
    assert document.problems == ()
    assert [(request.url.path, request.headers.get("x-key")) for request in asked] == [
        ("/moved", "k"),
        ("/openapi.yaml", "k"),
        ("/paths/a.yaml", "k"),
    ]


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("/nothing", "cannot be fetched: 404 Not Found", "check the address"),
        ("/secret", "cannot be fetched: 401 Unauthorized", "--spec-header"),
        ("/paths/a.yaml", "this has no OpenAPI version", "openapi: 3.x"),
    ],
)
def test_a_url_without_a_document_is_an_error(
    server: tuple[str, list[Request]], path: str, message: str, hint: str
) -> None:
    with pytest.raises(DocumentError) as caught:
        load(server[0] + path)
    assert (caught.value.message, caught.value.where) == (message, server[0] + path)
    assert hint in caught.value.hint


def test_a_redirect_to_another_private_host_is_refused(server: tuple[str, list[Request]]) -> None:
    with pytest.raises(DocumentError, match="private address"):
        load(server[0] + "/elsewhere")


@pytest.mark.parametrize(
    ("allow", "message"), [(False, "is on another host, localhost"), (True, "is at a private address, localhost")]
)
def test_a_reference_to_another_private_host_is_a_problem(
    server: tuple[str, list[Request]], allow: bool, message: str
) -> None:
    asked = server[1]
    asked.clear()
    document = load(server[0] + "/foreign", allow_remote_refs=allow)
    assert [request.url.path for request in asked] == ["/foreign"]
    assert [message in problem.message for problem in document.problems] == [True]


def test_the_charset_of_the_response_is_used(server: tuple[str, list[Request]]) -> None:
    assert load(server[0] + "/latin").title == "Prüfung"


def test_a_closed_port_is_an_error() -> None:
    with pytest.raises(DocumentError, match="cannot be fetched"):
        load("http://127.0.0.1:9/openapi.yaml")


@pytest.mark.parametrize(
    ("content", "message", "place"),
    [
        (b"", "this is an empty file, not an OpenAPI document", ""),
        (b"a: [1\nb: 2", "this is not YAML: did not find expected", ", line 2, column 2"),
        (b'{"openapi": ', "this is neither JSON nor YAML: Expecting value", ", line 1, column 13"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "", ""),
    ],
)
def test_a_file_without_a_document_is_an_error_that_names_it(
    tmp_path: Path, content: bytes, message: str, place: str
) -> None:
    path = tmp_path / "openapi.yaml"
    path.write_bytes(content)
    with pytest.raises(DocumentError) as caught:
        load(str(path))
    assert message in caught.value.message
    assert caught.value.where.startswith(str(path) + place)


def test_a_path_without_a_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="this is a folder"):
        load(str(tmp_path))
    with pytest.raises(DocumentError, match="No such file"):
        load(str(tmp_path / "nothing.yaml"))
    with pytest.raises(DocumentError):
        load("\x00")
    with pytest.raises(DocumentError):
        load("http://[")


def test_a_document_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps({"openapi": "3.0.0", "info": {"title": "x" * 100}}))
    with pytest.raises(DocumentError, match="larger than 100 bytes"):
        load(str(path), limits=Limits(file_bytes=100))


@pytest.mark.parametrize(
    "text", ['{"openapi": "3.0.0"}', '{"swagger": "2.0", "paths": null}', "openapi: 3.1.0\ninfo: 5\npaths: [1]"]
)
def test_a_nearly_empty_document_loads(tmp_path: Path, text: str) -> None:
    path = tmp_path / "openapi"
    path.write_text(text)
    document = load(str(path))
    assert (document.problems, document.title, document.api_version) == ((), "", "")


@pytest.mark.corpus
@pytest.mark.timeout(20)  # seconds; the largest takes two
@pytest.mark.parametrize("root", ROOTS or [pytest.param("", marks=pytest.mark.skip(reason=f"{CORPUS} is not there"))])
def test_every_real_document_loads_or_is_refused(root: str) -> None:
    document = outcome(CORPUS / root)
    if isinstance(document, DocumentError):
        assert root.startswith(("js-swagger-parser-invalid/invalid/", "mermade-fail/gluecon/")), document.message
        assert document.hint
    else:
        json.dumps(document.root, allow_nan=False).encode("utf-8")
        assert {problem.kind for problem in document.problems} <= {"reference", "syntax", "version"}


def outcome(path: Path) -> Document | DocumentError:
    try:
        return load(str(path))
    except DocumentError as error:
        return error
