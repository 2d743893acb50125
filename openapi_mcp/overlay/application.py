"""Apply overlays to a document: each action in order, whole or not at all; what cannot be applied is a Problem.

Specification: OpenAPI Overlay 1.0 and 1.1, "Action Object".
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urljoin

from ..document.model import join
from ..errors import DocumentError, Problem
from .paths import InvalidQuery, Location, node_at, normalized, select

MAX_ACTIONS: Final = 10_000
"""Actions of one overlay: several for each operation of the largest document known."""

MAX_INSERTED: Final = 2_000_000
"""Values that the overlays of a document insert together: as many as a document may have."""

MAX_TOO_LARGE: Final = 10
"""Actions that are refused because they insert too much, before the others are left out: to count what they would
insert takes a while."""

MAX_DEPTH: Final = 256
"""Nested objects and arrays of a document."""

VERSIONS: Final = ("1.0", "1.1")

Forget = Callable[[Any, str | int], None]
"""A function that is told of each container and key whose value is replaced or moves."""


class _NotApplicable(Exception):
    """An action that cannot be applied; the text says why."""


class _TooMuch(_NotApplicable):
    """An action that would insert more than is allowed."""


class Overlay:
    """An overlay as it was read from `uri`. Raises DocumentError for what is no overlay."""

    def __init__(self, root: Any, uri: str) -> None:
        self.uri = uri
        self.root = _checked(root, uri)

    def apply(self, document: Any, uri: str, forget: Forget = lambda _container, _key: None) -> list[Problem]:
        """Change a document, which was read from `uri`, in place; return what could not be applied.

        `forget` is told of each value that is replaced.
        """
        problems = list(self._check_extends(uri))
        free, too_large = MAX_INSERTED, 0
        for index, action in enumerate(self.root["actions"]):
            pointer = f"{self.uri}{join('#/actions', index)}"
            try:
                free -= _Action(action, str(self.root["overlay"]), free).apply(document, forget)
            except _NotApplicable as reason:
                problems.append(Problem(pointer=pointer, kind="overlay", message=str(reason)))
                too_large += isinstance(reason, _TooMuch)
            if too_large == MAX_TOO_LARGE:
                problems.append(Problem(pointer=pointer, kind="overlay", message="the actions after it are left out"))
                break
        return problems

    def _check_extends(self, uri: str) -> Sequence[Problem]:
        extends = self.root.get("extends")
        if not isinstance(extends, str) or urljoin(self.uri, extends) == uri:
            return ()
        message = f"this overlay was written for another document: {extends}"
        hint = "correct `extends`, or leave it out; the overlay is applied nevertheless"
        return (Problem(pointer=f"{self.uri}#/extends", kind="overlay", message=message, hint=hint),)


def _checked(root: Any, uri: str) -> Mapping[str, Any]:
    """Return the root of an overlay. Raises DocumentError for one that the specification's schema refuses."""
    hint = "see https://spec.openapis.org/overlay/latest.html"
    if not isinstance(root, dict) or "overlay" not in root:
        raise DocumentError("this is not an OpenAPI Overlay: it has no field `overlay`", where=uri, hint=hint)
    if ".".join(str(root["overlay"]).split(".")[:2]) not in VERSIONS:
        raise DocumentError(
            f"Overlay {root['overlay']!r} is not supported", where=uri, hint="supported are 1.0 and 1.1"
        )
    defect = next(_defects(root), None)
    if defect:
        raise DocumentError(f"the overlay is not valid: {defect}", where=uri, hint=hint)
    return root


def _defects(root: Mapping[str, Any]) -> Any:
    """Yield what the schema of the specification refuses."""
    if not isinstance(root["overlay"], str) or root["overlay"].count(".") != 2:
        yield "`overlay` must be a version such as 1.1.0"
    info, actions = root.get("info"), root.get("actions")
    if not isinstance(info, dict) or not all(isinstance(info.get(name), str) for name in ("title", "version")):
        yield "`info` must be an object with the strings `title` and `version`"
    elif not isinstance(info.get("description", ""), str):
        yield "`info.description` must be a string"
    if not isinstance(root.get("extends", ""), str):
        yield "`extends` must be a string"
    if unknown := [name for name in root if name not in _ROOT_FIELDS and not str(name).startswith("x-")]:
        yield f"unknown field `{unknown[0]}`"
    if not isinstance(actions, list) or not 0 < len(actions) <= MAX_ACTIONS:
        yield f"`actions` must be a list of 1 to {MAX_ACTIONS:,} actions"
        return
    for index, action in enumerate(actions):
        yield from (f"actions/{index}: {defect}" for defect in _action_defects(action))
    if any(action in actions[:index] for index, action in enumerate(actions[:_MAX_COMPARED])):
        yield "two actions are equal"


_ROOT_FIELDS: Final = ("overlay", "info", "extends", "actions")
_ACTION_FIELDS: Final = ("target", "description", "update", "copy", "remove")
_MAX_COMPARED: Final = 500
"""Actions that are compared with each other, which takes the square of their number."""


def _action_defects(action: Any) -> Any:
    if not isinstance(action, dict):
        yield "an action must be an object"
        return
    if not isinstance(action.get("target"), str) or not action["target"].startswith("$"):
        yield "`target` must be a JSONPath query that begins with $"
    for name, kind, words in (("description", str, "string"), ("copy", str, "string"), ("remove", bool, "boolean")):
        if not isinstance(action.get(name, kind()), kind):
            yield f"`{name}` must be a {words}"
    if unknown := [name for name in action if name not in _ACTION_FIELDS and not str(name).startswith("x-")]:
        yield f"unknown field `{unknown[0]}`"


class _Action:
    """One action of an overlay of a version, which may insert `free` values."""

    def __init__(self, action: Mapping[str, Any], version: str, free: int) -> None:
        self._action = action
        self._free = free
        self._appends_arrays = version.startswith("1.0")

    def apply(self, root: Any, forget: Forget) -> int:
        """Change a document in place; return the number of values that are new. Raises _NotApplicable."""
        target = self._action["target"]
        locations = self._select("target", target, root)
        if not locations:
            raise _NotApplicable(f"the target {target} matches nothing")
        if self._action.get("remove") is True:
            self._remove(root, locations, forget)
        elif "update" in self._action or self._action.get("copy"):
            return self._update(root, locations, self._value(root), forget)
        return 0

    def _select(self, field: str, query: str, root: Any) -> list[Location]:
        try:
            return select(query, root)
        except InvalidQuery as error:
            raise _NotApplicable(f"`{field}` {query[:200]} {error}") from None

    def _value(self, root: Any) -> Any:
        """Return the value to merge: that of `update`, or the one node that `copy` selects."""
        if "update" in self._action:
            return self._action["update"]
        query = self._action["copy"]
        sources = self._select("copy", query, root)
        if len(sources) != 1:
            raise _NotApplicable(f"`copy` {query} selects {len(sources)} nodes, and must select one")
        return node_at(root, sources[0])

    def _remove(self, root: Any, locations: Sequence[Location], forget: Forget) -> None:
        if () in locations:
            raise _NotApplicable("the root of the document cannot be removed")
        lists = {location[:-1] for location in locations if isinstance(location[-1], int)}
        for entries in (node_at(root, place) for place in lists):
            for index in range(len(entries)):  # those behind a removed one move
                forget(entries, index)
        for location in sorted(set(locations), key=_removal_order, reverse=True):
            parent, key = node_at(root, location[:-1]), location[-1]
            forget(parent, key)
            del parent[key]

    def _update(self, root: Any, locations: Sequence[Location], value: Any, forget: Forget) -> int:
        size, depth = _extent(value, self._free)
        if size * len(locations) > self._free or max(map(len, locations)) + depth > MAX_DEPTH:
            raise _TooMuch(f"it would insert {size * len(locations):,} values, {depth} levels deep: that is too much")
        nodes = [node_at(root, location) for location in locations]
        kinds = {_kind(node) for node in nodes}
        if len(kinds) > 1:
            raise _NotApplicable(f"the target selects {' and '.join(sorted(kinds))}; they must be of one kind")
        for location, node in zip(locations, nodes, strict=True):
            self._check(node, value, location)
        values = [copy.deepcopy(value) for _ in nodes]  # before any of them is merged into what is copied
        for location, node, own in zip(locations, nodes, values, strict=True):
            self._merge(root, location, node, own, forget)
        return size * len(locations)

    def _check(self, node: Any, value: Any, location: Location) -> None:
        """Raise _NotApplicable for values that cannot be merged."""
        if isinstance(node, list):
            return
        if _kind(node) != _kind(value):
            place = normalized(location)
            raise _NotApplicable(
                f"{place} is {_article(node)}, and the update is {_article(value)}: they cannot be merged"
            )
        if isinstance(node, dict):
            for name, item in value.items():
                if name in node and not (isinstance(node[name], list) and isinstance(item, list)):
                    self._check_property(node[name], item, (*location, name))

    def _check_property(self, node: Any, value: Any, location: Location) -> None:
        if isinstance(node, list):
            place = normalized(location)
            raise _NotApplicable(f"{place} is an array, and the update is {_article(value)}: they cannot be merged")
        self._check(node, value, location)

    def _merge(self, root: Any, location: Location, node: Any, value: Any, forget: Forget) -> None:
        if isinstance(node, dict):
            _merge_objects(node, value, forget)
        elif isinstance(node, list):
            is_entry = self._appends_arrays or not isinstance(value, list)
            node.extend([value] if is_entry else value)
        elif location:
            parent, key = node_at(root, location[:-1]), location[-1]
            forget(parent, key)
            parent[key] = value


def _extent(value: Any, most: int) -> tuple[int, int]:
    """Return the number of values in a value, and the levels of objects and arrays; counting ends above `most`."""
    size, depth, level = 0, 0, [value]
    while level:
        size += len(level)
        depth += 1
        level = [
            item
            for each in level
            if isinstance(each, dict | list)
            for item in (each.values() if isinstance(each, dict) else each)
        ]
        if size > most or depth > MAX_DEPTH:
            break
    return size, depth


def _removal_order(location: Location) -> tuple[int, tuple[tuple[bool, str | int], ...]]:
    """Return a key that sorts deeper nodes, and later entries of an array, after others."""
    return len(location), tuple((isinstance(key, int), key) for key in location)


def _merge_objects(target: dict[str, Any], update: Mapping[str, Any], forget: Forget) -> None:
    for name, value in update.items():
        if name in target and isinstance(target[name], dict):
            _merge_objects(target[name], value, forget)
        elif name in target and isinstance(target[name], list):
            target[name].extend(value)
        else:
            forget(target, name)
            target[name] = value


def _kind(value: Any) -> str:
    return "objects" if isinstance(value, dict) else "arrays" if isinstance(value, list) else "primitive values"


def _article(value: Any) -> str:
    return {"objects": "an object", "arrays": "an array"}.get(_kind(value), "a primitive value")
