"""Code mode: tools are found by a search and called by programs that the model writes; it reads the results of those.

A program calls tools as functions, in a sandbox (see `sandbox`); each of its calls is a call like any other, with the
same checks, limits and logs. What a model is told here is written for it, and counted.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from .code_limits import USUAL, Limits
from .function_names import CALL_TOOL, functions
from .naming import nearest
from .program_calls import ProgramCalls
from .runtime import cutting
from .runtime.catalog import Catalog, Offered
from .runtime.models import Tool
from .runtime.own_tools import Call, OwnTool
from .runtime.search_answers import Look
from .runtime.search_tools import at_worst, finders
from .runtime.types import CallToolResult, Schema, error_result, text_content
from .sandbox import Outcome, Sandbox, awaits

MAX_CODE: Final = 20_000
MAX_RESULT: Final = 64 * 1024
"""Bytes of a program's result: some 16,000 tokens. Who wants to read more should not have written a program."""

_MAX_NOTES: Final = 5


def code_catalog(
    tools: Sequence[Tool], *, pinned: Iterable[str] = (), page_size: int | None = None, limits: Limits = USUAL
) -> Catalog:
    """A catalog that lists the tools of code mode and the pinned ones, and hides all others."""
    wanted = frozenset(pinned)
    listed: list[Offered] = [*own_tools(tools, limits), *(tool for tool in tools if tool.name in wanted)]
    return Catalog(listed, hidden=tools, page_size=page_size)


def own_tools(tools: Sequence[Tool], limits: Limits = USUAL) -> tuple[OwnTool, ...]:
    """`search_tools`, `describe_tool` and `run_code` over some tools."""
    programs = _Programs(tools, limits)
    run_code = OwnTool(
        name="run_code",
        title="Run code",
        description=_RUN.format(
            seconds=limits.seconds,
            computing=limits.computing,
            memory=limits.memory // (1024 * 1024),
            calls=limits.calls,
            result=MAX_RESULT // 1024,
            printed=limits.printed // 1024,
        ),
        input_schema=_RUN_INPUT,
        annotations=at_worst(tools),
        answer=programs.answer,
    )
    look = Look(name=lambda tool: programs.names[tool.name], results=True)
    return (*finders(tools, "called as functions\nin a program with run_code", look), run_code)


_RUN: Final = """\
Run a Python program that calls this API's tools as functions. Only its result comes back: chain calls, loop over them,
filter and count in one program, in place of reading every answer.

- A tool is a function by the name that search_tools shows. Its arguments are keywords, named as in its input schema:
  getPet(petId=1). Names that Python cannot say go in a dict: getPet({{"pet-id": 1}}).
- It returns the API's answer: dicts and lists where that is JSON, else text. A call that fails raises RuntimeError with
  the reason. call_tool("getPet", {{"petId": 1}}) calls any tool by its name.
- For calls at once: await asyncio.gather(getPet(petId=1), getPet(petId=2)). In a program that says await anywhere,
  every call has to be awaited; in any other, none.
- The value of the last line, if it is an expression, is the result; what is printed comes with it.

Each program starts anew in a sandbox: no files, network, environment, packages. It can import asyncio, base64,
collections, csv, dataclasses, datetime, decimal, functools, hashlib, itertools, json, math, random, re, time. It has no
yield, del, class inheritance, method decorators, next() of a generator expression; no tools in map() or a sort key.
At most {seconds:g} seconds with {calls} calls, {computing:g} of them computing; {memory} MiB of memory; {result} KiB of
result, {printed} KiB printed."""
_RUN_INPUT: Final[Schema] = {
    "type": "object",
    "properties": {
        "code": {"type": "string", "minLength": 1, "maxLength": MAX_CODE, "description": "The program, in Python 3."}
    },
    "required": ["code"],
    "additionalProperties": False,
}


class _Programs:
    """Runs programs over some tools."""

    def __init__(self, tools: Sequence[Tool], limits: Limits) -> None:
        self._tools = tools
        self._sandbox = Sandbox(limits)

    @cached_property
    def functions(self) -> Mapping[str, Tool]:
        """The tools by the names of their functions."""
        return functions(self._tools)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The names of the functions, by those of their tools."""
        return {tool.name: name for name, tool in self.functions.items()}

    async def answer(self, arguments: Mapping[str, Any], call: Call) -> CallToolResult:
        """`run_code`."""
        calls = ProgramCalls(self.functions, self.names, call, self._sandbox.limits.calls)
        outcome = await self._sandbox.run(arguments["code"], {CALL_TOOL, *self.functions}, calls.answer)
        if not outcome.error:
            return _result(outcome, calls.notes)
        hint = await asyncio.to_thread(_hint, outcome.error, [CALL_TOOL, *self.functions], arguments["code"])
        parts = (outcome.error, hint, calls.told(), _printed(outcome))
        return error_result("\n\n".join(part for part in parts if part))


def _result(outcome: Outcome, notes: Sequence[str]) -> CallToolResult:
    """The value first, alone in its block; then what was printed, and what has to be known of both."""
    said, cut = _shown(outcome.value)
    printed = _printed(outcome)
    empty = outcome.value is None and not printed
    remarks = [*notes[:_MAX_NOTES], *cut]
    if empty:
        remarks.append("The program has no result: end it with an expression, or print.")
    texts = [said if outcome.value is not None or empty else "", printed, "\n".join(remarks)]
    return CallToolResult(content=tuple(text_content(text) for text in texts if text))


def _shown(value: Any) -> tuple[str, list[str]]:
    """The value as text (a text as it is, else JSON), and what was left out of it."""
    if isinstance(value, str):
        text = cutting.fit_text(value, MAX_RESULT)
        return text, [] if text == value else [f"The result was cut to {len(text):,} of {len(value):,} characters."]
    kept, notes = cutting.fit(value, MAX_RESULT)
    cut = f"The result was cut to {MAX_RESULT} bytes: {'; '.join(notes)}. Return less."
    return json.dumps(kept, ensure_ascii=False), [cut] if notes else []


def _printed(outcome: Outcome) -> str:
    more = f"\n… ({outcome.more:,} characters more)" if outcome.more else ""
    return f"Printed:\n{outcome.printed.rstrip()}{more}" if outcome.printed.strip() else ""


_UNDEFINED: Final = re.compile(r"NameError: name '(\w+)' is not defined")
_NOT_AWAITED: Final = re.compile(r"TypeError: .*(can't be awaited|coroutine|not awaitable|an awaitable)")


def _hint(error: str, known: Sequence[str], code: str) -> str:
    """What would help against an error, beyond what Python says."""
    last = error.rstrip().rpartition("\n")[2]
    if undefined := _UNDEFINED.match(last):
        return nearest(undefined[1][:100], known) or "search_tools finds the names of functions"
    if not _NOT_AWAITED.match(last):
        return ""
    if awaits(code):
        return "This program says await, so that every call of a tool has to be awaited."
    return "This program does not say await, so that calls of tools are plain and nothing of them is awaited."
