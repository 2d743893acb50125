"""What options would make of a list's size: each is tried, so that what is shown is what would be."""

from collections.abc import Iterator
from dataclasses import replace

from . import budget
from .bridge import Bridge
from .compiled import Compiled
from .economy import Economy
from .mode import Mode
from .runtime.hints import READ_ONLY_METHODS
from .runtime.search import is_available
from .runtime.search_tools import search_catalog


def with_options(bridge: Bridge) -> Iterator[tuple[str, int]]:
    """Options that would change the list, and the tokens of the list with them.

    A search is as short with any of them; where tools are searched, they are tried on the list of all.
    """
    config, searches = bridge.config, bridge.offering.searches
    listed = _compiled(bridge, replace(config, mode=Mode.ALL).wanted.economy) if searches else bridge.compiled
    more = "--mode all " if searches else ""
    if searches:
        yield "--mode all", budget.total(listed.sizes)
    if not config.selection.read_only:
        sizes = zip(listed.tools, listed.sizes, strict=True)
        yield f"{more}--read-only", budget.total(size for tool, size in sizes if tool.method in READ_ONLY_METHODS)
    if not config.compact:
        compact = _compiled(bridge, Economy(compact=True, max_tools=config.max_tools))
        yield f"{more}--compact", budget.total(compact.sizes)
    if not searches and is_available():
        searched = search_catalog(bridge.tools).tools
        yield "--mode search", budget.total(map(budget.size, searched))
    if not listed.room.is_whole:
        whole = _compiled(bridge, Economy(budget=None, max_tools=config.max_tools))
        yield f"{more and more + 'and '}nothing shortened", budget.total(whole.sizes)


def _compiled(bridge: Bridge, economy: Economy) -> Compiled:
    from . import compiling

    return compiling.compiled(bridge.document, replace(bridge.config.wanted, economy=economy))
