"""From the location of a difference (`200 body.pets[].price`, `query limit`) to the schema or parameter it is about."""

import re
from collections.abc import Iterator
from typing import Any, Final

from ...document.model import join
from ...tools.operations import LocatedNode, Operation
from ..subject import JudgedDocument

MAX_STEPS: Final = 200
"""Properties and items of a location."""

_STATUS: Final = re.compile(r"(\d{3}) (.*)", re.DOTALL)


def parameter_at(subject: JudgedDocument, operation: Operation, where: str) -> LocatedNode | None:
    """Return the Parameter Object of `query limit`, and its pointer."""
    location, _, name = where.partition(" ")
    found = (
        (node, pointer)
        for node, pointer in subject.parameters(operation)
        if (node.get("in") == location and str(node.get("name")) == re.split(r"[.\[]", name)[0]) or
        (node.get("in") == location and node.get("name") == name)
    )  # fmt: skip
    return next(found, None)


def bodies_at(subject: JudgedDocument, operation: Operation, where: str) -> Iterator[LocatedNode]:
    """Yield the Media Type Objects that a location is in: those of the request, or of a status."""
    match = _STATUS.match(where)
    if match is None:
        node, pointer = subject.request_body(operation)
    else:
        node, pointer = _response(subject, operation, match[1])
    for _, media, place in subject.media_types(node, pointer):
        yield media, place


def _response(subject: JudgedDocument, operation: Operation, status: str) -> LocatedNode:
    responses = {name: (node, pointer) for name, node, pointer in subject.responses(operation)}
    wanted = (status, f"{status[0]}XX", f"{status[0]}xx", "default")
    return next((responses[name] for name in wanted if name in responses), ({}, ""))


def schema_at(subject: JudgedDocument, operation: Operation, where: str) -> LocatedNode | None:
    """Return the schema at a location, behind its references, and its pointer."""
    if not re.match(r"(\d{3} )?body", where):
        return _parameter_schema(subject, operation, where)
    steps = where.partition("body")[2]
    for media, pointer in bodies_at(subject, operation, where):
        start = subject.follow(media.get("schema"), join(pointer, "schema"))
        if found := _descend(subject, *start, steps):
            return found
    return None


def _parameter_schema(subject: JudgedDocument, operation: Operation, where: str) -> LocatedNode | None:
    parameter = parameter_at(subject, operation, where)
    if parameter is None or not isinstance(parameter[0].get("schema"), dict):
        return None
    start = subject.follow(parameter[0]["schema"], join(parameter[1], "schema"))
    rest = where.partition(" ")[2].removeprefix(str(parameter[0].get("name")))
    return _descend(subject, *start, rest)


def _descend(subject: JudgedDocument, schema: Any, pointer: str, steps: str, depth: int = 0) -> LocatedNode | None:
    """Return the schema that steps such as `.pets[].price` lead to; names may have dots."""
    if not steps:
        return (schema, pointer) if schema else None
    if depth > MAX_STEPS:
        return None
    for inner, place, rest in _next(schema, pointer, steps):
        if found := _descend(subject, *subject.follow(inner, place), rest, depth + 1):
            return found
    return None


def _next(schema: Any, pointer: str, steps: str) -> Iterator[tuple[Any, str, str]]:
    """Yield the schemas that the first step may lead to, with the steps that are left."""
    if steps.startswith("[]") and isinstance(schema.get("items"), dict):
        yield schema["items"], join(pointer, "items"), steps[2:]
    properties = schema.get("properties")
    for name in sorted(properties if isinstance(properties, dict) else (), key=len, reverse=True):
        rest = steps[1 + len(name) :]
        if steps.startswith(f".{name}") and rest[:1] in ("", ".", "["):
            yield properties[name], join(pointer, "properties", name), rest
    for keyword in ("allOf", "oneOf", "anyOf"):
        branches = schema.get(keyword)
        for index, branch in enumerate(branches if isinstance(branches, list) else ()):
            yield branch, join(pointer, keyword, index), steps
    if isinstance(schema.get("additionalProperties"), dict) and (match := re.match(r"\.[^.\[]+", steps)):
        yield schema["additionalProperties"], join(pointer, "additionalProperties"), steps[match.end() :]
