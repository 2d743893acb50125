"""Files are read within a limit, and what is no regular file is refused without waiting for it."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from openapi_mcp.regular_files import UnfitFile, digest_of, read_regular

MOST = 1000


def unix_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(here)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.mkfifo, "is a pipe, not a file"),
        (unix_socket, "is a socket, not a file"),
        (lambda path: path.symlink_to("/dev/zero"), "is a device, not a file"),
        (lambda path: path.symlink_to("/dev/tty"), "No such device or address|is a (device|socket), not a file"),
        (sparse, "is larger than 1,000 bytes"),
        (lambda path: path.write_bytes(b"x" * (MOST + 1)), "is larger than 1,000 bytes"),
    ],
)
def test_other_files_are_refused_at_once(tmp_path: Path, make: Callable[[Path], object], reason: str) -> None:
    make(tmp_path / "a")
    with pytest.raises(UnfitFile, match=reason):
        read_regular(tmp_path / "a", MOST)


def test_a_folder_is_a_folder_and_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path, MOST)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "a", MOST)


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * MOST)
    assert read_regular(path, MOST) == b"x" * MOST
    (tmp_path / "link").symlink_to("a")
    assert digest_of(tmp_path / "link", MOST) == digest_of(path, MOST)


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="there is no /proc")
def test_a_file_whose_size_is_said_to_be_zero_is_bounded_too() -> None:
    assert Path("/proc/self/smaps").stat().st_size == 0
    with pytest.raises(UnfitFile, match="larger than 10 bytes"):
        read_regular(Path("/proc/self/smaps"), 10)
