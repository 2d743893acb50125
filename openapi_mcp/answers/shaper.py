"""`AnswerShaper`: the hook of a live server that reads `select` and `pages`, and names them where a result was cut."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..runtime import jsontext
from ..runtime.server.hooks import AnswerShape
from ..runtime.tool import Tool
from ..runtime.types import CallToolResult, text_content
from .arguments import SELECT, is_ours, name_for, taken


class AnswerShaper:
    """The shaper of a live server (`hooks.Shaper`)."""

    def split(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], AnswerShape | None]:
        """Return the arguments of the request, and the shape that the others ask for. Raises ArgumentError."""
        rest, wishes = taken(tool, arguments)
        if wishes is None:
            return rest, None
        from .shape import WishedAnswer

        return rest, WishedAnswer.of(tool, wishes)

    def advised(self, tool: Tool, result: CallToolResult) -> CallToolResult:
        """Return a result that was cut, with a hint at `select`."""
        return advised(tool, result)


def advised(tool: Tool, result: CallToolResult) -> CallToolResult:
    """Return a result that was cut with a hint at `select`; any other as it is."""
    from ..runtime.result.build import CUT

    name = name_for(tool, SELECT)
    may_repeat = tool.annotations.get("readOnlyHint") is True and tool.select is None and is_ours(tool, name)
    if result.is_error or not may_repeat or not result.meta.get(CUT, {}).get("leftOut"):
        return result
    first, *others = result.content
    hint = f"Or repeat the call with `{name}`, a JMESPath expression for the parts that are needed"
    text = f"{first['text']} {hint}, as `{_example(result.structured_content)}`."
    return replace(result, content=(text_content(text), *others))


def _example(value: Any) -> str:
    """Return an expression for an answer: two names of the objects in its list."""
    path, items = "", value
    if isinstance(value, dict):
        path, items = next(((name, part) for name, part in value.items() if isinstance(part, list)), ("", value))
    if not isinstance(items, list):
        return f"{{{_pairs(items)}}}" if isinstance(items, dict) and items else "name"
    first = next((item for item in items if isinstance(item, dict)), {})
    plain = path if not path or (path.isascii() and path.isidentifier()) else jsontext.write(path)
    return f"{plain}[].{{{_pairs(first)}}}" if first else f"{plain}[:10]"


def _pairs(value: Mapping[str, Any]) -> str:
    names = [name for name in value if name.isidentifier() and name.isascii()][:2]
    return ", ".join(f"{name}: {name}" for name in names) or "id: id"
