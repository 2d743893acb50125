"""The commands `generate` and `bundle`, as their user types them."""

import json
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openapi_mcp.cli import app
from tests.conftest import ROOT

PETSTORE = str(ROOT / "specs" / "petstore.yaml")


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package that was just generated."""
    folder = tmp_path / "shop"
    code, printed, _ = run("generate", PETSTORE, str(folder))
    assert code == 0
    assert "README.md" in printed
    return folder


def test_a_package_is_written_and_is_then_what_its_document_says(package: Path) -> None:
    assert (package / "pet_store_mcp" / "tools" / "pets.py").is_file()
    code, printed, _ = run("generate", PETSTORE, str(package), "--check")
    assert code == 0
    assert "is what" in printed


def test_a_stale_package_is_told_from_one_that_its_owner_changed(package: Path) -> None:
    module = package / "pet_store_mcp" / "tools" / "pets.py"
    module.write_text(module.read_text() + "\n\nMINE = True\n")
    assert run("generate", PETSTORE, str(package), "--check")[0] == 0
    code, _, said = run("generate", PETSTORE, str(package), "--check", "--exclude", "id:deletePet")
    assert code == 7
    assert "pets.py" in said


def test_what_both_sides_changed_is_a_conflict_with_an_exit_code_of_its_own(package: Path) -> None:
    module = package / "pet_store_mcp" / "tools" / "pets.py"
    before = "return await api.call(delete_pet, pet_id=pet_id)"
    module.write_text(module.read_text().replace(before, f"print(pet_id)\n    {before}"))
    code, printed, said = run("generate", PETSTORE, str(package), "--exclude", "id:deletePet")
    assert code == 6
    assert "conflict" in printed
    assert "generate again" in said
    assert "print(pet_id)" in module.read_text()


def test_another_base_url_is_that_of_the_package(tmp_path: Path) -> None:
    run("generate", PETSTORE, str(tmp_path / "shop"), "--base-url", "https://shop.example/v2/")
    assert "https://shop.example/v2" in (tmp_path / "shop" / "pet_store_mcp" / "api.py").read_text()


def test_a_folder_that_is_somebody_elses_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    code, _, said = run("generate", PETSTORE, str(tmp_path))
    assert code == 2
    assert "--force" in said
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_bundle_holds_the_package_and_its_manifest(package: Path, tmp_path: Path) -> None:
    code, printed, _ = run("bundle", str(package), "--output", str(tmp_path / "shop.mcpb"))
    assert code == 0
    with zipfile.ZipFile(printed.strip()) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        assert manifest["name"] == "pet-store-mcp"
        assert manifest["server"]["entry_point"] in archive.namelist()
