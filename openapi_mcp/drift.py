"""Watches the calls of a server: each is checked once its answer is on its way, what is found is logged and counted.

No call waits for its check, and none is changed by it: a thread of its own does the checking, and what comes faster
than it can check is left out and counted.
"""

import contextlib
import logging
import queue
import threading
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final, get_args

import httpx

from .contract import Contract, Drift, Side
from .findings import UNCHECKED
from .runtime.calls import Findings
from .runtime.models import Tool

logger = logging.getLogger("openapi_mcp")

MOST_WAITING: Final = 64
"""Calls that wait to be checked: a burst of a client that calls many tools at once."""

MOST_BYTES: Final = 1 << 20
"""Of a call's bodies together. To check more takes seconds, and 64 of them would be a burden."""

MOST_KINDS: Final = 50
"""Differences of one tool that are told apart, and logged once each; what comes on top is counted as one more."""

PATIENCE: Final = 3.0
"""Seconds that `close` gives to what still waits; whoever stops a server wants it to stop."""

Key = tuple[str, str, str]
"""Side, kind and where of a difference."""

_REST: Final[Key] = ("", "", "")
_TITLE: Final = "OPERATION"


@dataclass(slots=True)
class Tally:
    """One tool's calls: how many, what of them was judged, each difference with how often it was found and first."""

    calls: int = 0
    judged: Counter[Side] = field(default_factory=Counter)
    counts: Counter[Key] = field(default_factory=Counter)
    first: dict[Key, Drift] = field(default_factory=dict)

    @property
    def unchecked(self) -> int:
        """Requests and answers that nobody judged, for one reason or another."""
        return 2 * self.calls - self.judged.total()

    @property
    def drifts(self) -> int:
        """Differences found, in all calls together."""
        return sum(count for key, count in self.counts.items() if self.first[key].kind != UNCHECKED)

    def add(self, found: tuple[Drift, ...]) -> list[Drift]:
        """Count what was found in one call; what was never found before is returned."""
        unchecked = {drift.side for drift in found if drift.kind == UNCHECKED}
        self.judged.update(side for side in get_args(Side) if side not in unchecked)
        new = []
        for drift in found:
            key: Key = (drift.side, drift.kind, drift.where)
            if key not in self.first and len(self.first) >= MOST_KINDS:
                key = _REST
            if key not in self.first:
                self.first[key] = drift
                new.append(drift)
            self.counts[key] += 1
        return new


class DriftLog:
    """Checks calls against a Contract. It has a thread until `close`, which does not keep the process alive."""

    def __init__(self, contract: Contract) -> None:
        self.tallies: dict[str, Tally] = {}
        self._contract = contract
        self._lock = threading.Lock()
        self._waiting: queue.Queue[_Call | None] = queue.Queue(MOST_WAITING)
        self._thread = threading.Thread(target=self._check_all, name="contract check", daemon=True)
        self._thread.start()

    def observe(self, tool: Tool, request: httpx.Request, response: httpx.Response) -> Findings | None:
        """Take note of an answered call, which is checked when there is time. Never waits; None where it never is."""
        with self._lock:
            self.tallies.setdefault(tool.name, Tally()).calls += 1
        if int(request.headers.get("content-length", 0)) + len(response.content) <= MOST_BYTES:
            findings: Findings = Future()
            try:
                self._waiting.put_nowait((tool, request, response, findings))
            except queue.Full:
                logger.debug("A call of %s is not checked: there are too many.", tool.name)
            else:
                return findings
        return None

    def close(self) -> None:
        """Check what still waits, as far as that is soon done, and end the thread."""
        if self._thread.is_alive():
            with contextlib.suppress(queue.Full):
                self._waiting.put(None, timeout=PATIENCE)
            self._thread.join(PATIENCE)

    def summary(self) -> Iterator[str]:
        """A line for each tool that was called, its differences below it, the totals last."""
        with self._lock:
            tallies = dict(sorted(self.tallies.items()))
            width = max(map(len, [_TITLE, *tallies]))
            yield f"{_TITLE:{width}}  REQUESTS  ANSWERS  DRIFT"
            for name, tally in tallies.items():
                judged = tally.judged
                yield f"{name:{width}}  {judged['request']:8,}  {judged['answer']:7,}  {tally.drifts:5,}"
                for key, count in tally.counts.most_common():
                    yield f"{count:9,}  {'others' if key == _REST else _text(tally.first[key])}"
            yield _totals(tallies.values())

    def _check_all(self) -> None:
        while (call := self._waiting.get()) is not None:
            tool, request, response, findings = call
            found = self._contract.check(tool, request, response)
            with self._lock:
                new = self.tallies[tool.name].add(found)
            for drift in new:
                logger.warning("%s", _sentence(tool.name, drift))
            if findings.set_running_or_notify_cancel():
                findings.set_result([_sentence(tool.name, drift) for drift in found if drift.kind != UNCHECKED])


_Call = tuple[Tool, httpx.Request, httpx.Response, Findings]


def _sentence(name: str, drift: Drift) -> str:
    verb = "could not be checked" if drift.kind == UNCHECKED else "differs from the document"
    return f"{name} {verb}: {_text(drift)}"


def _text(drift: Drift) -> str:
    return f"{f'{drift.side} {drift.where}'.rstrip()}: {drift.message} [{drift.kind}]"


def _totals(tallies: Collection[Tally]) -> str:
    judged = sum((tally.judged for tally in tallies), Counter[Side]())
    drifts, unchecked = sum(tally.drifts for tally in tallies), sum(tally.unchecked for tally in tallies)
    return (
        f"contract: requests checked: {judged['request']:,}, answers checked: {judged['answer']:,}, "
        f"not checked: {unchecked:,}, differences: {drifts:,}"
    )
