"""The signals of JAIRF about structure, documentation and meaning, as far as no model is needed.

Each is a number from 0 to 1 with the counts that it comes from. Formulas, thresholds and names are those of Jentic's
API AI-Readiness Framework 0.2.0: https://github.com/jentic/api-ai-readiness-framework, docs/specification/spec.md.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ... import plain_text
from ...document.objects import FIELDS
from ..similarity import distinctiveness
from ..subject import JudgedDocument

STRUCTURAL_THRESHOLD: Final = 15
"""Structural issues from which `structural_integrity` is 0 (JAIRF, "Structural Integrity")."""

TOOLING_THRESHOLD: Final = 15
"""Problems of ingestion from which `tooling_readiness` is 0 (JAIRF, "Tooling Readiness")."""

_SUMMARISED: Final = ("Operation", "Tag")
"""Objects whose summaries are counted. JAIRF names operations, tags and info, and "every object with a `summary`"; that
of an info or path item exists in few versions and documents, and says nothing that title and path do not."""

_ERROR_MEDIA_TYPE: Final = "application/problem+json"
MAX_NODES: Final = 1_000_000
"""Objects of a document that are counted: four times those of the largest known."""


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal: JAIRF's name, its value from 0 to 1, and why."""

    name: str
    value: float
    reason: str


def coverage(name: str, present: int, expected: int, what: str) -> Signal:
    """Return a signal of coverage, which is 1 where nothing is expected (JAIRF, "Coverage Normalisation")."""
    return Signal(name, present / expected if expected else 1.0, f"{present:,} of {expected:,} {what}")


def foundation(subject: JudgedDocument, counts: "Census") -> Iterator[Signal]:
    """Yield the signals of Foundational Compliance."""
    problems = subject.bridge.problems
    fatal = sum(problem.kind == "version" for problem in problems)
    yield Signal("spec_validity", 1.0 if not fatal else 0.0, "the document parses" if not fatal else "unknown version")
    broken = sum(problem.kind == "reference" for problem in problems)
    yield coverage(
        "resolution_completeness", max(counts.references - broken, 0), counts.references, "references resolve"
    )
    damping = math.log10(1 + counts.structural) / math.log10(1 + STRUCTURAL_THRESHOLD)
    yield Signal("structural_integrity", max(0.0, 1 - damping), f"{counts.structural:,} structural issues of schemas")


def experience(subject: JudgedDocument, counts: "Census") -> Iterator[Signal]:
    """Yield the signals of Developer Experience & Tooling Compatibility."""
    yield coverage("example_density", counts.examples, counts.exemplary, "media types and parameters have an example")
    total = len(subject.operations)
    meaningful = sum(map(_has_meaningful_responses(subject), subject.operations))
    yield coverage("response_coverage", meaningful, total, "operations have a success and an error response")
    errors = len(subject.bridge.problems)
    yield Signal("tooling_readiness", max(0.0, 1 - errors / TOOLING_THRESHOLD), f"{errors:,} problems of compiling it")


def meaning(subject: JudgedDocument, counts: "Census") -> Iterator[Signal]:
    """Yield the signals of AI-Readiness & Agent Experience."""
    operations = subject.operations
    yield coverage("summary_coverage", counts.summaries, counts.summarised, "objects that can have a summary have one")
    yield coverage("description_coverage", counts.descriptions, counts.described, "objects have a description")
    yield Signal(
        "type_specificity",
        counts.types / counts.fields if counts.fields else 1.0,
        f"{counts.fields:,} fields, each from 0 (any type) to 1",
    )
    policies = sum("429" in statuses or limits for statuses, limits in map(_policies(subject), operations))
    yield coverage("policy_presence", policies, len(operations), "operations document limits (429, RateLimit headers)")
    standard = sum(map(_has_problem_details(subject), operations))
    yield coverage("error_standardization", standard, len(operations), "operations have errors of RFC 9457")
    named = sum(operation.operation_id is not None for operation in operations)
    share = named / len(operations) if operations else 1.0
    distinct = distinctiveness(subject.tools)
    yield Signal("opid_quality", share * distinct, f"{share:.0%} have an operationId; distinctiveness {distinct:.2f}")


def _has_meaningful_responses(subject: JudgedDocument) -> Callable[[Any], bool]:
    def judge(operation: Any) -> bool:
        statuses = [status for status, node, _ in subject.responses(operation) if node.get("description")]
        return any(status[:1] in "23" for status in statuses) and any(
            status[:1] in "45" or status == "default" for status in statuses
        )

    return judge


def _policies(subject: JudgedDocument) -> Callable[[Any], tuple[set[str], bool]]:
    def read(operation: Any) -> tuple[set[str], bool]:
        responses = list(subject.responses(operation))
        headers = [name for _, node, _ in responses for name in _mapping(node.get("headers"))]
        return {status for status, _, _ in responses}, any(
            "ratelimit" in name.lower().replace("-", "") for name in headers
        )

    return read


def _has_problem_details(subject: JudgedDocument) -> Callable[[Any], bool]:
    def judge(operation: Any) -> bool:
        return any(
            name.startswith(_ERROR_MEDIA_TYPE)
            for status, node, pointer in subject.responses(operation)
            if status[:1] in "45d"
            for name, _, _ in subject.media_types(node, pointer)
        )

    return judge


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


@dataclass(slots=True)
class Census:
    """Counts over all objects of a document, each where it stands."""

    summaries: int = 0
    summarised: int = 0
    descriptions: int = 0
    described: int = 0
    references: int = 0
    fields: int = 0
    types: float = 0.0
    examples: int = 0
    exemplary: int = 0
    structural: int = 0

    @classmethod
    def of(cls, root: Any) -> "Census":
        """Count the objects of a document of OpenAPI 3.x."""
        counts = cls()
        waiting: list[tuple[Any, str]] = [(root, "OpenAPI")]
        visited = 0
        while waiting and visited < MAX_NODES:
            visited += 1
            node, kind = waiting.pop()
            if isinstance(node, dict):
                counts._count(node, kind)
                waiting += _children(node, kind)
        return counts

    def _count(self, node: Mapping[str, Any], kind: str) -> None:
        if "$ref" in node:
            self.references += 1
            return
        fields = FIELDS.get(kind, {})
        if kind in _SUMMARISED:
            self.summarised += 1
            self.summaries += bool(plain_text.clean(node.get("summary")))
        if fields.get("description") == "text":
            self.described += 1
            self.descriptions += bool(plain_text.clean(node.get("description")))
        if kind in ("Parameter", "MediaType"):
            self.exemplary += 1
            self.examples += _has_example(node)
        if kind == "Schema":
            self._count_schema(node)

    def _count_schema(self, schema: Mapping[str, Any]) -> None:
        self.structural += _is_incoherent(schema)
        for field in _mapping(schema.get("properties")).values():
            self.fields += 1
            self.types += _specificity(_mapping(field))


def _children(node: Mapping[str, Any], kind: str) -> Iterator[tuple[Any, str]]:
    fields = FIELDS.get(kind, {})
    for name, value in node.items():
        holds = fields.get(name) or ("" if name.startswith("x-") else fields.get("*", ""))
        inner = holds.strip("[]{}")
        if not inner or inner == "text":
            continue
        if holds.startswith("[") and isinstance(value, list):
            yield from ((item, inner) for item in value)
        elif holds.startswith("{") and isinstance(value, dict):
            yield from ((item, inner) for item in value.values())
        else:
            yield value, inner


def _has_example(node: Mapping[str, Any]) -> bool:
    schema = _mapping(node.get("schema"))
    return any(name in each for each in (node, schema) for name in ("example", "examples", "default", "enum"))


def _specificity(field: Mapping[str, Any]) -> float:
    """Return the weight of a field's type (JAIRF, "Type Specificity")."""
    kinds = field.get("type")
    if "enum" in field or "const" in field:
        return 0.5
    if "string" in (kinds if isinstance(kinds, list) else [kinds]):
        return 0.75 if "format" in field or "pattern" in field else 0.25
    return 1.0 if kinds or field.keys() & {"$ref", "allOf", "oneOf", "anyOf"} else 0.0


def _is_incoherent(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema is one of JAIRF's structural issues, as far as one look shows it."""
    kind = schema.get("type")
    if kind == "object" and not schema.keys() - {"type", "description", "title", "additionalProperties"}:
        return schema.get("additionalProperties") is False
    if kind == "string" and str(schema.get("format")).startswith(("int", "float", "double")):
        return True
    if kind == "array" and "items" not in schema and "prefixItems" not in schema:
        return True
    return any(
        isinstance(schema.get(low), int | float)
        and isinstance(schema.get(high), int | float)
        and schema[low] > schema[high]
        for low, high in (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"))
    )
