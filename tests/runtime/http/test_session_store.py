"""`SessionStore`: the state of sessions in one process and its sibling, which receive messages at once local."""

import pytest

from openapi_mcp.runtime.http import sessions
from openapi_mcp.runtime.http.sessions import SessionStore
from openapi_mcp.runtime.protocol import ClientAnswer, Session

ANN, BOB = Session(revision="2025-11-25", id="ann"), Session(revision="2025-11-25", id="bob")


def siblings() -> tuple[SessionStore, SessionStore]:
    def send_to_other(message: bytes) -> None:
        other.receive(message)

    one = SessionStore(send_to_other)
    other = SessionStore(one.receive)
    return one, other


@pytest.fixture(params=["same process", "sibling"])
def both(request: pytest.FixtureRequest) -> tuple[SessionStore, SessionStore]:
    """The store of a call in flight, and the store that gets the request to stop it."""
    one, other = siblings()
    return (one, one) if request.param == "same process" else (one, other)


def test_call_is_stopped_by_its_own_session_and_id_only(both: tuple[SessionStore, SessionStore]) -> None:
    local, remote = both
    stopped: list[str] = []
    with (
        local.track_call(ANN, 1, lambda: stopped.append("ann")),
        local.track_call(BOB, 1, lambda: stopped.append("bob")),
    ):
        remote.cancel(ANN, "1")
        remote.cancel(ANN, 2)
        assert stopped == []
        remote.cancel(ANN, 1)
        assert stopped == ["ann"]
    remote.cancel(BOB, 1)
    assert stopped == ["ann"]


def test_request_id_may_be_reused(both: tuple[SessionStore, SessionStore]) -> None:
    local, remote = both
    stopped: list[int] = []
    with local.track_call(ANN, 1, lambda: stopped.append(1)):
        pass
    with local.track_call(ANN, 1, lambda: stopped.append(2)):
        remote.cancel(ANN, 1)
    assert stopped == [2]


def test_end_of_a_session_stops_its_calls_and_stream(both: tuple[SessionStore, SessionStore]) -> None:
    local, remote = both
    stopped: list[str] = []
    with (
        local.track_call(ANN, 1, lambda: stopped.append("one")),
        local.track_call(ANN, 2, lambda: stopped.append("two")),
        local.track_stream(ANN, lambda: stopped.append("stream")),
        local.track_stream(BOB, lambda: stopped.append("bob")),
    ):
        remote.end(ANN)
        assert stopped == ["one", "two", "stream"]
    assert local.restore(ANN) is remote.restore(ANN) is None
    assert local.restore(BOB) == BOB


def test_newer_stream_stops_the_older_one(both: tuple[SessionStore, SessionStore]) -> None:
    local, remote = both
    stopped: list[str] = []
    with (
        local.track_stream(ANN, lambda: stopped.append("first")),
        remote.track_stream(ANN, lambda: stopped.append("second")),
    ):
        assert stopped == ["first"]
    local.end(ANN)
    assert stopped == ["first"]


def test_log_level_is_shared_between_processes(both: tuple[SessionStore, SessionStore]) -> None:
    local, remote = both
    remote.set_level(Session(revision="2025-11-25", id="ann", log_level="debug"))
    assert local.restore(ANN) == Session(revision="2025-11-25", id="ann", log_level="debug")
    remote.set_level(Session(revision="2025-11-25", id="ann", log_level="error"))
    assert local.restore(ANN) == Session(revision="2025-11-25", id="ann", log_level="error")
    assert local.restore(BOB) == BOB


@pytest.mark.parametrize(
    "message", [b"", b"e", b"?" + bytes(16), b"l" + bytes(16) + b"loud", b"c" + bytes(16), b"\xff"]
)
def test_unknown_messages_are_ignored(message: bytes) -> None:
    one, _ = siblings()
    with one.track_call(ANN, 1, pytest.fail):
        one.receive(message)
    assert one.restore(ANN) == ANN


def test_memory_of_ended_sessions_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_REMEMBERED_SESSIONS", 2)
    one, _ = siblings()
    known = [Session(revision="2025-11-25", id=str(number)) for number in range(3)]
    for session in known:
        one.end(session)
    assert [one.restore(session) is None for session in known] == [False, True, True]


def test_state_of_a_session_lasts_until_its_end_in_any_process(both: tuple[SessionStore, SessionStore]) -> None:
    holder, ending = both
    session, other = (Session(revision="2025-11-25", id=name) for name in ("one", "two"))
    holder.state(session).values["a"] = 1
    assert holder.state(session).values == {"a": 1}
    assert holder.state(session).is_session
    assert holder.state(other).values == {}
    ending.end(session)
    assert holder.state(session).values == {}


def test_requests_without_a_session_have_one_state_together() -> None:
    one, _ = siblings()
    one.state(Session()).values["a"] = 1
    assert one.state(Session()).values == {"a": 1}
    assert not one.state(Session()).is_session


YES = {"action": "accept", "content": {"confirm": True}}


def test_answer_reaches_the_call_that_waits_for_it_in_its_own_session_only(
    both: tuple[SessionStore, SessionStore],
) -> None:
    local, remote = both
    got: list[object] = []
    local.state(ANN).waiting["ask-1"] = got.append
    remote.answer(BOB, ClientAnswer("ask-1", YES))
    remote.answer(ANN, ClientAnswer("ask-2", YES))
    assert got == []
    remote.answer(ANN, ClientAnswer("ask-1", YES))
    remote.answer(ANN, ClientAnswer("ask-1", {"action": "decline"}))
    assert got == [YES]


def test_answer_that_is_too_large_for_siblings_counts_as_cancelled(both: tuple[SessionStore, SessionStore]) -> None:
    local, remote = both
    got: list[object] = []
    local.state(ANN).waiting["ask-1"] = got.append
    remote.answer(ANN, ClientAnswer("ask-1", {"action": "accept", "content": {"a": "x" * 1000}}))
    assert got == [{"action": "cancel"}]


def test_text_is_spent_once_in_all_processes(both: tuple[SessionStore, SessionStore]) -> None:
    local, remote = both
    spend = local.state(ANN).spend
    assert spend is not None
    assert spend("used 1")
    for store in (local, remote):
        for session in (ANN, BOB, Session()):
            spend = store.state(session).spend
            assert spend is not None
            assert not spend("used 1")
    assert spend("used 2")
    assert local.restore(ANN) == ANN


def test_end_of_a_page_is_announced_to_its_own_session_only(both: tuple[SessionStore, SessionStore]) -> None:
    local, remote = both
    told: list[tuple[str, str]] = []
    with (
        local.listening(ANN, lambda page: told.append(("ann", page))),
        local.listening(BOB, lambda page: told.append(("bob", page))),
    ):
        remote.complete(ANN.id or "", "page-1")
        remote.complete("nobody", "page-2")
    remote.complete(ANN.id or "", "page-3")
    assert told == [("ann", "page-1")]
