"""Repairs of security: the credentials that an API demands, or that its document declares and never uses.

Specification: RFC 9110 §11.6.1 (`WWW-Authenticate`); OpenAPI 3.2 Security Requirement Object.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ...contract import refusals
from ...contract.checker import Drift
from ...runtime.tool import Tool
from ..exposure import unused_schemes
from ..subject import JudgedDocument
from .change import Repair, is_swagger, repair

RULE: Final = "security-missing"

_CHALLENGE: Final = re.compile(r"\((\w+)")
"""The scheme of a challenge, in the message of a finding."""


def security_repairs(
    subject: JudgedDocument, drifts: Iterable[Drift], answered: frozenset[str], accepted: Mapping[str, Sequence[str]]
) -> Iterator[Repair]:
    """Yield what says which credentials operations need.

    `answered` names tools that the API answered without demanding one, `accepted` the schemes that it takes for a tool.
    """
    open_tools = {tool.name: tool for tool in subject.tools if not tool.security}
    demanded: dict[str, tuple[str, ...]] = {}
    added: dict[str, Any] = {}
    for drift in drifts:
        if drift.kind == refusals.DEMANDED_CREDENTIAL and drift.tool in open_tools:
            names, new = _schemes_for(subject, drift.message)
            demanded[drift.tool] = names
            added |= new
    demanded = {tool: names for tool, names in demanded.items() if names}
    if demanded:
        yield from _demanded(subject, demanded, added, answered - demanded.keys())
    elif not answered and (unused := unused_schemes(subject)):
        yield from _root(subject, "security-unused", f"{unused[0]} is declared and unused", tuple(unused), {})
    yield from _accepted(subject, accepted)


def _demanded(
    subject: JudgedDocument, demanded: Mapping[str, tuple[str, ...]], added: Mapping[str, Any], free: frozenset[str]
) -> Iterator[Repair]:
    """Yield the credentials of tools: for the whole document, and others for the tools that differ.

    Where more tools need none than need one, each that does says so itself.
    """
    usual = Counter(demanded.values()).most_common(1)[0][0] if len(free) <= len(demanded) else ()
    reason = f"the API demands a credential of {len(demanded)} tools"
    yield from _root(subject, RULE, reason, usual, added)
    wanted: dict[tuple[str, ...] | None, list[str]] = defaultdict(list)
    for name, schemes in demanded.items():
        if schemes != usual:
            wanted[schemes].append(name)
        else:
            wanted[None].append(name)
    wanted[()] += sorted(free) if usual else []
    for names, tools in wanted.items():
        yield from _of_tools(subject, names, tools)


def _of_tools(subject: JudgedDocument, schemes: tuple[str, ...] | None, names: Iterable[str]) -> Iterator[Repair]:
    """Yield the requirement of tools, in one change for all path items that have no other operations."""
    chosen = set(names)
    by_path: dict[str, list[Tool]] = defaultdict(list)
    for tool in subject.tools:
        by_path[tool.path].append(tool)
    whole = [path for path, tools in by_path.items() if _are_alike(subject, tools, chosen)]
    if schemes is not None and len(whole) > 1 and not is_swagger(subject):
        reason = f"{len(whole)} paths need {' or '.join(schemes) or 'no credential'}"
        keys = ", ".join(f"'{path}'" for path in whole)
        update = {"security": _requirements(schemes)}
        yield Repair(rule=RULE, location=(), reason=reason, query=f"$.paths[{keys}][?@.responses]", update=update)
        chosen -= {tool.name for path in whole for tool in by_path[path]}
    for tool in subject.tools:
        if tool.name in chosen and (schemes is not None or "security" in _fields(subject, tool)):
            need = "the usual credential" if schemes is None else " or ".join(schemes) or "no credential"
            yield from _of_tool(subject, tool, schemes, f"{tool.name} needs {need}")


def _are_alike(subject: JudgedDocument, tools: Sequence[Tool], chosen: Collection[str]) -> bool:
    """Return whether all operations of a path are chosen and can be selected: each has `responses`, and no security."""
    item = subject.root.get("paths", {}).get(tools[0].path)
    if not isinstance(item, dict) or "$ref" in item or "'" in tools[0].path or "\\" in tools[0].path:
        return False
    found = [each for each in item.values() if isinstance(each, dict) and "responses" in each]
    return (
        all(tool.name in chosen for tool in tools)
        and len(found) == len(tools)
        and not any("security" in each for each in found)
    )


def _root(
    subject: JudgedDocument, rule: str, reason: str, schemes: Sequence[str], added: Mapping[str, Any]
) -> Iterator[Repair]:
    """Yield the requirement of the whole document, and the schemes that it does not declare yet."""
    update: dict[str, Any] = {"security": _requirements(schemes)} if schemes else {}
    if added:
        place = {"securityDefinitions": added} if is_swagger(subject) else {"components": {"securitySchemes": added}}
        update |= place
    if update:
        remove = ("security",) if schemes and "security" in subject.document.as_written().root else ()
        yield Repair(rule=rule, location=(), reason=reason, update=update, remove=remove)


def _requirements(schemes: Iterable[str]) -> list[dict[str, Any]]:
    return [{name: []} for name in schemes]


def _of_tool(subject: JudgedDocument, tool: Tool, schemes: Sequence[str] | None, reason: str) -> Iterator[Repair]:
    """Yield the requirement of an operation; None: that of the document."""
    operation = subject.operation_of(tool)
    if operation is not None:
        update: dict[str, Any] = {} if schemes is None else {"security": _requirements(schemes)}
        remove = ["security"] if "security" in operation.value else []
        if update or remove:
            yield from repair(subject, RULE, operation.pointer, reason, update, remove=remove)


def _fields(subject: JudgedDocument, tool: Tool) -> Mapping[str, Any]:
    operation = subject.operation_of(tool)
    return operation.value if operation else {}


def _accepted(subject: JudgedDocument, accepted: Mapping[str, Sequence[str]]) -> Iterator[Repair]:
    """Yield the credentials of operations that take another than the document says first."""
    for tool in subject.tools:
        operation = subject.operation_of(tool)
        if operation is not None and tool.name in accepted:
            reason = f"{tool.name} takes {' and '.join(accepted[tool.name])}"
            update: dict[str, Any] = {"security": [{name: [] for name in accepted[tool.name]}]}
            remove = ["security"] if "security" in operation.value else []
            yield from repair(subject, RULE, operation.pointer, reason, update, remove=remove)


def _schemes_for(subject: JudgedDocument, message: str) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """Return the names of the declared schemes that fit a challenge, and a new scheme where none is declared.

    An API without a challenge takes keys, for which HTTP has none.
    """
    components = subject.root.get("components")
    declared = components.get("securitySchemes") if isinstance(components, dict) else None
    schemes = declared if isinstance(declared, dict) else {}
    match = _CHALLENGE.search(message)
    challenge = match[1].lower() if match and match[1] != "no" else ""
    fitting = tuple(name for name, scheme in schemes.items() if _fits(scheme, challenge))
    if fitting or schemes:
        return fitting or tuple(schemes), {}
    if challenge not in ("basic", "bearer", "digest") or (is_swagger(subject) and challenge != "basic"):
        return (), {}
    swagger = {"type": "basic"}
    return (challenge,), {challenge: swagger if is_swagger(subject) else {"type": "http", "scheme": challenge}}


def _fits(scheme: Any, challenge: str) -> bool:
    kind = scheme.get("type") if isinstance(scheme, dict) else None
    if kind in ("oauth2", "openIdConnect"):
        return challenge in ("bearer", "oauth", "oauth2", "openid")
    if kind == "http":
        return str(scheme.get("scheme")).lower() == challenge
    return kind == "apiKey" and not challenge
