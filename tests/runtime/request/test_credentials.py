"""Credentials come from the variables of their schemes or from configured ones; lines say where they are sent."""

import re

import pytest

from openapi_mcp.runtime.errors import RequestError
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.request.credentials import credential_lines, credential_sources, read_credentials
from openapi_mcp.runtime.tool import SecurityScheme
from tests.runtime.making import tool

KEY = SecurityScheme(name="key", type="apiKey", variable="API_X_KEY", location="header", parameter="X-Key")
BASIC = SecurityScheme(name="login", type="http", scheme="basic", variable="API_X_LOGIN")
MTLS = SecurityScheme(name="tls", type="mutualTLS", variable="API_X_TLS")


def test_credential_is_read_from_its_variable_the_named_one_or_the_text() -> None:
    environment = {"API_X_KEY": "own", "OTHER": "env:verbatim"}
    assert read_credentials([KEY, BASIC], {}, environment) == {"key": "own"}
    assert read_credentials([KEY], {"key": "env:OTHER"}, environment) == {"key": "env:verbatim"}
    assert read_credentials([KEY], {"key": "text"}, environment) == {"key": "text"}
    assert credential_sources({"a": "env:OTHER", "b": "text"}) == {"a": "OTHER", "b": "--auth"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Key", "There is no security scheme `Key`; did you mean `key`?"),
        ("none", "There is no security scheme `none`; the schemes are: key, login."),
    ],
)
def test_configured_credential_of_no_scheme_is_an_error(name: str, message: str) -> None:
    with pytest.raises(RequestError, match=re.escape(message)):
        read_credentials([KEY, BASIC], {name: "secret"}, {})


@pytest.mark.parametrize("environment", [{}, {"OTHER": ""}])
def test_unset_named_variable_is_an_error(environment: dict[str, str]) -> None:
    with pytest.raises(RequestError, match="`OTHER`, which is not set"):
        read_credentials([KEY], {"key": "env:OTHER"}, environment | {"API_X_KEY": "own"})


@pytest.mark.parametrize("credential", ["u:p", "u:", "Basic dTpw"])
def test_basic_credential_has_a_colon_or_is_encoded(credential: str) -> None:
    assert read_credentials([BASIC], {}, {"API_X_LOGIN": credential}) == {"login": credential}


def test_basic_credential_without_a_colon_is_an_error_that_does_not_show_it() -> None:
    with pytest.raises(RequestError, match=r"`login` \(`API_X_LOGIN`\) must be `user:password`") as caught:
        read_credentials([BASIC], {}, {"API_X_LOGIN": "hunter2"})
    assert "hunter2" not in str(caught.value)
    with pytest.raises(RequestError, match="`OTHER`"):
        read_credentials([BASIC], {"login": "env:OTHER"}, {"OTHER": "hunter2"})


def test_lines_name_source_and_hosts_of_each_credential() -> None:
    tools = [tool(security=((KEY,),), base_url=f"https://u:p@h{number}.test/v1") for number in (1, 1, 2)]
    tools += [tool(security=((BASIC, MTLS),), base_url=None)]
    options = RequestOptions(credentials={"key": "secret"}, credential_sources={"key": "OTHER"})
    assert list(credential_lines(tools, options)) == [
        "key: set by OTHER; sent to h1.test, h2.test",
        "login: not set; set API_X_LOGIN, which is sent to no host yet: set --base-url",
        "tls: not set; set --client-cert, which is sent to no host yet: set --base-url",
    ]
    elsewhere = RequestOptions(base_url="http://staging.test", credentials={"key": "secret"})
    assert next(credential_lines(tools, elsewhere)) == "key: set by API_X_KEY; sent to staging.test"
