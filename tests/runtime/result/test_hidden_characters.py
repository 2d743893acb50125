"""Hidden characters are removed or shown as escapes; those that a script or an emoji needs stay."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.result import hidden_characters


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("bell\x07 and \x1b[31mred", "bell\\u0007 and \\u001b[31mred"),
        ("nul\0, del\x7f, csi\x9b", "nul\\u0000, del\\u007f, csi\\u009b"),
        ("turned \u202earound\u2069", "turned \\u202earound\\u2069"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("over\rwritten", "over\\u000dwritten"),
        ("half \ud83d", "half \\ud83d"),
        ("a\u200db", "a\\u200db"),
        ("a\ufe0f\ufe0e", "a\ufe0f\\ufe0e"),
        ("a\U000e0101", "a\\U000e0101"),
        ("\u0645\u200c\u200c\u0645", "\u0645\u200c\\u200c\u0645"),
    ],
)
def test_hidden_character_is_escaped(text: str, escaped: str) -> None:
    assert hidden_characters.escape(text) == escaped


@pytest.mark.parametrize(
    "text",
    [
        "lines\r\nand\ttabs\n",
        "Ünïcödé 日付 🚀 👍🏽 ❤️ 1️⃣",
        "👨\u200d👩\u200d👧 🏳️\u200d🌈",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "क्\u200dष ශ්\u200dරී",
        "葛\U000e0101城",
    ],
)
def test_text_of_scripts_and_emoji_is_unchanged(text: str) -> None:
    assert hidden_characters.escape(text) == hidden_characters.remove(text) == text


@given(st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Lu", "So", "Mn"]), max_size=30))
def test_no_hidden_character_is_left(text: str) -> None:
    for cleaned in (hidden_characters.escape(text), hidden_characters.remove(text)):
        for index, character in enumerate(cleaned):
            if character in "\n\t" or cleaned[index : index + 2] == "\r\n":
                continue
            assert unicodedata.category(character) not in {"Cc", "Cs", "Zl", "Zp"}
            assert (
                character not in "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
            )
            assert not "\U000e0000" <= character <= "\U000e00ff"


@pytest.mark.parametrize(
    ("text", "character"),
    [
        ("a\u202eb", "\\u202e"),
        ("\x1b[2J", "\\u001b"),
        ("a\U000e0041", "\\U000e0041"),
        ("a\u200b\u200d", "\\u200b"),
        ("soft\xadhyphen, one\u200bspace", None),
        ("plain\r\n", None),
    ],
)
def test_deceptive_character_is_named(text: str, character: str | None) -> None:
    assert hidden_characters.deceptive(text) == character
