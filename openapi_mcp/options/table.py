"""The one table of options: name, type, help, default, range, group, commands, and where the value goes.

The command line, its help, the settings file and the JSON Schema of the settings file are all made from it, so that a
new option is one entry in `commands`, `api` or `server` and the code that reads its value. Data only: nothing of the
program is imported.
"""

from collections.abc import Mapping
from typing import Any, Final

from .api import API_OPTIONS
from .commands import COMMAND_OPTIONS
from .option import Option
from .server import SERVER_OPTIONS

OPTIONS: Final = (*COMMAND_OPTIONS, *API_OPTIONS, *SERVER_OPTIONS)
"""Every option, in the order of `--help`."""

SETTINGS: Final[Mapping[str, Option]] = {option.name: option for option in OPTIONS if option.to != "command"}
"""The options that a settings file may hold, by name."""

DEFAULTS: Final[Mapping[str, Any]] = {name: option.default for name, option in SETTINGS.items()}


def of_command(command: str) -> tuple[Option, ...]:
    """Return the options and arguments of a command, arguments first."""
    return tuple(option for option in OPTIONS if command in option.commands or _is_passed_on(option, command))


def _is_passed_on(option: Option, command: str) -> bool:
    """Return whether `install` writes an option into the command that a client starts."""
    return command == "install" and "serve" in option.commands and option.to == "config"


def settings_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the settings file, as it is published in `specs/settings.schema.json`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of openapi-mcp",
        "description": "The TOML file of --config: options of the command line by name. ${NAME} in a text is the "
        "environment variable NAME, $$ is $. The command line wins.",
        "type": "object",
        "properties": {option.setting: option.schema() for option in SETTINGS.values()} | {"auth": _auth_schema()},
        "additionalProperties": False,
    }


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
