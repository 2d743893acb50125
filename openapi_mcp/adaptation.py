"""Tools as a client takes them: names with their prefix and within its limit, texts and schemas in the list.

`named` gives tools their names, before anything else; `listed` is what the list has of a tool where the client's
profile (`clients.profiles`) wants other texts or another dialect. `changes` says what that is, for `inspect`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from . import plain_text
from .clients.dialect import in_dialect
from .clients.profiles import Profile
from .runtime.server.catalog import Catalog, ListedTool
from .runtime.tool import Tool
from .runtime.types import JsonObject

MAX_SHOWN: Final = 5
"""Names of tools in a line about one change."""

HEADER_ANNOTATION: Final = "x-mcp-header"
"""The annotation of an argument that clients send as a header too (MCP 2026-07-28)."""


def named(tools: tuple[Tool, ...], prefix: str | None, profile: Profile, server: str) -> tuple[Tool, ...]:
    """Return tools with their names on a server of this name; the same tools where nothing is to be changed.

    A name that is too long is shortened, and stays unique. Where the client's dialect has no annotations of headers,
    no header is demanded either.
    """
    before = f"{prefix}{'' if prefix.endswith(('_', '-')) else '_'}" if prefix else ""
    limit = profile.room_for_name(server) - len(before)
    if not before and not profile.letter_first and all(len(tool.name) <= limit for tool in tools):
        renamed = tools
    else:
        names = _names(tools, limit)
        whole = [_begun(f"{before}{name}", profile) for name in names]
        renamed = tuple(
            tool if tool.name == name else replace(tool, name=name) for tool, name in zip(tools, whole, strict=True)
        )
    return tuple(map(_without_headers, renamed)) if profile.keywords is not None else renamed


def _names(tools: Sequence[Tool], limit: int) -> list[str]:
    """Return names of at most `limit` characters, each once."""
    from .tools.names import NameCandidate, distinct_names

    candidates = [NameCandidate((tool.name,), f"{tool.method} {tool.path}") for tool in tools]
    return distinct_names(candidates, limit, fold=str.casefold)


def _begun(name: str, profile: Profile) -> str:
    """Return a name that begins with a letter or `_`, where the client wants that."""
    begins_well = name[0].isalpha() or name[0] == "_" or not profile.letter_first
    return name if begins_well else f"_{name[: profile.max_name - 1]}"


def _without_headers(tool: Tool) -> Tool:
    properties = tool.input_schema.get("properties", {})
    if not any(isinstance(each, dict) and HEADER_ANNOTATION in each for each in properties.values()):
        return tool
    kept = {name: _without(schema) for name, schema in properties.items()}
    return replace(tool, input_schema={**tool.input_schema, "properties": kept})


def _without(schema: JsonObject) -> JsonObject:
    return {name: value for name, value in schema.items() if name != HEADER_ANNOTATION}


def listed(tool: ListedTool, profile: Profile) -> ListedTool:
    """Return what the list has of a tool; the tool itself where its client takes it as it is."""
    description, limit = tool.description, profile.max_description
    if limit is not None and len(description) > limit:
        description = plain_text.trim(description, limit)
    schema = in_dialect(tool.input_schema, profile)
    if description is tool.description and schema is tool.input_schema:
        return tool
    return replace(tool, description=description, input_schema=schema)


def changes(original: Sequence[Tool], tools: Sequence[Tool], profile: Profile) -> Iterator[tuple[str, str]]:
    """Yield what a profile changes: the name of a tool, and a sentence. `original` are the tools before `named`."""
    for before, tool in zip(original, tools, strict=True):
        if not tool.name.endswith(before.name):
            yield tool.name, f"a shorter name: {before.name} is too long after the client's prefix"
        shown = listed(tool, profile)
        if shown.description != tool.description:
            lengths = f"from {len(tool.description):,} to {len(shown.description):,} characters"
            yield tool.name, f"a description cut {lengths}"
        if shown.input_schema != tool.input_schema:
            yield tool.name, "a schema in its dialect"


def report(original: Sequence[Tool], tools: Sequence[Tool], profile: Profile, *, searched: bool) -> list[str]:
    """Return lines about what a client's profile changes, and about a list too long for it that is not `searched`."""
    found: dict[str, list[str]] = {}
    for name, change in changes(original, tools, profile):
        found.setdefault(change.partition(":")[0].partition(" from ")[0], []).append(name)
    lines = [f"{len(names):,} with {change}: {_some(names)}" for change, names in found.items()]
    if profile.max_tools is not None and len(tools) > profile.max_tools:
        cure = "they are searched" if searched else "use --mode search, --include or --read-only"
        lines.append(f"{len(tools):,} tools are more than the {profile.max_tools} that it takes: {cure}")
    if profile.name_prefix:
        lines.append(
            f"it puts {profile.name_prefix.format(server='SERVER')} before names, which may have "
            f"{profile.max_name} characters with it"
        )
    return [f"for {profile.title}: {line}" for line in lines or ["nothing is changed"]]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_SHOWN]) + (" …" if len(names) > MAX_SHOWN else "")


class ClientCatalog(Catalog):
    """A catalog whose list is written for a client, and whose tools are called as they are."""

    def __init__(self, whole: Catalog, profile: Profile, page_size: int | None) -> None:
        super().__init__((listed(tool, profile) for tool in whole.tools), page_size=page_size)
        self._whole = whole
        self.related = whole.related

    def get(self, name: str) -> ListedTool | None:
        """Return the tool of that name, listed or hidden, if there is one."""
        return self._whole.get(name)

    @property
    def operations(self) -> Sequence[Tool]:
        """The operations of the API that can be called, listed or hidden."""
        return self._whole.operations

    def unknown(self, name: str) -> str:
        """Return a sentence about a name that no tool has."""
        return self._whole.unknown(name)
