"""Generate packages in tests, write them to disk and import them; `make golden` rewrites the golden packages."""

import importlib
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from types import ModuleType

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.generator import python_names
from openapi_mcp.generator.package import Package, Runtime, generate
from openapi_mcp.modes import Mode
from tests.conftest import ROOT

DOCUMENTS = (path for path in (ROOT / "specs").iterdir() if path.suffix in {".yaml", ".json"})
SPECS = sorted(path for path in DOCUMENTS if ".schema" not in path.suffixes)
GOLDEN = ROOT / "tests" / "golden"


def bridge(document: Path) -> Bridge:
    """Open a document as `generate` and `serve --mode all` do."""
    return Bridge.open(Config(source=str(document), mode=Mode.ALL))


def without_runtime(files: Mapping[PurePosixPath, bytes]) -> dict[PurePosixPath, bytes]:
    """Return the files without the copy of the runtime, which has its own tests."""
    return {path: content for path, content in files.items() if "_runtime" not in path.parts}


def write(files: Mapping[PurePosixPath, bytes], folder: Path) -> None:
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def generated(document: Path, folder: Path, *, name: str | None = None, runtime: Runtime = "vendored") -> Package:
    """Generate a package and write it to a folder."""
    package = generate(bridge(document), name=name, runtime=runtime)
    write(package.files, folder)
    return package


@contextmanager
def imported(package: Package, folder: Path) -> Iterator[ModuleType]:
    """Import the `server` module of a package within the block; afterwards its modules are forgotten."""
    name = python_names.package(package.name)
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
