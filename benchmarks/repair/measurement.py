"""Measure one document: the share of calls that its API accepts before and after `check --fix`, and what that took.

The API is Stoplight Prism with the true document. Arguments are made from the true document, and given to the tools of
the document that is measured: the API refuses what that makes of them. Traffic for the repair is what a user has: the
log of `--check-contract` of calls made from the faulty document, and probes.
"""

import asyncio
import json
import logging
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from benchmarks.driving import _credential as credential
from benchmarks.driving import _Recorder as Recorder
from benchmarks.referee import reasons, referee
from benchmarks.request_side import request_side
from openapi_mcp.bridge import Bridge
from openapi_mcp.check.examination import Examination, examine
from openapi_mcp.check.repair.actions import line_count, written
from openapi_mcp.check.traffic import ContractLog, parse_log
from openapi_mcp.config import Config
from openapi_mcp.contract.checker import Contract
from openapi_mcp.contract.drift import DriftLog
from openapi_mcp.document import loader
from openapi_mcp.generator.samples import NoSample, sample
from openapi_mcp.overlay.sources import amendment
from openapi_mcp.runtime.protocol import ServerDescription
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.types import JsonObject
from openapi_mcp.runtime.upstream.client import Upstream

from .faults import operations, with_faults, with_null
from .redocly import score

MAX_CALLS: Final = 400
"""Calls of one document, its tools twice each: enough for all documents of the list."""

MAX_ROUNDS: Final = 3
"""Times that `check --fix` is run, with the log of the calls since: a missing credential hides what else is wrong."""


@dataclass(slots=True)
class Measurement:
    """The figures of one document.

    `before` are the calls that succeed with the faulty document: none where its server is wrong; `at_the_api` those
    with the API's base URL. `own` are calls with arguments made from the repaired document itself.
    """

    name: str
    operations: int = 0
    faults: list[str] = field(default_factory=list)
    calls: int = 0
    before: int = 0
    at_the_api: int = 0
    after: int = 0
    own_calls: int = 0
    own_after: int = 0
    rounds: int = 0
    lines: int = 0
    scores: tuple[float, float] = (0.0, 0.0)
    redocly: tuple[float, float] = (0.0, 0.0)
    refused: list[str] = field(default_factory=list)
    overlay: str = ""


def measure(name: str, source: Path, seed: int) -> Measurement:
    """Measure a document of one file."""
    true = with_null(loader.load_root(str(source)).root, seed)
    faulty, faults = with_faults(true, seed)
    result = Measurement(name, operations=len(list(operations(true))), faults=faults)
    with tempfile.TemporaryDirectory() as folder:
        paths = {kind: Path(folder) / f"{kind}.json" for kind in ("true", "faulty", "repaired", "overlay")}
        paths["true"].write_text(json.dumps(true))
        paths["faulty"].write_text(json.dumps(faulty))
        truth = Bridge.open(_config(paths["true"]), with_document=True)
        with referee(_api(true)) as api, referee(request_side(truth.document)) as judge:
            _run(result, paths, truth, api, judge)
        result.redocly = score(paths["faulty"]), score(paths["repaired"])
    return result


def _config(path: Path, **options: Any) -> Config:
    return Config.from_options(str(path), {"mode": "all", "no_cache": True, **options})


def _api(true: JsonObject) -> JsonObject:
    """Return the document of the mock: errors are left out, so that its own say what it refuses."""
    root: JsonObject = json.loads(json.dumps(true))
    for _, operation in operations(root):
        found = operation.get("responses", {})
        operation["responses"] = {status: node for status, node in found.items() if str(status)[:1] in "123"} or {
            "200": {"description": "OK"}
        }
    return root


def _run(result: Measurement, paths: dict[str, Path], truth: Bridge, api: str, judge: str) -> None:
    faulty = Bridge.open(_config(paths["faulty"]), with_document=True)
    arguments = _true_arguments(truth, judge)
    result.calls = sum(map(len, arguments.values()))
    result.at_the_api = _accepted(faulty, arguments, judge)
    lost = any(fault.startswith("server") for fault in result.faults)
    result.before = 0 if lost else result.at_the_api
    overlays: list[str] = []
    overlay: JsonObject | None = None
    for _ in range(MAX_ROUNDS):
        current = Bridge.open(_config(paths["faulty"], overlay=overlays), with_document=True)
        log = _traffic(current, api, _own_arguments(current, arguments))
        made = _examine(paths["faulty"], log, api, overlay)
        result.scores = (result.scores[0] or made.report.score.value, made.after.score.value if made.after else 0.0)
        if made.overlay is None:
            break
        result.rounds += 1
        overlay, overlays = made.overlay, [str(paths["overlay"])]
        paths["overlay"].write_text(written(overlay))
        result.lines, result.overlay = line_count(overlay), written(overlay)
    repaired = Bridge.open(_config(paths["faulty"], overlay=overlays), with_document=True)
    result.after = _accepted(repaired, arguments, judge, refused=result.refused, base=api)
    own = _own_arguments(repaired, {})
    result.own_calls = sum(map(len, own.values()))
    result.own_after = _accepted(repaired, own, judge, base=api)
    paths["repaired"].write_text(json.dumps(loader.load_root(str(paths["faulty"]), amendment(overlays)).root))


def _examine(path: Path, log: ContractLog, api: str, earlier: JsonObject | None) -> Examination:
    """Run what `check --probe API --contract-log … --fix …` runs."""
    config = _config(path, base_url=[api])
    bridge = _with_credentials(Bridge.open(config, with_document=True))

    def reopen(more: Sequence[str]) -> Bridge:
        changed = replace(config, overlays=(*config.overlays, *more))
        return _with_credentials(Bridge.open(changed, with_document=True))

    return examine(bridge, reopen, log=log, probes=True, fix=True, base_url=api, earlier=earlier)


def _with_credentials(bridge: Bridge) -> Bridge:
    """Return a bridge with a credential for every scheme, as a user would set them."""
    secrets = {scheme.name: credential(scheme) for scheme in bridge.security_schemes()}
    return replace(bridge, config=replace(bridge.config, credentials=secrets))


Arguments = dict[str, list[JsonObject]]
"""Arguments of calls by `GET /pets`."""


def _arguments(bridge: Bridge) -> Arguments:
    """Return two calls for each tool: with required arguments, and with all."""
    calls: Arguments = {}
    for tool in bridge.tools[: MAX_CALLS // 2]:
        for full in (False, True):
            try:
                calls.setdefault(_label(tool), []).append(sample(tool.input_schema, full=full))
            except NoSample:
                continue
    return calls


def _true_arguments(truth: Bridge, judge: str) -> Arguments:
    """Return the calls of the true document that the API accepts: a few of it, Prism refuses (`explanations.py`)."""
    calls: Arguments = {}
    for label, each in _arguments(truth).items():
        accepted = [values for values in each if _accepted(truth, {label: [values]}, judge)]
        if accepted:
            calls[label] = accepted
    return calls


def _own_arguments(bridge: Bridge, others: Arguments) -> Arguments:
    """Return the calls that a model makes which knows this document only, after those of `others`."""
    own = _arguments(bridge)
    return {label: [*others.get(label, []), *own.get(label, [])] for label in {**others, **own}}


def _label(tool: Tool) -> str:
    return f"{tool.method} {tool.path}"


def _server(bridge: Bridge, url: str, recorder: Recorder, observe: Any = None) -> Server:
    bridge = _with_credentials(bridge)
    config = replace(bridge.config, base_url=url)
    return Server(
        Catalog(bridge.tools),
        ServerDescription(implementation=bridge.implementation),
        Upstream(transport=recorder),
        options=config.request_options(bridge.security_schemes(), {}),
        observer=observe,
    )


def _accepted(
    bridge: Bridge,
    arguments: Arguments,
    judge: str,
    *,
    base: str = "",
    refused: list[str] | None = None,
) -> int:
    """Return the number of calls that the API accepts.

    After a repair `base` is the URL of the API, which the document must name.
    """
    tools = {_label(tool): tool for tool in bridge.tools}

    async def run() -> int:
        recorder = Recorder()
        server = _server(bridge, judge, recorder)
        count = 0
        try:
            for label, calls in arguments.items():
                tool = tools.get(label)
                if tool is None or (base and tool.base_url != base):
                    continue
                credentials = {scheme.parameter for group in tool.security for scheme in group}
                for each in calls:  # a credential that the document names now is no argument any more
                    values = {name: value for name, value in each.items() if name not in credentials}
                    count += await _call(server, recorder, tool, values, refused)
        finally:
            await server.aclose()
        return count

    return asyncio.run(run())


async def _call(
    server: Server, recorder: Recorder, tool: Tool, arguments: JsonObject, refused: list[str] | None
) -> bool:
    recorder.last = None
    result = await server.call(tool.name, arguments)
    answer = recorder.last_response()
    if answer is not None and not reasons(answer):
        return True
    if refused is not None:
        why = "; ".join(map(str, reasons(answer))) if answer else str(result.content[0].get("text"))
        refused.append(f"{_label(tool)}: {why}"[:300])
    return False


def _traffic(bridge: Bridge, api: str, arguments: Arguments) -> ContractLog:
    """Return what a server with --check-contract logs for these calls, read from its log."""
    log = DriftLog(Contract(bridge.document))
    lines = _Lines()
    logger = logging.getLogger("openapi_mcp")
    logger.addHandler(lines)
    tools = {_label(tool): tool for tool in bridge.tools}
    checks: list[Any] = []

    def observe(*exchange: Any) -> Any:
        checks.append(log.observe(*exchange))
        return checks[-1]

    async def run() -> None:
        server = _server(bridge, api, Recorder(), observe)
        try:
            for label, calls in arguments.items():
                for each in calls if label in tools else ():
                    await server.call(tools[label].name, each)
                for check in filter(None, checks):  # the queue of checks has an end, and these calls come fast
                    await asyncio.wrap_future(check)
                checks.clear()
        finally:
            await server.aclose()

    try:
        asyncio.run(run())
        log.close()
    finally:
        logger.removeHandler(lines)
    return parse_log([*lines.texts, *log.summary()])


class _Lines(logging.Handler):
    """The lines of a log."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.texts.append(record.getMessage())
