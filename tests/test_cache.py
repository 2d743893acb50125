"""The cache's folder: whole files or none, also with many writers; bounded; and nothing of it ever fails a start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from openapi_mcp import cache
from openapi_mcp.cache import Cache, Held
from tests.conftest import ROOT

WRITER = """
import sys
from pathlib import Path
from openapi_mcp.cache import Cache

mine = Cache(Path(sys.argv[1]))
for number in range(100):
    mine.put("shared", sys.argv[2].encode() * (100_000 + number))
    found = mine.get("shared")
    assert found and len(set(found)) == 1 and len(found) >= 100_000, "half a file, or two in one"
"""


def test_bytes_come_back(tmp_path: Path) -> None:
    mine = Cache(tmp_path / "new" / "folder")
    assert mine.get("key") is None
    mine.put("key", b"bytes")
    assert (mine.get("key"), mine.get("other")) == (b"bytes", None)
    assert mine.held() == Held(1, 5)
    mine.drop("key")
    assert mine.get("key") is None


def test_writers_at_once_leave_whole_files(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen([*command, letter], cwd=ROOT) for letter in "abcd"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    assert Cache(tmp_path).held().files == 1


def test_what_was_used_longest_ago_goes_when_there_is_too_much(tmp_path: Path) -> None:
    mine = Cache(tmp_path, most_bytes=25)
    for age, key in enumerate("abc"):
        mine.put(key, b"x" * 8)
        os.utime(tmp_path / f"{key}.tools", (age, age))
    assert mine.get("a") is not None  # used just now
    mine.put("d", b"x" * 8)
    assert [key for key in "abcd" if mine.get(key)] == ["a", "c", "d"]


def test_what_is_too_large_alone_is_not_kept(tmp_path: Path) -> None:
    mine = Cache(tmp_path, most_bytes=25)
    mine.put("small", b"x" * 25)
    mine.put("large", b"x" * 26)
    assert mine.held() == Held(1, 25)
    (tmp_path / "planted.tools").write_bytes(b"x" * 26)
    assert mine.get("planted") is None


def test_clearing_removes_what_is_the_caches_and_nothing_else(tmp_path: Path) -> None:
    mine = Cache(tmp_path)
    mine.put("key", b"bytes")
    (tmp_path / "left-by-a-killed-writer.part").write_bytes(b"by")
    (tmp_path / "notes.txt").write_text("somebody's")
    assert mine.clear() == Held(2, 7)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_only_the_owner_may_read(tmp_path: Path) -> None:
    mine = Cache(tmp_path / "mine")
    mine.put("key", b"bytes")
    assert {path.stat().st_mode & 0o077 for path in (mine.folder, *mine.folder.iterdir())} == {0}


def test_a_folder_that_cannot_be_is_an_empty_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    mine = Cache(tmp_path / "file" / "cache")
    mine.put("key", b"bytes")
    assert (mine.get("key"), mine.held(), mine.clear()) == (None, Held(0, 0), Held(0, 0))


def test_a_folder_in_place_of_a_file_is_no_entry(tmp_path: Path) -> None:
    (tmp_path / "key.tools").mkdir()
    mine = Cache(tmp_path)
    mine.put("key", b"bytes")
    assert mine.get("key") is None
    assert not list(tmp_path.glob("*.part"))


def test_the_environment_may_say_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    assert cache.folder() == tmp_path
    monkeypatch.delenv(cache.VARIABLE)
    assert cache.folder().name == "openapi-mcp"
