"""The benchmarks of latency and soak: calls are timed from when they are due, and what grows or is slow is reported."""

import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from benchmarks.latency import BACKEND, DELAY, EVERY, LARGE, MAX_RATIO, Row, carried_out, misses, plan_of, server_of
from benchmarks.paced import SHARES, Plan, Times
from benchmarks.soak import MAX_FILES, MAX_GROWTH, Sample, Stage
from benchmarks.throughput import ROOT, running

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture(scope="module")
def plan() -> Iterator[Plan]:
    document = str(ROOT / "specs" / "petstore.yaml")
    backend = (sys.executable, *BACKEND)
    with running(backend) as (_, api), running(server_of(document, api)) as (_, url):
        yield plan_of(f"{url}/mcp", "handshake", seconds=0.2, warming=0.1)


def test_every_call_of_a_closed_load_is_timed(plan: Plan) -> None:
    result = carried_out(replace(plan, concurrency=4))
    assert result["calls"] == pytest.approx(result["rate"] * plan.seconds)
    assert result["usual"] == sorted(result["usual"])
    assert len(result["usual"]) == len(SHARES)
    assert result["slow"] == []


def test_an_open_load_has_as_many_calls_as_were_due_and_slow_ones_are_told_apart(plan: Plan) -> None:
    result = carried_out(replace(plan, rate=200, every=EVERY))
    assert result["calls"] == pytest.approx(200 * plan.seconds, abs=2)
    assert min(result["slow"]) >= DELAY


def test_each_call_of_a_churn_has_a_connection(plan: Plan) -> None:
    assert carried_out(replace(plan, concurrency=8, churns=50))["calls"] >= 50


def test_a_failed_call_ends_the_load(plan: Plan) -> None:
    other = replace(plan, bodies=[plan.bodies[0].replace("getPet", "noSuchTool")], concurrency=1)
    with pytest.raises(RuntimeError, match="There is no tool"):
        carried_out(other)


def test_shares_are_those_of_the_ordered_times() -> None:
    assert Times([float(number) for number in range(1000, 0, -1)]).shares() == [501, 991, 1000, 1000]
    assert Times().shares() == []


def test_what_is_slow_or_grows_is_reported() -> None:
    usual = Row("64 at a time", 1000, [0.01, 0.01 * MAX_RATIO, 0.03, 0.04])
    alone, beside = Row("half of that a second", 500, [0.01] * 4), Row("5 % slow", 500, [0.01] * 4, [0.5] * 4)
    assert list(misses([usual, alone, beside])) == []
    slow = replace(usual, usual=[0.01, 0.03, 0.03, 0.04])
    assert len(list(misses([slow, alone, replace(beside, usual=[0.01, 0.1, 0.1, 0.1])]))) == 2
    assert str(usual).count("|") == str(beside).count("|")
    before = Sample(50_000_000, 14)
    flat = Stage("load", LARGE, before, Sample(before.memory + MAX_GROWTH, before.files + MAX_FILES))
    assert list(flat.misses()) == []
    grown = replace(flat, after=Sample(before.memory + MAX_GROWTH + 1, before.files + MAX_FILES + 1))
    assert len(list(grown.misses())) == 2
