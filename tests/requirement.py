"""`Requirement`: a sentence of the specification that binds a server of tools, and the tests that prove it.

A test is `path::function`, or `path.jsonl::heading` for the messages under a heading of a transcript. `{revision}` in a
path stands for each revision of the requirement.
"""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Level: TypeAlias = Literal["MUST", "SHOULD"]

HANDSHAKE: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS: Final = ("2026-07-28",)
ALL: Final = HANDSHAKE + STATELESS
SESSIONS: Final = HANDSHAKE[1:]
"""The revisions with Streamable HTTP of the handshake era."""

RUNTIME: Final = "tests/runtime/"
PROTOCOL: Final = "tests/runtime/protocol/test_"


@dataclass(frozen=True, slots=True)
class Requirement:
    """A rule in our own words; `section` is its place in the specification of each of `revisions`.

    A rule of a page of which every rule is listed may bind somebody else: then it has a `reason` instead of tests.
    `keywords` is how often MUST or SHOULD stands in its passage, where that is counted.
    """

    id: str
    level: Level
    revisions: tuple[str, ...]
    section: str
    sentence: str
    tests: tuple[str, ...]
    reason: str = ""
    keywords: int = 0


def must(name: str, revisions: tuple[str, ...], section: str, sentence: str, *tests: str) -> Requirement:
    """Return a requirement that the specification demands."""
    return Requirement(name, "MUST", revisions, section, sentence, tests)


def should(name: str, revisions: tuple[str, ...], section: str, sentence: str, *tests: str) -> Requirement:
    """Return a requirement that the specification recommends and this server meets."""
    return Requirement(name, "SHOULD", revisions, section, sentence, tests)


def under(heading: str, transcript: str, revision: str = "{revision}") -> str:
    """Return the test for a heading in the transcripts of one name, of each revision or of one."""
    return f"tests/conversations/{revision}/{transcript}.jsonl::{heading}"
