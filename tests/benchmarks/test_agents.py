"""The judge of modes: a short form of it carries out tasks in each mode, and what it counts is right."""

import ast
from pathlib import Path

import pytest

from benchmarks.agents import peer_player, players
from benchmarks.agents.__main__ import is_good
from benchmarks.agents.costs import Cost, tokens_of_call, tokens_of_result
from benchmarks.agents.judge import OURS, Failure, Judge, Report
from benchmarks.agents.players import Played, value_of
from benchmarks.agents.report import table
from benchmarks.agents.task import Task, run, tasks
from benchmarks.agents.tracker.app import create_app
from openapi_mcp.document.model import Document
from openapi_mcp.tools.compiler import build

SHORT = ("stale etag", "time by user", "fan out", "bulk job", "upload", "photo", "mean price")
"""Tasks that page, join two lists, change many things, poll a job, upload, and try again after an error."""

MAX_SHORT_CODE_SHARE = 1 / 3
"""The tokens of code mode, of those of the whole list; the whole set of tasks has its own limit."""


@pytest.mark.process
@pytest.mark.slow
def test_every_mode_carries_out_tasks_as_plain_requests_do(tmp_path: Path) -> None:
    report = Judge(tmp_path).judge([task for task in tasks() if task.name in SHORT])
    assert len(report.tasks) == len(SHORT)
    assert report.failures == []
    assert is_good(report, whole=False)
    assert all(set(report.costs[mode]) == set(SHORT) for mode in OURS)
    assert report.sum("code", report.tasks) < MAX_SHORT_CODE_SHARE * report.sum("all", report.tasks)
    assert report.total("all", report.tasks).searches == 0
    assert f"| tasks carried out | {len(SHORT)} | {' | '.join([str(len(SHORT))] * 3)} |" in table(report)


def test_tracker_has_60_operations_named_by_their_functions(tmp_path: Path) -> None:
    compiled = build(Document(create_app(tmp_path / "tracker.sqlite3").openapi(), "file:///tracker.json", "3.1"))
    assert compiled.problems == ()
    assert len(compiled.tools) == 60
    assert {"create_ticket", "read_tickets"} <= {tool.name for tool in compiled.tools}


def test_tasks_have_unique_names_and_end_with_an_answer() -> None:
    found = tasks()
    assert len(found) >= 25
    assert len({task.name for task in found}) == len(found)
    assert all(isinstance(ast.parse(text).body[-1], ast.Expr) for task in found for text in (task.program, task.code))


def test_program_answers_with_its_last_line() -> None:
    assert run("x = double(n=2)\ny = [x]\n(x, y)", {"double": lambda n: 2 * n}) == (4, [4])


def test_costs_count_four_bytes_a_token_and_no_content_twice() -> None:
    assert tokens_of_call("getPet", {"petId": 7}) == len('{"name":"getPet","arguments":{"petId":7}}') // 4 + 1
    result = {"content": [{"type": "text", "text": "abcde"}], "structuredContent": {"a": "b" * 100}}
    assert tokens_of_result(result) == 2
    assert (Cost(searches=1, calls=2, turns=2) + Cost(calls=3, answers=4, turns=1)).total == 10


def test_value_of_a_result_is_its_json_or_its_text() -> None:
    assert value_of({"content": [{"type": "text", "text": "note"}, {"type": "text", "text": "[1]"}]}) == [1]
    assert value_of({"content": [{"type": "text", "text": '{"result": [1]}'}]}) == [1]
    assert value_of({"content": [{"type": "text", "text": "a,b"}]}) == "a,b"
    with pytest.raises(RuntimeError, match="404"):
        value_of({"isError": True, "content": [{"type": "text", "text": "404 Not Found"}]})


ANSWER = """\
2 of 9 tools
1. getPet: a pet
(petId: int, filter: Filter)
   petId: found by listPets
2. List pets (GET /pets)
listPets(limit: int, page-size: int, filter: Filter)
class Filter: where: Where
class Where:
  any_: list[int]
class Other: odd: int
"""


@pytest.mark.parametrize(
    ("tool", "given", "is_shown"),
    [
        ("listPets", {"limit", "page-size"}, True),
        ("listPets", {"page"}, False),
        ("listPets", {"petId"}, False),
        ("getPet", {"petId", "filter", "where", "any_"}, True),
        ("getPet", {"odd"}, False),
        ("getPets", set(), False),
    ],
)
def test_an_answer_shows_a_tool_with_all_that_it_is_given(tool: str, given: set[str], is_shown: bool) -> None:
    assert players._shows(ANSWER, tool, frozenset(given)) is is_shown


def test_wrong_answer_database_or_share_of_code_mode_is_no_success() -> None:
    task = Task("one", "tracker", "?", ("?",), "1", "1")
    costs = {mode: {"one": Cost(calls=calls)} for mode, calls in zip(OURS, (100, 50, 20), strict=True)}
    report = Report(OURS, [task], {"one": 1}, costs, {mode: {"tracker": 0} for mode in OURS})
    assert is_good(report)
    report.costs["code"]["one"].answers = 1
    assert not is_good(report)
    assert is_good(report, whole=False)
    report.failures.append(Failure("search", "one", "answers 2, not 1"))
    assert not is_good(report, whole=False)
    assert report.carried_out("search") == []


def test_program_for_fastmcp_calls_by_name_and_takes_results_out() -> None:
    program = "try:\n    x = list_pets_get(limit=1, **more)\nexcept RuntimeError:\n    y = add__post({'a': 1})['id']\nx"
    task = Task("one", "tracker", "?", ("?",), program, "1")
    names = {name: peer_player.fastmcp_name(name) for name in ("list_pets_get", "add__post")}
    assert peer_player.fastmcp_program(task, names, {"list_pets_get"}) == (
        "try:\n    x = (await call_tool('list_pets_get', {'limit': 1, **more}))['result']\n"
        "except Exception:\n    y = (await call_tool('add', {'a': 1}))['id']\nx"
    )


def test_needed_tools_have_all_arguments_that_any_call_gives() -> None:
    gold = Played(1, calls=(("a", frozenset({"x"})), ("b", frozenset()), ("a", frozenset({"y"}))))
    assert players.needed(gold, {"a": "A", "b": "B"}) == {"A": frozenset({"x", "y"}), "B": frozenset()}
