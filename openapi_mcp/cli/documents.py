"""The commands `overlay`, which writes and applies changes of a document, and `diff`, which compares two documents."""

import copy
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import typer

from ..errors import ToolsChanged, UsageError
from ..runtime.request.redaction import redact
from . import console
from .commands import Values, command, reported_errors

if TYPE_CHECKING:
    from ..bridge import Bridge
    from ..comparison.changes import Comparison
    from ..runtime.types import JsonObject

OVERLAY_EXAMPLES: Final = """\b
Examples:
  openapi-mcp overlay init petstore.yaml > curated.yaml
      then edit it: names, descriptions, hidden
  openapi-mcp serve petstore.yaml --overlay curated.yaml
  openapi-mcp overlay diff petstore.yaml petstore-edited.yaml > changes.yaml
  openapi-mcp overlay apply petstore.yaml changes.yaml
"""

DIFF_EXAMPLES: Final = """\b
Examples:
  openapi-mcp diff petstore-1.yaml petstore-2.yaml
      what changes for models and for those who use the tools; exit code 9 if something breaks
  openapi-mcp diff https://api.example.com/openapi.json openapi.json --include tag:pets
      only the tools that are served
  openapi-mcp diff main.yaml branch.yaml --format markdown --fail-on none >> "$GITHUB_STEP_SUMMARY"
      a table for a pull request
  openapi-mcp diff old.yaml new.yaml | grep ^breaking | cut -f3 | sort -u
      into a pipe: a line for each change, with tabs between verdict, kind, tool, operation, place, before, after
"""

_LINE: Final = 120
"""Characters of a line of YAML."""


def register(app: typer.Typer) -> None:
    """Register both commands."""
    command(app, epilog=OVERLAY_EXAMPLES)(overlay)
    command(app, epilog=DIFF_EXAMPLES)(diff)


def overlay(verb: str, files: list[str], as_json: bool, debug: bool) -> None:
    """Write and apply OpenAPI overlays.

    An overlay changes a document without touching its file.
    """
    with reported_errors(debug):
        console.out(_overlay(verb, files, as_json=as_json, report=console.err).removesuffix("\n"))


def _overlay(verb: str, files: Sequence[str], *, as_json: bool, report: Callable[[str], None]) -> str:
    """Return the overlay or document that a verb makes. Raises DocumentError, UsageError.

    `report` gets a line for each action that cannot be applied.
    """
    from ..document import loader
    from ..overlay import difference
    from ..overlay.application import Overlay
    from ..overlay.sources import amendment
    from . import report as reports

    if verb == "init":
        (source,) = _expected(verb, files, 1)
        bridge = _opened(source, {})
        places = _places(bridge)
        made = difference.starter(bridge.tools, places, f"Overlay for {reports.heading(bridge)}")
        for tool in bridge.tools:
            if (label := f"{tool.method} {tool.path}") not in places:
                report(reports.printable(f"{label}: left out, since it stands in another file, or in several paths"))
    elif verb == "diff":
        old, new = map(_root, _expected(verb, files, 2))
        made = difference.difference(old, new, f"From {redact(files[0])} to {redact(files[1])}")
        result = copy.deepcopy(old)
        Overlay(made, "overlay:").apply(result, "")
        if result != new:
            raise UsageError("no overlay can turn one of these documents into the other", where=redact(files[1]))
    else:
        source, *overlays = _expected(verb, files, 2, more=True)
        document = loader.load_root(source, amendment(overlays))
        for problem in document.problems:
            if problem.kind == "overlay":
                report(reports.printable(f"{problem.pointer}: {problem.message}"))
        made = document.root
    return json.dumps(made, indent=2, ensure_ascii=False) if as_json else _yaml(made)


def _expected(verb: str, files: Sequence[str], number: int, *, more: bool = False) -> Sequence[str]:
    if len(files) == number or (more and len(files) > number):
        return files
    usage = {"init": "SPEC", "diff": "OLD NEW", "apply": "SPEC OVERLAY…"}[verb]
    raise UsageError(
        f"`overlay {verb}` takes {usage}", where=f"{len(files)} given", hint="see openapi-mcp overlay --help"
    )


def _root(source: str) -> "JsonObject":
    from ..document import loader

    return loader.load_root(source).root


def _places(bridge: "Bridge") -> dict[str, tuple[str | int, ...]]:
    """Return the place of each operation in its document as it is written, by `GET /pets`.

    One in another file has none, since an overlay changes one document, and none of several have the same.
    """
    from ..document.model import split
    from ..document.resolver import Resolver
    from ..overlay.paths import node_at
    from ..tools.operations import operations

    resolver, root = Resolver(bridge.document), bridge.document.as_written().root
    found, _ = operations(bridge.document, resolver)
    pointers = {each.label: resolver.display(each.pointer) for each in found}
    shared = Counter(pointers.values())
    places: dict[str, tuple[str | int, ...]] = {}
    for label, pointer in pointers.items():
        place = tuple(split(pointer))
        with suppress(LookupError, TypeError):
            if pointer.startswith("#/") and shared[pointer] == 1 and isinstance(node_at(root, place), dict):
                places[label] = place
    return places


def _yaml(value: Any) -> str:
    from ..overlay.text import written

    return written(value, width=_LINE)


def diff(
    *,
    old: str,
    new: str,
    format: str | None,  # noqa: A002  # the option has this name
    fail_on: str | None,
    debug: bool,
    values: Values,
) -> None:
    """Compare the tools of two versions of a document.

    Shows the changes of tools, arguments, results and credentials for a model and its users. The tools of
    both documents are made with the same options. A change breaks callers if a call that was right may be refused or
    mean something else now, or if a field of an answer may be gone. docs/diff.md lists the kinds of changes.
    """
    with reported_errors(debug):
        comparison = _comparison(old, new, values)
        for line in _lines(comparison, format or "text"):
            console.out(line)
        _fail(comparison, fail_on or "breaking")


def _comparison(old: str, new: str, options: Mapping[str, Any]) -> "Comparison":
    """Return the comparison of the tools of two documents. Raises DocumentError, UsageError."""
    from ..comparison.tools import compare

    tools = [_opened(source, options).tools for source in (old, new)]
    return compare(*tools, names=(redact(old), redact(new)))


def _opened(source: str, options: Mapping[str, Any]) -> "Bridge":
    """Open a document whose texts and output schemas are whole: what a list leaves out for its length may change."""
    from ..bridge import Bridge
    from ..config import Config
    from ..token_budget import ToolLimits
    from ..tools import compiler

    config = Config.from_options(source, options)
    chosen = config.compile_options
    document = compiler.load(source, chosen)
    whole = ToolLimits(output=1 << 18, description=1 << 14, argument=1 << 14)  # bounds for hostile documents
    compilation = compiler.build(document, selection=chosen.selection, base_url=chosen.servers, limits=whole)
    return Bridge(config, compiler.document_info(document, chosen), compilation, document)


def _lines(comparison: "Comparison", form: str) -> Iterator[str]:
    """Yield the lines of a report; as text, a line with tabs for each change where it goes into a pipe."""
    from ..comparison import report

    if form == "json":
        yield json.dumps(report.as_json(comparison), indent=2, ensure_ascii=True)
    elif form == "markdown":
        yield from report.as_markdown(comparison)
    else:
        yield from report.as_text(comparison) if sys.stdout.isatty() else report.as_rows(comparison)


def _fail(comparison: "Comparison", fail_on: str) -> None:
    """Raise ToolsChanged for the changes that the command fails on: `breaking` ones, `any`, or `none`."""
    count = {"breaking": comparison.breaking, "any": len(comparison.changes)}.get(fail_on, 0)
    if count:
        noun = "breaking change" if fail_on == "breaking" else "change"
        raise ToolsChanged(
            f"{count:,} {noun}{'' if count == 1 else 's'} of the tools",
            where=comparison.new,
            hint=(
                "tell the users of the tools, or keep the old tools with an overlay; --fail-on none only reports "
                "changes"
            ),
        )
