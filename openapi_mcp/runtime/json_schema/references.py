"""The targets of the references of a JSON Schema: only within the schema itself, nothing is fetched.

A reference is `#`, a JSON pointer (`#/$defs/Pet`) or the name of an anchor (`#pet`). `$dynamicRef` is read as `$ref`:
without embedded resources both lead to the same place. Any other reference leads nowhere.

Specification: JSON Schema 2020-12 Core §8.2, RFC 6901 §6.
"""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from ..types import MISSING, IdentityCache, Missing, Schema

_ANCHORS: Final = ("$anchor", "$dynamicAnchor")


class ReferenceTargets:
    """The references of one schema, each looked up once."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._targets: dict[str, Any | Missing] = {}

    def target(self, reference: Any) -> Any | Missing:
        """Return the schema that a reference leads to; MISSING if it leads nowhere."""
        if reference not in self._targets:
            self._targets[reference] = self._find(reference)
        return self._targets[reference]

    def _find(self, reference: str) -> Any | Missing:
        if not reference.startswith("#"):
            return MISSING
        fragment = unquote(reference[1:])
        if fragment and not fragment.startswith("/"):
            return next(_anchored(self._root, fragment), MISSING)
        node: Any = self._root
        for step in fragment.split("/")[1:]:
            node = _step(node, step.replace("~1", "/").replace("~0", "~"))
        return node


def _step(node: Any, name: str) -> Any | Missing:
    if isinstance(node, dict):
        return node.get(name, MISSING)
    if isinstance(node, list) and name.isascii() and name.isdigit() and len(name) <= len(str(len(node))):
        return node[int(name)] if int(name) < len(node) else MISSING
    return MISSING


def _anchored(root: Schema, name: str) -> Iterator[Schema]:
    """Yield the schemas with an anchor of a name."""
    waiting: list[Any] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if name in (node.get(keyword) for keyword in _ANCHORS):
                yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


_TARGETS: Final[IdentityCache[ReferenceTargets]] = IdentityCache(ReferenceTargets)


def references_of(root: Schema) -> ReferenceTargets:
    """Return the references of a schema, which must not change afterwards."""
    return _TARGETS.get(root)
