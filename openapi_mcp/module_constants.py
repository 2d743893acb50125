"""What the tools of a module share: schemas, and inputs that several of them have, on top of it or in JSON beside it.

What is short and used once stays where it is used. A constant is named by what the document calls it.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from . import declaring, python_names
from .literals import Group, Source, layout, literal, node
from .naming import shortened, unique
from .runtime.declarations import Input
from .runtime.models import Tool
from .runtime.types import Schema

READABLE: Final = 400
"""Bytes of a schema that is read in code: some six lines."""

READABLE_DEFINITIONS: Final = 2000
"""Bytes of a module's definitions together."""

_LONG_NAME: Final = re.compile(r'[^"\\]{80}":')
"""A property whose name no line holds."""

LONGEST_KEY: Final = 64
"""Characters of a schema's name in the JSON."""

WORTH_A_NAME: Final = 60
"""Bytes of a shared input. A shorter one is as easily read again."""


class Constants:
    """The schemas of a module: on top of it where they are short, in the JSON beside it where they are not."""

    def __init__(self, tools: Sequence[Tool], output_names: Mapping[str, str], taken: Iterable[str]) -> None:
        self.declared: list[Source] = []
        self.inputs: list[Source] = []
        self.schemas: dict[str, Any] = {}
        self._known: dict[str, Source] = {}
        self._names = python_names.constants(_outputs(tools, output_names) | _common_inputs(tools), taken)
        self._said: set[str] = set()

    @property
    def names(self) -> Iterable[str]:
        """All names that constants have."""
        return self._names.values()

    def output(self, tool: Tool) -> Source:
        """The expression for an output schema: a constant, which is declared the first time."""
        schema = tool.output_schema or {}
        text = _written(schema)
        if text not in self._known:
            if _is_readable(schema):
                name = self._names[text]
                head = f"{name}: Schema = "
                self.declared.append(Source(head + literal(schema, before=len(head))))
                self._known[text] = name
            else:
                self._known[text] = self._aside(tool.name, schema)
        return self._known[text]

    def keep(self, name: str, schema: Schema) -> Source | Group:
        """The expression for a schema of an input: itself, or where it is found in the JSON."""
        text = _written(schema)
        if _is_readable(schema):
            tree = node(schema)
            return tree if isinstance(tree, Group) else Source(tree)
        if text not in self._known:
            self._known[text] = self._aside(name, schema)
        return self._known[text]

    def input(self, tool: Tool, item: Input) -> Source | Group:
        """The expression for an input: a constant where other tools have the same."""
        key = _key(item)
        call = declaring.declared_input(item, self.keep, f"{tool.name}.{item.argument.name}")
        name = self._names.get(key)
        if name is None:
            return call
        if key not in self._said:
            self._said.add(key)
            head = f"{name} = "
            self.inputs.append(Source(head + layout(call, before=len(head))))
        return name

    def definitions(self, definitions: Mapping[str, Schema]) -> Source:
        """The expression for the definitions of the module."""
        if _is_readable(definitions, READABLE_DEFINITIONS):
            head = "DEFINITIONS: dict[str, Schema] = "
            self.declared.append(Source(head + literal(dict(definitions), before=len(head))))
            return Source("DEFINITIONS")
        return self._aside("$defs", dict(definitions))

    def _aside(self, name: str, schema: Any) -> Source:
        name = unique(shortened(name, LONGEST_KEY), self.schemas)
        self.schemas[name] = schema
        return Source(f"SCHEMAS[{literal(name)}]")


def _outputs(tools: Sequence[Tool], names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """What each output schema would be called: as the document does, else after its first tool."""
    found: dict[str, tuple[str, ...]] = {}
    for tool in tools:
        if tool.output_schema is not None:
            wish = f"{tool.name} output"
            found.setdefault(_written(tool.output_schema), (names.get(tool.name, wish), wish))
    return found


def _common_inputs(tools: Sequence[Tool]) -> dict[str, tuple[str, ...]]:
    """What inputs that several tools have alike would be called: one of each name, the most frequent."""
    items = {_key(item): item.argument.name for tool in tools for item in declaring.inputs(tool)[0]}
    counts = Counter(_key(item) for tool in tools for item in declaring.inputs(tool)[0])
    found: dict[str, str] = {}
    for key, count in counts.most_common():
        if count > 1 and len(key.partition("\n")[2]) > WORTH_A_NAME and items[key] not in found.values():
            found[key] = items[key]
    return {key: (name, f"{name} input") for key, name in found.items()}


def _key(item: Input) -> str:
    """What an input says, as text; the same for inputs that are alike."""
    return f"{item.argument}\n{_written(item.schema)}"


def _is_readable(schema: Any, most: int = READABLE) -> bool:
    """Whether a schema is read in code: it is short, and so are the names in it."""
    return len(_written(schema)) <= most and not _LONG_NAME.search(_written(schema))


def _written(schema: Any) -> str:
    return json.dumps(schema, separators=(",", ":"))
