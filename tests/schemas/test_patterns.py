"""Test that patterns match the same in JavaScript and Python, or are dropped, and never take exponential time."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openapi_mcp.schemas.patterns import MAX_PATTERN_LENGTH, portable

SAME = [
    r"^[0-9]+ kg$",
    r"^[a-z0-9]+(-[a-z0-9]+)*$",
    r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    r"^https?://[^ /$.?#].[^ ]*$",
    r"^(?=.*[A-Z])(?=.*[0-9]).{8,}$",
    r"(?<!x)y(?!z)",
    r"(a)\1",
    r"a{2,5}?b*?",
    r"^(foo|far)*$",
    "",
]

WORD = "A-Za-z0-9_"
SPACE = r"\x09-\x0d \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

REWRITTEN = [
    (r"\@\:\-\_\"\'\ \#\%\,", "@:-_\"' #%,"),
    (r"^\d\D$", r"^[0-9][^0-9]$"),
    (r"\w\W", r"[A-Za-z0-9_][^A-Za-z0-9_]"),
    (r"\s", f"[{SPACE}]"),
    (r"^\S+$", f"^[^{SPACE}]+$"),
    (r"[^\s/]", f"[^{SPACE}/]"),
    (r"\b", f"(?:(?<=[{WORD}])(?![{WORD}])|(?<![{WORD}])(?=[{WORD}]))"),
    (r"\Bx", f"(?:(?<=[{WORD}])(?=[{WORD}])|(?<![{WORD}])(?![{WORD}]))x"),
    (r"[\w-.]", rf"[{WORD}\-.]"),
    (r"[a-\d]", r"[a\-0-9]"),
    (r"[\D]", "[^0-9]"),
    (r"[^\D]", "[0-9]"),
    (r"[\Dab]", "(?:[^0-9]|[ab])"),
    (r"[\D\W]", f"(?:[^0-9]|[^{WORD}])"),
    (r"[^\W_]", f"(?:(?![_])[{WORD}])"),
    (r"[^\W\D5]", f"(?:(?![5])(?=[{WORD}])[0-9])"),
    (r"[a-\Db-]", r"(?:[^0-9]|[a\-b\-])"),
    (r"[\w\W]", r"[\s\S]"),
    (r"[\d\D]+", r"[\s\S]+"),
    (r"[^\s\S]", r"[^\s\S]"),
    (r"[-a]", r"[\-a]"),
    (r"[+--]", r"[+-\-]"),
    (r"[[|]", r"[\[\|]"),
    (r"[&&~~]", r"[\x26\x26\x7e\x7e]"),
    (r"{x}", r"\{x\}"),
    (r"x]", r"x\]"),
    (r"a{,3}", r"a{0,3}"),
    (r"\Aab\Z", "^ab$"),
    (r"(?P<year>\d{4})-(?<month>\d\d)", r"([0-9]{4})-([0-9][0-9])"),
    (r"\u{1F600}\ud83d\ude00\u0041\x42", "😀😀AB"),
    (r"\0\t\x85", r"\x00\x09\x85"),
    (r"[\b\n]", r"[\x08\x0a]"),
    (r"[^]", r"[\s\S]"),
    (r"[^]]*", r"[\s\S]\]*"),
    (r"a[^]b]", r"a[\s\S]b\]"),
    (r"/^abc$/", "^abc$"),
    (r"/^abc$/u", "^abc$"),
    (r"/^[a-z]+/", "^[a-z]+"),
    (r"/[a-z]+$/g", "[a-z]+$"),
    (r"/a\$/", r"/a\$/"),
    (r"/^a|b/", r"/^a|b/"),
    (r"/api/v1/", r"/api/v1/"),
    (r"a\/b", "a/b"),
]

NOT_PORTABLE = [
    r"/^abc$/i",
    r"(?i)abc",
    r"(?i:abc)",
    r"(?>abc)",
    r"(?#comment)",
    r"\p{L}+",
    r"[[:alpha:]]",
    r"[]abc]",
    r"[]",
    r"a|[]]*",
    r"a*+",
    r"a{2}{3}",
    r"a**",
    r"*a",
    r"{2}",
    r"(?=a)*",
    r"^*",
    r"(?<n>a)\k<n>",
    r"(a)\2",
    r"\1\10",
    r"\01",
    r"\cA",
    r"\R",
    r"\ud83d",
    r"\u{110000}",
    r"a{5,2}",
    r"[z-a]",
    r"(?<bad",
    r"(a",
    r"a)",
    r"[a",
    "[",
    "a\\",
    r"^(?<year>\p{Nd}{4}",
    r"(?<=a+)b",
    "(" * 40 + ")" * 40,
    "a" * (MAX_PATTERN_LENGTH + 1),
    "\ud83d",
]

EXPLOSIVE = [
    r"^(a+)+$",
    r"^(a*)*$",
    r"(\w|\d)*",
    r"((a|a)x)*",
    r"^(a*a*x)*$",
    r"^(\w+\s?)*$",
    r"(a+){10}",
    r"([a-z]{1,50}){1,50}",
    r"(a?b?)*c",
    r"^(.*,)*x$",
    r"(?=(a+)+$)a",
    r"(" + "|".join(f"w{number}" for number in range(40)) + r"+)*",  # too large to tell
]


@pytest.mark.parametrize("pattern", SAME)
def test_portable_patterns_are_unchanged(pattern: str) -> None:
    assert portable(pattern) == pattern


@pytest.mark.parametrize(("pattern", "rewritten"), REWRITTEN)
def test_patterns_of_one_dialect_are_rewritten(pattern: str, rewritten: str) -> None:
    assert portable(pattern) == rewritten


@pytest.mark.parametrize("pattern", NOT_PORTABLE)
def test_patterns_without_a_portable_form_are_none(pattern: str) -> None:
    assert portable(pattern) is None


@pytest.mark.parametrize("pattern", EXPLOSIVE)
def test_exponential_patterns_are_none(pattern: str) -> None:
    assert portable(pattern) is None


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        r"[\w-]+@([\w-]+\.)+[\w-]+",
        r"^(\d{3}){2}$",
        r"^(?:\d{1,3}\.){3}\d{1,3}$",
        r"^([a-z]+,)*[a-z]+$",
        r"^(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$",
        r"^(\w|[^\x00-\x7f])*$",
        r"^(\d|[^\W\d])*$",
    ],
)
def test_unambiguous_nested_loops_are_portable(pattern: str) -> None:
    assert portable(pattern) is not None


PIECES = st.sampled_from(
    [
        *r"ab09-_.^$|()[]{}*+?\/ &~:,",
        "(?:",
        "(?=",
        "[^",
        r"\d",
        r"\w",
        r"\s",
        r"\W",
        r"\S",
        r"\B",
        r"\.",
        r"\-",
        r"\@",
        r"\b",
        "{2}",
        "{1,3}",
    ]
)
PATTERNS = st.lists(PIECES, max_size=12).map("".join)
TEXTS = st.text(alphabet="ab09-_. &@", max_size=8)


CLASS = re.compile(r"\\.|\[\^\]|\[\]|\[\^?(?:\\.|[^\]\\])*\]")
"""An escape or a class as ECMA-262 reads it: there `]` always ends a class, in Python not as its first member."""
OTHER_IN_PYTHON = {"[^]": r"[\s\S]", "[]": "(?!)", r"\B": r"(?:\B|(?<![\s\S])(?![\s\S]))"}
"""Classes without members, and `\\B`, which matches an empty text in Python 3.14 only."""


def python_pattern(pattern: str) -> str:
    """Return an ECMA-262 pattern as Python writes it."""
    return CLASS.sub(lambda match: OTHER_IN_PYTHON.get(match[0], match[0]), pattern)


@given(PATTERNS, TEXTS)
@example("[^]]*", "")
@example("a[^]]", "a]")
@example("a[^]]", "ab]")
@example(r"\[^]", "[")
@example("[a[^]]*", "]")
def test_a_rewritten_pattern_matches_the_same_texts(pattern: str, text: str) -> None:
    rewritten = portable(pattern)
    if rewritten is None or "/" in pattern:
        return
    try:
        expected = re.compile(python_pattern(pattern), re.ASCII)
    except (re.error, FutureWarning):  # Python has no such syntax
        return
    assert bool(re.search(rewritten, text)) == bool(expected.search(text))


def test_portable_patterns_match_the_same_in_javascript(node: Path) -> None:
    patterns = [portable(pattern) for pattern in [*SAME, *(pattern for pattern, _ in REWRITTEN)]]
    texts = ["", "12 kg", "a-b-c", "QUJD", "aabb", "foofar", "{x}", "x]", "2024-01", "A1bcdefg", "[", "&~", "😀😀AB"]
    program = """
        const [patterns, texts] = JSON.parse(process.argv[1]);
        console.log(JSON.stringify(patterns.map(p => texts.map(t => new RegExp(p, 'u').test(t)))));
    """
    done = subprocess.run(
        [node, "-e", program, json.dumps([patterns, texts])], capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(done.stdout) == [[bool(re.search(pattern or "", text)) for text in texts] for pattern in patterns]


def test_classes_and_boundaries_match_as_in_javascript(node: Path) -> None:
    patterns = [
        *(r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"[\d.]", r"[^\d.]", r"[\s,]", r"[^\s,]", r"[\W,]", r"[^\W\d]"),
        *(r"[\S,]", r"[^\S\n]", r"[\D\S]", r"[^\D\S]", r"^\b", r"\b$", r"^\B", r"[\w\W]", r"[^\w\W]"),
    ]
    characters = [chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000] + ["\U0001d7d8", "😀"]
    program = """
        const [patterns, texts] = JSON.parse(require('fs').readFileSync(0));
        const matches = p => texts.filter(t => new RegExp(p, 'u').test(t));
        console.log(JSON.stringify([patterns[0].map(matches), patterns[1].map(matches)]));
    """
    rewritten = [portable(pattern) or "?" for pattern in patterns]
    done = subprocess.run(
        [node, "-e", program],
        input=json.dumps([[patterns, rewritten], characters]),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    original, in_javascript = json.loads(done.stdout)
    assert in_javascript == original
    assert [[text for text in characters if re.search(pattern, text)] for pattern in rewritten] == original


def test_patterns_match_the_same_in_rust() -> None:
    from jsonschema_rs import Draft202012Validator

    texts = [
        "",
        "1",
        "\u0663",
        "é",
        "a",
        "_",
        " ",
        "\ufeff",
        "\x1c",
        "\x85",
        "\u2003",
        "a b",
        "né",
        "word,",
        "A1bcdefg",
    ]
    for pattern in [rewritten for _, rewritten in REWRITTEN] + SAME:
        accepts = Draft202012Validator({"pattern": pattern}).is_valid
        assert [accepts(text) for text in texts] == [bool(re.search(pattern, text)) for text in texts], pattern
