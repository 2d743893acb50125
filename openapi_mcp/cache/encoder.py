"""Write compiled tools as the bytes of a cache file, in the format of `decoder`."""

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from types import UnionType
from typing import Any, Final, TypeAlias, Union, get_args, get_origin

from .decoder import MAX_LEVELS, SCALARS, CacheEntry, fields, header, json_types

_Write: TypeAlias = Callable[[Any], Any]

_ROWS: Final = 2_000
"""Values or records on a line, at most: they are read in some milliseconds."""


def dump(entry: CacheEntry) -> bytes:
    """Return compiled tools as bytes. Raises ValueError for values that JSON does not have, or that nest too deeply."""
    values = _ValueTable()
    records = _RecordTable(values)
    try:
        slots = [records.add(each) for each in entry]
        content: dict[str, Any] = {**values.content(), "records": records.content(), "entry": slots}
        text = "\n".join(map(_json, _parts(content)))
    except (AttributeError, KeyError, RecursionError, TypeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    finally:
        records.close()
    if len(content["levels"]) > MAX_LEVELS or len(content["records"]) > MAX_LEVELS:
        raise ValueError(f"more than {MAX_LEVELS} levels")
    encoded = text.encode("utf-8", "surrogatepass")
    return header(encoded) + encoded


_json: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=attrgetter("index")
).encode


def _parts(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the parts of the content, each of which is a line of the file."""
    for start in _starts(content["scalars"]):
        yield {"scalars": content["scalars"][start : start + _ROWS]}
    for rows in content["levels"]:
        for start in _starts(rows):
            part = rows[start : start + _ROWS]
            yield {"rows": part} if start else {"levels": [part]}
    for name, columns in content["records"]:
        for start in _starts(columns[0]):
            more = [column[start : start + _ROWS] for column in columns]
            yield {"columns": more} if start else {"records": [[name, more]]}
    yield {"entry": content["entry"]}


def _starts(rows: Sequence[Any]) -> Iterable[int]:
    return range(0, len(rows), _ROWS)


@dataclasses.dataclass(eq=False, slots=True)
class _Slot:
    """The place of a value: its level, its content in terms of other slots, and its index once all are known."""

    level: int
    row: Any
    index: int = -1


class _ValueTable:
    """The different JSON values; equal ones have one slot."""

    def __init__(self) -> None:
        self._slots: dict[Any, _Slot] = {}  # by a string itself, by type and content of any other value
        self._known: dict[int, tuple[Any, _Slot]] = {}  # by identity; the value stays, so that no other gets its own

    def add(self, value: Any) -> _Slot:
        """Return the slot of a value."""
        kind = type(value)
        if kind is str:
            return self._slots.get(value) or self._new(value, 0, value)
        if kind in SCALARS:
            key: Any = kind, repr(value)
            return self._slots.get(key) or self._new(key, 0, value)
        if id(value) in self._known:
            return self._known[id(value)][1]
        self._known[id(value)] = value, (slot := self._container(value))
        return slot

    def _container(self, value: Any) -> _Slot:
        """Return the slot of an array or object that was not added before."""
        if isinstance(value, dict):
            row: Any = {_text(name): self.add(each) for name, each in value.items()}
            key: Any = dict, *row.items()
        elif isinstance(value, list):
            row = [self.add(each) for each in value]
            key = list, *row
        else:
            raise TypeError(f"{type(value).__name__} is no type of JSON")
        return self._slots.get(key) or self._new(key, _above(row.values() if type(row) is dict else row), row)

    def _new(self, key: Any, level: int, row: Any) -> _Slot:
        slot = self._slots[key] = _Slot(level, row)
        return slot

    def content(self) -> dict[str, Any]:
        """Return `scalars` and `levels`; each slot has its index then."""
        ordered = sorted(self._slots.values(), key=attrgetter("level"))
        for index, slot in enumerate(ordered):
            slot.index = index
        scalars, *levels = [[slot.row for slot in slots] for _, slots in groupby(ordered, attrgetter("level"))]
        return {"scalars": scalars, "levels": levels}


def _above(slots: Iterable[_Slot]) -> int:
    return 1 + max((slot.level for slot in slots), default=0)


def _text(name: Any) -> str:
    if type(name) is not str:
        raise TypeError(f"{name!r} is no name of JSON")
    return name


class _RecordTable:
    """The different records; equal ones have one slot."""

    def __init__(self, values: _ValueTable) -> None:
        self._values = values
        self._slots: dict[Any, _Slot] = {}
        self._known: dict[str, Sequence[tuple[str, _Write]]] = {}

    def add(self, record: Any) -> _Slot:
        """Return the slot of a record."""
        name = type(record).__name__
        if name not in self._known:
            self._known[name] = [(field, self._writer(hint)) for field, hint in fields(name)]
        row = tuple([write(getattr(record, field)) for field, write in self._known[name]])
        slot = self._slots.get((name, row))
        if slot is None:
            slot = self._slots[name, row] = _Slot(1 + max(_levels(row), default=0), (name, row))
        return slot

    def close(self) -> None:
        """Forget the functions that lead back to this object, whose slots would stay where collection is paused."""
        self._known.clear()

    def content(self) -> list[Any]:
        """Return `records`; each slot has its index then."""
        ordered = sorted(self._slots.values(), key=_group)
        for index, slot in enumerate(ordered):
            slot.index = index
        groups = groupby(ordered, _group)
        return [[name, list(zip(*(slot.row[1] for slot in slots), strict=True))] for (_, name), slots in groups]

    def _writer(self, hint: Any) -> _Write:
        """Return a function that returns a value of an annotation as it stands in a row: slots, numbers, tuples."""
        origin, parts = get_origin(hint), get_args(hint)
        if hint is bool or hint is int:
            return lambda value: value
        if json_types(hint):
            return self._values.add
        if dataclasses.is_dataclass(hint):
            return self.add
        if origin is tuple and parts[1] is not Ellipsis:
            writers = [self._writer(part) for part in parts]
            return lambda value: tuple(write(each) for write, each in zip(writers, value, strict=True))
        if origin is tuple:
            write = self._writer(parts[0])
            return lambda value: tuple(map(write, value))
        if origin is Union or origin is UnionType:
            write = self._writer(parts[0])
            return lambda value: None if value is None else write(value)
        write = self._writer(parts[1])
        return lambda value: (tuple(map(self._values.add, value)), tuple(map(write, value.values())))


def _group(slot: _Slot) -> tuple[int, str]:
    return slot.level, slot.row[0]


def _levels(row: tuple[Any, ...]) -> Iterator[int]:
    """Yield the levels of the records in a row."""
    for each in row:
        if isinstance(each, tuple):
            yield from _levels(each)
        elif isinstance(each, _Slot) and isinstance(each.row, tuple):  # those of JSON values are no tuples
            yield each.level
