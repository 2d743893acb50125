"""Session ids: what they carry, and that nobody can make or change one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.protocol import HANDSHAKE, Session
from openapi_mcp.runtime.sessions import Sessions

SESSIONS = Sessions(b"secret")
BEGUN = Session(revision="2025-11-25")


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_an_id_carries_what_was_negotiated_and_is_unique(revision: str) -> None:
    tokens = [SESSIONS.issue(Session(revision=revision)) for _ in range(2)]
    read = [SESSIONS.read(token) for token in tokens]
    assert [session and session.revision for session in read] == [revision, revision]
    assert read[0] != read[1]
    assert all(0x21 <= ord(character) <= 0x7E for token in tokens for character in token)


def test_whoever_has_the_secret_reads_it() -> None:
    token = SESSIONS.issue(BEGUN)
    assert Sessions(b"secret").read(token) == SESSIONS.read(token) != None  # noqa: E711
    assert Sessions(b"another").read(token) is None
    assert Sessions.random().read(token) is None


def test_an_id_belongs_to_who_it_was_given_to() -> None:
    token = SESSIONS.of("Ann's token").issue(BEGUN)
    assert SESSIONS.of("Ann's token").read(token) is not None
    assert SESSIONS.of("Bob's token").read(token) is None
    assert SESSIONS.read(token) is None


@given(st.data())
def test_whatever_is_changed_it_is_no_id_any_more(data: st.DataObject) -> None:
    token = SESSIONS.issue(BEGUN)
    place = data.draw(st.integers(0, len(token) - 1))
    character = data.draw(st.characters(max_codepoint=0xFF).filter(lambda one: one != token[place]))
    assert SESSIONS.read(token[:place] + character + token[place + 1 :]) is None


@given(st.text(max_size=300))
def test_what_was_not_issued_is_no_id(text: str) -> None:
    assert SESSIONS.read(text) is None


def test_an_id_expires() -> None:
    now = 1_000_000.0
    sessions = Sessions(b"secret", lifetime=60, clock=lambda: now)
    token = sessions.issue(BEGUN)
    now += 60
    assert sessions.read(token) is not None
    now += 1
    assert sessions.read(token) is None
