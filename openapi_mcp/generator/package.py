"""Generate the files of a Python package from a bridge; nothing is written to disk.

The tools of the package equal those of the bridge. The same bridge always gives the same bytes. No name of a document
leads out of the package's folder. The tools are divided by tag into modules, each tool into exactly one.

A vendored package holds a copy of the runtime (`runtime_copy`), an installed one depends on this distribution.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal, TypeAlias

from .. import __version__, plain_text
from ..bridge import Bridge
from ..runtime import toolkit
from ..runtime.server.catalog import Catalog
from ..runtime.tool import Tool
from ..tools.names import words
from . import metadata, python_names
from .literals import Source, layout, node
from .modules import ModuleSource, ModuleWriter, Shared, import_line
from .output_names import OutputNames
from .runtime_copy import runtime_copy
from .samples import sample_calls, sample_credentials, sample_variables
from .templates import Templates, templates_path

_VERSION: Final = re.compile(r"v?[0-9]+([._-][0-9]+)*|api|rest|latest|beta|alpha")


@dataclass(frozen=True, slots=True)
class Tag:
    """The tools of one tag in the order of the document, with the name and the description of the tag."""

    name: str
    description: str
    tools: tuple[Tool, ...]


def tags(bridge: Bridge) -> list[Tag]:
    """Group tools by their first tag, else by the first word of the path, in the order of each group's first tool."""
    groups: dict[str, list[Tool]] = {}
    titles: dict[str, str] = {}
    for tool in bridge.tools:
        name = tool.tags[0] if tool.tags and words(tool.tags[0]) else _first_word(tool.path)
        key = "_".join(words(name))
        titles.setdefault(key, name)
        groups.setdefault(key, []).append(tool)
    descriptions = _descriptions(bridge.document.root.get("tags"))
    return [Tag(titles[key], descriptions.get(titles[key], ""), tuple(tools)) for key, tools in groups.items()]


def _first_word(path: str) -> str:
    """Return the first segment of a path that is neither a parameter nor a version, or "root"."""
    for segment in path.partition("#")[0].split("/"):
        if segment and "{" not in segment and words(segment) and not _VERSION.fullmatch(segment.lower()):
            return segment
    return "root"


def _descriptions(tag_objects: Any) -> Mapping[str, str]:
    """Return the descriptions of valid Tag Objects by their names, shortened to a sentence or a line."""
    valid = [tag for tag in tag_objects if isinstance(tag, dict)] if isinstance(tag_objects, list) else []
    return {
        tag["name"]: plain_text.sentence(tag.get("description"), 100) or plain_text.line(tag.get("description"), 100)
        for tag in valid
        if isinstance(tag.get("name"), str)
    }


Runtime: TypeAlias = Literal["vendored", "installed"]

RUNTIMES: Final[Mapping[Runtime, str]] = {"vendored": "._runtime.toolkit", "installed": "openapi_mcp.runtime.toolkit"}
"""The module that a package imports the runtime from, by kind of runtime."""

__all__ = ["Package", "generate", "templates_path"]


@dataclass(frozen=True)
class Package:
    """A package in memory: the name of its distribution, and its files by their paths relative to its folder."""

    name: str
    files: Mapping[PurePosixPath, bytes]


def generate(
    bridge: Bridge, *, name: str | None = None, runtime: Runtime = "vendored", templates: Path | None = None
) -> Package:
    """Return the package of a bridge.

    `name` is that of its distribution; None derives it from the API's title. `templates` is a folder with templates
    that replace those of this project, or add to them. Raises UsageError for an invalid name, and for templates that
    fail.
    """
    distribution = python_names.distribution(name, bridge.implementation.title or "")
    writer = _PackageWriter(bridge, distribution, runtime, Templates(templates))
    files = dict(writer.files())
    return Package(distribution, {path: files[path] for path in sorted(files)})


class _PackageWriter:
    """Renders the files of one package."""

    def __init__(self, bridge: Bridge, distribution: str, runtime: Runtime, templates: Templates) -> None:
        self._package = python_names.package(distribution)
        self._runtime = runtime
        self._tools = bridge.tools
        self._templates = templates
        self._skill = bridge.offer.skill(bridge.document_info, Catalog(bridge.tools))
        constants = python_names.constants({scheme.name: (scheme.name,) for scheme in bridge.security_schemes()})
        schemes = {scheme: constants[scheme.name] for scheme in bridge.security_schemes()}
        base_url = Counter(tool.base_url for tool in bridge.tools).most_common(1)
        shared = Shared(
            base_url=base_url[0][0] if base_url else None,
            schemes=schemes,
            outputs=OutputNames(bridge),
        )
        self._modules = list(_modules(bridge, shared))
        self._credentials = sample_credentials(bridge.tools)
        self._values = {
            **metadata.values(bridge, distribution, schemes),
            "modules": self._modules,
            "module_imports": Source(import_line(".", [module.name for module in self._modules])),
            "functions": _listed_functions(bridge, self._modules),
            "base_url": shared.base_url,
            "base_url_type": Source(": str | None" if shared.base_url is None else ""),
            "is_vendored": runtime == "vendored",
            "runtime_import": Source(import_line(RUNTIMES[runtime], toolkit.__all__)),
            "runtime_names": toolkit.__all__,
            "requirements": metadata.requirements(runtime, bridge.tools),
            "sample_credentials": self._credentials,
            "variables": sorted(sample_variables(bridge.tools)),
            "sample_variables": sample_variables(bridge.tools),
            "generator": f"{metadata.DISTRIBUTION} {__version__}",
        }

    def files(self) -> Iterator[tuple[PurePosixPath, bytes]]:
        """Yield every file with its path."""
        for name in self._templates.names():
            if PurePosixPath(name).stem.endswith("tag"):
                yield from self._module_files(name)
            else:
                yield self._path(name), self._templates.render(name, self._values)
        folder = PurePosixPath("skills") / self._skill.name
        yield from ((folder / file.path, file.content) for file in self._skill.files)
        if self._runtime == "vendored":
            yield from runtime_copy(PurePosixPath(self._package) / "_runtime", self._tools)

    def _module_files(self, name: str) -> Iterator[tuple[PurePosixPath, bytes]]:
        path = self._path(name)
        for module, samples in zip(self._modules, self._samples, strict=True):
            if module.schemas or not name.endswith(".json"):
                yield (
                    path.with_name(path.name.replace("tag", module.name)),
                    self._templates.render(name, self._values | samples | {"module": module}),
                )

    @cached_property
    def _samples(self) -> list[dict[str, Source]]:
        """The sample calls of the tools of each module, and the names of those without, as source."""
        samples: list[dict[str, Source]] = []
        for module in self._modules:
            calls, uncalled = sample_calls((function.tool for function in module.functions), self._credentials)
            tests = [(call.tool, call.arguments, call.method, call.target) for call in calls]
            samples.append({"calls": _calls(tests), "uncalled": _names_without_calls(uncalled)})
        return samples

    def _path(self, name: str) -> PurePosixPath:
        parts = PurePosixPath(name).parts
        return PurePosixPath(*(self._package if part == "package" else part for part in parts))


def _modules(bridge: Bridge, shared: Shared) -> Iterator[ModuleSource]:
    tagged = tags(bridge)
    names = python_names.modules([tag.name for tag in tagged])
    for tag in tagged:
        yield ModuleWriter(names[tag.name], tag.name, tag.description, tag.tools, shared).source()


def _listed_functions(bridge: Bridge, modules: list[ModuleSource]) -> list[dict[str, Source]]:
    """Return the module and the name of each tool's function, in the order in which the tools are listed."""
    functions = {
        function.tool.name: {"module": module.name, "name": function.name}
        for module in modules
        for function in module.functions
    }
    return [functions[tool.name] for tool in bridge.tools]


def _calls(tests: list[tuple[str, dict[str, Any], str, str]]) -> Source:
    head = "CALLS: list[tuple[str, dict[str, Any], str, str]] = "
    return layout(node(tests), before=len(head))


def _names_without_calls(names: list[str]) -> Source:
    return layout(node(names), before=len("UNCALLED = ")) if names else Source("")
