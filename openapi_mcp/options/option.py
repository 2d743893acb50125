"""`Option`: one entry of the table of options, the groups of the help, and the commands that entries belong to.

Data only: nothing of the program is imported.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

Destination: TypeAlias = Literal["config", "http", "start", "command"]
"""Reader of a value: `Config.from_options`, `HttpSettings.from_options`, the start of a server, or the command alone,
which no settings file replaces."""

Scope: TypeAlias = Literal["api", "each", "server"]
"""Reach of an option where several APIs are served: `api`, one API alone (all credentials, so that no other gets them);
`each`, every API, with the value of the whole file as its default; `server`, the server."""

ARGUMENTS: Final = "Arguments"
COMMAND: Final = "This command"
API: Final = "The API"
DOCUMENT: Final = "The document"
TOOLS: Final = "Tools"
CODE: Final = "Code mode"
LIMITS: Final = "Limits"
HTTP: Final = "HTTP server"
ACCESS: Final = "Access"
OPERATION: Final = "Operation"
GENERAL: Final = "General"

GROUPS: Final = (ARGUMENTS, COMMAND, API, DOCUMENT, TOOLS, CODE, LIMITS, HTTP, ACCESS, OPERATION, GENERAL)
"""Headings of `--help`, in the order they are shown."""


# Commands that have an option.
SERVE: Final = ("serve",)
INSPECT: Final = ("inspect",)
CALL: Final = ("call",)
GENERATE: Final = ("generate",)
BUNDLE: Final = ("bundle",)
CALLING: Final = ("serve", "call")
PROBING: Final = (*CALLING, "check")
SEARCH: Final = ("search",)
SELECTING: Final = ("serve", "inspect", "generate")
DIFF: Final = ("diff",)
CHECK: Final = ("check",)
CHOOSING: Final = (*SELECTING, *SEARCH, *DIFF, *CHECK)
OPENING: Final = ("serve", "inspect", "search", "call", "generate", "check")
SIGN_IN: Final = ("login", "logout")
READING: Final = (*OPENING, *SIGN_IN)
MAKING: Final = (*OPENING, *DIFF)
FETCHING: Final = (*READING, *DIFF)
INSTALLING: Final = ("install", "uninstall")
INIT: Final = ("init",)
ALL: Final = (*FETCHING, *INSTALLING, *INIT, "cache", "bundle", "overlay")


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the command line, or a positional argument (group ARGUMENTS).

    `name` is a Python identifier: `base_url` is `--base-url` on the command line and `base-url` in the settings file.
    `kind` is the type of the value. An option with `many` may be repeated and is a list in the settings file; with
    `pairs` (NAME=VALUE) it may also be a table there, with `single` one text. `default` None: there is no default, or
    it depends on something that `default_text` describes. `minimum` and `maximum` are inclusive. `variable` names an
    environment variable that is read where the option is absent. `flags` replaces the flag made of the name. `scope` is
    that of an option for `Config`. `is_source`: a value is a path or a URL.
    """

    name: str
    group: str
    commands: Sequence[str]
    help: str
    _: KW_ONLY
    to: Destination = "config"
    metavar: str = ""
    kind: type[Any] = str
    many: bool = False
    pairs: bool = False
    default: Any = None
    default_text: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: Sequence[str] = ()
    variable: str | None = None
    flags: Sequence[str] = ()
    required: bool = False
    single: bool = False
    scope: Scope = "api"
    is_source: bool = False

    @property
    def setting(self) -> str:
        """The name in a settings file, which is that of the flag without its dashes."""
        return self.name.replace("_", "-")

    @property
    def is_of_api(self) -> bool:
        """True if a table of one API in a settings file may have it."""
        return self.to in ("config", "start") and self.scope != "server"

    def accepts(self, value: object) -> bool:
        """Return whether a settings file may have the value."""
        if self.single and _is_a(value, str):
            return True
        if self.pairs and isinstance(value, dict):
            return all(_is_a(item, str) or _is_a(item, float) for item in value.values())
        if self.many:
            return isinstance(value, list) and all(_is_a(item, str) for item in value)
        if not _is_a(value, self.kind) or (self.choices and value not in self.choices):
            return False
        return not isinstance(value, int | float) or (
            (self.minimum is None or value >= self.minimum) and (self.maximum is None or value <= self.maximum)
        )

    @property
    def range(self) -> str:
        """The range of a number in words; empty where there is none."""
        if self.minimum is None:
            return ""
        return f"at least {self.minimum:g}" if self.maximum is None else f"from {self.minimum:g} to {self.maximum:g}"

    @property
    def expectation(self) -> str:
        """The values that a settings file may have, in words."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.many:
            return ("a string, " if self.single else "") + "a list of strings" + (" or a table" if self.pairs else "")
        return f"{_TYPE_WORDS[self.kind]}{f' {self.range}' if self.range else ''}"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the setting."""
        facts = {"default": self.default, "minimum": self.minimum, "maximum": self.maximum}
        value: dict[str, Any] = {"type": _JSON_TYPES[self.kind]}
        if self.choices:
            value["enum"] = list(self.choices)
        if self.many:
            value = {"type": "array", "items": {"type": "string"}}
        if self.pairs or self.single:
            table = {"type": "object", "additionalProperties": {"type": ["string", "number"]}}
            text = [{"type": "string"}] if self.single else []
            value = {"anyOf": [*text, value, *([table] if self.pairs else [])]}
        return {"description": self.help} | value | {name: fact for name, fact in facts.items() if fact is not None}


_JSON_TYPES: Final = {str: "string", Path: "string", int: "integer", float: "number", bool: "boolean", dict: "object"}
_TYPE_WORDS: Final = {
    str: "a string",
    Path: "a path",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    dict: "a table",
}


def _is_a(value: object, kind: type) -> bool:
    """Return whether a value of TOML is of a type; true and false are no numbers, as in JSON Schema."""
    kinds = {float: (float, int), Path: (str,)}.get(kind, (kind,))
    return isinstance(value, kinds) and isinstance(value, bool) == (kind is bool)
