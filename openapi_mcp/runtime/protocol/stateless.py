"""The stateless era (2026-07-28): every request says in `params._meta` what it speaks, and nothing is remembered.

Specification: basic ("Per-request protocol fields"), basic/transports/streamable-http, server/discover, server/tools.
The checks form a ladder, in the one order that gives every message the error the specification demands.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from ..types import JsonObject
from . import headers, jsonrpc
from .actions import Action
from .headers import HEADER_MISMATCH, Headers
from .jsonrpc import Refusal, Request
from .reading import read_call, read_list, read_subscription
from .revisions import HANDSHAKE, STATELESS, Revision
from .step import ServerDescription, Session, Step

UNSUPPORTED_PROTOCOL_VERSION: Final = -32022

_PREFIX: Final = "io.modelcontextprotocol/"
_VERSION: Final = _PREFIX + "protocolVersion"
_CAPABILITIES: Final = _PREFIX + "clientCapabilities"
_SERVER_INFO: Final = _PREFIX + "serverInfo"
_IDENTITY: Final = ("name", "version", "title")


def is_enveloped(params: Any) -> bool:
    """Whether parameters carry this era's envelope; the key has a reserved prefix, so no older traffic has it."""
    return _VERSION in _envelope(params)


def is_claimed(http: Headers | None) -> bool:
    """Whether an HTTP request claims this era by its header: any version there which is not of the handshake era."""
    return http is not None and headers.VERSION in http and headers.value(http, headers.VERSION) not in HANDSHAKE


def receive(description: ServerDescription, session: Session, request: Request, http: Headers | None = None) -> Step:
    """What a request of this era causes."""
    for check in _LADDER:
        refusal = check(request, http)
        if refusal is not None:
            return Step(session=session, status=400, reply=refusal.reply(request.id))
    method = _METHODS.get(request.method)
    if method is None:
        refusal = Refusal(jsonrpc.METHOD_NOT_FOUND, "There is no such method here.")
        return Step(session=session, status=404, reply=refusal.reply(request.id))
    outcome = method(description, request, STATELESS[_envelope(request.params)[_VERSION]], http)
    if isinstance(outcome, Refusal):
        # Not 400: without one of this era's own codes, clients of both eras take it for a server of the older one.
        return Step(session=session, reply=outcome.reply(request.id))
    if isinstance(outcome, dict):
        return Step(session=session, reply=jsonrpc.result(request.id, outcome))
    return Step(session=session, action=outcome, ends_with_connection=True)


def refusal_of_notification(http: Headers) -> Refusal | None:
    """Why an HTTP notification is not even ignored: it names a version that nobody serves, in either era."""
    return _unsupported(headers.value(http, headers.VERSION) or "") if is_claimed(http) else None


def _unsupported(version: str) -> Refusal | None:
    if version in STATELESS:
        return None
    # What is supported is this era's versions only, as in server/discover: the others cannot be named in an envelope.
    data = {"supported": list(STATELESS), "requested": version}
    return Refusal(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)


def _envelope(params: Any) -> JsonObject:
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _has_envelope(request: Request, _http: Headers | None) -> Refusal | None:
    envelope = _envelope(request.params)
    for key, kind, noun in ((_VERSION, str, "a string"), (_CAPABILITIES, dict, "an object")):
        if not isinstance(envelope.get(key), kind):
            return Refusal(jsonrpc.INVALID_PARAMS, f"params._meta must have {key!r}, which is {noun}.")
    return None


def _has_headers(request: Request, http: Headers | None) -> Refusal | None:
    if http is None:
        return None
    expected = {headers.VERSION: _envelope(request.params)[_VERSION], headers.METHOD: request.method}
    for name, wanted in expected.items():
        if headers.value(http, name) != wanted:
            return Refusal(HEADER_MISMATCH, f"The header {name} must say what the message says.")
    if request.method != "tools/call" or _name_agrees(request.params.get("name"), http):
        return None
    return Refusal(HEADER_MISMATCH, f"The header {headers.NAME} must say what params.name says.")


def _name_agrees(name: Any, http: Headers) -> bool:
    if not isinstance(name, str):
        return headers.NAME not in http  # then the message itself is refused, and says why
    return headers.decoded(headers.value(http, headers.NAME)) == name


def _is_served(request: Request, _http: Headers | None) -> Refusal | None:
    return _unsupported(_envelope(request.params)[_VERSION])


_LADDER: Final = (_has_envelope, _has_headers, _is_served)


def _result_fields(description: ServerDescription, revision: Revision) -> JsonObject:
    """What every result has. Who the server is goes into each, its description and icons only into the first one."""
    known = revision.implementation(description.implementation)
    return _complete({name: value for name, value in known.items() if name in _IDENTITY})


def _complete(server_info: JsonObject) -> JsonObject:
    return {"resultType": "complete", "_meta": {_SERVER_INFO: server_info}}


def _cached_fields(description: ServerDescription, revision: Revision) -> JsonObject:
    hints = {"ttlMs": description.ttl_ms, "cacheScope": description.cache_scope}
    return {**_result_fields(description, revision), **hints}


def _discover(
    description: ServerDescription, _request: Request, revision: Revision, _http: Headers | None
) -> JsonObject:
    result: JsonObject = {
        "supportedVersions": list(STATELESS),
        "capabilities": revision.capabilities(list_changed=description.list_changed),
    }
    if description.instructions:
        result["instructions"] = description.instructions
    server_info = revision.implementation(description.implementation)
    return {**result, **_cached_fields(description, revision), **_complete(server_info)}


def _list(
    description: ServerDescription, request: Request, revision: Revision, _http: Headers | None
) -> Action | Refusal:
    outcome = read_list(request, revision)
    if isinstance(outcome, Refusal):
        return outcome
    fields = _cached_fields(description, revision)
    return replace(outcome, result_fields=fields, explicit_fields=description.explicit_fields)


def _call(
    description: ServerDescription, request: Request, revision: Revision, http: Headers | None
) -> Action | Refusal:
    fields = _result_fields(description, revision)
    return read_call(request, revision, result_fields=fields, headers=http, explicit_fields=description.explicit_fields)


def _listen(
    description: ServerDescription, request: Request, revision: Revision, _http: Headers | None
) -> Action | Refusal:
    outcome = read_subscription(request, revision, list_changed=description.list_changed)
    if isinstance(outcome, Refusal):
        return outcome
    return replace(outcome, result_fields=_result_fields(description, revision))


_Method: TypeAlias = Callable[[ServerDescription, Request, Revision, Headers | None], JsonObject | Action | Refusal]
_METHODS: Final[Mapping[str, _Method]] = MappingProxyType(
    {"server/discover": _discover, "tools/list": _list, "tools/call": _call, "subscriptions/listen": _listen}
)
