"""Tokens: valid for one call of one caller, for some minutes, once, in each process with the key."""

from collections.abc import Callable

import pytest

from openapi_mcp.elicitation.tokens import LIFETIME, SubjectOfToken, TokenSigner

CALL = SubjectOfToken("state", "ann", "deletePet", {"petId": 3, "why": {"a": 1, "b": [2]}})
NOW = 1_000_000.0


def signer(key: bytes = b"k", spend: Callable[[str], bool] = lambda _: True, now: float = NOW) -> TokenSigner:
    return TokenSigner(key, spend, lambda: now)


def test_token_is_valid_for_the_same_call_in_another_process() -> None:
    token = signer().issue(CALL)
    assert signer().is_valid(token, CALL)
    assert signer().is_valid(token, CALL._replace(arguments={"why": {"b": [2], "a": 1}, "petId": 3}))
    assert token != signer().issue(CALL)


@pytest.mark.parametrize(
    "other",
    [
        CALL._replace(purpose="phrase"),
        CALL._replace(caller="bob"),
        CALL._replace(caller=""),
        CALL._replace(tool="deletePets"),
        CALL._replace(arguments={"petId": 4, "why": {"a": 1, "b": [2]}}),
        CALL._replace(arguments={"petId": "3", "why": {"a": 1, "b": [2]}}),
        CALL._replace(arguments={}),
    ],
)
def test_token_is_not_valid_for_another_call_or_caller(other: SubjectOfToken) -> None:
    assert not signer().is_valid(signer().issue(CALL), other)


def test_token_expires() -> None:
    token = signer().issue(CALL)
    assert signer(now=NOW + LIFETIME - 1).is_valid(token, CALL)
    assert not signer(now=NOW + LIFETIME + 1).is_valid(token, CALL)


def test_token_of_another_key_and_altered_ones_are_not_valid() -> None:
    token = signer().issue(CALL)
    assert not signer(b"other").is_valid(token, CALL)
    end, nonce, signature = token.split(".")
    later = f"{int(end, 16) + 1:x}.{nonce}.{signature}"
    for altered in ("", ".", "..", "é" + token, token[:-1], token + "x" * 200, later, f"{end}.{signature}"):
        assert not signer().is_valid(altered, CALL)


def test_token_is_used_once() -> None:
    spent: set[str] = set()

    def spend(text: str) -> bool:
        is_new = text not in spent
        spent.add(text)
        return is_new

    token = signer().issue(CALL)
    assert signer(spend=spend).use(token)
    assert not signer(spend=spend).use(token)
    assert signer(spend=spend).use(signer().issue(CALL))
