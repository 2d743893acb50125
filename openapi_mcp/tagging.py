"""The tools of a document by tag, which is how a package divides them; every tool is in exactly one group."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from . import prose
from .bridge import Bridge
from .naming import words
from .runtime.models import Tool

_VERSION: Final = re.compile(r"v?[0-9]+([._-][0-9]+)*|api|rest|latest|beta|alpha")


@dataclass(frozen=True, slots=True)
class Tag:
    """Some tools, in the document's order, under the name that they share, and what the document says of it."""

    name: str
    description: str
    tools: tuple[Tool, ...]


def tags(bridge: Bridge) -> list[Tag]:
    """The groups, in the order of their first tools: by the first tag, else by the first word of the path."""
    groups: dict[str, list[Tool]] = {}
    titles: dict[str, str] = {}
    for tool in bridge.tools:
        name = tool.tags[0] if tool.tags and words(tool.tags[0]) else _first_word(tool.path)
        key = "_".join(words(name))
        titles.setdefault(key, name)
        groups.setdefault(key, []).append(tool)
    said = _descriptions(bridge.document.root.get("tags"))
    return [Tag(titles[key], said.get(titles[key], ""), tuple(tools)) for key, tools in groups.items()]


def _first_word(path: str) -> str:
    """The first segment of a path that is neither a parameter nor a version."""
    for segment in path.partition("#")[0].split("/"):
        if segment and "{" not in segment and words(segment) and not _VERSION.fullmatch(segment.lower()):
            return segment
    return "root"


def _descriptions(given: Any) -> Mapping[str, str]:
    """What the Tag Objects say, as far as they are any."""
    found = [tag for tag in given if isinstance(tag, dict)] if isinstance(given, list) else []
    return {
        tag["name"]: prose.sentence(tag.get("description"), 100) or prose.line(tag.get("description"), 100)
        for tag in found
        if isinstance(tag.get("name"), str)
    }
