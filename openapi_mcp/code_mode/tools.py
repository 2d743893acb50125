"""Code mode: a model finds tools with `search_tools`, calls them in programs that it writes, and reads the results.

A program calls tools as functions in a sandbox (`sandbox`). Each call has the checks, limits and logs of other calls.
An error of a call is raised in the program, which may catch it. Calls are counted: their effects remain when a program
fails.

A tool's function has the tool's own name where that is an identifier. Else each other character becomes `_`, with `_`
before a leading digit and after a keyword or a built-in name. Of tools with one function name, a tool whose own name is
an identifier has it, else the first by name; the others have `_2`, `_3`, … appended.
"""

import asyncio
import builtins
import json
import keyword
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final

from ..runtime import background, jsontext
from ..runtime.result import truncation
from ..runtime.result.build import CUT, CUT_START, NO_CONTENT
from ..runtime.result.headers import HEADERS
from ..runtime.search.tools import ToolPresentation, common_annotations, discovery_tools
from ..runtime.server.catalog import BuiltinTool, CallByName, Catalog, ListedTool
from ..runtime.server.deviations import DEVIATIONS
from ..runtime.tool import READ_ONLY_METHODS, Tool
from ..runtime.types import MISSING, CallToolResult, JsonObject, Schema, error_result, text_content
from ..tools.names import suggest_names
from .lacks import MODULES, cure
from .limits import DEFAULT_LIMITS, CodeLimits
from .process import ProgramError
from .sandbox import ProgramResult, Sandbox
from .values import MAX_SMALL_CHARACTERS, is_small_value

CALL_TOOL: Final = "call_tool"
"""The function that calls any tool by its name."""

MAX_CODE_LENGTH: Final = 20_000
MAX_RESULT_BYTES: Final = 64 * 1024
"""Bytes of a program's result: some 16,000 tokens. A program should return less than the responses that it reads."""

_MAX_RESPONSE_BYTES: Final = 4 * 1024 * 1024
"""Bytes of an API's response that a program receives: they cost no tokens."""

_MAX_NAME_LENGTH: Final = 100
"""Characters of an unknown name that are compared with the known ones."""

CALLS: Final = "openapi-mcp/calls"
"""The name in `_meta` of the calls that a program sent: their numbers by tool."""

_MAX_NOTES: Final = 5
_RETURN_LESS: Final = "Return less: let the program pick, count or sum what you need."
_FAILED: Final = "The program ended, but calls that it did not await failed. Await them to catch their errors."
_RESERVED_NAMES: Final = frozenset({CALL_TOOL, "asyncio", *keyword.kwlist, *dir(builtins)})


def code_catalog(
    tools: Sequence[Tool],
    *,
    pinned: Iterable[str] = (),
    page_size: int | None = None,
    limits: CodeLimits = DEFAULT_LIMITS,
) -> Catalog:
    """Return a catalog that lists the tools of code mode and the pinned ones, and hides all others."""
    names = frozenset(pinned)
    listed: list[ListedTool] = [*builtin_tools(tools, limits), *(tool for tool in tools if tool.name in names)]
    return Catalog(listed, hidden=tools, page_size=page_size)


def builtin_tools(tools: Sequence[Tool], limits: CodeLimits = DEFAULT_LIMITS) -> tuple[BuiltinTool, ...]:
    """Return `search_tools`, `describe_tool` and `run_code` for some tools."""
    runner = _ProgramRunner(tools, limits)
    run_code = BuiltinTool(
        name="run_code",
        title="Run code",
        description=_RUN.format(
            seconds=limits.seconds,
            compute_seconds=limits.compute_seconds,
            memory=limits.memory_bytes // (1024 * 1024),
            calls=limits.calls,
            result=MAX_RESULT_BYTES // 1024,
            output=limits.output_characters // 1024,
            modules=MODULES,
        ),
        input_schema=_RUN_INPUT,
        annotations=common_annotations(tools),
        answer=runner.answer,
    )
    presentation = ToolPresentation(name=lambda tool: runner.names[tool.name], results=True)
    return (*discovery_tools(tools, "called as functions\nin a program with run_code", presentation), run_code)


_RUN: Final = """\
Run a Python program that calls this API's tools as functions. Only its result is returned: chain calls, loop, filter
and count in one program instead of reading every response.

- A tool is a function with the name that search_tools shows. Its arguments are keywords, named as in its input schema:
  getPet(petId=1). Names that are no Python identifiers go in a dict: getPet({{"pet-id": 1}}).
- A function returns the API's response: dicts and lists for JSON, None if there is none, else text. A failed call
  raises RuntimeError with the reason. call_tool("getPet", {{"petId": 1}}) calls any tool by its name.
- Concurrent calls: await asyncio.gather(getPet(petId=1), getPet(petId=2)). Other calls need no await.
- The result is the value of the last line, if that is an expression; printed text comes with it.

Each program starts in a new sandbox: no files, network, environment, packages. It can import {modules}. It has no
yield, class inheritance, method decorators.
Limits: {calls} calls; {seconds:g} seconds in all, {compute_seconds:g} of them computing; {memory} MiB of memory;
{result} KiB of result; {output} KiB of printed text."""
_RUN_INPUT: Final[Schema] = {
    "type": "object",
    "properties": {
        "code": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_CODE_LENGTH,
            "description": "The program, in Python 3.",
        }
    },
    "required": ["code"],
    "additionalProperties": False,
}


class _ProgramRunner:
    """A runner of programs that call some tools."""

    def __init__(self, tools: Sequence[Tool], limits: CodeLimits) -> None:
        self._tools = tools
        self._sandbox = Sandbox(limits)

    @cached_property
    def functions(self) -> Mapping[str, Tool]:
        """The tools by the names of their functions."""
        return functions(self._tools)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The names of the functions by the names of their tools."""
        return {tool.name: name for name, tool in self.functions.items()}

    async def answer(self, arguments: Mapping[str, Any], call: CallByName) -> CallToolResult:
        """Answer `run_code`."""
        calls = ProgramCalls(self.functions, self.names, call, self._sandbox.limits.calls)
        program = await self._sandbox.run(arguments["code"], {CALL_TOOL, *self.functions}, calls.call_function)
        if not program.error and not program.failed:
            remarks = calls.remarks()
            is_small = is_small_value(program.value)
            result = _result(program, remarks) if is_small else await background.run("large", _result, program, remarks)
            return replace(result, meta={CALLS: dict(calls.counts)})
        if program.error:
            hint = await asyncio.to_thread(_hint, program.error, [CALL_TOOL, *self.functions])
            parts = [program.error, hint, calls.summary(), _output(program)]
        else:
            failed = "\n".join(program.failed[:_MAX_NOTES])
            parts = [f"{_FAILED}\n{failed}", calls.summary(""), *_texts(program, calls.notes[:_MAX_NOTES])]
        result = error_result("\n\n".join(part for part in parts if part))
        return replace(result, meta={CALLS: dict(calls.counts)})


@dataclass(slots=True)
class ProgramCalls:
    """The calls of one program, at most `max_calls`. `counts` has those that were sent to the API, by tool."""

    functions: Mapping[str, Tool]
    names: Mapping[str, str]
    call: CallByName
    max_calls: int
    attempts: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    async def call_function(self, name: str, positional: list[Any], keywords: dict[str, Any]) -> Any:
        """Call the tool of a function and return the function's value. Raises ProgramError."""
        if self.attempts >= self.max_calls:
            raise ProgramError("RuntimeError", f"A program may make {self.max_calls} calls; the limit is reached.")
        self.attempts += 1
        if name == CALL_TOOL:
            name, positional, keywords = self._resolve_call_tool(positional, keywords)
        if name not in self.functions:
            hint = await asyncio.to_thread(suggest_names, name[:_MAX_NAME_LENGTH], self.functions)
            raise ProgramError(
                "RuntimeError", f"There is no tool {name}; {hint or 'search_tools finds the names of tools'}"
            )
        tool, arguments = self.functions[name], self._arguments(name, positional, keywords)
        on_sent = partial(self._count, tool.name)
        result = await self.call(tool, arguments, max_result_bytes=_MAX_RESPONSE_BYTES, on_sent=on_sent)
        if result.is_error:
            raise ProgramError("RuntimeError", f"{tool.name}: {_text(result.content)}")
        is_small = sum(len(block.get("text", "")) for block in result.content) <= MAX_SMALL_CHARACTERS
        make = partial(function_value, tool, result)
        value, notes = make() if is_small else await background.run("large", make)
        self.notes += [f"{tool.name}: {note}" for note in notes]
        return value

    def _count(self, name: str, _status: int) -> None:
        self.counts[name] += 1

    def summary(self, before: str = " before the error") -> str:
        """Return a sentence about the calls that were sent, whose effects remain; empty if there were none."""
        return _summary(self.counts, before)

    def remarks(self) -> list[str]:
        """Return the first notes, and a sentence about the calls that may have changed something."""
        tools = (self.functions[self.names[name]] for name in self.counts)
        changes = {tool.name: self.counts[tool.name] for tool in tools if not _only_reads(tool)}
        return [*self.notes[:_MAX_NOTES], *filter(None, [_summary(changes, "")])]

    def _resolve_call_tool(
        self, positional: list[Any], keywords: dict[str, Any]
    ) -> tuple[str, list[Any], dict[str, Any]]:
        """Return the function name and the arguments of the tool that `call_tool` names."""
        parameters = dict(zip(("name", "arguments"), positional, strict=False)) | keywords
        name = str(parameters.get("name"))
        return self.names.get(name, name), [parameters.get("arguments") or {}], {}

    def _arguments(self, name: str, positional: list[Any], keywords: dict[str, Any]) -> dict[str, Any]:
        if len(positional) > 1 or not all(isinstance(value, dict) for value in positional):
            names = ", ".join(self.functions[name].input_schema.get("properties", {}))
            raise ProgramError("TypeError", f"{name}() takes keyword arguments, or one dict of them: {names}")
        return {key: value for values in (*positional, keywords) for key, value in values.items()}


def functions(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Return the tools by the names of their functions."""
    by_name: dict[str, Tool] = {}
    for tool in sorted(tools, key=lambda tool: (_identifier(tool.name) != tool.name, tool.name)):
        base = name = _identifier(tool.name)
        number = 1
        while name in by_name:
            number += 1
            name = f"{base}_{number}"
        by_name[name] = tool
    return by_name


def _identifier(name: str) -> str:
    identifier = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if identifier[:1].isdigit():
        identifier = f"_{identifier}"
    return f"{identifier}_" if identifier in _RESERVED_NAMES else identifier


def function_value(tool: Tool, result: CallToolResult) -> tuple[Any, list[str]]:
    """Return the value of a function for its tool's result, and the result's notes, for example that it was cut.

    A result that was cut, or whose request deviated from the document, begins with a note. Of an answer that is not
    JSON, structured content may be empty.
    """
    if HEADERS in result.meta:  # the last block
        return function_value(tool, replace(result, content=result.content[:-1], meta=_without_headers(result)))
    texts = [block["text"] for block in result.content if block["type"] == "text"]
    if count := len(result.meta.keys() & {CUT, DEVIATIONS}):  # the first blocks
        value, notes = function_value(tool, replace(result, content=result.content[count:], meta={}))
        firsts = [_cut_note(result.meta[CUT]) if text.startswith(CUT_START) else text for text in texts[:count]]
        return value, [*firsts, *notes]
    if texts and NO_CONTENT in texts[0].partition("\n")[0]:
        return _empty(texts[0])
    structured = result.structured_content
    body = _json_body(texts[0]) if texts and (structured is MISSING or tool.output_schema is not None) else None
    if body is not None or structured is not MISSING:
        return (structured if body is None else body), texts[1:]
    blocks = [block for block in result.content if block["type"] != "resource_link"]  # the text has the links too
    return ("\n".join(texts) if len(texts) == len(blocks) else blocks), []


def _empty(text: str) -> tuple[str | None, list[str]]:
    """Return the value for an answer without content: None, unless headers such as Location are all that it has."""
    status, _, shown = text.partition("\n")
    if not shown:
        return None, []
    return (None, [text]) if status.startswith("204") else (text, [])


def _cut_note(cut: Mapping[str, Any]) -> str:
    """Return a sentence about a response that was cut, for a program: no option shows it more."""
    names = " or ".join(f"`{name}`" for name in cut["arguments"])
    hint = f"Ask for less with {names}." if names else "Ask the API for less at a time."
    left_out = "; ".join(cut["leftOut"])
    return f"{CUT_START} It was cut to {cut['limitBytes']:,} bytes, as much as a program receives: {left_out}. {hint}"


def _without_headers(result: CallToolResult) -> JsonObject:
    return {name: value for name, value in result.meta.items() if name != HEADERS}


def _json_body(text: str) -> dict[str, Any] | list[Any] | None:
    try:
        value = jsontext.read(text) if text.lstrip()[:1] in {"{", "["} else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _only_reads(tool: Tool) -> bool:
    return tool.method in READ_ONLY_METHODS or tool.annotations.get("readOnlyHint") is True


def _summary(counts: Mapping[str, int], before: str) -> str:
    calls = ", ".join(f"{name}, {count} times" if count > 1 else name for name, count in counts.items())
    return f"Calls made{before}: {calls}." if calls else ""


def _text(content: Iterable[JsonObject]) -> str:
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def _result(program: ProgramResult, notes: Sequence[str]) -> CallToolResult:
    return CallToolResult(content=tuple(text_content(text) for text in _texts(program, notes)))


def _texts(program: ProgramResult, notes: Sequence[str]) -> list[str]:
    """Return the value alone in its text, then the printed output, then notes about both."""
    value, cut = _value_text(program.value)
    output = _output(program)
    is_empty = program.value is None and not output
    remarks = [*notes, *cut]
    if is_empty:
        remarks.append("The program has no result: end it with an expression, or print.")
    texts = [value if program.value is not None or is_empty else "", output, "\n".join(remarks)]
    return [text for text in texts if text]


def _value_text(value: Any) -> tuple[str, list[str]]:
    """Return a value as text (a string unchanged, else JSON), and a note if it was cut."""
    if isinstance(value, str):
        text = truncation.truncate_text(value, MAX_RESULT_BYTES)
        cut = f"The result was cut to {len(text):,} of {len(value):,} characters. {_RETURN_LESS}"
        return text, [] if text == value else [cut]
    shortened, notes = truncation.truncate(value, MAX_RESULT_BYTES)
    cut = f"The result was cut to {MAX_RESULT_BYTES} bytes: {'; '.join(notes)}. {_RETURN_LESS}"
    return json.dumps(shortened, ensure_ascii=False), [cut] if notes else []


def _output(program: ProgramResult) -> str:
    omitted = f"\n… ({program.omitted_characters:,} characters more)" if program.omitted_characters else ""
    return f"Printed:\n{program.output.rstrip()}{omitted}" if program.output.strip() else ""


_UNDEFINED: Final = re.compile(r"NameError: name '(\w+)' is not defined")


def _hint(error: str, names: Sequence[str]) -> str:
    """Return a cure for an error that Python's message does not name; empty if there is none."""
    last = error.rstrip().rpartition("\n")[2]
    if hint := cure(last):
        return hint
    if not (undefined := _UNDEFINED.match(last)):
        return ""
    return suggest_names(undefined[1][:_MAX_NAME_LENGTH], names) or "search_tools finds the names of functions"
