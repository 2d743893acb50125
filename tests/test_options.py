"""The table of options: command line, help, settings file, JSON Schema and the fields of Config agree with it."""

import json
import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from openapi_mcp.cli.main import app
from openapi_mcp.cli.settings import HttpSettings
from openapi_mcp.code_mode.limits import CodeLimits
from openapi_mcp.compilation import MAX_INSTRUCTIONS
from openapi_mcp.config import Config
from openapi_mcp.errors import UsageError
from openapi_mcp.generator.package import RUNTIMES
from openapi_mcp.modes import Mode
from openapi_mcp.options.option import GROUPS, Option
from openapi_mcp.options.table import DEFAULTS, OPTIONS, SETTINGS, of_command, settings_schema
from openapi_mcp.runtime.server.server import MAX_RESULT_BYTES
from openapi_mcp.runtime.upstream.client import MAX_RESPONSE_BYTES
from openapi_mcp.settings.file import read_file
from openapi_mcp.token_budget import BUDGET, BYTES_PER_TOKEN
from tests.conftest import ROOT

SCHEMA = ROOT / "specs" / "settings.schema.json"
COMMANDS = (
    *("serve", "inspect", "search", "call", "login", "logout", "generate", "bundle", "cache", "overlay"),
    *("init", "install", "uninstall", "check", "diff"),
)
PARSED = {
    "plugin",
    "set",
    "workflow",
    "overlay",
    "auth_includes",
    "auth_scopes",
    "oauth",
    "spec_header",
    "include",
    "exclude",
    "read_only",
    "server",
    "server_var",
    "header",
    "auth",
    "allow_files",
    "accept_host",
    "egress_allow",
    "egress_only",
    "pin",
}
"""Options whose values `Config.from_options` parses into fields of other names."""

VALUES: list[tuple[str, Any]] = [
    ("base-url", "https://api.example.com"),
    ("base-url", 5),
    ("port", 0),
    ("port", 65536),
    ("port", True),
    ("port", 8000.5),
    ("timeout", 5),
    ("timeout", 0.5),
    ("timeout", -1),
    ("timeout", "5"),
    ("mode", "search"),
    ("mode", "most"),
    ("watch", True),
    ("watch", 1),
    ("ca", "ca.pem"),
    ("header", ["X-A: 1"]),
    ("header", [1]),
    ("header", {"X-A": "1"}),
    ("auth", ["a=b"]),
    ("auth", {"a": "b", "c": 1, "d": 1.5}),
    ("auth", {"a": True}),
    ("max-result-tokens", 255),
    ("unknown", 1),
]


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


def help_of(command: str) -> str:
    return CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "120"}).stdout


def test_published_schema_is_that_of_the_table() -> None:
    assert json.loads(SCHEMA.read_text()) == settings_schema()
    assert json.loads(CliRunner().invoke(app, ["settings-schema"]).stdout) == settings_schema()
    jsonschema.Draft202012Validator.check_schema(settings_schema())


@pytest.mark.parametrize(("name", "value"), VALUES, ids=repr)
def test_settings_file_accepts_what_the_schema_accepts(name: str, value: Any, tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(f"{name} = {toml(value)}\n")
    if jsonschema.Draft202012Validator(settings_schema()).is_valid({name: value}):
        expected = str(tmp_path / value) if name == "ca" else value  # a path is relative to the file
        assert read_file(file).options == {name.replace("-", "_"): expected}
    else:
        with pytest.raises(UsageError, match=name):
            read_file(file)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_each_option_of_the_command_once_under_its_group(command: str) -> None:
    lines = help_of(command).splitlines()
    group, headings, rows = "", [], []
    for line in lines:
        if line.rstrip(":") in GROUPS:
            group = line.rstrip(":")
            headings.append(group)
        rows += [(group, option.name) for option in of_command(command) if line.startswith(f"  {first_word(option)} ")]
    assert headings == [name for name in GROUPS if name in headings]
    assert sorted(rows) == sorted((option.group, option.name) for option in of_command(command))


def first_word(option: Option) -> str:
    """Return the word that the line of an option in the help begins with."""
    if option.group == "Arguments":
        return option.metavar or "|".join(option.choices)
    return (
        option.flags[0].split("/")[0].rstrip(",") + "," * (len(option.flags) > 1)
        if option.flags
        else f"--{option.setting}"
    )


def test_help_states_default_range_variable_and_repetition() -> None:
    text = " ".join(help_of("serve").split())
    assert "--port PORT Port to listen on; 0 takes a free one. [default: 8000; from 0 to 65535]" in text
    assert (
        "--timeout SECONDS Seconds to wait for the next byte of the API's response. [default: 60; at least 0]" in text
    )
    assert "[env var: OPENAPI_MCP_AUTH_TOKEN]" in text
    assert (
        "--include RULE Only these operations: tag:pets, path:/pets/*, method:get or id:listPets. May be repeated."
        in text
    )
    assert "Examples: openapi-mcp serve petstore.yaml" in text


def examples_of(command: str) -> list[list[str]]:
    """Return the words of each example at the end of a command's help, without a pipe or a redirection."""
    lines = [line.strip() for line in help_of(command).partition("Examples:")[2].splitlines()]
    commands = [line[line.index("openapi-mcp ") :] for line in lines if "openapi-mcp " in line.partition(";")[0]]
    return [shlex.split(re.split(r" (?:\||>>?) ", line)[0])[1:] for line in commands]


@pytest.mark.parametrize("command", sorted(get_command(app).commands))  # type: ignore[attr-defined]  # it is a group
def test_help_of_each_command_ends_with_examples_that_it_reads(command: str) -> None:
    examples = examples_of(command)
    assert command in {name for name, *_ in examples}
    for name, *words in examples:
        get_command(app).commands[name].make_context(name, words)  # type: ignore[attr-defined]


def test_examples_of_calls_fit_the_pet_store() -> None:
    for name, spec, *words in examples_of("call"):
        run = CliRunner().invoke(app, [name, str(ROOT / "specs" / spec), *words, "--dry-run"])
        assert run.exit_code == 0, run.output


def test_every_setting_is_read() -> None:
    config = {field.name for field in fields(Config)} | PARSED
    http = {field.name for field in fields(HttpSettings)}
    assert {name for name, option in SETTINGS.items() if option.to == "config"} <= config
    assert {name for name, option in SETTINGS.items() if option.to == "http"} == http


def test_defaults_of_the_table_are_those_of_the_program() -> None:
    config, http = Config(source="-"), HttpSettings()
    for name, default in DEFAULTS.items():
        values = [getattr(values, name) for values in (config, http) if hasattr(values, name)]
        assert all(value == (() if default is None and value == () else default) for value in values), name
    assert DEFAULTS["max_result_tokens"] * BYTES_PER_TOKEN == MAX_RESULT_BYTES
    assert DEFAULTS["max_response_size"] * 1024 * 1024 == MAX_RESPONSE_BYTES
    assert DEFAULTS["max_instructions"] == MAX_INSTRUCTIONS
    assert (DEFAULTS["code_timeout"], DEFAULTS["code_calls"]) == (CodeLimits().seconds, CodeLimits().calls)
    assert SETTINGS["budget"].default_text == str(BUDGET)


def test_choices_of_the_table_are_those_of_the_program() -> None:
    choices = {option.name: option.choices for option in OPTIONS if option.choices}
    assert choices["mode"] == tuple(Mode)
    assert choices["runtime"] == tuple(RUNTIMES)


def test_every_command_of_the_table_exists() -> None:
    assert {command for option in OPTIONS for command in option.commands} == set(COMMANDS)
    names = [(command, option.name) for option in OPTIONS for command in option.commands]
    assert len(names) == len(set(names))
