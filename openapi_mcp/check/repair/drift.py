"""Repairs of what traffic contradicts: types, null, required lists and media types."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ...contract import refusals
from ...contract.checker import Drift
from ...document.model import join, split
from ...tools.operations import Operation
from ..subject import JudgedDocument
from . import schema_places as places
from .change import Repair, is_swagger, repair

MAX_INLINE: Final = 400
"""Characters of a media type that is written out under its new name."""


def drift_repairs(subject: JudgedDocument, operation: Operation, drift: Drift) -> Iterator[Repair]:
    """Yield what makes a document agree with one message."""
    if drift.kind == "type" and drift.side == "response":
        yield from _type(subject, operation, drift, _sent_type(drift.message))
    elif drift.kind == refusals.REFUSED_TYPE:
        before, _, kind = drift.message.rpartition(" ")
        yield from _type(subject, operation, drift, kind, form=before.removeprefix("the API wants").strip())
    elif drift.kind == "required" and drift.side == "response":
        yield from _not_required(subject, operation, drift)
    elif drift.kind == refusals.REFUSED_MISSING:
        yield from _required(subject, operation, drift)
    elif drift.kind == refusals.REFUSED_MEDIA_TYPE:
        accepted = re.findall(r"[\w.+-]+/[\w.+-]+", drift.message.partition("(")[2])
        yield from _media_type(subject, operation, join(operation.pointer, "requestBody"), accepted[:1], drift)
    elif drift.kind == "content type" and drift.side == "response" and re.match(r"2\d\d ?", drift.where):
        sent = re.findall(r"^[\w.+-]+/[\w.+-]+", drift.message)
        yield from _media_type(subject, operation, join(operation.pointer, "responses", drift.where[:3]), sent, drift)


def _sent_type(message: str) -> str:
    """Return the JSON type of the value that a message begins with; it may be cut."""
    value = re.split(" is not | for not ", message, maxsplit=1)[0]
    for pattern, name in (
        (r'"', "string"), (r"\{", "object"), (r"\[", "array"), (r"null$", "null"), (r"(true|false)$", "boolean"),
        (r"-?\d+$", "integer"), (r"-?[\d.]+([eE][+-]?\d+)?$", "number"),
    ):  # fmt: skip
        if re.match(pattern, value):
            return name
    return ""


def _type(
    subject: JudgedDocument, operation: Operation, drift: Drift, kind: str, *, form: str = ""
) -> Iterator[Repair]:
    found = places.schema_at(subject, operation, drift.where)
    if found is None or not kind or kind not in _KINDS:
        return
    schema, pointer = found
    rule = "drift-refused" if drift.kind == refusals.REFUSED_TYPE else "drift-schema"
    reason = f"{operation.label}, {drift.where}: {drift.message}"
    if kind == "null":
        yield from _nullable(subject, schema, pointer, rule, reason)
    else:
        yield from _retyped(subject, schema, pointer, rule, reason, {"type": kind} | ({"format": form} if form else {}))


def _nullable(subject: JudgedDocument, schema: Any, pointer: str, rule: str, reason: str) -> Iterator[Repair]:
    """Yield that a value may be null, as the version of the document says it."""
    declared = schema.get("type")
    if schema.get("nullable") is True:
        return
    if is_swagger(subject):
        yield from repair(subject, rule, pointer, reason, {"x-nullable": True})
    elif subject.document.version == "3.0":
        yield from repair(subject, rule, pointer, reason, {"nullable": True})
    elif isinstance(declared, str) and declared != "null":
        yield from repair(subject, rule, pointer, reason, {"type": [declared, "null"]}, remove=["type"])


def _retyped(  # noqa: PLR0917  as `repair`
    subject: JudgedDocument, schema: Any, pointer: str, rule: str, reason: str, update: Mapping[str, Any]
) -> Iterator[Repair]:
    """Yield another type for a schema; one with parts keeps its type, since these say more than one value does."""
    declared, kind = schema.get("type"), update["type"]
    if kind not in ("object", "array") and schema.keys() & {"properties", "items"}:
        return
    if isinstance(declared, str) and declared != kind:
        unfit = [name for name in ("format", "pattern", "enum", "minLength", "maxLength") if name in schema]
        if is_swagger(subject) and "parameters" in split(subject.display(pointer)):
            pointer = pointer.removesuffix("/schema")
        more: dict[str, Any] = {"items": {}} if kind == "array" else {}
        remove = unfit if declared == "string" else []
        yield from repair(subject, rule, pointer, reason, {**update, **more}, remove=remove)
    elif isinstance(declared, list) and kind not in declared:
        yield from repair(subject, rule, pointer, reason, {"type": [*declared, kind]}, remove=["type"])


_KINDS: Final = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})


def _holder(subject: JudgedDocument, operation: Operation, where: str) -> tuple[Any, str, str] | None:
    """Return the schema that a property belongs to, its pointer, and the name of the property."""
    parent, dot, name = where.rpartition(".")
    found = places.schema_at(subject, operation, parent) if dot else None
    if found is None:
        return None
    schema, pointer = found
    branches = schema.get("allOf")
    for index, branch in enumerate(branches if isinstance(branches, list) else ()):
        inner, place = subject.follow(branch, join(pointer, "allOf", index))
        if name in (inner.get("properties") or {}) or name in (inner.get("required") or []):
            return inner, place, name
    return schema, pointer, name


def _not_required(subject: JudgedDocument, operation: Operation, drift: Drift) -> Iterator[Repair]:
    holder = _holder(subject, operation, drift.where)
    if holder is None:
        return
    schema, pointer, name = holder
    required = schema.get("required")
    if isinstance(required, list) and name in required:
        reason = f"{operation.label}, {drift.where}: an answer has none"
        yield from repair(subject, "drift-schema", join(pointer, "required"), reason, {}, remove=[name])


def _required(subject: JudgedDocument, operation: Operation, drift: Drift) -> Iterator[Repair]:
    reason = f"{operation.label}, {drift.where}: {drift.message}"
    if parameter := places.parameter_at(subject, operation, drift.where):
        yield from repair(subject, "drift-refused", parameter[1], reason, {"required": True})
    elif holder := _holder(subject, operation, drift.where):
        schema, pointer, name = holder
        if name not in (schema.get("required") or []):
            yield from repair(subject, "drift-refused", pointer, reason, {"required": [name]})
    elif drift.where == "body":
        node, pointer = subject.request_body(operation)
        if node and not node.get("required"):
            yield from repair(subject, "drift-refused", pointer, reason, {"required": True})


def _media_type(
    subject: JudgedDocument, operation: Operation, pointer: str, wanted: Sequence[str], drift: Drift
) -> Iterator[Repair]:
    """Yield the media type of a body under its true name: with the schema of the only one that is documented."""
    last = split(pointer)[-1]
    responses = operation.value.get("responses") or {}
    node = operation.value.get("requestBody") if last == "requestBody" else responses.get(last)
    body, place = subject.follow(node, pointer)
    found = list(subject.media_types(body, place))
    if len(found) != 1 or not wanted or wanted[0] == found[0][0] or len(repr(found[0][1])) > MAX_INLINE:
        return
    if is_swagger(subject):
        return
    old, media, _ = found[0]
    reason = f"{operation.label}, {drift.where}: {drift.message}"
    yield from repair(subject, "drift-media-type", join(place, "content"), reason, {wanted[0]: media}, remove=[old])
