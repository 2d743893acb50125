"""`Wanted`: everything that a user may ask of the making of tools, and nothing else.

Whoever makes tools gets this and no other option: so tools that were made for the same document and an equal `Wanted`
are the same tools.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .economy import Economy
from .selection import Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseUrlOptions:
    """What a user chose among a document's servers.

    `server` picks one of the root's servers by index, URL, name or description; `variables` are values of server
    variables, by name.
    """

    server: int | str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How a document is read and which tools are made of it.

    `headers` are sent when it is fetched, to its own origin; `allow_remote_refs` lets it pull in files of other hosts.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    allow_remote_refs: bool = False
    selection: Selection = field(default_factory=Selection)
    servers: BaseUrlOptions = field(default_factory=BaseUrlOptions)
    economy: Economy = field(default_factory=Economy)
