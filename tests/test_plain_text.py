"""Plain texts: invisible characters are removed, long texts are cut and marked."""

import pytest

from openapi_mcp import plain_text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain", "plain"),
        ("  around \n", "around"),
        ("bell\x07 and escape\x1b[31m", "bell and escape[31m"),
        ("turned \u202earound\u202c", "turned around"),
        ("tags \U000e0041\U000e0042 and \u200bzero width", "tags  and zero width"),
        ("half \ud83d a pair", "half  a pair"),
        ("lines\r\nand\rmore", "lines\nand\nmore"),
        ("far\n\n\n\n\napart", "far\n\napart"),
        ("Ünïcödé 日付 🚀", "Ünïcödé 日付 🚀"),
        (None, ""),
        (5, ""),
        ({"$ref": "../../etc/passwd"}, ""),
    ],
)
def test_invisible_characters_are_removed(text: object, cleaned: str) -> None:
    assert plain_text.clean(text) == cleaned


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("Short.", 20, "Short."),
        ("One sentence. Another one that is long.", 25, "One sentence. …"),
        ("A. Then a sentence that does not end before the limit", 27, "A. Then a sentence that …"),
        ("unbreakable" * 5, 20, "unbreakableunbreak …"),
        ("Version 1.2.3 is out. And more of it", 30, "Version 1.2.3 is out. …"),
        ("The name of it (e.g. octocat) in lower case", 24, "The name of it …"),
        ("The name (e.g. octocat) in lower case", 26, "The name (e.g. octocat) …"),
        ("Ends (of sentences). And more of them", 24, "Ends (of sentences). …"),
        ("It is, e.g. the first, i.e. the one", 18, "It is, e.g. the …"),
        ("Compare a vs. the other one, and more", 20, "Compare a vs. the …"),
        ("See No. 5 of the standard, and more", 16, "See No. 5 of …"),
        ("Costs 2.50 a unit. The rest of it is long", 24, "Costs 2.50 a unit. …"),
        ("Read https://a.b/c.d today. The rest is long", 32, "Read https://a.b/c.d today. …"),
        ("A list, etc. and the rest of this text", 20, "A list, etc. and …"),
        ("Is it so? That is the question of it", 16, "Is it so? …"),
        ("Names, such as [a, b] and others", 18, "Names, such as …"),
    ],
)
def test_long_text_is_cut_after_a_sentence_or_a_word(text: str, limit: int, expected: str) -> None:
    assert plain_text.trim(text, limit) == expected
    assert len(expected) <= limit


def test_line_is_one_line() -> None:
    assert plain_text.line("a\n  title\tin pieces") == "a title in pieces"


def test_first_sentence_is_empty_if_it_is_too_long() -> None:
    assert plain_text.sentence("First one. Second one.", 20) == "First one."
    assert plain_text.sentence("First paragraph\n\nsecond", 20) == "First paragraph"
    assert plain_text.sentence("A sentence that is too long", 20) == ""


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("The id (e.g. `x`). More.", "The id (e.g. `x`)."),
        ("Takes a file, i.e. its bytes. More.", "Takes a file, i.e. its bytes."),
        ("Foo vs. Bar. More.", "Foo vs. Bar."),
        ("One etc. and two. More.", "One etc. and two."),
        ("Many things, etc. More.", "Many things, etc."),
        ("See fig. 3 of it. More.", "See fig. 3 of it."),
        ("The answer is no. More.", "The answer is no."),
        ("Since v. 2.1 it works. More.", "Since v. 2.1 it works."),
    ],
)
def test_a_sentence_does_not_end_at_an_abbreviation(text: str, first: str) -> None:
    assert plain_text.sentence(text, 80) == first


def test_sentences_of_hostile_texts_are_found_in_linear_time() -> None:
    assert plain_text.sentence("e.g. " * 200_000, 10) == ""
    assert plain_text.sentence("." * 200_000, 10) == ""


def test_texts_are_compared_by_their_words() -> None:
    assert plain_text.begins_with("List pets. All of them.", "List Pets")
    assert not plain_text.begins_with("List petshops.", "List pets")


def test_only_the_beginning_of_a_very_long_text_is_read() -> None:
    assert len(plain_text.clean("x" * (plain_text.MAX_TEXT_LENGTH + 1))) == plain_text.MAX_TEXT_LENGTH
    assert plain_text.line("word " * plain_text.MAX_TEXT_LENGTH, 12) == "word word …"
