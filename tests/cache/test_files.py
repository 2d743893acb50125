"""The cache folder holds complete files only, also with several writers; its size is bounded; it never fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from openapi_mcp.cache import files
from openapi_mcp.cache.files import Cache, CacheSize
from tests.conftest import ROOT

WRITER = """
import sys
from pathlib import Path
from openapi_mcp.cache.files import Cache

mine = Cache(Path(sys.argv[1]))
for number in range(100):
    mine.put("shared", sys.argv[2].encode() * (100_000 + number))
    data = mine.get("shared")
    assert data and len(set(data)) == 1 and len(data) >= 100_000, "half a file, or two in one"
"""


def test_stored_bytes_are_returned(tmp_path: Path) -> None:
    mine = Cache(tmp_path / "new" / "folder")
    assert mine.get("key") is None
    mine.put("key", b"bytes")
    assert (mine.get("key"), mine.get("other")) == (b"bytes", None)
    assert mine.size() == CacheSize(1, 5)
    mine.drop("key")
    assert mine.get("key") is None


@pytest.mark.process
def test_concurrent_writers_leave_complete_files(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen([*command, letter], cwd=ROOT) for letter in "abcd"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    assert Cache(tmp_path).size().files == 1


def test_least_recently_used_files_are_removed_above_the_limit(tmp_path: Path) -> None:
    mine = Cache(tmp_path, max_bytes=25)
    for age, key in enumerate("abc"):
        mine.put(key, b"x" * 8)
        os.utime(tmp_path / f"{key}.tools", (age, age))
    assert mine.get("a") is not None  # now the most recently used
    mine.put("d", b"x" * 8)
    assert [key for key in "abcd" if mine.get(key)] == ["a", "c", "d"]


def test_file_above_the_limit_is_not_stored(tmp_path: Path) -> None:
    mine = Cache(tmp_path, max_bytes=25)
    mine.put("small", b"x" * 25)
    mine.put("large", b"x" * 26)
    assert mine.size() == CacheSize(1, 25)
    (tmp_path / "planted.tools").write_bytes(b"x" * 26)
    assert mine.get("planted") is None
    one = Cache(tmp_path, max_file_bytes=10)
    one.put("large", b"x" * 11)
    assert (one.get("large"), one.get("small")) == (None, None)


def test_clear_removes_only_files_of_the_cache(tmp_path: Path) -> None:
    mine = Cache(tmp_path)
    mine.put("key", b"bytes")
    (tmp_path / "left-by-a-killed-writer.part").write_bytes(b"by")
    (tmp_path / "notes.txt").write_text("somebody's")
    assert mine.clear() == CacheSize(2, 7)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_only_the_owner_can_read_files(tmp_path: Path) -> None:
    mine = Cache(tmp_path / "mine")
    mine.put("key", b"bytes")
    assert {path.stat().st_mode & 0o077 for path in (mine.folder, *mine.folder.iterdir())} == {0}


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows keeps the folders of its users apart")
class TestFoldersOfOthers:
    @pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702, 0o2775])
    def test_folder_that_others_can_write_is_refused_once(
        self, mode: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        Cache(tmp_path).put("before", b"bytes")
        tmp_path.chmod(mode)
        for _ in range(2):
            mine = Cache(tmp_path)
            mine.put("key", b"bytes")
            assert (mine.get("before"), mine.get("key")) == (None, None)
        assert [path.name for path in tmp_path.iterdir()] == ["before.tools"]
        [message] = caplog.messages
        assert f"other users can write to the folder {tmp_path} (mode {mode:04o}); run chmod go-w" in message

    @pytest.mark.parametrize("mode", [0o700, 0o755, 0o1777])
    def test_folder_in_which_others_replace_nothing_is_used(self, mode: int, tmp_path: Path) -> None:
        tmp_path.chmod(mode)
        mine = Cache(tmp_path)
        mine.put("key", b"bytes")
        assert mine.get("key") == b"bytes"

    @pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives files away")
    def test_folder_and_file_of_another_user_are_refused(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        mine = Cache(tmp_path)
        mine.put("key", b"bytes")
        os.chown(tmp_path / "key.tools", 12345, -1)
        assert (mine.get("key"), caplog.messages) == (None, [])
        os.chown(tmp_path, 12345, -1)
        mine.put("other", b"bytes")
        assert mine.get("other") is None
        [message] = caplog.messages
        assert f"the folder {tmp_path} belongs to another user" in message

    def test_file_that_others_can_write_is_no_entry(self, tmp_path: Path) -> None:
        mine = Cache(tmp_path)
        mine.put("key", b"bytes")
        (tmp_path / "key.tools").chmod(0o660)
        assert mine.get("key") is None

    def test_link_or_pipe_with_the_name_of_an_entry_is_no_entry(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").write_bytes(b"bytes")
        (tmp_path / "link.tools").symlink_to(tmp_path / "elsewhere")
        os.mkfifo(tmp_path / "pipe.tools")
        mine = Cache(tmp_path)
        assert (mine.get("link"), mine.get("pipe")) == (None, None)


def test_folder_that_cannot_be_created_is_an_empty_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    mine = Cache(tmp_path / "file" / "cache")
    mine.put("key", b"bytes")
    assert (mine.get("key"), mine.size(), mine.clear()) == (None, CacheSize(0, 0), CacheSize(0, 0))


def test_folder_with_the_name_of_an_entry_is_no_entry(tmp_path: Path) -> None:
    (tmp_path / "key.tools").mkdir()
    mine = Cache(tmp_path)
    mine.put("key", b"bytes")
    assert mine.get("key") is None
    assert not list(tmp_path.glob("*.part"))


def test_environment_variable_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(files.VARIABLE, str(tmp_path))
    assert files.folder() == tmp_path
    monkeypatch.delenv(files.VARIABLE)
    assert files.folder().name == "openapi-mcp"
