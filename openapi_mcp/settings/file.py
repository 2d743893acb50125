"""Read the settings file of a server: `openapi-mcp.toml`, `[tool.openapi-mcp]` of `pyproject.toml`, or any TOML file.

Its keys are the names of options (`base-url = "https://…"`). Above the tables of `[apis]` stand those of the server,
and limits of each API; in a table those of one API. Paths are relative to the file's folder. An error names the file,
the line, and the name that was probably meant.

In texts `${NAME}` is the environment variable NAME, `${NAME:-DEFAULT}` has a default, as in a shell for one that is not
set or empty, and `$$` is a `$`. Any other `$` is a `$`.
"""

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

from ..errors import UsageError
from ..options.option import Option
from ..options.table import API_NAME, SETTINGS
from ..regular_files import MAX_SETTINGS_BYTES, UnfitFile, read_regular
from .lines import TomlLines

FILE_NAME: Final = "openapi-mcp.toml"
PYPROJECT: Final = "pyproject.toml"
TABLE: Final = ("tool", "openapi-mcp")
"""Keys of the table in `pyproject.toml`."""

Setting = tuple[tuple[str, ...], str, Any]
"""A setting: its keys in the file, the name of its option there, and its value."""


@dataclass(frozen=True, slots=True)
class FileSettings:
    """The settings of a file: `options` by their Python names, those of each API in `apis` by the API's name.

    `variables` are the environment variables that its texts name.
    """

    path: Path
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    apis: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    variables: tuple[str, ...] = ()

    def of_api(self, name: str) -> dict[str, Any]:
        """Return the options of one API: its own, and those above the tables."""
        return {**self.options, **self.apis[name]}


def find_file(folder: Path) -> Path | None:
    """Return the settings file of a folder, if it has one."""
    if (path := folder / FILE_NAME).is_file():
        return path
    path = folder / PYPROJECT
    try:
        text = read_regular(path, MAX_SETTINGS_BYTES)
        tables: Any = tomllib.loads(text.decode()) if TABLE[-1].encode() in text else {}
    except (OSError, ValueError, RecursionError):
        return None
    return path if isinstance(_inner(tables, TABLE), dict) else None


MAX_DEPTH: Final = 64
"""Tables and lists within each other; a JSON Schema of a workflow's inputs has ten at most."""

_DOCUMENT_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})


def is_document(text: str) -> bool:
    """Return whether a word of the command line names a document: stdin, a URL, a file, or what looks like one."""
    is_named = text == "-" or "://" in text or Path(text).suffix.lower() in _DOCUMENT_SUFFIXES
    return is_named or Path(text).is_file()


def read_file(path: Path, environment: Mapping[str, str] = os.environ) -> FileSettings:
    """Read a settings file. Raises UsageError."""
    text, values = _parsed(path)
    root = TABLE if path.name == PYPROJECT else ()
    source = _SettingsReader(path, text, root, environment)
    table = _inner(values, root)
    if not isinstance(table, dict):
        raise UsageError("the file has no table [tool.openapi-mcp]", where=str(path), hint="add it")
    apis = table.pop("apis", None)
    names = tuple(dict.fromkeys(_variables([table, apis])))
    options = source.options(table, (), of_api=False)
    if apis is None:
        return FileSettings(path, options, variables=names)
    return FileSettings(path, options, source.apis(apis, options), names)


def _parsed(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a file and its values. Raises UsageError."""
    try:
        text = read_regular(path, MAX_SETTINGS_BYTES).decode("utf-8-sig")  # editors of Windows write the mark
        values = tomllib.loads(text)
        _check_depth(values)
    except UnfitFile as error:
        raise UsageError(f"the settings file {error.reason}", where=str(path), hint="check --config") from None
    except OSError as error:
        message = f"cannot read the settings file: {error.strerror}"
        raise UsageError(message, where=str(path), hint="check --config") from None
    except ValueError as error:
        raise UsageError(f"the settings file is not TOML: {error}", where=str(path), hint="correct the file") from None
    except RecursionError:
        message = "the settings file is nested too deep"
        raise UsageError(message, where=str(path), hint="correct the file") from None
    else:
        return text, values


def _check_depth(values: Any) -> None:
    """Raise RecursionError for values that are nested beyond MAX_DEPTH, which dotted keys can be without recursion."""
    level = [values]
    for _ in range(MAX_DEPTH):
        holders = [each for each in level if isinstance(each, dict | list)]
        level = [inner for each in holders for inner in (each.values() if isinstance(each, dict) else each)]
    if level:
        raise RecursionError


def _inner(value: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


@dataclass(frozen=True, slots=True)
class _SettingsReader:
    """The file whose settings are read, for the lines of errors; `root` are the keys of their table."""

    path: Path
    text: str
    root: tuple[str, ...]
    environment: Mapping[str, str]

    def options(self, table: Mapping[str, Any], keys: tuple[str, ...], *, of_api: bool) -> dict[str, Any]:
        """Return the options of a table by their Python names, checked. Raises UsageError."""
        options = {}
        for place, name, value in _settings(table, keys):
            option = SETTINGS.get(name.replace("-", "_"))
            if option is None or (of_api and not option.is_of_api):
                self._refuse(place, name, option, of_api=of_api)
            expanded = _expanded(value, self.environment, partial(self._where_of, place, name))
            if not option.accepts(expanded):
                hint = "`openapi-mcp settings-schema` prints the JSON Schema of this file"
                raise UsageError(f"{name} must be {option.expectation}", where=self.where(place), hint=hint)
            options[option.name] = _located(option, expanded, self.path.parent)
        return options

    def apis(self, tables: Any, options: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the options of each API by its name. Raises UsageError."""
        if not isinstance(tables, dict) or not tables or not all(isinstance(each, dict) for each in tables.values()):
            message = "`apis` holds a table for each API"
            raise UsageError(message, where=self.where(("apis",)), hint="write [apis.NAME], and below it spec = …")
        for name in options:
            if SETTINGS[name].is_of_api and SETTINGS[name].scope == "api":
                self._refuse_above(SETTINGS[name], next(iter(tables)))
        return {name: self._api(name, table) for name, table in tables.items()}

    def where(self, keys: Sequence[str]) -> str:
        """Return the file and the line of a key."""
        line = TomlLines(self.text).line_of((*self.root, *keys))
        return f"{self.path}, line {line}" if line else str(self.path)

    def _where_of(self, keys: Sequence[str], name: str) -> str:
        """Return the file, the line and the name of a setting."""
        return f"{self.where(keys)}, {name}"

    def _api(self, name: str, table: Mapping[str, Any]) -> dict[str, Any]:
        keys = ("apis", name)
        if not re.fullmatch(API_NAME, name):
            hint = "use up to 32 letters, digits, - and _: the names of its tools begin with it"
            raise UsageError(f"not the name of an API: {name!r}", where=self.where(keys), hint=hint)
        options = self.options(table, keys, of_api=True)
        if "spec" not in options:
            hint = 'add spec = "openapi.yaml", or a URL'
            raise UsageError(f"the API {name} has no spec", where=self.where(keys), hint=hint)
        return options

    def _refuse(self, place: Sequence[str], name: str, option: Option | None, *, of_api: bool) -> NoReturn:
        """Raise UsageError for a setting that is unknown, or unknown in a table of one API."""
        if option is not None:
            message = f"{option.setting} is a setting of the server, not of one API"
            raise UsageError(message, where=self.where(place), hint="write it above the first table [apis.NAME]")
        from ..runtime.arguments.spelling import suggestion

        known = sorted(each.setting for each in SETTINGS.values() if each.is_of_api or not of_api)
        hint = suggestion(name.replace("_", "-"), known) or f"settings are {', '.join(known)}"
        raise UsageError(f"unknown setting: {name.replace('_', '-')}", where=self.where(place), hint=hint)

    def _refuse_above(self, option: Option, api: str) -> NoReturn:
        message = f"{option.setting} is a setting of one API, and this file has several"
        hint = f"write it into its table, as [apis.{api}]: no other API gets it"
        raise UsageError(message, where=self.where((option.setting,)), hint=hint)


def _settings(table: Mapping[str, Any], keys: tuple[str, ...]) -> Iterator[Setting]:
    """Yield the settings of a table; those of `[auth.server]` by their own names: `issuer` there is `auth-issuer`."""
    for name, value in table.items():
        server = value.get("server") if name == "auth" and isinstance(value, dict) and not keys else None
        if not isinstance(server, dict):
            yield (*keys, name), name, value
            continue
        if credentials := {key: inner for key, inner in value.items() if key != "server"}:
            yield (*keys, name), name, credentials
        yield from (((*keys, name, "server", key), f"auth-{key}", inner) for key, inner in server.items())


def _located(option: Option, value: Any, folder: Path) -> Any:
    """Return a value with its paths relative to this process's folder, not to the file's."""
    if option.name == "instructions" and value.startswith("@"):
        return f"@{folder / value[1:]}"
    if not (option.is_source or option.kind is Path):
        return value
    if isinstance(value, list):
        return [_path(text, folder) for text in value]
    return _path(value, folder) if isinstance(value, str) else value


def _path(text: str, folder: Path) -> str:
    return text if text == "-" or "://" in text else str(folder / text)


_VARIABLE: Final = re.compile(r"\$\$|\$\{(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}|[^}]*\}?)")
"""A `$$`, or the name of an environment variable in braces."""


def _expanded(value: Any, environment: Mapping[str, str], where: Callable[[], str]) -> Any:
    """Return a value of the file with the variables that its texts name. Raises UsageError at `where()`."""
    if isinstance(value, dict):
        return {name: _expanded(inner, environment, where) for name, inner in value.items()}
    if isinstance(value, list):
        return [_expanded(inner, environment, where) for inner in value]
    if not isinstance(value, str) or "$" not in value:
        return value
    return _VARIABLE.sub(lambda match: _variable_text(match, environment, where), value)


def _variables(value: Any) -> Iterator[str]:
    """Yield the variables that the texts of a value name."""
    if isinstance(value, str):
        yield from (match["name"] for match in _VARIABLE.finditer(value) if match["name"])
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _variables(inner)


def _variable_text(match: re.Match[str], environment: Mapping[str, str], where: Callable[[], str]) -> str:
    if match[0] == "$$":
        return "$"
    name, default = match["name"], match["default"]
    if not name:
        message = "${ must begin the name of an environment variable in braces, as ${NAME}"  # the text may be a secret
        raise UsageError(message, where=where(), hint="write $$ for a $")
    if default is not None:
        return environment.get(name) or default
    if name not in environment:
        hint = f"set {name}; or write ${{{name}:-DEFAULT}}, or $${{{name}}} where the text itself is meant"
        raise UsageError(f"the environment variable {name} is not set", where=where(), hint=hint)
    return environment[name]
