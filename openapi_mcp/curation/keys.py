"""The keys of `x-mcp`, one table for each place: what is accepted, what is reported, and the published JSON Schema.

`specs/x-mcp.schema.json` is `published_schema()`.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from ..runtime.types import JsonObject, Schema

HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
"""The hints of MCP's ToolAnnotations."""

ENVIRONMENT_PATTERN: Final = "env:NAME"

FROM_HEADER: Final = "header:"
"""The beginning of a value that is the name of a header of the client's request: `header:X-Tenant`."""

NEVER_PASSED_ON: Final = re.compile(
    r"(?i)authorization|cookie|host|connection|upgrade|te|trailer|expect|keep-alive|origin|accept.*|content-.*|transfer-.*"
    r"|proxy-.*|mcp-.*|x-forwarded-.*|forwarded"
)
"""Headers that belong to the connection or the message, or that hold a credential for this server."""

MIN_LIMIT: Final = 64
"""The smallest `limit`, in tokens: with less, nothing is left of an answer."""

_TEXT: Final[Schema] = {"type": "string"}
_FLAG: Final[Schema] = {"type": "boolean"}
_SCOPES: Final[Schema] = {"type": "array", "items": {"type": "string"}}

TOOL_KEYS: Final[Mapping[str, Schema]] = {
    "name": {"description": "The tool's name; on an operation only.", **_TEXT},
    "title": {"description": "The tool's title, for people.", **_TEXT},
    "description": {"description": "The tool's description, for models.", **_TEXT},
    "annotations": {
        "description": "Hints of MCP; each replaces the one that follows from the HTTP method.",
        "type": "object",
        "properties": dict.fromkeys(HINTS, _FLAG),
        "additionalProperties": False,
    },
    "scopes": {
        "description": (
            "Scopes that a client's access token needs, instead of those in `security`: all scopes of a list, or "
            "all scopes of any one list in a list of lists."
        ),
        "anyOf": [_TEXT, _SCOPES, {"type": "array", "items": _SCOPES}],
    },
    "tags": {
        "description": "Groups of the tool, instead of the operation's tags: topics of a search, and `tag:` in rules.",
        "type": "array",
        "items": _TEXT,
    },
    "group": {"description": "The group that stands before all other tags of the tool.", **_TEXT},
    "confirm": {
        "description": "True: a person is asked before each call, whatever the server's setting and the hints say. "
        "False: never.",
        **_FLAG,
    },
    "select": {
        "description": (
            "A JMESPath expression that selects what is returned of each JSON answer; errors are returned whole."
        ),
        **_TEXT,
    },
    "limit": {
        "description": "Tokens of a result, of four bytes: a longer one is cut. It never raises the server's limit.",
        "type": "integer",
        "minimum": MIN_LIMIT,
    },
    "hidden": {"description": "True leaves the operation out.", **_FLAG},
    "enabled": {"description": "False leaves the operation out.", **_FLAG},
}
"""The keys on the root, a path item and an operation, each with the schema of its value."""

ARGUMENT_KEYS: Final[Mapping[str, Schema]] = {
    "hidden": {
        "description": "True: no model sees or sets the argument. It is sent with its `fixed` or `default`, if there "
        "is one; a required argument needs one.",
        **_FLAG,
    },
    "fixed": {
        "description": f"The value that is always sent; the argument is hidden. `{ENVIRONMENT_PATTERN}` reads the "
        f"environment variable when the server starts, as a secret; `{FROM_HEADER}NAME` is the header of the client's "
        "HTTP request.",
    },
    "default": {"description": "The value that is sent where a call leaves the argument out."},
    "name": {
        "description": "The argument's name for models; the request has the document's.",
        "type": "string",
        "pattern": "^[A-Za-z0-9_.-]{1,64}$",
    },
    "description": {"description": "The argument's description, for models.", **_TEXT},
    "examples": {"description": "Examples of its value, for models.", "type": "array"},
}
"""The keys on a parameter and on a property of a request body, each with the schema of its value."""

_TYPES: Final[Mapping[str, type]] = {"string": str, "boolean": bool, "object": dict, "array": list, "integer": int}
_WORDS: Final[Mapping[str, str]] = {
    "string": "string",
    "boolean": "boolean",
    "object": "JSON object",
    "array": "list",
    "integer": "whole number",
}


def valid_keys(value: JsonObject, keys: Mapping[str, Schema], problem: Callable[[str], None]) -> JsonObject:
    """Return the entries of an `x-mcp` object that are valid by a table; report each of the others."""
    valid: JsonObject = {}
    for key, setting in value.items():
        kind = keys[key].get("type") if key in keys else None
        if key not in keys:
            from ..runtime.arguments.spelling import did_you_mean

            hint = did_you_mean(key, keys) or f"; the keys are {', '.join(keys)}"
            problem(f"{key} is not a key of `x-mcp` and is left out{hint}")
        elif kind is not None and not _is_a(kind, setting):
            problem(f"`{key}` of `x-mcp` is not a {_WORDS[kind]}; it is left out")
        elif "minimum" in keys[key] and setting < keys[key]["minimum"]:
            problem(f"`{key}` of `x-mcp` is less than {keys[key]['minimum']}; it is left out")
        else:
            valid[key] = setting
    return valid


def _is_a(kind: str, value: object) -> bool:
    return isinstance(value, _TYPES[kind]) and isinstance(value, bool) == (kind == "boolean")


def published_schema() -> Schema:
    """Return the JSON Schema of `x-mcp`: `$defs/tool` for root, path item, operation, `$defs/argument` for others."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "x-mcp",
        "description": "How an MCP server offers an operation as a tool, or an input of it as an argument.",
        "anyOf": [{"$ref": "#/$defs/tool"}, {"$ref": "#/$defs/argument"}],
        "$defs": {"tool": {"anyOf": [_object(TOOL_KEYS), _FLAG]}, "argument": _object(ARGUMENT_KEYS)},
    }


def _object(keys: Mapping[str, Schema]) -> Schema:
    return {"type": "object", "properties": dict(keys), "additionalProperties": False}
