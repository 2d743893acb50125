"""Options as values: what the command line and a settings file may say, and what they may not."""

from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.config import Config
from openapi_mcp.errors import UsageError
from openapi_mcp.opening import read_settings
from openapi_mcp.runtime.models import SecurityScheme

SETTINGS = """
base-url = "https://api.example.com/v2"
header = ["X-Tenant: 42"]
read-only = true
include = ["tag:pets"]
max-result-bytes = 4096
server-var = { region = "eu" }

[auth]
shopKey = "secret"
"""


def settings(tmp_path: Path, text: str) -> dict[str, Any]:
    file = tmp_path / "openapi-mcp.toml"
    file.write_text(text)
    return read_settings(file)


def test_a_settings_file_says_what_options_say(tmp_path: Path) -> None:
    config = Config.from_options("petstore.yaml", settings(tmp_path, SETTINGS))
    assert config.base_url == "https://api.example.com/v2"
    assert config.headers == (("X-Tenant", "42"),)
    assert config.selection.read_only
    assert config.servers.variables == {"region": "eu"}
    assert config.credentials == {"shopKey": "secret"}
    assert config.max_result_bytes == 4096


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("base-url =", "not TOML"),
        ("base_ulr = 1", "base-ulr is no setting"),
        ("header = true", "header has the wrong type"),
        ("read-only = 'yes'", "read_only has the wrong type"),
    ],
)
def test_a_wrong_settings_file_is_an_error_that_names_the_setting(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        settings(tmp_path, text)


def test_a_settings_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_settings(tmp_path / "nowhere.toml")


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
def test_options_that_cannot_be_read_are_errors_with_a_cure(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        Config.from_options("petstore.yaml", options)
    assert caught.value.hint


def test_a_credential_given_outright_comes_before_the_environment() -> None:
    schemes = [
        SecurityScheme(name="a", type="apiKey", variable="A_KEY", location="header", parameter="X-A"),
        SecurityScheme(name="b", type="apiKey", variable="B_KEY", location="header", parameter="X-B"),
        SecurityScheme(name="c", type="apiKey", variable="C_KEY", location="header", parameter="X-C"),
    ]
    config = Config.from_options("petstore.yaml", {"auth": ["a=given"]})
    options = config.request_options(schemes, {"A_KEY": "from outside", "B_KEY": "found", "C_KEY": ""})
    assert options.credentials == {"a": "given", "b": "found"}


def test_the_way_to_the_api_is_configured(tmp_path: Path) -> None:
    text = "timeout = 5\nconnect-timeout = 1.5\nretries = 0\nclient-cert = 'me.pem'\nallow-files = ['/srv']"
    config = Config.from_options("petstore.yaml", settings(tmp_path, text))
    assert (config.timeout, config.connect_timeout, config.retries) == (5, 1.5, 0)
    assert config.request_options([], {}).client_certificate
    assert config.request_options([], {}).file_roots == (Path("/srv"),)


def test_a_certificate_that_cannot_be_used_is_an_error_with_a_cure(tmp_path: Path) -> None:
    config = Config.from_options("petstore.yaml", {"client_cert": tmp_path / "none.pem"})
    with pytest.raises(UsageError, match=r"none\.pem") as caught:
        config.upstream()
    assert "--client-cert" in caught.value.hint


def test_credentials_do_not_show_in_a_repr() -> None:
    config = Config.from_options("petstore.yaml", {"auth": ["a=hunter2"], "header": ["Authorization: hunter2"]})
    assert "hunter2" not in repr(config)
