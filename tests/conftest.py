"""Fixtures and settings for all tests: marks, property tests, shared documents, the sample API, official clients."""

import atexit
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.conjecture.engine import ConjectureRunner
from hypothesis.internal.constants_ast import Constants

from examples.petstore.api import create_app
from openapi_mcp.cache import files as cache_files
from openapi_mcp.cli import console
from openapi_mcp.runtime.search import index_store
from tests.installation import installation, npm_packages, run
from tests.servers import running

# Property tests draw the same cases in each run, whatever CPU or other tests do; `make fuzz` draws new ones.
settings.register_profile(
    "fixed", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "fuzz", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=int(os.environ.get("FUZZ") or 100)
)
settings.load_profile("fuzz" if os.environ.get("FUZZ") else "fixed")
if not os.environ.get("FUZZ"):
    # Two sources of cases are not derandomised, so only `make fuzz` has them: constants of the modules imported so far,
    # which depend on the tests that ran before, and mutations, which depend on the addresses of strategies in memory.
    if hasattr(providers, "_get_local_constants"):
        providers._get_local_constants = Constants
    if hasattr(ConjectureRunner, "generate_mutations_from"):
        ConjectureRunner.generate_mutations_from = lambda *_: None  # type: ignore[method-assign]

# Keep the bytecode of tests and of the programs that they start, hundreds of them: each would otherwise compile the
# modules again, half a second of CPU, where the environment forbids to write it (images of CI set that variable).
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

gc.disable()  # until all tests are collected; see pytest_collection_finish

collect_ignore_glob = ["golden/*"]
"""Generated packages have tests of their own, which run in the environment where the package is installed."""

# Cache folders of this run, for the tests and the programs that they start: of compiled tools, which leaves the user's
# own cache alone and has each document of the corpus compiled once by whichever worker of the run needs it first; and
# of mypy, for each worker, which checks twelve generated packages that import the same libraries.
_SHARED_CACHES = "OPENAPI_MCP_TEST_CACHES"
"""The variable that tells the workers of a run the folder of the process that started them."""

if _SHARED_CACHES in os.environ:
    _CACHES = Path(os.environ[_SHARED_CACHES])
else:
    _CACHES = Path(tempfile.mkdtemp(prefix="openapi-mcp-tests-"))
    os.environ[_SHARED_CACHES] = str(_CACHES)
    atexit.register(shutil.rmtree, _CACHES, ignore_errors=True)
os.environ[cache_files.VARIABLE] = str(_CACHES / "tools")
os.environ["MYPY_CACHE_DIR"] = str(_CACHES / "mypy" / os.environ.get("PYTEST_XDIST_WORKER", "main"))

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
CLIENTS = ROOT / "tests" / "clients"
MCP_1 = "1.30.0"

PROCESS_FIXTURES = frozenset({"node", "mcp_1"})
PROCESS_EVENTS = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec"})
"""Audit events of Python that report the start of a process."""

_without_process: str | None = None
"""The running test, if it is not marked `process`."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test that asks for a fixture with processes or for the corpus; `make quick` selects by marks."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if fixtures & PROCESS_FIXTURES:
            item.add_marker(pytest.mark.process)
        if "corpus" in fixtures:
            item.add_marker(pytest.mark.corpus)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Keep 12,000 tests and 2,000 modules out of the garbage collections of the tests, which would visit them all."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note whether the running test may start processes."""
    global _without_process  # noqa: PLW0603 - an audit hook has no other way to know the test
    _without_process = None if item.get_closest_marker("process") else item.nodeid
    try:
        return (yield)
    finally:
        _without_process = None


def _audit(event: str, _: object) -> None:
    """Refuse to start a process in a test without the mark `process`, since `make quick` would run that test."""
    if _without_process and event in PROCESS_EVENTS:
        raise RuntimeError(f"{_without_process} starts a process: mark it with @pytest.mark.process")


sys.addaudithook(_audit)


def shared_folder(name: str) -> Path:
    """Return a folder of `../shared`, documents too many to be part of the project; skip the test if it is absent."""
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"folder does not exist: {folder}")
    return folder


@pytest.fixture(autouse=True)
def _without_sentence_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search in the tests as where the extra `search` is not installed; its own tests undo that."""
    monkeypatch.setattr(index_store, "sentence_model", lambda: None)


@pytest.fixture(autouse=True)
def _without_secrets_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide only the secrets of one test in what it prints: a process keeps all that it was given."""
    for name in ("known", "sanitizer"):
        monkeypatch.setattr(console._Secrets, name, getattr(console._Secrets, name))


@pytest.fixture(scope="session")
def torture() -> Path:
    """Return the folder of difficult documents with their expected requests."""
    return shared_folder("torture")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Return the folder of real documents."""
    return shared_folder("corpus")


@pytest.fixture(scope="session")
def petstore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the sample API with its first pets and the key `open-sesame`; yield its base URL."""
    with running(create_app(tmp_path_factory.mktemp("petstore") / "pets.sqlite3")) as url:
        yield url


@pytest.fixture(scope="session")
def node() -> Path:
    """Return the Node executable; install the official npm clients if they are absent or older than the lock file."""
    return npm_packages(CLIENTS, "npm-clients")


@pytest.fixture(scope="session")
def mcp_1() -> Path:
    """Return a Python with the last official client of the handshake era, mcp 1.x; install it if it is absent."""
    name = f"mcp-{MCP_1}-python{sys.version_info[0]}.{sys.version_info[1]}"
    folder = ROOT / "build" / name
    python, ready = folder / "bin" / "python", folder / ".ready"
    with installation(name):
        if not ready.exists():
            run(sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder))
            run(sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", f"mcp=={MCP_1}")
            ready.touch()
    return python
