"""OAuth clients as options, a settings file and the environment configure them."""

import pytest

from openapi_mcp.compilation import OAuthScheme
from openapi_mcp.errors import UsageError
from openapi_mcp.oauth.clients import OAuthClient, OAuthSettings, parse_clients
from openapi_mcp.oauth.endpoints import AuthorizationServer


def test_settings_of_a_scheme_are_one_client() -> None:
    texts = ["a.b.client-id=one", "a.b.scopes=read, write", "other.client-id=two"]
    assert parse_clients(texts) == {
        "a.b": OAuthClient(client_id="one", scopes=("read", "write")),
        "other": OAuthClient(client_id="two"),
    }


@pytest.mark.parametrize("text", ["client-id=x", "a.b=x", "a.client-id=", "a.client-id", "a.client_secret=hunter2"])
def test_an_unreadable_setting_is_refused_without_its_value(text: str) -> None:
    with pytest.raises(UsageError, match=r"SCHEME\.FIELD=VALUE") as error:
        parse_clients([text])
    assert "hunter2" not in str(error.value)


def test_id_and_secret_come_from_variables_of_the_scheme() -> None:
    environment = {"API_PETS_KEY_CLIENT_ID": "me", "API_PETS_KEY_CLIENT_SECRET": "hush", "OTHER": "own"}
    settings = OAuthSettings("pets.yaml", parse_clients(["named.client-secret=env:OTHER"]))
    assert settings.client("key", "API_PETS_KEY", environment).client_secret == "hush"
    assert settings.client("key", "API_PETS_KEY", environment).client_id == "me"
    assert settings.client("named", "API_PETS_NAMED", environment).client_secret == "own"
    with pytest.raises(UsageError, match="OTHER is not set"):
        settings.client("named", "API_PETS_NAMED", {})


def test_a_configured_url_replaces_that_of_the_document() -> None:
    scheme = OAuthScheme(name="key", token_url="https://a.test/token", scopes=("all",))
    client = OAuthClient(token_url="https://b.test/token", scopes=())
    assert client.endpoints(scheme) == OAuthScheme(name="key", token_url="https://b.test/token")


def test_a_configured_token_endpoint_also_renews_tokens() -> None:
    scheme = OAuthScheme(name="key", token_url="https://a.test/token", refresh_url="https://a.test/refresh")
    assert OAuthClient(token_url="https://b.test/token").endpoints(scheme).refresh_url is None
    assert OAuthClient().endpoints(scheme).refresh_url == "https://a.test/refresh"


def test_urls_of_the_document_that_get_a_secret_are_those_that_the_settings_do_not_replace() -> None:
    scheme = OAuthScheme(
        name="key",
        token_url="https://a.test/token",
        refresh_url="https://a.test/refresh",
        metadata_url="https://a.test/.well-known/openid-configuration",
    )

    def urls(client: OAuthClient) -> list[str]:
        return list(AuthorizationServer(scheme, client).urls_of_document(scheme))

    assert urls(OAuthClient()) == [scheme.metadata_url, scheme.token_url, scheme.refresh_url]
    assert urls(OAuthClient(token_url="https://b.test/token")) == [scheme.metadata_url]
    assert urls(OAuthClient(metadata_url="https://b.test/metadata")) == [scheme.token_url, scheme.refresh_url]


def test_secrets_are_not_in_a_repr() -> None:
    assert "hush" not in repr(OAuthClient(client_id="me", client_secret="hush"))
