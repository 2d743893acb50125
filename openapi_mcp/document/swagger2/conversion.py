"""Convert Swagger 2.0 documents to OpenAPI 3.0, so that later stages know 3.x only; 3.x documents pass unchanged.

Paths and operations keep their pointers, definitions their names. References to parameters and responses are resolved,
because their conversion depends on the operation (`consumes`, `produces`). Extensions are copied. Specification:
OpenAPI 2.0; OpenAPI 3.0.4.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from ...errors import Problem
from ...runtime.types import JsonObject
from ..model import Document, join
from ..objects import METHODS
from ..resolver import BrokenReference, Resolver
from .objects import DefinitionsConverter, ParameterConverter, Payload, moved_reference

_FLOWS: Final = {
    "implicit": "implicit",
    "password": "password",
    "application": "clientCredentials",
    "accessCode": "authorizationCode",
}
MAX_STRINGS: Final = 100
"""Media types or schemes in one list, each of which the conversion repeats at every operation. Real lists have ten."""

_COPIED_FIELDS: Final = ("info", "tags", "externalDocs", "security")
_OPERATION_FIELDS: Final = (
    "tags",
    "summary",
    "description",
    "externalDocs",
    "operationId",
    "deprecated",
    "security",
)


def convert(document: Document) -> Document:
    """Return a Swagger 2.0 document as OpenAPI 3.0 with the original as its `source`; return any other unchanged."""
    if document.version != "2.0":
        return document
    return _DocumentConversion(document).run()


class _DocumentConversion:
    """The conversion of one document, which stays unchanged."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._root = document.root
        self._resolver = Resolver(document)
        self._schemas = DefinitionsConverter(_mapping(self._root.get("definitions")), self._resolver)
        self._parameters = ParameterConverter(self._resolver, self._schemas)
        self._problems: list[Problem] = []
        self._shared_items: dict[str, Any] = {}  # converted path items that only references lead to, by their pointers

    def run(self) -> Document:
        root: JsonObject = {"openapi": "3.0.4"}
        root |= {key: self._root[key] for key in _COPIED_FIELDS if key in self._root}
        root |= {"servers": self._servers(), "paths": self._paths(), "components": self._components()}
        root |= {key: value for key, value in self._root.items() if key.startswith("x-")}
        # Shared parts are converted several times, and reported once.
        problems = (*self._document.problems, *dict.fromkeys([*self._parameters.problems, *self._problems]))
        changes: JsonObject = {"root": root, "version": "3.0", "source": self._root, "origins": self._schemas.origins}
        return replace(self._document, problems=problems, **changes)

    def _servers(self) -> list[JsonObject]:
        return _servers(self._root, _strings(self._root.get("schemes")), self._document.uri)

    def _paths(self) -> Any:
        paths = self._root.get("paths")
        if not isinstance(paths, dict):
            return paths
        return {path: self._path_item(item, join("#/paths", path)) for path, item in paths.items()}

    def _path_item(self, node: Any, pointer: str) -> Any:
        """Convert a Path Item; a reference is replaced by its target, with the fields beside it."""
        try:
            item, location = self._resolver.follow(node, pointer)
        except BrokenReference:
            return node  # its Problem is reported where it is followed
        if not isinstance(item, dict) or pointer.startswith("#/paths/x-"):
            return item
        if item is not node and len(node) == 1:
            if location not in self._shared_items:
                self._shared_items[location] = self._converted_item(item, location)
            return self._shared_items[location]
        if item is not node:
            item = item | {key: value for key, value in node.items() if key != "$ref"}
        return self._converted_item(item, location)

    def _converted_item(self, item: JsonObject, location: str) -> JsonObject:
        shared, payload = self._parameters.split(item.get("parameters"), join(location, "parameters"))
        converted = {key: value for key, value in item.items() if key != "parameters"}
        if shared is not None:
            converted["parameters"] = shared
        for method in METHODS:
            if method in item:
                converted[method] = self._operation(item[method], join(location, method), payload)
        return converted

    def _operation(self, node: Any, pointer: str, shared: list[Payload]) -> Any:
        try:
            operation, location = self._resolver.follow(node, pointer)
        except BrokenReference:
            return node
        if not isinstance(operation, dict):
            return operation
        converted = {key: value for key, value in operation.items() if key in _OPERATION_FIELDS or key.startswith("x-")}
        parameters, payload = self._parameters.split(operation.get("parameters"), join(location, "parameters"))
        if parameters is not None:
            converted["parameters"] = parameters
        body = self._parameters.request_body([*shared, *payload], self._media_types(operation, "consumes"))
        if body is not None:
            converted["requestBody"] = body
        if "responses" in operation:
            produces = self._media_types(operation, "produces")
            converted["responses"] = self._responses(operation["responses"], produces, join(location, "responses"))
        if "schemes" in operation:
            converted["servers"] = _servers(self._root, _strings(operation["schemes"]), self._document.uri)
        return converted

    def _media_types(self, operation: JsonObject, field: str) -> list[str]:
        """Return what an operation consumes or produces; its own list, even empty, overrides that of the root."""
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
            response, location = self._resolver.follow(node, pointer)
        except BrokenReference:
            return {"$ref": moved_reference(str(node["$ref"])) or node["$ref"]}
        if not isinstance(response, dict):
            return response
        converted = {key: value for key, value in response.items() if key.startswith("x-")}
        converted["description"] = response.get("description", "")
        headers = response.get("headers")
        if isinstance(headers, dict):
            converted["headers"] = {
                name: self._header(node, join(location, "headers", name)) for name, node in headers.items()
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
        texts = {key: value for key, value in node.items() if key == "description" or key.startswith("x-")}
        texts.pop("x-nullable", None)
        return texts | {"schema": self._parameters.schema(node, pointer)}

    def _components(self) -> JsonObject:
        parameters: JsonObject = {}
        bodies: JsonObject = {}
        for name, node in _mapping(self._root.get("parameters")).items():
            parameter, payload = self._parameters.split([node], join("#/parameters", name))
            if parameter:
                parameters[name] = parameter[0]
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
        texts = {key: value for key, value in node.items() if key == "description" or key.startswith("x-")}
        kind = node.get("type")
        if kind == "basic":
            return {"type": "http", "scheme": "basic"} | texts
        if kind != "oauth2":
            return node
        flow = _FLOWS.get(str(node.get("flow")))
        if flow is None:
            message = f"the OAuth flow {node.get('flow')!r} is unknown; it is left out"
            pointer = join("#/securityDefinitions", name, "flow")
            self._problems.append(
                Problem(pointer=pointer, kind="security", message=message, hint=f"use one of {', '.join(_FLOWS)}")
            )
            return {"type": "oauth2", "flows": {}} | texts
        fields = {key: node[key] for key in ("authorizationUrl", "tokenUrl") if key in node}
        return {"type": "oauth2", "flows": {flow: fields | {"scopes": _mapping(node.get("scopes"))}}} | texts


def _servers(root: JsonObject, schemes: list[str], uri: str) -> list[JsonObject]:
    """Return the servers for `schemes`, `host` and `basePath`; missing ones are taken from the document's URI."""
    host, base_path = root.get("host"), root.get("basePath")
    path = base_path if isinstance(base_path, str) else ""
    if path and not path.startswith("/"):
        path = f"/{path}"
    own = urlsplit(uri).scheme
    default = own if own in ("http", "https") else "https"
    usable = [scheme for scheme in schemes if scheme in ("http", "https")] or [default]
    if isinstance(host, str) and host.startswith(("http://", "https://")):  # a URL instead of a host
        return [{"url": host.rstrip("/") + path}]
    if isinstance(host, str) and host:
        return [{"url": f"{scheme}://{host}{path}"} for scheme in usable]
    if schemes and own in ("http", "https"):
        return [{"url": f"{scheme}://{urlsplit(uri).netloc}{path}"} for scheme in usable]
    return [{"url": path or "/"}]


def _mapping(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _strings(value: Any) -> list[str]:
    """Return the distinct strings of a list, the first `MAX_STRINGS`; a string alone is a list of one."""
    items = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return list(dict.fromkeys(item for item in items[:MAX_STRINGS] if isinstance(item, str)))
