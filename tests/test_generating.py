"""`openapi-mcp generate` and `bundle` as people run them: the package, its exit codes, what is said."""

import json
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from openapi_mcp.cli import app
from tests.conftest import ROOT

PETSTORE = str(ROOT / "specs" / "petstore.yaml")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A package that was just generated."""
    done = run("generate", PETSTORE, tmp_path / "out")
    assert done.exit_code == 0, done.output
    return tmp_path / "out"


def test_a_package_is_written_and_what_it_is_is_said(tmp_path: Path) -> None:
    done = run("generate", PETSTORE, tmp_path / "out", "--bundle")
    assert f"pet-store-mcp in {tmp_path / 'out'}: 9 tools" in done.output
    assert (tmp_path / "out" / "pet_store_mcp" / "tools" / "pets.py").is_file()
    with zipfile.ZipFile(tmp_path / "out" / "pet-store-mcp.mcpb") as bundle:
        manifest = json.loads(bundle.read("manifest.json"))
        assert manifest["server"]["entry_point"] in bundle.namelist()


def test_a_package_that_is_up_to_date_passes_the_check(out: Path) -> None:
    assert run("generate", PETSTORE, out, "--check").exit_code == 0


def test_a_document_that_changed_fails_the_check_and_nothing_is_written(out: Path) -> None:
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    done = run("generate", PETSTORE, out, "--check", "--exclude", "tag:shop")
    assert done.exit_code == 7
    assert "removed: pet_store_mcp/tools/shop.py" in done.output
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_a_package_keeps_its_name_and_its_runtime(tmp_path: Path) -> None:
    run("generate", PETSTORE, tmp_path, "--name", "shop", "--runtime", "installed")
    done = run("generate", PETSTORE, tmp_path)
    assert (done.exit_code, sorted(path.name for path in tmp_path.iterdir() if path.is_dir())) == (0, ["shop", "tests"])
    assert not (tmp_path / "shop" / "_runtime").exists()


def test_an_edit_that_collides_is_a_marked_conflict(out: Path, tmp_path: Path) -> None:
    place = out / "pet_store_mcp" / "api.py"
    place.write_text(place.read_text().replace("http://127.0.0.1:8020", "https://ours.example"))
    moved = tmp_path / "moved.yaml"
    moved.write_text(Path(PETSTORE).read_text().replace("http://127.0.0.1:8020", "https://new.example"))
    done = run("generate", moved, out)
    assert done.exit_code == 6
    assert "conflict: pet_store_mcp/api.py" in done.output
    assert all(text in place.read_text() for text in ("https://ours.example", "https://new.example", "<<<<<<<"))


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("all my work")
    done = run("generate", PETSTORE, tmp_path)
    assert done.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    assert run("generate", PETSTORE, tmp_path, "--force").exit_code == 0
    assert (tmp_path / "thesis.txt").read_text() == "all my work"


@pytest.mark.parametrize("name", ["../evil", "httpx", "a b"])
def test_a_name_that_cannot_be_is_refused(tmp_path: Path, name: str) -> None:
    done = run("generate", PETSTORE, tmp_path / "out", "--name", name)
    assert done.exit_code == 2
    assert not (tmp_path / "out").exists()


def test_an_archive_is_made_of_a_package_on_disk(out: Path, tmp_path: Path) -> None:
    done = run("bundle", out, "--output", tmp_path / "shop.mcpb")
    assert done.output.strip() == str(tmp_path / "shop.mcpb")
    assert zipfile.is_zipfile(tmp_path / "shop.mcpb")
    assert run("bundle", tmp_path / "nothing").exit_code == 2


def test_another_base_url_is_that_of_the_package(tmp_path: Path) -> None:
    run("generate", PETSTORE, tmp_path / "out", "--base-url", "https://shop.example/v2/")
    assert 'BASE_URL = "https://shop.example/v2"' in (tmp_path / "out" / "pet_store_mcp" / "api.py").read_text()
