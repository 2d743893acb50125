"""Trace context in `params._meta`: well-formed values may be sent on, all others are ignored.

Specification: basic of 2026-07-28 ("Trace context"), W3C Trace Context §3.2 and §3.3, W3C Baggage §3.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

TRACEPARENT: Final = "traceparent"
TRACESTATE: Final = "tracestate"
BAGGAGE: Final = "baggage"

# Version, trace id, parent id, flags; version ff and ids of zeros are invalid (§3.2.2). Later versions may have more
# fields, whose form is not defined yet.
_TRACEPARENT: Final = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")

_STATE_MEMBER: Final = re.compile(r"[a-z0-9][a-z0-9_\-*/@]{0,255}=[ !-+\--<>-~]{0,255}[!-+\--<>-~]")
_BAGGAGE_KEY: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_BAGGAGE_VALUE: Final = re.compile(r"[!#-+\--:<-\[\]-~]*")

_MAX_STATE_MEMBERS: Final = 32  # Trace Context §3.3.1.1
_MAX_BAGGAGE_MEMBERS: Final = 64  # Baggage §3.3.2
_MAX_CHARACTERS: Final = 8192  # Baggage §3.3.2; a tracestate may be dropped above 512 characters


def read(meta: Any) -> Mapping[str, str]:
    """Return the well-formed trace context of a `_meta`, by the name of the header that carries it."""
    if not isinstance(meta, dict):
        return MappingProxyType({})
    context = {name: meta[name] for name, is_valid in _VALID.items() if name in meta and is_valid(meta[name])}
    if TRACEPARENT not in context:
        context.pop(TRACESTATE, None)  # meaningless without its traceparent (§3.3)
    return MappingProxyType(context)


def _is_traceparent(value: Any) -> bool:
    return isinstance(value, str) and _TRACEPARENT.fullmatch(value) is not None


def _is_tracestate(value: Any) -> bool:
    members = [member for member in _members(value) if member]  # empty members are allowed
    return 0 < len(members) <= _MAX_STATE_MEMBERS and all(map(_STATE_MEMBER.fullmatch, members))


def _is_baggage(value: Any) -> bool:
    members = _members(value)
    return 0 < len(members) <= _MAX_BAGGAGE_MEMBERS and all(map(_is_baggage_member, members))


def _is_baggage_member(text: str) -> bool:
    """Return whether a text is `key=value`, followed by any number of `;key` or `;key=value`."""
    pairs = [tuple(part.strip(" \t") for part in pair.partition("=")) for pair in text.split(";")]
    well_formed = all(_BAGGAGE_KEY.fullmatch(key) and _BAGGAGE_VALUE.fullmatch(value) for key, _, value in pairs)
    return pairs[0][1] == "=" and well_formed


def _members(value: Any) -> list[str]:
    """Return the members of a list in a header, without the white space around them; none for any other value."""
    if not isinstance(value, str) or len(value) > _MAX_CHARACTERS:
        return []
    return [member.strip(" \t") for member in value.split(",")]


_VALID: Final = MappingProxyType({TRACEPARENT: _is_traceparent, TRACESTATE: _is_tracestate, BAGGAGE: _is_baggage})
