"""Overlays on the command line: applied by every command that opens a document, cached, and watched."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from openapi_mcp.bridge import Bridge
from openapi_mcp.cli.main import app
from openapi_mcp.config import Config
from openapi_mcp.errors import DocumentError

PETSTORE = Path(__file__).parents[2] / "specs" / "petstore.yaml"
RENAMED = {"x-mcp": {"name": "list_all_pets"}}


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(tmp_path / "cache"))


def write(folder: Path, *actions: Any, name: str = "overlay.yaml") -> str:
    info = {"title": "Test", "version": "1"}
    path = folder / name
    path.write_text(yaml.safe_dump({"overlay": "1.1.0", "info": info, "actions": list(actions)}))
    return str(path)


def names(*overlays: str) -> list[str]:
    bridge = Bridge.open(Config.from_options(str(PETSTORE), {"overlay": list(overlays)}))
    return [tool.name for tool in bridge.tools]


def test_overlays_are_applied_in_their_order(tmp_path: Path) -> None:
    first = write(tmp_path, {"target": "$.paths['/pets'].get", "update": RENAMED})
    second = write(tmp_path, {"target": "$..[?@.name == 'list_all_pets']", "update": {"name": "pets"}}, name="b.yaml")
    assert names(first)[0] == "list_all_pets"
    assert names(first, second)[0] == "pets"
    assert names(second, first)[0] == "list_all_pets"
    assert names()[0] == "listPets"


def test_a_changed_overlay_is_read_again_although_tools_are_cached(tmp_path: Path) -> None:
    path = write(tmp_path, {"target": "$.paths['/pets'].get", "update": RENAMED})
    assert names(path)[0] == "list_all_pets"
    write(tmp_path, {"target": "$.paths['/pets'].get", "remove": True})
    assert "listPets" not in names(path)
    assert "list_all_pets" not in names(path)


def test_what_cannot_be_applied_is_a_problem_with_the_place_of_the_action(tmp_path: Path) -> None:
    path = write(tmp_path, {"target": "$.nowhere", "remove": True})
    bridge = Bridge.open(Config.from_options(str(PETSTORE), {"overlay": [path]}))
    (problem,) = (each for each in bridge.problems if each.kind == "overlay")
    assert problem.pointer == f"{Path(path).as_uri()}#/actions/0"


def test_strings_that_yaml_reads_as_numbers_are_those_that_overlays_leave(tmp_path: Path) -> None:
    document = tmp_path / "api.yaml"
    document.write_text(
        "openapi: 3.1.0\ninfo: {title: T, version: '1'}\n"
        "paths:\n  /a:\n    get:\n      operationId: getA\n      tags: [1.10, 2.20, 3.30]\n      responses: {}\n"
    )
    first = write(tmp_path, {"target": "$.paths['/a'].get.tags[0]", "remove": True})
    second = write(tmp_path, {"target": "$.paths['/a'].get.tags[0]", "update": "new"}, name="b.yaml")

    def tags(*overlays: str) -> tuple[str, ...]:
        options = {"overlay": list(overlays), "no_cache": True}
        (tool,) = Bridge.open(Config.from_options(str(document), options)).tools
        return tool.tags

    assert tags() == ("1.10", "2.20", "3.30")
    assert tags(second) == ("new", "2.20", "3.30")
    assert tags(first) == ("2.2", "3.3"), "the spelling of entries that move is not known any more"


@pytest.mark.parametrize("text", ["", "[]", "openapi: 3.1.0", "overlay: 2.0.0", "{"])
def test_what_is_no_overlay_ends_the_command_and_names_the_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "overlay.yaml"
    path.write_text(text)
    with pytest.raises(DocumentError) as error:
        names(str(path))
    assert "overlay.yaml" in error.value.where


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "openapi_mcp", "overlay", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.process
def test_init_apply_and_diff_go_round(tmp_path: Path) -> None:
    starter = tmp_path / "starter.yaml"
    starter.write_text(run("init", str(PETSTORE)).stdout)
    assert names(str(starter)) == names()
    applied = tmp_path / "applied.yaml"
    applied.write_text(run("apply", str(PETSTORE), str(starter)).stdout)
    made = json.loads(run("diff", str(PETSTORE), str(applied), "--json").stdout)
    assert {action["target"] for action in made["actions"]} == {
        action["target"] for action in yaml.safe_load(starter.read_text())["actions"]
    }


@pytest.mark.process
def test_apply_reports_what_it_cannot_do_and_exits_with_usage_errors(tmp_path: Path) -> None:
    path = write(tmp_path, {"target": "$.nowhere", "remove": True})
    done = run("apply", str(PETSTORE), path)
    assert done.returncode == 0
    assert "the target $.nowhere matches nothing" in done.stderr
    wrong = run("diff", str(PETSTORE))
    assert wrong.returncode == 2
    assert "`overlay diff` takes OLD NEW" in wrong.stderr


def test_init_writes_whole_descriptions_and_changes_no_tool(tmp_path: Path) -> None:
    long = " ".join(f"Sentence {number} of a long description." for number in range(100))
    operation = {"operationId": "readIt", "deprecated": True, "description": long, "responses": {}}
    root = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {"/a": {"get": operation}}}
    spec, starter = write_json(tmp_path / "api.json", root), tmp_path / "starter.yaml"
    starter.write_text(CliRunner().invoke(app, ["overlay", "init", spec]).stdout)
    (action,) = yaml.safe_load(starter.read_text())["actions"]
    assert action["update"]["x-mcp"]["description"] == f"{long}\n\nDeprecated."
    for mode in ("all", "search"):
        before, after = (
            Bridge.open(Config.from_options(spec, {"overlay": overlays, "mode": mode, "no_cache": True}))
            for overlays in ([], [str(starter)])
        )
        assert after.tools == before.tools
        assert "Deprecated." in after.tools[0].description


def test_init_names_what_stands_where_an_overlay_reaches_it(tmp_path: Path) -> None:
    operation: dict[str, Any] = {
        "operationId": "readIt",
        "deprecated": True,
        "description": "Reads it.",
        "responses": {},
    }
    write_json(tmp_path / "other.json", {"get": {**operation, "operationId": "readOther"}})
    paths = {
        "/here": {"get": operation},
        "/shared/{id}": {"$ref": "#/components/pathItems/one"},
        "/a": {"$ref": "#/components/pathItems/two"},
        "/b": {"$ref": "#/components/pathItems/two"},
        "/other": {"$ref": "other.json"},
    }
    items: dict[str, Any] = {
        name: {"get": {**operation, "operationId": f"read_{name}"}, "parameters": parameters}
        for name, parameters in (("one", [{"name": "id", "in": "path", "required": True}]), ("two", []))
    }
    root = {
        "openapi": "3.1.0",
        "info": {"title": "T", "version": "1"},
        "paths": paths,
        "components": {"pathItems": items},
    }
    spec = write_json(tmp_path / "api.json", root)
    made = CliRunner().invoke(app, ["overlay", "init", spec])
    assert made.exit_code == 0, made.output
    actions = yaml.safe_load(made.stdout)["actions"]
    assert [each["target"] for each in actions] == [
        "$['paths']['/here']['get']",
        "$['components']['pathItems']['one']['get']",
    ]
    for label in ("GET /a", "GET /b", "GET /other"):
        assert f"{label}: left out" in made.stderr
    (tmp_path / "starter.yaml").write_text(made.stdout)
    before, after = (
        Bridge.open(Config(source=spec, overlays=overlays, no_cache=True))
        for overlays in ((), (str(tmp_path / "starter.yaml"),))
    )
    assert after.tools == before.tools, "also those that are deprecated"
    assert after.problems == before.problems


def write_json(path: Path, value: Any) -> str:
    path.write_text(json.dumps(value))
    return str(path)


def test_init_has_whole_texts_also_of_a_list_that_is_too_long(tmp_path: Path) -> None:
    text = "All that can be said of it. " * 35
    paths = {f"/{number}": {"get": {"operationId": f"read{number}", "description": text}} for number in range(300)}
    spec = write_json(
        tmp_path / "api.json", {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths}
    )
    made = CliRunner().invoke(app, ["overlay", "init", spec])
    actions = yaml.safe_load(made.stdout)["actions"]
    assert {each["update"]["x-mcp"]["description"] for each in actions} == {text.strip()}
    cut = Bridge.open(Config.from_options(spec, {"mode": "all", "no_cache": True})).tools[0].description
    assert len(cut) < 600
