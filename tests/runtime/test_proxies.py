"""`proxies`: for every environment and URL the proxy that httpx itself would take."""

import ssl

import httpx
import pytest

from openapi_mcp.runtime.proxies import Proxies

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


def of_httpx(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, url: str) -> str | None:
    """What a client of httpx does in this environment."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(f"{name}_proxy", value)
    client = httpx.AsyncClient(verify=CONTEXT)
    chosen = client._transport_for_url(httpx.URL(url))
    if chosen is client._transport:
        return None
    proxy = chosen._pool._proxy_url  # type: ignore[attr-defined]  # httpx does not show where it goes
    return f"{proxy.host.decode()}:{proxy.port}"


@pytest.mark.parametrize("exceptions", NO_PROXY)
@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=repr)
def test_the_proxy_is_the_one_that_httpx_takes(
    environment: dict[str, str], exceptions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxies = Proxies(environment | {"no": exceptions})
    for url in URLS:
        mine = proxies.of(httpx.URL(url))
        shown = None if mine is None else f"{httpx.URL(mine).host}:{httpx.URL(mine).port}"
        assert shown == of_httpx(environment | {"no": exceptions}, monkeypatch, url), url


def test_an_environment_without_proxies_costs_no_look() -> None:
    assert not Proxies({"no": "example.com"})
    assert not Proxies({"http": "http://one.test", "no": "*"})
    assert Proxies({"http": "http://one.test"})


def test_an_exception_that_is_no_host_covers_nothing() -> None:
    assert Proxies({"http": "http://one.test", "no": "a b,[::"}).of(httpx.URL("http://a")) == "http://one.test"
