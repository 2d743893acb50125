"""The extension `io.modelcontextprotocol/skills`: its declaration, and the requests about its resources.

A skill is a folder of files that tell a model how to use tools; clients find skills with `skills/list`, and read their
files as resources. This module names the methods and makes replies; what the skills are is no matter of the protocol.

Specification: ext-skills, stable (SEP-2640); server/resources of each revision.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from ..types import JsonObject
from . import headers, jsonrpc
from .jsonrpc import Refusal, Request, members
from .messages import ResourceRequest

EXTENSION: Final = "io.modelcontextprotocol/skills"
SETTINGS: Final[Mapping[str, Any]] = MappingProxyType({"directoryRead": True})
"""The settings of the extension, which stand under its name: folders can be listed."""

LIST_SKILLS: Final = "skills/list"
GET_SKILL: Final = "skills/get"
LIST_RESOURCES: Final = "resources/list"
LIST_TEMPLATES: Final = "resources/templates/list"
READ_RESOURCE: Final = "resources/read"
READ_DIRECTORY: Final = "resources/directory/read"

METHODS: Final = frozenset({LIST_SKILLS, GET_SKILL, LIST_RESOURCES, LIST_TEMPLATES, READ_RESOURCE, READ_DIRECTORY})
"""The methods that a server with skills has."""

_NOT_CACHED: Final = ("ttlMs", "cacheScope")
"""The fields that the listing of a folder does not have: it shows what is there now."""


def check_name(request: Request, http: headers.Headers) -> Refusal | None:
    """Return the refusal of a `resources/read` whose header NAME is not its URI (2026-07-28)."""
    params = request.params if isinstance(request.params, dict) else {}
    if request.method != READ_RESOURCE or headers.name_matches(params.get("uri"), http):
        return None
    return Refusal(headers.HEADER_MISMATCH, f"The header {headers.NAME} must equal params.uri of the message.")


def read_resource_request(request: Request, result_fields: Mapping[str, Any] = {}) -> ResourceRequest | Refusal:
    """Return a request with the fields of its result, whose `uri` and `cursor` are texts if it has them."""
    params = members(request.params)
    if isinstance(params, Refusal):
        return params
    for name in ("uri", "cursor"):
        if not isinstance(params.get(name), str | None):
            return Refusal(jsonrpc.INVALID_PARAMS, f"params.{name} must be a string.")
    if request.method in (GET_SKILL, READ_RESOURCE, READ_DIRECTORY) and params.get("uri") is None:
        return Refusal(jsonrpc.INVALID_PARAMS, "params.uri must be the URI of a resource.")
    left_out = _NOT_CACHED if request.method == READ_DIRECTORY else ()
    fields = {name: value for name, value in result_fields.items() if name not in left_out}
    return ResourceRequest(request.id, request.method, params, fields)


def reply(request: ResourceRequest, result: JsonObject) -> JsonObject:
    """Return the response with a result."""
    return jsonrpc.result(request.request_id, {**result, **request.result_fields})


def refuse(request: ResourceRequest, message: str) -> JsonObject:
    """Return the response for a URI or a cursor that does not exist (-32602, with the URI in its data)."""
    uri = request.params.get("uri")
    data = {} if uri is None else {"data": {"uri": uri}}
    return jsonrpc.error(jsonrpc.INVALID_PARAMS, message, request_id=request.request_id, **data)
