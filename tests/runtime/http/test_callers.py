"""`TrustedProxies` and `Callers`: whose request it is, and as whose call it counts."""

import pytest

from openapi_mcp.runtime.http.callers import (
    MAX_ADDRESSES,
    MAX_SESSIONS_PER_ADDRESS,
    SESSION_IDLE_SECONDS,
    Callers,
    TrustedProxies,
)
from openapi_mcp.runtime.protocol import Session
from openapi_mcp.runtime.upstream.shares import Caller

PROXY = "10.0.0.1"


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "address"),
    [
        ([], "127.0.0.1", "198.51.100.1", "127.0.0.1"),
        (["10.0.0.0/8"], "127.0.0.1", "198.51.100.1", "127.0.0.1"),
        (["127.0.0.1"], "127.0.0.1", "198.51.100.1", "198.51.100.1"),
        ([PROXY], PROXY, "", PROXY),
        ([PROXY], PROXY, "forged, 203.0.113.9, 198.51.100.1", "198.51.100.1"),
        (["10.0.0.0/8"], PROXY, "203.0.113.9, 198.51.100.1, 10.1.1.1 ,10.2.2.2", "198.51.100.1"),
        (["10.0.0.0/8"], PROXY, "10.1.1.1, 10.2.2.2", "10.1.1.1"),
        (["10.0.0.0/8"], PROXY, "198.51.100.1, unknown, 10.2.2.2", "10.2.2.2"),
        ([PROXY], PROXY, "198.51.100.1:4711", "198.51.100.1"),
        ([PROXY], PROXY, "[2001:db8:1:2:3::4]:4711", "2001:db8:1:2::/64"),
        ([PROXY], PROXY, "2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ([PROXY], f"::ffff:{PROXY}", "198.51.100.1", "198.51.100.1"),
        ([], "::ffff:198.51.100.1", "", "198.51.100.1"),
        ([], "2001:db8:1:2:ffff::1", "", "2001:db8:1:2::/64"),
        ([PROXY], PROXY, "," * 60_000, PROXY),
        ([PROXY], PROXY, f"{PROXY}," * 5000 + "198.51.100.1", "198.51.100.1"),
        ([PROXY], "", "198.51.100.1", ""),
    ],
)
def test_only_what_trusted_proxies_wrote_counts(trusted: list[str], peer: str, forwarded: str, address: str) -> None:
    assert TrustedProxies(trusted).address(peer, forwarded) == address


@pytest.mark.parametrize("text", ["", "proxy.example", "10.0.0.0/33", "10.0.0.1:80"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="does not appear to be"):
        TrustedProxies([text])


def callers(*, has_token: bool = False, now: list[float] | None = None) -> Callers:
    times = now or [0.0]
    return Callers(TrustedProxies(), has_token=has_token, clock=lambda: times[0])


def session(number: object) -> Session:
    return Session(revision="2025-11-25", id=f"id {number}")


def test_calls_count_by_session_else_by_token_else_by_address() -> None:
    caller = Caller("198.51.100.1")
    assert callers().counted_as(caller, Session()) == "address 198.51.100.1"
    assert callers(has_token=True).counted_as(caller, Session()) == "token"
    assert callers().counted_as(caller, session(1)) == "session id 1"


def test_sessions_of_an_address_beyond_a_few_count_together() -> None:
    now = [0.0]
    known = callers(now=now)
    names = {known.counted_as(Caller("a"), session(number)) for number in range(100)}
    assert len(names) == MAX_SESSIONS_PER_ADDRESS + 1
    assert "address a" in names
    assert known.counted_as(Caller("b"), session("of another address")).startswith("session")
    now[0] = SESSION_IDLE_SECONDS / 2
    assert known.counted_as(Caller("a"), session(1)) == "session id 1"
    now[0] = SESSION_IDLE_SECONDS
    assert known.counted_as(Caller("a"), session("new")) == "session id new"
    assert known.counted_as(Caller("a"), session(1)) == "session id 1"


def test_a_bounded_number_of_addresses_is_remembered() -> None:
    known = callers()
    for number in range(MAX_ADDRESSES + 100):
        known.counted_as(Caller(str(number)), session(number))
    assert len(known._sessions) == MAX_ADDRESSES


def test_clients_of_an_address_are_told_apart_by_session_else_by_program() -> None:
    def client(**headers: str) -> object:
        lines = {name.replace("_", "-"): value for name, value in headers.items()}
        return callers().caller({"client": ("198.51.100.1", 4711)}, lines).client

    assert client(user_agent="a") == client(user_agent="a")
    assert len({client(), client(user_agent="a"), client(user_agent="b"), client(mcp_session_id="s")}) == 4
