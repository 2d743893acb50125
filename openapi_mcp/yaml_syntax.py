"""YAML text to plain values, built from the parser's events: no tag ever constructs anything but data.

Scalars mean what `yaml_scalars` says; keys are always the strings that were written. Merge keys (`<<`) work. Of a key
that is written twice the last one counts, and it is a Problem. Aliases share the value they name, and are cut where
writing them out would make a document beyond all measure. Specification: YAML 1.2.2; the YAML merge key type.
"""

import json
import math
from collections.abc import Callable
from typing import Any, Final

from .document import Limits, join
from .errors import DocumentError, Problem
from .surrogates import joined
from .written import Written
from .yaml_scalars import explicit, is_known, plain, spelling

_LONG_TEXT: Final = 100
"""Characters that weigh as much as one value more, so that aliases of a long text are not free."""

_DROPPED: Final = object()
"""A value that is left out, with its key."""
_OPEN: Final = object()
"""What an anchor names, or a merge key takes, before its end is reached."""


class _Frame:
    """One mapping or sequence while it is being built."""

    __slots__ = ("anchor", "key", "merged", "value", "weight")

    def __init__(self, value: Any, anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | None = None
        self.merged: list[Any] = []
        self.weight = 1


class _Builder:
    """Makes values of the events of one YAML document."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.value: Any = None
        self.documents = 0
        self.problems: list[Problem] = []
        self.written = Written()
        self._frames: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, str | None, int]] = {}  # value, spelling where it is no string, weight
        self._alias_weight = 0
        self._cut: set[str] = set()
        self._unknown_tags: set[str] = set()

    def document(self, event: Any) -> None:
        """Count the documents of the stream; only the first is built."""
        self.documents += 1
        if self.documents > 1:
            self._problem(event, "a second YAML document begins here; only the first is read")

    def mapping(self, event: Any) -> None:
        """Begin a mapping."""
        self._begin({}, event)

    def sequence(self, event: Any) -> None:
        """Begin a sequence."""
        self._begin([], event)

    def end(self, event: Any) -> None:
        """End the innermost mapping or sequence."""
        frame = self._frames.pop()
        if frame.merged:
            self._merge(frame, event)
        if frame.anchor is not None:
            self._anchors[frame.anchor] = (frame.value, None, frame.weight)
        self._add(frame.value, None, frame.weight, event)

    def alias(self, event: Any) -> None:
        """Put what an anchor names here once more; the value is shared, not copied."""
        if event.anchor not in self._anchors:
            raise _error(event.start_mark, f"the alias *{event.anchor} names no anchor")
        value, written, weight = self._anchors[event.anchor]
        if value is _OPEN:
            self._problem(event, f"the alias *{event.anchor} stands inside what it names; it is left out")
            self._add(_DROPPED, None, 0, event)
        elif self._alias_weight + weight > self.limits.alias_values:
            if event.anchor not in self._cut:
                self._cut.add(event.anchor)
                most = f"over {self.limits.alias_values:,} values"
                self._problem(
                    event, f"the alias *{event.anchor} is left out: the aliases of this file stand for {most}"
                )
            self._add(_DROPPED, None, 0, event)
        else:
            self._alias_weight += weight
            self._add(value, written, weight, event)

    def scalar(self, event: Any) -> None:
        """Add a scalar: a key as it is written, or a value."""
        text: str = event.value
        weight = 1 + len(text) // _LONG_TEXT
        if self._frames and self._frames[-1].key is None and type(self._frames[-1].value) is dict:
            self._key(text, event, merge=text == "<<" and event.implicit[0])
            value, written = text, None
        else:
            value = self._value(event, text)
            written = spelling(value, text)
            self._add(value, written, weight, event)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, written, weight)

    def _value(self, event: Any, text: str) -> Any:
        if event.implicit[0]:
            value = plain(text)
        else:
            self._check_tag(event)
            value = explicit(text, event.tag, quoted=bool(event.style))
        if type(value) is float and not math.isfinite(value):
            self.problems.append(not_finite(self._pointer()))
            return _DROPPED
        return value

    def _begin(self, value: Any, event: Any) -> None:
        if len(self._frames) >= self.limits.depth:
            raise _error(event.start_mark, f"mappings and lists are nested deeper than {self.limits.depth} levels")
        self._check_tag(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = (_OPEN, None, 0)
        self._frames.append(_Frame(value, event.anchor))

    def _add(self, value: Any, written: str | None, weight: int, event: Any) -> None:
        """Put a value into the innermost open mapping or sequence."""
        if not self._frames:
            self.value = None if value is _DROPPED else value
            return
        frame = self._frames[-1]
        frame.weight += weight
        if type(frame.value) is list:
            if value is not _DROPPED:
                frame.value.append(value)
                if written is not None:
                    self.written.note(frame.value, len(frame.value) - 1, written)
        elif frame.key is None:
            self._key(self._as_key(value, written, event), event)
        elif frame.merged and frame.merged[-1] is _OPEN:
            frame.merged[-1] = value
            frame.key = None
        else:
            key, frame.key = frame.key, None
            if value is not _DROPPED:
                frame.value[key] = value
                if written is not None:
                    self.written.note(frame.value, key, written)

    def _key(self, text: str, event: Any, *, merge: bool = False) -> None:
        """Take the key of the entry that comes next."""
        frame = self._frames[-1]
        if merge:
            frame.merged.append(_OPEN)
        elif text in frame.value:
            self._problem(event, f"the key {text!r} is written more than once; the last one counts", text)
            self.written.forget(frame.value, text)
        frame.key = text

    def _as_key(self, value: Any, written: str | None, event: Any) -> str:
        """What is no plain or quoted scalar as a key: an alias, a mapping, a list."""
        if isinstance(value, dict | list):
            self._problem(event, "a mapping or list is used as a key; its JSON text stands for it")
            return json.dumps(value)
        return written or (value if isinstance(value, str) else "")

    def _merge(self, frame: _Frame, event: Any) -> None:
        """Bring in the entries of `<<`: they come first, and what is written beside them, or merged earlier, wins."""
        target: dict[str, Any] = frame.value
        own = dict(target)
        target.clear()
        sources = [source for value in frame.merged for source in (value if isinstance(value, list) else [value])]
        for source in reversed(sources):
            if isinstance(source, dict):
                target.update(source)
                self.written.inherit(source, target, source.keys() - own.keys())
            elif source is not _DROPPED:
                self._problem(event, "a merge key (<<) takes mappings; this is none, and left out")
        target.update(own)

    def _check_tag(self, event: Any) -> None:
        if event.tag is not None and not is_known(event.tag) and event.tag not in self._unknown_tags:
            self._unknown_tags.add(event.tag)
            self._problem(event, f"the tag {event.tag!r} means nothing here; the plain value is used")

    def _problem(self, event: Any, message: str, *tokens: str) -> None:
        mark = event.start_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}"
        pointer = join(self._pointer(), *tokens)
        self.problems.append(Problem(pointer=pointer, kind="syntax", message=f"{where}: {message}"))

    def _pointer(self) -> str:
        """Where the next value goes; between two entries of a mapping, the mapping."""
        places = (len(frame.value) if type(frame.value) is list else frame.key for frame in self._frames)
        return join("#", *(place for place in places if place is not None))


def parse(text: str, limits: Limits) -> tuple[Any, tuple[Problem, ...], Written]:
    """The first document of a YAML stream. Raises DocumentError with the line and column."""
    import yaml

    try:
        builder = _build(text, limits)
    except yaml.MarkedYAMLError as error:
        if "Unicode character escape" in str(error.problem) and (mended := joined(text)) != text:
            return parse(mended, limits)  # YAML has no `\ud83d\ude00`, but is written by those who think in JSON
        raise _error(error.problem_mark or error.context_mark, f"this is not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise DocumentError(f"this is not YAML: {' '.join(str(error).split())}") from error
    return builder.value, tuple(builder.problems), builder.written


def _build(text: str, limits: Limits) -> _Builder:
    import yaml

    builder = _Builder(limits)
    take: dict[type, Callable[[Any], None]] = {
        yaml.ScalarEvent: builder.scalar,
        yaml.AliasEvent: builder.alias,
        yaml.MappingStartEvent: builder.mapping,
        yaml.SequenceStartEvent: builder.sequence,
        yaml.MappingEndEvent: builder.end,
        yaml.SequenceEndEvent: builder.end,
        yaml.DocumentStartEvent: builder.document,
    }
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if type(event) in take:
            take[type(event)](event)
        if builder.documents > 1:
            break
    return builder


def not_finite(pointer: str) -> Problem:
    """JSON has no infinity and no NaN; a value that is one is left out."""
    message = "this number is not finite, which JSON cannot hold; it is left out"
    return Problem(pointer=pointer, kind="syntax", message=message)


def _error(mark: Any, message: str) -> DocumentError:
    return DocumentError(message, where=f"line {mark.line + 1}, column {mark.column + 1}" if mark else "")
