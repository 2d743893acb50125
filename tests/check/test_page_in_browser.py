"""The HTML page of `check` in a real browser: nothing is loaded, nothing is too wide, and everybody can read it."""

from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.check.rules import SEVERITIES
from tests.check.judging import faulty_document, saved
from tests.check.test_reports import check
from tests.ui.browser import browse, chromium

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]

HOSTILE = "<img src=x onerror='window.hacked=1'>" + "long" * 80


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    chromium()
    folder = tmp_path_factory.mktemp("report")
    document = faulty_document()
    document["info"]["title"] = HOSTILE
    for number in range(60):
        text = f"{HOSTILE}<script>window.hacked=2</script>"
        document["paths"][f"/{'a' * 90}/{number}"] = {"get": {"operationId": "x" * 90 + str(number), "summary": text}}
    check(saved(folder, document), "--format", "html", "--output", folder / "report.html")
    return browse((folder / "report.html").as_uri(), ["report"])


@pytest.mark.parametrize("view", ["light", "dark and narrow"])
def test_it_is_readable_and_loads_nothing(seen: dict[str, Any], view: str) -> None:
    found = seen["report"][view]
    assert found["violations"] == []
    assert found["requests"] == 0
    assert found["hacked"] is None
    assert found["title"].startswith("<img src=x")


def test_the_browser_does_not_complain(seen: dict[str, Any]) -> None:
    assert seen["complaints"] == []


def test_the_worst_findings_come_first(seen: dict[str, Any]) -> None:
    groups = seen["report"]["light"]["groups"]
    assert groups == sorted(groups, key=list(SEVERITIES).index)
    assert len(set(groups)) == len(SEVERITIES)


def test_the_page_of_a_path_without_findings(tmp_path: Path) -> None:
    good = {"openapi": "3.1.0", "info": {"title": "None", "version": "1"}, "paths": {}}
    assert "<h1>None" in check(saved(tmp_path, good), "--format", "html")
