"""The question whether a call may be made, as a form: the tool, its request, and its arguments.

Arguments are shown as far as a person reads them, without what looks like a secret; each is one line of JSON, so that
no value can look like another line. What is not shown is counted.
"""

from collections.abc import Mapping
from typing import Any, Final

from ..runtime.protocol import jsonrpc
from ..runtime.protocol.elicitation import Form, FormAnswer
from ..runtime.request.redaction import SECRET_NAME, redact
from ..runtime.result.sanitizer import REDACTED, Sanitizer
from ..runtime.tool import Tool

MAX_SHOWN_ARGUMENTS: Final = 20
"""Arguments of a question; with MAX_SHOWN_CHARACTERS each, it fits into a dialog."""

MAX_SHOWN_CHARACTERS: Final = 200
"""Characters of an argument that are shown."""

_MAX_DEPTH: Final = 3
"""Levels of an argument that are shown; a deeper one is `…`."""

_MORE: Final = "…"

CONFIRM: Final = "confirm"
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        CONFIRM: {"type": "boolean", "title": "Make this call", "description": "Whether the call may be made."}
    },
    "required": [CONFIRM],
}


def question(tool: Tool, arguments: Mapping[str, Any], sanitizer: Sanitizer) -> Form:
    """Return the question whether a call may be made."""
    return Form(f"May this call be made?\n\n{summary(tool, arguments, sanitizer)}", _SCHEMA)


def is_consent(answer: FormAnswer) -> bool:
    """Return whether the user has said that the call may be made."""
    return answer.action == "accept" and answer.content.get(CONFIRM) is True


def summary(tool: Tool, arguments: Mapping[str, Any], sanitizer: Sanitizer) -> str:
    """Return the tool, its method and path, and its arguments, a line for each."""
    lines = [f"{tool.name} ({tool.method} {tool.path})"]
    shown = list(arguments.items())[:MAX_SHOWN_ARGUMENTS]
    lines += [f"  {_cut(_one_line(name))}: {_shown(name, value)}" for name, value in shown]
    if len(arguments) > len(shown):
        lines.append(f"  and {len(arguments) - len(shown)} more arguments")
    return sanitizer.text("\n".join(lines))


def _shown(name: str, value: Any) -> str:
    text = _cut(redact(_json(_visible(name, value, _MAX_DEPTH))))
    is_cut = isinstance(value, str | list | dict) and text.endswith(_MORE)
    return f"{text} ({len(value):,} {'characters' if isinstance(value, str) else 'entries'})" if is_cut else text


def _visible(name: str, value: Any, depth: int) -> Any:
    """Return the beginning of a value, without the members of objects that have the name of a secret."""
    if isinstance(value, str | int | float | bool | None) and SECRET_NAME.search(name):
        return REDACTED if value is not None else None
    if isinstance(value, str):
        return value[: 2 * MAX_SHOWN_CHARACTERS]
    if isinstance(value, dict | list) and not depth:
        return _MORE
    if isinstance(value, dict):
        members = list(value.items())[:MAX_SHOWN_CHARACTERS]
        return {key: _visible(key, item, depth - 1) for key, item in members}
    if isinstance(value, list):
        return [_visible(name, item, depth - 1) for item in value[:MAX_SHOWN_CHARACTERS]]
    return value


def _one_line(name: str) -> str:
    return _json(name)[1:-1]


def _json(value: Any) -> str:
    return jsonrpc.encode(value).decode()


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[: MAX_SHOWN_CHARACTERS - 1]}{_MORE}"
