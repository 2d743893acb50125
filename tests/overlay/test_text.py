"""YAML that is written has the same values for readers of YAML 1.1 and of 1.2."""

from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from openapi_mcp.document.model import Limits
from openapi_mcp.document.yaml import parse
from openapi_mcp.overlay.text import written

CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff")
TEXTS = st.text(CHARACTERS, max_size=12) | st.from_regex(r"[-+]?[0-9.eEox_:]{1,6}", fullmatch=True)
SCALARS = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))


@given(VALUES, st.booleans())
@example("1e5", False)
@example("\x85", False)
@example({"\x85": "\u2028"}, True)
def test_it_is_read_as_it_was(value: Any, flow: bool) -> None:
    text = written({"value": value}, width=40, flow=flow)
    assert parse(text, Limits())[0] == {"value": value}


@pytest.mark.parametrize(
    "text", ["1e5", "-1e3", "1e400", "0o17", "08", "0x1f", "1.", ".5", "yes", "~", "2020-01-01", "\x85"]
)
def test_texts_that_look_like_other_values_are_quoted(text: str) -> None:
    for reader in (yaml.safe_load, lambda each: parse(each, Limits())[0]):
        assert reader(written({text: text}, width=80)) == {text: text}


def test_a_value_in_several_places_has_no_aliases() -> None:
    shared = {"a": [1]}
    assert "&" not in written([shared, shared], width=80)
