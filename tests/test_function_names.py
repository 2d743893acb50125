"""The functions that tools are in programs: every tool has one, whose name Python can call."""

import keyword
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.function_names import CALL_TOOL, functions
from tests.runtime.pets import GET_PET


def named(*names: str) -> dict[str, str]:
    """The function of each tool."""
    made = functions(replace(GET_PET, name=name) for name in names)
    return {tool.name: function for function, tool in made.items()}


def test_a_name_that_python_can_call_stays() -> None:
    assert named("getPet", "list_pets") == {"getPet": "getPet", "list_pets": "list_pets"}


def test_any_other_is_made_one() -> None:
    assert named("pets/list-all", "2fa.enable", "import", "print", "call_tool") == {
        "pets/list-all": "pets_list_all",
        "2fa.enable": "_2fa_enable",
        "import": "import_",
        "print": "print_",
        "call_tool": "call_tool_",
    }


def test_of_those_that_would_share_a_name_the_one_that_has_it_keeps_it() -> None:
    wanted = {"a_b": "a_b", "a-b": "a_b_2", "a.b": "a_b_3"}
    assert named("a.b", "a-b", "a_b") == named("a_b", "a.b", "a-b") == wanted
    assert named("a-b", "a.b", "a_b_2") == {"a_b_2": "a_b_2", "a-b": "a_b", "a.b": "a_b_3"}


@given(st.sets(st.text("aA1_-./ é", min_size=1, max_size=4)))
def test_every_tool_has_a_function_of_its_own(names: set[str]) -> None:
    made = named(*names)
    assert made.keys() == names
    assert len(set(made.values())) == len(names)
    for name in made.values():
        assert name.isascii()
        assert name.isidentifier()
        assert not keyword.iskeyword(name)
        assert name not in {CALL_TOOL, "print", "list"}
