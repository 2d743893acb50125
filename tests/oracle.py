"""Oracle for fuzz tests: the answers that the specification allows to any message.

Nothing of openapi_mcp is used here, so that no mistake is made twice. Where the specification leaves a choice, `Answer`
accepts each alternative. Sections are those of 2025-11-25 (handshake era) and 2026-07-28 (stateless era).
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

PARSE, INVALID, METHOD, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
MISMATCH, UNSUPPORTED = -32020, -32022
HANDSHAKE: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS: Final = "2026-07-28"
PREFIX: Final = "io.modelcontextprotocol/"
LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
SKILL: Final = "skill://workshop"
"""The URI of the folder of the skill of the API that most tests serve."""
NO_ID: Final = object()

Shape = Callable[[Any], bool]


@dataclass(frozen=True)
class Answer:
    """A required message, or an optional one if it is not `sure`: an error of these codes, or a result of this shape.

    `status` are the HTTP statuses that it may have. `acknowledges` marks the message that begins a subscription.
    """

    id: Any = NO_ID
    codes: tuple[int, ...] = ()
    shape: Shape | None = None
    sure: bool = True
    status: tuple[int, ...] = (200,)
    acknowledges: bool = False
    other_ids: tuple[Any, ...] = ()
    """Ids that it may have instead: those that stand in a message that cannot be read."""

    def accepts(self, message: Any) -> bool:
        """Return whether a message of the server is this one."""
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return False
        if self.acknowledges:
            return _is_acknowledgement(message) and same(_tag(message), self.id)
        if not any(same(message.get("id", NO_ID), each) for each in (self.id, *self.other_ids)):
            return False
        if ("result" in message) == ("error" in message):
            return False
        if "error" in message:
            return _is_error(message["error"], self.codes)
        try:
            return self.shape is not None and self.shape(message["result"])
        except (KeyError, TypeError):
            return False  # a result of another shape


@dataclass(frozen=True)
class Batch:
    """An array of answers that must come back as one message (2025-03-26)."""

    answers: tuple[Answer, ...]
    status: tuple[int, ...] = (200,)
    id: Any = NO_ID

    @property
    def sure(self) -> bool:
        """Return whether any answer is required."""
        return any(answer.sure for answer in self.answers)

    def accepts(self, message: Any) -> bool:
        """Return whether a message of the server is this one."""
        return isinstance(message, list) and bool(message) and not unmatched(self.answers, message)


Expected = Answer | Batch


def unmatched(expected: Sequence[Expected], messages: Sequence[Any]) -> list[Any]:
    """Return the messages that were not expected and the required ones that are missing."""
    missing, surplus = list(expected), []
    for message in messages:
        # Required answers are matched first: an optional one must not use up their message.
        order = sorted(range(len(missing)), key=lambda index: not missing[index].sure)
        match = next((index for index in order if missing[index].accepts(message)), None)
        if match is None:
            surplus.append(message)
        else:
            del missing[match]
    return surplus + [answer for answer in missing if answer.sure]


def same(one: Any, other: Any) -> bool:
    """Return whether two ids are equal, also in their type; an integer may be written with a fraction of zero."""
    if NO_ID in (one, other):
        return one is other
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    return bool(one == other) and isinstance(one, str) == isinstance(other, str)


def read(data: bytes) -> Any:
    """Parse JSON. Raises ValueError for invalid JSON, and for numbers that implementations need not support."""
    value = json.loads(data.decode("utf-8-sig"), parse_constant=_no_constant)
    json.dumps(value, allow_nan=False)
    return value


def ids_in(data: bytes) -> tuple[Any, ...]:
    """Return the values that stand behind a name `id` in bytes that are not JSON: an error may have one of them."""
    values = []
    for match in re.finditer(rb'"id"\s*:\s*', data):
        try:
            value, _ = json.JSONDecoder().raw_decode(data[match.end() :].decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        values += [value] if is_id(value) else []
    return tuple(values)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def is_id(value: Any) -> bool:
    """Return whether a value is a string or an integer. A string with a surrogate is none: it cannot be sent back."""
    if isinstance(value, str):
        return not any(0xD800 <= ord(character) < 0xE000 for character in value)
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value % 1 == 0)


def envelope(message: Any) -> dict[str, Any] | None:
    """Return the `_meta` of a message of the stateless era, None for other messages."""
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) and PREFIX + "protocolVersion" in meta else None


@dataclass
class Rules:
    """The answers required on one connection of a server with these tools, on one page, which may change."""

    tools: frozenset[str]
    revision: str | None = None
    excused: list[Any] = field(default_factory=list)
    """Ids of cancelled requests."""
    skill: str | None = None
    """The URI of the folder of the server's skill (`io.modelcontextprotocol/skills`), None if it has none."""

    def expected(self, message: Any) -> Iterator[Expected]:
        """Yield the answers required to a JSON value."""
        if isinstance(message, list):
            yield self._batch(message)
        else:
            yield from self.expected_of_message(message)

    def expected_of_message(self, message: Any) -> Iterator[Answer]:
        """Yield the answer required to anything but a batch."""
        if not isinstance(message, dict):
            yield Answer(codes=(INVALID,), status=(400,))
            return
        if "method" not in message and ("result" in message or "error" in message):
            return  # an answer is not answered
        request_id = message.get("id", NO_ID)
        if request_id is not NO_ID and not is_id(request_id):
            yield Answer(codes=(INVALID,), status=(400,))
        elif message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
            # Without an id it may be a broken notification, which is never answered, or a broken request, which is.
            yield Answer(id=request_id, codes=(INVALID,), status=(400,), sure=request_id is not NO_ID)
        elif request_id is NO_ID:
            self._notify(message)
        else:
            yield self.answer(message)

    def answer(self, message: dict[str, Any]) -> Answer:
        """Return the answer required to a request."""
        return self._stateless(message) if envelope(message) is not None else self._handshake(message)

    def _notify(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        if message["method"] == "notifications/cancelled" and isinstance(params, dict):
            self.excused.append(params.get("requestId"))

    def _batch(self, messages: list[Any]) -> Expected:
        if self.revision != "2025-03-26" or not messages:
            return Answer(codes=(INVALID,), status=(400,))
        return Batch(tuple(answer for message in messages for answer in self._batched(message)))

    def _batched(self, message: Any) -> Iterator[Answer]:
        if _is_alone(message):
            yield Answer(id=message["id"], codes=(INVALID,))
        else:
            yield from self.expected_of_message(message)

    def _handshake(self, message: dict[str, Any]) -> Answer:
        """basic/lifecycle, basic/utilities/ping, server/tools, server/utilities/logging."""
        request_id, method, params = message["id"], message["method"], message.get("params")
        arguments = {} if params is None else params
        if method == "ping":
            return Answer(request_id, (PARAMS, INVALID) if not isinstance(arguments, dict) else (), shape={}.__eq__)
        if method == "initialize":
            return self._initialize(request_id, arguments)
        served = _HANDSHAKE.get(method) or self._of_skill(method, _is_plain, _is_plain)
        if served is None:
            return Answer(request_id, (METHOD,))
        if self.revision is None:
            return Answer(request_id, (PARAMS, INVALID))
        return _of_method(served, request_id, arguments, self.tools)

    def _initialize(self, request_id: Any, params: Any) -> Answer:
        requested = params.get("protocolVersion") if isinstance(params, dict) else None
        if not isinstance(requested, str):
            return Answer(request_id, (PARAMS, INVALID))
        agreed = self.revision = requested if requested in HANDSHAKE else HANDSHAKE[-1]
        return Answer(request_id, shape=lambda result: _is_greeting(result, agreed))

    def _stateless(self, message: dict[str, Any]) -> Answer:
        """Basic ("Per-request protocol fields"), server/discover, server/tools, basic/patterns/subscriptions."""
        request_id, method, params, meta = message["id"], message["method"], message["params"], envelope(message) or {}
        version = meta[PREFIX + "protocolVersion"]
        if not isinstance(version, str) or not isinstance(meta.get(PREFIX + "clientCapabilities"), dict):
            return Answer(request_id, (PARAMS,), status=(400,))
        if version != STATELESS:
            return Answer(request_id, (UNSUPPORTED,), status=(400,))
        served = _STATELESS.get(method) or self._of_skill(method, _is_cached, _is_complete)
        if served is None:
            return Answer(request_id, (METHOD,), status=(404,))
        return _of_method(served, request_id, params, self.tools)

    def _of_skill(self, method: str, is_cached: Shape, is_complete: Shape) -> "Method | None":
        """Return a method of resources or skills, by the checks of fields that every result of the era has."""
        if self.skill is None or method not in _SKILLS:
            return None
        name, member = _SKILLS[method]
        has_fields = is_complete if method == "resources/directory/read" else is_cached
        uri = None if name is None else self.skill + name
        return Method(
            lambda params, _tools: (
                params.get("cursor") is None
                and isinstance(params.get("uri"), str | None)
                and uri in (None, params.get("uri"))
            ),
            lambda result: member in result and has_fields(result),
        )


Check = Callable[[dict[str, Any], frozenset[str]], bool]


@dataclass(frozen=True)
class Method:
    """A method: the check of its parameters and the shape of its result."""

    takes: Check
    shape: Shape
    acknowledges: bool = False


def _of_method(method: Method, request_id: Any, params: Any, tools: frozenset[str]) -> Answer:
    if not isinstance(params, dict):
        return Answer(request_id, (PARAMS, INVALID))
    if not method.takes(params, tools):
        return Answer(request_id, (PARAMS,))
    return Answer(request_id, shape=method.shape, acknowledges=method.acknowledges)


def _is_alone(message: Any) -> bool:
    """Return whether a message is a request that is valid outside of a batch only."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not is_id(message.get("id")):
        return False
    method = message.get("method")
    return isinstance(method, str) and (method == "initialize" or envelope(message) is not None)


def _is_error(error: Any, codes: tuple[int, ...]) -> bool:
    if not isinstance(error, dict) or error.get("code") not in codes or not isinstance(error.get("message"), str):
        return False
    data: dict[str, Any] = error.get("data", {})
    named = bool(data.get("supported") == [STATELESS]) and isinstance(data.get("requested"), str)
    return named or error["code"] != UNSUPPORTED


def _is_acknowledgement(message: dict[str, Any]) -> bool:
    return message.get("method") == "notifications/subscriptions/acknowledged" and "id" not in message


def _tag(message: dict[str, Any]) -> Any:
    return message["params"]["_meta"][PREFIX + "subscriptionId"]


def _takes_call(params: dict[str, Any], tools: frozenset[str]) -> bool:
    return params.get("name") in tools if isinstance(params.get("name"), str) else False


def _is_call(params: dict[str, Any], tools: frozenset[str]) -> bool:
    return _takes_call(params, tools) and isinstance(params.get("arguments", {}), dict | None)


def _is_first_page(params: dict[str, Any], _tools: frozenset[str]) -> bool:
    return params.get("cursor") is None


def _is_level(params: dict[str, Any], _tools: frozenset[str]) -> bool:
    return isinstance(params.get("level"), str) and params["level"] in LEVELS


def _is_filter(params: dict[str, Any], _tools: frozenset[str]) -> bool:
    notifications = params.get("notifications")
    return isinstance(notifications, dict) and isinstance(notifications.get("toolsListChanged", False), bool)


def _anything(_params: dict[str, Any], _tools: frozenset[str]) -> bool:
    return True


def _is_greeting(result: Any, revision: str) -> bool:
    return (
        result["protocolVersion"] == revision
        and "tools" in result["capabilities"]
        and {"name", "version"} <= result["serverInfo"].keys()
        and _is_plain(result)
    )


def _is_plain(result: Any) -> bool:
    """Return whether a result has no member of the stateless era."""
    return not {"resultType", "ttlMs", "cacheScope"} & result.keys()


def _is_complete(result: Any) -> bool:
    named = {"name", "version"} <= result["_meta"][PREFIX + "serverInfo"].keys()
    return named and bool(result["resultType"] == "complete")


def _is_cached(result: Any) -> bool:
    cached = isinstance(result["ttlMs"], int) and result["ttlMs"] >= 0 and result["cacheScope"] in {"public", "private"}
    return cached and _is_complete(result)


def _is_list(result: Any) -> bool:
    return bool(result["tools"]) and all(tool["inputSchema"]["type"] == "object" for tool in result["tools"])


def _is_result(result: Any) -> bool:
    return bool(result["content"]) and all(isinstance(block["type"], str) for block in result["content"])


def _is_discovery(result: Any) -> bool:
    return result["supportedVersions"] == [STATELESS] and "tools" in result["capabilities"] and _is_cached(result)


_HANDSHAKE: Final = {
    "tools/list": Method(_is_first_page, lambda result: _is_list(result) and _is_plain(result)),
    "tools/call": Method(_is_call, lambda result: _is_result(result) and _is_plain(result)),
    "logging/setLevel": Method(_is_level, {}.__eq__),
}
_STATELESS: Final = {
    "server/discover": Method(_anything, _is_discovery),
    "tools/list": Method(_is_first_page, lambda result: _is_list(result) and _is_cached(result)),
    "tools/call": Method(_is_call, lambda result: _is_result(result) and _is_complete(result)),
    "subscriptions/listen": Method(_is_filter, _is_complete, acknowledges=True),
}
_SKILLS: Final[dict[str, tuple[str | None, str]]] = {
    "skills/list": (None, "skills"),
    "skills/get": ("/SKILL.md", "skill"),
    "resources/list": (None, "resources"),
    "resources/templates/list": (None, "resourceTemplates"),
    "resources/read": ("/SKILL.md", "contents"),
    "resources/directory/read": ("", "resources"),
}
"""The methods of a server with a skill: the end of the URI in the parameters, and a member of the result."""
