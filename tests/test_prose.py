"""Texts keep what can be read and lose what cannot be seen; what is cut says so."""

import pytest

from openapi_mcp import prose


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
def test_what_cannot_be_seen_is_removed(text: object, cleaned: str) -> None:
    assert prose.clean(text) == cleaned


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("Short.", 20, "Short."),
        ("One sentence. Another one that is long.", 25, "One sentence. …"),
        ("A. Then a sentence that does not end before the limit", 27, "A. Then a sentence that …"),
        ("unbreakable" * 5, 20, "unbreakableunbreak …"),
        ("Version 1.2.3 is out. And more of it", 30, "Version 1.2.3 is out. …"),
    ],
)
def test_a_long_text_ends_with_a_sentence_or_a_word(text: str, limit: int, kept: str) -> None:
    assert prose.trimmed(text, limit) == kept
    assert len(kept) <= limit


def test_a_line_is_one_line() -> None:
    assert prose.line("a\n  title\tin pieces") == "a title in pieces"


def test_the_first_sentence_is_taken_only_where_it_is_short() -> None:
    assert prose.sentence("First one. Second one.", 20) == "First one."
    assert prose.sentence("First paragraph\n\nsecond", 20) == "First paragraph"
    assert prose.sentence("A sentence that is too long", 20) == ""
