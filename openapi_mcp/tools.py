"""Operations into tools: all that is needed to list an operation and to call it, as one value each.

Every operation of the document becomes a tool, is left out because somebody asked for that, or is lost to exactly one
Problem that names it: `operations == len(tools) + lost + excluded`.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from . import prose
from .base_urls import BaseUrls
from .compiled import Compiled
from .document import Document
from .economy import WHOLE, Economy, Room
from .errors import Problem, UsageError
from .inputs import lay_out
from .naming import ToolKey, tool_names, words
from .operations import Operation, operations
from .overrides import Overrides, overrides
from .parameters import parameters
from .request_bodies import request_body
from .resolver import BrokenReference, Resolver
from .responses import Responses
from .runtime.hints import hints
from .runtime.models import Tool
from .schemas import Schemas
from .security import Alternatives, Security
from .selection import Selection
from .wanted import BaseUrlOptions

_PREFIX: Final = re.compile(r"[A-Za-z0-9_-]{0,32}")
"""Half of a name at most: the other half has to tell the tools apart."""


def build(
    document: Document,
    *,
    selection: Selection | None = None,
    prefix: str = "",
    base_url: BaseUrlOptions | None = None,
    economy: Economy | None = None,
) -> Compiled:
    """Make the tools of a document of OpenAPI 3.x.

    `prefix` stands before every name. `base_url` chooses among the document's servers, `economy` says how many
    tools there may be and how much they may say (default: any number, and all). Raises UsageError where the options ask
    for what cannot be; whatever is wrong with the document is a Problem.
    """
    if not _PREFIX.fullmatch(prefix):
        raise UsageError(
            "a prefix is at most 32 of the characters A-Z, a-z, 0-9, _ and -",
            where=prefix,
            hint="shorten or rewrite it",
        )
    resolver = Resolver(document)
    found, problems = operations(document, resolver)
    lost = len({problem.operation for problem in problems} - {None})
    reported: list[Problem] = []
    offered = [(operation, overrides(operation, resolver, reported.append)) for operation in found]
    wanted = [(each, said) for each, said in offered if not said.hidden and (selection or Selection()).admits(each)]
    wanted = _first(wanted, economy.max_tools if economy else None)
    room = economy.room(len(wanted)) if economy else WHOLE
    compiler = _Compiler(document, resolver, base_url or BaseUrlOptions(), room, reported)
    names = tool_names([_key(operation, said) for operation, said in wanted], prefix)
    tools = [compiler.tool(name, *each) for name, each in zip(names, wanted, strict=True)]
    return Compiled(
        tools=tuple(tool for tool in tools if tool is not None),
        problems=tuple(dict.fromkeys([*problems, *compiler.all_problems()])),
        operations=len(found) + lost,
        excluded=len(found) - len(wanted),
        room=room,
    )


def _first(wanted: list[tuple[Operation, Overrides]], most: int | None) -> list[tuple[Operation, Overrides]]:
    """At most so many, in the document's order; what is deprecated gives way first."""
    if most is None or len(wanted) <= most:
        return wanted
    places = sorted(range(len(wanted)), key=lambda place: wanted[place][0].deprecated)
    return [wanted[place] for place in sorted(places[:most])]


def _key(operation: Operation, said: Overrides) -> ToolKey:
    return ToolKey(operation.method, operation.path, operation.operation_id, said.name)


class _Compiler:
    """Makes the tools of one document; what they share is read once."""

    def __init__(
        self,
        document: Document,
        resolver: Resolver,
        base_url: BaseUrlOptions,
        room: Room,
        problems: list[Problem],
    ) -> None:
        self._problems = problems
        self._room = room
        self._resolver = resolver
        self._schemas = Schemas(document, resolver, room.argument)
        self._responses = Responses(resolver, room.output)
        self._security = Security(document, resolver)
        self._base_urls = BaseUrls(document, resolver, base_url)

    def all_problems(self) -> Iterable[Problem]:
        """What was wrong, by part."""
        yield from self._problems
        yield from self._schemas.problems
        yield from self._responses.all_problems()
        yield from self._security.problems
        yield from self._base_urls.problems

    def tool(self, name: str, operation: Operation, said: Overrides) -> Tool | None:
        """The tool of an operation; None, and a Problem, where a reference that it needs leads nowhere."""
        try:
            return self._tool(name, operation, said)
        except BrokenReference as error:
            self._problems.append(replace(error.problem, operation=operation.label))
            return None

    def _tool(self, name: str, operation: Operation, said: Overrides) -> Tool:
        security = self._security.of(operation)
        offered, problems = parameters(operation, self._resolver, _secrets(security))
        self._problems += problems
        body = request_body(operation, self._schemas, self._problems.append)
        inputs = lay_out(offered, body, self._schemas)
        answer = self._responses.of(operation)
        return Tool(
            name=name,
            title=_title(operation, said),
            description=_description(operation, said, self._room.description),
            input_schema=inputs.schema,
            output_schema=answer.output_schema,
            annotations=hints(operation.method) | dict(said.annotations),
            method=operation.method,
            path=operation.path,
            base_url=self._base_urls.of(operation),
            arguments=inputs.arguments,
            body=body.body if body else None,
            security=security,
            accept=answer.accept,
            operation_id=operation.operation_id,
            tags=operation.tags,
            deprecated=operation.deprecated,
        )


def _secrets(security: Alternatives) -> Iterable[tuple[str, str]]:
    for alternative in security:
        for scheme in alternative:
            if scheme.location and scheme.parameter:
                yield scheme.location, scheme.parameter


def _title(operation: Operation, said: Overrides) -> str:
    """A title for people: given, the summary, or the words of the operationId (or of method and path)."""
    given = prose.line(said.title) or prose.line(operation.value.get("summary"))
    return (
        given or prose.line(" ".join(words(operation.operation_id or "")).capitalize()) or prose.line(operation.label)
    )


def _description(operation: Operation, said: Overrides, limit: int) -> str:
    """What a model is told; never empty."""
    given = prose.clean(said.description)
    if not given:
        parts = [prose.clean(operation.value.get(key)) for key in ("summary", "description")]
        summary, description = parts
        given = description if description.startswith(summary) else "\n\n".join(part for part in parts if part)
    deprecated = "\n\nDeprecated." if operation.deprecated else ""
    return prose.trimmed(given or operation.label, limit - len(deprecated)) + deprecated
