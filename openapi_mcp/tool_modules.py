"""The modules of tools of a package: which tool goes where, and the pieces of source that its template puts together.

One module a tag. What several tools of a module say alike is said once, and what is too long to be read in code is JSON
beside it. Every piece is Source of a module that writes nothing but literals and identifiers.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from . import annotations, declaring, docstring_literals, python_names
from .literals import Group, Source, layout, node
from .module_constants import Constants
from .runtime.declarations import ACCEPT, Input, Toolbox
from .runtime.functions import parameter_names
from .runtime.models import SecurityScheme, Tool


@dataclass(frozen=True, kw_only=True)
class FunctionSource:
    """One tool as source."""

    tool: Tool
    name: Source
    verb: Source
    words: Source
    parameters: Source
    docstring: Source
    arguments: Source


@dataclass(frozen=True, kw_only=True)
class ModuleSource:
    """One module of tools as source. `schemas` is the JSON beside it, or empty."""

    name: Source
    tag: str
    description: str
    imports: Source
    declarations: Sequence[Source]
    toolbox: Source
    functions: Sequence[FunctionSource]
    schemas: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What all modules of a package refer to: constants for base URL and security schemes, names of what it has."""

    base_url: str | None
    schemes: Mapping[SecurityScheme, Source]
    output_names: Mapping[str, str]
    type_names: Mapping[str, str]


class ModuleWriter:
    """Writes one module."""

    def __init__(self, name: Source, tag: str, description: str, tools: Sequence[Tool], shared: Shared) -> None:
        self._name = name
        self._tag = tag
        self._description = description
        self._tools = tools
        self._shared = shared
        definitions = {key: value for tool in tools for key, value in tool.input_schema.get("$defs", {}).items()}
        self._functions = python_names.functions(
            {tool.name: tool.method for tool in tools},
            {tool.name: [argument.name for argument in tool.arguments] for tool in tools},
        )
        self._constants = Constants(tools, shared.output_names, [*self._functions.values(), *shared.schemes.values()])
        taken = {*python_names.IMPORTED, *shared.schemes.values(), *self._constants.names, *self._functions.values()}
        self._types = annotations.Types(definitions, taken, shared.type_names)
        self._runtime = {"Api", "Result", "Toolbox"}
        self._from_api: set[str] = set()
        self._toolbox = Toolbox(
            base_url=_most(tool.base_url for tool in tools),
            tags=_most(tool.tags for tool in tools),
            security=_most(tool.security for tool in tools),
            accept=_most(tool.accept for tool in tools),
            definitions=definitions,
        )

    def source(self) -> ModuleSource:
        """The whole module."""
        functions = [self._function(tool) for tool in self._tools]
        toolbox = self._toolbox_source()
        if self._constants.declared:
            self._runtime.add("Schema")
        if self._constants.schemas:
            self._runtime.add("read_schemas")
            self._constants.declared.insert(0, Source("SCHEMAS = read_schemas(__file__)"))
        return ModuleSource(
            name=self._name,
            tag=self._tag,
            description=self._description,
            imports=self._imports(),
            declarations=[*self._constants.declared, *self._types.declared, *self._constants.inputs],
            toolbox=toolbox,
            functions=functions,
            schemas=self._constants.schemas,
        )

    def _imports(self) -> Source:
        lines = [
            import_line("typing", self._types.used),
            "",
            import_line("..api", self._from_api),
            import_line("..runtime", self._runtime),
        ]
        return Source("\n".join(line for number, line in enumerate(lines) if line or (number == 1 and lines[0])))

    def _function(self, tool: Tool) -> FunctionSource:
        name = self._functions[tool.name]
        exact = docstring_literals.exact(tool.description)
        docstring = exact or docstring_literals.summary(tool.title or tool.name)
        given, _ = declaring.inputs(tool)
        verb = tool.method.lower()
        verb = verb if tool.method in _VERBS else "operation"
        parameters = self._parameters(tool, given, name)
        return FunctionSource(
            tool=tool,
            name=name,
            verb=Source(verb),
            words=self._words(tool, name, tool.description if exact else "", len(f"@tools.{verb}")),
            parameters=parameters,
            docstring=docstring,
            arguments=self._arguments(tool, name),
        )

    def _words(self, tool: Tool, function: str, docstring: str, before: int) -> Source:
        words, different = declaring.omissions(tool, function, docstring, self._toolbox)
        items: list[tuple[str, Any]] = [] if tool.method in _VERBS else [("", node(tool.method))]
        items.append(("", node(tool.path)))
        if "name" in words:
            items.append(("name=", node(tool.name)))
        said = [field for field in declaring.WORDS if field in different]
        first = [field for field in said if field in {"title", "description", "annotations", "deprecated"}]
        items += [self._word(tool, field) for field in first]
        if words.get("inputs"):
            items.append(("inputs=", self._inputs(tool, words["inputs"])))
        if words.get("open_body"):
            items.append(("open_body=", "True"))
        items += [self._word(tool, field) for field in said if field not in first]
        return layout(Group("(", items, ")"), before=before)

    def _inputs(self, tool: Tool, given: Sequence[Input]) -> Group:
        for item in given:
            whole = item.argument.location == "body" and item.argument.wire_name is None
            self._runtime.add("whole_body" if whole else item.argument.location)
            self._runtime |= _models(item.argument.media)
        return Group("[", [("", self._constants.input(tool, item)) for item in given], "]")

    def _word(self, tool: Tool, field: str) -> tuple[str, Any]:
        value = getattr(tool, field)
        word = f"{declaring.WORDS[field]}="
        if field == "output_schema" and value is not None:
            return word, self._constants.output(tool)
        if field == "input_schema":
            return word, self._constants.keep(f"{tool.name}.input", value)
        return word, self._expression(field, value)

    def _expression(self, field: str, value: Any) -> Any:
        """A field of a tool; what it needs is imported."""
        if field == "base_url" and value is not None and value == self._shared.base_url:
            self._from_api.add("BASE_URL")
            return Source("BASE_URL")
        if field == "security":
            self._from_api |= {self._shared.schemes[scheme] for schemes in value for scheme in schemes}
        if field == "body":
            self._runtime |= _models(value)
        said = declaring.expression(value, self._shared.schemes)
        return node(declaring.listed(said) if field in {"security", "tags"} else said)

    def _parameters(self, tool: Tool, given: Sequence[Input], name: str) -> Source:
        """`(api: Api, *, …)`: all by name, in the order of the inputs."""
        items: list[tuple[str, Any]] = [("", Source("api: Api"))]
        if given:
            items.append(("", Source("*")))
        for item, parameter in zip(given, _parameters(tool).values(), strict=True):
            items.append(("", self._parameter(tool, item, parameter)))
        if declaring.inputs(tool)[1]:
            self._types.used.add("Any")
            items += [("", Source("*"))] if not given else []
            items.append(("", Source("others: dict[str, Any] | None = None")))
        return layout(Group("(", items, ")"), before=len(f"async def {name}"), after=len(" -> Result:"))

    def _parameter(self, tool: Tool, item: Input, parameter: str) -> Source:
        name = annotations.camel(tool.name) + annotations.camel(item.argument.name)
        said = self._types.of(item.schema if item.schema is not None else True, name).replace(annotations.FORWARD, "")
        if item.argument.required:
            return Source(f"{parameter}: {said}")
        value = annotations.default(item.schema or {}, said, self._toolbox.definitions)
        if value is not None:
            return Source(f"{parameter}: {said} = {value}")
        optional = said if said == "Any" or said.endswith("None") else f"{said} | None"
        return Source(f"{parameter}: {optional} = None")

    def _arguments(self, tool: Tool, name: str) -> Source:
        passed = [*_parameters(tool).values(), *(["others"] if declaring.inputs(tool)[1] else [])]
        items = [("", name), *((f"{parameter}=", parameter) for parameter in passed)]
        return layout(Group("(", items, ")"), indent=4, before=len("    return await api.call"))

    def _toolbox_source(self) -> Source:
        shared = self._toolbox
        items: list[tuple[str, Any]] = []
        if shared.base_url is not None:
            items.append(("base_url=", self._expression("base_url", shared.base_url)))
        if shared.tags:
            items.append(("tags=", self._expression("tags", shared.tags)))
        if shared.security:
            items.append(("security=", self._expression("security", shared.security)))
        if shared.accept != ACCEPT:
            items.append(("accept=", node(shared.accept)))
        if shared.definitions:
            items.append(("definitions=", self._constants.definitions(shared.definitions)))
        return layout(Group("(", items, ")"), before=len("tools = Toolbox"))


_VERBS: Final = frozenset({"GET", "PUT", "POST", "DELETE", "PATCH"})


def _most(values: Iterable[Any]) -> Any:
    """The most frequent of some values, the first of those."""
    return Counter(values).most_common(1)[0][0]


def _parameters(tool: Tool) -> dict[str, str]:
    return parameter_names(argument.name for argument in tool.arguments)


def _models(value: Any) -> set[str]:
    """The names of the classes that a value of the models is made of."""
    if isinstance(value, Mapping):
        return {name for item in value.values() for name in _models(item)}
    if isinstance(value, list | tuple):
        return {name for item in value for name in _models(item)}
    if not hasattr(value, "__dataclass_fields__"):
        return set()
    defaults = type(value).__dataclass_fields__
    inner = {
        name for key, item in defaults.items() for name in _models(getattr(value, key)) if getattr(value, key) != item
    }
    return {type(value).__name__} | inner


def import_line(module: str, names: Iterable[str]) -> str:
    """`from module import names`, in the order that linters want: constants, classes, functions."""
    ordered = sorted(names, key=lambda name: (not _is_constant(name), not name[:1].isupper(), _natural(name.lower())))
    if not ordered:
        return ""
    line = f"from {module} import {', '.join(ordered)}"
    return line if len(line) <= 120 else "\n".join([f"from {module} import (", *(f"    {n}," for n in ordered), ")"])


def _is_constant(name: str) -> bool:
    """As linters tell constants from classes: a single letter is a class."""
    return name.isupper() and len(name) > 1


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Numbers in names count as numbers."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.findall(r"\d+|\D+", name)]
