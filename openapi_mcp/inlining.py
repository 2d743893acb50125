"""Definitions put in the place of the references to them, where a tool's JSON is not longer for it.

What a schema accepts stays the same, and so does all that it says. What a tool keeps as a definition is the same in
every tool, and what was put in a place is shared in memory. Recursive definitions stay, and so does what would be
nested too deeply for validators. Specification: JSON Schema Core 2020-12 section 8.2.3.1 (`$ref`, and what is beside).
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from . import keywords, prose
from .conversion import DEFINITIONS, HOISTED, LISTS, MAPS, SINGLE
from .runtime.types import Schema

_GIVING_WAY: Final = frozenset({"$ref", "description", "default", "deprecated"})
"""What may stand beside a reference that gives way to what it names: nothing of it changes what keywords there mean."""

_REFERENCE: Final = len('{"$ref":""}') + len(DEFINITIONS)
_ENTRY: Final = len('"":,')
"""Bytes of a reference and of an entry in `$defs` without the name, and the latter also without the definition."""


class Held(NamedTuple):
    """A reference in a schema: to which definition, in which object, how deep."""

    name: str
    holder: Schema
    depth: int


@dataclass(slots=True)
class _Use:
    """How often a definition is referred to: altogether, and where it may be put in the place; how deep at most."""

    times: int = 0
    loose: int = 0
    depth: int = 0


@dataclass(slots=True)
class _Known:
    """A definition, the short ones that it refers to being in their places. `height`: schemas in schemas in it."""

    schema: Schema
    uses: dict[str, _Use]
    height: int
    size: int = 0

    def bytes(self) -> int:
        """How long its JSON is; none is without any."""
        self.size = self.size or _bytes(self.schema)
        return self.size


class Inlining:
    """Places for the definitions of one document. Nothing that it is given is changed; what it gives is shared.

    Definitions may become more, and none of them another one.
    """

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self._definitions = definitions
        self._known: dict[str, _Known] = {}
        self._users: dict[str, dict[str, int]] = {}  # of a definition: which refer to it, and how often
        self._reached: dict[str, frozenset[str]] = {}
        self._same: dict[frozenset[str], frozenset[str]] = {}  # one object for those that are equal
        self._kept: dict[frozenset[str], dict[str, Schema]] = {}
        self._short: dict[str, bool] = {}
        self._fixed: set[str] = set()  # what clients look for where it stands
        self._decided: dict[tuple[Any, ...], tuple[frozenset[str], dict[str, Schema]]] = {}
        self._given: dict[tuple[int, frozenset[str]], tuple[Schema, Schema]] = {}  # with what the id is of
        self._made: dict[tuple[int, ...], Schema] = {}

    def inlined(
        self, properties: dict[str, Schema], held: Iterable[Held]
    ) -> tuple[dict[str, Schema], dict[str, Schema]]:
        """A tool's properties, which hold these references, and the definitions that they still need."""
        names = {reference.name for reference in held}
        self._know(names)
        if short := frozenset(name for name in names if self._short[name]):
            properties = self._placed(properties, short)
            held = (reference for schema in properties.values() for reference in references(schema))
        found = self._counted(held)
        key = tuple(sorted((name, use.times, use.loose, use.depth) for name, use in found.items()))
        if key not in self._decided:
            self._decided[key] = self._decision(found)
        moved, definitions = self._decided[key]
        return self._placed(properties, moved), definitions

    def _know(self, names: Iterable[str]) -> None:
        """Learn all definitions that these lead to, each after those that it refers to unless they lead back to it."""
        waiting, entered = list(names), set[str]()
        while waiting:
            name = waiting[-1]
            if name not in self._known and name not in entered:
                entered.add(name)
                inner = {reference.name for reference in references(self._definitions[name])}
                waiting += inner - self._known.keys() - entered
                continue
            waiting.pop()
            if name not in self._known:
                self._learn(name)

    def _learn(self, name: str) -> None:
        """What refers to nothing any more and is as short as a reference to it is never referred to.

        A recursive definition always refers to something.
        """
        schema = self._definitions[name]
        if short := frozenset(each.name for each in references(schema) if self._short.get(each.name)):
            schema = self._replaced(schema, short)
        nodes = list(_nodes(schema))
        if any(keywords.MIRRORED in node for node, _ in nodes):
            self._fixed.add(name)
        known = _Known(schema, self._counted(references(schema)), max(depth for _, depth in nodes))
        reference = _REFERENCE + len(name)
        self._short[name] = not known.uses and _at_least(schema) <= reference and known.bytes() <= reference
        self._known[name] = known
        for inner, use in known.uses.items():
            self._users.setdefault(inner, {})[name] = use.times

    def _counted(self, held: Iterable[Held]) -> dict[str, _Use]:
        found: dict[str, _Use] = {}
        for name, holder, depth in held:
            use = found.setdefault(name, _Use())
            use.times += 1
            use.loose += self._is_loose(holder, name)
            use.depth = max(use.depth, depth, 1)  # references alone in a row are deep as well
        return found

    def _is_loose(self, holder: Schema, name: str) -> bool:
        """Whether a reference may give way to what it names, of which nothing gets lost or means something else."""
        if name in self._fixed:
            return False
        if len(holder) == 1:
            return True
        if holder.keys() - _GIVING_WAY:
            return False
        beside, target = holder.keys() - {"$ref", "description"}, self._definitions[name]
        if beside and "$ref" in target:
            return False  # which may come to say the same
        return all(_json(holder[keyword]) == _json(target[keyword]) for keyword in beside & target.keys())

    def _decision(self, found: dict[str, _Use]) -> tuple[frozenset[str], dict[str, Schema]]:
        """Which definitions go to their places, and those that stay, for a tool that refers to some.

        Only what a tool itself refers to has places, and then what is referred to there, and so on. Each step makes the
        JSON shorter or leaves its length, and what was not worth it never becomes so.
        """
        reached = frozenset[str]().union(*map(self._reach, found))
        more: Counter[str] = Counter({name: use.times for name, use in found.items()})
        places = {name: _Use(0, use.loose, use.depth) for name, use in found.items()}
        moved: set[str] = set()
        waiting = list(found)
        while waiting:
            name = waiting.pop()
            if name in moved:
                continue
            times = places[name].loose
            if more[name] + self._uses(name, reached, times) != times or not self._is_worth_it(name, places[name]):
                continue
            moved.add(name)
            for inner, use in self._known[name].uses.items():
                there = places.setdefault(inner, _Use())
                there.loose += times * use.loose
                there.depth = max(there.depth, places[name].depth + use.depth)
                more[inner] += (times - 1) * use.times
                waiting.append(inner)
        return frozenset(moved), self._staying(reached - moved)

    def _uses(self, name: str, reached: Set[str], enough: int) -> int:
        """How often these definitions refer to one; beyond `enough` it is not counted."""
        count = 0
        for user, times in self._users.get(name, {}).items():
            if user in reached:
                count += times
                if count > enough:
                    break
        return count

    def _staying(self, names: frozenset[str]) -> dict[str, Schema]:
        """These definitions: one object for all who keep the same, as they may be many."""
        if names not in self._kept:
            self._kept[names] = {name: self._known[name].schema for name in sorted(names)}
        return self._kept[names]

    def _reach(self, root: str) -> frozenset[str]:
        """A definition and all that it leads to. Where that is known of one of these, it is not looked for again."""
        if root not in self._reached:
            found, waiting = {root}, [root]
            while waiting:
                for name in self._known[waiting.pop()].uses.keys() - found:
                    if name in self._reached:
                        found |= self._reached[name]
                    else:
                        found.add(name)
                        waiting.append(name)
            whole = frozenset(found)
            self._reached[root] = self._same.setdefault(whole, whole)
        return self._reached[root]

    def _is_worth_it(self, name: str, place: _Use) -> bool:
        known, times = self._known[name], place.loose
        if place.depth + known.height > HOISTED:
            return False
        saved = times * (_REFERENCE + len(name)) + len(name) + _ENTRY
        return times == 1 or (times - 1) * _at_least(known.schema) <= saved >= (times - 1) * known.bytes()

    def _placed(self, properties: dict[str, Schema], names: frozenset[str]) -> dict[str, Schema]:
        if not names:
            return properties
        return {key: self._shared(schema, names) for key, schema in properties.items()}

    def _shared(self, schema: Schema, names: frozenset[str]) -> Schema:
        """A schema with these definitions in their places: one object for all who ask for the same."""
        key = (id(schema), names)
        if key not in self._given:
            inner = dict.fromkeys(each.name for each in references(schema) if each.name in names)
            parts = (id(self._shared(self._known[name].schema, names)) for name in inner)
            made = (id(schema), *parts)
            if made not in self._made:
                self._made[made] = self._replaced(schema, names)
            self._given[key] = (schema, self._made[made])
        return self._given[key][1]

    def _replaced(self, schema: Schema, names: frozenset[str]) -> Schema:
        """A copy with these definitions in their places; whatever holds none of them is shared."""
        if not names:
            return schema
        changed = {keyword: self._inside(keyword, value, names) for keyword, value in schema.items()}
        if any(value is not schema[keyword] for keyword, value in changed.items()):
            schema = changed
        name = schema.get("$ref", "").removeprefix(DEFINITIONS)
        if name in names and self._is_loose(schema, name):
            return _merged(schema, self._shared(self._known[name].schema, names))
        return schema

    def _inside(self, keyword: str, value: Any, names: frozenset[str]) -> Any:
        if keyword in SINGLE and isinstance(value, dict):
            return self._replaced(value, names)
        if keyword in LISTS:
            made = [self._replaced(schema, names) for schema in value]
            return made if any(new is not old for new, old in zip(made, value, strict=True)) else value
        if keyword in MAPS:
            schemas = {key: self._replaced(schema, names) for key, schema in value.items()}
            return schemas if any(new is not value[key] for key, new in schemas.items()) else value
        return value


def references(schema: Schema) -> list[Held]:
    """The references in a schema, by the names of the definitions; values in it are not searched."""
    return [
        Held(node["$ref"].removeprefix(DEFINITIONS), node, depth) for node, depth in _nodes(schema) if "$ref" in node
    ]


def _nodes(schema: Schema) -> Iterator[tuple[Schema, int]]:
    """A schema and those in it, each with how deep it is."""
    waiting: list[tuple[Any, int]] = [(schema, 0)]
    while waiting:
        node, depth = waiting.pop()
        if not isinstance(node, dict):
            continue
        yield node, depth
        for keyword, value in node.items():
            if keyword in SINGLE:
                waiting.append((value, depth + 1))
            elif keyword in LISTS:
                waiting += [(inner, depth + 1) for inner in value]
            elif keyword in MAPS:
                waiting += [(inner, depth + 1) for inner in value.values()]


def _merged(holder: Schema, target: Schema) -> Schema:
    """What a reference names, with what stands beside the reference."""
    if len(holder) == 1:
        return target
    beside = {keyword: value for keyword, value in holder.items() if keyword != "$ref"}
    if "description" in beside and "description" in target:
        beside["description"] = prose.joined(beside["description"], target["description"])
    return {**target, **beside}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _bytes(schema: Schema) -> int:
    return len(_json(schema).encode(errors="replace"))


def _at_least(schema: Schema) -> int:
    """Bytes that its JSON has at least: what tells without writing it that a schema is long."""
    return sum(len(key) + (len(value) if isinstance(value, str | list | dict) else 0) for key, value in schema.items())
