"""Repairs: what a rule can put right in a document, from its own parts and from what traffic showed.

Each is an addition or a replacement at one place, with the reason for it. Nothing is invented: a text is made of
method, path and answer, a type is the one that was sent or demanded, a credential is one that the document or the API
names. What would need a person's knowledge stays a finding. Repairing a repaired document finds nothing more.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from ... import plain_text
from ...contract import refusals
from ...contract.checker import Drift
from ...runtime.request.redaction import without_secrets
from ...tools.names import ToolKey, tool_names, words
from ...tools.operations import Operation
from ..subject import JudgedDocument
from ..texts import undescribed_responses
from .change import Repair, is_swagger, repair
from .credentials import security_repairs
from .drift import drift_repairs
from .summaries import answer_of, summary_of

MAX_REPAIRS: Final = 2_000
"""Repairs of one run; an overlay of more is nobody's to read."""

MAX_NAMED: Final = 10
"""Operations that get an operationId. A document where more have none does without; its tools have names anyway."""


def repairs_of(
    subject: JudgedDocument,
    drifts: Iterable[Drift] = (),
    answered: Iterable[str] = (),
    base_url: str = "",
    accepted: Mapping[str, Sequence[str]] = {},
) -> Iterator[Repair]:
    """Yield the repairs of a document.

    `answered` names tools that the API answered without demanding a credential, `accepted` the credentials that it
    takes for a tool.
    """
    drifts = tuple(_without_contradictions(drifts))
    yield from _server(subject, base_url)
    yield from security_repairs(subject, drifts, frozenset(answered), accepted)
    yield from _texts(subject)
    tools = {tool.name: tool for tool in subject.tools}
    for drift in sorted(drifts, key=_is_null):
        tool = tools.get(drift.tool)
        operation = subject.operation_of(tool) if tool else None
        if operation is not None:
            yield from drift_repairs(subject, operation, drift)


def _without_contradictions(drifts: Iterable[Drift]) -> Iterator[Drift]:
    """Yield drifts but those that say of a property that answers lack it, where requests are refused without it."""
    found = tuple(drifts)
    demanded = {drift.where.rpartition(".")[2] for drift in found if drift.kind == refusals.REFUSED_MISSING}
    for drift in found:
        if drift.kind != "required" or drift.where.rpartition(".")[2] not in demanded:
            yield drift


def _is_null(drift: Drift) -> bool:
    """Return whether a drift says that a value may be null, which is added to the type that others show."""
    return drift.message.startswith("null ")


def _server(subject: JudgedDocument, base_url: str) -> Iterator[Repair]:
    """Yield the base URL that the user named, without its secrets, where the document has another.

    Operations with a server of their own keep it: uploads may go elsewhere.
    """
    base_url = without_secrets(base_url)
    operations = [(tool, subject.operation_of(tool)) for tool in subject.tools]
    usual = [tool for tool, operation in operations if operation is None or "servers" not in operation.value]
    known = {tool.base_url.rstrip("/") for tool in usual if tool.base_url and not tool.base_url_is_guess}
    if not base_url or not usual or known == {base_url.rstrip("/")}:
        return
    reason = f"calls go to {base_url}, where the API answers"
    if is_swagger(subject):
        parts = urlsplit(base_url)
        update = {"host": parts.netloc, "basePath": parts.path or "/", "schemes": [parts.scheme]}
        remove = ["schemes"] if "schemes" in subject.document.as_written().root else []
        yield Repair(rule="server-missing", location=(), reason=reason, update=update, remove=tuple(remove))
        return
    listed = subject.root.get("servers")
    if isinstance(listed, list) and len(listed) == 1 and isinstance(listed[0], dict):
        yield Repair(rule="server-missing", location=("servers", 0), reason=reason, update={"url": base_url})
        return
    remove = ["servers"] if "servers" in subject.root else []
    servers = {"servers": [{"url": base_url}]}
    yield Repair(rule="server-missing", location=(), reason=reason, update=servers, remove=tuple(remove))


def _texts(subject: JudgedDocument) -> Iterator[Repair]:
    """Yield operationIds and texts of operations without."""
    names = list(_new_names(subject))
    for operation, name in names if len(names) <= MAX_NAMED else ():
        rule = "operation-id-missing" if operation.operation_id is None else "operation-id-duplicate"
        yield from repair(subject, rule, operation.pointer, f"{operation.label} is {name}", {"operationId": name})
    for operation in subject.operations:
        if not any(plain_text.clean(operation.value.get(name)) for name in ("summary", "description")):
            texts = {"summary": summary_of(operation)}
            yield from repair(subject, "summary-missing", operation.pointer, f"{operation.label} has no text", texts)
            if answer := answer_of(subject, operation):
                more = {"description": answer}
                yield from repair(
                    subject, "description-missing", operation.pointer, f"{operation.label}: {answer}", more
                )
    yield from _response_texts(subject)


ANY_STATUS: Final = "As HTTP defines this status (RFC 9110)."
"""The description of responses that have none, where these are many."""

MAX_SINGLE_RESPONSES: Final = 2
"""Responses that are described one by one."""

_UNDESCRIBED: Final = "$.paths[*][*].responses[?!@.description && !@['$ref']]"
_UNDESCRIBED_SHARED: Final = "$.components.responses[?!@.description && !@['$ref']]"


def _response_texts(subject: JudgedDocument) -> Iterator[Repair]:
    """Yield the descriptions of responses, which OpenAPI requires."""
    components = subject.root.get("components")
    shared = components.get("responses") if isinstance(components, dict) else None
    nodes = shared.values() if isinstance(shared, dict) and not is_swagger(subject) else ()
    if any(isinstance(each, dict) and not each.keys() & {"$ref", "description"} for each in nodes):
        yield Repair(
            rule="response-undescribed",
            location=(),
            query=_UNDESCRIBED_SHARED,
            reason="shared responses have no description",
            update={"description": ANY_STATUS},
        )
    missing = [(each, *found) for each in subject.operations for found in undescribed_responses(each)]
    rule = "response-undescribed"
    if len(missing) > MAX_SINGLE_RESPONSES:
        reason = f"{len(missing)} responses have no description"
        yield Repair(rule=rule, location=(), query=_UNDESCRIBED, reason=reason, update={"description": ANY_STATUS})
        return
    for operation, status, pointer in missing:
        yield from repair(subject, rule, pointer, f"{operation.label}: {status}", {"description": _phrase(status)})


def _phrase(status: str) -> str:
    """Return what a status means (RFC 9110 §15)."""
    kinds = {"1": "Information", "2": "Success", "3": "Redirection", "4": "Refusal", "5": "Failure"}
    try:
        return HTTPStatus(int(status)).phrase
    except ValueError:
        return kinds.get(status[:1], "Any other answer")


def _new_names(subject: JudgedDocument) -> Iterator[tuple[Operation, str]]:
    """Yield an operationId, of method and path, for operations without one, or with one that another fits better."""
    owners: dict[str, Operation] = {}
    for operation in subject.operations:
        if name := operation.operation_id:
            owners[name] = max(owners.get(name, operation), operation, key=_common_words)
    own = [owners.get(each.operation_id or "") is each for each in subject.operations]
    keys = [
        ToolKey(each.method, each.path, each.operation_id if is_own else None)
        for each, is_own in zip(subject.operations, own, strict=True)
    ]
    for operation, is_own, name in zip(subject.operations, own, tool_names(keys), strict=True):
        if not is_own:
            yield operation, name


def _common_words(operation: Operation) -> int:
    """Return how many words of the operationId the method, the path and the summary have."""
    text = f"{operation.method} {operation.path} {plain_text.line(operation.value.get('summary'))}"
    return len({*words(operation.operation_id or "")} & {*words(text)})
