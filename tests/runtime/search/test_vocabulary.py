"""Terms: words that belong together share them, other words do not, however they are spelled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.search.vocabulary import stem, terms


@pytest.mark.parametrize(
    "name",
    ["getUserIDs", "get_user_ids", "get-user-id", "GetUserId", "Get user IDs", "get.userIds", "GET /user/{id}"],
)
def test_spellings_of_an_identifier_have_the_same_terms(name: str) -> None:
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
def test_forms_of_a_word_have_one_stem(family: str) -> None:
    assert len(set(terms(family))) == 1


@pytest.mark.parametrize(
    "words", ["app apply", "user use", "list listing_list", "bus business", "ring r", "us use", "s3 s", "v2 v"]
)
def test_different_words_have_different_terms(words: str) -> None:
    first, second = words.split()
    assert terms(first) != terms(second)


def test_ending_after_an_apostrophe_is_not_a_term() -> None:
    assert terms("today's, I'm, Anna’s") == [stem("today"), "i", "anna"]  # noqa: RUF001 - the sign that people write


@given(st.text())
def test_terms_of_any_text_have_no_white_space(text: str) -> None:
    for term in terms(text):
        assert term
        assert not any(character.isspace() for character in term)
        assert terms(term.upper()) or not term.isascii()


@given(st.from_regex(r"[A-Za-z]{1,20}", fullmatch=True))
def test_stem_ignores_case(word: str) -> None:
    assert stem(word.upper()) == stem(word.lower())
