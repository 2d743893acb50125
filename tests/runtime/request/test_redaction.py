"""`redact`: no user, password or value of a query of any URL in a text, however it is written."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.request.redaction import (
    is_secret_header,
    redact,
    secrets_of_url,
    without_secrets,
    without_user,
)


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("https://api.example.com/v1", "https://api.example.com/v1"),
        ("https://user:pw@api.example.com/v1", "https://api.example.com/v1"),
        ("https://user@api.example.com:8443", "https://api.example.com:8443"),
        ("https://u:p@w:x@h/v1", "https://h/v1"),
        ("https://u:p/w?x#y@h/v1", "https://h/v1"),
        ("//u:pw@h", "//h"),
        ("u:pw@h.example/v1", "h.example/v1"),
        ("u:p@w@h.example/v1", "h.example/v1"),
        ("--base-url u:pw@h", "--base-url h"),
        ("https://a=https://u:pw@b", "https://a=https://b"),
        ("https://u:pw@a=https://v:pw@b", "https://a=https://b"),
        ("a.example=u:pw@b", "a.example=b"),
        ("https://h/doc?sig=pw&page=2#/paths", "https://h/doc?sig=…&page=…#/paths"),
        ("https://h/doc?pw", "https://h/doc?…"),
        ("https://h/?", "https://h/?"),
        ("see 'https://u:pw@h/?a=pw' and \"http://h?b=pw\".", "see 'https://h/?a=…' and \"http://h?b=…\"."),
        ("https://host:8080/users/@me", "https://host:8080/users/@me"),
        ("https://h/@scope/pkg?x", "https://h/@scope/pkg?…"),
        ("what? who@example.com wrote: a@b", "what? who@example.com wrote: a@b"),
        ("petstore.yaml", "petstore.yaml"),
    ],
)
def test_users_passwords_and_values_of_queries_are_removed(text: str, redacted: str) -> None:
    assert redact(text) == redacted


USERINFO = st.text(st.characters(exclude_characters="/?#&\"'<>`@:", exclude_categories=["Z", "C"]), min_size=1)


@given(USERINFO, USERINFO, st.sampled_from(["", "cannot fetch ", "--base-url ", "(", "'"]))
def test_no_password_of_a_url_is_left(user: str, password: str, before: str) -> None:
    text = redact(f"{before}https://{user}:{password}@api.example.com/v1?q={password} x")
    assert text == f"{before}https://api.example.com/v1?q=… x"


@pytest.mark.parametrize("piece", ["//", "//a:", "a:", "@", "//a@", ":b@", "?a", "https://u:p@h?x=1", "=a:", "(a:b"])
def test_time_is_linear(piece: str) -> None:
    started = time.perf_counter()
    redact(piece * 20_000 + "?@")
    assert time.perf_counter() - started < 5  # quadratic time would be minutes


def test_url_for_a_file_keeps_pairs_that_are_no_secrets() -> None:
    url = "https://u:p@h:1/v1?api-version=2&api_key=x&sig=y&design=z"
    assert without_secrets(url) == "https://h:1/v1?api-version=2&design=z"
    assert without_user(url) == "https://h:1/v1?api-version=2&api_key=x&sig=y&design=z"
    for unchanged in ("HTTPS://H/v1", "https://h/@a?b", "https://h?a=@"):
        assert without_secrets(unchanged) == without_user(unchanged) == unchanged


def test_secrets_of_a_url_and_of_headers_are_recognised() -> None:
    assert list(secrets_of_url("https://u:p%40w@h/?key=k1&page=2")) == ["u:p@w", "k1"]
    assert list(secrets_of_url("http://[")) == []
    assert is_secret_header("X-Api-Key", "1")
    assert is_secret_header("X-Other", "abc0123456789012345xyz")
    assert not is_secret_header("X-Version", "2024-01-01")
