"""Terms: words that belong together meet, words that do not stay apart, whatever the writing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.terms import stem, terms


@pytest.mark.parametrize(
    "name",
    ["getUserIDs", "get_user_ids", "get-user-id", "GetUserId", "Get user IDs", "get.userIds", "GET /user/{id}"],
)
def test_an_identifier_has_the_same_terms_however_it_is_written(name: str) -> None:
    assert terms(name) == ["get", "user", "id"]


@pytest.mark.parametrize(
    "family",
    [
        "movie movies",
        "company companies",
        "box boxes",
        "cache caches",
        "address addresses",
        "status statuses",
        "plan plans planned planning",
        "create creates created creating creation creator",
        "direct directs directed director directors",
        "recommend recommended recommendation recommendations",
        "notify notifies notified notification",
        "merge merged merging",
        "id ids",
        "RÉSUMÉ résumés",
    ],
)
def test_the_forms_of_a_word_have_one_stem(family: str) -> None:
    assert len(set(terms(family))) == 1


@pytest.mark.parametrize(
    "words", ["app apply", "user use", "list listing_list", "bus business", "ring r", "us use", "s3 s", "v2 v"]
)
def test_different_words_stay_apart(words: str) -> None:
    first, second = words.split()
    assert terms(first) != terms(second)


def test_what_follows_an_apostrophe_is_no_word() -> None:
    assert terms("today's, I'm, Anna’s") == [stem("today"), "i", "anna"]  # noqa: RUF001 - the sign that people write


@given(st.text())
def test_any_text_has_terms_without_blanks_or_capitals(text: str) -> None:
    for term in terms(text):
        assert term
        assert not any(character.isspace() for character in term)
        assert terms(term.upper()) or not term.isascii()


@given(st.from_regex(r"[A-Za-z]{1,20}", fullmatch=True))
def test_case_does_not_matter_to_a_word(word: str) -> None:
    assert stem(word.upper()) == stem(word.lower())
