"""`Profile`: what a client, or the API of its model, accepts of an MCP server; each limit with the place that says so.

`--client` chooses one. A limit without a source is not in the table. `fitting` applies it to the tools.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

MAX_TOOL_NAME: Final = 64
"""Characters of a tool's name with all that stands before it, for every client (see `tools.names`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The limits of a client. `sources` has the URL of each, by the name of its field.

    `name_prefix` is what the client puts before the names of tools, with `{server}` for the server's; `max_name` is
    for both together. `letter_first`: a name begins with a letter or `_`. `max_tools` are those that a request may
    have, `max_description` the characters of a tool's description, `max_result_tokens` the tokens of a result.
    `max_instructions` are characters. `keywords` are the only ones that schemas of arguments may have; with
    `inline_references` no `$ref`; `string_formats` are the only formats of strings; with `string_enums` only strings
    are enumerated; with `needs_items` each array says what its items are.
    """

    title: str
    name_prefix: str = ""
    max_name: int = MAX_TOOL_NAME
    letter_first: bool = False
    max_tools: int | None = None
    max_description: int | None = None
    max_result_tokens: int | None = None
    max_instructions: int | None = None
    keywords: frozenset[str] | None = None
    inline_references: bool = False
    string_formats: frozenset[str] | None = None
    string_enums: bool = False
    needs_items: bool = False
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def changes_schemas(self) -> bool:
        """True if schemas of arguments may have to be written differently."""
        return self.keywords is not None or self.inline_references or self.needs_items

    def room_for_name(self, server: str) -> int:
        """Return the characters that a tool's own name may have on a server of this name."""
        return max(self.max_name - len(self.name_prefix.format(server=installed_name(server))), MIN_NAME)


MAX_INSTALLED_NAME: Final = 20
"""Characters of the name under which a server is installed where its user names none: clients put it before the names
of tools, and of 59 characters a long title would leave none that a model can read."""


def installed_name(server: str) -> str:
    """Return the name under which a server of some name is installed: its first words."""
    if len(server) <= MAX_INSTALLED_NAME:
        return server
    words = server[: MAX_INSTALLED_NAME + 1].rpartition("-")[0]
    return (words or server[:MAX_INSTALLED_NAME]).strip("-")


MIN_NAME: Final = 16
"""Characters that a tool's name always has: a server whose name leaves fewer is given a shorter one by its client."""

GENERIC: Final = Profile(title="any client")

_GEMINI_KEYWORDS: Final = frozenset(
    {"type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required"}
    | {"minProperties", "maxProperties", "minLength", "maxLength", "pattern", "anyOf", "items", "minimum", "maximum"}
)
"""The fields of Gemini's Schema object; any other name fails the whole request (`Unknown name "propertyNames"`)."""

PROFILES: Final[Mapping[str, Profile]] = MappingProxyType(
    {
        "generic": GENERIC,
        "claude": Profile(
            title="Claude",
            name_prefix="mcp__{server}__",
            max_result_tokens=25_000,
            max_instructions=2048,
            sources={
                "name_prefix": "https://github.com/mims-harvard/ToolUniverse/issues/65",
                "max_name": "https://github.com/anthropics/claude-code/issues/19882",
                "max_result_tokens": "https://developers.figma.com/docs/figma-mcp-server/mcp-clients-issues",
                "max_instructions": "https://dev.to/rulestack/20-of-20-runs-sent-serverdiscover-to-our-stdio-mcp-server-"
                "off-by-default-per-the-docs-and-its-12m2",
            },
        ),
        "openai": Profile(
            title="OpenAI's API",
            max_tools=128,
            max_description=1024,
            needs_items=True,
            sources={
                "max_name": "https://github.com/microsoft/foundry-dev-tools/issues/201",
                "max_tools": "https://github.com/zed-industries/zed/issues/32946",
                "max_description": "https://github.com/getsentry/sentry-mcp/issues/106",
                "needs_items": "https://github.com/streamnative/streamnative-mcp-server/issues/26",
            },
        ),
        "gemini": Profile(
            title="Gemini",
            letter_first=True,
            max_tools=512,
            keywords=_GEMINI_KEYWORDS,
            inline_references=True,
            string_formats=frozenset({"enum", "date-time"}),
            string_enums=True,
            needs_items=True,
            sources={
                "max_name": "https://github.com/kaitranntt/ccs/issues/25",
                "letter_first": "https://github.com/kaitranntt/ccs/issues/25",
                "max_tools": "https://github.com/google-gemini/gemini-cli/issues/19083",
                "keywords": "https://googleapis.github.io/js-genai/release%5Fdocs/interfaces/types.Schema.html",
                "inline_references": "https://github.com/google-gemini/gemini-cli/issues/13326",
                "string_formats": "https://firebase.google.com/docs/reference/js/ai.schemashared",
                "string_enums": "https://github.com/diegosouzapw/OmniRoute/pull/760",
                "needs_items": "https://github.com/cline/cline/issues/7339",
            },
        ),
        "cursor": Profile(
            title="Cursor",
            name_prefix="{server}",
            max_name=59,
            max_tools=80,
            sources={
                "name_prefix": "https://github.com/aashari/mcp-server-atlassian-confluence/issues/16",
                "max_name": "https://github.com/ComposioHQ/composio/issues/2788",
                "max_tools": "https://github.com/Snowflake-Labs/mcp/issues/77",
            },
        ),
        "vscode": Profile(
            title="VS Code",
            name_prefix="mcp_{server}_",
            max_tools=128,
            sources={
                "name_prefix": "https://github.com/anyproto/anytype-mcp/issues/5",
                "max_name": "https://github.com/microsoft/vscode/issues/243602",
                "max_tools": "https://github.com/microsoft/vscode/issues/254801",
            },
        ),
    }
)
"""Profiles by the values of `--client`."""
