"""Write overlays: what leads from one document to another, and a starter for a document's tools."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ..runtime.tool import Tool
from ..runtime.types import JsonObject
from .paths import Location, normalized

VERSION: Final = "1.1.0"


def difference(old: JsonObject, new: JsonObject, title: str) -> JsonObject:
    """Return an overlay that turns `old` into `new` when it is applied."""
    return _overlay(title, list(_actions(old, new, ())))


def _overlay(title: str, actions: list[JsonObject]) -> JsonObject:
    return {"overlay": VERSION, "info": {"title": title, "version": "1.0.0"}, "actions": actions}


def _actions(old: Mapping[str, Any], new: Mapping[str, Any], location: Location) -> Iterator[JsonObject]:
    """Yield the actions for an object: removals first, then what is replaced or new, then what changed inside."""
    replaced = [name for name, value in old.items() if name in new and _is_replaced(value, new[name])]
    for name in (*(name for name in old if name not in new), *replaced):
        yield {"target": normalized((*location, name)), "remove": True}
    update = {name: value for name, value in new.items() if name not in old or name in replaced}
    for name, value in new.items():
        if name in old and name not in replaced and not isinstance(value, dict | list) and not _equal(old[name], value):
            update[name] = value
        elif name in old and name not in replaced and isinstance(value, list) and not _equal(old[name], value):
            update[name] = value[len(old[name]) :]  # `_is_replaced` lets only longer lists pass
    if update:
        yield {"target": normalized(location), "update": update}
    for name, value in old.items():
        if name in new and name not in replaced and isinstance(value, dict):
            yield from _actions(value, new[name], (*location, name))


def _is_replaced(old: Any, new: Any) -> bool:
    """Return whether a value has to be removed first, since merging would not give the new one."""
    if isinstance(old, dict) and isinstance(new, dict):
        return False
    if isinstance(old, list) and isinstance(new, list):
        return not _equal(old, new[: len(old)])
    return isinstance(old, dict | list) or isinstance(new, dict | list)


def _equal(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON: true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return type(one) is type(other) and bool(one == other)


def starter(tools: Iterable[Tool], title: str) -> JsonObject:
    """Return an overlay with an `x-mcp` for each tool: its name, title and description as they are, not hidden."""
    actions = []
    for tool in tools:
        path = tool.path.partition("?")[0]
        texts = {"title": tool.title, "description": tool.description}
        facts = {"name": tool.name, **{name: text for name, text in texts.items() if text}, "hidden": False}
        actions.append({"target": normalized(("paths", path, tool.method.lower())), "update": {"x-mcp": facts}})
    return _overlay(title, actions)
