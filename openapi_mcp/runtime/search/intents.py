"""Intents: what a request wants to be done, and what a tool does: read, create, change or delete.

A request says it by the verb that it begins with; one without such a verb asks for something. A tool says it by its
method, and where that is POST by the words of its path: `/flows/filter` reads, `/issues/{id}/close` changes.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from ..tool import Tool
from .vocabulary import words

_VERBS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "read": """
get list fetch show find read retrieve view see look display return query tell check inspect watch poll download export
count monitor track compare preview summarize describe browse open search lookup locate filter discover match seek peek
diff validate
""",
        "create": """
create add make new post insert register place submit build generate upload write file issue schedule book provision
launch send invite grant give attach allow import copy clone duplicate fork sign verify record log request apply start
run trigger execute share publish deploy enroll link connect map stamp store save install trust ask charge pay buy order
reserve subscribe follow star like draft open set put autocomplete translate transcribe convert redeem let assign
compute calculate test simulate borrow lend rent
""",
        "change": """
update change edit modify patch set put replace rename adjust correct move switch turn alter mark assign enable disable
close resolve finish lock unlock activate deactivate pause resume promote demote reset rotate renew extend finalize
finalise choose define reorder transfer merge approve reject accept restore undelete archive unarchive stop end cancel
complete increase decrease raise lower limit force refresh resize reboot restart scale pin unpin mute unmute suspend
convert attach let allow make give stamp store save protect configure
""",
        "delete": """
delete remove drop erase destroy clear cancel revoke purge discard trash unset stop end undo uninvite unfollow uninstall
unassign unlink detach disconnect unsubscribe kick unban withdraw wipe empty forget disable deregister unregister unstar
unpin release terminate kill
""",
    }
)
"""The intents, and the verbs that express each; a verb may express several."""

_INTENTS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        verb: frozenset(intent for intent, verbs in _VERBS.items() if verb in verbs.split())
        for verb in " ".join(_VERBS.values()).split()
    }
)

_POLITE_WORDS: Final = "please can could you i we want need to would like let's lets help me us now just also"
_POLITE: Final = frozenset(_POLITE_WORDS.split())
"""Words that precede the verb of a request."""

_QUESTION_WORDS: Final = """
who whom whose which what when where why how is are was were do does did has have had many much
"""
_QUESTION: Final = frozenset(_QUESTION_WORDS.split())
_CLAUSE_END: Final = re.compile(r"\b(?:and then|then|and)\b|[,;.]\s", re.IGNORECASE)

_METHODS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {"DELETE": frozenset({"delete"}), "PATCH": frozenset({"change"}), "PUT": frozenset({"change", "create"})}
    | dict.fromkeys(("GET", "HEAD", "OPTIONS", "QUERY", "TRACE"), frozenset({"read"}))
)
_READING_WORDS: Final = frozenset(
    ("search", "query", "find", "lookup", "filter", "paginate", "count", "list", "get", "read")
)
"""The first or last word of the path of a POST that reads."""


class Intents(NamedTuple):
    """The intents of a request; `is_certain` if its verb says so."""

    kinds: frozenset[str]
    is_certain: bool


def request_intents(text: str) -> Intents:
    """Return the intents of the verb that begins a request, and of those that begin its other clauses."""
    first, *others = [_intents_of_clause(clause) for clause in _CLAUSE_END.split(text)]
    kinds = (first or frozenset({"read"})).union(*filter(None, others))
    return Intents(kinds, first is not None)


def _intents_of_clause(clause: str) -> frozenset[str] | None:
    """Return the intents of the first word that is not polite; None if it is no verb."""
    for word in map(str.casefold, words(clause)):
        if word in _QUESTION:
            return frozenset({"read"})
        if word not in _POLITE:
            return _INTENTS.get(word)
    return None


def tool_intents(tool: Tool) -> frozenset[str]:
    """Return the intents that a tool serves."""
    return _METHODS[tool.method] if tool.method in _METHODS else frozenset(_intents_of_post(tool))


def _intents_of_post(tool: Tool) -> Iterable[str]:
    path = [segment for segment in tool.path.partition("#")[0].partition("?")[0].split("/") if segment]
    last = [] if not path or "{" in path[-1] else [word.casefold() for word in words(path[-1])]
    if not _READING_WORDS.isdisjoint((*last[:1], *last[-1:])):
        return {"read"}
    in_title = [word.casefold() for word in words(tool.title or "")[:1]]
    kinds = _intents_of((*last[:1], *last[-1:])) or _intents_of(in_title)
    is_action = bool(last) and len(path) > 1 and "{" in path[-2] and not last[-1].endswith("s")
    if path and "{" in path[-1]:  # a POST to one thing
        return kinds | {"change", "create"}
    return kinds | {"change"} if is_action else kinds or {"create"}


def _intents_of(verbs: Iterable[str]) -> frozenset[str]:
    return frozenset[str]().union(*(_INTENTS.get(verb, ()) for verb in verbs))
