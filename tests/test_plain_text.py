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
