"""Swagger 2.0 as OpenAPI 3.0, so that everything after knows one language; 3.x passes unchanged.

Paths, operations and definitions stay where they were, so a pointer means the same place before and after. References
to parameters and responses are resolved on the way, because what they become depends on the operation. Extensions are
kept. Specification: OpenAPI 2.0; OpenAPI 3.0.4.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from .document import Document, join
from .errors import Problem
from .grammar import METHODS
from .resolver import BrokenReference, Resolver
from .runtime.types import JsonObject
from .swagger2_parameters import Parameters, Payload
from .swagger2_schemas import Schemas, moved

_FLOWS: Final = {
    "implicit": "implicit",
    "password": "password",
    "application": "clientCredentials",
    "accessCode": "authorizationCode",
}
_KEPT: Final = ("info", "tags", "externalDocs", "security")
_OPERATION_KEPT: Final = ("tags", "summary", "description", "externalDocs", "operationId", "deprecated", "security")


def convert(document: Document) -> Document:
    """The document as OpenAPI 3.0 with the original as its `source`; a document of any other version as it is."""
    if document.version != "2.0":
        return document
    return _Conversion(document).run()


class _Conversion:
    """The conversion of one document, which it only reads."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._root = document.root
        self._resolver = Resolver(document)
        self._schemas = Schemas(_mapping(self._root.get("definitions")), self._resolver)
        self._parameters = Parameters(self._resolver, self._schemas)
        self._problems: list[Problem] = []

    def run(self) -> Document:
        root: JsonObject = {"openapi": "3.0.4"}
        root |= {key: self._root[key] for key in _KEPT if key in self._root}
        root |= {"servers": self._servers(), "paths": self._paths(), "components": self._components()}
        root |= {key: value for key, value in self._root.items() if key.startswith("x-")}
        found = dict.fromkeys([*self._parameters.problems, *self._problems])  # shared parts are converted several times
        problems = (*self._document.problems, *found)
        return replace(self._document, root=root, version="3.0", problems=problems, source=self._root)

    def _servers(self) -> list[JsonObject]:
        return _servers(self._root, _strings(self._root.get("schemes")), self._document.uri)

    def _paths(self) -> Any:
        paths = self._root.get("paths")
        if not isinstance(paths, dict):
            return paths
        return {path: self._path_item(item, join("#/paths", path)) for path, item in paths.items()}

    def _path_item(self, node: Any, pointer: str) -> Any:
        """A path item; one that is a reference becomes what that names, beside what is written with it."""
        try:
            item, place = self._resolver.follow(node, pointer)
        except BrokenReference:
            return node  # whoever follows it learns why
        if not isinstance(item, dict) or pointer.startswith("#/paths/x-"):
            return item
        if item is not node:
            item = item | {key: value for key, value in node.items() if key != "$ref"}
        shared, payload = self._parameters.split(item.get("parameters"), join(place, "parameters"))
        converted = {key: value for key, value in item.items() if key != "parameters"}
        if shared is not None:
            converted["parameters"] = shared
        for method in METHODS:
            if method in item:
                converted[method] = self._operation(item[method], join(place, method), payload)
        return converted

    def _operation(self, node: Any, pointer: str, shared: list[Payload]) -> Any:
        try:
            operation, place = self._resolver.follow(node, pointer)
        except BrokenReference:
            return node
        if not isinstance(operation, dict):
            return operation
        converted = {key: value for key, value in operation.items() if key in _OPERATION_KEPT or key.startswith("x-")}
        parameters, payload = self._parameters.split(operation.get("parameters"), join(place, "parameters"))
        if parameters is not None:
            converted["parameters"] = parameters
        body = self._parameters.request_body([*shared, *payload], self._media_types(operation, "consumes"))
        if body is not None:
            converted["requestBody"] = body
        if "responses" in operation:
            produces = self._media_types(operation, "produces")
            converted["responses"] = self._responses(operation["responses"], produces, join(place, "responses"))
        if "schemes" in operation:
            converted["servers"] = _servers(self._root, _strings(operation["schemes"]), self._document.uri)
        return converted

    def _media_types(self, operation: JsonObject, field: str) -> list[str]:
        """What an operation consumes or produces; an empty list of its own clears the document's."""
        return _strings(operation[field] if field in operation else self._root.get(field))

    def _responses(self, responses: Any, produces: Sequence[str], pointer: str) -> Any:
        if not isinstance(responses, dict):
            return responses
        return {
            status: node if status.startswith("x-") else self._response(node, produces, join(pointer, status))
            for status, node in responses.items()
        }

    def _response(self, node: Any, produces: Sequence[str], pointer: str) -> Any:
        try:
            response, place = self._resolver.follow(node, pointer)
        except BrokenReference:
            return {"$ref": moved(str(node["$ref"])) or node["$ref"]}
        if not isinstance(response, dict):
            return response
        converted = {key: value for key, value in response.items() if key.startswith("x-")}
        converted["description"] = response.get("description", "")
        headers = response.get("headers")
        if isinstance(headers, dict):
            converted["headers"] = {
                name: self._header(node, join(place, "headers", name)) for name, node in headers.items()
            }
        content = self._content(response, produces)
        return converted | ({"content": content} if content else {})

    def _content(self, response: JsonObject, produces: Sequence[str]) -> JsonObject:
        schema = response.get("schema")
        examples = _mapping(response.get("examples"))
        if schema is None and not examples:
            return {}
        file = isinstance(schema, dict) and schema.get("type") == "file"
        names = [*produces, *examples] or ["application/octet-stream" if file else "application/json"]
        media_type = {} if schema is None else {"schema": self._schemas.convert(schema)}
        return {name: media_type | ({"example": examples[name]} if name in examples else {}) for name in names}

    def _header(self, node: Any, pointer: str) -> Any:
        if not isinstance(node, dict):
            return node
        words = {key: value for key, value in node.items() if key == "description" or key.startswith("x-")}
        words.pop("x-nullable", None)
        return words | {"schema": self._parameters.schema(node, pointer)}

    def _components(self) -> JsonObject:
        parameters: JsonObject = {}
        bodies: JsonObject = {}
        for name, node in _mapping(self._root.get("parameters")).items():
            kept, payload = self._parameters.split([node], join("#/parameters", name))
            if kept:
                parameters[name] = kept[0]
            elif payload and payload[0].key is None:
                bodies[name] = self._parameters.request_body(payload, _strings(self._root.get("consumes")))
        produces = _strings(self._root.get("produces"))
        schemes = _mapping(self._root.get("securityDefinitions"))
        components = {
            "parameters": parameters,
            "requestBodies": bodies,
            "responses": self._responses(self._root.get("responses"), produces, "#/responses"),
            "securitySchemes": {name: self._security_scheme(name, node) for name, node in schemes.items()},
        }
        self._schemas.finish()  # after everything that may refer to a schema
        return {key: value for key, value in ({"schemas": self._schemas.components} | components).items() if value}

    def _security_scheme(self, name: str, node: Any) -> Any:
        if not isinstance(node, dict):
            return node
        words = {key: value for key, value in node.items() if key == "description" or key.startswith("x-")}
        kind = node.get("type")
        if kind == "basic":
            return {"type": "http", "scheme": "basic"} | words
        if kind != "oauth2":
            return node
        flow = _FLOWS.get(str(node.get("flow")))
        if flow is None:
            message = f"there is no OAuth flow {node.get('flow')!r}; none is offered"
            pointer = join("#/securityDefinitions", name, "flow")
            self._problems.append(
                Problem(pointer=pointer, kind="security", message=message, hint=f"use one of {', '.join(_FLOWS)}")
            )
            return {"type": "oauth2", "flows": {}} | words
        fields = {key: node[key] for key in ("authorizationUrl", "tokenUrl") if key in node}
        return {"type": "oauth2", "flows": {flow: fields | {"scopes": _mapping(node.get("scopes"))}}} | words


def _servers(root: JsonObject, schemes: list[str], uri: str) -> list[JsonObject]:
    """The servers that `schemes`, `host` and `basePath` mean; what is missing is that of the document's own address."""
    host, base_path = root.get("host"), root.get("basePath")
    path = base_path if isinstance(base_path, str) else ""
    if path and not path.startswith("/"):
        path = f"/{path}"
    own = urlsplit(uri).scheme
    default = own if own in ("http", "https") else "https"
    usable = [scheme for scheme in schemes if scheme in ("http", "https")] or [default]
    if isinstance(host, str) and host.startswith(
        ("http://", "https://")
    ):  # the whole address, where its host was asked
        return [{"url": host.rstrip("/") + path}]
    if isinstance(host, str) and host:
        return [{"url": f"{scheme}://{host}{path}"} for scheme in usable]
    if schemes and own in ("http", "https"):
        return [{"url": f"{scheme}://{urlsplit(uri).netloc}{path}"} for scheme in usable]
    return [{"url": path or "/"}]


def _mapping(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _strings(value: Any) -> list[str]:
    """The strings of a list, each once; a string alone is a list of one."""
    items = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return list(dict.fromkeys(item for item in items if isinstance(item, str)))
