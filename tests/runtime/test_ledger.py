"""What is known of sessions in one process and its sibling, which hear each other at once here."""

import pytest

from openapi_mcp.runtime import ledger
from openapi_mcp.runtime.ledger import Ledger
from openapi_mcp.runtime.protocol import Session

ANN, BOB = Session(revision="2025-11-25", id="ann"), Session(revision="2025-11-25", id="bob")


def siblings() -> tuple[Ledger, Ledger]:
    def say_to_other(message: bytes) -> None:
        other.hear(message)

    one = Ledger(say_to_other)
    other = Ledger(one.hear)
    return one, other


@pytest.fixture(params=["here", "in a sibling"])
def both(request: pytest.FixtureRequest) -> tuple[Ledger, Ledger]:
    """Where something is in flight, and where it is said that it shall stop."""
    one, other = siblings()
    return (one, one) if request.param == "here" else (one, other)


def test_a_call_is_stopped_by_its_own_session_and_id_only(both: tuple[Ledger, Ledger]) -> None:
    here, there = both
    stopped: list[str] = []
    with here.call(ANN, 1, lambda: stopped.append("ann")), here.call(BOB, 1, lambda: stopped.append("bob")):
        there.cancel(ANN, "1")
        there.cancel(ANN, 2)
        assert stopped == []
        there.cancel(ANN, 1)
        assert stopped == ["ann"]
    there.cancel(BOB, 1)
    assert stopped == ["ann"]


def test_an_id_may_be_used_again(both: tuple[Ledger, Ledger]) -> None:
    here, there = both
    stopped: list[int] = []
    with here.call(ANN, 1, lambda: stopped.append(1)):
        pass
    with here.call(ANN, 1, lambda: stopped.append(2)):
        there.cancel(ANN, 1)
    assert stopped == [2]


def test_a_session_that_ended_is_over_with_all_it_had(both: tuple[Ledger, Ledger]) -> None:
    here, there = both
    stopped: list[str] = []
    with (
        here.call(ANN, 1, lambda: stopped.append("one")),
        here.call(ANN, 2, lambda: stopped.append("two")),
        here.stream(ANN, lambda: stopped.append("stream")),
        here.stream(BOB, lambda: stopped.append("bob")),
    ):
        there.end(ANN)
        assert stopped == ["one", "two", "stream"]
    assert here.recall(ANN) is there.recall(ANN) is None
    assert here.recall(BOB) == BOB


def test_the_newer_stream_is_the_only_one(both: tuple[Ledger, Ledger]) -> None:
    here, there = both
    stopped: list[str] = []
    with here.stream(ANN, lambda: stopped.append("first")), there.stream(ANN, lambda: stopped.append("second")):
        assert stopped == ["first"]
    here.end(ANN)
    assert stopped == ["first"]


def test_a_log_level_is_the_sessions_wherever_it_goes(both: tuple[Ledger, Ledger]) -> None:
    here, there = both
    there.set_level(Session(revision="2025-11-25", id="ann", log_level="debug"))
    assert here.recall(ANN) == Session(revision="2025-11-25", id="ann", log_level="debug")
    there.set_level(Session(revision="2025-11-25", id="ann", log_level="error"))
    assert here.recall(ANN) == Session(revision="2025-11-25", id="ann", log_level="error")
    assert here.recall(BOB) == BOB


@pytest.mark.parametrize(
    "message", [b"", b"e", b"?" + bytes(16), b"l" + bytes(16) + b"loud", b"c" + bytes(16), b"\xff"]
)
def test_what_is_not_understood_is_ignored(message: bytes) -> None:
    one, _ = siblings()
    with one.call(ANN, 1, pytest.fail):
        one.hear(message)
    assert one.recall(ANN) == ANN


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "REMEMBERED", 2)
    one, _ = siblings()
    sessions = [Session(revision="2025-11-25", id=str(number)) for number in range(3)]
    for session in sessions:
        one.end(session)
    assert [one.recall(session) is None for session in sessions] == [False, True, True]
