"""The one table of options: name, type, help, default, range, group, commands, and where the value goes.

The command line, its help, the settings file and the JSON Schema of the settings file are all made from it, so that a
new option is one entry in `commands`, `api` or `server` and the code that reads its value. Data only: nothing of the
program is imported.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

from .api import API_OPTIONS
from .check import CHECK_OPTIONS
from .commands import COMMAND_OPTIONS
from .option import Option
from .server import SERVER_OPTIONS

OPTIONS: Final = (*COMMAND_OPTIONS, *CHECK_OPTIONS, *API_OPTIONS, *SERVER_OPTIONS)
"""Every option, in the order of `--help`."""

SETTINGS: Final[Mapping[str, Option]] = {option.name: option for option in OPTIONS if option.to != "command"}
"""The options that a settings file may hold, by name."""

DEFAULTS: Final[Mapping[str, Any]] = {name: option.default for name, option in SETTINGS.items()}


def of_command(command: str) -> tuple[Option, ...]:
    """Return the options and arguments of a command, arguments first."""
    own = {option.name for option in OPTIONS if command in option.commands}
    return tuple(option for option in OPTIONS if command in option.commands or _is_passed_on(option, command, own))


def _is_passed_on(option: Option, command: str, own: Collection[str]) -> bool:
    """Return whether `install` writes an option of `serve` into the command that a client starts."""
    is_served = "serve" in option.commands and option.to == "config"
    return command == "install" and is_served and option.name not in own


API_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}"
"""The name of an API in a settings file. It begins the names of tools, which have 64 characters at most."""


def settings_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the settings file, as it is published in `specs/settings.schema.json`."""
    properties: dict[str, Any] = {option.setting: option.schema() for option in SETTINGS.values()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of openapi-mcp",
        "description": "openapi-mcp.toml, [tool.openapi-mcp] of pyproject.toml, or the TOML file of --config: options "
        "of the command line by name. ${NAME} in a text is the environment variable NAME, ${NAME:-TEXT} is TEXT where "
        "that is not set, $$ is $. Paths are relative to the file. The command line wins.",
        "type": "object",
        "properties": properties | {"auth": _auth_schema(), "apis": _apis_schema()},
        "additionalProperties": False,
        "dependentSchemas": {"apis": {"properties": _settings_beside_apis()}},
    }


def _apis_schema() -> dict[str, Any]:
    """Return the schema of `[apis]`, a table for each API of a server of several."""
    own = {
        option.setting: {"$ref": f"#/properties/{option.setting}"} for option in SETTINGS.values() if option.is_of_api
    }
    table = {
        "type": "object",
        "properties": own | {"auth": SETTINGS["auth"].schema()},
        "required": ["spec"],
        "additionalProperties": False,
    }
    return {
        "description": (
            "The APIs of a server that has several, by name: [apis.github]. Each has its own credentials, filters "
            "and overlays; limits above the tables apply to each of them."
        ),
        "type": "object",
        "propertyNames": {"pattern": f"^{API_NAME}$"},
        "minProperties": 1,
        "additionalProperties": table,
    }


def _settings_beside_apis() -> dict[str, Any]:
    """Return the schemas of the settings that a file with `[apis]` has in their tables only."""
    own: dict[str, Any] = {
        option.setting: False for option in SETTINGS.values() if option.is_of_api and option.scope == "api"
    }
    return own | {"auth": {"type": "object", "properties": {"server": True}, "additionalProperties": False}}


def _auth_schema() -> dict[str, Any]:
    """Return the schema of `[auth]`, in which the table `server` holds the settings that begin with `auth-`."""
    door = [option for option in SETTINGS.values() if option.name.startswith("auth_") and option.name != "auth_token"]
    server = {
        "description": "The authorization server whose tokens clients send, as the settings auth-issuer and so on.",
        "type": "object",
        "properties": {option.setting.removeprefix("auth-"): option.schema() for option in door},
        "additionalProperties": False,
    }
    schema = SETTINGS["auth"].schema()
    *others, table = schema["anyOf"]
    return schema | {"anyOf": [*others, table | {"properties": {"server": server}}]}
