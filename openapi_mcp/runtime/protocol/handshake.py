"""The handshake era (2024-11-05 to 2025-11-25): `initialize` negotiates the revision of all later messages.

Errors have HTTP status 200, since 404 would mean that the session has ended. Nothing of the stateless era (resultType,
caching hints, error codes -32020 to -32022) is ever sent.

Specification: basic/lifecycle, basic/utilities/ping, server/tools, server/utilities/logging.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, TypeAlias

from ..types import JsonObject
from . import headers, jsonrpc, messages
from .capabilities import capabilities
from .jsonrpc import Refusal, Request
from .messages import ServerDescription, Session, Step, ToolCall, ToolList, read_call, read_list
from .revisions import DEFAULT_OVER_HTTP, HANDSHAKE, LATEST_HANDSHAKE, Revision


def receive(
    description: ServerDescription, session: Session, request: Request, http: headers.Headers | None = None
) -> Step:
    """Return what a request of this era causes."""
    if (early := _AT_ANY_TIME.get(request.method)) is not None:
        outcome = early(description, session, request)
    elif (method := _method(description, request.method)) is None:
        outcome = Refusal(jsonrpc.METHOD_NOT_FOUND, "Method not found.")
    elif (revision := revision_in_force(session, http)) is None:
        outcome = Refusal(jsonrpc.INVALID_PARAMS, "The first request must be initialize.")
    else:
        outcome = method(description, session, request, revision)
    return Step(session=session, reply=outcome.reply(request.id)) if isinstance(outcome, Refusal) else outcome


def _method(description: ServerDescription, name: str) -> "_Method | None":
    """Return the function of a method that needs a negotiated revision; None for one that the server lacks."""
    method = _AFTER_INITIALIZE.get(name)
    if method is not None or not description.skills:
        return method
    from .skills import METHODS

    return _resource if name in METHODS else None


def revision_in_force(session: Session, http: headers.Headers | None) -> Revision | None:
    """Return the revision in which a message is read.

    Over HTTP the header names it; without a header it is the negotiated one, else the specification's default. Returns
    None for a version that is not served, and on stdio before `initialize`.
    """
    if http is None:
        return HANDSHAKE.get(session.revision or "")
    version = http.get(headers.VERSION)
    name = (session.revision or DEFAULT_OVER_HTTP.name) if version is None else headers.checked(version)
    return HANDSHAKE.get(name or "")


def _initialize(description: ServerDescription, session: Session, request: Request) -> Step | Refusal:
    params = jsonrpc.members(request.params)
    if isinstance(params, Refusal):
        return params
    requested = params.get("protocolVersion")
    if not isinstance(requested, str):
        return Refusal(jsonrpc.INVALID_PARAMS, "params.protocolVersion must be a string.")
    revision = HANDSHAKE.get(requested, LATEST_HANDSHAKE)
    reply = jsonrpc.result(request.id, _initialize_result(description, revision))
    modes = revision.elicitation_modes(params.get("capabilities")) if description.elicits else ()
    opened = Session(revision=revision.name, id=session.id, elicitation=modes)
    return Step(session=opened, reply=reply, opens_session=True)


def _initialize_result(description: ServerDescription, revision: Revision) -> JsonObject:
    result: JsonObject = {
        "protocolVersion": revision.name,
        "capabilities": capabilities(description, revision),
        "serverInfo": revision.implementation(description.implementation),
    }
    return {**result, "instructions": description.instructions} if description.instructions else result


def _ping(_description: ServerDescription, session: Session, request: Request) -> Step:
    return Step(session=session, reply=jsonrpc.result(request.id, {}))


def _list(description: ServerDescription, session: Session, request: Request, revision: Revision) -> Step | Refusal:
    outcome = read_list(request, revision)
    if isinstance(outcome, ToolList):
        return Step(session=session, action=replace(outcome, explicit_fields=description.explicit_fields))
    return outcome


def _call(description: ServerDescription, session: Session, request: Request, revision: Revision) -> Step | Refusal:
    call = read_call(request, revision, session, description)
    return Step(session, action=call) if isinstance(call, ToolCall) else call


def _set_level(
    _description: ServerDescription, session: Session, request: Request, _revision: Revision
) -> Step | Refusal:
    params = jsonrpc.members(request.params)
    if isinstance(params, Refusal):
        return params
    level = messages.parse_level(params.get("level"))
    if level is None:
        return Refusal(jsonrpc.INVALID_PARAMS, f"params.level must be one of {', '.join(messages.LEVELS)}.")
    return Step(session=session._replace(log_level=level), reply=jsonrpc.result(request.id, {}))


def _resource(
    _description: ServerDescription, session: Session, request: Request, _revision: Revision
) -> Step | Refusal:
    from .skills import read_resource_request

    outcome = read_resource_request(request)
    return outcome if isinstance(outcome, Refusal) else Step(session=session, action=outcome)


_EarlyMethod: TypeAlias = Callable[[ServerDescription, Session, Request], Step | Refusal]
_Method: TypeAlias = Callable[[ServerDescription, Session, Request, Revision], Step | Refusal]

_AT_ANY_TIME: Final[Mapping[str, _EarlyMethod]] = MappingProxyType({"initialize": _initialize, "ping": _ping})
"""The methods that are answered before and after `initialize`."""
_AFTER_INITIALIZE: Final[Mapping[str, _Method]] = MappingProxyType(
    {"tools/list": _list, "tools/call": _call, "logging/setLevel": _set_level}
)
"""The methods that need a negotiated revision."""
