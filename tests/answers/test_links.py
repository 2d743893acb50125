"""Links to next pages: what becomes a request of the API, and what is refused."""

from typing import Any

import httpx
import pytest

from openapi_mcp.answers.links import LinkError, base_path, linked_call
from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.request.build import RequestOptions, build_request
from openapi_mcp.runtime.tool import Argument, Preset, SecurityScheme, Tool
from tests.runtime.making import tool

BASE = "http://api.test/v1"
KEY = SecurityScheme(name="key", type="apiKey", variable="KEY", location="query", parameter="key")
ID = Argument(name="id", location="path", wire_name="id", required=True)
TRACE = Argument(name="X-Trace", location="header", wire_name="X-Trace")
SIZE = Argument(name="size", location="query", wire_name="size", style="form")
TENANT = Preset(argument=Argument(name="tenant", location="query", wire_name="tenant", style="form"), value="acme")
LIST = tool("/pets/{id}/toys", ID, TRACE, SIZE, base_url=BASE, security=((KEY,),), presets=(TENANT,))
OPTIONS = RequestOptions(credentials={"key": "s3cret"})
SENT: dict[str, Any] = {"id": "7", "X-Trace": "t", "size": 5}


def followed(link: str, *, listing: Tool = LIST, sent: dict[str, Any] = SENT) -> httpx.Request:
    """The request for the target of a link in the answer to a call."""
    address = build_request(listing, sent, OPTIONS).url
    call = linked_call(listing, sent, link, address, base_path(listing, address))
    assert call is not None
    return build_request(call[0], call[1], OPTIONS)


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ("?mark=a%2Fb&mark=c", "/pets/7/toys?tenant=acme&mark=a%2Fb&mark=c"),
        ("/v1/pets/7/toys?mark=1&size=5", "/pets/7/toys?tenant=acme&mark=1&size=5"),
        ("http://api.test/v1/more/x%20y/2", "/more/x%20y/2?tenant=acme"),
        ("http://API.test:80/v1/more?tenant=other", "/more?tenant=other"),
        ("/v1/more/{id}/", "/more/%7Bid%7D/?tenant=acme"),
        ("/v1/more?key=stolen", "/more?tenant=acme"),
    ],
)
def test_a_link_becomes_a_request_with_the_credentials_and_presets_of_the_settings(link: str, url: str) -> None:
    request = followed(link)
    assert str(request.url) == f"{BASE}{url}&key=s3cret"
    assert request.headers["X-Trace"] == "t"


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("https://api.test/v1/more", "another host"),
        ("http://api.test:8080/v1/more", "another host"),
        ("//evil.test/v1/more", "another host (evil.test)"),
        ("http://api.test@evil.test/v1/more", "another host (evil.test)"),
        ("javascript:alert(1)", "another host"),
        ("/v2/more", "out of the API's base URL"),
        ("/v1/../admin", "out of the API's base URL"),
        ("/", "out of the API's base URL"),
        ("http://[::1", "not a URL"),
        ("http://api.test:port/v1/x", "not a URL"),
        (f"?{'&'.join(f'a{number}=1' for number in range(200))}", "not a URL"),
    ],
)
def test_a_link_that_leads_away_is_refused(link: str, reason: str) -> None:
    with pytest.raises(LinkError) as caught:
        followed(link)
    assert reason in str(caught.value)


@pytest.mark.parametrize("link", ["/v1/more/%2e%2e/x", "/v1/more/%252e%252e%252fadmin", "/v1/more/..%5cadmin"])
def test_a_path_that_servers_resolve_elsewhere_is_refused(link: str) -> None:
    with pytest.raises((ArgumentError, LinkError)):
        followed(link)


def test_what_arguments_express_needs_no_link() -> None:
    address = build_request(LIST, SENT, OPTIONS).url
    assert linked_call(LIST, SENT, "?size=9", address, base_path(LIST, address)) is None


def test_an_api_behind_a_proxy_may_name_another_host_for_its_arguments() -> None:
    address = build_request(LIST, SENT, OPTIONS).url
    assert linked_call(LIST, SENT, "http://internal:8080/pets/7/toys?size=9", address, base_path(LIST, address)) is None


def test_only_a_get_is_followed() -> None:
    search = tool("/search", method="POST", base_url=BASE)
    address = build_request(search, {}, RequestOptions()).url
    assert linked_call(search, {}, "?mark=1", address, base_path(search, address)) is None


def test_a_link_of_a_linked_page_is_followed_too() -> None:
    address = build_request(LIST, SENT, OPTIONS).url
    base = base_path(LIST, address)
    first = linked_call(LIST, SENT, "/v1/chain/1", address, base)
    assert first is not None
    second = linked_call(LIST, first[1], "/v1/chain/2?size=5", build_request(*first, OPTIONS).url, base)
    assert second is not None
    assert str(build_request(*second, OPTIONS).url) == f"{BASE}/chain/2?tenant=acme&size=5&key=s3cret"
