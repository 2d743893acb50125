"""Rules about the texts of operations: missing, repeated, placeholders, and those that contradict the method."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from .. import plain_text
from ..document.model import join
from ..runtime.tool import DESTRUCTIVE_WORDS, READ_ONLY_METHODS, words
from ..tools.operations import Operation
from .rules import Finding
from .subject import JudgedDocument

_PLACEHOLDER: Final = re.compile(
    r"(lorem ipsum|\b(todo|tbd|fixme|xxx|foo ?bar)\b|^\W*(string|text|description|summary|title|your \w+ here"
    r"|(add|insert|write|enter)( a| the| your)? (description|summary|text)( here)?|n/?a|none|null|test|\.{2,}|-+)\W*$)",
    re.IGNORECASE,
)
"""Texts that stand where one should be written."""

_READING: Final = frozenset({"get", "gets", "list", "lists", "fetch", "fetches", "retrieve", "retrieves", "read"})
_CHANGING: Final[dict[str, str]] = {
    **dict.fromkeys(("create", "creates", "add", "adds"), "creates"),
    **dict.fromkeys(("update", "updates", "replace", "replaces", "modify"), "changes"),
    **dict.fromkeys(DESTRUCTIVE_WORDS | {"deletes", "removes"}, "removes"),
}
"""First words of summaries, and what they promise."""

_NAMES_THAT_SAY_IT: Final = 2
"""Words of a name that need no description: `page_size`, not `q`."""

MAX_UNDESCRIBED: Final = 5
"""Arguments that one finding names."""


def text_findings(subject: JudgedDocument) -> Iterator[Finding]:
    """Yield the findings about texts."""
    same: dict[tuple[str, str], list[Operation]] = defaultdict(list)
    for operation in subject.operations:
        summary = plain_text.line(operation.value.get("summary"))
        description = plain_text.clean(operation.value.get("description"))
        if summary or description:
            same[summary.casefold(), description.casefold()].append(operation)
        yield from _of_operation(subject, operation, summary, description)
        yield from _undescribed(subject, operation)
        if statuses := [status for status, _ in undescribed_responses(operation)]:
            message = f"no description of the responses {', '.join(statuses)}"
            yield _finding("response-undescribed", subject, operation, message)
    for (summary, description), group in same.items():
        if len(group) > 1:
            names = ", ".join(each.label for each in group[1:4]) + (", …" if len(group) > 4 else "")
            message = f"{group[0].label} has the same texts as {names}: {(summary or description)[:60]!r}"
            yield _finding("text-duplicate", subject, group[0], message)


def _of_operation(subject: JudgedDocument, operation: Operation, summary: str, description: str) -> Iterator[Finding]:
    if not summary and not description:
        yield _finding("summary-missing", subject, operation, "it has neither a summary nor a description")
        return
    if not description:
        yield _finding("description-missing", subject, operation, "it has a summary and no description")
    for field, text in (("summary", summary), ("description", description)):
        if _PLACEHOLDER.search(text[:200]):
            message = f"the {field} is a placeholder: {text[:60]!r}"
            yield _finding("text-placeholder", subject, operation, message)
    text = description or summary
    if operation.operation_id and words(text) == words(operation.operation_id):
        yield _finding("text-repeats-name", subject, operation, f"the text {text[:60]!r} is the operationId in words")
    elif summary and description and words(summary) == words(description):
        yield _finding("text-repeats-name", subject, operation, "the description repeats the summary")
    yield from _contradiction(subject, operation, summary)


def _contradiction(subject: JudgedDocument, operation: Operation, summary: str) -> Iterator[Finding]:
    """Yield a finding for a summary whose first word promises something else than the method."""
    first = next(iter(words(summary)), "")
    method = operation.method
    promise = _CHANGING.get(first, "reads" if first in _READING else "")
    contradicts = (
        (promise in ("creates", "changes", "removes") and method in READ_ONLY_METHODS)
        or (promise == "reads" and method in ("PUT", "PATCH", "DELETE"))
        or (promise in ("creates", "changes") and method == "DELETE")
        or (promise == "removes" and method == "PUT")
    )
    if contradicts:
        message = f"the summary {summary[:60]!r} says that it {promise}, but the method is {method}"
        yield _finding("text-contradicts-method", subject, operation, message)


def _undescribed(subject: JudgedDocument, operation: Operation) -> Iterator[Finding]:
    names = [
        str(node.get("name"))
        for node, _ in subject.parameters(operation)
        if not plain_text.clean(node.get("description")) and _needs_words(node)
    ]
    if names:
        shown = ", ".join(names[:MAX_UNDESCRIBED]) + (", …" if len(names) > MAX_UNDESCRIBED else "")
        yield _finding("argument-undescribed", subject, operation, f"no description: {shown}")


def undescribed_responses(operation: Operation) -> Iterator[tuple[str, str]]:
    """Yield status and pointer of the responses without a description."""
    responses = operation.value.get("responses")
    for status, node in (responses if isinstance(responses, dict) else {}).items():
        if isinstance(node, dict) and not node.keys() & {"$ref", "description"} and not str(status).startswith("x-"):
            yield str(status), join(operation.pointer, "responses", str(status))


def _needs_words(parameter: dict[str, Any]) -> bool:
    return isinstance(parameter.get("name"), str) and len(words(parameter["name"])) < _NAMES_THAT_SAY_IT


def _finding(rule: str, subject: JudgedDocument, operation: Operation, message: str) -> Finding:
    return Finding(rule=rule, pointer=subject.display(operation.pointer), message=message, operation=operation.label)
