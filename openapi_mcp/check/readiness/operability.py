"""The signals of JAIRF about agents' use of an API, and about its security."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from ...runtime.tool import READ_ONLY_METHODS
from ...tools.operations import Operation
from ..exposure import is_internal
from ..similarity import distinctiveness
from ..subject import JudgedDocument
from .signals import Signal, coverage

ENDPOINT_BASELINE: Final = 50
DEPTH_BASELINE: Final = 8
"""Count of endpoints and depth of schemas whose normalised value is 1 (JAIRF, "Complexity Comfort")."""

_STRENGTHS: Final[Mapping[str, float]] = {
    "basic": 0.10, "oauth": 0.20, "digest": 0.20, "scram-sha-1": 0.25, "negotiate": 0.35, "bearer": 0.60, "vapid": 0.60,
    "scram-sha-256": 0.65, "privatetoken": 0.75, "hoba": 0.80, "concealed": 0.85, "dpop": 0.90, "gnap": 0.90,
    "mutual": 0.95, "password": 0.30, "implicit": 0.35, "clientcredentials": 0.85, "authorizationcode": 0.90,
    "openidconnect": 1.00, "mutualtls": 1.00,
}  # fmt: skip
"""Strengths of HTTP schemes, OAuth flows and types (JAIRF, "Auth Strength")."""

_PAGING: Final = re.compile(
    r"page|per_?page|page_?(size|number|token)|limit|offset|cursor|after|before|starting_after|skip|top|\$top|\$skip|size"
    r"|count|max_?results|next_?token",
    re.IGNORECASE,
)
_LINKS: Final = re.compile(r'"(_?links|next|self|href)":')
_SECRET: Final = re.compile(r"\b(sk_live_\w{16,}|AKIA[0-9A-Z]{16}|ghp_\w{36}|xox[bp]-\d{6,}-\w+|AIza[\w-]{35})")
"""Forms of keys of well-known services."""


def usability(subject: JudgedDocument) -> Iterator[Signal]:
    """Yield the signals of Agent Usability."""
    operations = subject.operations
    depth = _depth(subject.root.get("components"))
    raw = 0.5 * min(1, len(operations) / ENDPOINT_BASELINE) + 0.5 * min(1, depth / DEPTH_BASELINE)
    yield Signal(
        "complexity_comfort",
        1 / (1 + math.exp(6 * (raw - 0.45))),
        f"{len(operations):,} operations, schemas {depth} deep",
    )
    yield Signal("distinctiveness", distinctiveness(subject.tools), "1 less the words shared with the nearest tool")
    yield _navigation(subject)
    protected = _protected(subject)
    safe = sum(each.method in READ_ONLY_METHODS or each.label in protected for each in operations)
    correct = len(operations) - sum(_is_misused(each) for each in operations)
    total = max(len(operations), 1)
    reason = f"{correct:,} methods as named, {safe:,} of {len(operations):,} read or need a credential"
    yield Signal("safety", (correct + safe) / (2 * total) if operations else 1.0, reason)
    lost = subject.bridge.compilation.lost_operations
    yield coverage("tool_calling_alignment", len(subject.tools), len(subject.tools) + lost, "operations became tools")


def _navigation(subject: JudgedDocument) -> Signal:
    """Return `navigation`: 0.6 of pagination and 0.4 of hypermedia, with the bonus for links."""
    lists = [each for each in subject.operations if each.method == "GET" and not each.path.endswith("}")]
    paged = sum(any(_PAGING.fullmatch(str(node.get("name"))) for node, _ in subject.parameters(each)) for each in lists)
    answers = [(node, pointer) for each in subject.operations for status, node, pointer in subject.responses(each)
               if status.startswith("2")]  # fmt: skip
    linked = sum("links" in node or bool(_LINKS.search(json.dumps(node)[:20_000])) for node, _ in answers)
    documented = sum("links" in node for node, _ in answers)
    pagination = paged / len(lists) if lists else 1.0
    hypermedia = linked / len(answers) if answers else 1.0
    bonus = 1 + 0.03 * (documented / len(answers) if answers else 0.0)
    reason = f"{paged:,} of {len(lists):,} lists have pages, {linked:,} of {len(answers):,} answers links"
    return Signal("navigation", min(1.0, (0.6 * pagination + 0.4 * hypermedia) * bonus), reason)


def _is_misused(operation: Operation) -> bool:
    """Return whether a method that must be idempotent or read is used for something else, by its name."""
    name = (operation.operation_id or "").lower()
    return operation.method in READ_ONLY_METHODS and name.startswith(("delete", "create", "update", "remove"))


def _protected(subject: JudgedDocument) -> set[str]:
    return {f"{tool.method} {tool.path}" for tool in subject.tools if tool.security and () not in tool.security}


def security(subject: JudgedDocument) -> Iterator[Signal]:
    """Yield the signals of Security."""
    sensitive = [each.label for each in subject.operations if each.method not in READ_ONLY_METHODS]
    protected = _protected(subject)
    yield coverage(
        "auth_coverage", sum(each in protected for each in sensitive), len(sensitive),
        "operations that change something need a credential",
    )  # fmt: skip
    schemes = _schemes(subject)
    strengths = [_strength(scheme) for scheme in schemes]
    mean = sum(strengths) / len(strengths) if strengths else 1.0
    yield Signal("auth_strength", mean, f"{len(schemes)} security schemes")
    hosts = [urlsplit(tool.base_url) for tool in subject.tools if tool.base_url and not tool.base_url_is_guess]
    public = [host for host in hosts if not is_internal(host.hostname or "")]
    yield coverage("transport_security", sum(host.scheme == "https" for host in public), len(public), "tools use https")
    found = any(_SECRET.search(text) for text in _texts_outside_examples(subject.root))
    yield Signal(
        "secret_hygiene", 0.0 if found else 1.0, "a text has the form of a key" if found else "no key in a text"
    )


def _texts_outside_examples(root: Any) -> Iterator[str]:
    """Yield the texts of a document but those of examples, which have the form of keys where they explain them."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            waiting += (value for name, value in node.items() if name not in ("example", "examples"))


def _schemes(subject: JudgedDocument) -> list[Mapping[str, Any]]:
    components = subject.root.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, dict) else None
    nodes = schemes.items() if isinstance(schemes, dict) else ()
    return [subject.follow(node, f"#/components/securitySchemes/{name}")[0] for name, node in nodes]


def _strength(scheme: Mapping[str, Any]) -> float:
    kind = str(scheme.get("type")).lower()
    if kind == "apikey":
        return 0.15 if scheme.get("in") == "query" else 0.50
    if kind == "oauth2":
        flows = scheme.get("flows")
        return max(
            (_STRENGTHS.get(name.lower(), 0.0) for name in (flows if isinstance(flows, dict) else {})), default=0.0
        )
    name = str(scheme.get("scheme")).lower() if kind == "http" else kind
    if name == "bearer" and str(scheme.get("bearerFormat")).upper() == "JWT":
        return 0.75
    return _STRENGTHS.get(name, 0.0)


def _depth(components: Any) -> int:
    """Return the levels of properties and items of the deepest schema, where it stands; references are not followed."""
    schemas = components.get("schemas") if isinstance(components, dict) else None
    level = list(schemas.values()) if isinstance(schemas, dict) else []
    depth = 0
    while level and depth < 2 * DEPTH_BASELINE:
        depth += 1
        level = [inner for schema in level if isinstance(schema, dict) for inner in _inner(schema)]
    return depth


def _inner(schema: Mapping[str, Any]) -> Iterator[Any]:
    properties = schema.get("properties")
    yield from (properties.values() if isinstance(properties, dict) else ())
    if isinstance(schema.get("items"), dict):
        yield schema["items"]
    for keyword in ("allOf", "oneOf", "anyOf"):
        branches = schema.get(keyword)
        yield from (
            each for each in (branches if isinstance(branches, list) else ()) if "properties" in str(each)[:2000]
        )
