"""`Offer`: tools as a server offers them: listed or searched, all of them or those of a token's rights.

`ServedTools` is what a `Bridge` and a `Gateway` have in common.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from . import modes
from .compilation import DocumentInfo
from .config import Config
from .runtime.server.catalog import BuiltinTool, Catalog, ListedTool
from .runtime.tool import Tool

if TYPE_CHECKING:
    from .authorization.rights import ScopeRights
    from .runtime.search.index_store import IndexStore
    from .skills.skill import Skill
    from .skills.source import ApiSkills


@dataclass(frozen=True)
class Offer:
    """Some tools, and the settings that decide how they are offered.

    `sizes` are the bytes of each tool in the list, by its name. Indexes of searches are kept in `store`; `workflows`
    are listed first, in every mode.
    """

    tools: tuple[Tool, ...]
    config: Config
    sizes: Mapping[str, int]
    store: "IndexStore | None" = field(default=None, repr=False)
    workflows: tuple[BuiltinTool, ...] = ()

    @cached_property
    def mode_decision(self) -> modes.ModeDecision:
        """The choice between list and search, with its reason."""
        return modes.decide(self.config.mode, self.tools, self.sizes, self.config.max_listed_tools)

    @cached_property
    def catalog(self) -> Catalog:
        """The tools as clients get them: listed, in pages of `page_size` if that is set, or by a search."""
        return self._catalog_of(self.workflows + self.tools, self.config.mode)

    @cached_property
    def rights(self) -> "ScopeRights":
        """The tools that the scopes of an access token allow, offered in the way that the whole is."""
        from .authorization.rights import ScopeRights

        searched = modes.Mode.CODE if self.config.mode is modes.Mode.CODE else modes.Mode.SEARCH
        mode = searched if self.mode_decision.searches else modes.Mode.ALL
        return ScopeRights(
            self.workflows + self.tools,
            self.config.auth_rights,
            self.catalog,
            lambda tools: self._catalog_of(tools, mode),
        )

    def skills(self, info: DocumentInfo) -> "Callable[[], ApiSkills] | None":
        """Return what makes the skill of the API at its first request; None where the user wants none."""
        return None if self.config.no_skills else partial(self._skills, info)

    def _skills(self, info: DocumentInfo) -> "ApiSkills":
        from .skills.source import ApiSkills

        return ApiSkills(lambda catalog: [self.skill(info, catalog)])

    def skill(self, info: DocumentInfo, catalog: Catalog) -> "Skill":
        """Return the skill of the API, for a caller that has the tools of a catalog."""
        from .skills.composition import compose

        own, read_only = self.config.instructions, self.config.selection.read_only
        text = info.instructions or "" if own is None else own
        return compose(info.implementation, text, catalog.operations, catalog.tools, read_only=read_only)

    def check(self) -> None:
        """Raise UsageError for a pin that is no tool, or a pattern of scopes that matches none."""
        if self.config.pinned:
            modes.check_pins(self.tools, self.config.pinned)
        if self.config.auth_rights.patterns:
            self.config.auth_rights.check(self.tools)

    def _catalog_of(self, listed: Sequence[ListedTool], mode: modes.Mode) -> Catalog:
        tools = [tool for tool in listed if isinstance(tool, Tool)]
        workflows = [tool for tool in listed if isinstance(tool, BuiltinTool)]
        names, profile = {tool.name for tool in tools}, self.config.profile
        catalog = modes.catalog(
            tools,
            mode,
            [name for name in self.config.pinned if name in names],
            page_size=self.config.page_size,
            sizes=self.sizes,
            limits=self.config.code_limits,
            store=self.store,
            max_listed=self.config.max_listed_tools,
            select=self.config.select,
            workflows=workflows,
        )
        if workflows:
            catalog = catalog.beginning_with(workflows)
        if not (profile.changes_schemas or profile.max_description):
            return catalog
        from .adaptation import ClientCatalog

        return ClientCatalog(catalog, profile, self.config.page_size)


class ServedTools(ABC):
    """The tools of a `Bridge` or of a `Gateway`, as a server offers them."""

    @property
    @abstractmethod
    def offer(self) -> Offer:
        """The tools as a server offers them."""

    @property
    def catalog(self) -> Catalog:
        """The tools as clients get them: listed, in pages of `page_size` if that is set, or by a search."""
        return self.offer.catalog

    @property
    def rights(self) -> "ScopeRights":
        """The tools that the scopes of an access token allow, offered in the way that the whole is."""
        return self.offer.rights

    @property
    def mode_decision(self) -> modes.ModeDecision:
        """The choice between list and search, with its reason."""
        return self.offer.mode_decision
