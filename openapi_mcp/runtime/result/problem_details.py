"""The messages in the body of an error: what the API says is wrong, and at which argument of the tool.

Read are RFC 9457 (`title`, `detail`, `errors`, `invalid-params`) and the forms in use besides it: lists of errors with
`loc`, `field`, `pointer` or `path`, objects of messages by field, `message`, `error`, `error_description`,
`fieldViolations`, the codes of AWS, and `<Code>` with `<Message>` in XML. The body itself is shown behind them, so what
is not recognised is not lost.

Specification: RFC 9457 §3, RFC 6749 §5.2, JSON:API "Error Objects", OData JSON "Error Response".
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

from .. import jsontext
from ..tool import Argument, Tool

_MAX_LISTED: Final = 5
"""Messages that are listed; the body has the others."""

_MAX_MESSAGES: Final = 100
_MAX_NODES: Final = 500
"""Values of a body that are read: the errors of a request stand at its beginning."""

_MAX_DEPTH: Final = 8
# Characters.
_MAX_TEXT: Final = 240
_MAX_PLACE: Final = 100
_MAX_ALL: Final = 1000
_MAX_XML: Final = 8192
_MAX_RENAMED: Final = 3
"""Names in messages that are translated to those of arguments."""

_Place: TypeAlias = tuple[str | int, ...]


class Message(NamedTuple):
    """A defect and its place: the path as the API wrote it, also in steps; empty for the request as a whole."""

    text: str
    written: str = ""
    place: _Place = ()


def summary(tool: Tool, value: Any, text: str | None, status: int, reason: str) -> str:
    """Return what an error's body says in a line, or in a list if it says more; empty where no message is recognised.

    `value` is the JSON of the body, `text` its text if it is none. Names of the API are those of the tool's arguments.
    """
    found = value if isinstance(value, dict | list) else _xml_object(text or "")
    messages = list(dict.fromkeys(islice(_Reader(status, reason).messages(found), _MAX_MESSAGES)))
    if not messages:
        return ""
    sentences = list(dict.fromkeys(_sentence(tool, each) for each in messages))
    whole = sentences.pop(0) if len(sentences) == 1 or not messages[0].written else ""
    lines = [each[: _MAX_TEXT + 2 * _MAX_PLACE] for each in sentences[:_MAX_LISTED]]
    while len(lines) > 1 and sum(map(len, lines)) > _MAX_ALL:
        lines.pop()
    more = len(sentences) - len(lines)
    listed = "".join(f"\n- {line}" for line in [*lines, *([f"… and {more} more."] if more else [])])
    shown = " ".join(each.text for each in messages[: len(lines) + 1])
    return f"{whole}{listed}{_renamed(tool, shown, whole + listed)}"


_TITLES: Final = (
    *("title", "error", "message", "errormessage", "msg", "statusmessage", "faultstring", "usermessage"),
    "defaultmessage",
)
_DETAILS: Final = (
    *("detail", "details", "errordescription", "description", "reason", "hint", "text", "longmessage", "summary"),
    *("developermessage", "errordetail", "errordetails", "errortext", "cause"),
)
"""Names of texts, in lower case without separators: first what is wrong, then more about it."""

_CODES: Final = ("type", "code", "errorcode", "status", "faultcode", "ruleid", "keyword")
_CODE: Final = re.compile(r"(?:[^#\s]*#)?([A-Za-z][\w.-]{2,80})")
_ERROR_NAMES: Final = (
    "error errors errormessage errormessages detail details message messages invalidparams invalidparameters problems"
    " fielderrors fieldviolations violations validationerrors validation issues fault faults response suberrors reasons"
    " errordetails innererror innererrors fields modelstate errorlist constraints exception exceptions data result"
    " results validationmessages invalidfields formerrors rootcause causes"
)
_CONTAINERS: Final = frozenset(_ERROR_NAMES.split())
"""Names of values in which messages are found."""

_FIELD_NAMES: Final = (
    "errors fielderrors modelstate validationerrors messages violations invalidfields formerrors errormessages"
)
_BY_FIELD: Final = frozenset(_FIELD_NAMES.split())
"""Names of objects whose names may be those of fields, each with one message; of others with a list of messages."""

_NO_FIELDS: Final = frozenset({"nonfielderrors", "all", "base", "errors", "error", "schema", "general", "formerrors"})
"""Names for the request as a whole among the names of fields."""

_PLACES: Final = (
    *("loc", "pointer", "parameter", "field", "param", "fieldname", "fieldpath", "property", "propertypath"),
    *("propertyname", "parametername", "instancepath", "datapath", "jsonpath", "attribute", "path", "key", "location"),
    *("target", "argument", "name", "header", "fields", "membernames"),
)
"""Names of what says where an error is, the most certain first."""

_NOT_IN_THE_WHOLE: Final = frozenset({"path", "name", "key", "location", "target", "fields", "header"})
"""Names that in the body's own object are about something else: Spring's `path` is that of the URL."""

_STEP: Final = re.compile(r"[^.\[\]/]+")
_SEPARATORS: Final = re.compile(r"[\W_]+")


def _folded(name: str) -> str:
    return _SEPARATORS.sub("", name[:_MAX_PLACE]).lower()


class _Reader:
    """A reader of one body. `_left` bounds the values that it visits."""

    def __init__(self, status: int, reason: str) -> None:
        self._status = {str(status), reason.casefold()}
        self._left = _MAX_NODES

    def messages(self, value: Any) -> Iterator[Message]:
        """Yield the messages of a body, the general one first."""
        found = False
        for message in self._read(value, "", (), 0):
            found = True
            yield message
        if not found and isinstance(value, dict) and _are_fields(value):
            yield from self._fields(value, "", (), 0)

    def _read(self, value: Any, written: str, place: _Place, depth: int) -> Iterator[Message]:
        self._left -= 1
        if depth > _MAX_DEPTH or self._left < 0:
            return
        if isinstance(value, str) and (text := _one_line(value)):
            yield Message(text, written, place)
        elif isinstance(value, list):
            for item in value[: self._left]:
                yield from self._read(item, written, place, depth + 1)
        elif isinstance(value, dict):
            yield from self._object(value, written, place, depth)

    def _object(self, value: Mapping[str, Any], written: str, place: _Place, depth: int) -> Iterator[Message]:
        names = {_folded(name): name for name in reversed(list(islice(value, _MAX_NODES)))}
        members = {folded: value[name] for folded, name in names.items()}
        own_written, own_place = _place_of(members, is_whole=depth == 0)
        if own_written:
            written, place = own_written, own_place
        if text := self._text(members, is_located=bool(own_written)):
            yield Message(text, written, place)
        for folded in reversed(members):
            inner = members[folded]
            if folded not in _CONTAINERS or not isinstance(inner, dict | list):
                continue
            if isinstance(inner, dict) and folded == "constraints":
                yield from self._read(list(inner.values()), written, place, depth + 1)
            elif isinstance(inner, dict) and _are_fields(inner, of_texts=folded in _BY_FIELD):
                yield from self._fields(inner, written, place, depth + 1)
            elif not (folded == "fields" and own_written):
                yield from self._read(inner, written, place, depth + 1)

    def _text(self, members: Mapping[str, Any], *, is_located: bool) -> str:
        """Return an object's own message: what is wrong, more about it, and before both a code that says more."""
        texts: list[str] = []
        for name in (*_TITLES, *_DETAILS):
            text = _one_line(_text_of(members.get(name)))
            if text and text.casefold() not in self._status and not any(text in other for other in texts):
                texts = [other for other in texts if other not in text] + [text]
        codes = [match[1] for name in _CODES if (match := _CODE.fullmatch(str(members.get(name, ""))))]
        codes = [each for each in codes if each.casefold() not in self._status and "_" not in each[:1]]
        if not texts:
            return codes[-1] if is_located and codes else ""
        named = [each for each in codes if any(letter.isupper() for letter in each) and each not in texts[0]]
        return _one_line(": ".join([*named[:1], *(text.rstrip(" .:") for text in texts[:-1]), texts[-1]]))

    def _fields(self, fields: Mapping[str, Any], written: str, place: _Place, depth: int) -> Iterator[Message]:
        """Yield the messages of an object of messages by field, which may have fields of its own."""
        if depth > _MAX_DEPTH:
            return
        for name, value in islice(fields.items(), _MAX_NODES):
            self._left -= 1
            if self._left < 0:
                return
            inner_written, inner = written, place
            if name and _folded(name) not in _NO_FIELDS:
                inner_written = f"{written}.{name}" if written else name
                inner = (*place, *_steps(name))
            if isinstance(value, dict) and _are_fields(value, of_texts=True):
                yield from self._fields(value, inner_written, inner, depth + 1)
            elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
                yield Message(_one_line("; ".join(value[:_MAX_LISTED])), inner_written, inner)
            elif isinstance(value, str | list | dict):
                yield from self._read(value, inner_written, inner, depth + 1)


def _are_fields(value: Mapping[str, Any], *, of_texts: bool = False, depth: int = 0) -> bool:
    """Return whether the names of an object are those of fields: its values are lists of messages, or such objects.

    `of_texts`: a value may be one message.
    """
    if not value or len(value) > _MAX_NODES or depth > _MAX_DEPTH:
        return False
    if _AN_ERROR.intersection(_folded(name) for name, item in value.items() if isinstance(item, str)):
        return False
    return all(_is_of_field(item, of_texts=of_texts, depth=depth) for item in value.values())


def _is_of_field(item: Any, *, of_texts: bool, depth: int) -> bool:
    if isinstance(item, dict):
        return not item or _are_fields(item, of_texts=of_texts, depth=depth + 1) or "message" in item
    if isinstance(item, list):
        return all(isinstance(each, str | dict) for each in item[:_MAX_LISTED])
    return of_texts and isinstance(item, str)


_AN_ERROR: Final = frozenset({"message", "msg", "detail", "reason", "errormessage", "code", "lang"})
"""Names of texts that an error itself has: an object with one is no object of fields."""


def _text_of(value: Any) -> str:
    """Return a text, or that of OData's `message`, an object with the language of its `value`."""
    if isinstance(value, dict):
        value = value.get("value") if value.keys() <= {"value", "lang"} else None
    return value if isinstance(value, str) else ""


def _one_line(text: str) -> str:
    line = " ".join(text[: 4 * _MAX_TEXT].split())
    return line if len(line) <= _MAX_TEXT else f"{line[: _MAX_TEXT - 1]}…"


def _place_of(members: Mapping[str, Any], *, is_whole: bool) -> tuple[str, _Place]:
    """Return where an error is, as it is written and in steps; empty where its object does not say it."""
    source = members.get("source")
    if isinstance(source, dict):
        members = {**members, **{_folded(name): value for name, value in islice(source.items(), _MAX_LISTED)}}
    for name in _PLACES:
        value = members.get(name)
        if is_whole and name in _NOT_IN_THE_WHOLE:
            continue
        if isinstance(value, list) and value and all(isinstance(step, str | int) for step in value):
            steps = tuple(step for step in value[:_MAX_LISTED])
            return jsontext.format_path(steps)[:_MAX_PLACE], steps
        if isinstance(value, str) and value and not (name == "location" and value.lower() in _LOCATIONS):
            return value[:_MAX_PLACE], _steps(value[:_MAX_PLACE])
    return "", ()


def _steps(written: str) -> _Place:
    return tuple(int(step) if step.isdecimal() else step for step in _STEP.findall(written) if step not in {"#", "$"})


_LOCATIONS: Final[Mapping[str, str]] = {
    **{name: name for name in ("query", "path", "cookie", "header", "body")},
    "headers": "header",
    "params": "path",
    "querystring": "query",
    "requestbody": "body",
    "request": "",
    "json": "",
}
"""First steps that name a part of the request, and the location of an argument there; empty is any."""


def _sentence(tool: Tool, message: Message) -> str:
    """Return a message with the argument that it is about."""
    if not message.written:
        return message.text
    argument, rest = _argument_at(tool.arguments, message)
    if argument is None:
        return f"`{message.written}`: {message.text}"
    inner = jsontext.format_path([argument.name, *rest])[:_MAX_PLACE]
    wire_name = argument.wire_name or argument.name
    written = "" if wire_name == argument.name else f" (the API's `{wire_name}`)"
    return f"the argument `{inner}`{written}: {message.text}"


def _argument_at(arguments: Sequence[Argument], message: Message) -> tuple[Argument | None, _Place]:
    """Return the argument that a message is about, and the steps within its value."""
    if found := _named(arguments, message.written):
        return found, ()
    steps = message.place
    location = _LOCATIONS.get(_folded(str(steps[0]))) if len(steps) > 1 else None
    if location is not None and (found := _named(arguments, steps[1], location)):
        return found, steps[2:]
    whole = next((each for each in arguments if each.location == "body" and each.wire_name is None), None)
    if whole is not None and location == "body":
        return whole, steps[1:]
    for position, step in enumerate(steps[:3]):
        if found := _named(arguments, step):
            return found, steps[position + 1 :]
    return None, ()


def _named(arguments: Iterable[Argument], name: str | int, location: str = "") -> Argument | None:
    """Return the argument of a name of the API: the same, or the same but for case and separators."""
    there = [each for each in arguments if not location or each.location == location]
    exact = next((each for each in there if name in (each.wire_name, each.name)), None)
    folded = _folded(str(name))
    alike = (each for each in there if folded and folded == _folded(each.wire_name or each.name))
    return exact or next(alike, None)


def _renamed(tool: Tool, text: str, shown: str) -> str:
    """Return sentences for names in messages that arguments have in another spelling."""
    renamed = (
        f"The API's `{each.wire_name}` is the argument `{each.name}`."
        for each in tool.arguments
        if each.wire_name and each.wire_name != each.name and f"(the API's `{each.wire_name}`)" not in shown
        if each.wire_name in text and re.search(rf"(?<![\w$]){re.escape(each.wire_name)}(?!\w)", text)
    )
    sentences = list(islice(renamed, _MAX_RENAMED))
    return f"\n{' '.join(sentences)}" if sentences else ""


_XML_TEXT: Final = re.compile(
    r"<(?:\w+:)?(Code|Message|title|detail|faultstring|faultcode|error|description|reason|errorMessage|msg)\b[^<>]{0,200}>"
    r"(?:<!\[CDATA\[)?([^<>\]]{1,2000})(?:\]\]>)?</",
    re.IGNORECASE,
)


def _xml_object(text: str) -> dict[str, str]:
    """Return the texts of XML elements that are named as messages are, the first of each name."""
    if not text.lstrip().startswith("<"):
        return {}
    pairs = islice(_XML_TEXT.findall(text[:_MAX_XML]), _MAX_MESSAGES)
    return {name.lower(): html.unescape(content) for name, content in reversed(list(pairs))}
