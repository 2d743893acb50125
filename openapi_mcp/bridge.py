"""`Bridge`: the whole pipeline as one object, from a document to a server. It decides nothing; its parts do.

The document itself is only there where somebody asks for it: a server works without.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Self

from . import cache, offering
from .cache import Cache
from .compiled import Compiled, Origin
from .config import Config
from .errors import Problem, UnknownTool
from .keeping import Keeper
from .naming import nearest
from .rate_limits import rate_limit
from .runtime.catalog import Catalog
from .runtime.models import SecurityScheme, Tool
from .runtime.protocol import ServerDescription
from .runtime.requests import RequestOptions
from .runtime.server import Server
from .runtime.types import Implementation

if TYPE_CHECKING:
    from .document import Document
    from .drift import DriftLog


@dataclass(frozen=True)
class Bridge:
    """The tools that a document made, and what was asked for."""

    config: Config
    origin: Origin
    compiled: Compiled
    read: "Document | None" = field(default=None, repr=False, compare=False)
    """The document, where it was read and is to be needed again."""

    @classmethod
    def open(
        cls, config: Config, progress: Callable[[str], None] = lambda _: None, *, with_document: bool = False
    ) -> Self:
        """Load a document and make its tools; `progress` is told each step. Raises DocumentError.

        Where the same tools were made before they come from the cache. A document that was read and is to be needed
        again (`with_document`) is held; else it is let go, and read once more by who wants it.
        """
        progress(f"reading {config.source}")
        keeper = Keeper(Cache(cache.folder()), config.source, config.wanted) if not config.no_cache else None
        if keeper and (made := keeper.find()):
            return cls(config, *made)
        from . import compiling

        document = compiling.load(config.source, config.wanted, progress)
        progress("making tools")
        made = compiling.origin(document), compiling.compiled(document, config.wanted)
        if keeper:
            keeper.keep(made)
        return cls(config, *made, document if with_document or config.check_contract else None)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, in the order of the document."""
        return self.compiled.tools

    @property
    def sizes(self) -> Mapping[str, int]:
        """The bytes that each tool takes in the list, by its name."""
        return dict(zip((tool.name for tool in self.tools), self.compiled.sizes, strict=True))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the document, as far as loading it and making tools showed."""
        return self.origin.problems + self.compiled.problems

    @property
    def implementation(self) -> Implementation:
        """Who the server says it is: the document's title and version, and how a client may show it."""
        return self.origin.implementation

    @cached_property
    def document(self) -> "Document":
        """The document as OpenAPI 3.x, read again if it has been let go. Raises DocumentError."""
        from . import compiling

        return self.read or compiling.load(self.config.source, self.config.wanted)

    @cached_property
    def catalog(self) -> Catalog:
        """The tools as they are offered: listed, in pages where one would be too large for clients, or by a search."""
        return offering.catalog(
            self.tools,
            self.config.mode,
            self.config.pinned,
            page_size=self.config.page_size,
            sizes=self.sizes,
            limits=self.config.code_limits,
        )

    @property
    def offering(self) -> offering.Offering:
        """Whether the tools are listed or searched, and why."""
        return offering.offering(self.config.mode, self.tools, self.sizes)

    def tool(self, name: str) -> Tool:
        """The tool of that name. Raises UnknownTool, which suggests the nearest."""
        tools = {tool.name: tool for tool in self.tools}
        if name not in tools:
            hint = nearest(name, tools) or f"openapi-mcp inspect {self.config.source}"
            raise UnknownTool(f"there is no tool {name}", where=self.config.source, hint=hint)
        return tools[name]

    def security_schemes(self) -> tuple[SecurityScheme, ...]:
        """The security schemes that the tools use, each once, in the order they appear."""
        schemes = (scheme for tool in self.tools for alternative in tool.security for scheme in alternative)
        return tuple(dict.fromkeys(schemes))

    def request_options(self, environment: Mapping[str, str] = os.environ) -> RequestOptions:
        """How the tools' requests are made, with the credentials that are there."""
        return self.config.request_options(self.security_schemes(), environment)

    def validate(self) -> Iterator[Problem]:
        """What openapi-core's validator finds; takes seconds on a big document."""
        from . import validation

        return validation.validate(self.document)

    @cached_property
    def drift(self) -> "DriftLog | None":
        """The contract check of the calls that this bridge's servers make, if it was asked for; to be closed."""
        if not self.config.check_contract:
            return None
        from .contract import Contract
        from .drift import DriftLog

        options = self.request_options()
        secrets = [*options.credentials.values(), *(value for _, value in options.headers)]
        return DriftLog(Contract(self.document, secrets))

    def description(self, *, list_changed: bool = False) -> ServerDescription:
        """What a server of these tools says of itself."""
        return ServerDescription(
            implementation=self.implementation,
            instructions=self.origin.instructions,
            list_changed=list_changed,
            explicit_fields=self.config.explicit_fields,
        )

    def server(self, *, list_changed: bool = False) -> Server:
        """An MCP server of these tools, not yet on any transport; `list_changed`: its clients hear of other tools."""
        return Server(
            self.catalog,
            self.description(list_changed=list_changed),
            self.config.upstream(),
            options=self.request_options(),
            max_result_bytes=self.config.max_result_bytes,
            limiter=rate_limit(self.config.rate_limit) if self.config.rate_limit else None,
            observer=self.drift.observe if self.drift else None,
        )
