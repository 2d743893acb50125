"""`Judge`: carries out tasks in each mode, and compares answers and databases with those of plain HTTP requests."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from .apis import Api, running
from .client import McpSession, ServerEndedError, session
from .costs import Cost, tokens_of_list
from .peer_player import peer_player
from .players import Discovery, Http, Listed, Played, Player, PlayError, Programmed, Searched
from .task import Task

OURS: Final = ("all", "search", "code")
FASTMCP: Final = ("FastMCP, all", "FastMCP, search", "FastMCP, code")
_PEER: Final = Path(__file__).with_name("peer.py")


@dataclass(frozen=True)
class Failure:
    """A task that a mode did not carry out as the gold did."""

    mode: str
    task: str
    reason: str


@dataclass
class Report:
    """Costs of tasks by their names, in each mode, and costs of lists by mode and API, in tokens."""

    modes: tuple[str, ...]
    tasks: list[Task]
    calls: dict[str, int] = field(default_factory=dict)
    costs: dict[str, dict[str, Cost]] = field(default_factory=dict)
    lists: dict[str, dict[str, int]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def carried_out(self, mode: str) -> list[Task]:
        """Return the tasks that a mode carried out as the gold did."""
        failed = {failure.task for failure in self.failures if failure.mode == mode}
        return [task for task in self.tasks if task.name not in failed]

    def sum(self, mode: str, tasks: Sequence[Task], *, list_each_time: bool = True) -> int:
        """Return the tokens of tasks, with the list counted for each of them or once for each API."""
        apis = [task.api for task in tasks]
        lists = sum(self.lists[mode][api] for api in (apis if list_each_time else set(apis)))
        return lists + self.total(mode, tasks).total

    def total(self, mode: str, tasks: Sequence[Task]) -> Cost:
        """Return the cost of tasks without lists."""
        return sum((self.costs[mode][task.name] for task in tasks), Cost())


class Judge:
    """The APIs, with their files in a folder, and the servers in front of them; with FastMCP if its Python is named."""

    def __init__(self, folder: Path, fastmcp: str | None = None) -> None:
        self._folder, self._fastmcp = folder, fastmcp
        self._modes = OURS + (FASTMCP if fastmcp else ())

    def judge(self, tasks: Sequence[Task]) -> Report:
        """Carry out the tasks in all modes."""
        report = Report(self._modes, list(tasks))
        with running(self._folder) as apis:
            golds = _golds(apis, tasks)
            report.calls = {name: len(played.calls) for name, (played, _) in golds.items()}
            for mode in self._modes:
                report.costs[mode], report.lists[mode] = {}, {}
                for api in apis.values():
                    own = [task for task in tasks if task.api == api.name]
                    if own:
                        self._judge_mode(report, mode, api, own, golds)
        return report

    def _judge_mode(
        self, report: Report, mode: str, api: Api, tasks: Iterable[Task], golds: Mapping[str, "_Gold"]
    ) -> None:
        with self._player(mode, api) as (server, player):
            report.lists[mode][api.name] = tokens_of_list(server)
            for task in tasks:
                gold, dump = golds[task.name]
                api.reset()
                reason = ""
                try:
                    played = player.play(task, gold)
                    report.costs[mode][task.name] = played.cost
                    reason = _difference(played.answer, gold.answer, api.dump(), dump)
                except (PlayError, RuntimeError, LookupError, TypeError, ValueError) as error:
                    if isinstance(error, ServerEndedError):
                        raise
                    reason = f"{type(error).__name__}: {error}"
                if reason:
                    report.failures.append(Failure(mode, task.name, reason))

    @contextmanager
    def _player(self, mode: str, api: Api) -> Iterator[tuple[McpSession, Player]]:
        """Start the server of a mode; yield its session and the player that uses it."""
        kind = mode.rpartition(" ")[2]
        command: tuple[str, ...]
        if mode in OURS:
            command = (sys.executable, "-m", "openapi_mcp", "serve", str(api.document), "--mode", mode, "--no-cache")
        else:
            command = (str(self._fastmcp), str(_PEER), api.url, str(api.document), kind)
        with session(command) as server:
            yield server, _player(kind, server, api) if mode in OURS else peer_player(kind, server, api)


def _player(mode: str, server: McpSession, api: Api) -> Player:
    names = {name: name for name in api.operations()}
    if mode == "all":
        return Listed(server, names)
    return (Searched if mode == "search" else Programmed)(server, names, Discovery())


_Gold = tuple[Played, list[str]]
"""Answers to plain HTTP requests, and the database that they left."""


def _golds(apis: Mapping[str, Api], tasks: Iterable[Task]) -> dict[str, _Gold]:
    golds: dict[str, _Gold] = {}
    with httpx.Client() as client:
        players = {name: Http(api, client) for name, api in apis.items()}
        for task in tasks:
            apis[task.api].reset()
            golds[task.name] = (players[task.api].play(task), apis[task.api].dump())
    return golds


def _difference(answer: Any, gold: Any, dump: list[str], gold_dump: list[str]) -> str:
    """Return what differs from the gold; empty if nothing does."""
    if _plain(answer) != _plain(gold):
        return f"answers {answer!r}, not {gold!r}"
    if dump == gold_dump:
        return ""
    other = next((line for line in dump if line not in gold_dump), f"{len(dump)} lines, not {len(gold_dump)}")
    return f"the database has {other}"


def _plain(value: Any) -> Any:
    """Return a value with lists for tuples, as JSON has it."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value
