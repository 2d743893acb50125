"""The command `overlay`: a starter for a document, the difference of two, and the document that overlays result in."""

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..bridge import Bridge
from ..config import Config
from ..document import loader
from ..errors import UsageError
from ..overlay import difference
from ..overlay.application import Overlay
from ..overlay.sources import amendment
from ..runtime.request.redaction import redact
from ..runtime.types import JsonObject
from . import report as reports

_LINE: Final = 120


def run(verb: str, files: Sequence[str], *, as_json: bool, report: Callable[[str], None]) -> str:
    """Return the overlay or document that a verb makes. Raises DocumentError, UsageError.

    `report` gets a line for each action that cannot be applied.
    """
    if verb == "init":
        (source,) = _expected(verb, files, 1)
        bridge = Bridge.open(Config.from_options(source, {"mode": "all"}))
        made = difference.starter(bridge.tools, f"Overlay for {reports.heading(bridge)}")
    elif verb == "diff":
        old, new = map(_root, _expected(verb, files, 2))
        made = difference.difference(old, new, f"From {redact(files[0])} to {redact(files[1])}")
        result = copy.deepcopy(old)
        Overlay(made if made["actions"] else {**made, "actions": [{"target": "$"}]}, "overlay:").apply(result, "")
        if result != new:
            raise UsageError("no overlay leads from one of these documents to the other", where=redact(files[1]))
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


def _root(source: str) -> JsonObject:
    return loader.load_root(source).root


def _yaml(value: Any) -> str:
    import yaml

    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=_LINE)
