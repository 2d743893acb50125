"""Certificates for fetching documents: trusted ones, and the client's own, which only the document's origin sees."""

import asyncio
import json
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openapi_mcp.bridge import Bridge
from openapi_mcp.cli.main import app
from openapi_mcp.cli.serve.watcher import changes
from openapi_mcp.config import Config
from openapi_mcp.document.addresses import Certificates
from openapi_mcp.document.loader import load
from openapi_mcp.errors import DocumentError, UsageError
from tests.runtime.certificates import identity
from tests.runtime.echo import Echo, Recorded, answer, echoing

AUTHORITY = identity("the test's authority")
OPERATION = {"operationId": "listPets", "responses": {"200": {"description": "ok"}}}
FILES = {
    "/openapi.json": {
        "openapi": "3.1.0",
        "info": {"title": "T", "version": "1"},
        "servers": [{"url": "/"}],
        "paths": {"/pets": {"$ref": "paths/pets.json"}},
    },
    "/paths/pets.json": {"get": OPERATION},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the certificates of an authority, a server and a client, and return their folder."""
    folder = tmp_path_factory.mktemp("certificates")
    AUTHORITY.write(folder, "ca")
    identity("server", AUTHORITY).write(folder, "server")
    identity("client", AUTHORITY).write(folder, "client")
    return folder


def site(request: Recorded) -> bytes:
    return answer(json.dumps(FILES[request.path]).encode(), "Content-Type: application/json")


@pytest.fixture
def context(files: Path) -> ssl.SSLContext:
    """Return the TLS of a server that requires a client certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=files / "ca.pem")
    context.load_cert_chain(files / "server.pem", files / "server.key")
    context.verify_mode = ssl.CERT_REQUIRED
    return context


@pytest.fixture
def server(context: ssl.SSLContext) -> Iterator[Echo]:
    with echoing(context) as echo:
        echo.respond = site
        yield echo


def certificates(files: Path) -> Certificates:
    return Certificates(files / "ca.pem", files / "client.pem", files / "client.key")


def options(files: Path) -> list[str]:
    names = {"--ca": "ca.pem", "--client-cert": "client.pem", "--client-key": "client.key"}
    return [text for option, name in names.items() for text in (option, str(files / name))]


def test_document_and_its_references_are_fetched_with_the_certificates(server: Echo, files: Path) -> None:
    document = load(f"{server.url}/openapi.json", certificates=certificates(files))
    assert (document.problems, len(document.files)) == ((), 1)
    assert [request.path for request in server.requests] == list(FILES)


def test_certificate_that_is_not_trusted_is_an_error_that_names_the_option(server: Echo) -> None:
    with pytest.raises(DocumentError, match=r"cannot be fetched: .*certificate") as caught:
        load(f"{server.url}/openapi.json")
    assert "--ca" in caught.value.hint
    assert server.requests == []


def test_server_gets_no_request_without_the_client_certificate(server: Echo, files: Path) -> None:
    with pytest.raises(DocumentError, match="cannot be fetched"):
        load(f"{server.url}/openapi.json", certificates=Certificates(files / "ca.pem"))
    assert server.requests == []


def test_unusable_certificate_file_is_a_usage_error(server: Echo, files: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.pem cannot be read") as caught:
        load(f"{server.url}/openapi.json", certificates=Certificates(files / "none.pem"))
    assert "--ca" in caught.value.hint


def test_client_certificate_is_not_shown_to_another_origin(server: Echo, context: ssl.SSLContext, files: Path) -> None:
    with echoing(context) as other:
        other.respond = site
        server.respond = lambda _: answer(b"", f"Location: {other.url}/openapi.json", status="302 Found")
        with pytest.raises(DocumentError):
            load(f"{server.url}/openapi.json", certificates=certificates(files))
    assert (len(server.requests), other.requests) == (1, [])


@pytest.mark.parametrize("command", [["inspect", "--json", "--no-validate"], ["generate"], ["call", "--dry-run"]])
def test_every_command_that_reads_a_document_takes_certificates(
    server: Echo, files: Path, tmp_path: Path, command: list[str]
) -> None:
    arguments = {"generate": [str(tmp_path / "out")], "call": ["listPets"], "inspect": []}[command[0]]
    words = [command[0], f"{server.url}/openapi.json", *arguments, *command[1:]]
    for _ in range(2):  # from the document, then from the cache
        result = CliRunner().invoke(app, [*words, *options(files)])
        assert result.exit_code == 0, result.stderr
    failure = CliRunner().invoke(app, words)
    assert failure.exit_code == 3
    assert "--ca" in failure.stderr


def test_watched_document_is_requested_with_the_certificates(server: Echo, files: Path) -> None:
    paths = {"ca": files / "ca.pem", "client_cert": files / "client.pem", "client_key": files / "client.key"}
    config = Config(source=f"{server.url}/openapi.json", watch=True, watch_interval=0.01, **paths)  # type: ignore[arg-type]
    bridge = Bridge.open(config)
    changed = {"get": OPERATION | {"summary": "new"}}
    server.respond = lambda request: answer(json.dumps(changed).encode()) if "pets" in request.path else site(request)
    _, addresses = changes(bridge)
    asyncio.run(asyncio.wait_for(addresses(), 20))
