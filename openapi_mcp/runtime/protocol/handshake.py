"""The handshake era (2024-11-05 to 2025-11-25): `initialize` settles the revision, and what follows speaks it.

Specification: basic/lifecycle, basic/utilities/ping, server/tools. Errors travel in HTTP 200, since 404 would mean a
dead session here. Nothing of the stateless era (resultType, caching hints, error codes -32020 to -32022) is ever said.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from ..types import JsonObject
from . import headers, jsonrpc
from .jsonrpc import Refusal, Request
from .revisions import ASSUMED, HANDSHAKE, LATEST_HANDSHAKE, Revision
from .step import Action, ServerDescription, Session, Step, read_call, read_list


def receive(
    description: ServerDescription, session: Session, request: Request, http: headers.Headers | None = None
) -> Step:
    """What a request of this era causes."""
    if request.method in _ALWAYS:
        return _ALWAYS[request.method](description, session, request)
    if request.method not in _ONCE_SETTLED:
        return _refused(session, request, Refusal(jsonrpc.METHOD_NOT_FOUND, "There is no such method here."))
    revision = revision_in_force(session, http)
    if revision is None:
        return _refused(session, request, Refusal(jsonrpc.INVALID_PARAMS, "The first request must be initialize."))
    outcome = _ONCE_SETTLED[request.method](request, revision)
    if isinstance(outcome, Refusal):
        return _refused(session, request, outcome)
    return Step(session=session, action=outcome)


def revision_in_force(session: Session, http: headers.Headers | None) -> Revision | None:
    """The revision a message is read in: what its HTTP header says, or what was negotiated, or what HTTP assumes."""
    named = None if http is None else headers.value(http, headers.VERSION)
    unnamed = None if http is None else ASSUMED.name
    return HANDSHAKE.get(named or session.revision or unnamed or "")


def _initialize(description: ServerDescription, session: Session, request: Request) -> Step:
    params = jsonrpc.members(request.params)
    if isinstance(params, Refusal):
        return _refused(session, request, params)
    wanted = params.get("protocolVersion")
    if not isinstance(wanted, str):
        return _refused(session, request, Refusal(jsonrpc.INVALID_PARAMS, "params.protocolVersion must be a string."))
    revision = HANDSHAKE.get(wanted, LATEST_HANDSHAKE)
    reply = jsonrpc.result(request.id, _initialize_result(description, revision))
    return Step(session=replace(session, revision=revision.name), reply=reply)


def _initialize_result(description: ServerDescription, revision: Revision) -> JsonObject:
    result: JsonObject = {
        "protocolVersion": revision.name,
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": revision.implementation(description.implementation),
    }
    return {**result, "instructions": description.instructions} if description.instructions else result


def _ping(_description: ServerDescription, session: Session, request: Request) -> Step:
    return Step(session=session, reply=jsonrpc.result(request.id, {}))


def _refused(session: Session, request: Request, refusal: Refusal) -> Step:
    return Step(session=session, reply=refusal.reply(request.id))


_ALWAYS: Final[Mapping[str, Callable[[ServerDescription, Session, Request], Step]]] = MappingProxyType(
    {"initialize": _initialize, "ping": _ping}
)
_ONCE_SETTLED: Final[Mapping[str, Callable[[Request, Revision], Action | Refusal]]] = MappingProxyType(
    {"tools/list": read_list, "tools/call": read_call}
)
