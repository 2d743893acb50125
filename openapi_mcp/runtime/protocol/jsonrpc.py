"""JSON-RPC 2.0: bytes to messages and back, and the three kinds of message; nothing in here knows MCP's methods.

Specification: https://www.jsonrpc.org/specification and MCP basic ("Messages"): an id is a string or an integer and
never null, the reply echoes it unchanged, and an error about a message whose id cannot be read has no id at all.
"""

import codecs
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias

from ..types import MISSING, JsonObject

RequestId: TypeAlias = str | int | float
"""An id as it came. A float is an integer that its sender wrote as `1.0`."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024
"""The largest message a transport takes unless told otherwise: the limit of the official SDKs."""


class InvalidJson(ValueError):
    """Bytes that are not one JSON text in UTF-8, or hold a number that this process cannot keep."""


@dataclass(frozen=True, slots=True)
class Request:
    """A message that wants an answer. `params` may still be anything: who reads them checks them."""

    id: RequestId
    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that must not be answered."""

    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Response:
    """An answer to a request of ours. This server makes none, so it is only ever ignored or refused."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A JSON value that is no message, and the error that says so."""

    reply: JsonObject


Message: TypeAlias = Request | Notification | Response | Malformed


_MESSAGES: Final = (Request, Notification, Response, Malformed)


def result(request_id: RequestId, value: Mapping[str, Any]) -> JsonObject:
    """A success response."""
    return {"jsonrpc": "2.0", "id": request_id, "result": value}


def error(code: int, message: str, *, request_id: RequestId | None = None, data: Any = MISSING) -> JsonObject:
    """An error response; without a `request_id` it answers a message whose id could not be read."""
    body = {"code": code, "message": message} | ({} if data is MISSING else {"data": data})
    return {"jsonrpc": "2.0"} | ({} if request_id is None else {"id": request_id}) | {"error": body}


def notification(method: str, params: Mapping[str, Any] | None = None) -> JsonObject:
    """A message that nobody answers."""
    return {"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params})


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request gets an error for an answer: the members of a JSON-RPC error object."""

    code: int
    message: str
    data: Any = MISSING

    def reply(self, request_id: RequestId | None = None) -> JsonObject:
        """The error response."""
        return error(self.code, self.message, request_id=request_id, data=self.data)


def members(params: Any) -> JsonObject | Refusal:
    """The parameters of a request by name. `null` is read as their absence: there are clients which send it."""
    if params is None:
        return {}
    return params if isinstance(params, dict) else Refusal(INVALID_PARAMS, "params must be an object.")


def classify(value: Any) -> Message:
    """What kind of message a JSON value is; a message is what it is already."""
    if isinstance(value, _MESSAGES):
        return value
    if not isinstance(value, dict):
        return _malformed("A message must be a JSON object.")
    if "method" not in value and ("result" in value or "error" in value):
        return Response()  # before all else: to answer an answer could go on for ever
    request_id = value.get("id")
    if "id" in value and not is_id(request_id):
        return _malformed("A request id must be a string or an integer.")
    if value.get("jsonrpc") != "2.0":
        return _malformed('A message must have "jsonrpc": "2.0".', request_id)
    method = value.get("method")
    if not isinstance(method, str):
        return _malformed("A message must have a method, which is a string.", request_id)
    if request_id is None:
        return Notification(method, value.get("params"))
    return Request(request_id, method, value.get("params"))


def _malformed(message: str, request_id: RequestId | None = None) -> Malformed:
    return Malformed(error(INVALID_REQUEST, message, request_id=request_id))


def is_id(value: Any) -> bool:
    """Whether a JSON value can be the id of a request."""
    if type(value) is int:  # nearly always
        return True
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)  # a lone surrogate cannot be echoed
    if isinstance(value, float):
        return value.is_integer()
    return False


def decode(data: bytes) -> Any:
    """The JSON value of a message. Raises `InvalidJson`, never anything else.

    `NaN` and `Infinity` are not JSON; a number beyond a float or a nesting beyond the parser is refused like them.
    """
    try:
        # Some shells put a byte order mark before the first line of a pipe (RFC 8259 §8.1 lets a parser ignore it).
        return _DECODER.decode(data.removeprefix(codecs.BOM_UTF8).decode())
    except (ValueError, RecursionError) as problem:
        raise InvalidJson("The message is not valid JSON in UTF-8.") from problem


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is out of range")
    return number


def encoded_result(request_id: RequestId, encoded: bytes) -> bytes:
    """A response whose result is JSON already: `encode(result(request_id, …))` without encoding it again."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(request_id), encoded)


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite_float)
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def encode(value: Any) -> bytes:
    """One line of JSON in UTF-8, always valid: a non-finite number becomes null, a lone surrogate U+FFFD.

    Raises TypeError, ValueError or RecursionError for what is not a JSON value at all.
    """
    try:
        text = _ENCODER.encode(value)
    except ValueError:
        text = _ENCODER.encode(_finite(value))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
