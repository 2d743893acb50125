"""Read compiled tools from the bytes of a cache file, which are JSON: nothing in them is ever called or imported.

A file is a line of text, `openapi-mcp FORMAT VERSION DIGEST` (the SHA-256 of the rest), and lines of JSON, each a part
of one object: while a line is read no other thread runs, 110 ms where 20,000 tools were one. The object:

- `scalars`: each string, number, boolean and null of the tools, once.
- `levels`: each different array and object, once, with the index of every value in it. Indexes count the scalars, then
  the values of the levels, one after the other. Every value is in a level above those that it contains.
- `records`: each different value of the classes of `CLASSES`, once, in groups: the name of the class, and for each of
  its fields the column of the records' values. In it a record stands as its index among the records of the groups
  before, a JSON value as its index among the values, a tuple as an array, a mapping of records as an array of its names
  and one of its values; booleans and integers stand as they are.
- `entry`: the indexes of the records of the DocumentInfo and the Compilation.

`rows` of a line are more of the last level, and `columns` more of the last group.

So equal parts are one object in memory, nothing contains itself, and the depth is the number of levels. The types are
those of the annotations in the classes. Whatever the bytes are, `load` returns such values or raises InvalidCacheFile.
"""

import dataclasses
import hashlib
import json
import math
from collections import abc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from itertools import chain, islice
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from .. import __version__
from ..compilation import Compilation, DocumentInfo, OAuthScheme
from ..errors import Problem
from ..runtime import tool
from ..runtime.types import Implementation
from ..token_budget import ToolLimits

CacheEntry: TypeAlias = tuple[DocumentInfo, Compilation]
"""The compiled tools of a document, and the facts about it that a server needs."""

FORMAT: Final = 4
"""Number of this format."""

CLASSES: Final[Mapping[str, type[Any]]] = {
    each.__name__: each
    for each in (
        DocumentInfo,
        Compilation,
        OAuthScheme,
        Problem,
        ToolLimits,
        Implementation,
        tool.Tool,
        tool.Argument,
        tool.Preset,
        tool.RequestBody,
        tool.MediaType,
        tool.Encoding,
        tool.XmlDocument,
        tool.XmlNode,
        tool.SecurityScheme,
    )
}
"""The classes of the values in a file, by name."""

MAX_LEVELS: Final = 512
"""Levels of arrays and objects, and of records. A document has at most 256, and a schema of its has a few more."""

MAX_CONTAINERS: Final = 1 << 20
"""Arrays and objects in a file, which take some 100 bytes each. 11,000 tools have 100,000."""

MAX_VALUES: Final = 4 << 20
"""Values in a file, which take up to 60 bytes each in memory. 11,000 tools have 870,000."""

MAX_LENGTH: Final = 64 << 20
"""Characters of one value as JSON, in which equal parts count each time: that of the largest document that is read."""

SCALARS: Final = frozenset({str, int, float, bool, NoneType})
_SCALAR_LENGTH: Final = 4
"""Characters of a number, about."""

Field: TypeAlias = tuple[str, Any]
"""The name and the annotation of a field of a class."""

_Column: TypeAlias = Sequence[Any]
_Reader: TypeAlias = Callable[[_Column], _Column]
_UNIONS: Final = (Union, UnionType)
_MAPPINGS: Final = (dict, abc.Mapping)


class InvalidCacheFile(Exception):
    """Bytes that are not compiled tools of this program."""


def header(content: bytes) -> bytes:
    """Return the first line of a file with this content."""
    return f"openapi-mcp {FORMAT} {__version__} {hashlib.sha256(content).hexdigest()}\n".encode()


def load(data: bytes) -> CacheEntry:
    """Read the bytes of a file. Raises InvalidCacheFile."""
    start = data.find(b"\n") + 1
    content = data[start:]
    if data[:start] != header(content):
        raise InvalidCacheFile("the first line is not that of this program and content")
    if content.count(b"[") + content.count(b"{") > MAX_CONTAINERS or content.count(b",") > MAX_VALUES:
        raise InvalidCacheFile("too many values")
    try:
        return _entry(_joined(content.split(b"\n")))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise InvalidCacheFile(f"{type(error).__name__}: {error}") from error


def _joined(lines: Iterable[bytes]) -> Mapping[str, Any]:
    """Return the object whose parts the lines are."""
    joined: dict[str, Any] = {"scalars": [], "levels": [], "records": []}
    for line in lines:
        for name, part in json.loads(line.decode("utf-8", "surrogatepass"), parse_constant=_refuse).items():
            if name == "rows":
                joined["levels"][-1] += part
            elif name == "columns":
                for column, more in zip(joined["records"][-1][1], part, strict=True):
                    column.extend(more)
            elif name in joined:
                joined[name] += part
            else:
                joined[name] = part
    return joined


def _refuse(constant: str) -> Any:
    raise InvalidCacheFile(f"{constant} is not JSON")


def _entry(content: Any) -> CacheEntry:
    records = _RecordReader(_ValueReader(content["scalars"], content["levels"])).read(content["records"])
    info, compilation = (records[index] for index in content["entry"])
    if not isinstance(info, DocumentInfo) or not isinstance(compilation, Compilation):
        raise InvalidCacheFile("the content is not a compilation")
    if len(compilation.sizes) != len(compilation.tools):
        raise InvalidCacheFile("not every tool has a size")
    return info, compilation


@cache
def fields(name: str) -> tuple[Field, ...]:
    """Return the fields of a class of `CLASSES`, in their order. Raises KeyError for any other."""
    hints = get_type_hints(CLASSES[name])
    return tuple((field.name, hints[field.name]) for field in dataclasses.fields(CLASSES[name]))


@cache
def json_types(hint: Any) -> frozenset[Any]:
    """Return the types of the JSON values that an annotation stands for; empty if it stands for records or tuples."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in _UNIONS:
        return (inner := json_types(parts[0])) and inner | {NoneType}
    if hint is Any:
        return SCALARS | {dict, list}
    if hint is str or origin is Literal:
        return frozenset({str})
    return frozenset({dict} if origin in _MAPPINGS and parts[1] is Any else ())


class _ValueReader:
    """The JSON values of a file, by index."""

    def __init__(self, scalars: Sequence[Any], levels: Sequence[Sequence[Any]]) -> None:
        if len(levels) > MAX_LEVELS:
            raise InvalidCacheFile("too many levels")
        if not all(map(math.isfinite, (each for each in _checked(scalars, SCALARS) if type(each) is float))):
            raise InvalidCacheFile("a number is not finite")
        self._values = list(scalars)
        self._lengths = [len(each) if type(each) is str else _SCALAR_LENGTH for each in scalars]
        for rows in levels:
            self._add(rows)

    def _add(self, rows: Sequence[Any]) -> None:
        get, length = self._values.__getitem__, self._lengths.__getitem__
        # Both lists are complete before they are appended: no row can refer to its own level.
        self._lengths += [
            sum(map(length, row.values()), sum(map(len, row), len(row)))
            if type(row) is dict
            else sum(map(length, row), len(row))
            for row in rows
        ]
        self._values += [
            {name: get(index) for name, index in row.items()} if type(row) is dict else list(map(get, row))
            for row in rows
        ]

    def all(self, indexes: _Column, expected: Set[Any]) -> _Column:
        """Return the values of these indexes, which have one of the expected types."""
        if dict in expected and max(map(self._lengths.__getitem__, indexes), default=0) > MAX_LENGTH:
            raise InvalidCacheFile("a value is too long")
        return _checked(list(map(self._values.__getitem__, indexes)), expected)


class _RecordReader:
    """The records of a file, by index; a column of fields is read as the annotation in their class says."""

    def __init__(self, values: _ValueReader) -> None:
        self._values = values
        self._records: list[Any] = []

    def read(self, groups: Sequence[Sequence[Any]]) -> Sequence[Any]:
        """Return the records of all groups: of each the name of its class, and the columns of its fields."""
        if len(groups) > MAX_LEVELS:
            raise InvalidCacheFile("too many groups of records")
        readers: dict[str, Mapping[str, _Reader]] = {}  # not an attribute: no cycle keeps the lists once they are read
        for name, columns in groups:
            if name not in readers:
                readers[name] = {field: self._reader(hint) for field, hint in fields(name)}
            self._add(CLASSES[name], readers[name], columns)
        return self._records

    def _add(self, cls: type[Any], readers: Mapping[str, _Reader], columns: Sequence[_Column]) -> None:
        read = [reader(column) for reader, column in zip(readers.values(), columns, strict=True)]
        rows = zip(*read, strict=True)
        self._records += [cls(**dict(zip(readers, row, strict=True))) for row in rows]  # none refers to its own group

    def _reader(self, hint: Any) -> _Reader:
        """Return a function that reads values of an annotation; it raises InvalidCacheFile if one is another."""
        origin, parts = get_origin(hint), get_args(hint)
        if hint is bool or hint is int:
            return lambda column: _checked(column, {hint})
        if expected := json_types(hint):
            return self._value_reader(expected, _choices(hint))
        if dataclasses.is_dataclass(hint):
            return lambda column: _checked([self._records[index] for index in column], {hint})
        if origin is tuple:
            return self._tuple_reader(parts)
        read = self._reader(parts[0] if origin in _UNIONS else parts[1])
        if origin in _UNIONS:
            return lambda column: [None if raw is None else read([raw])[0] for raw in column]
        names = self._reader(str)
        return lambda column: [dict(zip(names(keys), read(each), strict=True)) for keys, each in column]

    def _value_reader(self, expected: Set[Any], choices: Set[Any]) -> _Reader:
        if not choices:
            return lambda column: self._values.all(column, expected)
        return lambda column: _chosen(self._values.all(column, expected), choices)

    def _tuple_reader(self, parts: Sequence[Any]) -> _Reader:
        if parts[1] is Ellipsis:
            read = self._reader(parts[0])
            return lambda column: _divided(column, iter(read([*chain.from_iterable(column)])))
        readers = [self._reader(part) for part in parts]
        return lambda column: [
            tuple(read([each])[0] for read, each in zip(readers, raw, strict=True)) for raw in column
        ]


def _divided(column: _Column, items: Iterator[Any]) -> _Column:
    """Return tuples of these items, each as long as what stands in the column."""
    return [tuple(islice(items, len(raw))) for raw in column]


def _checked(column: _Column, expected: Set[Any]) -> _Column:
    if not expected >= set(map(type, column)):
        raise InvalidCacheFile("a field has a value of another type")
    return column


def _chosen(column: _Column, choices: Set[Any]) -> _Column:
    if not choices >= set(column):
        raise InvalidCacheFile("a field has a value that is none of its choices")
    return column


def _choices(hint: Any) -> frozenset[Any]:
    """Return the values that a Literal allows, and null where it is optional; empty for any other annotation."""
    inner = get_args(hint)[0] if get_origin(hint) in _UNIONS else hint
    return frozenset({*get_args(inner), *([] if inner is hint else [None])} if get_origin(inner) is Literal else ())
