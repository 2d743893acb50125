"""The sections of a `SKILL.md`, made from the tools that a caller has and from what the document says of itself."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from .. import plain_text
from ..runtime.server.catalog import BuiltinTool, ListedTool
from ..runtime.tool import SecurityScheme, Tool
from .markdown import inline, section, size
from .skill import SkillFile

_NAMES: Final = (3, 1, 0)
"""Names of tools that a group shows, enough to see how they are called; fewer where the groups need the room."""

MAX_WORKFLOWS: Final = 20
"""Tools of several calls that are named; there are few, since people write them."""

MAX_SCHEMES: Final = 12
"""Security schemes that are named."""

MAX_LIMITS: Final = 5
"""Sentences about limits that are repeated."""

_MAX_SENTENCE: Final = 300
"""Characters of such a sentence."""


def groups(members: Mapping[str, Sequence[Tool]], files: Mapping[str, SkillFile], room: int) -> str:
    """Return the section about the groups of tools, in at most `room` bytes."""
    shown = ""
    for names in _NAMES if members else ():
        lines = [_group(group, tools, files.get(group), names) for group, tools in members.items()]
        shown = section(_TOOLS, [_ABOUT_FILES, "", *lines])
        if size(shown) <= room:
            return shown
    return _shortened(shown, len(members), room)


_TOOLS: Final = "Tools"
_ABOUT_FILES: Final = "Each file has the tools of one group, with a line about each."
_LINES_BEFORE: Final = 4
"""Lines of the section before those of the groups."""


def _shortened(text: str, count: int, room: int) -> str:
    """Return the section with as many of its groups as there is room for, and the number of the others."""
    lines = text.splitlines()
    while len(lines) > _LINES_BEFORE:
        lines.pop()
        left_out = count - (len(lines) - _LINES_BEFORE)
        shorter = "\n".join([*lines, f"- and {left_out:,} more groups, in the other files of `references/`", ""])
        if size(shorter) <= room:
            return shorter
    return ""


def _group(group: str, tools: Sequence[Tool], file: SkillFile | None, names: int) -> str:
    """Return a line about a group: the link to its file, the number of its tools, and some of their names."""
    some = ", ".join(f"`{tool.name}`" for tool in tools[:names]) + (", …" if len(tools) > names else "")
    title = inline(group, 60)
    shown = title if file is None else f"[{title}]({file.path})"
    return f"- {shown} ({len(tools):,}){f': {some}' if names else ''}"


_LISTED: Final = "The tools are in the server's list, with their arguments: call them by their names."
_SEARCHED: Final = (
    "The tools are not in the server's list. `search_tools` finds them by a task in plain words and shows their\n"
    "arguments; `call_tool` calls one by its name."
)
_PROGRAMMED: Final = (
    "The tools are not in the server's list. `search_tools` finds them by a task in plain words; a program in\n"
    "`run_code` calls them, several in one program where one needs the answer of another."
)


def access(listed: Iterable[ListedTool]) -> str:
    """Return the section that says how the tools are found and called."""
    names = {tool.name for tool in listed if isinstance(tool, BuiltinTool)}
    text = _PROGRAMMED if "run_code" in names else _SEARCHED if "search_tools" in names else _LISTED
    return section("Find and call a tool", [text])


def workflows(listed: Iterable[ListedTool]) -> str:
    """Return the section about tools that make several calls, which are preferred where one fits."""
    found = [tool for tool in listed if isinstance(tool, BuiltinTool) and tool.operations]
    lines = [f"- `{tool.name}`: {inline(tool.description, 200)}" for tool in found[:MAX_WORKFLOWS]]
    return section("Tasks in one call", ["Prefer these to single calls where one fits:", "", *lines] if lines else ())


_SIGN_IN: Final = (
    "The server sends the credentials itself: they are no arguments. Never ask the user to write one into the\n"
    "conversation. Where a call says that a credential is missing or refused, tell the user its name. Where it says\n"
    "that somebody must sign in, give the user the address that it names."
)


def credentials(tools: Iterable[Tool]) -> str:
    """Return the section about security schemes: their names and kinds, never values."""
    schemes = dict.fromkeys(scheme for tool in tools for alternative in tool.security for scheme in alternative)
    lines = [f"- {inline(scheme.name, 100)}: {_kind(scheme)}" for scheme in list(schemes)[:MAX_SCHEMES]]
    return section("Sign in", [_SIGN_IN, "\n" + "\n".join(lines)] if lines else ())


def _kind(scheme: SecurityScheme) -> str:
    if scheme.type == "http":
        return {"basic": "user and password", "bearer": "a token"}.get(scheme.scheme or "", "a credential")
    kinds = {"apiKey": "a key", "mutualTLS": "a client certificate"}
    return kinds.get(scheme.type, "an access token, for which a user or the server signs in (OAuth)")


_LIMIT: Final = re.compile(
    r"rate.?limit|throttl|quota|\b429\b|(?:requests|calls) (?:per|an?|every|each) |"
    r"\bper (?:second|minute|hour|day)\b",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")


def limits(text: str, tools: Iterable[Tool]) -> str:
    """Return the section about limits that the document states, in its own words or by headers of its answers."""
    found = [sentence for sentence in _SENTENCE_END.split(text) if _LIMIT.search(sentence)]
    lines = [f"- {inline(sentence, _MAX_SENTENCE)}" for sentence in found[:MAX_LIMITS]]
    headers = sorted({header for tool in tools for header in tool.response_headers if "ratelimit" in header})
    if headers:
        names = ", ".join(f"`{plain_text.line(header, 60)}`" for header in headers[:MAX_LIMITS])
        lines.append(f"- Answers say what is left: {names}")
    return section("Limits of the API", lines)


def changes(tools: Sequence[Tool], effects: str) -> str:
    """Return the section about data that tools change."""
    if not effects or all(tool.annotations.get("readOnlyHint") for tool in tools):
        return section("Changes", [effects])
    advice = "Before a call that replaces or deletes something, say what it does and be sure that the user wants it."
    return section("Changes", [effects, advice])


def errors() -> str:
    """Return the section about calls that fail, which is the same for every API."""
    return section("Errors", _errors())


def _errors() -> Iterator[str]:
    yield "A call that fails says why in its result (`isError`):"
    yield ""
    yield "- Arguments are wrong: correct those that the text names, and call again."
    yield "- 401 or 403: a credential or a right is missing. Another call does not help; tell the user."
    yield "- 404: look the id up with a tool that lists or searches; do not guess it."
    yield "- 429 or 503: the server has already waited and repeated the call. Wait as long as the text says."
    yield "- A call that changes data and has no answer may have succeeded: look before you repeat it."
