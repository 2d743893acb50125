"""`Sessions`: the contents of session ids, their lifetime, and that they cannot be forged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.http.sessions import Sessions
from openapi_mcp.runtime.protocol import HANDSHAKE, Session

SESSIONS = Sessions(b"secret")
SESSION = Session(revision="2025-11-25")


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_session_id_carries_the_revision_and_is_unique(revision: str) -> None:
    tokens = [SESSIONS.issue(Session(revision=revision)) for _ in range(2)]
    read = [SESSIONS.read(token) for token in tokens]
    assert [session and session.revision for session in read] == [revision, revision]
    assert read[0] != read[1]
    assert all(0x21 <= ord(character) <= 0x7E for token in tokens for character in token)


def test_session_id_is_readable_with_its_secret_only() -> None:
    token = SESSIONS.issue(SESSION)
    assert Sessions(b"secret").read(token) == SESSIONS.read(token) != None  # noqa: E711
    assert Sessions(b"another").read(token) is None
    assert Sessions.random().read(token) is None


def test_session_id_is_valid_for_its_principal_only() -> None:
    token = SESSIONS.for_principal("Ann's token").issue(SESSION)
    assert SESSIONS.for_principal("Ann's token").read(token) is not None
    assert SESSIONS.for_principal("Bob's token").read(token) is None
    assert SESSIONS.read(token) is None


@given(st.data())
def test_altered_session_id_is_invalid(data: st.DataObject) -> None:
    token = SESSIONS.issue(SESSION)
    position = data.draw(st.integers(0, len(token) - 1))
    character = data.draw(st.characters(max_codepoint=0xFF).filter(lambda one: one != token[position]))
    assert SESSIONS.read(token[:position] + character + token[position + 1 :]) is None


@given(st.text(max_size=300))
def test_arbitrary_text_is_no_session_id(text: str) -> None:
    assert SESSIONS.read(text) is None


def test_session_id_expires() -> None:
    now = 1_000_000.0
    sessions = Sessions(b"secret", lifetime=60, clock=lambda: now)
    token = sessions.issue(SESSION)
    now += 60
    assert sessions.read(token) is not None
    now += 1
    assert sessions.read(token) is None
