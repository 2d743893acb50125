"""`openapi-mcp generate` and `bundle` as users run them: the package, exit codes, output."""

import json
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from openapi_mcp.cli.main import app
from tests.conftest import ROOT

PETSTORE = str(ROOT / "specs" / "petstore.yaml")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Generate a package; return its folder."""
    result = run("generate", PETSTORE, tmp_path / "out")
    assert result.exit_code == 0, result.output
    return tmp_path / "out"


def test_generate_writes_a_package_and_reports_it(tmp_path: Path) -> None:
    result = run("generate", PETSTORE, tmp_path / "out", "--bundle")
    assert f"pet-store-mcp in {tmp_path / 'out'}: 9 tools" in result.output
    assert (tmp_path / "out" / "pet_store_mcp" / "tools" / "pets.py").is_file()
    with zipfile.ZipFile(tmp_path / "out" / "pet-store-mcp.mcpb") as bundle:
        manifest = json.loads(bundle.read("manifest.json"))
        assert manifest["server"]["entry_point"] in bundle.namelist()


def test_check_passes_for_a_package_that_is_up_to_date(out: Path) -> None:
    assert run("generate", PETSTORE, out, "--check").exit_code == 0


def test_check_fails_for_a_changed_document_and_writes_nothing(out: Path) -> None:
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    result = run("generate", PETSTORE, out, "--check", "--exclude", "tag:shop")
    assert result.exit_code == 7
    assert "removed: pet_store_mcp/tools/shop.py" in result.output
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_regenerated_package_keeps_its_name_and_runtime(tmp_path: Path) -> None:
    run("generate", PETSTORE, tmp_path, "--name", "shop", "--runtime", "installed")
    result = run("generate", PETSTORE, tmp_path)
    assert (result.exit_code, sorted(path.name for path in tmp_path.iterdir() if path.is_dir())) == (
        0,
        ["shop", "skills", "tests"],
    )
    assert not (tmp_path / "shop" / "_runtime").exists()


def test_skill_is_written_and_keeps_what_its_owner_adds(out: Path) -> None:
    file = out / "skills" / "pet-store" / "SKILL.md"
    file.write_text(file.read_text() + "\nAsk for the name of the pet first.\n")
    run("generate", PETSTORE, out)
    assert file.read_text().endswith("Ask for the name of the pet first.\n")
    assert (file.parent / "references" / "pets.md").read_text().startswith("# pets\n")


def test_colliding_edit_is_a_marked_conflict(out: Path, tmp_path: Path) -> None:
    path = out / "pet_store_mcp" / "api.py"
    path.write_text(path.read_text().replace("http://127.0.0.1:8020", "https://ours.example"))
    moved = tmp_path / "moved.yaml"
    moved.write_text(Path(PETSTORE).read_text().replace("http://127.0.0.1:8020", "https://new.example"))
    result = run("generate", moved, out)
    assert result.exit_code == 6
    assert "conflict: pet_store_mcp/api.py" in result.output
    assert all(text in path.read_text() for text in ("https://ours.example", "https://new.example", "<<<<<<<"))


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("all my work")
    result = run("generate", PETSTORE, tmp_path)
    assert result.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    assert run("generate", PETSTORE, tmp_path, "--force").exit_code == 0
    assert (tmp_path / "thesis.txt").read_text() == "all my work"


@pytest.mark.parametrize("name", ["../evil", "httpx", "a b"])
def test_invalid_name_is_refused(tmp_path: Path, name: str) -> None:
    result = run("generate", PETSTORE, tmp_path / "out", "--name", name)
    assert result.exit_code == 2
    assert not (tmp_path / "out").exists()


def test_bundle_writes_an_archive_of_a_package_on_disk(out: Path, tmp_path: Path) -> None:
    result = run("bundle", out, "--output", tmp_path / "shop.mcpb")
    assert result.output.strip() == str(tmp_path / "shop.mcpb")
    assert zipfile.is_zipfile(tmp_path / "shop.mcpb")
    assert run("bundle", tmp_path / "nothing").exit_code == 2


def test_base_url_option_is_that_of_the_package(tmp_path: Path) -> None:
    run("generate", PETSTORE, tmp_path / "out", "--base-url", "https://shop.example/v2/")
    assert 'BASE_URL = "https://shop.example/v2"' in (tmp_path / "out" / "pet_store_mcp" / "api.py").read_text()
