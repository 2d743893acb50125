"""The calls that one program makes: of a function by its name, as calls of tools like any others.

What goes wrong with a call is raised in the program, which may go on without it; how often each tool was called is
kept, since what calls did stays done when a program fails.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .function_names import CALL_TOOL
from .naming import nearest
from .runtime import jsontext
from .runtime.models import Tool
from .runtime.own_tools import Call
from .runtime.types import MISSING, CallToolResult, JsonObject
from .sandbox import Raised

_MAX_ANSWER: Final = 4 * 1024 * 1024
"""Bytes of an API's answer that a program gets: they cost no model anything."""

_LONGEST_NAME: Final = 100
"""Characters of a name that is looked for among others."""


@dataclass(slots=True)
class ProgramCalls:
    """The calls of one program, and how many it may make."""

    functions: Mapping[str, Tool]
    names: Mapping[str, str]
    call: Call
    most: int
    tried: int = 0
    made: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    async def answer(self, name: str, positional: list[Any], named: dict[str, Any]) -> Any:
        """What a function returns. Raises Raised."""
        if self.tried >= self.most:
            raise Raised("RuntimeError", f"A program may make {self.most} calls; this one has made them.")
        self.tried += 1
        if name == CALL_TOOL:
            name, positional, named = self._meant(positional, named)
        if name not in self.functions:
            hint = await asyncio.to_thread(nearest, name[:_LONGEST_NAME], self.functions)
            raise Raised("RuntimeError", f"There is no tool {name}; {hint or 'search_tools finds the names of tools'}")
        tool, arguments = self.functions[name], self._arguments(name, positional, named)
        self.made[tool.name] += 1
        result = await self.call(tool, arguments, max_result_bytes=_MAX_ANSWER)
        if result.is_error:
            raise Raised("RuntimeError", f"{tool.name}: {_text(result.content)}")
        value, notes = returned(tool, result)
        self.notes += [f"{tool.name}: {note}" for note in notes]
        return value

    def told(self) -> str:
        """Which calls were made: what they did stays done."""
        made = ", ".join(f"{name}, {count} times" if count > 1 else name for name, count in self.made.items())
        return f"Calls that it had made: {made}." if made else ""

    def _meant(self, positional: list[Any], named: dict[str, Any]) -> tuple[str, list[Any], dict[str, Any]]:
        """The function of the tool that `call_tool` names, and its arguments."""
        said = dict(zip(("name", "arguments"), positional, strict=False)) | named
        name = str(said.get("name"))
        return self.names.get(name, name), [said.get("arguments") or {}], {}

    def _arguments(self, name: str, positional: list[Any], named: dict[str, Any]) -> dict[str, Any]:
        if len(positional) > 1 or not all(isinstance(value, dict) for value in positional):
            names = ", ".join(self.functions[name].input_schema.get("properties", {}))
            raise Raised("TypeError", f"{name}() takes keyword arguments, or one dict of them: {names}")
        return {key: value for values in (*positional, named) for key, value in values.items()}


def returned(tool: Tool, result: CallToolResult) -> tuple[Any, list[str]]:
    """What a function returns of a tool's result, and what the result says besides: that it was cut.

    The whole body where that is JSON: what an API says beyond its document is not part of what is structured by that.
    """
    texts = [block["text"] for block in result.content if block["type"] == "text"]
    structured = result.structured_content
    body = _body(texts[0]) if texts and (structured is MISSING or tool.output_schema is not None) else None
    if body is not None or structured is not MISSING:
        return (structured if body is None else body), texts[1:]
    return ("\n".join(texts) if len(texts) == len(result.content) else list(result.content)), []


def _body(text: str) -> dict[str, Any] | list[Any] | None:
    try:
        value = jsontext.read(text) if text.lstrip()[:1] in {"{", "["} else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _text(content: Iterable[JsonObject]) -> str:
    return "\n".join(block["text"] for block in content if block["type"] == "text")
