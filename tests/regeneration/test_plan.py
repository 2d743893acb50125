"""Regeneration keeps edits, updates the rest, marks conflicts, and completes interrupted runs."""

import base64
import contextlib
import json
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openapi_mcp.errors import BridgeError, UnresolvedConflicts, UsageError
from openapi_mcp.regeneration.merge import MARKERS, changes
from openapi_mcp.regeneration.plan import FileOutcome, check, regenerate
from tests.packages import Files, edit, package, tree

PETS = {"get_pet": "Find a pet", "add_pet": "Add a pet", "delete_pet": "Delete a pet"}
PET = PurePosixPath("petstore_mcp/tools/pet.py")
LOCK = "openapi-mcp.lock"


def kinds(outcomes: list[FileOutcome]) -> dict[str, str]:
    """Return the outcomes by path, without unchanged files."""
    return {str(outcome.path): outcome.kind for outcome in outcomes if outcome.kind != "unchanged"}


def generated(folder: Path, files: Files) -> dict[str, str]:
    return kinds(regenerate(files, folder))


def test_first_generation_writes_everything(tmp_path: Path) -> None:
    files = package(pet=PETS)
    assert set(generated(tmp_path / "new" / "out", files).values()) == {"written"}
    assert tree(tmp_path / "new" / "out") == files


def test_new_repository_counts_as_empty_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    regenerate(package(), tmp_path)
    assert (tmp_path / "pyproject.toml").exists()


def test_same_document_changes_nothing(tmp_path: Path) -> None:
    files = package(pet=PETS)
    regenerate(files, tmp_path)
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.rglob("*") if path.is_file()}
    assert generated(tmp_path, files) == {}
    assert {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in tmp_path.rglob("*") if p.is_file()} == before
    assert check(files, tmp_path) == []


def test_unedited_files_are_updated(tmp_path: Path) -> None:
    regenerate(package(pet=PETS), tmp_path)
    after = package("1.1.0", pet=PETS, shop={"buy": "Buy a pet"})
    outcomes = generated(tmp_path, after)
    assert tree(tmp_path) == after
    assert Counter(outcomes.values()) == {"updated": 4, "written": 2}


def test_edits_and_changes_of_every_kind(tmp_path: Path) -> None:
    """Edits: a body, a helper, a dependency, a renamed tool, a deleted file; then the document changes."""
    regenerate(package(pet=PETS, store={"get_order": "Find an order"}, user={"log_in": "Log in"}), tmp_path)
    pet, store = tmp_path / PET, tmp_path / "petstore_mcp/tools/store.py"
    edit(pet, 'return await call("get_pet", pet_id=pet_id)', 'return await checked(call("get_pet", pet_id=pet_id))')
    edit(pet, "import call, tool\n", "import call, tool\n\nLIMIT = 5\n")
    pet.write_text(pet.read_text() + "\n\nasync def checked(answer: object) -> object:\n    return answer\n")
    edit(store, '@tool("get_order")', '@tool("find_my_order")')
    edit(tmp_path / "pyproject.toml", '"httpx>=0.27",\n', '"httpx>=0.27",\n    "rich",\n')
    (tmp_path / "README.md").unlink()
    (tmp_path / "petstore_mcp/tools/mine.py").write_text("x = 1\n")
    edited = {line for content in tree(tmp_path).values() if b"\0" not in content for line in content.splitlines()}

    pets = {"get_pet": "Find a pet", "add_pet": "Put a pet on sale", "find_pets": "Find pets"}
    after = package("2.0.0", pet=pets, store={"get_order": "Find an order by its number"})
    stale = kinds(check(after, tmp_path))
    outcomes = generated(tmp_path, after)
    assert outcomes == {
        "README.md": "conflict",
        "petstore_mcp/_runtime/server.py": "updated",
        "petstore_mcp/logo.png": "updated",
        "petstore_mcp/tools/pet.py": "merged",
        "petstore_mcp/tools/pet/add_pet.json": "updated",
        "petstore_mcp/tools/pet/delete_pet.json": "removed",
        "petstore_mcp/tools/pet/find_pets.json": "written",
        "petstore_mcp/tools/store.py": "merged",
        "petstore_mcp/tools/store/get_order.json": "updated",
        "petstore_mcp/tools/user.py": "removed",
        "petstore_mcp/tools/user/log_in.json": "removed",
        "pyproject.toml": "merged",
    }
    assert stale == outcomes
    text = pet.read_text()
    assert "checked(call(" in text
    assert "async def checked" in text
    assert "LIMIT = 5" in text
    assert '"""Put a pet on sale"""' in text
    assert "def find_pets" in text
    assert "delete_pet" not in text
    assert '@tool("find_my_order")' in store.read_text()
    assert "by its number" in store.read_text()
    assert "rich" in (tmp_path / "pyproject.toml").read_text()
    assert not (tmp_path / "README.md").exists()
    assert (tmp_path / "petstore_mcp/tools/mine.py").read_text() == "x = 1\n"
    compile(text, "pet.py", "exec")
    now = {line for content in tree(tmp_path).values() for line in content.splitlines()}
    assert {line for line in edited - now if b"pet" not in line.lower() and b"order" not in line} <= set(
        b"\n".join(package(pet=PETS, user={"log_in": "Log in"}).values()).splitlines()
    )
    (tmp_path / "README.md.generated").unlink()
    assert set(generated(tmp_path, after).values()) == {"kept", "deleted"}


def test_conflict_in_one_line(tmp_path: Path) -> None:
    regenerate(package(pet=PETS), tmp_path)
    edit(tmp_path / PET, '"""Add a pet"""', '"""Add my pet"""')
    after = package(pet=PETS | {"add_pet": "Add a cat"})
    [conflict] = [outcome for outcome in regenerate(after, tmp_path) if outcome.kind == "conflict"]
    lines = (tmp_path / PET).read_text().split("\n")
    index = lines.index(MARKERS[0])
    assert conflict == FileOutcome(path=PET, kind="conflict", note=f"both sides changed line {index + 1}")
    assert lines[index : index + 5] == [
        MARKERS[0],
        '    """Add my pet"""',
        MARKERS[1],
        '    """Add a cat"""',
        MARKERS[2],
    ]


def test_first_of_many_conflicts_are_listed(tmp_path: Path) -> None:
    tools = {f"tool_{n}": "Text" for n in range(7)}
    regenerate(package(pet=tools), tmp_path)
    (tmp_path / PET).write_text((tmp_path / PET).read_text().replace("Text", "My text"))
    [conflict] = [o for o in regenerate(package(pet=dict.fromkeys(tools, "New")), tmp_path) if o.kind == "conflict"]
    assert conflict.note == "both sides changed line 8, 18, 28, 38, 48 and 2 more"


def test_unresolved_conflicts_are_refused(tmp_path: Path) -> None:
    regenerate(package(pet=PETS), tmp_path)
    edit(tmp_path / PET, '"""Add a pet"""', '"""Add my pet"""')
    after = package(pet=PETS | {"add_pet": "Add a cat"})
    regenerate(after, tmp_path)
    before = tree(tmp_path, without=())
    for again in (after, package("3.0.0")):
        with pytest.raises(UnresolvedConflicts, match=str(PET)):
            regenerate(again, tmp_path)
        with pytest.raises(UnresolvedConflicts, match=str(PET)):
            check(again, tmp_path)
    assert tree(tmp_path, without=()) == before
    text = (tmp_path / PET).read_text()
    start, end = text.index(MARKERS[0]), text.index(MARKERS[2]) + len(MARKERS[2])
    (tmp_path / PET).write_text(text[:start] + '    """Add my cat"""' + text[end:])
    assert generated(tmp_path, after) == {str(PET): "kept"}


def test_generated_conflict_markers_are_not_conflicts(tmp_path: Path) -> None:
    """A description may contain the lines of conflict markers."""
    hostile = package() | {PurePosixPath("README.md"): "\n".join((*MARKERS, "")).encode()}
    regenerate(hostile, tmp_path)
    edit(tmp_path / "README.md", "=======", "-------")
    assert generated(tmp_path, hostile) == {"README.md": "kept"}


def test_edits_of_a_removed_function_stay(tmp_path: Path) -> None:
    regenerate(package(pet=PETS), tmp_path)
    edit(tmp_path / PET, '    """Add a pet"""\n', '    """Add a pet"""\n    check(pet_id)\n')
    after = package(pet={"get_pet": "Find a pet", "delete_pet": "Delete a pet"})
    assert generated(tmp_path, after)[str(PET)] == "conflict"
    text = (tmp_path / PET).read_text()
    yours = text[text.index(MARKERS[0]) : text.index(MARKERS[1])]
    assert "async def add_pet" in yours
    assert "check(pet_id)" in yours


def test_edited_module_stays_when_no_longer_generated(tmp_path: Path) -> None:
    regenerate(package(pet=PETS, shop={"buy": "Buy a pet"}), tmp_path)
    edit(tmp_path / "petstore_mcp/tools/shop.py", "return await", "return not await")
    outcomes = generated(tmp_path, package(pet=PETS))
    assert outcomes == {"petstore_mcp/tools/shop.py": "left", "petstore_mcp/tools/shop/buy.json": "removed"}
    assert "return not await" in (tmp_path / "petstore_mcp/tools/shop.py").read_text()
    assert not (tmp_path / "petstore_mcp/tools/shop").exists()
    assert generated(tmp_path, package(pet=PETS)) == {}
    back = generated(tmp_path, package(pet=PETS, shop={"buy": "Buy a pet"}))
    assert back["petstore_mcp/tools/shop.py"] == "conflict"
    assert "return not await" in (tmp_path / "petstore_mcp/tools/shop.py").read_text()


def test_helpers_and_new_tools_at_the_end_of_a_module_are_both_kept(tmp_path: Path) -> None:
    regenerate(package(pet=PETS), tmp_path)
    with (tmp_path / PET).open("a") as file:
        file.write("\n\ndef helper() -> int:\n    return 1\n")
    after = package(pet=PETS | {"find_pets": "Find pets"})
    assert generated(tmp_path, after)[str(PET)] == "merged"
    text = (tmp_path / PET).read_text()
    assert "def helper" in text
    assert "def find_pets" in text
    assert generated(tmp_path, after) == {str(PET): "kept"}


def test_merge_never_defines_a_function_twice(tmp_path: Path) -> None:
    """The owner defined at the top what the document adds at the end: merged, one would hide the other."""
    regenerate(package(pet=PETS), tmp_path)
    edit(tmp_path / PET, "import call, tool\n", "import call, tool\n\n\ndef find_pets() -> None: ...\n")
    before = (tmp_path / PET).read_text()
    after = package(pet=PETS | {"find_pets": "Find pets"})
    [conflict] = [outcome for outcome in regenerate(after, tmp_path) if outcome.kind == "conflict"]
    assert conflict.note == "merged, find_pets is defined 2 times: see pet.py.generated"
    assert (tmp_path / PET).read_text() == before
    assert (tmp_path / f"{PET}.generated").read_bytes() == after[PET]
    with pytest.raises(UnresolvedConflicts, match=r"pet\.py\.generated"):
        regenerate(after, tmp_path)
    (tmp_path / f"{PET}.generated").unlink()
    assert generated(tmp_path, after) == {str(PET): "kept"}


@pytest.mark.parametrize("name", ["petstore_mcp/logo.png", "petstore_mcp/_runtime/server.py"])
def test_files_that_cannot_be_merged_are_put_beside(tmp_path: Path, name: str) -> None:
    regenerate(package(), tmp_path)
    (tmp_path / name).write_bytes(b"my own \0 thing")
    after = package("2.0.0")
    assert generated(tmp_path, package())[name] == "kept"
    assert generated(tmp_path, after)[name] == "conflict"
    assert (tmp_path / name).read_bytes() == b"my own \0 thing"
    assert (tmp_path / f"{name}.generated").read_bytes() == after[PurePosixPath(name)]


def test_json_is_merged_or_put_beside_without_markers(tmp_path: Path) -> None:
    name = "petstore_mcp/tools/pet/add_pet.json"
    regenerate(package(pet=PETS), tmp_path)
    edit(tmp_path / name, "{\n", '{\n  "x-mine": true,\n')
    outcomes = generated(tmp_path, package(pet=PETS | {"add_pet": "Add a cat"}))
    assert outcomes[name] == "merged"
    assert json.loads((tmp_path / name).read_text()) == {"x-mine": True, "type": "object", "title": "Add a cat"}
    edit(tmp_path / name, "Add a cat", "Add my cat")
    outcomes = generated(tmp_path, package(pet=PETS | {"add_pet": "Add a dog"}))
    assert outcomes[name] == "conflict"
    assert json.loads((tmp_path / name).read_text())["title"] == "Add my cat"


def test_deleted_file_returns_beside_and_only_when_changed(tmp_path: Path) -> None:
    regenerate(package(pet=PETS), tmp_path)
    (tmp_path / "README.md").unlink()
    assert generated(tmp_path, package(pet=PETS)) == {"README.md": "deleted"}
    assert check(package(pet=PETS), tmp_path) == []
    assert generated(tmp_path, package("2.0.0", pet=PETS))["README.md"] == "conflict"
    assert not (tmp_path / "README.md").exists()
    (tmp_path / "README.md.generated").unlink()
    assert generated(tmp_path, package("2.0.0", pet=PETS)) == {"README.md": "deleted"}


def test_windows_line_ends_are_no_change(tmp_path: Path) -> None:
    regenerate(package(pet=PETS), tmp_path)
    for path in (PET, "pyproject.toml"):
        (tmp_path / path).write_bytes((tmp_path / path).read_bytes().replace(b"\n", b"\r\n"))
    assert generated(tmp_path, package(pet=PETS)) == {}
    content = (tmp_path / PET).read_bytes().replace(b"Find a pet", b"Find my pet")
    (tmp_path / PET).write_bytes(content)
    outcomes = generated(tmp_path, package("2.0.0", pet=PETS | {"add_pet": "Add a cat"}))
    assert (outcomes["pyproject.toml"], outcomes[str(PET)]) == ("updated", "merged")
    for path in (PET, "pyproject.toml"):
        assert b"\n" not in (tmp_path / path).read_bytes().replace(b"\r\n", b"")
    assert (tmp_path / PET).read_bytes() == content.replace(b"Add a pet", b"Add a cat")


def test_changes_of_the_owner_alone_are_up_to_date(tmp_path: Path) -> None:
    regenerate(package(pet=PETS), tmp_path)
    edit(tmp_path / PET, '"""Add a pet"""', '"""Add my pet"""')
    assert check(package(pet=PETS), tmp_path) == []
    before = tree(tmp_path, without=())
    assert kinds(check(package("2.0.0", pet=PETS), tmp_path)) == {
        "README.md": "updated",
        "petstore_mcp/_runtime/server.py": "updated",
        "petstore_mcp/logo.png": "updated",
        "pyproject.toml": "updated",
    }
    assert tree(tmp_path, without=()) == before


def test_missing_folder_is_out_of_date(tmp_path: Path) -> None:
    assert {outcome.kind for outcome in check(package(), tmp_path / "out")} == {"written"}
    assert not (tmp_path / "out").exists()


# A folder with other files


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    for attempt in (regenerate, check):
        with pytest.raises(UsageError, match="no lock file"):
            attempt(package(), tmp_path)
    assert tree(tmp_path) == {PurePosixPath("thesis.tex"): b"x"}


def test_force_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine\n")
    (tmp_path / "pyproject.toml").write_bytes(package()[PurePosixPath("pyproject.toml")])
    outcomes = {str(outcome.path): outcome for outcome in regenerate(package(), tmp_path, force=True)}
    assert outcomes["README.md"].note == "a file that was not generated has this name: see README.md.generated"
    assert outcomes["pyproject.toml"].kind == "unchanged"
    assert (tmp_path / "README.md").read_text() == "mine\n"
    (tmp_path / "README.md.generated").unlink()
    assert generated(tmp_path, package()) == {"README.md": "kept"}


def test_output_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x")
    with pytest.raises(UsageError, match="is a file"):
        regenerate(package(), tmp_path / "out")


# Hostile paths


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "/etc/x",
        "a/../../x",
        ".git/hooks/pre-commit",
        "a/.GIT/x",
        "C:/x",
        "a\\b",
        "con.py",
        "a/nul",
        "x\n",
        "x.",
        LOCK,
    ],
)
def test_unsafe_paths_are_refused(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "out"
    with pytest.raises(UsageError):
        regenerate(package() | {PurePosixPath(path): b"x"}, folder)
    assert not folder.exists()


def test_lock_with_a_path_outside_is_refused(tmp_path: Path) -> None:
    """A hostile lock could name a file outside, which would be removed because it is no longer generated."""
    folder, victim = tmp_path / "out", tmp_path / "victim"
    regenerate(package(), folder)
    victim.write_bytes(b"# Petstore\n\nVersion 1.0.0.\n")
    value = json.loads((folder / LOCK).read_text())
    value["files"]["../victim"] = value["files"]["README.md"]
    (folder / LOCK).write_text(json.dumps(value))
    with pytest.raises(UsageError, match="invalid path of a file"):
        regenerate(package("2.0.0"), folder)
    assert victim.exists()


@pytest.mark.parametrize("link", ["petstore_mcp", "petstore_mcp/logo.png", LOCK])
def test_links_out_of_the_folder_are_refused(tmp_path: Path, link: str) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    (outside / "file").write_text("untouched")
    (folder / link).parent.mkdir(parents=True)
    (folder / link).symlink_to(outside if link == "petstore_mcp" else outside / "file")
    with pytest.raises(UsageError, match="leads out"):
        regenerate(package(), folder, force=True)
    assert tree(outside) == {PurePosixPath("file"): b"untouched"}


def test_links_inside_the_folder_are_followed(tmp_path: Path) -> None:
    regenerate(package(), tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").rename(tmp_path / "docs" / "README.md")
    (tmp_path / "README.md").symlink_to("docs/README.md")
    regenerate(package("2.0.0"), tmp_path)
    assert (tmp_path / "README.md").is_symlink()
    assert "2.0.0" in (tmp_path / "docs/README.md").read_text()


def test_link_with_the_name_of_a_partial_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("untouched")
    regenerate(package(), tmp_path / "out")
    (tmp_path / "out/README.md.openapi-mcp-part").symlink_to(tmp_path / "victim")
    regenerate(package("2.0.0"), tmp_path / "out")
    assert (tmp_path / "victim").read_text() == "untouched"


def test_folder_with_the_path_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "README.md").mkdir()
    with pytest.raises(UsageError, match="needed for a file of the package"):
        regenerate(package(), tmp_path, force=True)
    (tmp_path / "README.md").rmdir()
    (tmp_path / "petstore_mcp").write_text("x")
    with pytest.raises(UsageError, match="needed for a file of the package"):
        regenerate(package(), tmp_path, force=True)
    assert set(tree(tmp_path)) == {PurePosixPath("petstore_mcp")}


def test_circular_links_are_refused(tmp_path: Path) -> None:
    (tmp_path / "README.md").symlink_to("README.md")
    with pytest.raises(UsageError):
        regenerate(package(), tmp_path, force=True)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "<<<<<<< HEAD\n{}",
        "[]",
        '{"format": 1}',
        '{"format": 1, "files": {"a": 5}}',
        '{"format": 2, "files": {}}',
        "[" * 9999,
    ],
)
def test_unreadable_lock_is_refused(tmp_path: Path, content: str) -> None:
    regenerate(package(), tmp_path)
    (tmp_path / LOCK).write_text(content)
    with pytest.raises(UsageError, match="lock"):
        regenerate(package("2.0.0"), tmp_path)
    assert tree(tmp_path) == package()


@pytest.mark.parametrize(
    "packed",
    ["no base64", base64.b64encode(zlib.compress(b"something else")).decode(), base64.b64encode(b"x").decode()],
)
def test_false_text_in_the_lock_loses_no_edit(tmp_path: Path, packed: str) -> None:
    regenerate(package(), tmp_path)
    value = json.loads((tmp_path / LOCK).read_text())
    value["files"]["README.md"][1] = packed
    (tmp_path / LOCK).write_text(json.dumps(value))
    edit(tmp_path / "README.md", "# Petstore", "# My petstore")
    assert generated(tmp_path, package("2.0.0"))["README.md"] == "conflict"
    assert "# My petstore" in (tmp_path / "README.md").read_text()


# The lock


def test_lock_has_one_line_for_each_file(tmp_path: Path) -> None:
    """Git shows the changed files, and merges branches that changed different files."""
    regenerate(package(pet=PETS), tmp_path)
    before = (tmp_path / LOCK).read_text().split("\n")
    regenerate(package(pet=PETS | {"add_pet": "Add a cat"}), tmp_path)
    after = (tmp_path / LOCK).read_text().split("\n")
    changed = [old.split('"')[1] for old, new in zip(before, after, strict=True) if old != new]
    assert changed == [str(PET), "petstore_mcp/tools/pet/add_pet.json"]


def test_lock_does_not_repack_unchanged_texts(tmp_path: Path) -> None:
    """Other versions of zlib pack a text into other bytes; that alone does not change the lock."""
    regenerate(package(), tmp_path)
    value = json.loads((tmp_path / LOCK).read_text())
    packed = base64.b64encode(zlib.compress(package()[PurePosixPath("README.md")], 0)).decode()
    assert value["files"]["README.md"][1] != packed
    value["files"]["README.md"][1] = packed
    (tmp_path / LOCK).write_text(json.dumps(value))
    regenerate(package(pet=PETS), tmp_path)
    assert json.loads((tmp_path / LOCK).read_text())["files"]["README.md"][1] == packed


def test_lock_holds_no_text_of_the_runtime(tmp_path: Path) -> None:
    regenerate(package(), tmp_path)
    files = json.loads((tmp_path / LOCK).read_text())["files"]
    assert [path for path, entry in files.items() if len(entry) == 1] == ["petstore_mcp/_runtime/server.py"]


# Interruption


class Interrupted(BaseException):
    """The end of a killed process, which no code handles."""


def interrupt(patch: pytest.MonkeyPatch, steps: int) -> None:
    """Interrupt after this many operations on the disk."""
    left = iter(range(steps))

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **options: Any) -> Any:
            if next(left, None) is None:
                raise Interrupted
            return real(*args, **options)

        return step

    for name in ("replace", "unlink", "rmdir", "mkdir"):
        patch.setattr(Path, name, counted(getattr(Path, name)))


def owned(folder: Path) -> None:
    """Return an edited package whose files are merged, left, kept and deleted when version 2 is generated."""
    regenerate(package(pet=PETS, shop={"buy": "Buy a pet"}, user={"log_in": "Log in"}), folder)
    edit(folder / PET, "import call, tool\n", "import call, tool\n\nLIMIT = 5\n")
    (folder / PET).write_text((folder / PET).read_text() + "\n\ndef helper() -> int:\n    return 1\n")
    edit(folder / "petstore_mcp/tools/shop.py", "return await", "return not await")
    (folder / "petstore_mcp/tools/shop/buy.json").unlink()


VERSION_2 = package("2.0.0", pet=PETS | {"find_pets": "Find pets"})


@pytest.mark.slow
def test_next_run_completes_an_interrupted_one(tmp_path: Path) -> None:
    """Running again after an interruption at any step gives the result of an uninterrupted run."""
    owned(tmp_path / "complete")
    regenerate(VERSION_2, tmp_path / "complete")
    expected = tree(tmp_path / "complete", without=())
    ended = 0
    for steps in range(200):
        folder = tmp_path / str(steps)
        owned(folder)
        with pytest.MonkeyPatch.context() as patch:
            interrupt(patch, steps)
            try:
                regenerate(VERSION_2, folder)
                break
            except Interrupted:
                ended += 1
        for path, content in tree(folder).items():
            assert b"\0" in content or path.suffix == ".openapi-mcp-part" or content.endswith(b"\n"), "half a file"
        regenerate(VERSION_2, folder)
        assert tree(folder, without=()) == expected
    assert ended > 20


def test_next_run_completes_an_interrupted_first_one(tmp_path: Path) -> None:
    for steps in range(1, 40):
        folder = tmp_path / str(steps)
        with pytest.MonkeyPatch.context() as patch:
            interrupt(patch, steps)
            try:
                regenerate(VERSION_2, folder)
                break
            except Interrupted:
                pass
        regenerate(VERSION_2, folder)
        assert tree(folder) == VERSION_2
    assert steps > 10


@pytest.mark.slow
def test_files_beside_of_an_interrupted_run_are_conflicts(tmp_path: Path) -> None:
    """The conflicts of the interrupted run are reported by the second run, or refused as unresolved."""
    expected: Files = {}
    for steps in [1000, *range(200)]:
        folder = tmp_path / str(steps)
        owned(folder)
        (folder / "README.md").unlink()
        (folder / "petstore_mcp/logo.png").write_bytes(b"mine\0")
        is_complete = False
        with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Interrupted):
            interrupt(patch, steps)
            regenerate(VERSION_2, folder)
            is_complete = True
        expected = expected or tree(folder)
        with contextlib.suppress(UnresolvedConflicts):
            regenerate(VERSION_2, folder)
        assert tree(folder) == expected
        if is_complete and steps < 1000:
            break
    assert {str(path) for path in expected} >= {"README.md.generated", "petstore_mcp/logo.png.generated"}
    assert is_complete


@pytest.mark.slow
def test_edits_after_an_interruption_stay(tmp_path: Path) -> None:
    for steps in range(200):
        folder = tmp_path / str(steps)
        owned(folder)
        with pytest.MonkeyPatch.context() as patch:
            interrupt(patch, steps)
            try:
                regenerate(VERSION_2, folder)
                break
            except Interrupted:
                pass
        with (folder / "pyproject.toml").open("a") as file:
            file.write("\n[tool.mine]\n")
        with (folder / PET).open("a") as file:
            file.write("\n\nTHE_LAST = 1\n")
        regenerate(VERSION_2, folder)
        assert b"[tool.mine]" in tree(folder)[PurePosixPath("pyproject.toml")]
        assert b"THE_LAST = 1" in tree(folder)[PET]


def test_full_disk_raises_bridge_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(BridgeError, match="No space left on device"):
        regenerate(package(), tmp_path / "out")
    assert tree(tmp_path) == {}


# Any edit, any change


TEXTS = st.text(alphabet=st.sampled_from("ab \n\r\t\u2028=<>é"), max_size=30).map(str.encode) | st.binary(max_size=12)
NAMES = st.sampled_from(["a.py", "b.md", "c.json", "d/e.toml", "_runtime/f.py"])
PACKAGES = st.dictionaries(NAMES.map(PurePosixPath), TEXTS, max_size=5)


@pytest.mark.slow
@given(st.lists(st.tuples(PACKAGES, PACKAGES), min_size=2, max_size=3))
@settings(max_examples=300)
def test_no_line_of_the_owner_is_lost(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[tuple[Files, Files]]
) -> None:
    """Each line that the owner added is in the result, for any two versions and any edits."""
    folder = tmp_path_factory.mktemp("any") / "out"
    last: Files = {}
    for files, edits in rounds:
        before = tree(folder)
        try:
            regenerate(files, folder)
        except UnresolvedConflicts:
            assert tree(folder) == before
            break
        after = tree(folder)
        for path, content in before.items():
            added = _added(last.get(path, b""), content)
            assert added <= Counter(_lines(after.get(path, b""))), f"a line of the owner's is gone from {path}"
        last = files
        put(folder, edits)


def put(folder: Path, files: Files) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def _added(old: bytes, new: bytes) -> Counter[str]:
    return Counter(line for change in changes(_lines(old), _lines(new)) for line in change.lines)


def _lines(content: bytes) -> list[str]:
    """Return lines without line ends."""
    return [line.rstrip("\r") for line in content.decode(errors="surrogateescape").split("\n")]


@pytest.mark.slow
@given(PACKAGES, PACKAGES, PACKAGES)
@settings(max_examples=200)
def test_generating_again_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, first: Files, edits: Files, second: Files
) -> None:
    folder = tmp_path_factory.mktemp("twice") / "out"
    regenerate(first, folder)
    put(folder, edits)
    outcomes = regenerate(second, folder)
    before = tree(folder, without=())
    if any(outcome.kind == "conflict" for outcome in outcomes):
        with pytest.raises(UnresolvedConflicts):
            regenerate(second, folder)
    else:
        assert {outcome.kind for outcome in regenerate(second, folder)} <= {"kept", "unchanged", "deleted"}
        assert check(second, folder) == []
    assert tree(folder, without=()) == before
