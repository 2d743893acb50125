"""What a document calls the objects and enumerations in its inputs, told by what they are.

A tool has what was short or used once where it is used, without the name; who reads a package wants the name.
"""

from collections.abc import Mapping

from .annotations import likeness
from .bridge import Bridge
from .document import join
from .resolver import BrokenReference, Resolver
from .schemas import Schemas


def type_names(bridge: Bridge) -> Mapping[str, str]:
    """The names of the document's schemas, by their likeness; of several that are alike, the first."""
    components = bridge.document.root.get("components")
    named = components.get("schemas") if isinstance(components, dict) else None
    schemas = Schemas(bridge.document, Resolver(bridge.document))
    found: dict[str, str] = {}
    for name, node in named.items() if isinstance(named, dict) else ():
        try:
            schema = schemas.convert(node, join("#/components/schemas", name))
        except BrokenReference:
            continue
        if key := likeness(schema):
            found.setdefault(key, name)
    return found
