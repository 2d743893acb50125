"""Edits of every kind in a package of the real generator, then a changed document; the package still runs.

`tests/regeneration/test_plan.py` shows the same with small packages: edits stay, or are marked as conflicts.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.generator.mcpb import bundle
from openapi_mcp.generator.package import Package, generate
from openapi_mcp.regeneration.merge import MARKERS
from openapi_mcp.regeneration.plan import FileOutcome, check, regenerate
from tests.packages import edit, tree

PETSTORE = Path(__file__).parents[2] / "specs" / "petstore.yaml"

HELPER = '''

def cheap(price: float | None) -> bool:
    """Return whether a price is accepted."""
    return price is None or price < 100
'''

CHECKED = """\
    if not cheap(price):
        raise ArgumentError("The price must be below 100.")
"""


def packaged(document: dict[str, Any], folder: Path) -> Package:
    source = folder / "openapi.yaml"
    source.write_text(yaml.safe_dump(document, sort_keys=False))
    return generate(Bridge.open(Config(source=str(source))))


@pytest.fixture
def document() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(PETSTORE.read_text())
    return loaded


@pytest.fixture
def out(tmp_path: Path, document: dict[str, Any]) -> Path:
    """Return the package of the sample API, generated for the first time."""
    regenerate(packaged(document, tmp_path).files, tmp_path / "out")
    return tmp_path / "out"


def change(document: dict[str, Any]) -> None:
    """Make the next version: another text, a parameter, a new operation, a new tag, and one operation less."""
    document["info"]["version"] = "1.1.0"
    paths = document["paths"]
    paths["/pets"]["post"]["summary"] = "Put a pet on sale"
    paths["/pets"]["get"]["parameters"].append({"name": "sort", "in": "query", "schema": {"type": "string"}})
    del paths["/pets/{petId}/photo"]["put"]
    answers = {"200": {"description": "Fine."}}
    paths["/pets/{petId}/feed"] = {
        "parameters": paths["/pets/{petId}"]["parameters"],
        "post": {"operationId": "feedPet", "summary": "Feed a pet", "tags": ["pets"], "responses": answers},
    }
    paths["/visits"] = {"get": {"operationId": "listVisits", "tags": ["visits"], "responses": answers}}


def kinds(outcomes: list[FileOutcome]) -> dict[str, str]:
    return {str(outcome.path): outcome.kind for outcome in outcomes if outcome.kind != "unchanged"}


def test_same_document_changes_nothing(tmp_path: Path, out: Path, document: dict[str, Any]) -> None:
    before = tree(out, without=())
    assert kinds(regenerate(packaged(document, tmp_path).files, out)) == {}
    assert tree(out, without=()) == before


@pytest.mark.slow
def test_every_edit_stays(tmp_path: Path, out: Path, document: dict[str, Any]) -> None:
    pets, shop = out / "pet_store_mcp/tools/pets.py", out / "pet_store_mcp/tools/shop.py"
    edit(pets, "    return await api.call(create_pet,", CHECKED + "    return await api.call(create_pet,")
    edit(pets, "from ..runtime import Api, ", "from ..runtime import Api, ArgumentError, ")
    pets.write_text(pets.read_text() + HELPER)
    edit(shop, 'name="getInventory"', 'name="count_pets"')
    edit(out / "tests/test_shop.py", '"getInventory"', '"count_pets"')
    edit(out / "pyproject.toml", '    "httpx>=0.27",\n', '    "httpx>=0.27",\n    "rich",\n')
    edit(out / "README.md", "# Pet Store\n", "# Our pet store\n")
    (out / "Dockerfile").unlink()
    (out / "pet_store_mcp/words.py").write_text('HELLO = "hello"\n')
    assert check(packaged(document, tmp_path).files, out) == []

    change(document)
    files = packaged(document, tmp_path).files
    stale = check(files, out)
    outcomes = regenerate(files, out)
    assert [outcome for outcome in outcomes if outcome.kind not in {"unchanged", "kept", "deleted"}] == stale
    by_path = kinds(outcomes)
    assert "conflict" not in by_path.values()
    assert by_path["pet_store_mcp/tools/pets.py"] == by_path["pyproject.toml"] == "merged"
    assert by_path["pet_store_mcp/tools/visits.py"] == "written"
    assert by_path["Dockerfile"] == "deleted"

    text = pets.read_text()
    assert CHECKED + "    return await api.call(create_pet," in text
    assert HELPER in text
    assert "Put a pet on sale" in text
    assert "feedPet" in text
    assert "sort=sort" in text
    assert "putPhoto" not in text
    assert 'name="count_pets"' in shop.read_text()
    assert '"rich"' in (out / "pyproject.toml").read_text()
    assert 'version = "1.1.0"' in (out / "pyproject.toml").read_text()
    assert (out / "README.md").read_text().startswith("# Our pet store\n")
    assert not (out / "Dockerfile").exists()
    assert (out / "pet_store_mcp/words.py").exists()
    assert set(kinds(regenerate(files, out)).values()) == {"kept", "deleted"}


@pytest.mark.process
def test_regenerated_package_passes_its_tests(tmp_path: Path, out: Path, document: dict[str, Any]) -> None:
    pets = out / "pet_store_mcp/tools/pets.py"
    edit(pets, "    return await api.call(create_pet,", CHECKED + "    return await api.call(create_pet,")
    edit(pets, "from ..runtime import Api, ", "from ..runtime import Api, ArgumentError, ")
    pets.write_text(pets.read_text() + HELPER)
    change(document)
    regenerate(packaged(document, tmp_path).files, out)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(out)]
    process = subprocess.run(command, cwd=out, capture_output=True, text=True, check=False, timeout=100)
    assert process.returncode == 0, process.stdout + process.stderr
    archive = bundle(out)
    assert archive == bundle(out)
    assert json.loads((out / "manifest.json").read_text())["version"] == "1.1.0"


def test_edits_of_changed_or_removed_tools_are_conflicts(tmp_path: Path, out: Path, document: dict[str, Any]) -> None:
    pets = out / "pet_store_mcp/tools/pets.py"
    edit(pets, '"""Create a pet"""', '"""Create a pet of ours"""')
    edit(pets, "    return await api.call(put_photo,", "    print(len(body))\n    return await api.call(put_photo,")
    change(document)
    outcomes = {str(outcome.path): outcome for outcome in regenerate(packaged(document, tmp_path).files, out)}
    assert outcomes["pet_store_mcp/tools/pets.py"].kind == "conflict"
    text = pets.read_text()
    assert text.count(MARKERS[0]) == 2
    assert (
        f'{MARKERS[0]}\n    """Create a pet of ours"""\n{MARKERS[1]}\n    """Put a pet on sale"""\n{MARKERS[2]}' in text
    )
    yours = text[text.rindex(MARKERS[0]) : text.rindex(MARKERS[1])]
    assert 'name="putPhoto"' in yours
    assert "print(len(body))" in yours
    before = tree(out, without=())
    document["info"]["version"] = "1.2.0"
    with pytest.raises(Exception, match=r"tools/pets\.py"):
        regenerate(packaged(document, tmp_path).files, out)
    assert tree(out, without=()) == before
