"""The stateless era (2026-07-28): every request names its protocol version in `params._meta`; no state is kept.

The checks run in the one order that gives every message the error that the specification demands: envelope, headers,
version, method.

Specification: basic ("Per-request protocol fields"), basic/transports/streamable-http, server/discover, server/tools.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from ..types import IdentityCache, JsonObject
from . import headers, jsonrpc
from .capabilities import capabilities
from .headers import HEADER_MISMATCH, Headers
from .jsonrpc import Refusal, Request
from .messages import (
    CAPABILITIES,
    MISSING_CAPABILITY,
    TASK_METHODS,
    Action,
    ServerDescription,
    Session,
    Step,
    envelope,
    read_call,
    read_list,
    read_subscription,
)
from .revisions import HANDSHAKE, STATELESS, Revision

UNSUPPORTED_PROTOCOL_VERSION: Final = -32022

_ERA_CODES: Final = frozenset({UNSUPPORTED_PROTOCOL_VERSION, MISSING_CAPABILITY, HEADER_MISMATCH})
"""Errors that only this era has."""

_PREFIX: Final = "io.modelcontextprotocol/"
_VERSION: Final = _PREFIX + "protocolVersion"
_SERVER_INFO: Final = _PREFIX + "serverInfo"
_VERSION_MEMBER: Final = f"params._meta[{_VERSION!r}]"
_IDENTITY: Final = ("name", "version", "title")


_NO_SESSION: Final = Session()


def has_envelope(params: Any) -> bool:
    """Return whether parameters have this era's envelope.

    Its key has a reserved prefix, so that no message of an older revision has it.
    """
    return _VERSION in envelope(params)


def is_claimed_by_header(http: Headers | None) -> bool:
    """Return whether an HTTP request claims this era by its header: any version not of the handshake era."""
    version = None if http is None else http.get(headers.VERSION)
    return version is not None and headers.checked(version) not in HANDSHAKE


def receive(description: ServerDescription, session: Session, request: Request, http: Headers | None = None) -> Step:
    """Return what a request of this era causes."""
    found = envelope(request.params)
    refusal = _check_envelope(found) or _check_headers(request, found, http) or _unsupported(found[_VERSION])
    if refusal is not None:
        return Step(session=session, status=400, reply=refusal.reply(request.id))
    method = _METHODS.get(request.method) or _extension_method(description, request.method)
    if method is None:
        refusal = Refusal(jsonrpc.METHOD_NOT_FOUND, "Method not found.")
        return Step(session=session, status=404, reply=refusal.reply(request.id))
    outcome = method(description, request, STATELESS[found[_VERSION]], http)
    if isinstance(outcome, Refusal):
        # Not 400 without an error code of this era: a client of both eras takes that for a server of the older one.
        status = 400 if outcome.code in _ERA_CODES else 200
        return Step(session=session, status=status, reply=outcome.reply(request.id))
    if isinstance(outcome, dict):
        return Step(session=session, reply=jsonrpc.result(request.id, outcome))
    return Step(session, action=outcome, ends_with_connection=True)


def _extension_method(description: ServerDescription, name: str) -> "_Method | None":
    """Return the function of a method of an extension that the server has; None for any other."""
    if description.tasks and name in TASK_METHODS:
        return _task
    if not description.skills:
        return None
    from .skills import METHODS

    return _resource if name in METHODS else None


def check_notification(http: Headers) -> Refusal | None:
    """Return why an HTTP notification is refused: its header names a version that is not served in either era."""
    return _unsupported(headers.header_value(http, headers.VERSION) or "") if is_claimed_by_header(http) else None


def _unsupported(version: str) -> Refusal | None:
    if version in STATELESS:
        return None
    # Only this era's versions, as in server/discover: an envelope cannot name the others.
    data = {"supported": list(STATELESS), "requested": version}
    return Refusal(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)


def _check_envelope(found: JsonObject) -> Refusal | None:
    for key, kind, noun in ((_VERSION, str, "a string"), (CAPABILITIES, dict, "an object")):
        if not isinstance(found.get(key), kind):
            return Refusal(jsonrpc.INVALID_PARAMS, f"params._meta must have {key!r} ({noun}).")
    return None


def _check_headers(request: Request, found: JsonObject, http: Headers | None) -> Refusal | None:
    if http is None:
        return None
    for name, member, value in (
        (headers.VERSION, _VERSION_MEMBER, found[_VERSION]),
        (headers.METHOD, "method", request.method),
    ):
        if headers.header_value(http, name) != value:
            return Refusal(HEADER_MISMATCH, f"The header {name} must equal {member} of the message.")
    member = "name" if request.method == "tools/call" else "taskId" if request.method in TASK_METHODS else ""
    if not member or headers.name_matches(request.params.get(member), http):
        return None
    return Refusal(HEADER_MISMATCH, f"The header {headers.NAME} must equal params.{member} of the message.")


def _result_fields(description: ServerDescription, revision: Revision) -> JsonObject:
    """Return the fields of every result.

    Name, version and title of the server are in each result; its description and icons only in that of server/discover.
    """
    server = revision.implementation(description.implementation)
    return _complete({name: value for name, value in server.items() if name in _IDENTITY})


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
        "capabilities": capabilities(description, revision, tasks=description.tasks),
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
    fields = _CALL_FIELDS.get(description)[revision.name]
    return read_call(request, revision, _NO_SESSION, description, result_fields=fields, headers=http)


_CALL_FIELDS: Final[IdentityCache[dict[str, JsonObject]]] = IdentityCache(
    lambda description: {name: _result_fields(description, revision) for name, revision in STATELESS.items()}
)
"""The fields of every result of a call, by revision."""


def _listen(
    description: ServerDescription, request: Request, revision: Revision, _http: Headers | None
) -> Action | Refusal:
    outcome = read_subscription(request, revision, list_changed=description.list_changed)
    if isinstance(outcome, Refusal):
        return outcome
    if description.tasks and (refusal := _check_subscribed_tasks(request)) is not None:
        return refusal
    return replace(outcome, result_fields=_result_fields(description, revision))


def _check_subscribed_tasks(request: Request) -> Refusal | None:
    """Return the refusal of notifications about tasks for a client without tasks; none are sent to others either."""
    from .tasks import has_tasks, missing_capability

    wants_tasks = "taskIds" in request.params["notifications"]
    return missing_capability() if wants_tasks and not has_tasks(request.params) else None


def _task(
    description: ServerDescription, request: Request, revision: Revision, _http: Headers | None
) -> Action | Refusal:
    from .tasks import read_task_request

    return read_task_request(request, _CALL_FIELDS.get(description)[revision.name])


def _resource(
    description: ServerDescription, request: Request, revision: Revision, http: Headers | None
) -> Action | Refusal:
    from .skills import check_name, read_resource_request

    refusal = None if http is None else check_name(request, http)
    return refusal or read_resource_request(request, _cached_fields(description, revision))


_Method: TypeAlias = Callable[[ServerDescription, Request, Revision, Headers | None], JsonObject | Action | Refusal]
_METHODS: Final[Mapping[str, _Method]] = MappingProxyType(
    {"server/discover": _discover, "tools/list": _list, "tools/call": _call, "subscriptions/listen": _listen}
)
