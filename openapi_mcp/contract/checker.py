"""Check a call's request and response against the document with openapi-core: each difference is a `Drift`.

Nothing is changed or fetched, and no crash of openapi-core leaves this module. Bodies and parameters that openapi-core
cannot read (XML, multipart, objects in a parameter's style) are left unchecked, since it would misjudge them.

A drift has the same kind and location for all messages with the same defect. Its text shows values shortened, and no
values of headers and cookies, which may be credentials. openapi-core's exceptions are recognised by their names, since
it is imported only once there is something to check.
"""

import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import httpx

from ..document.model import Document
from ..runtime import jsontext
from ..runtime.request.redaction import is_secret_header
from ..runtime.tool import SecurityScheme, Tool
from ..runtime.upstream.client import TRUNCATED
from . import validators
from .refusals import refusals
from .validation import deepest_error, schema_path
from .validators import OperationDocument, OperationDocuments

Side = Literal["request", "response"]

Finding = tuple[str, str, str]
"""Kind, location and message, as in `Drift`."""

UNCHECKED: Final = "not checked"
"""The kind of a message that could not be checked; the text says why."""

_TRANSFER_HEADERS: Final = frozenset({"content-length", "content-encoding", "transfer-encoding"})
"""Headers of the transfer, which is over when a response is checked."""

_CACHED_REFERENCES: Final = 1024
"""References cached for an operation. A check resolves some hundred, many times each."""

_MAX_VALUE_LENGTH: Final = 60
_MAX_MESSAGE_LENGTH: Final = 200
_MIN_SECRET_LENGTH: Final = 4
"""Characters. Shorter secrets occur in any text and protect nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A difference between a message and the document.

    `kind` is the JSON Schema keyword that fails (`type`, `required`, …; also for parameters and headers); `status` or
    `content type` where these are not documented; `syntax` where a body does not match its media type; `security` where
    a request lacks required credentials; those of `refusals` where the API refuses what the document allows;
    `not checked` where a message could not be checked. `where` is the same for all messages: it has no index, and
    begins with the status for a response, as in `200 body.pets[].price`.
    """

    tool: str
    side: Side
    kind: str
    where: str
    message: str


class Contract:
    """A checker of messages against one document. `secrets` are values that are never shown."""

    def __init__(self, document: Document, secrets: Collection[str] = ()) -> None:
        # openapi-core warns of deprecated parts of a document and of unsupported features; neither is drift.
        warnings.filterwarnings("ignore", module=r"openapi_core\.")
        self._version = document.version
        self._operation_documents = OperationDocuments(document)
        self._specs: dict[tuple[str, str], Any] = {}
        self._errors = _ErrorReader(secrets)

    def check(self, tool: Tool, request: httpx.Request, response: httpx.Response) -> tuple[Drift, ...]:
        """Return the differences of a request and its response from the document, each once. Takes milliseconds."""
        self._errors.sent = _sent_secrets(request)
        drifts = self._drifts(tool, "request", self._request_findings(tool, request))
        fits = all(drift.kind == UNCHECKED for drift in drifts.values())
        drifts |= self._drifts(tool, "request", refusals(tool, request, response, fits=fits))
        drifts |= self._drifts(tool, "response", self._response_findings(tool, request, response))
        return tuple(drifts.values())

    def _drifts(self, tool: Tool, side: Side, findings: Iterable[Finding]) -> dict[tuple[Side, str, str], Drift]:
        """Return the findings about one side by side, kind and location."""
        drifts: dict[tuple[Side, str, str], Drift] = {}
        for kind, location, text in self._guarded(findings):
            where, message = _printable_line(location), self._errors.public_text(text)
            drift = Drift(tool=tool.name, side=side, kind=kind, where=where, message=message)
            drifts.setdefault((side, kind, where), drift)
        return drifts

    def _guarded(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield the findings, and a crash as a finding."""
        try:
            yield from findings
        except (RecursionError, Exception) as error:  # noqa: BLE001  openapi-core crashes on some documents, with any error
            yield UNCHECKED, "", f"{type(error).__name__}: {error}"

    def _request_findings(self, tool: Tool, request: httpx.Request) -> Iterator[Finding]:
        if tool.security and not any(all(_carries(request, scheme) for scheme in some) for some in tool.security):
            names = " or ".join(" and ".join(scheme.name for scheme in some) for some in tool.security)
            yield "security", "", f"there is no credential for {names}"
        document = self._operation_documents.of(tool)
        content_type = request.headers.get("content-type", "")
        key, readable = _media_type_key(document.request_types, content_type, request.content)
        spec, decoders = self._spec(tool, document), validators.Decoders(content_type)
        validator = validators.request_validator(self._version, spec, decoders, with_body=readable)
        known_type = validators.lookup_content_type(content_type, key)
        for error in validator.iter_errors(validators.request_data(request, tool.path, known_type)):
            yield from self._errors.findings(error)

    def _response_findings(self, tool: Tool, request: httpx.Request, response: httpx.Response) -> Iterator[Finding]:
        if response.request.url != request.url:
            yield UNCHECKED, "", "the response came from another URL after a redirect"
            return
        document = self._operation_documents.of(tool)
        content_type = response.headers.get("content-type", "")
        key, readable = _media_type_key(
            document.types_of_response(response.status_code), content_type, response.content
        )
        readable = readable and request.method != "HEAD" and not response.extensions.get(TRUNCATED)
        spec, decoders = self._spec(tool, document), validators.Decoders(content_type)
        validator = validators.response_validator(self._version, spec, decoders, with_body=readable)
        response_data = validators.response_data(response, validators.lookup_content_type(content_type, key))
        for error in validator.iter_errors(validators.request_data(request, tool.path, ""), response_data):
            for kind, where, message in self._errors.findings(error):
                if where.removeprefix("header ").lower() not in _TRANSFER_HEADERS:
                    yield kind, f"{response.status_code} {where}".rstrip(), message

    def _spec(self, tool: Tool, document: OperationDocument) -> Any:
        key = (tool.method, tool.path)
        if key not in self._specs:
            self._specs[key] = schema_path(document.root, cache_size=_CACHED_REFERENCES)
        return self._specs[key]


def _media_type_key(keys: Sequence[str], content_type: str, body: bytes) -> tuple[str, bool]:
    """Return the document's media type for a body, and whether openapi-core can check the body by it."""
    key = validators.matching_media_type(keys, content_type)
    if key is None or not body:  # openapi-core reports it
        return content_type, True
    return key, validators.is_readable(content_type, key)


def _carries(request: httpx.Request, scheme: SecurityScheme) -> bool:
    """Return whether a request has a value for a credential; a client certificate is not visible here."""
    if scheme.location == "query":
        return scheme.parameter in request.url.params
    if scheme.location == "cookie":
        return f"{scheme.parameter}=" in request.headers.get("cookie", "")
    return scheme.type == "mutualTLS" or (scheme.parameter or "authorization") in request.headers


def _sent_secrets(request: httpx.Request) -> list[str]:
    """Return the credentials of a request, which may be tokens of its user alone, also without their scheme."""
    sent = [value for name, value in request.headers.items() if is_secret_header(name, value)]
    parts = {part for value in sent for part in (value, value.rpartition(" ")[2])}
    return sorted((part for part in parts if len(part) >= _MIN_SECRET_LENGTH), key=len, reverse=True)


class _ErrorReader:
    """A reader of openapi-core's errors, as findings; `secrets` are values that are never shown.

    `sent` are those of the request that is being checked.
    """

    def __init__(self, secrets: Collection[str]) -> None:
        self.sent: Sequence[str] = ()
        self._secrets = sorted((text for text in secrets if len(text) >= _MIN_SECRET_LENGTH), key=len, reverse=True)

    def findings(self, error: Any) -> Iterator[Finding]:
        """Yield the findings of an error, by its class or that of its cause; some errors are no finding."""
        name, cause, location = type(error).__name__, error.__cause__, _location(error)
        hidden = location.startswith(("header ", "cookie "))
        if name == "ResponseNotFound":
            yield "status", "", f"{error.http_status} is not documented{_in_parentheses(error.availableresponses)}"
        elif name in {"MissingData", "MissingRequiredRequestBody"}:
            yield "required", location, "there is none"
        elif name in {"MissingRequiredHeader", "MissingRequiredParameter"}:
            if not location.startswith("path "):  # a URL without it would be another operation's
                yield "required", location, "it is required and missing"
        elif type(cause).__name__ == "InvalidSchemaValue":
            for schema_error in cause.schema_errors:
                yield self._schema_finding(deepest_error(schema_error), location, hidden=hidden)
        else:
            yield from self._reading_findings(cause, location, hidden=hidden)

    def public_text(self, text: str) -> str:
        """Return a message in one line, without secrets and terminal control characters."""
        return _shortened(_printable_line(self._without_secrets(text)), _MAX_MESSAGE_LENGTH)

    def _reading_findings(self, cause: Any, location: str, *, hidden: bool) -> Iterator[Finding]:
        """Yield the findings of an error that occurred before there was a value to validate."""
        name = type(cause).__name__
        if name == "MediaTypeNotFound":
            subject = f"{cause.mimetype} is" if cause.mimetype else "none is given, which is"
            yield "content type", location, f"{subject} not documented{_in_parentheses(cause.availableMimetypes)}"
        elif name == "MediaTypeDeserializeError":
            yield "syntax", location, f"it cannot be read as {cause.mimetype}"
        elif name == "CastError" and location != "body":  # openapi-core reads only the simplest forms
            value = "its value" if hidden else self._value_text(cause.value)
            yield "type", location, f"{value} cannot be read as {cause.type}"
        elif name != "EmptyQueryParameterValue":  # an empty string is a string (OpenAPI 3.2 "Style Examples")
            yield UNCHECKED, location, f"openapi-core cannot read it ({name})"

    def _schema_finding(self, error: Any, location: str, *, hidden: bool) -> Finding:
        where = location + "".join("[]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
        if error.validator == "required":
            return "required", f"{where}.{_missing_name(error)}", "it is required and missing"
        value, message = repr(error.instance), error.message
        if message.startswith(value):
            message = ("its value" if hidden else self._value_text(error.instance)) + message[len(value) :]
        elif hidden:
            message = "its value does not match the schema"
        return str(error.validator), where, message

    def _value_text(self, value: Any) -> str:
        try:
            return _shortened(self._without_secrets(jsontext.write(value)), _MAX_VALUE_LENGTH)
        except RecursionError:
            return "a deeply nested value"

    def _without_secrets(self, text: str) -> str:
        for secret in (*self._secrets, *self.sent):
            text = text.replace(secret, "***")
        return text


def _missing_name(error: Any) -> str:
    """Return the property that a failed `required` misses: one failure each, named only in jsonschema's message."""
    names: list[str] = list(error.validator_value)
    return next((name for name in names if error.message.startswith(repr(name))), names[0])


def _location(error: Any) -> str:
    """Return the part of a message that an error is about: `query limit`, `header ETag`, `body`."""
    name = getattr(error, "name", None)
    return "body" if name is None else f"{getattr(error, 'location', 'header')} {name}"


def _in_parentheses(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f" ({listed})" if listed else ""


def _printable_line(text: str) -> str:
    """Return a text in one line, with U+FFFD for each character that is not printable."""
    return "".join(character if character.isprintable() else "\ufffd" for character in " ".join(text.split()))


def _shortened(text: str, max_length: int) -> str:
    return text if len(text) <= max_length else text[: max_length - 1] + "…"
