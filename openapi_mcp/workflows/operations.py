"""`OperationCall`: the call of an operation by a step: a Tool, and the values of its arguments and its body.

A step names parameters and properties as the API does; the Tool's arguments have these names as `wire_name`. A value
that the step sends and the operation does not declare becomes an argument of the step's own copy of the Tool. A step
never chooses the host, the path or headers of the connection.

Specification: Arazzo 1.1.0 "Parameter Object", "Request Body Object".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

from ..runtime import media_types
from ..runtime.errors import ArgumentError
from ..runtime.request.content import FORM
from ..runtime.request.headers import RESERVED_NAMES, is_field_name
from ..runtime.tool import Argument, MediaType, RequestBody, Style, Tool
from ..runtime.types import MISSING, Schema
from ..tools.names import words
from .evaluation.expressions import EmbeddedText
from .evaluation.scope import Scope
from .evaluation.templates import StepPayload, fill, fill_payload, form_text, joined

Report = Callable[[str], None]
"""A receiver of sentences about what has no effect."""

AUTHORIZATION: Final = "authorization"
_STYLES: Final[Mapping[str, Style]] = {"query": "form", "header": "simple", "cookie": "form", "querystring": "form"}


class StepParameter(NamedTuple):
    """A parameter of a step, its value compiled. `location` is empty where the step names none (the short form)."""

    name: str
    location: str
    value: Any
    is_of_step: bool = True


class UnknownParameter(ValueError):
    """A parameter that the operation cannot have; the text names it."""


@dataclass(frozen=True, slots=True)
class StepRequest:
    """Request of a step: arguments of the Tool, the parameters and the body as expressions see them, headers."""

    arguments: Mapping[str, Any]
    given: Mapping[tuple[str, str], Any]
    sent: Any
    headers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class OperationCall:
    """A call of a Tool of an API (empty: that of this server). `values` are parameters with their arguments' names.

    `headers` are sent besides arguments: `Authorization`, which no argument can set.
    """

    tool: Tool
    api: str = ""
    values: tuple[tuple[str, StepParameter], ...] = ()
    headers: Mapping[str, Any] = field(default_factory=dict)
    payload: StepPayload | None = None

    @property
    def label(self) -> str:
        """The operation, for people."""
        operation = f"{self.tool.method} {self.tool.path}"
        return f"{self.tool.operation_id}, {operation}" if self.tool.operation_id else operation

    def request(self, scope: Scope) -> StepRequest:
        """Return what the call sends. Raises RuntimeFailure and InvalidQuery."""
        arguments: dict[str, Any] = {}
        given: dict[tuple[str, str], Any] = {}
        for name, parameter in self.values:
            value = _value(parameter, scope)
            if value is not MISSING:
                arguments[name] = given[parameter.location, parameter.name] = value
        body: Any = MISSING
        if self.payload is not None:
            media_type = self._media_type()
            body = fill_payload(self.payload, scope, media_type)
            body = form_fields(body) if isinstance(body, str) and media_types.is_form(media_type) else body
            arguments |= {} if body is MISSING else _body_arguments(self.tool, body)
        filled = {name: fill(value, scope) for name, value in self.headers.items()}
        headers = tuple((name, str(value)) for name, value in filled.items() if value not in (MISSING, None))
        return StepRequest(arguments, given, body, headers)

    def _media_type(self) -> str:
        if self.payload and self.payload.media_type:
            return self.payload.media_type
        return self.tool.body.media_types[0].content_type if self.tool.body else "application/json"


def _value(parameter: StepParameter, scope: Scope) -> Any:
    if parameter.location != "querystring":
        return fill(parameter.value, scope)
    is_text = isinstance(parameter.value, EmbeddedText)
    value = joined(parameter.value, scope, form_text) if is_text else fill(parameter.value, scope)
    return form_fields(value) if isinstance(value, str) and "=" in value else value


def form_fields(text: str) -> dict[str, Any]:
    """Return the fields of a form that is written as text; one that is repeated is a list."""
    fields: dict[str, list[str]] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        fields.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def _body_arguments(tool: Tool, body: Any) -> dict[str, Any]:
    """Return the arguments that a body is made of. Raises ArgumentError."""
    entire = next((each for each in tool.arguments if each.location == "body" and each.wire_name is None), None)
    if entire is not None:
        return {entire.name: body}
    if not isinstance(body, dict):
        raise ArgumentError("The payload of the step is not an object, which the operation needs.")
    properties = (each for each in tool.arguments if each.location == "body")
    names: dict[str, str] = {str(each.wire_name or each.name): each.name for each in properties}
    taken = {each.name for each in tool.arguments}
    for name in body:
        if name not in names and name in taken:
            raise ArgumentError(f"The payload has the property `{name}`, which the operation's body does not have.")
    return {str(names.get(name, name)): value for name, value in body.items()}


def compile_call(
    tool: Tool, api: str, parameters: Sequence[StepParameter], payload: StepPayload | None, report: Report
) -> OperationCall:
    """Return the call of a tool with some parameters and a body. Raises UnknownParameter."""
    values, headers = list[tuple[str, StepParameter]](), dict[str, Any]()
    if payload is not None:
        tool, payload = _with_body(tool, payload)
    for parameter in parameters:
        argument = _argument(tool, parameter) or _similar_argument(tool, parameter, report)
        if argument is not None:
            values.append((argument.name, parameter._replace(location=argument.location)))
        elif not _is_ignored(tool, parameter, report):
            tool = _without_scheme(tool, parameter)
            if parameter.location == "header" and parameter.name.lower() == AUTHORIZATION:
                headers[parameter.name] = parameter.value
            else:
                tool, name = _with_argument(tool, parameter)
                values.append((name, parameter))
    return OperationCall(tool, api, tuple(values), headers, payload)


def _argument(tool: Tool, parameter: StepParameter) -> Argument | None:
    """Return the argument that a parameter sets, if the operation declares one."""
    name, location = parameter.name, parameter.location
    for each in tool.arguments:
        wire_name = each.wire_name or each.name
        is_same = wire_name.lower() == name.lower() if each.location == "header" else wire_name == name
        if each.location == location and is_same:
            return each
    if location:
        return None
    named = [each for each in tool.arguments if name in (each.wire_name, each.name)]
    return min(named, key=lambda each: each.name != name, default=None)


def _similar_argument(tool: Tool, parameter: StepParameter, report: Report) -> Argument | None:
    """Return the argument whose name has the same words as that of a path parameter which is unknown: petId, pet_id."""
    if parameter.location != "path" or not parameter.is_of_step:
        return None
    for each in tool.arguments:
        if each.location == "path" and words(each.wire_name or each.name) == words(parameter.name):
            report(f"the path parameter {parameter.name} is read as {each.wire_name or each.name}")
            return each
    return None


def _is_ignored(tool: Tool, parameter: StepParameter, report: Report) -> bool:
    """Return whether a parameter is not sent, and say why. Raises UnknownParameter."""
    name, location = parameter.name, parameter.location
    if any((each.argument.wire_name or each.argument.name) == name for each in tool.presets if not each.is_default):
        report(f"the parameter {name} has no effect: x-mcp or --set fixes it")
        return True
    if location in ("path", ""):
        if not parameter.is_of_step:
            return True
        kind = "path parameter" if location else "argument"
        raise UnknownParameter(f"{tool.operation_id or tool.name} has no {kind} {name}")
    if location == "header" and (not is_field_name(name) or name.lower() in RESERVED_NAMES - {AUTHORIZATION}):
        report(f"the header {name} has no effect: the server itself sets it")
        return True
    return False


def _without_scheme(tool: Tool, parameter: StepParameter) -> Tool:
    """Return a tool that sends no credential of its own where the step sends one in that place."""
    place = parameter.location, parameter.name.lower()
    is_authorization = place == ("header", AUTHORIZATION)
    schemes = {scheme for alternative in tool.security for scheme in alternative} | set(tool.required_schemes)
    if is_authorization or any((each.location, (each.parameter or "").lower()) == place for each in schemes):
        return replace(tool, security=(), required_schemes=())
    return tool


def _with_argument(tool: Tool, parameter: StepParameter) -> tuple[Tool, str]:
    """Return a tool with an argument for a parameter that the operation does not declare, and its name."""
    name, taken = f"{parameter.location}.{parameter.name}", {each.name for each in tool.arguments}
    while name in taken:
        name = f"_{name}"
    argument = Argument(
        name=name,
        location=parameter.location,  # type: ignore[arg-type]  # the reader lets no other pass
        wire_name=parameter.name,
        style=_STYLES[parameter.location],
        explode=parameter.location in ("query", "cookie"),
        content_type=FORM if parameter.location == "querystring" else None,
    )
    return replace(tool, arguments=(*tool.arguments, argument), input_schema=_with_property(tool, name, {})), name


def _with_property(tool: Tool, name: str, schema: Any) -> dict[str, Any]:
    return {**tool.input_schema, "properties": {**tool.input_schema.get("properties", {}), name: schema}}


def _with_body(tool: Tool, payload: StepPayload) -> tuple[Tool, StepPayload]:
    """Return a tool that sends a body in the media type of a payload."""
    wanted = payload.media_type
    declared = tool.body.media_types if tool.body else ()
    chosen = next((each for each in declared if wanted and _is_same(each.content_type, wanted)), None)
    if tool.body is not None and (wanted is None or chosen is not None):
        media = (chosen,) if chosen else tool.body.media_types
        arguments = tuple(each for each in tool.arguments if each.location != "media_type" or chosen is None)
        return replace(tool, body=replace(tool.body, media_types=media), arguments=arguments), payload
    kept = tuple(each for each in tool.arguments if each.location not in ("body", "media_type"))
    body = RequestBody(media_types=(MediaType(content_type=wanted or "application/json"),))
    argument = Argument(name="body", location="body")
    properties = _properties(tool, kept)
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    schema |= {name: value for name, value in tool.input_schema.items() if name == "$defs"}
    schema["required"] = [name for name in tool.input_schema.get("required", ()) if name in properties]
    return replace(tool, body=body, arguments=(*kept, argument), input_schema=schema), payload


def _properties(tool: Tool, kept: Sequence[Argument]) -> dict[str, Any]:
    properties = tool.input_schema.get("properties", {})
    return {each.name: properties[each.name] for each in kept if each.name in properties} | {"body": {}}


def _is_same(declared: str, wanted: str) -> bool:
    return media_types.essence(declared) == media_types.essence(wanted)
