"""The source of a package's modules of tools: the parts that their template puts together.

There is one module for each tag. What several tools of a module share is written once, and long schemas go into a JSON
file beside it. Every part is `Source`, which consists of literals and identifiers only.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..runtime.declarations import ACCEPT, Input, Toolbox
from ..runtime.server.functions import parameter_names
from ..runtime.tool import SecurityScheme, Tool
from . import declarations, literals, python_names, python_types
from .declarations import Constants
from .literals import Group, Source, layout, node
from .output_names import OutputNames


@dataclass(frozen=True, kw_only=True)
class FunctionSource:
    """The source of one tool: its decorator and its function."""

    tool: Tool
    name: Source
    verb: Source
    options: Source
    parameters: Source
    returns: Source
    docstring: Source
    arguments: Source


@dataclass(frozen=True, kw_only=True)
class ModuleSource:
    """The source of one module of tools. `schemas` is the content of the JSON file beside it, or empty."""

    name: Source
    tag: str
    docstring: Source
    imports: Source
    declarations: Sequence[Source]
    toolbox: Source
    functions: Sequence[FunctionSource]
    schemas: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Shared:
    """Values that all modules of a package share.

    `schemes` are the names of constants by security scheme, `outputs` the names of the document for output schemas.
    """

    base_url: str | None
    schemes: Mapping[SecurityScheme, Source]
    outputs: OutputNames


class ModuleWriter:
    """Writes the source of one module."""

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
        output_names = {tool.name: output for tool in tools if (output := shared.outputs.name(tool))}
        self._constants = Constants(tools, output_names, [*self._functions.values(), *shared.schemes.values()])
        taken = {*python_names.IMPORTED, *shared.schemes.values(), *self._constants.names, *self._functions.values()}
        self._types = python_types.Types(definitions, taken)
        self._runtime = {"Api", "Result", "Toolbox"}
        self._from_api: set[str] = set()
        self._toolbox = Toolbox(
            base_url=_most_frequent(tool.base_url for tool in tools),
            tags=_most_frequent(tool.tags for tool in tools),
            security=_most_frequent(tool.security for tool in tools),
            accept=_most_frequent(tool.accept for tool in tools),
            definitions=definitions,
        )

    def source(self) -> ModuleSource:
        """Return the source of the module."""
        functions = [self._function(tool) for tool in self._tools]
        signatures = [f"async def {each.name}{each.parameters} -> {each.returns}: ..." for each in functions]
        types = self._types.reachable(signatures)
        toolbox = self._toolbox_source()
        if self._constants.declared:
            self._runtime.add("Schema")
        if self._constants.schemas:
            self._runtime.add("read_schemas")
            self._constants.declared.insert(0, Source("SCHEMAS = read_schemas(__file__)"))
        return ModuleSource(
            name=self._name,
            tag=self._tag,
            docstring=literals.summary_docstring(self._description, f"Tools: {self._tag}.", f"Tools of {self._name}."),
            imports=self._imports(python_types.typing_names([*types, *signatures])),
            declarations=[*self._constants.declared, *types, *self._constants.inputs],
            toolbox=toolbox,
            functions=functions,
            schemas=self._constants.schemas,
        )

    def _imports(self, typing: Iterable[str]) -> Source:
        lines = [
            import_line("typing", typing),
            "",
            import_line("..api", self._from_api),
            import_line("..runtime", self._runtime),
        ]
        return Source("\n".join(line for number, line in enumerate(lines) if line or (number == 1 and lines[0])))

    def _function(self, tool: Tool) -> FunctionSource:
        name = self._functions[tool.name]
        exact = literals.exact_docstring(tool.description)
        docstring = exact or literals.summary_docstring(tool.title or "", tool.description, tool.name)
        inputs, _ = declarations.inputs(tool)
        verb = tool.method.lower()
        verb = verb if tool.method in _VERBS else "operation"
        returns = self._returns(tool)
        return FunctionSource(
            tool=tool,
            name=name,
            verb=Source(verb),
            options=self._options(tool, name, tool.description if exact else "", len(f"@tools.{verb}")),
            parameters=self._parameters(tool, inputs, name, after=len(f" -> {returns}:")),
            returns=returns,
            docstring=docstring,
            arguments=self._arguments(tool, name),
        )

    def _options(self, tool: Tool, function: str, docstring: str, before: int) -> Source:
        options, different = declarations.declared_options(tool, function, docstring, self._toolbox)
        items: list[tuple[str, Any]] = [] if tool.method in _VERBS else [("", node(tool.method))]
        items.append(("", node(tool.path)))
        if "name" in options:
            items.append(("name=", node(tool.name)))
        written = [field for field in declarations.OPTIONS if field in different]
        first = [field for field in written if field in {"title", "description", "annotations", "deprecated"}]
        items += [self._option(tool, field) for field in first]
        if options.get("inputs"):
            items.append(("inputs=", self._inputs(tool, options["inputs"])))
        if options.get("open_body"):
            items.append(("open_body=", "True"))
        items += [self._option(tool, field) for field in written if field not in first]
        return layout(Group("(", items, ")"), before=before)

    def _inputs(self, tool: Tool, inputs: Sequence[Input]) -> Group:
        for item in inputs:
            self._runtime.add(declarations.location_name(item.argument))
            self._runtime |= _class_names(item.argument.media)
        return Group("[", [("", self._constants.input(tool, item)) for item in inputs], "]")

    def _option(self, tool: Tool, field: str) -> tuple[str, Any]:
        value = getattr(tool, field)
        keyword = f"{declarations.OPTIONS[field]}="
        if field == "output_schema" and value is not None:
            return keyword, self._constants.output(tool)
        if field == "input_schema":
            return keyword, self._constants.schema(f"{tool.name}.input", value)
        return keyword, self._expression(field, value)

    def _expression(self, field: str, value: Any) -> Any:
        """Return the expression for a field of a tool, and note the imports that it needs."""
        if field == "base_url" and value == self._shared.base_url:
            self._from_api.add("BASE_URL")
            return Source("BASE_URL")
        if field in {"security", "required_schemes"}:
            schemes = value if field == "required_schemes" else (scheme for some in value for scheme in some)
            self._from_api |= {self._shared.schemes[scheme] for scheme in schemes}
        if field in {"body", "presets"}:
            self._runtime |= _class_names(value)
        expression = declarations.expression(value, self._shared.schemes)
        return node(declarations.tuples_to_lists(expression) if field in _LISTS else expression)

    def _parameters(self, tool: Tool, inputs: Sequence[Input], name: str, *, after: int) -> Source:
        """Return the parameters, `(api: Api, *, …)`: keyword-only, in the order of the inputs."""
        items: list[tuple[str, Any]] = [("", Source("api: Api"))]
        if inputs:
            items.append(("", Source("*")))
        for item, parameter in zip(inputs, _parameters(tool).values(), strict=True):
            items.append(("", self._parameter(tool, item, parameter)))
        if declarations.inputs(tool)[1]:
            items += [("", Source("*"))] if not inputs else []
            items.append(("", Source("others: dict[str, Any] | None = None")))
        return layout(Group("(", items, ")"), before=len(f"async def {name}"), after=after)

    def _returns(self, tool: Tool) -> Source:
        """Return the annotation of a function: a Result of the type that the output schema describes."""
        if tool.output_schema is None:
            return Source("Result[Any]")
        name = f"{python_types.camel(tool.name)}Output"
        annotation = self._types.of(self._shared.outputs.named(tool), name)
        return Source(f"Result[{annotation.replace(python_types.FORWARD, '')}]")

    def _parameter(self, tool: Tool, item: Input, parameter: str) -> Source:
        name = python_types.camel(tool.name) + python_types.camel(item.argument.name)
        annotation = self._types.of(item.schema if item.schema is not None else True, name).replace(
            python_types.FORWARD, ""
        )
        if item.argument.required:
            return Source(f"{parameter}: {annotation}")
        value = python_types.default(item.schema or {}, annotation, self._toolbox.definitions)
        if value is not None:
            return Source(f"{parameter}: {annotation} = {value}")
        optional = annotation if annotation == "Any" or annotation.endswith("None") else f"{annotation} | None"
        return Source(f"{parameter}: {optional} = None")

    def _arguments(self, tool: Tool, name: str) -> Source:
        arguments = [*_parameters(tool).values(), *(["others"] if declarations.inputs(tool)[1] else [])]
        items = [("", name), *((f"{parameter}=", parameter) for parameter in arguments)]
        return layout(Group("(", items, ")"), indent=4, before=len("    return await api.call"))

    def _toolbox_source(self) -> Source:
        shared = self._toolbox
        items: list[tuple[str, Any]] = []
        if shared.base_url is not None or self._shared.base_url is None:
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


_LISTS: Final = frozenset({"presets", "security", "required_schemes", "response_headers", "tags"})
"""Fields of a Tool that are tuples and that people write as lists."""

_VERBS: Final = frozenset({"GET", "PUT", "POST", "DELETE", "PATCH"})


def _most_frequent(values: Iterable[Any]) -> Any:
    """Return the most frequent value; of several, the first."""
    return Counter(values).most_common(1)[0][0]


def _parameters(tool: Tool) -> dict[str, str]:
    return parameter_names(argument.name for argument in tool.arguments)


def _class_names(value: Any) -> set[str]:
    """Return the names of the runtime's classes that an expression for `value` uses."""
    if isinstance(value, Mapping):
        return {name for item in value.values() for name in _class_names(item)}
    if isinstance(value, list | tuple):
        return {name for item in value for name in _class_names(item)}
    if not hasattr(value, "__dataclass_fields__"):
        return set()
    defaults = type(value).__dataclass_fields__
    inner = {
        name
        for key, item in defaults.items()
        for name in _class_names(getattr(value, key))
        if getattr(value, key) != item
    }
    return {type(value).__name__} | inner


def import_line(module: str, names: Iterable[str]) -> str:
    """Return `from module import names` in the order of linters: constants, classes, functions."""
    ordered = sorted(names, key=lambda name: (not _is_constant(name), not name[:1].isupper(), _natural(name.lower())))
    if not ordered:
        return ""
    line = f"from {module} import {', '.join(ordered)}"
    return line if len(line) <= 120 else "\n".join([f"from {module} import (", *(f"    {n}," for n in ordered), ")"])


def _is_constant(name: str) -> bool:
    """Return whether linters take a name for a constant; a single letter is a class."""
    return name.isupper() and len(name) > 1


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Return a sort key that compares numbers in names as numbers."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.findall(r"\d+|\D+", name)]
