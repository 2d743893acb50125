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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, Final

from ..runtime import background
from ..runtime.result import truncation
from ..runtime.search.index_store import IndexStore
from ..runtime.search.signatures import Definition, Field, Signature
from ..runtime.search.tools import ToolPresentation, common_annotations, discovery_tools
from ..runtime.server.catalog import BuiltinTool, CallByName, Catalog, ListedTool
from ..runtime.tool import Tool
from ..runtime.types import CallToolResult, Schema, error_result, text_content
from ..tools.names import suggest_names
from .calls import HELPERS, MAX_NOTES, ProgramCalls
from .lacks import MODULES, cure
from .limits import DEFAULT_LIMITS, CodeLimits
from .sandbox import ProgramResult, Sandbox
from .values import MAX_SAVED, MAX_SESSION_BYTES, SavedValues, is_small_value

MAX_CODE_LENGTH: Final = 20_000
MAX_RESULT_BYTES: Final = 64 * 1024
"""Bytes of a program's result: some 16,000 tokens. A program should return less than the responses that it reads."""

_MAX_NAME_LENGTH: Final = 100
"""Characters of an unknown name that are compared with the known ones."""

CALLS: Final = "openapi-mcp/calls"
"""The name in `_meta` of the calls that a program sent: their numbers by tool."""

_RETURN_LESS: Final = "Return less: let the program pick, count or sum what you need."
_FAILED: Final = "The program ended, but calls that it did not await failed. Await them to catch their errors."
_RESERVED_NAMES: Final = frozenset({*HELPERS, "asyncio", *keyword.kwlist, *dir(builtins)})


def code_catalog(
    tools: Sequence[Tool],
    *,
    pinned: Iterable[str] = (),
    page_size: int | None = None,
    limits: CodeLimits = DEFAULT_LIMITS,
    store: IndexStore | None = None,
    workflows: Sequence[BuiltinTool] = (),
) -> Catalog:
    """Return a catalog that lists the tools of code mode and the pinned ones, and hides all others.

    The index of the search is kept in `store`. Programs may call the `workflows` too, which are listed elsewhere.
    """
    names, builtin = frozenset(pinned), builtin_tools(tools, limits, store, workflows)
    listed: list[ListedTool] = [*builtin, *(tool for tool in tools if tool.name in names)]
    return Catalog(listed, hidden=tools, page_size=page_size)


def builtin_tools(
    tools: Sequence[Tool],
    limits: CodeLimits = DEFAULT_LIMITS,
    store: IndexStore | None = None,
    workflows: Sequence[BuiltinTool] = (),
) -> tuple[BuiltinTool, ...]:
    """Return `search_tools`, `describe_tool` and `run_code` for some tools; programs may call the `workflows` too."""
    runner = _ProgramRunner((*tools, *workflows), limits)
    within = [operation for workflow in workflows for operation in workflow.operations]
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
            saved=MAX_SAVED,
            saved_size=MAX_SESSION_BYTES // (1024 * 1024),
            workflows=_of_workflows([runner.names[workflow.name] for workflow in workflows]),
        ),
        input_schema=_RUN_INPUT,
        annotations=common_annotations([*tools, *within]),
        answer=runner.answer,
    )
    presentation = ToolPresentation(
        name=lambda tool: runner.names[tool.name], results=True, write=write_stubs, written_bytes=_STUB_BYTES
    )
    return (*discovery_tools(tools, "called as functions\nin a program with run_code", presentation, store), run_code)


_RUN: Final = """\
Run a Python program that calls this API's tools as functions. Only its result is returned: chain calls, loop, filter
and count in one program instead of reading every response.

- A tool is a function as search_tools shows it: getPet(petId=1). Names that are no identifiers go in a dict:
  getPet({{"pet-id": 1}}).
- It returns the response: objects (pet.name, pet["name"]), lists, text, None. A failed call raises RuntimeError.
- In parallel: a, b = await asyncio.gather(getPet(petId=1), getPet(petId=2)). Other calls need no await.
- paginate(listPets, status="sold", limit=500) returns the items of all pages; call_tool("getPet", petId=1) calls any
  tool; with_headers(getPet, petId=1).headers["etag"] is a header of the response, .body the rest.{workflows}
- save("pets", value) keeps a plain value for load("pets", default) in later programs of this session ({saved} values,
  {saved_size} MiB together).
- The result is the value of the last line, if that is an expression; printed text and the calls made come with it.

Each program starts in a new sandbox: no files, network, environment, packages. It can import {modules}. It has no
yield, class inheritance, method decorators.
Limits: {calls} calls; {seconds:g} seconds in all, {compute_seconds:g} of them computing; {memory} MiB of memory;
{result} KiB of result; {output} KiB of printed text."""
_MAX_SHOWN_WORKFLOWS: Final = 8
"""Functions of workflows that the description of `run_code` names: each is listed as a tool with all its arguments."""


def _of_workflows(names: Sequence[str]) -> str:
    """Return the line about the functions of workflows; empty if there are none."""
    more = ", …" if len(names) > _MAX_SHOWN_WORKFLOWS else ""
    shown = f"{', '.join(names[:_MAX_SHOWN_WORKFLOWS])}{more}"
    return f"\n- Listed workflows are functions too, which return their outputs: {shown}." if names else ""


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


@lru_cache(1)
def _shared_sandbox(limits: CodeLimits) -> Sandbox:
    """Return the sandbox of this process: callers with different rights, and a reload, share its places and memory."""
    return Sandbox(limits)


class _ProgramRunner:
    """A runner of programs that call some tools and workflows."""

    def __init__(self, tools: Sequence[ListedTool], limits: CodeLimits) -> None:
        self._tools = tools
        self._sandbox = _shared_sandbox(limits)
        self._saved = SavedValues()

    @cached_property
    def functions(self) -> Mapping[str, ListedTool]:
        """The tools by the names of their functions."""
        return functions(self._tools)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The names of the functions by the names of their tools."""
        return {tool.name: name for name, tool in self.functions.items()}

    async def answer(self, arguments: Mapping[str, Any], call: CallByName) -> CallToolResult:
        """Answer `run_code`."""
        limits = self._sandbox.limits
        calls = ProgramCalls(self.functions, self.names, call, limits.calls, limits.seconds, self._saved)
        program = await self._sandbox.run(arguments["code"], {*HELPERS, *self.functions}, calls.call_function)
        meta = {CALLS: calls.counts}
        if not program.error and not program.failed:
            write = partial(_result, program, calls.notes, calls.report())
            result = write() if is_small_value(program.value) else await background.run("large", write)
            return replace(result, meta=meta)
        if program.error:
            hint = await asyncio.to_thread(_hint, program.error, [*HELPERS, *self.functions])
            parts = [program.error, hint, calls.report("before the error"), _output(program)]
        else:
            failed = "\n".join(program.failed[:MAX_NOTES])
            written = _texts(program, calls.notes, calls.report("by the program"))
            parts = [f"{_FAILED}\n{failed}", *written]
        result = error_result("\n\n".join(part for part in parts if part))
        return replace(result, meta=meta)


def functions(tools: Iterable[ListedTool]) -> dict[str, ListedTool]:
    """Return the tools by the names of their functions."""
    by_name: dict[str, ListedTool] = {}
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


def _result(program: ProgramResult, notes: Sequence[str], calls: str) -> CallToolResult:
    return CallToolResult(content=tuple(text_content(text) for text in _texts(program, notes, calls)))


def _texts(program: ProgramResult, notes: Sequence[str], calls: str) -> list[str]:
    """Return the value alone in its text, then the printed output, then notes about both and the list of calls."""
    value, cut = _value_text(program.value)
    output = _output(program)
    is_empty = program.value is None and not output
    remarks = [*notes, *cut]
    if is_empty:
        remarks.append("The program has no result: end it with an expression, or print.")
    remarks += [calls] if calls else []
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


_STUB_BYTES: Final = len("async def (*, )")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_UNNAMED: Final = "Result"
"""The name that a signature gives to a result that has no name in the document."""


@dataclass(slots=True)
class _Stub:
    """An object in an answer: its name there, its fullest definition, and the names of objects in that definition."""

    name: str
    definition: Definition
    names: Mapping[str, str]

    def is_same(self, other: Definition) -> bool:
        """Return whether a definition may be of the same object: they agree as far as neither is shortened."""
        short, long = sorted((self.definition, other), key=lambda each: len(each.fields))
        agree = all(mine.text == theirs.text for mine, theirs in zip(short.fields, long.fields, strict=False))
        return agree and (len(short.fields) == len(long.fields) or bool(short.more))

    def text(self) -> str:
        """Return the definition under the names of the answer."""
        fields = tuple(_renamed(each, self.names) for each in self.definition.fields)
        return replace(self.definition, name=self.name, fields=fields).text()


def write_stubs(shown: Sequence[tuple[str, Signature]]) -> list[str]:
    """Return the signatures of one answer as functions of programs, each object written once, where it occurs first.

    An object that is shortened in one signature is written as in the fullest; of different objects with one name the
    later ones get a number.
    """
    stubs: list[_Stub] = []
    found = [_stubs_of(signature, stubs) for _, signature in shown]
    written: set[str] = set()
    texts = []
    for (name, signature), own in zip(shown, found, strict=True):
        new = [stub for stub in own.values() if stub.name not in written]
        written |= {stub.name for stub in new}
        head = _function(name, signature, {raw: stub.name for raw, stub in own.items()})
        texts.append("\n".join([head, *(stub.text() for stub in new)]))
    return texts


def _function(name: str, signature: Signature, names: Mapping[str, str]) -> str:
    """Return `async def getPet(*, petId: int) -> Pet`."""
    arguments = tuple(_renamed(each, names) for each in signature.arguments)
    returns = _with_names(signature.returns, {_UNNAMED: "dict", **names})
    head = replace(signature, arguments=arguments, returns=returns).head(name)
    rest = head.removeprefix(f"{name}(")
    marker = "" if not arguments else "*," if rest.startswith("\n") else "*, "
    return f"async def {name}({marker}{rest}"


def _stubs_of(signature: Signature, stubs: list[_Stub]) -> dict[str, _Stub]:
    """Return the objects of a signature by the names that they have there, and add new ones to `stubs`."""
    named = {each.name: each for each in signature.definitions}
    same = {name: stub for name, each in named.items() if (stub := _known(each, stubs)) is not None}
    while others := [name for name in same if not (_references(named[name]) & named.keys()) <= same.keys()]:
        for name in others:
            del same[name]
    own = {name: same.get(name) or _added(each, stubs) for name, each in named.items()}
    names = {raw: stub.name for raw, stub in own.items()}
    for name, stub in own.items():
        if name not in same or len(named[name].fields) > len(stub.definition.fields):
            stub.definition, stub.names = named[name], names
    return own


def _known(definition: Definition, stubs: Iterable[_Stub]) -> _Stub | None:
    return next((each for each in stubs if each.definition.name == definition.name and each.is_same(definition)), None)


def _added(definition: Definition, stubs: list[_Stub]) -> _Stub:
    taken = {each.name for each in stubs}
    name, number = definition.name, 1
    while name in taken:
        number += 1
        name = f"{definition.name}_{number}"
    stubs.append(_Stub(name, definition, {}))
    return stubs[-1]


def _references(definition: Definition) -> set[str]:
    """Return the words of the types in a definition."""
    return {word for each in definition.fields for word in _WORD.findall(each.text.partition(":")[2])}


def _renamed(shown: Field, names: Mapping[str, str]) -> Field:
    """Return a field with the names of the answer; an object that is named after the field and not shown is a dict."""
    name, colon, kind = shown.text.partition(": ")
    unnamed = "".join(part[:1].upper() + part[1:] for part in re.findall(r"[A-Za-z0-9]+", shown.name))
    return replace(shown, text=f"{name}{colon}{_with_names(kind, {unnamed: 'dict', **names})}")


def _with_names(kind: str, names: Mapping[str, str]) -> str:
    return _WORD.sub(lambda word: names.get(word[0], word[0]), kind) if kind else kind
