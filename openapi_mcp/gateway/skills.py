"""The skills of a server of several APIs: one for each API, about its tools by the names that clients see."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..bridge import Bridge
from ..runtime.server.catalog import Catalog, ListedTool
from ..runtime.tool import Tool
from ..skills.composition import compose
from ..skills.skill import MAX_NAME, Skill, slug
from ..skills.source import ApiSkills


class GatewaySkills(ApiSkills):
    """The skills of some APIs; `api_of` has the API of each tool and workflow, by the name that clients see."""

    def __init__(self, bridges: Mapping[str, Bridge], api_of: Mapping[str, str]) -> None:
        super().__init__(lambda catalog: list(self._composed(catalog)))
        self._bridges = bridges
        self._api_of = api_of

    def _composed(self, catalog: Catalog) -> Iterator[Skill]:
        """Yield a skill for each API of which a caller has a tool."""
        for (api, bridge), name in zip(self._bridges.items(), distinct_slugs(self._bridges), strict=True):
            listed = [tool for tool in catalog.tools if self._api_of.get(tool.name, api) == api]
            # The first tag of a tool here is the name of its API, which would be the one group of all of them.
            tools = [replace(tool, tags=tool.tags[1:]) for tool in catalog.operations if self._api_of[tool.name] == api]
            if tools:
                yield _skill(name, bridge, tools, listed)


def _skill(name: str, bridge: Bridge, tools: Sequence[Tool], listed: Sequence[ListedTool]) -> Skill:
    """Return the skill of an API, whose name is that of its table in the settings."""
    about = replace(bridge.implementation, name=name)
    text, read_only = bridge.document_info.instructions or "", bridge.config.selection.read_only
    return compose(about, text, tools, listed, read_only=read_only)


def distinct_slugs(names: Iterable[str]) -> list[str]:
    """Return the names of skills of some APIs, each another one."""
    slugs: dict[str, None] = {}
    for name in names:
        made, number = slug(name, "api"), 1
        while made in slugs:
            number += 1
            made = f"{slug(name, 'api')[: MAX_NAME - 4]}-{number}"
        slugs[made] = None
    return list(slugs)
