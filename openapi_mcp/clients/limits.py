"""The limits of a client that a tool breaks as it is: what `--client` has to change, in words, each with its source."""

from collections.abc import Iterator
from typing import Any, Final

from ..runtime.tool import Tool
from .profiles import Profile

MAX_PARTS: Final = 20_000
"""Parts of a schema that are searched: more than the list of any client takes."""

MAX_SHOWN: Final = 5
"""Keywords, formats or values that a sentence names."""

_MAPS: Final = ("properties", "$defs", "patternProperties", "dependentSchemas")
"""Keywords whose value has schemas by name."""

_VALUES: Final = frozenset({"enum", "const", "default", "examples", "example", "required"})
"""Keywords whose value holds no schema."""


def broken_limits(tool: Tool, name: str, profile: Profile, server: str) -> Iterator[str]:
    """Yield a sentence for each limit that a tool breaks; `name` is its own one, on a server of this name.

    Each ends with the URL of the limit's source.
    """
    sources = profile.sources
    whole = f"{profile.name_prefix.format(server=server)}{name}"
    if len(whole) > profile.max_name:
        yield f"{whole} has {len(whole)} characters, and {profile.max_name} are accepted ({sources['max_name']})"
    if profile.letter_first and not (name[0].isalpha() or name[0] == "_"):
        yield f"{name} does not begin with a letter ({sources['letter_first']})"
    if profile.max_description is not None and len(tool.description) > profile.max_description:
        length = f"{len(tool.description):,} characters, and {profile.max_description:,} are accepted"
        yield f"the description has {length} ({sources['max_description']})"
    for limit, what, found in _of_schema(tool.input_schema, profile):
        shown = f": {', '.join(found[:MAX_SHOWN])}{' …' if len(found) > MAX_SHOWN else ''}" if found[0] else ""
        yield f"{what}{shown} ({sources[limit]})"


def _of_schema(schema: Any, profile: Profile) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the limits that a schema breaks: the field of the profile, words about it, and what breaks it."""
    found: dict[str, dict[str, None]] = {}
    for part in _schemas(schema):
        for limit, each in _broken(part, profile):
            found.setdefault(limit, {})[each] = None
    words = {
        "keywords": "the schema has keywords that are not known",
        "inline_references": "the schema has references",
        "string_formats": "strings have formats that are not known",
        "string_enums": "values are enumerated that are no strings",
        "needs_items": "a list does not say what its items are",
    }
    yield from ((limit, words[limit], list(each)) for limit, each in found.items())


def _broken(schema: dict[str, Any], profile: Profile) -> Iterator[tuple[str, str]]:
    types = schema.get("type", [])
    types = types if isinstance(types, list) else [types]
    if profile.inline_references and "$ref" in schema:
        yield "inline_references", ""
    if profile.keywords is not None:
        yield from (("keywords", str(key)) for key in schema if key not in profile.keywords and key not in _REFERENCES)
    form = schema.get("format")
    if profile.string_formats is not None and "string" in types and isinstance(form, str):
        yield from [("string_formats", form)] if form not in profile.string_formats else []
    values = schema.get("enum")
    if profile.string_enums and isinstance(values, list) and not all(isinstance(value, str) for value in values):
        yield "string_enums", ""
    if profile.needs_items and "array" in types and "items" not in schema:
        yield "needs_items", ""


_REFERENCES: Final = frozenset({"$ref", "$defs"})
"""Keywords of `inline_references`."""


def _schemas(root: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and those in it, the first MAX_PARTS."""
    waiting = [root]
    for _ in range(MAX_PARTS):
        if not waiting:
            return
        schema = waiting.pop()
        if isinstance(schema, list):
            waiting += schema
        elif isinstance(schema, dict):
            yield schema
            for keyword, value in schema.items():
                if keyword in _MAPS and isinstance(value, dict):
                    waiting += value.values()
                elif keyword not in _VALUES and isinstance(value, dict | list):
                    waiting.append(value)
