"""A bridge's tools as a Python package that its owner can read, edit and ship: `generate` makes it, and writes nothing.

The tools of the package equal those of the bridge. The same bridge always makes the same bytes. No name of a document
leads out of the package's folder.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal, TypeAlias

from . import __version__, metadata, python_names
from .bridge import Bridge
from .literals import Source, layout, node
from .rendering import Templates, templates_path
from .runtime import toolkit
from .sample_calls import sample_calls
from .tagging import tags
from .tool_modules import ModuleSource, ModuleWriter, Shared, import_line
from .type_names import type_names

Runtime: TypeAlias = Literal["vendored", "installed"]

RUNTIMES: Final[Mapping[Runtime, str]] = {"vendored": "._runtime.toolkit", "installed": "openapi_mcp.runtime.toolkit"}
"""Where a package's modules find the runtime: all that differs between the two, but for `pyproject.toml`."""

RUNTIME: Final = Path(__file__).parent / "runtime"

__all__ = ["Package", "generate", "templates_path"]


@dataclass(frozen=True)
class Package:
    """A package, not yet anywhere: its distribution's name, and its files by their paths in its folder."""

    name: str
    files: Mapping[PurePosixPath, bytes]


def generate(
    bridge: Bridge, *, name: str | None = None, runtime: Runtime = "vendored", templates: Path | None = None
) -> Package:
    """The package of a bridge. Raises UsageError for a name that no package can have, and for templates that fail.

    `vendored` puts a copy of the runtime into the package, `installed` makes it depend on this distribution.
    `templates` is a folder whose files replace this project's, or add to them.
    """
    distribution = python_names.distribution(name, bridge.implementation.title or "")
    writer = _Writer(bridge, distribution, runtime, Templates(templates))
    files = dict(writer.files())
    return Package(distribution, {path: files[path] for path in sorted(files)})


class _Writer:
    """Writes one package."""

    def __init__(self, bridge: Bridge, distribution: str, runtime: Runtime, templates: Templates) -> None:
        self._package = python_names.package(distribution)
        self._runtime = runtime
        self._templates = templates
        constants = python_names.constants({scheme.name: (scheme.name,) for scheme in bridge.security_schemes()})
        schemes = {scheme: constants[scheme.name] for scheme in bridge.security_schemes()}
        base_url = Counter(tool.base_url for tool in bridge.tools).most_common(1)
        shared = Shared(
            base_url=base_url[0][0] if base_url else None,
            schemes=schemes,
            output_names=metadata.output_names(bridge),
            type_names=type_names(bridge),
        )
        self._modules = list(_modules(bridge, shared))
        self._values = {
            **metadata.values(bridge, distribution, schemes),
            "modules": self._modules,
            "module_imports": Source(import_line(".", [module.name for module in self._modules])),
            "functions": _in_order(bridge, self._modules),
            "base_url": shared.base_url,
            "base_url_type": Source(": str | None" if shared.base_url is None else ""),
            "runtime": runtime,
            "runtime_import": Source(import_line(RUNTIMES[runtime], toolkit.__all__)),
            "runtime_names": toolkit.__all__,
            "requirements": metadata.requirements(runtime),
            "generator": f"{metadata.DISTRIBUTION} {__version__}",
        }

    def files(self) -> Iterator[tuple[PurePosixPath, bytes]]:
        """Every file."""
        for name in self._templates.names():
            if PurePosixPath(name).stem.endswith("tag"):
                yield from self._of_each_module(name)
            else:
                yield self._path(name), self._templates.render(name, self._values)
        if self._runtime == "vendored":
            yield from vendored(PurePosixPath(self._package) / "_runtime")

    def _of_each_module(self, name: str) -> Iterator[tuple[PurePosixPath, bytes]]:
        for module in self._modules:
            if module.schemas or not name.endswith(".json"):
                calls, uncalled = sample_calls(function.tool for function in module.functions)
                tests = [(call.tool, call.arguments, call.method, call.target) for call in calls]
                values = {"module": module, "calls": _calls(tests), "uncalled": _uncalled(uncalled)}
                path = self._path(name)
                yield (
                    path.with_name(path.name.replace("tag", module.name)),
                    self._templates.render(name, self._values | values),
                )

    def _path(self, name: str) -> PurePosixPath:
        parts = PurePosixPath(name).parts
        return PurePosixPath(*(self._package if part == "package" else part for part in parts))


def _modules(bridge: Bridge, shared: Shared) -> Iterator[ModuleSource]:
    tagged = tags(bridge)
    names = python_names.modules([tag.name for tag in tagged])
    for tag in tagged:
        yield ModuleWriter(names[tag.name], tag.name, tag.description, tag.tools, shared).source()


def _in_order(bridge: Bridge, modules: list[ModuleSource]) -> list[dict[str, Source]]:
    """Where each tool's function is, in the order that the tools are listed in."""
    places = {
        function.tool.name: {"module": module.name, "name": function.name}
        for module in modules
        for function in module.functions
    }
    return [places[tool.name] for tool in bridge.tools]


def _calls(tests: list[tuple[str, dict[str, Any], str, str]]) -> Source:
    head = "CALLS: list[tuple[str, dict[str, Any], str, str]] = "
    return layout(node(tests), before=len(head))


def _uncalled(names: list[str]) -> Source:
    return layout(node(names), before=len("UNCALLED = ")) if names else Source("")


def vendored(folder: PurePosixPath) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The runtime, byte for byte, and the file that says which it is."""
    files = {path.relative_to(RUNTIME): path.read_bytes() for path in sorted(RUNTIME.rglob("*.py"))}
    for path, content in files.items():
        yield folder / path.as_posix(), content
    digest = hashlib.sha256()
    for path, content in files.items():
        digest.update(f"{path.as_posix()} {len(content)}\n".encode() + content)
    said = f"{metadata.DISTRIBUTION} {__version__}\nsha256 {digest.hexdigest()}\n"
    yield folder / "VENDORED", said.encode()
