"""JSON-RPC 2.0: read messages from bytes, classify them, and write replies. No MCP method is known here.

An id is a string or an integer and never null; the reply repeats it unchanged; an error about a message whose id cannot
be read has no id at all.

Specification: https://www.jsonrpc.org/specification and MCP basic ("Messages").
"""

import codecs
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from json import scanner
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

from .. import jsontext
from ..types import MISSING, JsonObject

RequestId: TypeAlias = str | int | float
"""The id of a request, as it was received. A float is an integer that its sender wrote as `1.0`."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024
"""The largest message that a transport reads by default: the limit of the official SDKs."""


MAX_QUICK_VALUES: Final = 50_000
"""Values of a message that is read without a pause, in about 0.02 s; 4 MiB can hold two million. One of so many bytes
has no more values."""

_STEP: Final = 5_000
"""Members of an object that are added in one step, in about a thousandth of a second."""

_SIGNS: Final = (b"[", b"{", b",", b":")
"""The signs that precede values."""

_MAX_ID_BYTES: Final = 64 * 1024
"""Bytes of a message that is not JSON in which its id is looked for, in about 0.02 s; usually it is among the first."""


class InvalidJson(ValueError):
    """Bytes that are not one JSON text in UTF-8, or that contain a number too large for this process.

    `request_id` is the id of the message if it can be read nevertheless.
    """

    def __init__(self, message: str, request_id: RequestId | None = None) -> None:
        super().__init__(message)
        self.request_id = request_id


class Request(NamedTuple):
    """A message that must be answered. `params` is any JSON value; the reader of the method checks it."""

    id: RequestId
    method: str
    params: Any


class Notification(NamedTuple):
    """A message that must not be answered."""

    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Response:
    """An answer to a request of this server: `id` and `result` are any JSON values, the result None for an error."""

    id: Any = None
    result: Any = None


@dataclass(frozen=True, slots=True)
class MalformedMessage:
    """A JSON value that is not a message, with the error reply that explains why."""

    reply: JsonObject


Message: TypeAlias = Request | Notification | Response | MalformedMessage


_MESSAGES: Final = (Request, Notification, Response, MalformedMessage)


def result(request_id: RequestId, value: Mapping[str, Any]) -> JsonObject:
    """Return a success response."""
    return {"jsonrpc": "2.0", "id": request_id, "result": value}


def error(code: int, message: str, *, request_id: RequestId | None = None, data: Any = MISSING) -> JsonObject:
    """Return an error response; without a `request_id` it answers a message whose id could not be read."""
    body = {"code": code, "message": message} | ({} if data is MISSING else {"data": data})
    return {"jsonrpc": "2.0"} | ({} if request_id is None else {"id": request_id}) | {"error": body}


def notification(method: str, params: Mapping[str, Any] | None = None) -> JsonObject:
    """Return a notification, a message without an answer."""
    return {"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params})


@dataclass(frozen=True, slots=True)
class Refusal:
    """The error that answers a request: the members of a JSON-RPC error object."""

    code: int
    message: str
    data: Any = MISSING

    def reply(self, request_id: RequestId | None = None) -> JsonObject:
        """Return the error response."""
        return error(self.code, self.message, request_id=request_id, data=self.data)


def members(params: Any) -> JsonObject | Refusal:
    """Return the parameters of a request by name. `null` counts as no parameters: some clients send it."""
    if params is None:
        return {}
    return params if isinstance(params, dict) else Refusal(INVALID_PARAMS, "params must be an object.")


def classify(value: Any) -> Message:
    """Return which kind of message a JSON value is; a message that is classified already is returned as it is."""
    if not isinstance(value, dict):
        if isinstance(value, _MESSAGES):
            return value
        return _malformed("A message must be a JSON object.")
    if "method" not in value and ("result" in value or "error" in value):
        return Response(
            value.get("id"), value.get("result")
        )  # checked first: a reply to a reply could start an endless exchange
    request_id = value.get("id")
    if "id" in value and not is_id(request_id):
        return _malformed("A request id must be a string or an integer.")
    if value.get("jsonrpc") != "2.0":
        return _malformed('A message must have "jsonrpc": "2.0".', request_id)
    method = value.get("method")
    if not isinstance(method, str):
        return _malformed('A message must have a "method" that is a string.', request_id)
    if request_id is None:
        return Notification(method, value.get("params"))
    return Request(request_id, method, value.get("params"))


def _malformed(message: str, request_id: RequestId | None = None) -> MalformedMessage:
    return MalformedMessage(error(INVALID_REQUEST, message, request_id=request_id))


def is_id(value: Any) -> bool:
    """Return whether a JSON value can be the id of a request."""
    if type(value) is int:  # the most frequent case
        return True
    if isinstance(value, str):
        return value.isascii() or _is_encodable(value)
    if isinstance(value, float):
        return value.is_integer()
    return False


def _is_encodable(value: str) -> bool:
    """Return whether a text can be echoed: a lone surrogate cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def decode(data: bytes) -> Any:
    """Return the JSON value of a message. Raises InvalidJson and nothing else.

    `NaN` and `Infinity` are not JSON. A number beyond the range of a float, and nesting too deep for the parser, are
    refused like them.
    """
    try:
        return jsontext.quick_read(data)
    except jsontext.NotQuick:
        return _decode(data, _DECODER)


def decode_aside(data: bytes) -> Any:
    """Do what `decode` does; where the quick decoder cannot, in steps: numbers of thousands of digits take long."""
    try:
        return jsontext.quick_read(data)
    except jsontext.NotQuick:
        return decode_in_steps(data)


def count_values(data: bytes) -> tuple[int, int]:
    """Return how many values a message has at most, and how many arrays and objects that are complete and not empty."""
    objects = min(data.count(b"{"), data.count(b"}")) - data.count(b"{}")
    arrays = min(data.count(b"["), data.count(b"]")) - data.count(b"[]")
    return sum(map(data.count, _SIGNS)), objects + arrays


def decode_in_steps(data: bytes) -> Any:
    """Do what `decode` does, up to ten times slower, in many steps, between which other threads can run."""
    return _decode(data, _SLOW_DECODER)


def _decode(data: bytes, decoder: json.JSONDecoder) -> Any:
    try:
        # Some shells put a byte order mark before the first line of a pipe (RFC 8259 §8.1 lets a parser ignore it).
        return decoder.decode(data.removeprefix(codecs.BOM_UTF8).decode())
    except (ValueError, RecursionError) as problem:
        raise InvalidJson("The message is not valid JSON in UTF-8.", find_id(data)) from problem


def find_id(data: bytes) -> RequestId | None:
    """Return the id of a message that is not valid JSON; None if it stands behind the error, or is no valid id.

    The client waits for the reply to this id; of a reply without one it cannot tell to what it belongs. Only the
    members of the outermost object are looked at, in text that is JSON up to there but for numbers and nesting, and
    only the first bytes.
    """
    text = data[:_MAX_ID_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
    depth = 0
    for token in _TOKENS.finditer(text):
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth -= 1
        elif depth == 1 and token["id"]:
            return _read_id(token["id"])
        elif token["broken"]:
            return None
    return None


def find_last_id(data: bytes) -> RequestId | None:
    """Return the id of a message of which `data` is the end, if the id is its last member, as in many clients."""
    match = _LAST_ID.search(data.decode("utf-8", "replace"))
    return _read_id(match["id"]) if match else None


def _read_id(text: str) -> RequestId | None:
    try:
        value = _DECODER.decode(text)
    except ValueError:
        return None
    return value if is_id(value) and "\ufffd" not in str(value) else None


_STRING: Final = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_ID: Final = rf'"id"\s*:\s*(?P<id>{_STRING}|[0-9.eE+-]+(?=\s*[,}}]))'
_TOKENS: Final = re.compile(rf'{_ID}|{_STRING}|(?P<open>[\[{{])|(?P<close>[\]}}])|(?P<broken>")', re.DOTALL)
"""Tokens of JSON as far as they tell where a member of the outermost object is; a string without an end is broken."""

_LAST_ID: Final = re.compile(rf",\s*{_ID}\s*}}\s*\Z", re.DOTALL)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is out of range")
    return number


def encode_result(request_id: RequestId, encoded: bytes) -> bytes:
    """Encode a response whose result is encoded already: equal to `encode(result(request_id, …))`."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(request_id), encoded)


def _object_in_steps(pairs: list[tuple[str, Any]]) -> JsonObject:
    """Return an object and empty the list of its members, in steps where there are many: `dict` takes them in one."""
    value = dict[str, Any]()
    while len(pairs) > _STEP:
        value.update(pairs[:_STEP])
        del pairs[:_STEP]
    value.update(pairs)
    return value


def _slow_decoder() -> json.JSONDecoder:
    """Return a decoder in Python; the usual one is written in C and cannot be interrupted."""
    decoder = json.JSONDecoder(
        parse_constant=_refuse_constant, parse_float=_finite_float, object_pairs_hook=_object_in_steps
    )
    make_scanner = getattr(scanner, "py_make_scanner", None)
    if make_scanner is not None:
        vars(decoder)["scan_once"] = make_scanner(decoder)
    return decoder


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite_float)
_SLOW_DECODER: Final = _slow_decoder()
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False)


def encode(value: Any) -> bytes:
    """Return one line of JSON in UTF-8.

    The line is always valid: a non-finite number becomes null, a lone surrogate U+FFFD. Raises TypeError, ValueError or
    RecursionError for a value that is not a JSON value.
    """
    try:
        return jsontext.quick_write(value)
    except jsontext.NotQuick:
        pass
    try:
        text = _ENCODER.encode(value)
    except ValueError:
        text = _ENCODER.encode(_with_finite_numbers(value))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _with_finite_numbers(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _with_finite_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_finite_numbers(item) for item in value]
    return value
