"""Write overlays: what leads from one document to another, and a starter for a document's tools."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..runtime.tool import Tool
from ..runtime.types import JsonObject
from .application import MAX_ACTIONS
from .paths import Location, normalized

VERSION: Final = "1.1.0"


class _Difference(NamedTuple):
    """A change of the object at a location: a property that is removed, or an update."""

    location: Location
    removed: str | None = None
    update: Mapping[str, Any] | None = None


def difference(old: JsonObject, new: JsonObject, title: str) -> JsonObject:
    """Return an overlay that turns `old` into `new` when it is applied: an action for each object that differs.

    Of more than MAX_ACTIONS, updates are joined in one, then whole fields of the root are replaced.
    """
    changes = list(_changes(old, new, ()))
    actions = [_action(change) for change in changes]
    if len(actions) > MAX_ACTIONS:
        actions = list(_joined(changes))
    if len(actions) > MAX_ACTIONS:
        actions = [_action(change) for change in _whole_fields(old, new)]
    return _overlay(title, actions or [{"target": "$", "description": "The documents are the same.", "update": {}}])


def _overlay(title: str, actions: list[JsonObject]) -> JsonObject:
    return {"overlay": VERSION, "info": {"title": title, "version": "1.0.0"}, "actions": actions}


def _action(change: _Difference) -> JsonObject:
    if change.removed is not None:
        return {"target": normalized((*change.location, change.removed)), "remove": True}
    return {"target": normalized(change.location), "update": change.update}


def _joined(changes: Iterable[_Difference]) -> Iterator[JsonObject]:
    """Yield an action for the removals of each object, then one for all updates."""
    removed: dict[Location, list[str]] = {}
    whole: dict[str | int, Any] = {}
    for change in changes:
        if change.removed is not None:
            removed.setdefault(change.location, []).append(change.removed)
            continue
        node = whole
        for key in change.location:
            node = node.setdefault(key, {})
        node.update(change.update or {})
    for location, names in removed.items():
        selectors = ",".join(normalized((name,))[2:-1] for name in names)
        yield {"target": f"{normalized(location)}[{selectors}]", "remove": True}
    if whole:
        yield {"target": "$", "update": whole}


def _whole_fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[_Difference]:
    """Yield a removal of each field of the root that differs, then an update with those of the new document."""
    same = {name for name in old.keys() & new.keys() if _equal(old[name], new[name])}
    yield from (_Difference((), removed=name) for name in old if name not in same)
    if update := {name: value for name, value in new.items() if name not in same}:
        yield _Difference((), update=update)


def _changes(old: Mapping[str, Any], new: Mapping[str, Any], location: Location) -> Iterator[_Difference]:
    """Yield the changes of an object: removals first, then what is replaced or new, then what changed inside."""
    replaced = [name for name, value in old.items() if name in new and _is_replaced(value, new[name])]
    for name in (*(name for name in old if name not in new), *replaced):
        yield _Difference(location, removed=name)
    update = {name: value for name, value in new.items() if name not in old or name in replaced}
    for name, value in new.items():
        if name in old and name not in replaced and not isinstance(value, dict | list) and not _equal(old[name], value):
            update[name] = value
        elif name in old and name not in replaced and isinstance(value, list) and not _equal(old[name], value):
            update[name] = value[len(old[name]) :]  # `_is_replaced` lets only longer lists pass
    if update:
        yield _Difference(location, update=update)
    for name, value in old.items():
        if name in new and name not in replaced and isinstance(value, dict):
            yield from _changes(value, new[name], (*location, name))


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


def starter(tools: Iterable[Tool], places: Mapping[str, Location], title: str) -> JsonObject:
    """Return an overlay with an `x-mcp` for each tool: its name, title and description as they are, not hidden.

    `places` are those of the operations in the document, by `GET /pets`; tools without a place are left out.
    """
    actions = []
    for tool in tools:
        place = places.get(f"{tool.method} {tool.path}")
        if place is not None:
            texts = {"title": tool.title, "description": tool.description}
            facts = {"name": tool.name, **{name: text for name, text in texts.items() if text}, "hidden": False}
            actions.append({"target": normalized(place), "update": {"x-mcp": facts}})
    return _overlay(title, actions or [{"target": "$", "description": "No operation stands here.", "update": {}}])
