"""The answers of `search_tools` and `describe_tool`: texts for models, as short as a choice and a call allow.

    2 of 1,223 tools, the best first. An argument with "=" may be left out.
    1. issues_create: Create an issue (POST /repos/{owner}/{repo}/issues)
    (owner: str, repo: str, title: str|int, body: str = ...)
       owner: found by orgs_list-for-user(username: str, ...)
    2. …

An answer has a limit in bytes, which the hits share: a tool with a large schema leaves the others their room.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ..tool import Tool

if TYPE_CHECKING:  # a server starts without them
    from .ranking import Hit
    from .signatures import Detail, Signature

MAX_ANSWER: Final = 16_000
"""Bytes of an answer, whatever the number of hits: some 4,000 tokens."""

BYTES_PER_HIT: Final = 350
"""Bytes of an answer for each hit. Ten hits cost 875 tokens at most: a line takes 40, which leaves as many for the
signature, enough for nine in ten of the arguments."""

BYTES_PER_HIT_WITH_RESULT: Final = 300
"""Bytes where results are shown too, whose properties would fill any room; `describe_tool` shows all."""

_MIN_ANSWER: Final = 2000
"""Bytes of an answer with few hits."""

_MIN_SIGNATURE: Final = 80
"""Bytes of a signature, where the lines of the hits take more than their share."""

_MAX_SUMMARY: Final = 100
"""Characters of a tool's summary."""

_FEW: Final = 3
"""Hits that are shown in full detail."""

_WITH_RESULTS: Final = 4
"""Hits of which the properties of the result are shown, where results are; of the others only its type."""

_MAX_DESCRIPTION: Final = 1600
"""Characters of the description that `describe_tool` shows."""

_MAX_DESCRIBED: Final = 2600
"""Bytes of a signature in `describe_tool`: with the description, 700 tokens in the median of 16 documents."""


@dataclass(frozen=True, slots=True)
class ToolPresentation:
    """The form in which a hit is shown: the name that it is called by, and whether its result is included.

    `write` returns the texts of the signatures of one answer, given with the names of their tools in that form;
    `written_bytes` are those that it adds to each.
    """

    name: Callable[[Tool], str] = lambda tool: tool.name
    results: bool = False
    write: Callable[[Sequence[tuple[str, "Signature"]]], list[str]] = lambda shown: [
        signature.text(name) for name, signature in shown
    ]
    written_bytes: int = 0


BY_NAME: Final = ToolPresentation()

_HEAD: Final = '{shown} of {count:,} tools, the best first. An argument with "=" may be left out.'
_ELIDED: Final = "Shortened: {numbers}. describe_tool shows the rest."


def render_hits(
    hits: "Sequence[Hit]",
    count: int,
    presentation: ToolPresentation = BY_NAME,
    *,
    reasons: Sequence[str] = (),
    first: int = 1,
) -> str:
    """Return the answer to a search among `count` tools: for each hit a line, its signature, and its producers.

    `reasons` says of each hit why it was found; `first` is the number of the first one. Hits that do not fit are
    counted, and shortened signatures named.
    """
    per_hit = BYTES_PER_HIT_WITH_RESULT if presentation.results else BYTES_PER_HIT
    limit = min(MAX_ANSWER, max(_MIN_ANSWER, per_hit * len(hits)))
    head = _HEAD.format(shown=len(hits), count=count)
    frames = list(_frames(hits, presentation, reasons, first))
    free = limit - size(head) - sum(size(line) + 1 for frame in frames for line in frame)
    names = [presentation.name(hit.tool) if presentation.results else "" for hit in hits[: len(frames)]]
    free -= sum(size(name) + presentation.written_bytes for name in names)
    signatures = _signatures([hit.tool for hit in hits[: len(frames)]], free, presentation)
    texts = [head]
    for (line, *below), text in zip(frames, presentation.write([*zip(names, signatures, strict=True)]), strict=True):
        texts += [line, text, *below]
    shortened = [str(number) for number, shown in enumerate(signatures, first) if shown.more or shown.omitted]
    texts += [_ELIDED.format(numbers=", ".join(shortened))] if shortened else []
    omitted = len(hits) - len(frames)
    texts += [f"{omitted} more did not fit; use a smaller limit or a narrower query."] if omitted else []
    return "\n".join(texts)


def _frames(
    hits: "Sequence[Hit]", presentation: ToolPresentation, reasons: Sequence[str], first: int
) -> Iterator[list[str]]:
    """Yield the lines of each hit without its signature, as long as these and a short signature fit."""
    free = MAX_ANSWER - 4 * _MIN_SIGNATURE  # for the head and what follows the hits
    for number, hit in enumerate(hits, first):
        reason = [f"   why: {reasons[number - first]}"] if reasons else []
        lines = [_line(number, hit, presentation), *_producer_lines(hit, presentation), *reason]
        free -= sum(size(line) + 1 for line in lines) + _MIN_SIGNATURE
        if free < 0:
            return
        yield lines


def _signatures(tools: Sequence[Tool], free: int, presentation: ToolPresentation) -> "list[Signature]":
    """Return the signatures of the tools in `free` bytes: from the last to the first, which get what is left over."""
    from .signatures import BRIEF, FULL

    detail = FULL if len(tools) <= _FEW else BRIEF
    found: list[Signature] = []
    for number, tool in zip(range(len(tools), 0, -1), reversed(tools), strict=True):
        share = max(free // number, _MIN_SIGNATURE)
        shown = _signature(tool, share, detail, results=presentation.results and number <= _WITH_RESULTS)
        if presentation.results and number > _WITH_RESULTS:
            shown = replace(shown, returns=_signature(tool, 0, detail, results=True).returns)
        found.append(shown)
        free -= size(found[-1].text("")) + 1
    return found[::-1]


def _signature(tool: Tool, max_bytes: int, detail: "Detail", *, results: bool) -> "Signature":
    from .signatures import signature

    output = tool.output_schema if results else None
    return signature(tool.input_schema, output, max_bytes=max_bytes, detail=detail)


def _line(number: int, hit: "Hit", presentation: ToolPresentation) -> str:
    name = "" if presentation.results else presentation.name(hit.tool)  # which the signature then has
    return f"{number}. {entry_line(hit.tool, name)}"


def entry_line(tool: Tool, name: str) -> str:
    """Return one line about a tool: `listPets: List the pets (GET /pets)`; without its name where that is empty."""
    about = ": ".join(filter(None, [name, summary(tool)]))
    return f"{about}{about and ' '}({tool.method} {tool.path})"


def _producer_lines(hit: "Hit", presentation: ToolPresentation) -> Iterator[str]:
    """Yield a line for each tool that finds a value for a hit, with the arguments that it needs."""
    for argument, tool in hit.producers:
        required = tool.input_schema.get("required", ())
        optional = ["..."] if len(required) < len(tool.input_schema.get("properties", ())) else []
        yield f"   {argument}: found by {presentation.name(tool)}({', '.join([*required, *optional])})"


def summary(tool: Tool, length: int = _MAX_SUMMARY) -> str:
    """Return one line about a tool: its title, and the beginning of its description if that differs and fits."""
    from .schema_types import without_links

    texts = (tool.title or "", *(text for text in tool.description.split("\n\n")[:3] if not text.startswith(">")))
    title, *described = [" ".join(without_links(text).split()).rstrip(".:") for text in texts if text] or [""]
    more = next((text for text in described if text != title), "")
    text = more if more.startswith(title) else f"{title}. {more}" if more and len(title) < length // 2 else title
    return text if len(text) <= length else text[: length - 1].rsplit(" ", 1)[0].rstrip(",;:.( ") + "…"


def render_tool(tool: Tool, name: str, presentation: ToolPresentation = BY_NAME) -> str:
    """Return the answer of `describe_tool`: the texts of a tool and its signature, with that of its result."""
    from .schema_types import without_links
    from .signatures import FULL

    title = tool.title or ""
    shown = _signature(tool, _MAX_DESCRIBED, FULL, results=True)
    paragraphs = [text for text in tool.description.strip().split("\n\n") if text.rstrip(".") != title.rstrip(".")]
    description = without_links("\n\n".join(paragraphs))
    if len(description) > _MAX_DESCRIPTION:
        description = description[:_MAX_DESCRIPTION].rsplit(" ", 1)[0] + " …"
    head = f"{title}{title and ' '}({tool.method} {tool.path})"
    left_out = [*filter(None, [shown.omitted]), *["descriptions"] * shown.without_prose]
    rest = f"Left out: {', '.join(left_out)}. describe_tool with schema=true shows all." if left_out else ""
    [text] = presentation.write([(name, shown)])
    return "\n\n".join(part for part in (head, description, text, rest) if part)


def fitting(texts: Iterable[str], free: int) -> Iterator[str]:
    """Yield the texts as long as they fit into `free` bytes, each with a line break."""
    for text in texts:
        free -= size(text) + 1
        if free < 0:
            return
        yield text


def size(text: str) -> int:
    """Return the bytes of a text."""
    return len(text.encode(errors="replace"))
