"""Options as values: valid and invalid ones, from the command line and from a settings file."""

from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.config import Config
from openapi_mcp.errors import UsageError
from openapi_mcp.runtime.tool import SecurityScheme
from openapi_mcp.settings.file import read_file

SETTINGS = """
base-url = "https://api.example.com/v2"
header = ["X-Tenant: 42"]
read-only = true
include = ["tag:pets"]
max-result-tokens = 4096
server-var = { region = "eu" }

[auth]
shopKey = "secret"
"""


def settings(tmp_path: Path, text: str) -> dict[str, Any]:
    file = tmp_path / "openapi-mcp.toml"
    file.write_text(text)
    return dict(read_file(file).options)


def test_settings_file_holds_options(tmp_path: Path) -> None:
    config = Config.from_options("petstore.yaml", settings(tmp_path, SETTINGS))
    assert config.base_url == "https://api.example.com/v2"
    assert config.headers == (("X-Tenant", "42"),)
    assert config.selection.read_only
    assert config.servers.variables == {"region": "eu"}
    assert config.credentials == {"shopKey": "secret"}
    assert config.max_result_tokens == 4096


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("base-url =", "not TOML"),
        ("base_ulr = 1", "unknown setting: base-ulr"),
        ("base-url = 5", "base-url must be a string"),
        ("auth = 'a=b'", "auth must be a list of strings or a table"),
        ("port = true", "port must be an integer from 0 to 65535"),
        ("port = 65536", "port must be an integer from 0 to 65535"),
        ("retries = -1", "retries must be an integer at least 0"),
        ("mode = 'most'", "mode must be one of all, search, code, auto"),
        ("header = true", "header must be a list of strings"),
        ("read-only = 'yes'", "read-only must be true or false"),
    ],
)
def test_invalid_settings_file_is_an_error_that_names_the_setting(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        settings(tmp_path, text)


def test_texts_of_the_settings_file_name_environment_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENANT", "acme")
    text = """
    base-url = "https://${TENANT}.example.com/$$1/$x/$$${TENANT}"
    header = ["X-Tenant: ${TENANT}"]
    auth = {key = "${TENANT}-$${TENANT}"}
    """
    values = settings(tmp_path, text)
    assert values["base_url"] == "https://acme.example.com/$1/$x/$acme"
    assert values["header"] == ["X-Tenant: acme"]
    assert values["auth"] == {"key": "acme-${TENANT}"}


@pytest.mark.parametrize(
    "value", ['"https://${NOBODY_SET_THIS}"', '["a: ${NOBODY_SET_THIS}"]', '{a = "${NOBODY_SET_THIS}"}']
)
def test_unset_variable_of_the_settings_file_is_an_error(tmp_path: Path, value: str) -> None:
    with pytest.raises(UsageError, match="the environment variable NOBODY_SET_THIS is not set") as caught:
        settings(tmp_path, f"server-var = {value}")
    assert caught.value.where.endswith("openapi-mcp.toml, line 1, server-var")
    assert "$${NOBODY_SET_THIS}" in caught.value.hint


@pytest.mark.parametrize("value", ["${hunter 2}", "${", "${}", "${1}"])
def test_dollar_and_brace_without_a_name_is_an_error_that_shows_no_secret(tmp_path: Path, value: str) -> None:
    with pytest.raises(UsageError, match="must begin the name of an environment variable") as caught:
        settings(tmp_path, f"auth = ['key={value}']")
    assert "hunter" not in f"{caught.value.message} {caught.value.where}"


def test_missing_settings_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the settings file"):
        read_file(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    "options",
    [
        {"header": ["no colon"]},
        {"header": ["X-A: b\r\nX-B: c"]},
        {"auth": ["no equals sign"]},
        {"auth": ["=nobody"]},
        {"server_var": ["region"]},
        {"include": ["planet:mars"]},
    ],
)
def test_invalid_options_are_errors_with_a_hint(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        Config.from_options("petstore.yaml", options)
    assert caught.value.hint


def test_credential_of_an_option_overrides_the_environment() -> None:
    schemes = [
        SecurityScheme(name="a", type="apiKey", variable="A_KEY", location="header", parameter="X-A"),
        SecurityScheme(name="b", type="apiKey", variable="B_KEY", location="header", parameter="X-B"),
        SecurityScheme(name="c", type="apiKey", variable="C_KEY", location="header", parameter="X-C"),
    ]
    config = Config.from_options("petstore.yaml", {"auth": ["a=option"]})
    options = config.request_options(schemes, {"A_KEY": "variable", "B_KEY": "variable", "C_KEY": ""})
    assert options.credentials == {"a": "option", "b": "variable"}


def test_credential_is_read_from_the_named_variable(tmp_path: Path) -> None:
    schemes = [SecurityScheme(name="a", type="apiKey", variable="API_X_A", location="header", parameter="X-A")]
    environment = {"API_X_A": "own", "OTHER": "env:verbatim"}
    for options in ({"auth": ["a=env:OTHER"]}, settings(tmp_path, '[auth]\na = "env:OTHER"')):
        config = Config.from_options("petstore.yaml", options)
        assert config.request_options(schemes, environment).credentials == {"a": "env:verbatim"}
        with pytest.raises(UsageError, match="`OTHER`, which is not set"):
            config.request_options(schemes, {"API_X_A": "own"})


def test_options_of_requests_are_configured(tmp_path: Path) -> None:
    text = "timeout = 5\nconnect-timeout = 1.5\nretries = 0\nclient-cert = 'me.pem'\nallow-files = ['/srv']"
    config = Config.from_options("petstore.yaml", settings(tmp_path, text))
    assert (config.timeout, config.connect_timeout, config.retries) == (5, 1.5, 0)
    assert config.request_options([], {}).client_certificate
    assert config.request_options([], {}).file_roots == (Path("/srv"),)


def test_calls_have_a_limit_of_time_and_hosts_of_redirects_are_configured(tmp_path: Path) -> None:
    config = Config.from_options("petstore.yaml", {})
    assert (config.upstream().total_timeout, config.upstream().max_bytes) == (55, 16 * 1024 * 1024)
    assert config.follow_redirects_to == ()
    hosts = "['files.example.com', '*.example.org:8443', '[::1]:80']"
    text = f"total-timeout = 0\nmax-response-size = 64\nfollow-redirects-to = {hosts}"
    config = Config.from_options("petstore.yaml", settings(tmp_path, text))
    assert (config.upstream().total_timeout, config.upstream().max_bytes) == (None, 64 * 1024 * 1024)
    assert config.follow_redirects_to == ("files.example.com", "*.example.org:8443", "[::1]:80")


@pytest.mark.parametrize("host", ["", "https://example.com", "example.com/x", "user@example.com", "*", "a b", "a:x"])
def test_host_of_redirects_is_no_url(host: str) -> None:
    with pytest.raises(UsageError, match="not a host") as caught:
        Config.from_options("petstore.yaml", {"follow_redirects_to": [host]})
    assert caught.value.where == "--follow-redirects-to"


def test_unusable_certificate_is_an_error_with_a_hint(tmp_path: Path) -> None:
    config = Config.from_options("petstore.yaml", {"client_cert": tmp_path / "none.pem"})
    with pytest.raises(UsageError, match=r"none\.pem") as caught:
        config.upstream()
    assert "--client-cert" in caught.value.hint


def test_credentials_are_not_in_a_repr() -> None:
    config = Config.from_options("petstore.yaml", {"auth": ["a=hunter2"], "header": ["Authorization: hunter2"]})
    assert "hunter2" not in repr(config)


@pytest.mark.parametrize(
    "options",
    [
        {"header": ["Bearer canary"]},
        {"header": ["Bearer canary: x"]},
        {"header": ["X-Key: canary\nX: y"]},
        {"spec_header": ["canary"]},
        {"spec_header": ["X-Key: \x01canary"]},
        {"auth": ["canary"]},
        {"auth": ["canary=="]},
        {"auth": ["=canary"]},
        {"base_url": ["user:canary@api.example.com"]},
        {"base_url": ["https://user:canary@h:port/v1"]},
    ],
)
def test_errors_show_nothing_of_a_secret(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        Config.from_options("petstore.yaml", options)
    assert "canary" not in f"{caught.value} {caught.value.where} {caught.value.hint}"


def test_repr_has_no_secret() -> None:
    secrets = {"header": ["X-Key: canary"], "spec_header": ["X-Key: canary"], "auth": ["key=canary"]}
    for base_url in ("https://user:canary@a", "https://a=https://user:canary@b"):
        config = Config.from_options("https://user:canary@h/?sig=canary", secrets | {"base_url": [base_url]})
        assert "canary" not in repr((config, config.compile_options.headers and config.request_options([], {})))
