"""OAuth endpoints and scopes as a document states them, well or badly."""

from typing import Any

import pytest

from openapi_mcp.compilation import OAuthScheme
from openapi_mcp.oauth.schemes import oauth_schemes
from tests.compiling import document


def schemes(nodes: Any, **root: Any) -> tuple[OAuthScheme, ...]:
    paths = root.pop("paths", {})
    return oauth_schemes(document(paths, version="3.1", components={"securitySchemes": nodes}, **root))


def test_endpoints_are_those_of_the_first_flow_that_has_one() -> None:
    flows = {
        "clientCredentials": {"tokenUrl": "https://a.test/token", "scopes": {}},
        "authorizationCode": {"authorizationUrl": "https://a.test/auth", "tokenUrl": "https://a.test/2"},
        "deviceAuthorization": {"deviceAuthorizationUrl": "https://a.test/device"},
    }
    assert schemes({"key": {"type": "oauth2", "flows": flows}}) == (
        OAuthScheme(
            name="key",
            flows=tuple(flows),
            token_url="https://a.test/token",
            authorization_url="https://a.test/auth",
            device_url="https://a.test/device",
        ),
    )


def test_scopes_are_those_that_operations_demand() -> None:
    operation = {"security": [{"key": ["write", "read"]}, {"other": ["none"]}], "responses": {}}
    (scheme,) = schemes(
        {"key": {"type": "oauth2", "flows": {}}}, security=[{"key": ["read"]}], paths={"/pets": {"post": operation}}
    )
    assert scheme.scopes == ("read", "write")


def test_openid_connect_has_a_metadata_url() -> None:
    url = "https://a.test/.well-known/openid-configuration"
    (scheme,) = schemes({"key": {"type": "openIdConnect", "openIdConnectUrl": url}})
    assert (scheme.metadata_url, scheme.flows) == (url, ())


@pytest.mark.parametrize("node", [None, [], {"type": "http"}, {"type": ["oauth2"]}, "oauth2"])
def test_other_schemes_and_broken_ones_are_none(node: Any) -> None:
    assert schemes({"key": node}) == ()


@pytest.mark.parametrize("url", [7, "", "ftp://a.test/token", "http://[", None, {"x": 1}])
def test_a_broken_url_counts_as_absent(url: Any) -> None:
    (scheme,) = schemes({"key": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": url}, "x": 3}}})
    assert scheme.token_url is None


@pytest.mark.parametrize("nodes", [None, [], "x", 3])
def test_a_document_without_schemes_has_none(nodes: Any) -> None:
    assert schemes(nodes) == ()


def test_a_scheme_may_be_a_reference() -> None:
    real = {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://a.test/token"}}}
    nodes = {"key": {"$ref": "#/components/x/real"}, "lost": {"$ref": "#/nowhere"}}
    components = {"securitySchemes": nodes, "x": {"real": real}}
    (scheme,) = oauth_schemes(document({}, version="3.1", components=components))
    assert (scheme.name, scheme.token_url) == ("key", "https://a.test/token")
