"""Parse YAML text into plain values, from PyYAML's events: no tag constructs anything but data.

- A plain scalar has the meaning of the core schema of YAML 1.2.2 (chapter 10.3): `true` and `false`, `null`, `~` and
  nothing, decimal integers (leading zeros make no octals), `0o…`, `0x…` and floats. All else is the string written:
  dates, `on`, `yes`, `12:30:45`, `1_000`.
- A key is always the string written. If a key is written twice, the last one counts, and a Problem says so.
- Merge keys (`<<`) work. Aliases share the value that they name; they are left out where they would multiply the size
  of the document beyond `Limits.alias_values`.
- JSON's surrogate pairs (backslash, `ud83d`, backslash, `ude00`; RFC 8259 section 7) become one character. A lone
  surrogate becomes U+FFFD, since no message that holds one could be encoded.
- Tabs are white space before a comment and in an empty line (section 6.7), where PyYAML follows YAML 1.1 and refuses
  some of them.

PyYAML's own loader with a table of implicit resolvers for the core schema was measured instead: composing its nodes
alone takes 1.6 s for Stripe's 4.2 MB (OpenAI's 3.0 MB: 0.74 s), before duplicate keys, aliases, spellings and limits
are looked at; this module takes 0.28 s (0.19 s) for everything. The C composer also recurses without a limit: 50,000
nested brackets crash the process.

Specification: YAML 1.2.2; the YAML merge key type (https://yaml.org/type/merge.html).
"""

import json
import math
import re
from collections.abc import Callable
from typing import Any, Final

from ..errors import DocumentError, Problem
from .model import Limits, join
from .objects import ScalarTexts

_ESCAPE: Final = re.compile(
    r"\\(?:u(?P<pair>[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)

_LONE: Final = re.compile(r"\\u[dD](?:[89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..\\u[dD])[c-fC-F])")
_TABS: Final = re.compile(r"(?<![ \t])[ \t]++(?=#|$)", re.MULTILINE)
_DIRECTIVE: Final = "\n%"
_MAX_DIRECTIVES: Final = 100
"""Lines that look like directives. The parser compares each with all before it, and no program writes ten."""

REPEATED: Final = "the key {!r} is written more than once; the last one counts"
LONG_KEY: Final = "the key {!r} is longer than {:,} characters; it is left out"
_CORE: Final = "tag:yaml.org,2002:"
_STRINGS: Final = frozenset({"!", _CORE + "str", _CORE + "timestamp"})
_BINARY: Final = _CORE + "binary"
_KNOWN: Final = _STRINGS | {
    _CORE + name for name in ("int", "float", "bool", "null", "binary", "map", "seq", "set", "omap", "pairs")
}

_CONSTANTS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

_DECIMAL: Final = re.compile(r"[-+]?[0-9]+")
_BASED: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MAX_DIGITS: Final = 4300
"""Digits of an integer; Python converts no longer ones (sys.int_info.default_max_str_digits)."""

_LONG_TEXT: Final = 100
"""Characters that count as one more value, so that aliases of a long text have their weight."""

_DROPPED: Final = object()
"""Stands for a value that is left out, with its key."""

_OPEN: Final = object()
"""Stands for the value of an anchor or merge key that is still being read."""


def parse(text: str, limits: Limits) -> tuple[Any, tuple[Problem, ...], ScalarTexts, int]:
    """Return the first document of a YAML stream: value, problems, spelling of its scalars, number of its values.

    Raises DocumentError with line and column.
    """
    import yaml

    if text.count(_DIRECTIVE) > _MAX_DIRECTIVES:
        raise DocumentError(f"there are more than {_MAX_DIRECTIVES} directives (lines with a % first)")
    try:
        builder = _build(text, limits)
    except yaml.MarkedYAMLError as error:
        if "Unicode character escape" in str(error.problem) and (repaired := join_surrogates(text)) != text:
            return parse(repaired, limits)  # JSON's surrogate pairs are no YAML escapes, but authors write them
        if (repaired := expand_tabs(text)) != text:
            return parse(repaired, limits)
        raise _error(error.problem_mark or error.context_mark, f"this is not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise DocumentError(f"this is not YAML: {' '.join(str(error).split())}") from error
    return builder.value, tuple(builder.problems), builder.texts, builder.count


class _Frame:
    """An open mapping or sequence."""

    __slots__ = ("anchor", "key", "merged", "value", "weight")

    def __init__(self, value: Any, anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | None = None
        self.merged: list[Any] = []
        self.weight = 1


class _Builder:
    """Builder of the value of one YAML document from its events."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.value: Any = None
        self.documents = 0
        self.count = 0
        self.problems: list[Problem] = []
        self.texts = ScalarTexts()
        self._frames: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, str | None, int]] = {}  # value, spelling unless it is a string, weight
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
        """Add the value of an anchor again; it is shared, not copied."""
        if event.anchor not in self._anchors:
            raise _error(event.start_mark, f"there is no anchor for the alias *{event.anchor}")
        value, raw, weight = self._anchors[event.anchor]
        if value is _OPEN:
            self._problem(event, f"the alias *{event.anchor} is inside the value that it refers to; it is left out")
            self._add(_DROPPED, None, 0, event)
        elif self._alias_weight + weight > self.limits.alias_values:
            if event.anchor not in self._cut:
                self._cut.add(event.anchor)
                size = f"more than {self.limits.alias_values:,} values"
                self._problem(
                    event, f"the alias *{event.anchor} is left out: the aliases of this file expand to {size}"
                )
            self._add(_DROPPED, None, 0, event)
        else:
            self._alias_weight += weight
            self._add(value, raw, weight, event)

    def scalar(self, event: Any) -> None:
        """Add a scalar: a key as raw, or a value."""
        text: str = event.value
        weight = 1 + len(text) // _LONG_TEXT
        if self._frames and self._frames[-1].key is None and type(self._frames[-1].value) is dict:
            self._key(text, event, merge=text == "<<" and event.implicit[0])
            value, raw = text, None
        else:
            value = self._value(event, text)
            raw = spelling(value, text)
            self._add(value, raw, weight, event)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, raw, weight)

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

    def _add(self, value: Any, raw: str | None, weight: int, event: Any) -> None:
        """Put a value into the innermost open mapping or sequence."""
        self.count += 1
        if not self._frames:
            self.value = None if value is _DROPPED else value
            return
        frame = self._frames[-1]
        frame.weight += weight
        if type(frame.value) is list:
            if value is not _DROPPED:
                frame.value.append(value)
                if raw is not None:
                    self.texts.note(frame.value, len(frame.value) - 1, raw)
        elif frame.key is None:
            self._key(self._as_key(value, raw, event), event)
        elif frame.merged and frame.merged[-1] is _OPEN:
            frame.merged[-1] = value
            frame.key = None
        else:
            key, frame.key = frame.key, None
            if value is not _DROPPED and len(key) <= self.limits.key_characters:
                frame.value[key] = value
                if raw is not None:
                    self.texts.note(frame.value, key, raw)

    def _key(self, text: str, event: Any, *, merge: bool = False) -> None:
        """Set the key of the entry that comes next."""
        frame = self._frames[-1]
        if merge:
            frame.merged.append(_OPEN)
        elif text in frame.value:
            self._problem(event, REPEATED.format(text), text)
            self.texts.forget(frame.value, text)
        elif len(text) > self.limits.key_characters:
            self._problem(event, LONG_KEY.format(f"{text[:40]}…", self.limits.key_characters))
        frame.key = text

    def _as_key(self, value: Any, raw: str | None, event: Any) -> str:
        """Return the key for a value that is not a scalar: the text of an alias, the JSON of a mapping or list."""
        if isinstance(value, dict | list):
            self._problem(event, "a mapping or list is used as a key; its JSON text is used instead")
            return json.dumps(value)
        return raw or (value if isinstance(value, str) else "")

    def _merge(self, frame: _Frame, event: Any) -> None:
        """Merge the entries of `<<` in front of the mapping's own; own entries win, then those merged first."""
        target: dict[str, Any] = frame.value
        own = dict(target)
        target.clear()
        sources = [source for value in frame.merged for source in (value if isinstance(value, list) else [value])]
        for source in reversed(sources):
            if isinstance(source, dict):
                target.update(source)
                self.texts.inherit(source, target, source.keys() - own.keys())
            elif source is not _DROPPED:
                self._problem(
                    event, "the value of a merge key (<<) must be a mapping or a list of mappings; it is left out"
                )
        target.update(own)

    def _check_tag(self, event: Any) -> None:
        if event.tag is not None and not is_yaml_tag(event.tag) and event.tag not in self._unknown_tags:
            self._unknown_tags.add(event.tag)
            self._problem(event, f"the tag {event.tag!r} is unknown; the value is read without it")

    def _problem(self, event: Any, message: str, *tokens: str) -> None:
        mark = event.start_mark
        position = f"line {mark.line + 1}, column {mark.column + 1}"
        pointer = join(self._pointer(), *tokens)
        self.problems.append(Problem(pointer=pointer, kind="syntax", message=f"{position}: {message}"))

    def _pointer(self) -> str:
        """Return the pointer of the next value; between two entries of a mapping, that of the mapping."""
        tokens = (len(frame.value) if type(frame.value) is list else frame.key for frame in self._frames)
        return join("#", *(token for token in tokens if token is not None))


def _build(text: str, limits: Limits) -> _Builder:
    import yaml

    builder = _Builder(limits)
    handlers: dict[type, Callable[[Any], None]] = {
        yaml.ScalarEvent: builder.scalar,
        yaml.AliasEvent: builder.alias,
        yaml.MappingStartEvent: builder.mapping,
        yaml.SequenceStartEvent: builder.sequence,
        yaml.MappingEndEvent: builder.end,
        yaml.SequenceEndEvent: builder.end,
        yaml.DocumentStartEvent: builder.document,
    }
    most = 4 * limits.values  # of a list in a list there are two events for each, and one for each key
    for number, event in enumerate(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))):
        if type(event) in handlers:
            handlers[type(event)](event)
        if builder.documents > 1:
            break
        if builder.count > limits.values or number > most:
            raise _error(event.start_mark, f"there are more than {limits.values:,} values in it")
    return builder


def not_finite(pointer: str) -> Problem:
    """Return the Problem of an infinity or NaN, which JSON does not have."""
    message = "this number is not finite, which JSON does not allow; it is left out"
    return Problem(pointer=pointer, kind="syntax", message=message)


def _error(mark: Any, message: str) -> DocumentError:
    return DocumentError(message, where=f"line {mark.line + 1}, column {mark.column + 1}" if mark else "")


def is_yaml_tag(tag: str) -> bool:
    """Return whether a tag is one of YAML's own; the value is plain data in any case."""
    return tag in _KNOWN


def plain(text: str) -> Any:
    """Return the value of a scalar without quotes and tag."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "-+.0123456789":
        return text
    if _DECIMAL.fullmatch(text):
        return int(text) if len(text) <= _MAX_DIGITS else text
    if _FLOAT.fullmatch(text):
        return float(text)
    if _BASED.fullmatch(text):
        return int(text, 0) if len(text) <= _MAX_DIGITS // 2 else text  # a digit has 1.2 decimal ones at most
    return math.inf if _NOT_FINITE.fullmatch(text) else text


def explicit(text: str, tag: str | None, *, quoted: bool) -> Any:
    """Return the value of a scalar that is quoted or has a tag; `!!binary` stays base64 text."""
    if tag is None or tag in _STRINGS:
        return text
    if tag == _BINARY:
        return "".join(text.split())
    return text if quoted and tag not in _KNOWN else plain(text)


def spelling(value: Any, text: str) -> str | None:
    """Return the text of a scalar where `json` would write its value differently, else None."""
    kind = type(value)
    if kind is str:
        return None
    same = repr(value) == text if kind is int or kind is float else text in ("true", "false", "null")
    return None if same else text


def has_lone_surrogate(text: str) -> bool:
    """Return whether JSON or YAML text may hold an escaped lone surrogate; fast, since almost no text does."""
    return _LONE.search(text) is not None


def join_surrogates(text: str) -> str:
    """Return the text with escaped surrogate pairs as one character and lone surrogates as U+FFFD."""
    return _ESCAPE.sub(_replacement, text)


def _replacement(match: re.Match[str]) -> str:
    if match["pair"]:
        high, low = match["pair"].split("\\u")
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
    return "\\ufffd" if match["lone"] else match[0]


def expand_tabs(text: str) -> str:
    """Return the text with spaces for tabs before comments and line ends.

    Quoted and block scalars keep theirs, if the text is YAML then. No character moves, so errors have the right line
    and column.
    """
    import yaml

    spaced = _TABS.sub(lambda match: match[0].replace("\t", " "), text)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    result, end = [], 0
    try:
        for token in yaml.scan(spaced, Loader=loader) if spaced != text else ():
            if isinstance(token, yaml.ScalarToken) and not token.plain:
                first, last = token.start_mark.index, token.end_mark.index
                result += [spaced[end:first], text[first:last]]
                end = last
    except yaml.YAMLError:
        return spaced  # whose first error is none of these tabs
    return "".join(result) + spaced[end:]
