"""Patterns mean the same in JavaScript and Python, or are none; and none of them can be made to run for ever."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.patterns import LONGEST, portable

SAME = [
    r"^\d+ kg$",
    r"^[a-z0-9]+(-[a-z0-9]+)*$",
    r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    r"^https?://[^\s/$.?#].[^\s]*$",
    r"^(?=.*[A-Z])(?=.*\d).{8,}$",
    r"(?<!x)y(?!z)",
    r"(a)\1",
    r"a{2,5}?b*?",
    r"^(foo|far)*$",
    r"\bword\B",
    "",
]

REWRITTEN = [
    (r"\@\:\-\_\"\'\ \#\%\,", "@:-_\"' #%,"),
    (r"[\w-.]", r"[\w\-.]"),
    (r"[a-\d]", r"[a\-\d]"),
    (r"[-a]", r"[\-a]"),
    (r"[+--]", r"[+-\-]"),
    (r"[[|]", r"[\[\|]"),
    (r"[&&~~]", r"[\x26\x26\x7e\x7e]"),
    (r"{x}", r"\{x\}"),
    (r"x]", r"x\]"),
    (r"a{,3}", r"a{0,3}"),
    (r"\Aab\Z", "^ab$"),
    (r"(?P<year>\d{4})-(?<month>\d\d)", r"(\d{4})-(\d\d)"),
    (r"\u{1F600}\ud83d\ude00\u0041\x42", "😀😀AB"),
    (r"\0\t\x85", r"\x00\x09\x85"),
    (r"[\b\n]", r"[\x08\x0a]"),
    (r"[^]", r"[\s\S]"),
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
    "a" * (LONGEST + 1),
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
def test_what_both_dialects_read_alike_stays(pattern: str) -> None:
    assert portable(pattern) == pattern


@pytest.mark.parametrize(("pattern", "rewritten"), REWRITTEN)
def test_what_only_one_dialect_reads_is_rewritten(pattern: str, rewritten: str) -> None:
    assert portable(pattern) == rewritten


@pytest.mark.parametrize("pattern", NOT_PORTABLE)
def test_what_cannot_be_said_in_both_is_none(pattern: str) -> None:
    assert portable(pattern) is None


@pytest.mark.parametrize("pattern", EXPLOSIVE)
def test_a_pattern_that_can_take_exponential_time_is_none(pattern: str) -> None:
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
    ],
)
def test_loops_in_loops_stay_where_each_round_is_clear(pattern: str) -> None:
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


@given(PATTERNS, TEXTS)
def test_a_rewritten_pattern_matches_what_the_pattern_matched(pattern: str, text: str) -> None:
    rewritten = portable(pattern)
    if rewritten is None or "/" in pattern:
        return
    try:
        meant = re.compile(pattern)
    except (re.error, FutureWarning):  # only JavaScript can read it as it is meant
        return
    assert bool(re.search(rewritten, text)) == bool(meant.search(text))


def test_what_is_portable_compiles_in_javascript_and_matches_the_same(node: Path) -> None:
    kept = [portable(pattern) for pattern in [*SAME, *(pattern for pattern, _ in REWRITTEN)]]
    texts = ["", "12 kg", "a-b-c", "QUJD", "aabb", "foofar", "{x}", "x]", "2024-01", "A1bcdefg", "[", "&~", "😀😀AB"]
    program = """
        const [patterns, texts] = JSON.parse(process.argv[1]);
        console.log(JSON.stringify(patterns.map(p => texts.map(t => new RegExp(p, 'u').test(t)))));
    """
    done = subprocess.run(
        [node, "-e", program, json.dumps([kept, texts])], capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(done.stdout) == [[bool(re.search(pattern or "", text)) for text in texts] for pattern in kept]
