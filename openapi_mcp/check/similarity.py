"""Rules about names: operationIds, names that say nothing, and tools that look alike.

Tools are compared where they share a rare word only, so that the time is that of the words and not of all pairs.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

from ..runtime.tool import Tool, words
from .rules import Finding
from .subject import JudgedDocument

ALIKE: Final = 0.85
"""Share of common words (Jaccard) from which two tools look alike: as JAIRF's for near-identical meanings."""

MAX_SHARING: Final = 30
"""Tools that share a word and are compared with each other; a word of more tells nothing apart."""

MAX_PAIRS: Final = 200_000
"""Pairs that are compared: a second's work. The largest known document (11,000 tools) has 150,000."""

_VAGUE: Final = frozenset(
    {
        "action",
        "api",
        "call",
        "data",
        "default",
        "do",
        "endpoint",
        "execute",
        "get",
        "handle",
        "index",
        "invoke",
        "item",
    }
    | {
        "list",
        "method",
        "object",
        "operation",
        "post",
        "process",
        "put",
        "request",
        "resource",
        "run",
        "test",
        "update",
    }
)
"""Words that alone are no name of a tool."""


def name_findings(subject: JudgedDocument) -> Iterator[Finding]:
    """Yield the findings about names."""
    used = Counter(operation.operation_id for operation in subject.operations if operation.operation_id)
    for operation in subject.operations:
        pointer, label = subject.display(operation.pointer), operation.label
        if operation.operation_id is None:
            message = "it has no operationId: the tool is named by its method and path"
            yield Finding(rule="operation-id-missing", pointer=pointer, message=message, operation=label)
        elif used[operation.operation_id] > 1:
            message = f"the operationId {operation.operation_id!r} is used {used[operation.operation_id]} times"
            yield Finding(rule="operation-id-duplicate", pointer=pointer, message=message, operation=label)
        elif _VAGUE.issuperset(words(operation.operation_id)):
            message = f"the name {operation.operation_id!r} does not say what it is about"
            yield Finding(rule="name-ambiguous", pointer=pointer, message=message, operation=label)
    for one, other, share in alike(subject.tools):
        operation_of_one = subject.operation_of(one)
        pointer = subject.display(operation_of_one.pointer) if operation_of_one else "#/paths"
        message = f"{one.name} and {other.name} have {share:.0%} of their words in common"
        yield Finding(rule="tools-alike", pointer=pointer, message=message, operation=f"{one.method} {one.path}")


def alike(tools: Sequence[Tool]) -> Iterator[tuple[Tool, Tool, float]]:
    """Yield pairs of tools that look alike, with the share of words that both have.

    The words are those of name, title and first sentence; method and arguments tell tools apart as well.
    """
    texts = [_words_of(tool) for tool in tools]
    for first, second in _candidates(texts):
        one, other = texts[first], texts[second]
        share = len(one & other) / len(one | other)
        if share >= ALIKE and tools[first].method == tools[second].method:
            yield tools[first], tools[second], share


def distinctiveness(tools: Sequence[Tool]) -> float:
    """Return 1 minus the mean share of words that each tool has in common with the tool most like it."""
    if len(tools) < 2:
        return 1.0
    texts = [_words_of(tool) for tool in tools]
    nearest = [0.0] * len(tools)
    for first, second in _candidates(texts):
        share = len(texts[first] & texts[second]) / max(len(texts[first] | texts[second]), 1)
        nearest[first], nearest[second] = max(nearest[first], share), max(nearest[second], share)
    return 1 - sum(nearest) / len(tools)


def _words_of(tool: Tool) -> frozenset[str]:
    arguments = (argument.wire_name or argument.name for argument in tool.arguments if argument.required)
    texts = (tool.name, tool.title or "", tool.description.split(".", 1)[0][:400], *arguments)
    return frozenset(word for text in texts for word in words(text))


def _candidates(texts: Sequence[Iterable[str]]) -> Iterator[tuple[int, int]]:
    """Yield pairs of texts that share a word which few have, each once, at most MAX_PAIRS."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        for word in text:
            places[word].append(place)
    seen: set[tuple[int, int]] = set()
    for sharing in sorted((found for found in places.values() if 1 < len(found) <= MAX_SHARING), key=len):
        for pair in combinations(sharing, 2):
            if pair not in seen:
                seen.add(pair)
                yield pair
                if len(seen) >= MAX_PAIRS:
                    return
    if len(texts) <= MAX_SHARING:
        yield from (pair for pair in combinations(range(len(texts)), 2) if pair not in seen)
