"""Generated packages in tests: made, put on disk, imported; and the golden ones, which `make golden` writes anew."""

import importlib
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from types import ModuleType

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.generator import Package, Runtime, generate
from openapi_mcp.mode import Mode
from openapi_mcp.python_names import package
from tests.conftest import ROOT

SPECS = sorted(path for path in (ROOT / "specs").iterdir() if path.suffix in {".yaml", ".json"})
GOLDEN = ROOT / "tests" / "golden"


def bridge(document: Path) -> Bridge:
    """As `generate` opens it, and `serve --mode all`."""
    return Bridge.open(Config(source=str(document), mode=Mode.ALL))


def without_runtime(files: Mapping[PurePosixPath, bytes]) -> dict[PurePosixPath, bytes]:
    """The files but for the copy of the runtime, which has its own test."""
    return {path: content for path, content in files.items() if "_runtime" not in path.parts}


def write(files: Mapping[PurePosixPath, bytes], folder: Path) -> None:
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def generated(document: Path, folder: Path, *, name: str | None = None, runtime: Runtime = "vendored") -> Package:
    """A package on disk."""
    made = generate(bridge(document), name=name, runtime=runtime)
    write(made.files, folder)
    return made


@contextmanager
def imported(made: Package, folder: Path) -> Iterator[ModuleType]:
    """The `server` module of a package; nothing of it stays behind."""
    name = package(made.name)
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(f"{name}.server")
    finally:
        sys.path.remove(str(folder))
        for module in [module for module in sys.modules if module.partition(".")[0] == name]:
            del sys.modules[module]


def main() -> None:
    """Write the golden packages."""
    shutil.rmtree(GOLDEN, ignore_errors=True)
    for document in SPECS:
        write(without_runtime(generate(bridge(document)).files), GOLDEN / document.stem)


if __name__ == "__main__":
    main()
