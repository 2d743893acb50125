"""`Proxies`: the proxy that httpx itself uses, for every environment and URL."""

import ssl

import httpx
import pytest

from openapi_mcp.runtime.upstream.transport import Proxies

CONTEXT = ssl.create_default_context()
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy")
ENVIRONMENTS: list[dict[str, str]] = [
    {},
    {"http": "http://one.test:1"},
    {"http": "one.test:1", "https": "http://user:pw@two.test:2"},
    {"all": "http://all.test:3"},
    {"all": "http://all.test:3", "http": "http://one.test:1"},
    {"ftp": "http://one.test:1", "socks": "x"},
]
NO_PROXY = [
    "",
    "*",
    "example.com",
    ".example.com",
    "*.example.com",
    "EXAMPLE.com",
    "localhost",
    "localhost,127.0.0.1 , ::1",
    "10.0.0.0/8",
    "example.com:8080",
    "http://example.com",
    "https://",
    "other.test, ,example.com",
]
URLS = [
    "http://example.com",
    "https://example.com",
    "http://www.example.com/path?x=1",
    "http://wwwexample.com",
    "http://example.com:8080",
    "https://example.com:443",
    "http://localhost:5000",
    "http://127.0.0.1:5000",
    "http://[::1]:5000",
    "http://10.0.0.0",
    "http://10.1.2.3",
]


def proxy_of_httpx(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, url: str) -> str | None:
    """Return the proxy that an httpx client uses in this environment, or None."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(f"{name}_proxy", value)
    client = httpx.AsyncClient(verify=CONTEXT)
    chosen = client._transport_for_url(httpx.URL(url))
    if chosen is client._transport:
        return None
    proxy = chosen._pool._proxy_url  # type: ignore[attr-defined]  # httpx has no public access to it
    return f"{proxy.host.decode()}:{proxy.port}"


@pytest.mark.parametrize("exceptions", NO_PROXY)
@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=repr)
def test_proxy_is_the_one_that_httpx_uses(
    environment: dict[str, str], exceptions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxies = Proxies(environment | {"no": exceptions})
    for url in URLS:
        proxy_url = proxies.proxy_for(httpx.URL(url))
        address = None if proxy_url is None else f"{httpx.URL(proxy_url).host}:{httpx.URL(proxy_url).port}"
        assert address == proxy_of_httpx(environment | {"no": exceptions}, monkeypatch, url), url


def test_environment_without_proxies_is_false() -> None:
    assert not Proxies({"no": "example.com"})
    assert not Proxies({"http": "http://one.test", "no": "*"})
    assert Proxies({"http": "http://one.test"})


def test_invalid_no_proxy_entry_is_ignored() -> None:
    assert Proxies({"http": "http://one.test", "no": "a b,[::"}).proxy_for(httpx.URL("http://a")) == "http://one.test"
