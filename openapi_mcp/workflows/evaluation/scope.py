"""`Scope`: the values of the expressions of one run; `StepExchange`: the request and response of a step.

A name is only looked up in JSON objects, an index only in arrays: no attribute of any Python object can be reached.
What is not there is MISSING. Of a request an expression gets the values that the step gave, never a credential.

Specification: Arazzo 1.1.0 "Runtime Expressions".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import parse_qsl

import httpx

from ...runtime import jsontext, media_types
from ...runtime.request.redaction import without_user
from ...runtime.result.sanitizer import Sanitizer
from ...runtime.types import MISSING
from .expressions import Expression


@dataclass(frozen=True, slots=True)
class StepExchange:
    """A request and its response. `given` are the parameters of the request by location and name, `sent` its body.

    `body` is the response's body: JSON as its value, anything else as text; MISSING where it is empty.
    """

    url: str = ""
    method: str = ""
    status: int = 0
    given: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    sent: Any = MISSING
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = MISSING


def read_body(response: httpx.Response) -> Any:
    """Return the body of a response as a value: of JSON and of a form its content, of anything else its text."""
    if not response.content:
        return MISSING
    kind = media_types.essence(response.headers.get("content-type", ""))
    if media_types.is_json(kind) or (not kind and response.content.lstrip()[:1] in (b"{", b"[")):
        try:
            return jsontext.read(response.content)
        except (ValueError, RecursionError):
            return response.text
    if media_types.is_form(kind):
        return dict(parse_qsl(response.text, keep_blank_values=True))
    return response.text


def exchange(
    response: httpx.Response, given: Mapping[tuple[str, str], Any], sent: Any, sanitizer: Sanitizer
) -> StepExchange:
    """Return the exchange of a response, with the values that its request was made of, and no credential in its URL."""
    request = response.request
    headers = {name.lower(): value for name, value in response.headers.items()}
    extra = {("header", name): request.headers[name] for name in ("accept", "content-type") if name in request.headers}
    url = sanitizer.text(without_user(str(request.url)))
    return StepExchange(
        url, request.method, response.status_code, {**extra, **given}, sent, headers, read_body(response)
    )


@dataclass(slots=True)
class Scope:
    """The values of one run. `workflows` are the inputs and outputs of the workflows that have run in this call.

    `steps` are the outputs of the steps that have ended, `outputs` those of the workflow that a step has called, at the
    end those of this one. `constants` returns the values that the document has: those of `$self`, `$sourceDescriptions`
    and `$components`.
    """

    inputs: Mapping[str, Any]
    constants: Callable[[Expression], Any]
    workflows: Mapping[str, Mapping[str, Mapping[str, Any]]]
    steps: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    exchange: StepExchange = field(default_factory=StepExchange)

    def value(self, expression: Expression) -> Any:
        """Return the value of an expression, or MISSING."""
        value, names = self._source(expression), expression.names
        if value is MISSING and expression.source in _DOTTED and "." in names[-1]:  # a name, or properties behind one
            first, *rest = names[-1].split(".")
            value = walk(self._source(replace(expression, names=(*names[:-1], first))), rest)
        return walk(value, expression.path)

    def _named(self, source: str) -> Mapping[str, Any]:
        return self.inputs if source == "inputs" else self.outputs

    def _source(self, expression: Expression) -> Any:
        names, made = expression.names, self.exchange
        match expression.source:
            case "inputs" | "outputs":
                return self._named(expression.source).get(names[0], MISSING)
            case "steps":
                return self.steps.get(names[0], {}).get(names[1], MISSING)
            case "workflows":
                return self.workflows.get(names[0], {}).get(names[1], {}).get(names[2], MISSING)
            case "request":
                return made.sent if names[0] == "body" else _given(made, *names)
            case "response":
                return made.body if names[0] == "body" else made.headers.get(names[1].lower(), MISSING)
            case "url" | "method":
                return made.url or MISSING if expression.source == "url" else made.method or MISSING
            case "statusCode":
                return made.status or MISSING
            case _:
                return self.constants(expression)


_DOTTED: Final = frozenset({"inputs", "outputs", "steps", "workflows"})


def _given(made: StepExchange, location: str, name: str) -> Any:
    if location == "header":
        given = {key[1].lower(): value for key, value in made.given.items() if key[0] == location}
        return given.get(name.lower(), MISSING)
    return made.given.get((location, name), MISSING)


def walk(value: Any, path: Any) -> Any:
    """Return what a path of names and indexes leads to, or MISSING."""
    for token in path:
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and token.isascii() and token.isdecimal() and len(token) < 10:
            value = value[int(token)] if int(token) < len(value) else MISSING
        else:
            return MISSING
    return value
