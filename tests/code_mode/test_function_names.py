"""Function names of tools in programs: each tool has one, which is a Python identifier."""

import keyword
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.code_mode.calls import CALL_TOOL
from openapi_mcp.code_mode.tools import functions
from tests.runtime.pets import GET_PET


def function_names(*names: str) -> dict[str, str]:
    """Return the function name of each tool."""
    functions_by_tool = functions(replace(GET_PET, name=name) for name in names)
    return {tool.name: function for function, tool in functions_by_tool.items()}


def test_identifier_is_unchanged() -> None:
    assert function_names("getPet", "list_pets") == {"getPet": "getPet", "list_pets": "list_pets"}


def test_other_names_become_identifiers() -> None:
    assert function_names("pets/list-all", "2fa.enable", "import", "print", "call_tool", "asyncio") == {
        "pets/list-all": "pets_list_all",
        "2fa.enable": "_2fa_enable",
        "import": "import_",
        "print": "print_",
        "call_tool": "call_tool_",
        "asyncio": "asyncio_",
    }


def test_identifiers_have_precedence_over_converted_names() -> None:
    expected = {"a_b": "a_b", "a-b": "a_b_2", "a.b": "a_b_3"}
    assert function_names("a.b", "a-b", "a_b") == function_names("a_b", "a.b", "a-b") == expected
    assert function_names("a-b", "a.b", "a_b_2") == {"a_b_2": "a_b_2", "a-b": "a_b", "a.b": "a_b_3"}


@given(st.sets(st.text("aA1_-./ é", min_size=1, max_size=4)))
def test_function_names_are_unique(names: set[str]) -> None:
    functions_by_tool = function_names(*names)
    assert functions_by_tool.keys() == names
    assert len(set(functions_by_tool.values())) == len(names)
    for name in functions_by_tool.values():
        assert name.isascii()
        assert name.isidentifier()
        assert not keyword.iskeyword(name)
        assert name not in {CALL_TOOL, "print", "list"}
