"""Repairs as an overlay of few lines: those of one part in one action, equal ones for several parts in one target.

An update is merged into objects, so that the changes anywhere within an operation or a shared schema are one nested
update. What must go first (a list that is replaced, a media type's old name) is an action of its own before it.

Specification: OpenAPI Overlay 1.1, "Action Object"; RFC 9535 §2.7.
"""

import copy
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from ...overlay import text as yaml_text
from ...overlay.difference import VERSION
from ...overlay.paths import InvalidQuery, Location, node_at, normalized, select
from ...runtime.types import JsonObject
from .change import Repair

WIDTH: Final = 120
"""Columns of a line of the file."""

MAX_LINES: Final = 20
"""Lines up to which each part has its own action; in a longer file those of all parts are joined."""

MAX_EXAMPLES: Final = 60
"""Examples that are tried: more than twenty lines have room for."""

_PART: Final = 3
"""Keys that lead to an operation or a shared schema: paths, /pets, get; components, schemas, Pet."""


def overlay_of(
    rounds: Sequence[Iterable[Repair]], root: Any, title: str, earlier: Sequence[JsonObject] = ()
) -> JsonObject | None:
    """Return an overlay for a document as it is written; None where there is nothing to repair.

    Each round of repairs was found in the document that those before it had repaired, and all after the `earlier`
    actions. Examples and descriptions stand last, as many as there are
    lines for.
    """
    found = [list(repairs) for repairs in rounds]
    if not any(found):
        return None
    known = absorbed(earlier, root)
    kept: Sequence[JsonObject] = earlier if known is None else ()
    found = [*([known] if known else []), *found]
    extras = [repair for repairs in found for repair in repairs if repair.rule in EXTRAS]
    extras.sort(key=lambda repair: EXTRAS.index(repair.rule))
    others = [[repair for repair in repairs if repair.rule not in EXTRAS] for repairs in found]
    made = [_with_examples(_overlay(others, root, title, kept, depth), extras, root) for depth in (_PART, 1)]
    return max(made, key=lambda each: (line_count(each) <= MAX_LINES, example_count(each), -line_count(each)))


def absorbed(actions: Sequence[JsonObject], root: Any) -> list[Repair] | None:
    """Return the actions of an earlier overlay as repairs, so that they are joined with new ones.

    None where they are not of the kind that `fix` writes: first what goes, then updates, of places of the document.
    """
    repairs: list[Repair] = []
    kinds = [bool(action.get("remove")) for action in actions]
    if kinds != sorted(kinds, reverse=True) or any("copy" in action or "description" in action for action in actions):
        return None
    for action in actions:
        try:
            places = select(action["target"], root)
        except InvalidQuery:
            return None
        if "?" in action["target"] and "update" in action:
            query, update = action["target"], dict(action["update"])
            repairs.append(Repair(rule="", location=(), reason="", query=query, update=update))
            continue
        if not places or (not action.get("remove") and not isinstance(action.get("update"), dict)):
            return None
        for place in places:
            if action.get("remove"):
                key = node_at(root, place) if isinstance(place[-1], int) else place[-1]
                repairs.append(Repair(rule="", location=place[:-1], reason="", remove=(str(key),)))
            else:
                update = action["update"]
                rule = EXAMPLE if _are_examples(update) else ""
                repairs.append(Repair(rule=rule, location=place, reason="", update=update))
    return repairs


EXAMPLE: Final = "example-missing"
EXTRAS: Final = (EXAMPLE, "description-missing")
"""Rules whose repairs are made as long as there are lines, in this order."""


def _are_examples(update: Mapping[str, Any]) -> bool:
    return bool(update) and all(
        name in ("example", "examples") or (isinstance(value, dict) and _are_examples(value))
        for name, value in update.items()
    )


def example_count(overlay: JsonObject) -> int:
    """Return the number of examples in an overlay."""
    return len(_EXAMPLES.findall(json.dumps(overlay["actions"])))


_EXAMPLES: Final = re.compile(r'"examples?":')


def _with_examples(overlay: JsonObject, examples: Sequence[Repair], root: Any) -> JsonObject:
    """Return an overlay with examples, as long as there are lines for them: equal ones in one target."""
    best = overlay
    some = examples[:MAX_EXAMPLES] if line_count(overlay) < MAX_LINES else ()
    for count in range(1, len(some) + 1):
        shortest = min((_example_actions(some[:count], root, depth) for depth in (_WHOLE, 1)), key=_length)
        longer = {**overlay, "actions": [*overlay["actions"], *shortest]}
        if line_count(longer) <= MAX_LINES:
            best = longer
    return best


_WHOLE: Final = 1_000
"""Keys of a place: its update is an action of its own."""


def _example_actions(examples: Sequence[Repair], root: Any, depth: int) -> list[JsonObject]:
    updates: dict[Location, dict[str, Any]] = {}
    for repair in examples:
        anchor, value = _nested(repair.location, repair.update, depth)
        _merge(updates.setdefault(anchor, {}), value)
    return _updates(updates, root)


def _length(actions: Sequence[JsonObject]) -> int:
    return line_count({"overlay": VERSION, "info": {}, "actions": actions})


def _updates(updates: Mapping[Location, dict[str, Any]], root: Any) -> list[JsonObject]:
    return [{"target": target, "update": value} for target, value in _joined(updates, root)]


def line_count(overlay: JsonObject) -> int:
    """Return the lines of an overlay as it is written."""
    return len(written(overlay).splitlines())


def _overlay(
    rounds: Sequence[Sequence[Repair]], root: Any, title: str, earlier: Sequence[JsonObject], depth: int
) -> JsonObject:
    removals: dict[Location, None] = {}
    updates: dict[Location, dict[str, Any]] = {}
    queries: dict[str, dict[str, Any]] = {}
    for repairs in rounds:
        of_round: dict[Location, dict[str, Any]] = {}
        for repair in repairs:
            if repair.query:
                queries[repair.query] = dict(repair.update)
                continue
            removals |= dict.fromkeys((*repair.location, key) for key in repair.remove)
            if repair.update:
                anchor, value = _nested(repair.location, repair.update, depth)
                _merge(of_round.setdefault(anchor, {}), value)
        for anchor, value in of_round.items():
            _merge(updates.setdefault(anchor, {}), value, replaces=True)
    _cancel(removals, updates)
    actions = [*earlier, *({"target": target, "remove": True} for target in _removed(removals, root))]
    actions += [{"target": query, "update": value} for query, value in queries.items()]
    actions += _updates(updates, root)
    return {"overlay": VERSION, "info": {"title": title, "version": "1.0.0"}, "actions": actions}


def _cancel(removals: dict[Location, None], updates: Mapping[Location, dict[str, Any]]) -> None:
    """Leave out what one round removed from a list of required names, and a later one put back."""
    for *place, name in list(removals):
        for anchor, update in updates.items():
            if place[-1:] != ["required"] or anchor != tuple(place[: len(anchor)]):
                continue
            node: Any = update
            for key in place[len(anchor) : -1]:
                node = node.get(key) if isinstance(node, dict) else None
            if isinstance(node, dict) and name in node.get("required", ()):
                node["required"].remove(name)
                del removals[*place, name]
                if not node["required"]:
                    del node["required"]
                break


def _nested(location: Location, update: Mapping[str, Any], depth: int) -> tuple[Location, dict[str, Any]]:
    """Return the part that a place is in, and the update as seen from it; a place within a list is a part itself."""
    indexes = [place for place, key in enumerate(location) if isinstance(key, int)]
    start = min(max([depth, *(place + 1 for place in indexes)]), len(location))
    value = dict(update)
    for key in reversed(location[start:]):
        value = {str(key): value}
    return location[:start], value


def _merge(target: dict[str, Any], update: Mapping[str, Any], *, replaces: bool = False) -> None:
    """Merge an update into another; of two values the first stays, unless the later one `replaces` it."""
    for name, value in update.items():
        known = target.get(name)
        if isinstance(known, dict) and isinstance(value, Mapping):
            _merge(known, value, replaces=replaces)
        elif isinstance(known, list) and isinstance(value, list) and name == "required":
            target[name] = list(dict.fromkeys([*known, *value]))
        elif name == "type" and isinstance(known, str) and isinstance(value, list) and value[-1:] == ["null"]:
            target[name] = [known, "null"]  # another type than the document's, and null too
        elif replaces or name not in target:
            target[name] = copy.deepcopy(value)


def _removed(removals: Iterable[Location], root: Any) -> list[str]:
    """Return targets for what goes: keys of one object, or entries of a list of texts, in one target."""
    by_parent: dict[Location, list[str]] = defaultdict(list)
    for location in removals:
        with suppress(LookupError, TypeError):
            if location[-1] in node_at(root, location[:-1]):
                by_parent[location[:-1]].append(str(location[-1]))
    grouped: dict[tuple[bool, tuple[str, ...]], list[Location]] = defaultdict(list)
    for parent, keys in by_parent.items():
        grouped[isinstance(node_at(root, parent), list), tuple(keys)].append(parent)
    return [
        target + (_equals(keys) if of_list else _selection(keys))
        for (of_list, keys), parents in grouped.items()
        for target in _targets(parents, root)
    ]


def _joined(updates: Mapping[Location, dict[str, Any]], root: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return targets with their updates; equal updates of several parts have one target where a query selects them."""
    equal: dict[str, list[Location]] = defaultdict(list)
    for location, value in updates.items():
        equal[json.dumps(value, sort_keys=True)].append(location)
    return [(target, updates[locations[0]]) for locations in equal.values() for target in _targets(locations, root)]


def _targets(locations: Sequence[Location], root: Any) -> list[str]:
    """Return queries that select these places and nothing else: places that differ in one key are selected together."""
    left = dict.fromkeys(locations)
    queries = []
    for position in range(max(map(len, locations), default=0)):
        groups: dict[tuple[Location, Location], list[str | int]] = defaultdict(list)
        for location in left:
            if len(location) > position:
                groups[location[:position], location[position + 1 :]].append(location[position])
        for (before, behind), keys in groups.items():
            if len(keys) > 1:
                queries.append(_query(before, keys, behind, root))
                for key in keys:
                    del left[*before, key, *behind]
    return [*queries, *(f"${_steps(location)}" for location in left)]


def _query(before: Location, keys: Sequence[str | int], behind: Location, root: Any) -> str:
    """Return a query for places that differ in one key; of all keys where that selects no other place."""
    every = f"${_steps(before)}[*]{_steps(behind)}"
    if behind and set(select(every, root)) == {(*before, key, *behind) for key in keys}:
        return every
    return f"${_steps(before)}{_selection(keys)}{_steps(behind)}"


def _steps(location: Location) -> str:
    return "".join(
        f".{key}" if isinstance(key, str) and _NAME.fullmatch(key) else _selection([key]) for key in location
    )


_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""Names that a query may write behind a dot (RFC 9535 §2.5.1.1)."""


def _selection(keys: Iterable[str | int]) -> str:
    """Return a segment that selects these keys: `['get', 'post']`."""
    return "[" + ", ".join(normalized((key,))[2:-1] for key in keys) + "]"


def _equals(values: Iterable[str]) -> str:
    """Return a segment that selects the entries of a list that are one of these texts."""
    return "[?" + " || ".join(f"@ == {normalized((value,))[2:-1]}" for value in values) + "]"


def written(overlay: JsonObject) -> str:
    """Return an overlay as YAML: an action is a line for its target, and lines for its update in flow style."""
    lines = [f"overlay: {overlay['overlay']}", f"info: {_flow(overlay['info'])}", "actions:"]
    for action in overlay["actions"]:
        lines.append(f"- target: {_target(action['target'])}")
        if "update" in action:
            value = _flow(action["update"]).replace("\n", "\n    ")
            lines.append(f"  update: {value}")
        else:
            lines.append("  remove: true")
    return "\n".join(lines) + "\n"


def _target(query: str) -> str:
    """Return a query as a YAML string: a long one is folded at the spaces between its names."""
    if len(query) < WIDTH - 14 or query != " ".join(query.split()):
        return json.dumps(query, ensure_ascii=False)
    return _flow(query).replace("\n", "\n    ")


def _flow(value: Any) -> str:
    text = yaml_text.written(value, width=WIDTH - 14, flow=True)
    return text.removesuffix("\n").removesuffix("\n...")
