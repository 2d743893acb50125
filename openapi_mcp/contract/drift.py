"""Check the calls of a server against its document: after each response, differences are logged once and counted.

No call waits for its check or is changed by it: a thread checks the calls; calls beyond its capacity are left unchecked
and counted.
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

from ..runtime.server.hooks import Findings
from ..runtime.tool import Tool
from .checker import UNCHECKED, Contract, Drift, Side

logger = logging.getLogger("openapi_mcp")

MAX_QUEUED_CALLS: Final = 64
"""Calls that wait for their check: a burst of a client that calls many tools at once."""

MAX_CHECKED_BYTES: Final = 1 << 20
"""Bytes of a call's bodies together. A check of more takes seconds, and 64 of these in the queue minutes."""

MAX_DISTINCT_DRIFTS: Final = 50
"""Distinct differences of one tool, each logged once; further ones are counted together as one more."""

CLOSE_TIMEOUT: Final = 3.0
"""Seconds that `close` waits for queued checks, since a server should stop soon."""

Key = tuple[str, str, str]
"""Side, kind and location of a difference."""

_OTHERS: Final[Key] = ("", "", "")
_TITLE: Final = "OPERATION"


@dataclass(slots=True)
class Tally:
    """The checks of one tool: its calls, the checked messages by side, the count and first example of each drift."""

    calls: int = 0
    checked: Counter[Side] = field(default_factory=Counter)
    counts: Counter[Key] = field(default_factory=Counter)
    examples: dict[Key, Drift] = field(default_factory=dict)

    @property
    def unchecked(self) -> int:
        """Requests and responses that were not checked, for whatever reason."""
        return 2 * self.calls - self.checked.total()

    @property
    def drifts(self) -> int:
        """Differences in all calls together."""
        return sum(count for key, count in self.counts.items() if self.examples[key].kind != UNCHECKED)

    def add(self, drifts: tuple[Drift, ...]) -> list[Drift]:
        """Count the drifts of one call and return those that are new."""
        unchecked = {drift.side for drift in drifts if drift.kind == UNCHECKED}
        self.checked.update(side for side in get_args(Side) if side not in unchecked)
        new = []
        for drift in drifts:
            key: Key = (drift.side, drift.kind, drift.where)
            if key not in self.examples and len(self.examples) >= MAX_DISTINCT_DRIFTS:
                key = _OTHERS
            if key not in self.examples:
                self.examples[key] = drift
                new.append(drift)
            self.counts[key] += 1
        return new


class DriftLog:
    """A log of the differences between a server's calls and the document. Its daemon thread ends with `close`."""

    def __init__(self, contract: Contract) -> None:
        self.tallies: dict[str, Tally] = {}
        self._contract = contract
        self._lock = threading.Lock()
        self._queue: queue.Queue[_Call | None] = queue.Queue(MAX_QUEUED_CALLS)
        self._thread = threading.Thread(target=self._check_all, name="contract check", daemon=True)
        self._thread.start()

    def observe(self, tool: Tool, request: httpx.Request, response: httpx.Response) -> Findings | None:
        """Queue a call and return the future of its findings; None where it will not be checked. Never blocks."""
        with self._lock:
            self.tallies.setdefault(tool.name, Tally()).calls += 1
        if int(request.headers.get("content-length", 0)) + len(response.content) <= MAX_CHECKED_BYTES:
            findings: Findings = Future()
            try:
                self._queue.put_nowait((tool, request, response, findings))
            except queue.Full:
                logger.debug("A call of %s is not checked: the queue is full.", tool.name)
            else:
                return findings
        return None

    def close(self) -> None:
        """Check the queued calls, for at most about CLOSE_TIMEOUT seconds, and end the thread."""
        if self._thread.is_alive():
            with contextlib.suppress(queue.Full):
                self._queue.put(None, timeout=CLOSE_TIMEOUT)
            self._thread.join(CLOSE_TIMEOUT)

    def summary(self) -> Iterator[str]:
        """Yield a line for each tool that was called, each followed by its differences, and the totals last."""
        with self._lock:
            tallies = dict(sorted(self.tallies.items()))
            width = max(map(len, [_TITLE, *tallies]))
            yield f"{_TITLE:{width}}  REQUESTS  RESPONSES  DRIFT"
            for name, tally in tallies.items():
                checked = tally.checked
                yield f"{name:{width}}  {checked['request']:8,}  {checked['response']:9,}  {tally.drifts:5,}"
                for key, count in tally.counts.most_common():
                    yield f"{count:9,}  {'others' if key == _OTHERS else _text(tally.examples[key])}"
            yield _totals(tallies.values())

    def _check_all(self) -> None:
        while (call := self._queue.get()) is not None:
            tool, request, response, findings = call
            drifts = self._contract.check(tool, request, response)
            with self._lock:
                new = self.tallies[tool.name].add(drifts)
            for drift in new:
                logger.warning("%s", _sentence(tool.name, drift))
            if findings.set_running_or_notify_cancel():
                findings.set_result([_sentence(tool.name, drift) for drift in drifts if drift.kind != UNCHECKED])


_Call = tuple[Tool, httpx.Request, httpx.Response, Findings]


def _sentence(name: str, drift: Drift) -> str:
    verb = "could not be checked" if drift.kind == UNCHECKED else "differs from the document"
    return f"{name} {verb}: {_text(drift)}"


def _text(drift: Drift) -> str:
    return f"{f'{drift.side} {drift.where}'.rstrip()}: {drift.message} [{drift.kind}]"


def _totals(tallies: Collection[Tally]) -> str:
    checked = sum((tally.checked for tally in tallies), Counter[Side]())
    drifts, unchecked = sum(tally.drifts for tally in tallies), sum(tally.unchecked for tally in tallies)
    return (
        f"contract: requests checked: {checked['request']:,}, responses checked: {checked['response']:,}, "
        f"not checked: {unchecked:,}, differences: {drifts:,}"
    )
