"""Adapt openapi-core to a known operation: its validators, requests and responses, and the document it reads.

A document gets the operation at its root, so that openapi-core need not find it by the URL. It leaves out only those
parts of the operation that openapi-core misreads: security, and parameters whose values it cannot read back from a
request (objects in a style, unions). References stay, since the whole document is still there.

Values are passed as they were sent, decoded and unchecked. Two keywords are replaced: `pattern` skips expressions that
a backtracking engine could hang on, and `required` excuses `readOnly` and `writeOnly` properties in every version of
OpenAPI (openapi-core does in 3.0 only). Names are those of `openapi_core.protocols`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

import httpx
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from ..document.model import Document, join
from ..document.resolver import BrokenReference, Resolver
from ..runtime import jsontext, media_types
from ..runtime.tool import Tool
from ..runtime.types import JsonObject
from ..schemas.patterns import portable
from ..tools.operations import Operation, operations
from ..tools.parameters import Parameter, parameters

_FORM: Final = "application/x-www-form-urlencoded"

Decode = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class RequestData:
    """A request (openapi_core.protocols.Request). Host, path and method are placeholders: the operation is known."""

    parameters: Any
    content_type: str
    body: bytes | None
    host_url: str = "http://upstream"
    path: str = "/"
    method: str = "get"


@dataclass(frozen=True, slots=True)
class ResponseData:
    """A response (openapi_core.protocols.Response)."""

    status_code: int
    headers: Mapping[str, str]
    content_type: str
    data: bytes | None


class MultiDict(dict[str, str]):
    """Values by name: the first of each name, or all of them with `getlist`."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._pairs = list(pairs)
        super().__init__(reversed(self._pairs))

    def getlist(self, name: str) -> list[str]:
        """Return all values of a name in their order."""
        return [value for key, value in self._pairs if key == name]


def request_data(request: httpx.Request, template: str, content_type: str) -> RequestData:
    """Adapt a request for a path `template`; `content_type` is the document's media type for its body."""
    from openapi_core.datatypes import RequestParameters

    query = parse_qsl(request.url.query.decode("ascii"), keep_blank_values=True)
    cookies = (pair.strip().partition("=") for pair in request.headers.get("cookie", "").split(";"))
    values = RequestParameters(
        query=MultiDict(query),
        header=request.headers,
        cookie=MultiDict((unquote(name), unquote(value)) for name, _, value in cookies),
        path=_path_values(template, request.url.raw_path.decode("ascii").partition("?")[0]),
    )
    return RequestData(values, content_type, request.content or None)


def response_data(response: httpx.Response, content_type: str) -> ResponseData:
    """Adapt a response; `content_type` is the document's media type for its body."""
    return ResponseData(response.status_code, response.headers, content_type, response.content or None)


def _path_values(template: str, path: str) -> dict[str, str]:
    """Return the values of a template's expressions in a path that may have a prefix; empty if it does not match.

    Each value has all names that openapi-core may look up, which are those of RFC 6570's operators.
    """
    pieces = re.split(r"\{([^{}]*)\}", template.partition("#")[0].partition("?")[0])
    literals, names = pieces[::2], pieces[1::2]
    match = re.search("([^/]*)".join(map(re.escape, literals)) + "$", path)
    values = [unquote(value) for value in match.groups()] if match else []
    return {
        f"{before}{name}{after}": value
        for name, value in zip(names, values, strict=False)
        for before, after in (("", ""), (".", ""), (".", "*"), (";", ""), (";", "*"))
    }


def matching_media_type(keys: Sequence[str], content_type: str) -> str | None:
    """Return the most specific of a document's media types that covers a content type, or None."""
    matches = [key for key in keys if media_types.covers(key, content_type)]
    return min(matches, key=lambda key: (media_types.is_range(key), media_types.essence(key) == "*/*"), default=None)


def is_readable(content_type: str, key: str) -> bool:
    """Return whether openapi-core decodes such a body so that its schema can be checked; multipart parts stay text."""
    name = media_types.essence(content_type)
    return media_types.is_json(name) or name == "text/plain" or (name == _FORM == media_types.essence(key))


def lookup_content_type(content_type: str, key: str) -> str:
    """Return the content type by which openapi-core finds the document's media type `key`, which may be a range."""
    return media_types.essence(content_type) if media_types.is_range(key) else key


class Decoders:
    """The decoders by media type (openapi-core's `extra_media_type_deserializers`), but for forms, which it decodes.

    openapi-core looks them up by the document's media type; where that is a range, the actual `content_type` counts.
    """

    def __init__(self, content_type: str) -> None:
        self._content_type = content_type

    def __contains__(self, name: str) -> bool:
        return media_types.essence(name) != _FORM

    def __getitem__(self, name: str) -> Decode:
        name = self._content_type if media_types.is_range(name) else name
        return _json if media_types.is_json(name) else _text


def _json(data: bytes | str, **_: str) -> Any:
    return jsontext.read(data)


def _text(data: bytes | str, **_: str) -> str:
    return data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")


_OPERATION_KEY: Final = "x-openapi-mcp-operation"
"""The key of the operation at the document's root."""

_SCALARS: Final = frozenset({"string", "integer", "number", "boolean"})
_READABLE_STYLES: Final = {"simple": "simple", "label": "label", "matrix": "matrix", "form": "form", "cookie": "form"}
"""openapi-core's names of the styles that it reads; for others it expects delimiters that no client sends."""


@dataclass(frozen=True, slots=True)
class OperationDocument:
    """A document with an operation at its root, and the media types of its requests and, by status, its responses."""

    root: JsonObject
    request_types: tuple[str, ...]
    response_types: Mapping[str, tuple[str, ...]]

    def types_of_response(self, status: int) -> tuple[str, ...]:
        """Return the media types documented for a status: its own, its range's (`4XX`), or the default's."""
        keys = (str(status), f"{str(status)[0]}XX", "default")
        return next((self.response_types[key] for key in keys if key in self.response_types), ())


class OperationDocuments:
    """The operation documents of one document, each created on first use."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._resolver = Resolver(document)
        self._operations: Mapping[tuple[str, str], Operation] | None = None
        self._cache: dict[tuple[str, str], OperationDocument] = {}

    def of(self, tool: Tool) -> OperationDocument:
        """Return the document of a tool's operation. Raises LookupError and BrokenReference."""
        key = (tool.method, tool.path)
        if self._operations is None:
            valid, _ = operations(self._document, self._resolver)
            self._operations = {(operation.method, operation.path): operation for operation in valid}
        if key not in self._cache:
            self._cache[key] = self._operation_document(self._operations[key], tool)
        return self._cache[key]

    def _operation_document(self, operation: Operation, tool: Tool) -> OperationDocument:
        node = operation.value.get("responses")
        responses = {str(status): response for status, response in node.items()} if isinstance(node, dict) else {}
        value = {
            "parameters": list(self._parameters(operation, tool)),
            "responses": responses or {"default": {}},  # without documented responses, any is valid
            "security": [],
        }
        if operation.value.get("requestBody") is not None:
            value["requestBody"] = operation.value["requestBody"]
        pointer = operation.pointer
        return OperationDocument(
            root={**self._document.root, _OPERATION_KEY: value},
            request_types=self._types(value.get("requestBody"), join(pointer, "requestBody")),
            response_types={
                status: self._types(response, join(pointer, "responses", status))
                for status, response in responses.items()
            },
        )

    def _types(self, node: Any, pointer: str) -> tuple[str, ...]:
        """Return the media types of a Request Body or Response Object; empty where it has none or cannot be found."""
        try:
            node, _ = self._resolver.follow(node, pointer)
        except BrokenReference:
            return ()
        content = node.get("content") if isinstance(node, dict) else None
        return tuple(content) if isinstance(content, dict) else ()

    def _parameters(self, operation: Operation, tool: Tool) -> Iterable[JsonObject]:
        """Yield the parameters that a caller sets and that openapi-core can read from a request."""
        secrets = [(scheme.location or "", scheme.parameter or "") for some in tool.security for scheme in some]
        for parameter in parameters(operation, self._resolver, secrets).settable:
            value_fields = self._value_fields(parameter)
            if value_fields is not None and parameter.location != "querystring":
                common = {"name": parameter.name, "in": parameter.location, "required": parameter.required}
                yield common | value_fields

    def _value_fields(self, parameter: Parameter) -> JsonObject | None:
        """Return the fields that describe a parameter's value and style; None where openapi-core cannot read it."""
        if parameter.content_type is not None:
            content = {parameter.content_type: {"schema": parameter.node}}
            return {"content": content} if media_types.is_json(parameter.content_type) else None
        schema = self._schema(parameter.node, parameter.pointer)
        if schema is None or parameter.style not in _READABLE_STYLES or parameter.items_style is not None:
            return None
        return {"style": _READABLE_STYLES[parameter.style], "explode": parameter.explode, "schema": schema}

    def _schema(self, node: Any, pointer: str) -> JsonObject | None:
        """Return a schema of one scalar type or of an array of such; None for any other."""
        schema = self._with_one_type(node, pointer)
        if schema is None or schema["type"] in _SCALARS:
            return schema
        items = self._with_one_type(schema.get("items"), join(pointer, "items")) if schema["type"] == "array" else None
        return schema | {"items": items} if items is not None and items["type"] in _SCALARS else None

    def _with_one_type(self, node: Any, pointer: str) -> JsonObject | None:
        """Return a schema with exactly one type, or None. `null` is dropped: no text of a request is null."""
        try:
            node, pointer = self._resolver.follow(node, pointer)
        except BrokenReference:
            return None
        if not isinstance(node, dict):
            return None
        for keyword in ("anyOf", "oneOf"):
            branches = node.get(keyword)
            if isinstance(branches, list) and "type" not in node:
                others = [(index, branch) for index, branch in enumerate(branches) if branch != {"type": "null"}]
                if len(others) != 1:
                    return None
                index, branch = others[0]
                return self._with_one_type(branch, join(pointer, keyword, index))
        kinds = node.get("type")
        names = [kind for kind in kinds if kind != "null"] if isinstance(kinds, list) else [kinds]
        return node | {"type": names[0]} if len(names) == 1 and isinstance(names[0], str) else None


_DIALECTS: Final = {"3.0": ("oas30_write", "oas30_read"), "3.1": ("oas31", "oas31"), "3.2": ("oas32", "oas32")}
"""openapi-core's names of the schema dialects of requests and of responses."""


def request_validator(version: str, spec: Any, decoders: Decoders, *, with_body: bool) -> Any:
    """Return a validator of parameters, and of the body if `with_body`."""
    from openapi_core.validation import request

    kind = "Request" if with_body else "RequestParameters"
    validator = getattr(request, f"V{_digits(version)}{kind}Validator")
    return _configured(validator, _schema_validators(version, 0), spec, decoders)


def response_validator(version: str, spec: Any, decoders: Decoders, *, with_body: bool) -> Any:
    """Return a validator of status and headers, and of the body if `with_body`."""
    from openapi_core.validation import response

    kind = "Response" if with_body else "ResponseHeaders"
    validator = getattr(response, f"V{_digits(version)}{kind}Validator")
    return _configured(validator, _schema_validators(version, 1), spec, decoders)


def _digits(version: str) -> str:
    return version.replace(".", "")


def _configured(validator: Any, schemas: Any, spec: Any, decoders: Decoders) -> Any:
    return validator(
        spec,
        path_finder_cls=_KnownOperationFinder,
        schema_validators_factory=schemas,
        extra_media_type_deserializers=decoders,
    )


class _KnownOperationFinder:
    """A finder of the operation at the root (openapi_core.templating.paths.finders.BasePathFinder)."""

    def __init__(self, spec: Any, base_url: str | None = None) -> None:  # noqa: ARG002  openapi-core passes it
        self._operation = spec / _OPERATION_KEY

    def find(self, _method: str, _url: str) -> tuple[Any, ...]:
        """Return the path item, the operation, its server, and the (empty) matches in the URL."""
        from openapi_core.templating.datatypes import TemplateResult

        return self._operation, self._operation, None, TemplateResult("", {}), None


@cache
def _schema_validators(version: str, side: int) -> Any:
    from openapi_core.validation import schemas
    from openapi_core.validation.schemas.factories import SchemaValidatorsFactory

    original = getattr(schemas, f"{_DIALECTS[version][side]}_schema_validators_factory")
    keywords = {"pattern": _pattern, "required": partial(_required, ("readOnly", "writeOnly")[side])}
    validator = extend(original.schema_validator_cls, keywords)  # type: ignore[no-untyped-call]  # untyped in the stubs
    return SchemaValidatorsFactory(validator, format_checker=original.format_checker)


def _pattern(_validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    expression = portable(pattern) if isinstance(pattern, str) and isinstance(instance, str) else None
    if expression is not None and not re.search(expression, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _required(
    excused: str, validator: Any, names: Any, instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    properties = schema.get("properties")
    for name in names if validator.is_type(instance, "object") else ():
        node = properties.get(name) if isinstance(properties, dict) else None
        if name not in instance and not (isinstance(node, dict) and node.get(excused) is True):
            yield ValidationError(f"{name!r} is a required property")
