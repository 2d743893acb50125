"""The handshake era (2024-11-05 to 2025-11-25): `initialize` settles the revision, and what follows speaks it.

Specification: basic/lifecycle, basic/utilities/ping, server/tools, server/utilities/logging. Errors travel in HTTP 200,
since 404 would mean a dead session here. Nothing of the stateless era (resultType, caching hints, error codes -32020 to
-32022) is ever said.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, TypeAlias

from ..types import JsonObject
from . import headers, jsonrpc, log_levels
from .actions import ToolCall, ToolList
from .jsonrpc import Refusal, Request
from .reading import read_call, read_list
from .revisions import ASSUMED, HANDSHAKE, LATEST_HANDSHAKE, Revision
from .step import ServerDescription, Session, Step


def receive(
    description: ServerDescription, session: Session, request: Request, http: headers.Headers | None = None
) -> Step:
    """What a request of this era causes."""
    if request.method in _ALWAYS:
        outcome = _ALWAYS[request.method](description, session, request)
    elif request.method not in _ONCE_SETTLED:
        outcome = Refusal(jsonrpc.METHOD_NOT_FOUND, "There is no such method here.")
    elif (revision := revision_in_force(session, http)) is None:
        outcome = Refusal(jsonrpc.INVALID_PARAMS, "The first request must be initialize.")
    else:
        outcome = _ONCE_SETTLED[request.method](description, session, request, revision)
    return Step(session=session, reply=outcome.reply(request.id)) if isinstance(outcome, Refusal) else outcome


def revision_in_force(session: Session, http: headers.Headers | None) -> Revision | None:
    """The revision a message is read in: what its HTTP header says, or what was negotiated, or what HTTP assumes."""
    if http is None:
        return HANDSHAKE.get(session.revision or "")
    if headers.VERSION in http:
        return HANDSHAKE.get(headers.value(http, headers.VERSION) or "")
    return HANDSHAKE.get(session.revision or ASSUMED.name)


def _initialize(description: ServerDescription, session: Session, request: Request) -> Step | Refusal:
    params = jsonrpc.members(request.params)
    if isinstance(params, Refusal):
        return params
    wanted = params.get("protocolVersion")
    if not isinstance(wanted, str):
        return Refusal(jsonrpc.INVALID_PARAMS, "params.protocolVersion must be a string.")
    revision = HANDSHAKE.get(wanted, LATEST_HANDSHAKE)
    reply = jsonrpc.result(request.id, _initialize_result(description, revision))
    return Step(session=Session(revision=revision.name, id=session.id), reply=reply, opens=True)


def _initialize_result(description: ServerDescription, revision: Revision) -> JsonObject:
    result: JsonObject = {
        "protocolVersion": revision.name,
        "capabilities": revision.capabilities(list_changed=description.list_changed),
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
    call = read_call(
        request,
        revision,
        session_id=session.id,
        log_level=session.log_level,
        explicit_fields=description.explicit_fields,
    )
    return Step(session=session, action=call) if isinstance(call, ToolCall) else call


def _set_level(
    _description: ServerDescription, session: Session, request: Request, _revision: Revision
) -> Step | Refusal:
    params = jsonrpc.members(request.params)
    if isinstance(params, Refusal):
        return params
    level = log_levels.read(params.get("level"))
    if level is None:
        return Refusal(jsonrpc.INVALID_PARAMS, f"params.level must be one of {', '.join(log_levels.LEVELS)}.")
    return Step(session=replace(session, log_level=level), reply=jsonrpc.result(request.id, {}))


_Always: TypeAlias = Callable[[ServerDescription, Session, Request], Step | Refusal]
_OnceSettled: TypeAlias = Callable[[ServerDescription, Session, Request, Revision], Step | Refusal]

_ALWAYS: Final[Mapping[str, _Always]] = MappingProxyType({"initialize": _initialize, "ping": _ping})
_ONCE_SETTLED: Final[Mapping[str, _OnceSettled]] = MappingProxyType(
    {"tools/list": _list, "tools/call": _call, "logging/setLevel": _set_level}
)
