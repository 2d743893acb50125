"""The settings file of a server: where it is found, what it holds for one API and for several, where it is wrong."""

import tomllib
from pathlib import Path

import jsonschema
import pytest

from openapi_mcp.errors import UsageError
from openapi_mcp.options.table import settings_schema
from openapi_mcp.settings.file import FileSettings, find_file, is_document, read_file
from openapi_mcp.settings.lines import TomlLines

SEVERAL = """\
# Two APIs behind one server.
timeout = 20
mode = "search"

[apis.shop]
spec = "petstore.yaml"
read-only = true
header = [
    "X-Tenant: acme",
    "X-Two: 2",
]

[apis.shop.auth]
shopKey = "${SHOP_KEY:-none}"

[apis.books]
spec = "https://books.test/openapi.json"
prefix = "lib"
timeout = 5
"""

WRONG = [
    ("spec = 'a.yaml'\n\nbase-ulr = 'https://x.test'\n", "unknown setting: base-ulr", 3, "base-url"),
    ("spec = 'a.yaml'\nport = 99999\n", "port must be an integer from 0 to 65535", 2, "settings-schema"),
    (
        "[apis.a]\nspec = 'a.yaml'\n[apis.b]\nspec = 'b.yaml'\nwatch = true\n",
        "watch is a setting of the server",
        5,
        "above",
    ),
    ("[apis.a]\nspec = 'a.yaml'\nheaders = []\n", "unknown setting: headers", 3, "header"),
    ("\nheader = ['A: b']\n[apis.a]\nspec = 'a.yaml'\n", "header is a setting of one API", 2, "[apis.a]"),
    ("[auth]\nkey = 'x'\n[apis.a]\nspec = 'a.yaml'\n", "auth is a setting of one API", 1, "[apis.a]"),
    ("[apis.a]\ninclude = ['tag:x']\n", "the API a has no spec", 1, "spec"),
    ("[apis.'a b']\nspec = 'a.yaml'\n", "not the name of an API", 1, "letters"),
    ("apis = []\n", "a table for each API", 1, "[apis.NAME]"),
    ("[apis]\n", "a table for each API", 1, "[apis.NAME]"),
]


def file_with(folder: Path, text: str, name: str = "openapi-mcp.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_tables_of_apis_hold_what_is_their_own(tmp_path: Path) -> None:
    file = read_file(file_with(tmp_path, SEVERAL), {"SHOP_KEY": "open"})
    assert file.options == {"timeout": 20, "mode": "search"}
    assert file.apis["shop"]["spec"] == str(tmp_path / "petstore.yaml")
    assert file.of_api("shop")["auth"] == {"shopKey": "open"}
    assert file.of_api("shop")["timeout"] == 20
    assert file.of_api("books") == {"timeout": 5, "mode": "search", "prefix": "lib"} | {
        "spec": "https://books.test/openapi.json"
    }
    assert file.variables == ("SHOP_KEY",)


@pytest.mark.parametrize(("environment", "value"), [({}, "none"), ({"SHOP_KEY": ""}, "none"), ({"SHOP_KEY": "k"}, "k")])
def test_variables_have_defaults(tmp_path: Path, environment: dict[str, str], value: str) -> None:
    assert read_file(file_with(tmp_path, SEVERAL), environment).apis["shop"]["auth"] == {"shopKey": value}


@pytest.mark.parametrize(("text", "message", "line", "hint"), WRONG, ids=[row[1] for row in WRONG])
def test_errors_name_the_file_the_line_and_the_cure(
    tmp_path: Path, text: str, message: str, line: int, hint: str
) -> None:
    path = file_with(tmp_path, text)
    with pytest.raises(UsageError, match=message.replace("[", r"\[")) as caught:
        read_file(path)
    assert caught.value.where == f"{path}, line {line}"
    assert hint in caught.value.hint


VALID: list[tuple[str, bool]] = [
    (SEVERAL, True),
    ("spec = 'a.yaml'\ntransport = 'http'\nstrict = true\nclient = 'cursor'\n", True),
    ("[auth.server]\nissuer = 'https://id.test'\n[apis.a]\nspec = 'a.yaml'\n", True),
    *[(text, False) for text, *_ in WRONG],
]


@pytest.mark.parametrize(("text", "valid"), VALID)
def test_the_schema_accepts_what_the_program_accepts(tmp_path: Path, text: str, valid: bool) -> None:
    validator = jsonschema.Draft202012Validator(settings_schema())
    assert validator.is_valid(tomllib.loads(text)) is valid
    if valid:
        assert isinstance(read_file(file_with(tmp_path, text)), FileSettings)


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    text = (
        'spec = "a.yaml"\noverlay = ["b.yaml", "https://c.test/d.yaml"]\nca = "/etc/ca.pem"\ninstructions = "@i.txt"\n'
    )
    options = read_file(file_with(tmp_path, text)).options
    assert options["spec"] == str(tmp_path / "a.yaml")
    assert options["overlay"] == [str(tmp_path / "b.yaml"), "https://c.test/d.yaml"]
    assert (options["ca"], options["instructions"]) == ("/etc/ca.pem", f"@{tmp_path / 'i.txt'}")


def test_the_file_of_a_folder_is_openapi_mcp_toml_or_a_table_of_pyproject(tmp_path: Path) -> None:
    assert find_file(tmp_path) is None
    project = file_with(tmp_path, "[project]\nname = 'x'\n", "pyproject.toml")
    assert find_file(tmp_path) is None
    project.write_text("[project]\nname = 'x'\n\n[tool.openapi-mcp]\nspec = 'a.yaml'\nquite = true\n")
    assert find_file(tmp_path) == project
    with pytest.raises(UsageError, match="unknown setting: quite") as caught:
        read_file(project)
    assert caught.value.where == f"{project}, line 6"
    own = file_with(tmp_path, "spec = 'b.yaml'\n")
    assert find_file(tmp_path) == own


def test_a_broken_pyproject_is_that_of_others(tmp_path: Path) -> None:
    file_with(tmp_path, "[tool.openapi-mcp\n", "pyproject.toml")
    assert find_file(tmp_path) is None


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("timeout",), 2),
        (("apis", "shop"), 5),
        (("apis", "shop", "header"), 8),
        (("apis", "shop", "auth", "shopKey"), 14),
    ],
)
def test_a_key_is_found_in_its_line(keys: tuple[str, ...], line: int) -> None:
    assert TomlLines(SEVERAL).line_of(keys) == line


def test_what_has_no_line_is_found_in_a_bounded_time() -> None:
    assert TomlLines(SEVERAL).line_of(("nothing",)) is None
    many_lines = 'a = """\n' + "x\n" * 5_000 + '"""\nb = 1\n'
    assert TomlLines(many_lines).line_of(("b",)) in {None, 5_003}


@pytest.mark.parametrize(
    ("word", "expected"),
    [("-", True), ("https://a.test/b", True), ("gone.yaml", True), ("listPets", False), (".", False)],
)
def test_documents_are_told_from_other_words(word: str, expected: bool) -> None:
    assert is_document(word) is expected


@pytest.mark.parametrize(
    "name", ["spec", "apis", "auth", "instructions", "overlay", "ca", "set", "client", "transport"]
)
@pytest.mark.parametrize("value", ["1", "true", "[1]", "1979-05-27"])
def test_values_of_the_wrong_kind_are_errors_with_their_line(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_file(file_with(tmp_path, f"{name} = {value}\n"))
    assert caught.value.where.endswith("line 1")


@pytest.mark.parametrize(
    "text", ["a=" + "[" * 5000 + "]" * 5000, ".".join("a" * 3000) + " = 1", "[" + ".".join("a" * 3000) + "]\nx = 1"]
)
def test_values_that_are_nested_too_deep_are_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "openapi-mcp.toml"
    path.write_text(f'spec = "a.json"\n{text}\n')
    with pytest.raises(UsageError, match="nested too deep"):
        read_file(path)


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "openapi-mcp.toml"
    path.write_text('spec = "a.json"\n', encoding="utf-8-sig")
    assert read_file(path).options["spec"] == str(tmp_path / "a.json")
