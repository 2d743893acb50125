"""Reports: JSON, SARIF and HTML are complete, valid and safe, whatever the document says."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openapi_mcp.check.page import page
from openapi_mcp.check.report import report_json
from openapi_mcp.check.sarif import sarif
from openapi_mcp.cli.main import app
from tests.check.judging import faulty_document, judged, minimal, saved

HOSTILE = "<script>alert(1)</script>\"'>{{ 7 * 7 }}\x1b[31m"
VOID = {"meta", "br"}


def check(*arguments: str | Path, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["check", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.stdout


class Page(HTMLParser):
    """The elements of a page, each closed, and the addresses that a browser would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_needs_nothing_else_and_escapes_everything(tmp_path: Path) -> None:
    operation = {"operationId": HOSTILE, "summary": HOSTILE, "description": "TODO " + HOSTILE}
    root = minimal({f"/{HOSTILE}": {"get": operation}}) | {"info": {"title": HOSTILE, "version": "1"}}
    text = page(judged(tmp_path, root))
    found = Page(text)
    assert found.open == []
    assert "script" not in found.tags
    assert "alert(1)" in text
    assert "{{ 7 * 7 }}" in text
    assert not {"src", "srcset", "background", "onclick"} & {name for name, _ in found.attributes}
    assert "url(" not in text
    assert "@import" not in text
    assert ("lang", "en") in found.attributes
    assert "prefers-color-scheme: dark" in text
    assert found.tags.count("h1") == 1
    meters = text.count("<meter")
    assert meters == len(re.findall(r"<meter[^>]*aria-label=", text)) > 0


def test_the_page_of_a_good_document_says_so(tmp_path: Path) -> None:
    good = {"get": {"operationId": "listPets", "summary": "List", "description": "All pets.", "responses": {}}}
    assert "Nothing was found" in page(
        judged(tmp_path, minimal({"/pets": good}, servers=[{"url": "https://a.example"}]))
    )


def test_json_has_everything(tmp_path: Path) -> None:
    value = report_json(judged(tmp_path, faulty_document()))
    assert json.loads(json.dumps(value)) == value
    assert [each["id"] for each in value["dimensions"]] == ["FC", "DXJ", "ARAX", "AU", "SEC"]
    assert all({"rule", "severity", "pointer", "line", "message", "cure"} <= each.keys() for each in value["findings"])
    assert value["tokens"] == sum(value["tokensOfTools"].values())


LEVELS = {"error", "warning", "note", "none"}


def test_sarif_is_as_its_specification_demands(tmp_path: Path) -> None:
    log = json.loads(json.dumps(sarif(judged(tmp_path, faulty_document()))))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]  # section 3.14
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert run["results"]
    for result in run["results"]:  # section 3.27
        assert result["ruleId"] == rules[result["ruleIndex"]]["id"]
        assert result["level"] in LEVELS
        assert result["message"]["text"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["region"]["startLine"] >= 1
        assert not re.search(r"[\s<>\"{}|\\^`]", location["physicalLocation"]["artifactLocation"]["uri"])


def test_the_command_prints_the_score_and_each_finding_with_its_line(tmp_path: Path) -> None:
    text = check(saved(tmp_path, faulty_document()))
    assert re.search(r"^score [\d.]+ of 100: ", text, re.MULTILINE)
    assert re.search(r"^  GET /books: it has neither a summary nor a description \[line \d+\]$", text, re.MULTILINE)


@pytest.mark.parametrize(("form", "start"), [("json", "{"), ("sarif", "{"), ("html", "<!doctype html>")])
def test_reports_are_written_to_files(form: str, start: str, tmp_path: Path) -> None:
    output = tmp_path / "report"
    assert check(saved(tmp_path, faulty_document()), "--format", form, "--output", output) == ""
    assert output.read_text().startswith(start)


def test_exit_codes_are_for_ci(tmp_path: Path) -> None:
    bad, good = saved(tmp_path, faulty_document()), "specs/petstore.yaml"
    check(bad, "--fail-on", "error", code=10)
    check(bad, "--fail-under", "100", code=10)
    check(bad, "--fail-under", "1")
    check(good, "--fail-on", "warning")
    check(tmp_path / "none.json", code=3)
    check(bad, "--contract-log", tmp_path / "none.log", code=2)


def test_fix_writes_an_overlay_that_other_commands_take(tmp_path: Path) -> None:
    path, overlay = saved(tmp_path, faulty_document()), tmp_path / "repairs.yaml"
    text = check(path, "--fix", overlay, "--base-url", "https://api.example.com", "--fail-on", "error")
    assert re.search(r"score before [\d.]+, after [\d.]+", text)
    assert "server-missing: calls go to https://api.example.com" in text
    assert len(overlay.read_text().splitlines()) <= 20
    after = json.loads(check(path, "--overlay", overlay, "--format", "json"))
    assert "server-missing" not in {finding["rule"] for finding in after["findings"]}
    assert "nothing to repair" in check(path, "--overlay", overlay, "--fix", tmp_path / "more.yaml",
                                         "--base-url", "https://api.example.com")  # fmt: skip


def test_a_second_fix_of_a_repaired_document_has_nothing_to_add(tmp_path: Path) -> None:
    """Extras fill the first overlay up to its lines; the next ones are no repairs."""
    paths = {
        f"/things{number}": {
            "get": {
                "operationId": f"listThings{number}",
                "summary": f"List things of kind {number}",
                "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": ref(number)}}}},
            }
        }
        for number in range(100)
    }
    schemas = {
        f"Thing{number}": {"type": "object", "properties": {"size": {"type": "integer", "minimum": number}}}
        for number in range(100)
    }
    info = {"title": "Things", "version": "1"}
    root = {"openapi": "3.1.0", "info": info, "paths": paths, "components": {"schemas": schemas}}
    path, first, second = saved(tmp_path, root), tmp_path / "first.yaml", tmp_path / "second.yaml"
    check(path, "--fix", first)
    assert first.exists()
    assert "nothing to repair" in check(path, "--overlay", first, "--fix", second)
    assert not second.exists()
    before = first.read_text()
    assert "nothing to repair" in check(path, "--fix", first)
    assert first.read_text() == before


def ref(number: int) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/Thing{number}"}
