"""`Signature`: a tool's arguments and result as a model reads them with the fewest tokens, in Python's notation.

    add_pet(
      name: str,
      status: "available"|"sold" = ...,  # where it is in the shop
      owner: Owner = ...,
    ) -> Pet
    class Owner: email: str(email); phone: str = ...
    class Pet: id: int; name: str; tags: list[str] = ...

`= ...` marks an optional argument without a default; fields of a result have no mark, since any may be missing.
Python's notation is chosen over TypeScript's since code mode calls tools from Python and since it tells `int` from
`float`. Both cost the same: the arguments of all tools of 13 documents take 368,000 tokens, in TypeScript 366,000, as
compact JSON Schema 1,629,000 (with descriptions).

A signature has a limit in bytes. Names and types of arguments come first, then the objects that they consist of, level
by level, with prose one level behind types. What has no room is counted in `omitted`, never left out in silence.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from ..types import Schema
from .schema_types import BRIEF, FULL, Detail, Field, TypeReader

__all__ = ["BRIEF", "FULL", "Definition", "Detail", "Field", "Signature", "signature"]

_MIN_DEFINITION: Final = 160
"""Bytes that an object may take although others of its level then have no room: some six properties."""

_ARGUMENTS_OF_TEN: Final = 8
"""Tenths of the bytes that the arguments may take, where the result is shown as well."""

_MIN_FREE: Final = 32
"""Bytes below which nothing more is added."""

_MAX_REMARK: Final = 80
"""Bytes of the names of what has no room."""

_MAX_NAMES: Final = 3
"""Objects without room that are named."""


@dataclass(frozen=True, slots=True)
class Definition:
    """An object: the properties that have room, and the names of the others."""

    name: str
    fields: tuple[Field, ...]
    more: tuple[str, ...] = ()

    def text(self) -> str:
        """Return `class Owner: email: str; phone: str = ...`, on several lines where there is prose."""
        remark = _remark(self.more)
        if not any(field.prose for field in self.fields):
            return f"class {self.name}: {'; '.join(field.text for field in self.fields)}{remark and '  ' + remark}"
        lines = [_commented(f"  {field.text}", field.prose) for field in self.fields]
        return "\n".join([f"class {self.name}:", *lines, *([f"  {remark}"] if remark else [])])


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments of a tool, its result (empty if not asked for), and the objects that both consist of.

    A field without room for its prose has none; then `without_prose` is true. `more` has the names of arguments that
    have no room, all optional. `omitted` says what else is left out; empty if nothing is.
    """

    arguments: tuple[Field, ...]
    more: tuple[str, ...] = ()
    returns: str = ""
    definitions: tuple[Definition, ...] = ()
    omitted: str = ""
    without_prose: bool = False

    def argument_list(self) -> str:
        """Return the arguments on one line, without prose: `petId: int, status: str = ...`."""
        return ", ".join(field.text for field in self.arguments)

    def head(self, name: str) -> str:
        """Return `name(petId: int) -> Pet`, on several lines where there is prose."""
        result, remark = f" -> {self.returns}" if self.returns else "", _remark(self.more)
        if not any(field.prose for field in self.arguments):
            return f"{name}({self.argument_list()}){result}{remark and '  ' + remark}"
        lines = [_commented(f"  {field.text},", field.prose) for field in self.arguments]
        return "\n".join([f"{name}(", *lines, *([f"  {remark}"] if remark else []), f"){result}"])

    def text(self, name: str) -> str:
        """Return the head and the objects, each beginning on a line of its own."""
        return "\n".join([self.head(name), *(definition.text() for definition in self.definitions)])


def signature(
    input_schema: Schema, output_schema: Schema | None = None, *, max_bytes: int, detail: Detail = FULL
) -> Signature:
    """Return the signature of a tool with these schemas in about `max_bytes`, its name not counted.

    Required arguments are always shown, with their types. `output_schema` is None where the result is not to be shown.
    """
    names: dict[str, Schema] = {}
    reader = TypeReader(input_schema.get("$defs", {}), detail, names)
    readers = [reader]
    arguments = reader.fields(input_schema)
    returns = ""
    if output_schema:
        readers.append(TypeReader(output_schema.get("$defs", {}), detail, names, results=True))
        returns = readers[-1].type_of(output_schema, "Result")
    layout = _Layout(max_bytes - len(returns), readers)
    return layout.signature(arguments, returns)


@dataclass(slots=True)
class _ShownFields:
    """The fields of the arguments or of an object (`name`), `shown` of which have room."""

    name: str
    fields: list[Field]
    shown: int = 0

    @property
    def more(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields[self.shown :])


class _Layout:
    """The distribution of the bytes of one signature; `free` are left."""

    def __init__(self, free: int, readers: Sequence[TypeReader]) -> None:
        self._free = free
        self._readers = readers
        self._read = [0] * len(readers)
        self._without_prose = False
        self._without_room: list[str] = []

    def signature(self, arguments: list[Field], returns: str) -> Signature:
        """Return the signature: types level by level, the prose of each level after the types of the next one."""
        root = _ShownFields("", arguments)
        share = self._free * _ARGUMENTS_OF_TEN // 10 if returns else self._free
        self._add_types(root, share, required=sum(field.required for field in arguments))
        levels = [[root]]
        while level := list(self._next_level()):
            self._add_prose(levels[-1])
            levels.append(level)
        self._add_prose(levels[-1])
        definitions = [Definition(each.name, tuple(each.fields), each.more) for each in chain(*levels[1:])]
        shown = [replace(each, fields=each.fields[: len(each.fields) - len(each.more)]) for each in definitions]
        omitted = self._omitted(root, shown)
        arguments = root.fields[: root.shown]
        return Signature(tuple(arguments), root.more, returns, tuple(shown), omitted, self._without_prose)

    def _next_level(self) -> Iterator[_ShownFields]:
        """Yield the objects found since the last level, as far as they have room."""
        found = []
        for index, reader in enumerate(self._readers):
            found += [(reader, *each) for each in reader.named[self._read[index] :]]
            self._read[index] = len(reader.named)
        for position, (reader, name, schema) in enumerate(found):
            share = max(self._free // (len(found) - position), min(self._free, _MIN_DEFINITION))
            head = len(f"\nclass {name}: ")
            group = _ShownFields(name, reader.fields(schema) if share > head + _MIN_FREE else [])
            self._add_types(group, share - head)
            if group.shown:
                self._free -= head
                yield group
            else:
                self._without_room.append(name)

    def _add_types(self, group: _ShownFields, share: int, required: int = 0) -> None:
        """Show the fields of a group that fit into its share, the first `required` ones always."""
        sizes = [_size(field.text) + 2 for field in group.fields]
        group.shown, used = len(sizes), sum(sizes)
        while used > share and group.shown > required:
            group.shown -= 1
            used = sum(sizes[: group.shown]) + len(_remark(group.more)) + 2
        self._free -= used if group.shown or not group.name else 0

    def _add_prose(self, groups: Iterable[_ShownFields]) -> None:
        """Keep the prose of these groups' fields as far as it fits."""
        for group in groups:
            line_breaks = 3 * group.shown
            for index, field in enumerate(group.fields[: group.shown]):
                cost = _size(field.prose) + 4 + line_breaks if field.prose else 0
                if cost > self._free:
                    group.fields[index] = replace(field, prose="")
                    self._without_prose = True
                elif cost:
                    self._free -= cost
                    line_breaks = 0

    def _omitted(self, root: _ShownFields, definitions: Sequence[Definition]) -> str:
        counts = [(len(root.more), "argument"), (sum(len(each.more) for each in definitions), "property")]
        parts = [f"{count} {_plural(noun, count)}" for count, noun in counts if count]
        if names := self._without_room:
            others = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
            parts.append(f"the fields of {', '.join(names[:_MAX_NAMES])}{others}")
        if any(reader.cut_values for reader in self._readers):
            parts.append("values")
        return ", ".join(parts)


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun.removesuffix('y')}ies" if noun.endswith("y") else f"{noun}s"


def _remark(names: Sequence[str]) -> str:
    """Return a comment with the number of fields that have no room, and the first of their names."""
    if not names:
        return ""
    remark = f"# {len(names)} more: "
    room = _MAX_REMARK - len(remark) - 3
    shown = list[str]()
    for name in names:
        room -= _size(name) + 2
        if room < 0:
            return f"{remark}{', '.join(shown)}, …" if shown else remark.removesuffix(": ")
        shown.append(name)
    return remark + ", ".join(shown)


def _commented(line: str, prose: str) -> str:
    return f"{line}  # {prose}" if prose else line


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))
