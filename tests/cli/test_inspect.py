"""The command `inspect`: for eyes, for pipes, for CI; what comes first, and what a change is called."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from openapi_mcp.cli.inspect.tool_list import change, shortened
from openapi_mcp.cli.main import app

LONG = "/organizations/{organization_id}/repositories/{repository_id}/branches/{branch}/protection"

VARIABLES = ("organization_id", "repository_id", "branch")


def variable(name: str) -> Mapping[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def operation(name: str, tag: str = "", **more: Any) -> Mapping[str, Any]:
    answers = {"200": {"description": "OK"}}
    tags = {"tags": [tag]} if tag else {}
    return {
        "operationId": name,
        "summary": f"About {name}",
        "responses": answers,
        **tags,
        **more,
    }


@pytest.fixture
def document(tmp_path: Path) -> Path:
    limit = {"name": "limit", "in": "query", "description": "The most. " * 20, "schema": {"type": "integer"}}
    paths = {
        "/pets": {"get": operation("listPets", "pets", parameters=[limit]), "post": operation("addPet", "pets")},
        LONG: {"get": operation("getBranchProtection", "repos", parameters=[variable(name) for name in VARIABLES])},
        "/alone": {"get": operation("Alone")},
    }
    return write(tmp_path / "api.json", paths)


def write(path: Path, paths: Mapping[str, Any]) -> Path:
    info = {"title": "Things", "version": "1"}
    servers = [{"url": "https://things.example"}]
    path.write_text(json.dumps({"openapi": "3.1.0", "info": info, "servers": servers, "paths": paths}))
    return path


def inspect(document: Path, *options: str, columns: int = 100) -> Result:
    words = ["inspect", str(document), "--no-cache", *options]
    return CliRunner().invoke(app, words, env={"COLUMNS": str(columns)})


def test_a_pipe_gets_the_tools_with_tabs_and_the_rest_is_on_stderr(document: Path) -> None:
    shown = inspect(document, "--no-validate")
    names, *rows = [line.split("\t") for line in shown.stdout.splitlines()]
    assert names == ["tool", "method", "path", "title", "arguments", "tokens"]
    assert [row[0] for row in rows] == ["listPets", "addPet", "getBranchProtection", "Alone"]
    assert {len(row) for row in rows} == {len(names)}
    assert rows[0][:5] == ["listPets", "GET", "/pets", "About listPets", "limit?"]
    assert all(row[-1].isdigit() for row in rows)
    assert "calls go to https://things.example" in shown.stderr
    assert shown.stderr.splitlines()[-1].startswith("Things 1 (OpenAPI 3.1): 4 tools from 4 operations")


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("cost", ["listPets", "getBranchProtection"]),
        ("name", ["addPet", "Alone", "getBranchProtection", "listPets"]),
        ("path", ["Alone", "getBranchProtection", "listPets", "addPet"]),
    ],
)
def test_tools_are_sorted(document: Path, order: str, names: list[str]) -> None:
    rows = inspect(document, "--no-validate", "--sort", order).stdout.splitlines()[1:]
    assert [row.split("\t")[0] for row in rows][: len(names)] == names


@pytest.mark.parametrize("columns", [66, 80, 120])
def test_eyes_see_whole_names_under_tags_and_the_ends_of_paths(document: Path, columns: int) -> None:
    shown = inspect(document, "--no-validate", "--format", "text", columns=columns).stdout
    lines = shown.partition("\n\n")[0].splitlines()
    assert [line.partition(":")[0] for line in lines if not line.startswith(" ")] == ["pets", "repos", "alone"]
    assert "pets: 2 tools, about " in lines[0]
    (long,) = [line for line in lines if "getBranchProtection" in line]
    assert "…" in long
    assert "/org" in long
    assert "tion" in long.split("…")[1]
    assert max(map(len, lines)) <= columns
    bars = {line.split()[2]: line.count("█") for line in lines if "█" in line}
    assert bars["listPets"] == 8
    assert 1 <= bars["addPet"] < 8


@pytest.mark.process
def test_known_problems_come_first_and_those_of_the_validation_before_the_totals(tmp_path: Path) -> None:
    bad = {"get": operation("ok"), "delete": {"operationId": "lost", "parameters": 7}}
    document = write(tmp_path / "bad.json", {"/a": bad})
    first, *others = inspect(document, "--format", "text").stdout.splitlines()
    assert "#/paths/~1a/delete" in first
    assert "problem" in others[-1]
    place = next(number for number, line in enumerate(others) if line.startswith("validation: "))
    assert place > next(number for number, line in enumerate(others) if line.startswith("serve: "))


def test_strict_exits_with_a_code_where_there_is_a_problem(document: Path, tmp_path: Path) -> None:
    assert inspect(document, "--strict", "--no-validate").exit_code == 0
    broken = write(tmp_path / "broken.json", {"/a": {"get": operation("ok"), "put": 7}})
    assert inspect(broken, "--no-validate").exit_code == 0
    for form in ("--format=text", "--format=tsv", "--json"):
        shown = inspect(broken, "--strict", "--no-validate", form)
        assert shown.exit_code == 10, shown.output
        assert "problem" in shown.stderr


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (1000, 750, "-25%"),
        (357_407, 809, "-99.7%"),
        (100_000, 1, "-99.9%"),
        (10, 0, "-100%"),
        (1000, 1310, "+31%"),
        (1000, 1005, "+0.5%"),
        (100_000, 100_001, "less than 0.1%"),
        (10, 10, "no change"),
        (0, 5, "from none"),
        (10, 25, "2.5 times as many"),
        (809, 357_407, "442 times as many"),
    ],
)
def test_a_change_is_called_what_it_is(before: int, after: int, words: str) -> None:
    assert change(before, after) == words


@pytest.mark.parametrize("width", range(1, 14))
def test_a_text_keeps_both_ends(width: int) -> None:
    text = shortened("/pets/{id}/photo", width)
    assert len(text) <= width
    assert text.startswith("/") == (width > 1)
    assert "…" in text
    assert shortened("/pets/{id}/photo", 16) == "/pets/{id}/photo"


@pytest.fixture
def several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose settings file names two APIs, one of which has a defect, and one that is gone."""

    def api(name: str, **paths: Any) -> None:
        root = {"openapi": "3.1.0", "info": {"title": name, "version": "1"}, "paths": paths}
        (tmp_path / f"{name}.json").write_text(json.dumps({**root, "servers": [{"url": "http://127.0.0.1:9"}]}))

    def operation(name: str, **more: Any) -> dict[str, Any]:
        return {"get": {"operationId": name, "responses": {"200": {"description": "ok"}}, **more}}

    api("shop", **{"/z": operation("items", description="A long text about items. " * 9), "/a": operation("carts")})
    api("books", **{"/m": operation("books"), "/broken": {"get": {"$ref": "#/nowhere"}}})
    tables = [f'[apis.{name}]\nspec = "{name}.json"\n' for name in ("shop", "books", "gone")]
    (tmp_path / "openapi-mcp.toml").write_text("".join(tables))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def of_several(*options: str) -> Result:
    shown = CliRunner().invoke(app, ["inspect", "--no-cache", "--no-validate", *options], env={"COLUMNS": "90"})
    assert shown.exit_code == 0, shown.output
    return shown


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ([], ["shop_items", "shop_carts", "books_books"]),
        (["--sort", "cost"], ["shop_items", "books_books", "shop_carts"]),
        (["--sort", "name"], ["books_books", "shop_carts", "shop_items"]),
        (["--sort", "path"], ["shop_carts", "books_books", "shop_items"]),
    ],
)
def test_tools_of_several_apis_are_one_list_in_an_order(sort: list[str], expected: list[str]) -> None:
    head, *rows = of_several(*sort).stdout.splitlines()
    assert head.split("\t")[-1] == "api"
    assert [row.split("\t")[0] for row in rows] == expected
    assert [row.split("\t")[-1] for row in rows] == [name.partition("_")[0] for name in expected]
    text = of_several("--format", "text", *sort).stdout
    assert [name for name in re.findall(r"\b(?:shop|books)_\w+", text) if name in expected] == expected


@pytest.mark.usefixtures("several")
def test_problems_of_several_apis_come_first_and_their_facts_last() -> None:
    shown = of_several("--format", "text").stdout
    places = [shown.index(text) for text in ("[gone]", "[books] ", "shop: 2 tools", "serve: 3 tools", "[shop] shop 1")]
    assert places == sorted(places)
    piped = of_several()
    assert "[gone] could not be loaded" in piped.stderr
    assert "[books]" not in piped.stdout
    value = json.loads(of_several("--json").stdout)
    assert value["apis"].keys() == {"shop", "books"}
    assert [each["pointer"] for each in value["apis"]["books"]["problems"]]


@pytest.mark.process
@pytest.mark.usefixtures("several")
def test_validator_reads_each_of_several_apis() -> None:
    Path("books.json").write_text(Path("books.json").read_text().replace('"version": "1"', '"version": 1'))
    run = CliRunner().invoke(app, ["inspect", "--no-cache", "--format", "text"])
    assert run.exit_code == 0, run.exception
    shown = run.stdout
    assert re.search(r"\[books\] .*version", shown)
