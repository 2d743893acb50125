"""`Repair`: a change of a document, with its reason, and the place that it is made at."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...document.model import split
from ...overlay.paths import Location
from ..subject import JudgedDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A change at a place of the document as it is written: first `remove` is removed, then `update` is merged.

    `remove` has names of an object, or entries of a list of texts. `query` selects several places instead.
    """

    rule: str
    location: Location
    reason: str
    update: Mapping[str, Any] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    query: str = ""


def location_of(subject: JudgedDocument, pointer: str) -> Location | None:
    """Return the place of a pointer in the root document as it is written; None for one in another file."""
    shown = subject.display(pointer)
    if not shown.startswith("#"):
        return None
    location: list[str | int] = []
    node: Any = subject.document.as_written().root
    for token in split(shown):
        key: str | int = int(token) if isinstance(node, list) and token.isdecimal() else token
        try:
            node = node[key]
        except (LookupError, TypeError):
            return None
        location.append(key)
    return tuple(location)


def repair(
    subject: JudgedDocument,
    rule: str,
    pointer: str,
    reason: str,
    update: Mapping[str, Any],
    *,
    remove: Sequence[str] = (),
) -> Iterator[Repair]:
    """Yield a repair of the place of a pointer; nothing where that is in another file."""
    location = location_of(subject, pointer)
    if location is not None:
        yield Repair(rule=rule, location=location, reason=reason, update=update, remove=tuple(remove))


def is_swagger(subject: JudgedDocument) -> bool:
    """Return whether a document is of Swagger 2.0 as it is written."""
    return subject.document.source is not None
