"""The table of rules that `check` judges documents by, and `Finding`, one violation of a rule.

docs/check.md describes each rule under its id.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "note"]

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")
"""From the worst to the least."""

MAX_FINDINGS_OF_RULE: Final = 200
"""Findings of one rule that are listed, so that a document with 20,000 untitled operations has a readable report; the
others are counted."""


@dataclass(frozen=True, slots=True)
class CheckRule:
    """A rule: its id, how bad a violation is, what it demands in a sentence, and the cure."""

    id: str
    severity: Severity
    title: str
    cure: str
    repairable: bool = False
    """`check --fix` writes an overlay for it, where it knows enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A violation of a rule.

    `pointer` is a URI reference as that of a Problem; `line` counts from 1 in the root document, None where it is not
    known. `operation` is `GET /pets`, empty where the finding is about the whole.
    """

    rule: str
    pointer: str
    message: str
    operation: str = ""
    cure: str = ""
    line: int | None = None

    @property
    def severity(self) -> Severity:
        """The severity of its rule."""
        return RULES[self.rule].severity


_RULES: Final = (
    CheckRule("document-problem", "warning", "The document has no defects.", "Correct the document at the pointer."),
    CheckRule("operation-lost", "error", "Every operation becomes a tool.", "Correct the document at the pointer."),
    CheckRule("document-invalid", "warning", "The document follows its specification.", "Correct the document."),
    CheckRule("summary-missing", "warning", "An operation has a summary or a description.",
         "Say in a few words what the operation does.", repairable=True),
    CheckRule("description-missing", "note", "An operation has a description.",
         "Say when to use the operation and what it returns."),
    CheckRule("text-repeats-name", "warning", "A description says more than the name.",
         "Say what the operation does, or leave the description out."),
    CheckRule("text-placeholder", "warning", "No text is a placeholder.", "Write the text."),
    CheckRule("text-duplicate", "warning", "No two operations have the same texts.",
              "Say what tells the operations apart."),
    CheckRule("text-contradicts-method", "warning", "A summary says what the method does.",
         "Correct the summary or the method."),
    CheckRule("response-undescribed", "note", "A response has a description, which OpenAPI requires.",
              "Say what the response means.", repairable=True),
    CheckRule("argument-undescribed", "note", "An argument has a description, or a name that says it all.",
         "Describe the parameter or property."),
    CheckRule("operation-id-missing", "note", "An operation has an operationId.",
         "Give it one: it is the name of the tool.", repairable=True),
    CheckRule("operation-id-duplicate", "warning", "Each operationId is unique.",
         "Rename all but one of them.", repairable=True),
    CheckRule("name-ambiguous", "note", "The name of a tool says what it does.", "Name it with a verb and a noun."),
    CheckRule("tools-alike", "warning", "No two tools look alike.",
              "Rename them, or say in their texts when to use which."),
    CheckRule("tool-large", "warning", "A tool costs a model at most 2,000 tokens.",
         "Shorten its descriptions and schema, or serve with --compact."),
    CheckRule("list-large", "warning", "All tools together cost at most 64,000 tokens.",
         "Serve fewer tools (--include, --read-only), or let them be searched (--mode search)."),
    CheckRule("client-limit", "warning", "Clients accept all tools.", "Serve fewer tools, or let them be searched."),
    CheckRule("client-change", "note", "The client of --client takes a tool as it is.",
         "Serve with the same --client: it lists the tool so that the client takes it."),
    CheckRule("annotation-unsafe", "error", "A tool that reads changes nothing.",
         "Use another method, or set x-mcp.annotations.readOnlyHint to false."),
    CheckRule("annotation-uncertain", "note", "A POST says whether it destroys something.",
         "Set x-mcp.annotations.destructiveHint, or readOnlyHint for one that only reads."),
    CheckRule("server-missing", "error", "The document says where the API is.", "Add `servers`, or use --base-url.",
         repairable=True),
    CheckRule("server-plain-http", "warning", "A public API is called over https.", "Use an https URL in `servers`."),
    CheckRule("security-unused", "warning", "A declared security scheme is used.",
         "Name it in `security`, or remove it.", repairable=True),
    CheckRule("security-missing", "error", "The document names the credential that the API demands.",
         "Add `security` and its scheme.", repairable=True),
    CheckRule("security-uncovered", "note", "Operations that change something need a credential.",
         "Add `security`, where the API demands a credential."),
    CheckRule("drift-status", "warning", "The API answers with documented statuses.", "Document the response."),
    CheckRule("drift-media-type", "warning", "The API speaks the documented media types.",
         "Correct the media type.", repairable=True),
    CheckRule("drift-schema", "warning", "Messages match the documented schemas.",
              "Correct the schema.", repairable=True),
    CheckRule("drift-refused", "error", "The API accepts what the document allows.",
         "Correct the document where the API refuses it.", repairable=True),
    CheckRule("probe-failed", "warning", "The API answers.", "Check the URL of --probe and the credentials."),
    CheckRule("example-missing", "note", "An answer has an example.",
         "Add an example of the response.", repairable=True),
)  # fmt: skip

RULES: Final[Mapping[str, CheckRule]] = {rule.id: rule for rule in _RULES}
"""The rules by id."""


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings, each once, the worst first, those of one rule together in the document's order."""
    order = {rule.id: (SEVERITIES.index(rule.severity), place) for place, rule in enumerate(_RULES)}
    return sorted(dict.fromkeys(findings), key=lambda finding: order[finding.rule])


def listed(findings: Iterable[Finding]) -> tuple[list[Finding], dict[str, int]]:
    """Return at most MAX_FINDINGS_OF_RULE findings of each rule, and the number of the others by rule."""
    counts: dict[str, int] = {}
    shown = []
    for finding in ranked(findings):
        counts[finding.rule] = counts.get(finding.rule, 0) + 1
        if counts[finding.rule] <= MAX_FINDINGS_OF_RULE:
            shown.append(finding)
    rest = {rule: count - MAX_FINDINGS_OF_RULE for rule, count in counts.items() if count > MAX_FINDINGS_OF_RULE}
    return shown, rest


def numbered(findings: Iterable[Finding], lines: Mapping[str, int]) -> list[Finding]:
    """Return findings with their lines, by pointer; a place that has no line gets that of what it is in."""
    return [replace(finding, line=_line(finding.pointer, lines)) for finding in findings]


def _line(pointer: str, lines: Mapping[str, int]) -> int | None:
    while pointer and pointer not in lines:
        pointer = pointer.rpartition("/")[0]
    return lines.get(pointer)
