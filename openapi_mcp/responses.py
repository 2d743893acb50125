"""What an operation answers: the schema of its success, and the media types to ask for.

A broken response costs only what would be known of it. Specification: OpenAPI 3.2 Responses Object and Response Object;
RFC 9110 section 12.5.1 (Accept).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .document import join
from .errors import Problem
from .operations import Operation
from .outputs import Outputs
from .resolver import BrokenReference, Resolver
from .runtime import media_types
from .runtime.types import JsonObject, Schema

ANYTHING: Final = "application/json, */*;q=0.5"
"""What is asked for where the document does not say what there is."""

_MOST_ACCEPTED: Final = 6
"""Media types in an Accept header; those after them come under `*/*`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool knows of its answers."""

    output_schema: Schema | None
    accept: str


class Responses:
    """The responses of one document's operations."""

    def __init__(self, resolver: Resolver, output_bytes: int) -> None:
        self.problems: list[Problem] = []
        self._resolver = resolver
        self._outputs = Outputs(resolver, output_bytes) if output_bytes else None

    def of(self, operation: Operation) -> Answer:
        """The answer of an operation."""
        contents = list(self._successes(operation))
        names = [name for content, _ in contents for name in content if isinstance(name, str)]
        for content, pointer in contents:
            name = next((name for name in content if media_types.is_json(name)), None)
            if name is not None:
                return Answer(self._schema(content[name], join(pointer, name)), accept(names))
        return Answer(None, accept(names))

    def all_problems(self) -> list[Problem]:
        """What was wrong with them."""
        return [*self.problems, *(self._outputs.problems if self._outputs else ())]

    def _successes(self, operation: Operation) -> Iterator[tuple[JsonObject, str]]:
        """The `content` of each response with a 2xx status, in the document's order."""
        responses = operation.value.get("responses")
        for status, response in responses.items() if isinstance(responses, dict) else ():
            if status[:1] != "2":
                continue
            try:
                node, pointer = self._resolver.follow(response, join(operation.pointer, "responses", status))
            except BrokenReference as error:
                self.problems.append(error.problem)
                continue
            content = node.get("content") if isinstance(node, Mapping) else None
            if isinstance(content, dict):
                yield content, join(pointer, "content")

    def _schema(self, media: Any, pointer: str) -> Schema | None:
        try:
            media, pointer = self._resolver.follow(media, pointer)
        except BrokenReference as error:
            self.problems.append(error.problem)
            return None
        node = media.get("schema") if isinstance(media, dict) else None
        return None if node is None or self._outputs is None else self._outputs.schema(node, join(pointer, "schema"))


def accept(names: list[str]) -> str:
    """An Accept header for what is documented: JSON first, then the others, then anything (errors come as they do)."""
    sendable = [name for name in names if name.isascii() and name.isprintable() and "/" in name]
    wanted = list(dict.fromkeys(name for name in sendable if not media_types.is_range(name)))
    wanted.sort(key=lambda name: not media_types.is_json(name))
    if not wanted:
        return ANYTHING
    others = [f"{name};q=0.8" for name in wanted[1:_MOST_ACCEPTED]]
    return ", ".join([wanted[0], *others, "*/*;q=0.5"])
