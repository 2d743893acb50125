"""Repairs: what a rule can put right in a document, from its own parts and from what traffic showed.

Each is an addition or a replacement at one place, with the reason for it. Nothing is invented: a text is made of
method, path and answer, a type is the one that was sent or demanded, a credential is one that the document or the API
names. What would need a person's knowledge stays a finding. Repairing a repaired document finds nothing more.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from ... import plain_text
from ...contract import refusals
from ...contract.checker import Drift
from ...document.model import join, split
from ...overlay.paths import Location
from ...tools.operations import Operation
from ..exposure import unused_schemes
from ..subject import JudgedDocument
from . import schema_places as places
from .descriptions import description_of, summary_of

MAX_REPAIRS: Final = 2_000
"""Repairs of one run; an overlay of more is nobody's to read."""

MAX_INLINE: Final = 400
"""Characters of a media type that is written out under its new name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A change at a place of the document as it is written: what `remove` names goes, then `update` is merged.

    Of an object these are names, of a list of texts its entries.
    """

    rule: str
    location: Location
    reason: str
    update: Mapping[str, Any] = field(default_factory=dict)
    remove: tuple[str, ...] = ()


def repairs_of(
    subject: JudgedDocument, drifts: Iterable[Drift] = (), answered: Iterable[str] = (), base_url: str = ""
) -> Iterator[Repair]:
    """Yield the repairs of a document. `answered` names tools that the API answers without a credential."""
    drifts = tuple(drifts)
    yield from _server(subject, base_url)
    yield from _security(subject, drifts, frozenset(answered))
    yield from _texts(subject)
    tools = {tool.name: tool for tool in subject.tools}
    for drift in drifts:
        tool = tools.get(drift.tool)
        operation = subject.operation_of(tool) if tool else None
        if operation is not None:
            yield from _of_drift(subject, operation, drift)


def location_of(subject: JudgedDocument, pointer: str) -> Location | None:
    """Return the place of a pointer in the root document as it is written; None for one in another file."""
    shown = subject.display(pointer)
    if not shown.startswith("#"):
        return None
    location: list[str | int] = []
    node: Any = subject.document.as_written().root
    for token in split(shown):
        key: str | int = int(token) if isinstance(node, list) and token.isdecimal() else token
        try:
            node = node[key]
        except (LookupError, TypeError):
            return None
        location.append(key)
    return tuple(location)


def _repair(
    subject: JudgedDocument,
    rule: str,
    pointer: str,
    reason: str,
    update: Mapping[str, Any],
    *,
    remove: Sequence[str] = (),
) -> Iterator[Repair]:
    location = location_of(subject, pointer)
    if location is not None:
        yield Repair(rule=rule, location=location, reason=reason, update=update, remove=tuple(remove))


def _is_swagger(subject: JudgedDocument) -> bool:
    return subject.document.source is not None


def _server(subject: JudgedDocument, base_url: str) -> Iterator[Repair]:
    """Yield the base URL that the user named, where the document has another."""
    known = {tool.base_url.rstrip("/") for tool in subject.tools if tool.base_url and not tool.base_url_is_guess}
    if not base_url or known == {base_url.rstrip("/")}:
        return
    reason = f"calls go to {base_url}, where the API answers"
    if _is_swagger(subject):
        parts = urlsplit(base_url)
        update = {"host": parts.netloc, "basePath": parts.path or "/", "schemes": [parts.scheme]}
        remove = ["schemes"] if "schemes" in subject.document.as_written().root else []
        yield Repair(rule="server-missing", location=(), reason=reason, update=update, remove=tuple(remove))
        return
    remove = ["servers"] if "servers" in subject.root else []
    update = {"servers": [{"url": base_url}]}
    yield Repair(rule="server-missing", location=(), reason=reason, update=update, remove=tuple(remove))
    for operation in subject.operations:
        if isinstance(operation.value.get("servers"), list):
            yield from _repair(subject, "server-missing", operation.pointer, reason, {}, remove=["servers"])


def _security(subject: JudgedDocument, drifts: Iterable[Drift], answered: frozenset[str]) -> Iterator[Repair]:
    """Yield the credential that the API demands, or that the document declares and never uses."""
    open_tools = {tool.name for tool in subject.tools if not tool.security}
    messages = {drift.tool: drift.message for drift in drifts if drift.kind == refusals.DEMANDED_CREDENTIAL}
    demanded = {name: message for name, message in messages.items() if name in open_tools}
    unused = unused_schemes(subject)
    if not demanded and not unused:
        return
    names, added = _scheme_for(subject, next(iter(demanded.values()), ""), unused)
    if not names:
        return
    rule = "security-missing" if demanded else "security-unused"
    reason = (
        f"the API demands a credential ({len(demanded)} tools)" if demanded else f"{names[0]} is declared and unused"
    )
    root = subject.document.as_written().root
    update: dict[str, Any] = {"security": [{name: []} for name in names]}
    if added:
        update |= {"securityDefinitions": added} if _is_swagger(subject) else {"components": {"securitySchemes": added}}
    remove = ("security",) if "security" in root else ()
    yield Repair(rule=rule, location=(), reason=reason, update=update, remove=remove)
    for tool in subject.tools:
        operation = subject.operation_of(tool)
        if operation is None:
            continue
        if tool.name in answered and tool.name not in demanded:
            yield from _repair(subject, rule, operation.pointer, f"{tool.name} answers without one", {"security": []})
        elif tool.name in demanded and "security" in operation.value:
            yield from _repair(subject, rule, operation.pointer, f"{tool.name} demands one", {}, remove=["security"])


_BY_CHALLENGE: Final = re.compile(r"\b(bearer|basic|digest)\b", re.IGNORECASE)


def _scheme_for(subject: JudgedDocument, challenge: str, unused: Sequence[str]) -> tuple[list[str], Mapping[str, Any]]:
    """Return the names of the schemes that fit a challenge, and a scheme to be declared where none does."""
    components = subject.root.get("components")
    declared = components.get("securitySchemes") if isinstance(components, dict) else None
    declared = declared if isinstance(declared, dict) else {}
    match = _BY_CHALLENGE.search(challenge.partition("(")[2])
    wanted = match[1].lower() if match else ""
    fitting = [name for name, scheme in declared.items() if wanted and _fits(scheme, wanted)]
    if fitting or unused:
        return fitting or list(unused), {}
    if declared:
        return list(declared), {}
    if not wanted:
        return [], {}
    if _is_swagger(subject):
        return (["basic"], {"basic": {"type": "basic"}}) if wanted == "basic" else ([], {})
    return [wanted], {wanted: {"type": "http", "scheme": wanted}}


def _fits(scheme: Any, challenge: str) -> bool:
    if not isinstance(scheme, dict):
        return False
    if scheme.get("type") in ("oauth2", "openIdConnect"):
        return challenge == "bearer"
    return scheme.get("type") == "http" and str(scheme.get("scheme")).lower() == challenge


def _texts(subject: JudgedDocument) -> Iterator[Repair]:
    """Yield operationIds and texts of operations without."""
    ids = [operation.operation_id for operation in subject.operations]
    names = {f"{tool.method} {tool.path}": tool.name for tool in subject.tools}
    for operation in subject.operations:
        update: dict[str, Any] = {}
        used = operation.operation_id
        if (used is None or ids.count(used) > 1) and names[operation.label] != used:
            update["operationId"] = names[operation.label]
            rule = "operation-id-missing" if used is None else "operation-id-duplicate"
            yield from _repair(
                subject, rule, operation.pointer, f"{operation.label} is {update['operationId']}", update
            )
        if not any(plain_text.clean(operation.value.get(name)) for name in ("summary", "description")):
            texts = {"summary": summary_of(operation), "description": description_of(subject, operation)}
            yield from _repair(subject, "summary-missing", operation.pointer, f"{operation.label} has no text", texts)


def _of_drift(subject: JudgedDocument, operation: Operation, drift: Drift) -> Iterator[Repair]:
    if drift.kind == "type" and drift.side == "response":
        yield from _type(subject, operation, drift, _sent_type(drift.message))
    elif drift.kind == refusals.REFUSED_TYPE:
        yield from _type(subject, operation, drift, drift.message.rpartition(" ")[2])
    elif drift.kind == "required" and drift.side == "response":
        yield from _not_required(subject, operation, drift)
    elif drift.kind == refusals.REFUSED_MISSING:
        yield from _required(subject, operation, drift)
    elif drift.kind == refusals.REFUSED_MEDIA_TYPE:
        accepted = re.findall(r"[\w.+-]+/[\w.+-]+", drift.message.partition("(")[2])
        yield from _media_type(subject, operation, join(operation.pointer, "requestBody"), accepted[:1], drift)
    elif drift.kind == "content type" and drift.side == "response" and re.match(r"\d{3} ?", drift.where):
        sent = re.findall(r"^[\w.+-]+/[\w.+-]+", drift.message)
        yield from _media_type(subject, operation, join(operation.pointer, "responses", drift.where[:3]), sent, drift)


def _sent_type(message: str) -> str:
    """Return the JSON type of the value that a message begins with; it may be cut."""
    value = message.partition(" is not ")[0]
    for pattern, name in (
        (r'"', "string"), (r"\{", "object"), (r"\[", "array"), (r"null$", "null"), (r"(true|false)$", "boolean"),
        (r"-?\d+$", "integer"), (r"-?[\d.]+([eE][+-]?\d+)?$", "number"),
    ):  # fmt: skip
        if re.match(pattern, value):
            return name
    return ""


def _type(subject: JudgedDocument, operation: Operation, drift: Drift, kind: str) -> Iterator[Repair]:
    found = places.schema_at(subject, operation, drift.where)
    if found is None or not kind or kind not in _KINDS:
        return
    schema, pointer = found
    rule = "drift-refused" if drift.kind == refusals.REFUSED_TYPE else "drift-schema"
    reason = f"{operation.label}, {drift.where}: {drift.message}"
    declared = schema.get("type")
    if kind == "null":
        if schema.get("nullable") is True:
            return
        if _is_swagger(subject):
            yield from _repair(subject, rule, pointer, reason, {"x-nullable": True})
        elif subject.document.version == "3.0":
            yield from _repair(subject, rule, pointer, reason, {"nullable": True})
        elif isinstance(declared, str):
            yield from _repair(subject, rule, pointer, reason, {"type": [declared, "null"]}, remove=["type"])
        return
    unfit = [name for name in ("format", "pattern", "enum", "minLength", "maxLength") if name in schema]
    unfit = unfit if declared == "string" else []
    if isinstance(declared, str) and declared != kind:
        update = {"type": kind, **({"items": {}} if kind == "array" else {})}
        if _is_swagger(subject) and "parameters" in split(subject.display(pointer)):
            pointer = pointer.removesuffix("/schema")
        yield from _repair(subject, rule, pointer, reason, update, remove=unfit)
    elif isinstance(declared, list) and kind not in declared:
        yield from _repair(subject, rule, pointer, reason, {"type": [*declared, kind]}, remove=["type"])


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
        yield from _repair(subject, "drift-schema", join(pointer, "required"), reason, {}, remove=[name])


def _required(subject: JudgedDocument, operation: Operation, drift: Drift) -> Iterator[Repair]:
    reason = f"{operation.label}, {drift.where}: {drift.message}"
    if parameter := places.parameter_at(subject, operation, drift.where):
        yield from _repair(subject, "drift-refused", parameter[1], reason, {"required": True})
    elif holder := _holder(subject, operation, drift.where):
        schema, pointer, name = holder
        if name not in (schema.get("required") or []):
            yield from _repair(subject, "drift-refused", pointer, reason, {"required": [name]})
    elif drift.where == "body":
        node, pointer = subject.request_body(operation)
        if node and not node.get("required"):
            yield from _repair(subject, "drift-refused", pointer, reason, {"required": True})


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
    if _is_swagger(subject):
        return
    old, media, _ = found[0]
    reason = f"{operation.label}, {drift.where}: {drift.message}"
    yield from _repair(subject, "drift-media-type", join(place, "content"), reason, {wanted[0]: media}, remove=[old])
