"""`Call`: a call that was sent by a tool which makes several; `report`: the list of them, for a model to go on from.

The calls of such a tool are not undone when it fails, so they are listed whether it ends well or not, with those first
that may have changed something.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from ..runtime.tool import READ_ONLY_METHODS, Tool
from .values import is_small_value

_MAX_ARGUMENTS: Final = 120
"""Characters of the arguments of a call in errors and lists."""

MAX_ARGUMENT: Final = 40
"""Characters of one argument there, and of an id."""

_MAX_LISTED: Final = 20
"""Calls that may have changed something and are listed one by one after an error."""

_MAX_GROUPS: Final = 12
"""Tools whose calls are counted in the list; the calls of others are counted together."""


@dataclass(slots=True, eq=False)
class Call:
    """A call that was sent. `status` is that of the response, 0 if none came; `made` the id of what was made."""

    tool: Tool
    arguments: str
    status: int = 0
    made: str = ""

    @property
    def changes(self) -> bool:
        """True if the call may have changed something."""
        return self.tool.method not in READ_ONLY_METHODS and self.tool.annotations.get("readOnlyHint") is not True

    @property
    def outcome(self) -> str:
        """The status in words."""
        return str(self.status) if self.status else "no response"


def report(calls: Sequence[Call], when: str = "") -> str:
    """Return the list of some calls, those first that may have changed something; empty if there are none.

    They are counted by tool and status. With `when` ("before the error"), each of the first has a line with its
    arguments, so that the next program can go on from there.
    """
    if not calls:
        return ""
    count = f"{len(calls)} call{'' if len(calls) == 1 else 's'} made"
    changing = [call for call in calls if call.changes]
    reading = _groups(call for call in calls if not call.changes)
    if not when:
        return f"{count}: {_joined([*_groups(changing, ' (changing)'), *reading])}."
    if not changing:
        return f"{count} {when}: {_joined(reading)}."
    lines = [f"- {call.tool.name}({call.arguments}): {call.outcome}{_made(call)}" for call in changing[:_MAX_LISTED]]
    if more := changing[_MAX_LISTED:]:
        lines.append(f"- {_joined(_groups(more))}")
    head = f"{count} {when}. These may have changed something, and are not undone:"
    return "\n".join([head, *lines, *([f"Only read: {_joined(reading)}."] if reading else [])])


def _groups(calls: Iterable[Call], remark: str = "") -> list[str]:
    """Return the tools of some calls with their statuses: `getPet 200 x3, 404`."""
    statuses: dict[str, Counter[str]] = {}
    for call in calls:
        statuses.setdefault(call.tool.name, Counter())[call.outcome] += 1
    return [
        f"{name} {', '.join(f'{status} x{count}' if count > 1 else status for status, count in counts.items())}{remark}"
        for name, counts in statuses.items()
    ]


def _joined(groups: Sequence[str]) -> str:
    more = len(groups) - _MAX_GROUPS
    return "; ".join([*groups[:_MAX_GROUPS], *([f"and {more} more tools"] if more > 0 else [])])


def _made(call: Call) -> str:
    return f", id {call.made}" if call.made and call.status < 400 else ""


def shorten(arguments: Mapping[str, Any]) -> str:
    """Return arguments as they are written in a call, shortened."""
    parts = [f"{name}={_shown(value)}" for name, value in islice(arguments.items(), _MAX_LISTED)]
    text = ", ".join(parts)
    return text if len(text) <= _MAX_ARGUMENTS else f"{text[: _MAX_ARGUMENTS - 1]}…"


def _shown(value: Any) -> str:
    text = (
        json.dumps(value[:MAX_ARGUMENT] if isinstance(value, str) else value, ensure_ascii=False)
        if (isinstance(value, str) or is_small_value(value))
        else "…"
    )
    return text if len(text) <= MAX_ARGUMENT else f"{text[: MAX_ARGUMENT - 1]}…"
