"""What options would make of a list's size: each is tried, so that what is shown is what would be."""

from collections.abc import Iterator
from dataclasses import replace

from . import budget
from .bridge import Bridge
from .economy import Economy
from .mode import Mode
from .runtime.hints import READ_ONLY_METHODS
from .runtime.search import is_available
from .runtime.search_tools import search_catalog


def with_options(bridge: Bridge) -> Iterator[tuple[str, int]]:
    """An option that would change the list, and the tokens of the list with it."""
    config = bridge.config
    if not config.selection.read_only:
        sizes = zip(bridge.tools, bridge.compiled.sizes, strict=True)
        yield "--read-only", budget.total(size for tool, size in sizes if tool.method in READ_ONLY_METHODS)
    if not config.compact:
        yield "--compact", _tokens(bridge, Economy(compact=True, max_tools=config.max_tools))
    if bridge.offering.searches:
        yield "--mode all", _tokens(bridge, replace(config, mode=Mode.ALL).wanted.economy)
    elif is_available():
        searched = search_catalog(bridge.tools).tools
        yield "--mode search", budget.total(map(budget.size, searched))
    if not bridge.compiled.room.is_whole:
        yield "nothing shortened", _tokens(bridge, Economy(budget=None, max_tools=config.max_tools))


def _tokens(bridge: Bridge, economy: Economy) -> int:
    from . import compiling

    return budget.total(compiling.compiled(bridge.document, replace(bridge.config.wanted, economy=economy)).sizes)
