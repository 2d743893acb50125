"""The examples of docs/library.md run, in their order, beside the sample API."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from examples.petstore.api import create_app
from tests.conftest import ROOT
from tests.documentation.console import ADDRESS
from tests.servers import running

PAGE = ROOT / "docs" / "library.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture
def sample_api(tmp_path: Path) -> Iterator[str]:
    with running(create_app(tmp_path / "pets.sqlite3")) as url:
        yield url


def test_examples_do_what_they_say(
    sample_api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(ROOT / "specs" / "petstore.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "library_page"}
    printed = []
    for block in BLOCKS:
        exec(compile(block.replace(ADDRESS, sample_api), str(PAGE), "exec"), names)  # noqa: S102  # our own page
        printed += capsys.readouterr().out.splitlines()
    tools, problems, first, several, order, note = printed
    assert "'getPet'" in tools
    assert problems == "[]"
    assert re.fullmatch(r"False \w+", first)
    assert re.fullmatch(r"\['\w+', '\w+'\]", several)
    assert order == "{'number': 7}"
    assert note == "Prices are in euros."
    with TestClient(names["app"], base_url="http://127.0.0.1") as client:
        assert client.get("/").json() == "my own routes"
        assert client.get("/pets/healthz").text == "ok\n"
