"""Values that the compile side takes and returns: options of a compilation, its tools and problems, and its document.

Values only, so that a cached compilation is read without the code that makes one. Nothing but the document and its
`CompileOptions` decides about the tools: the same document with equal options has the same tools.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from .document.addresses import Certificates
from .egress.policy import NO_RULES, EgressRules
from .errors import Problem
from .runtime.tool import Tool
from .runtime.types import Implementation
from .selection import Selection
from .token_budget import FULL, TokenBudget, ToolLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseUrlOptions:
    """The user's choice among a document's servers.

    `server` picks one of the root's servers by index, URL, name or description; `variables` are values of server
    variables, by name.
    """

    server: int | str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


MAX_INSTRUCTIONS: Final = 1200
"""Characters, some 300 tokens: clients put the instructions before every conversation, on any subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """All options that the tools of a document depend on.

    `headers` are sent when the document is fetched, to its own origin only, and `certificates` are used then;
    `allow_remote_refs` lets it refer to files on other hosts, which `egress` limits. `overlays` are paths and URLs of
    overlays that change it, in order. `selection` chooses operations, `servers` their base URLs; `token_budget` limits
    the tools' texts, `max_instructions` the characters of the server's instructions.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    certificates: Certificates = field(default_factory=Certificates)
    allow_remote_refs: bool = False
    overlays: tuple[str, ...] = ()
    egress: EgressRules = NO_RULES
    selection: Selection = field(default_factory=Selection)
    servers: BaseUrlOptions = field(default_factory=BaseUrlOptions)
    token_budget: TokenBudget = field(default_factory=TokenBudget)
    max_instructions: int = MAX_INSTRUCTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Compilation:
    """The tools and problems of a document.

    `operations` counts all operations of the document, `excluded` those that the user left out. `limits` are those of
    each tool's texts; `sizes` are the bytes of each tool's entry in tools/list of the newest revision. `base_urls` are
    those of all operations, also of those that were left out. `facts` are sentences about the tools, for the server's
    instructions: a start with cached tools does not read them all.
    """

    tools: tuple[Tool, ...]
    problems: tuple[Problem, ...] = ()
    operations: int = 0
    excluded: int = 0
    limits: ToolLimits = FULL
    sizes: tuple[int, ...] = ()
    base_urls: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()

    @property
    def lost_operations(self) -> int:
        """The number of operations that are neither tools nor excluded: each has its Problem."""
        return sum(problem.operation is not None for problem in self.problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthScheme:
    """The OAuth endpoints of a security scheme (`oauth2` or `openIdConnect`): absolute URLs, None where there is none.

    `flows` are the names of its flows in the document; `scopes` are those that its operations demand.
    """

    name: str
    flows: tuple[str, ...] = ()
    token_url: str | None = None
    refresh_url: str | None = None
    authorization_url: str | None = None
    device_url: str | None = None
    metadata_url: str | None = None
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentInfo:
    """Facts about a document that a server needs once the document itself is released.

    `uri` (without a query), `version`, `problems`, `digests` and `validators` are those of the Document (the version as
    the document has it); `unread` names files that it refers to and that could not be read. `security_schemes` names
    all that are defined, used or not; `oauth_schemes` are those whose credential is an OAuth token. `implementation` is
    that of the MCP server. `instructions` are the document's own text for them, which `instructions_links` end; without
    a limit they would have `instructions_length` characters. With `is_private` the document came from this machine or
    from a private address.
    """

    uri: str
    version: str
    implementation: Implementation
    instructions: str | None = None
    instructions_length: int = 0
    instructions_links: str = ""
    security_schemes: tuple[str, ...] = ()
    oauth_schemes: tuple[OAuthScheme, ...] = ()
    problems: tuple[Problem, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    validators: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    is_private: bool = True
