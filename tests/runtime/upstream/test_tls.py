"""`tls`: trusted certificates and the client's own, against a server that requires a certificate."""

import asyncio
import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from openapi_mcp.runtime.errors import RequestError, UpstreamError
from openapi_mcp.runtime.request.build import RequestOptions, build_request
from openapi_mcp.runtime.tool import SecurityScheme
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.runtime.upstream.retries import Retries
from openapi_mcp.runtime.upstream.tls import tls_context
from tests.runtime.certificates import identity
from tests.runtime.echo import Echo, echoing
from tests.runtime.making import tool

AUTHORITY = identity("the test's authority")
STRANGER = identity("somebody else")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write `ca`, `server`, `client` and `stranger`, each as .pem and .key, and return their folder."""
    folder = tmp_path_factory.mktemp("certificates")
    AUTHORITY.write(folder, "ca")
    STRANGER.write(folder, "stranger")
    identity("server", AUTHORITY).write(folder, "server")
    cert, key = identity("client", AUTHORITY).write(folder, "client")
    (folder / "both.pem").write_bytes(cert.read_bytes() + key.read_bytes())
    identity("locked", AUTHORITY).write(folder, "locked", password=b"secret")
    (folder / "empty.pem").write_text("")
    return folder


@pytest.fixture
def echo(files: Path) -> Iterator[Echo]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=files / "ca.pem")
    context.load_cert_chain(files / "server.pem", files / "server.key")
    context.verify_mode = ssl.CERT_REQUIRED
    with echoing(context) as server:
        yield server


def get(url: str, ca: Path | None = None, cert: Path | None = None, key: Path | None = None) -> httpx.Response:
    async def send() -> httpx.Response:
        upstream = Upstream(ca=ca, client_cert=cert, client_key=key, retries=Retries(attempts=1))
        try:
            return await upstream.send(httpx.Request("GET", url))
        finally:
            await upstream.aclose()

    return asyncio.run(send())


@pytest.mark.parametrize(("cert", "key"), [("client.pem", "client.key"), ("both.pem", None)])
def test_required_client_certificate_is_sent(echo: Echo, files: Path, cert: str, key: str | None) -> None:
    assert get(echo.url, files / "ca.pem", files / cert, files / key if key else None).status_code == 204
    assert len(echo.requests) == 1


@pytest.mark.parametrize("name", [None, "stranger"])
def test_server_gets_no_request_without_a_trusted_client_certificate(echo: Echo, files: Path, name: str | None) -> None:
    cert, key = (files / f"{name}.pem", files / f"{name}.key") if name else (None, None)
    # In TLS 1.3 a server checks after the client has sent its request; its close may overtake its alert.
    with pytest.raises(UpstreamError, match=r"^(No secure|The) connection to 127\.0\.0\.1:\d+(: | broke off)"):
        get(echo.url, files / "ca.pem", cert, key)
    assert echo.requests == []


@pytest.mark.parametrize("ca", [None, "stranger.pem"])
def test_untrusted_server_gets_no_request(echo: Echo, files: Path, ca: str | None) -> None:
    with pytest.raises(UpstreamError, match=r"No secure connection.*`--ca`"):
        get(echo.url, files / ca if ca else None, files / "client.pem", files / "client.key")
    assert echo.requests == []


def test_host_names_and_certificates_are_always_checked(files: Path) -> None:
    context = tls_context(files / "ca.pem", files / "both.pem", None)
    assert isinstance(context, ssl.SSLContext)
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)
    assert tls_context(None, None, None) is True


def test_folder_of_trusted_certificates_is_accepted(files: Path) -> None:
    context = tls_context(files, None, None)
    assert isinstance(context, ssl.SSLContext)
    assert context.get_ca_certs() == []  # a folder is read only during verification


@pytest.mark.parametrize(
    ("ca", "cert", "key", "sentence"),
    [
        (None, None, "client.key", "client.key needs its certificate: set the client certificate too."),
        ("none.pem", None, None, "none.pem cannot be read: No such file or directory."),
        ("empty.pem", None, None, "empty.pem holds none in PEM form."),
        (None, "none.pem", "client.key", "none.pem cannot be read: No such file or directory."),
        (None, "client.pem", "none.key", "none.key cannot be read: No such file or directory."),
        (None, "client.pem", None, "If the key is in another file, set that too."),
        (None, "client.pem", "stranger.key", "stranger.key does not belong to the certificate"),
        (None, "locked.pem", "locked.key", "its unencrypted key in PEM form."),
        (None, "empty.pem", "client.key", "empty.pem and "),
    ],
)
def test_unusable_certificate_file_is_named_at_the_start(
    files: Path, ca: str | None, cert: str | None, key: str | None, sentence: str
) -> None:
    paths = [files / name if name else None for name in (ca, cert, key)]
    with pytest.raises(RequestError) as failure_info:
        Upstream(ca=paths[0], client_cert=paths[1], client_key=paths[2])
    assert sentence in str(failure_info.value)


def test_client_certificate_satisfies_mutual_tls_scheme(echo: Echo, files: Path) -> None:
    mutual = SecurityScheme(name="mtls", type="mutualTLS", variable="API_MTLS")
    bearer = SecurityScheme(name="bearer", type="http", scheme="bearer", variable="API_BEARER")
    api_tool = tool("/x", security=((mutual, bearer),), base_url=echo.url)
    options = RequestOptions(credentials={"bearer": "T"}, client_certificate=True)

    async def send() -> None:
        upstream = Upstream(ca=files / "ca.pem", client_cert=files / "both.pem")
        await upstream.send(build_request(api_tool, {}, options))
        await upstream.aclose()

    asyncio.run(send())
    assert echo.last().one("authorization") == "Bearer T"
