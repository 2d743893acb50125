"""`openapi-mcp diff`: its reports, its exit codes, and the table of docs/diff.md."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from openapi_mcp.cli.main import app
from openapi_mcp.comparison import report
from openapi_mcp.comparison.changes import RULES, Comparison, ToolChange
from tests.conftest import ROOT

OLD = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "servers": [{"url": "https://api.example.com"}],
    "paths": {
        f"/{name}": {
            "get": {
                "operationId": name,
                "summary": f"Read {name}",
                "tags": [name],
                "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 100}}],
            }
        }
        for name in ("cats", "dogs")
    },
}


def documents(folder: Path, **changes: Any) -> list[str]:
    new = json.loads(json.dumps(OLD))
    for name, schema in changes.items():
        new["paths"][f"/{name}"]["get"]["parameters"][0]["schema"] = schema
    paths = [folder / "old.json", folder / "new.json"]
    for path, document in zip(paths, (OLD, new), strict=True):
        path.write_text(json.dumps(document))
    return list(map(str, paths))


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["diff", *words])
    return result.exit_code, result.stdout


NARROW = {"type": "integer", "maximum": 50}
WIDE = {"type": "integer", "maximum": 200}


@pytest.mark.parametrize(
    ("schema", "fail_on", "code"),
    [
        (NARROW, "breaking", 9),
        (NARROW, "any", 9),
        (NARROW, "none", 0),
        (WIDE, "breaking", 0),
        (WIDE, "any", 9),
        (OLD["paths"]["/cats"]["get"]["parameters"][0]["schema"], "any", 0),  # type: ignore[index]
    ],
)
def test_exit_code(tmp_path: Path, schema: Any, fail_on: str, code: int) -> None:
    assert run(*documents(tmp_path, cats=schema), "--fail-on", fail_on)[0] == code


def test_lines_for_a_pipe(tmp_path: Path) -> None:
    code, text = run(*documents(tmp_path, cats=NARROW))
    assert code == 9
    assert text == "breaking\targument-limit-narrowed\tcats\tGET /cats\tlimit\tmaximum 100\tmaximum 50\n"


def test_options_choose_the_tools(tmp_path: Path) -> None:
    paths = documents(tmp_path, cats=NARROW)
    assert run(*paths, "--include", "tag:dogs") == (0, "")
    assert run(*paths, "--prefix", "my")[1].split("\t")[2] == "my_cats"
    assert run(*paths, "--set", "limit=5") == (0, "")


def test_json_has_everything(tmp_path: Path) -> None:
    paths = documents(tmp_path, cats=NARROW, dogs=WIDE)
    found = json.loads(run(*paths, "--format", "json", "--fail-on", "none")[1])
    assert found["old"] == {"document": paths[0], "tools": 2}
    assert (found["breaking"], found["compatible"], found["complete"]) == (1, 1, True)
    assert found["changes"][0] == {
        "kind": "argument-limit-narrowed",
        "breaking": True,
        "tool": "cats",
        "operation": "GET /cats",
        "place": "limit",
        "before": "maximum 100",
        "after": "maximum 50",
        "text": "the limit is maximum 50, was maximum 100",
    }


def test_document_that_cannot_be_read(tmp_path: Path) -> None:
    assert run(documents(tmp_path)[0], str(tmp_path / "absent.json"))[0] == 3


def comparison(*changes: ToolChange) -> Comparison:
    return Comparison(old="old", new="new", old_tools=2, new_tools=2, changes=changes)


def change(tool: str = "cats", **fields: str) -> ToolChange:
    return ToolChange(**{"kind": "argument-removed", "tool": tool, "operation": "GET /", "place": "limit"} | fields)


def test_text_for_people() -> None:
    lines = list(report.as_text(comparison(change("cats"), change("dogs"), change(kind="tool-added", place=""))))
    assert lines == [
        "2 → 2 tools, 2 breaking changes, 1 other",
        "",
        "Breaking:",
        "  cats, dogs limit: the argument is gone",
        "",
        "Other changes:",
        "  cats: a new tool",
    ]
    assert list(report.as_text(comparison())) == ["2 → 2 tools, no changes"]


def test_a_change_of_many_tools_is_one_entry() -> None:
    lines = list(report.as_text(comparison(*(change(f"t{index}") for index in range(300)))))
    assert lines[-1] == "  t0, t1, t2, t3, t4 and 295 more limit: the argument is gone"


def test_texts_of_documents_are_no_markdown() -> None:
    hostile = change(kind="description-changed", place="", before="a", after="<img src=x> | [a](b) `c` @team\n# d")
    (row,) = [line for line in report.as_markdown(comparison(hostile)) if line.startswith("| cats")]
    assert row.count(" | ") == 2
    assert not re.search(r"(?<!\\)[<>`\[\]#]|@", row.replace("&#64;", "&at;"))


def test_markdown_is_bounded() -> None:
    lines = list(report.as_markdown(comparison(*(change(place=f"p{index}") for index in range(5_000)))))
    assert len(lines) < 1_100
    assert lines[-1] == "There are more changes, for which there is no room."


def test_the_table_of_the_page_is_that_of_the_code() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (yes|no) \|$", (ROOT / "docs" / "diff.md").read_text(), re.MULTILINE)
    assert rows == [(kind, "yes" if rule.breaking else "no") for kind, rule in RULES.items()]
