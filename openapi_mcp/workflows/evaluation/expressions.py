r"""Runtime expressions: parsed by the grammar of Arazzo, never evaluated as code; texts with some in braces.

An expression names a source (`$inputs`, `$response.body`), a value there, and a path into that value: a JSON pointer
(`#/items/0/id`) or, as the specification's conditions and examples have it, properties and indexes (`.items[0].id`).
Of 1.0, whose names may hold any character, and of 1.1 the same texts are read.

Specification: Arazzo 1.1.0 "Runtime Expressions", 1.0.1 "Runtime Expressions"; RFC 6901.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final

MAX_LENGTH: Final = 2_000
"""Characters of an expression. Those of the specification have up to 70."""


class ExpressionError(ValueError):
    """A text that begins like a runtime expression and is none; the text says why."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A runtime expression: its text, its source (`steps`), the names behind it, and the path into the value.

    Names by source: inputs and outputs (name), steps (stepId, name), workflows (workflowId, inputs or outputs, name),
    request and response (header, query, path or body; name), sourceDescriptions (name, reference), components (kind,
    name). `is_loose`: it is read as meant, and no expression of the grammar.
    """

    text: str
    source: str
    names: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    is_loose: bool = False


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """A text with embedded expressions: pieces of text and expressions, in their order."""

    parts: tuple[str | Expression, ...]


_NAME: Final = r"[A-Za-z0-9._-]+"
_ID: Final = r"[A-Za-z0-9_-]+"
_ACCESS: Final = r"(?P<access>(?:\[(?:\d+|'[^']*')\]|\.[A-Za-z0-9_-]+)+)?"
_POINTER: Final = r"(?:#(?P<pointer>.*))?"
_FORMS: Final[Mapping[str, re.Pattern[str]]] = {
    source: re.compile(form, re.DOTALL)
    for source, form in {
        "url": "",
        "method": "",
        "statusCode": "",
        "self": "",
        "request": rf"\.(?:(?P<a>header)\.(?P<b>[!#$%&'*+.^_`|~0-9A-Za-z-]+)|(?P<c>query|path)\.(?P<d>.+)"
        rf"|(?P<e>body){_ACCESS}{_POINTER})",
        "response": rf"\.(?:(?P<a>header)\.(?P<b>[!#$%&'*+.^_`|~0-9A-Za-z-]+)|(?P<e>body){_ACCESS}{_POINTER})",
        "inputs": rf"\.(?P<a>{_NAME}){_ACCESS}{_POINTER}",
        "outputs": rf"\.(?P<a>{_NAME}){_ACCESS}{_POINTER}",
        "steps": rf"\.(?P<a>.+?)\.outputs\.(?P<b>{_NAME}){_ACCESS}{_POINTER}",
        "workflows": rf"\.(?P<a>.+?)\.(?P<b>inputs|outputs)\.(?P<c>{_NAME}){_ACCESS}{_POINTER}",
        "sourceDescriptions": rf"\.(?P<a>{_ID})\.(?P<b>.+)",
        "components": rf"\.(?P<a>parameters|successActions|failureActions|inputs)\.(?P<b>{_NAME})",
    }.items()
}
_OUTPUT_WITHOUT_WORD: Final = re.compile(rf"\.(?P<a>{_ID})\.(?P<b>{_ID}){_POINTER}")
"""`$steps.find.petId`, as an example of the specification has it, for `$steps.find.outputs.petId`."""

_MESSAGE: Final = "$message is of AsyncAPI, which is not supported"
_BEGINNING: Final = re.compile(rf"\$(?P<source>message|{'|'.join(_FORMS)})(?=$|[.#\[])")
_EMBEDDED: Final = re.compile(r"\{(\$[^{}]*)\}")
_STEP_OF_ACCESS: Final = re.compile(r"\[(\d+)\]|\['([^']*)'\]|\.([A-Za-z0-9_-]+)")


def is_expression(text: str) -> bool:
    """Return whether a text begins as a runtime expression does; any other `$` is a `$`."""
    return _BEGINNING.match(text) is not None


def parse(text: str) -> Expression:
    """Return the expression that a text is. Raises ExpressionError."""
    beginning = _BEGINNING.match(text)
    if beginning is None or len(text) > MAX_LENGTH:
        raise ExpressionError(f"{shown(text)} is no runtime expression")
    source, rest = beginning["source"], text[beginning.end() :]
    if source == "message":
        raise ExpressionError(_MESSAGE)
    match = _FORMS[source].fullmatch(rest)
    is_loose = match is None and source == "steps"
    match = _OUTPUT_WITHOUT_WORD.fullmatch(rest) if is_loose else match
    if match is None:
        raise ExpressionError(f"{shown(text)} is not a runtime expression: `${source}` is written {_WRITTEN[source]}")
    groups = match.groupdict()
    path = (*_accesses(groups.pop("access", None) or ""), *_pointer(groups.pop("pointer", None), text))
    names = tuple(name for name in groups.values() if name is not None)
    return Expression(text, source, names, path, is_loose)


def text_of(text: str) -> EmbeddedText | None:
    """Return a text with the expressions that it embeds in braces; None if it has none. Raises ExpressionError."""
    parts, end = list[str | Expression](), 0
    for match in _EMBEDDED.finditer(text):
        if is_expression(match[1]):
            parts += [text[end : match.start()], parse(match[1])]
            end = match.end()
    return EmbeddedText(tuple(part for part in [*parts, text[end:]] if part != "")) if parts else None


def pointer_tokens(pointer: str) -> tuple[str, ...]:
    """Return the tokens of a JSON pointer (RFC 6901 §4). Raises ExpressionError."""
    if (pointer and not pointer.startswith("/")) or re.search(r"~(?![01])", pointer):
        raise ExpressionError(f"{shown(pointer)} is not a JSON pointer: it begins with /, and ~ is written ~0")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:])


def expressions_of(value: Any) -> Iterator[Expression]:
    """Yield the expressions in a compiled value, at any depth of its lists, objects and dataclasses."""
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, dict):
        yield from expressions_of(list(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from expressions_of(item)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from expressions_of([getattr(value, each.name) for each in fields(value)])


def shown(text: str) -> str:
    """Return the beginning of a text of a document, for an error."""
    return text if len(text) <= 80 else f"{text[:79]}…"


def _pointer(pointer: str | None, text: str) -> tuple[str, ...]:
    try:
        return pointer_tokens(pointer or "")
    except ExpressionError as error:
        raise ExpressionError(f"{shown(text)}: {error}") from None


def _accesses(text: str) -> tuple[str, ...]:
    groups = (match.groups() for match in _STEP_OF_ACCESS.finditer(text))
    return tuple(next((each for each in group if each is not None), "") for group in groups)


_WRITTEN: Final[Mapping[str, str]] = {
    "url": "alone",
    "method": "alone",
    "statusCode": "alone",
    "self": "alone",
    "request": "$request.header.NAME, $request.query.NAME, $request.path.NAME or $request.body#/POINTER",
    "response": "$response.header.NAME or $response.body#/POINTER",
    "inputs": "$inputs.NAME, with #/POINTER where it leads into the value",
    "outputs": "$outputs.NAME, with #/POINTER where it leads into the value",
    "steps": "$steps.STEP.outputs.NAME",
    "workflows": "$workflows.WORKFLOW.outputs.NAME or $workflows.WORKFLOW.inputs.NAME",
    "sourceDescriptions": "$sourceDescriptions.NAME.REFERENCE",
    "components": "$components.parameters.NAME, $components.successActions.NAME or $components.failureActions.NAME",
}
"""Forms of the expressions of each source, for errors."""
