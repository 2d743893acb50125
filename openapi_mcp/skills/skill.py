"""`Skill`: a folder of Markdown files, the first of them `SKILL.md`, which begins with its name and description.

Specification: Agent Skills ("Directory structure", "SKILL.md format"); ext-skills, "Skill Entries", "Resource Mapping".
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ..runtime.types import JsonObject

SCHEME: Final = "skill://"
MAIN_FILE: Final = "SKILL.md"
MARKDOWN: Final = "text/markdown"
DIRECTORY: Final = "inode/directory"

MAX_NAME: Final = 64
"""Characters of a skill's name (Agent Skills, "name field")."""

MAX_DESCRIPTION: Final = 1024
"""Characters of a skill's description (Agent Skills, "description field")."""


@dataclass(frozen=True)
class SkillFile:
    """A file of a skill: its path in the folder, what it is, and its text."""

    path: str
    title: str
    text: str

    @cached_property
    def content(self) -> bytes:
        """The bytes of the file."""
        return self.text.encode()

    @cached_property
    def digest(self) -> str:
        """The digest of the bytes, as clients compare it."""
        return f"sha256:{hashlib.sha256(self.content).hexdigest()}"


@dataclass(frozen=True)
class Skill:
    """A skill: its name, its description, and its files; `SKILL.md` is the first."""

    name: str
    description: str
    files: tuple[SkillFile, ...]

    @property
    def root(self) -> str:
        """The URI of the folder."""
        return f"{SCHEME}{self.name}"

    @property
    def uri(self) -> str:
        """The URI of `SKILL.md`, which identifies the skill."""
        return f"{self.root}/{MAIN_FILE}"

    @cached_property
    def by_uri(self) -> Mapping[str, SkillFile]:
        """The files by their URIs."""
        return {f"{self.root}/{file.path}": file for file in self.files}

    @cached_property
    def entry(self) -> JsonObject:
        """The entry of the skill in lists, with the digest and the size in bytes of each file."""
        files = [{"uri": uri, "digest": file.digest, "size": len(file.content)} for uri, file in self.by_uri.items()]
        frontmatter = {"name": self.name, "description": self.description}
        return {"uri": self.uri, "frontmatter": frontmatter, "resources": files}


def frontmatter(name: str, description: str) -> str:
    """Return the beginning of `SKILL.md`. A JSON string is a string of YAML 1.2 too, whatever it holds."""
    fields = {"name": name, "description": description}
    lines = [f"{field}: {json.dumps(value, ensure_ascii=False)}" for field, value in fields.items()]
    return "\n".join(["---", *lines, "---", ""])


_NO_NAME: Final = re.compile(r"[^a-z0-9]+")


def slug(text: str, default: str) -> str:
    """Return a text as a name: letters of ASCII and digits, with single hyphens between; `default` where none is left.

    A name that is too long ends after a word.
    """
    name = _NO_NAME.sub("-", text.lower()).strip("-")
    if len(name) > MAX_NAME:
        name = name[: MAX_NAME + 1].rpartition("-")[0] or name[:MAX_NAME]
    return name.strip("-") or default
