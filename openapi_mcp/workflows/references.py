"""`OperationReferences`: the operations and workflows that steps name, as tools and as keys of workflows.

The document that is served is one of the source descriptions: that of its address, or of its file name, or the only one
of its description, or the one that has most of the operations that the steps name. Operations of others are called by
servers of their own: no credential, header or base URL of one API reaches another.

Specification: Arazzo 1.1.0 "Step Object" (`operationId`, `operationPath`, `workflowId`), "Source Description Object".
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final, Protocol
from urllib.parse import unquote, urlsplit

from ..document.model import split
from ..errors import DocumentError, Problem
from ..runtime.tool import Tool
from ..tools.names import suggest_names
from .documents import Description, DescriptionReader, SourceDescription
from .evaluation.expressions import shown
from .model import Defect, WorkflowKey

ANY_METHOD: Final = "*"
"""The method of an operation whose path is all that a step names: the only one of the path."""


class CalledApi(Protocol):
    """An API whose operations steps call. `name` is that of its server, empty for this one; `uri` is its document's."""

    name: str
    uri: str

    def find(self, wanted: Collection[str]) -> Sequence[Tool]:
        """Return the tools of some operations, by operationId or `METHOD /path`, also of those that are hidden."""

    def known(self) -> Collection[str]:
        """Return the operationIds of the document."""


@dataclass(frozen=True, slots=True)
class OperationName:
    """An operation as a step names it: the name of its source (empty where none is named), and its key there."""

    source: str
    key: str


_QUALIFIED: Final = re.compile(r"\$sourceDescriptions\.([A-Za-z0-9_-]+)\.(.+)", re.DOTALL)
_PATH: Final = re.compile(r"\{?\$sourceDescriptions\.([A-Za-z0-9_-]+)\.url\}?(#/paths/.+)", re.DOTALL)
_HINT: Final = "write {$sourceDescriptions.NAME.url}#/paths/~1pets/get"


def operation_name(step: Mapping[str, Any], pointer: str) -> OperationName | None:
    """Return the operation that a step names; None if it names none. Raises Defect."""
    if isinstance(path := step.get("operationPath"), str):
        match = _PATH.fullmatch(path)
        tokens = split(unquote(match[2])) if match else []
        if match is None or len(tokens) not in (2, 3):
            qualified = _QUALIFIED.fullmatch(path)
            if qualified is None or "#" in path:
                raise Defect(f"{pointer}/operationPath", f"{shown(path)} names no operation", _HINT)
            return OperationName(qualified[1], qualified[2])
        method = tokens[2].upper() if len(tokens) == 3 else ANY_METHOD
        return OperationName(match[1], f"{method} {tokens[1]}")
    if isinstance(name := step.get("operationId"), str):
        match = _QUALIFIED.fullmatch(name)
        return OperationName(match[1], match[2]) if match else OperationName("", name)
    return None


class OperationReferences:
    """The operations that the steps of some descriptions name. `problems` are sources that cannot be used."""

    def __init__(self, reader: DescriptionReader, own: CalledApi, open_api: Callable[[str], CalledApi]) -> None:
        self.problems: list[Problem] = []
        self.apis: dict[str, CalledApi] = {own.name: own}
        self._reader = reader
        self._own = own
        self._open = open_api
        self._tools: dict[tuple[str, str], dict[str, list[Tool]]] = {}
        self._apis_of: dict[tuple[str, str], CalledApi | None] = {}
        for description in reader.found.values():
            self._collect(description)

    def operation(self, description: Description, step: Mapping[str, Any], pointer: str) -> tuple[Tool, str] | None:
        """Return the tool of a step's operation and the name of its API; None if it names none. Raises Defect."""
        name = operation_name(step, pointer)
        if name is None:
            return None
        place = f"{pointer}/{'operationPath' if 'operationPath' in step else 'operationId'}"
        names = [name.source] if name.source else [each.name for each in _openapi(description)] or [""]
        for source in names:
            api = self._apis_of.get((description.identity, source))
            found = self._tools.get((description.identity, source), {}).get(name.key, [])
            if api is not None and len(found) == 1:
                self._check_spelling(found[0], name.key, place)
                return found[0], api.name
            if len(found) > 1:
                raise Defect(place, f"{name.key} names several operations", _HINT)
        raise self._unknown(description, name, place)

    def workflow(self, description: Description, reference: Any, pointer: str) -> WorkflowKey:
        """Return the key of a workflow that a part of a description names. Raises Defect."""
        match = _QUALIFIED.fullmatch(str(reference))
        target, name = description, str(reference)
        if match:
            source = description.sources.get(match[1])
            found = self._reader.described(source) if source else None
            if found is None:
                hint = suggest_names(match[1], description.sources) or "add it to sourceDescriptions, of type arazzo"
                raise Defect(pointer, f"there is no Arazzo Description {match[1]}", hint)
            target, name = found, match[2]
        ids = list(workflow_ids(target))
        if name not in ids:
            hint = suggest_names(name, ids) or f"workflows are {', '.join(ids[:10])}"
            raise Defect(pointer, f"there is no workflow {shown(name)}", hint)
        return target.identity, name

    def _check_spelling(self, tool: Tool, key: str, place: str) -> None:
        """Report an operationId that differs in its capitals, and a path without the method."""
        if key.startswith(f"{ANY_METHOD} "):
            message, hint = f"{key[2:]} is read as {tool.method} {tool.path}", "name its method too"
        elif tool.operation_id != key and (tool.operation_id or "").casefold() == key.casefold():
            message, hint = f"{shown(key)} is read as {tool.operation_id}", "write it as the document does"
        else:
            return
        self.problems.append(Problem(pointer=place, message=message, kind="workflow", hint=hint))

    def _collect(self, description: Description) -> None:
        """Find the tools of all operations that a description names, source by source."""
        wanted: dict[str, set[str]] = {}
        for name in _names(description):
            for source in [name.source] if name.source else [each.name for each in _openapi(description)] or [""]:
                wanted.setdefault(source, set()).add(name.key)
        own = self._own_source(description, wanted)
        for source_name, keys in wanted.items():
            place = description.identity, source_name
            other = description.sources.get(source_name)
            api = self._own if source_name in (own, "") else self._opened(other, description)
            self._apis_of[place] = api
            self._tools[place] = _by_key(api.find(keys), keys) if api else {}

    def _own_source(self, description: Description, wanted: Mapping[str, Collection[str]]) -> str:
        """Return the name of the source that is the document which is served; empty if none is."""
        sources = _openapi(description)
        if len(sources) == 1:
            return sources[0].name
        same = [each for each in sources if each.uri == self._own.uri]
        same = same or [each for each in sources if _file_name(each.uri) == _file_name(self._own.uri)]
        if same:
            return same[0].name
        counts = {each.name: len(self._own.find(wanted.get(each.name, ()))) for each in sources}
        best = max(counts, key=lambda name: counts[name], default="")
        return best if best and counts[best] else ""

    def _opened(self, source: SourceDescription | None, description: Description) -> CalledApi | None:
        """Return the API of another document; report a Problem and return None if it cannot be used."""
        if source is None or source.type != "openapi":
            return None
        try:
            address = self._reader.address(source, description)
            api = next((each for each in self.apis.values() if each.uri == address), None) or self._open(address)
        except DocumentError as error:
            message = f"the source {source.name} cannot be used: {error.message}"
            self.problems.append(Problem(pointer=source.pointer, message=message, kind="workflow", hint=error.hint))
            return None
        self.apis[api.name] = api
        return api

    def _unknown(self, description: Description, name: OperationName, place: str) -> Defect:
        if name.source and name.source not in description.sources:
            hint = suggest_names(name.source, description.sources) or "add it to sourceDescriptions"
            return Defect(place, f"there is no source {name.source}", hint)
        api = self._apis_of.get((description.identity, name.source or next(iter(description.sources), "")))
        if api is None:
            return Defect(place, f"the source of the operation {shown(name.key)} cannot be used", "see its problem")
        known = suggest_names(name.key, api.known())
        return Defect(place, f"there is no operation {shown(name.key)}", known or "`openapi-mcp inspect` names them")


def steps_of(description: Description) -> Iterator[Mapping[str, Any]]:
    """Yield the steps of all workflows of a description that are objects."""
    workflows = description.root.get("workflows")
    for workflow in workflows if isinstance(workflows, list) else ():
        steps = workflow.get("steps") if isinstance(workflow, dict) else None
        yield from (step for step in (steps if isinstance(steps, list) else ()) if isinstance(step, dict))


def workflow_ids(description: Description) -> Iterator[str]:
    """Yield the ids of the workflows of a description."""
    workflows = description.root.get("workflows")
    for workflow in workflows if isinstance(workflows, list) else ():
        if isinstance(workflow, dict) and isinstance(workflow.get("workflowId"), str):
            yield workflow["workflowId"]


def _names(description: Description) -> Iterator[OperationName]:
    for step in steps_of(description):
        try:
            name = operation_name(step, "")
        except Defect:  # reported where the step is compiled
            continue
        if name is not None:
            yield name


def _openapi(description: Description) -> list[SourceDescription]:
    return [each for each in description.sources.values() if each.type == "openapi"]


def _by_key(tools: Sequence[Tool], keys: Collection[str]) -> dict[str, list[Tool]]:
    """Return the tools of some operations by their keys.

    A tool's name counts where no operationId is the same, and at last an operationId that differs in its capitals.
    """
    found: dict[str, list[Tool]] = {}
    for key in keys:
        exact = [each for each in tools if key in (each.operation_id, f"{each.method} {each.path}")]
        by_path = [each for each in tools if key == f"{ANY_METHOD} {each.path}"]
        named = exact or by_path or [each for each in tools if each.name == key]
        found[key] = named or [each for each in tools if (each.operation_id or "").casefold() == key.casefold()]
    return found


def _file_name(uri: str) -> str:
    return PurePosixPath(urlsplit(uri).path).name
