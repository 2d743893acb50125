"""`ProgramCalls`: the calls of one program: made, counted, and listed in its result, whether it ends well or not.

Every function of the host ends here: those of tools, `call_tool`, `paginate`, `save` and `load`. Each call of the API
has the checks, limits and logs of other calls. The calls of a program that fails are not undone, so they are listed in
the same form in both cases, with those first that may have changed something. A workflow is a function too: each of its
calls is a call of the program.
"""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NamedTuple

from ..answers.paging import DEFAULT_LIMIT, MAX_LIMIT, PageReader, PagingError
from ..runtime import background, jsontext
from ..runtime.arguments import prepare_aside
from ..runtime.errors import RuntimeFailure
from ..runtime.result.build import CUT, CUT_START, NO_CONTENT
from ..runtime.result.headers import HEADERS
from ..runtime.result.sanitizer import Sanitizer
from ..runtime.server.catalog import BuiltinTool, CallByName, ListedTool
from ..runtime.server.deviations import DEVIATIONS
from ..runtime.server.grants import subject
from ..runtime.session_state import SESSION_STATE
from ..runtime.tool import Tool
from ..runtime.types import MISSING, CallToolResult, JsonObject
from ..runtime.upstream.events import CallEvents
from ..runtime.upstream.shares import CALLER
from ..tools.names import suggest_names
from .process import ProgramError
from .report import MAX_ARGUMENT, Call, report, shorten
from .values import MAX_SMALL_CHARACTERS, SavedValues, SaveError, done, is_small_value

CALL_TOOL: Final = "call_tool"
"""The function that calls any tool by its name."""

HELPERS: Final = frozenset({CALL_TOOL, "paginate", "with_headers", "save", "load"})
"""The functions of programs besides those of tools."""

MAX_CLIENTS: Final = 1000
"""Addresses of clients without a session whose values are kept."""

MAX_NOTES: Final = 5
"""Notes of a program about cut answers, pages and saved values; more of them say nothing more."""

_MAX_RESPONSE_BYTES: Final = 4 * 1024 * 1024
"""Bytes of an API's response, or of all pages of `paginate`, that a program receives: they cost no tokens."""

_MAX_NAME_LENGTH: Final = 100
"""Characters of an unknown name that are compared with the known ones."""

_MAX_TIME: Final = 0.8
"""The part of a program's time after which `paginate` asks for no further page."""

_CUT_OUTPUTS: Final = "This is a part of the outputs."
"""The beginning of the note of a workflow whose outputs were cut, which stands before them."""

_STATE: Final = "code_mode"


@dataclass(slots=True)
class ProgramCalls:
    """The calls of one program, at most `max_calls`. `sent` are those that the API received, in their order.

    `deadline` is the time of the event loop at which the program ends, `saved` the values that are kept where no
    session is known.
    """

    functions: Mapping[str, ListedTool]
    names: Mapping[str, str]
    call: CallByName
    max_calls: int
    seconds: float
    saved: SavedValues
    attempts: int = 0
    sent: list[Call] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _started_at: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of calls that were sent, by tool."""
        return dict(Counter(call.tool.name for call in self.sent))

    async def call_function(self, name: str, positional: list[Any], keywords: dict[str, Any]) -> Any:
        """Call the tool of a function and return the function's value. Raises ProgramError."""
        if name == "paginate":
            return await self._paginate(*positional[:1], positional=positional[1:], keywords=keywords)
        if name == "with_headers":
            return await self._with_headers(*positional[:1], positional=positional[1:], keywords=keywords)
        if name in {"save", "load"}:
            return await (self._save if name == "save" else self._load)(*positional, **keywords)
        if name == CALL_TOOL:
            name, positional, keywords = self._resolve_call_tool(positional, keywords)
        if isinstance(workflow := self.functions.get(name), BuiltinTool):
            return await self._workflow(workflow, self._arguments(name, positional, keywords))
        self.check_calls()
        tool = await self._tool(name)
        value, _ = await self._value(tool, self._arguments(name, positional, keywords))
        return value

    async def _workflow(self, workflow: BuiltinTool, arguments: dict[str, Any]) -> Any:
        """Return the outputs of a workflow, or the text of one without. Raises ProgramError."""
        try:
            result = await workflow.answer(await prepare_aside(workflow, arguments), _WorkflowCalls(self, self.call))
        except RuntimeFailure as failure:
            raise ProgramError("RuntimeError", f"{workflow.name}({shorten(arguments)}): {failure}") from failure
        result = self.call.sanitizer.result(result)
        if result.is_error:
            raise ProgramError("RuntimeError", f"{workflow.name}({shorten(arguments)}): {_text(result.content)}")
        texts = [block["text"] for block in result.content]
        if texts[0].startswith(_CUT_OUTPUTS):
            self._note(f"{workflow.name}: {texts[0]}")
        return texts[-1] if result.structured_content is MISSING else result.structured_content

    def report(self, when: str = "") -> str:
        """Return the list of the calls that were sent (see `report`); empty if there are none."""
        return report(self.sent, when)

    def check_calls(self) -> None:
        """Count a call. Raises ProgramError for one more than a program may make."""
        if self.attempts >= self.max_calls:
            raise ProgramError("RuntimeError", f"A program may make {self.max_calls} calls; the limit is reached.")
        self.attempts += 1

    async def _tool(self, name: Any) -> Tool:
        """Return the tool of a function, which is no workflow."""
        tool = self.functions.get(name) if isinstance(name, str) else None
        if isinstance(tool, Tool):
            return tool
        if tool is not None:
            raise ProgramError("RuntimeError", f"{name} is a workflow, and makes several calls; call {name}() itself")
        hint = await asyncio.to_thread(suggest_names, str(name)[:_MAX_NAME_LENGTH], self.functions)
        raise ProgramError(
            "RuntimeError", f"There is no tool {name}; {hint or 'search_tools finds the names of tools'}"
        )

    async def _value(self, tool: Tool, arguments: dict[str, Any]) -> tuple[Any, CallToolResult]:
        """Make a call of the API; return its value for the program, and its result."""
        call = Call(tool, shorten(arguments))
        on_sent = partial(self.note_sent, call)
        result = await self.call(tool, arguments, max_result_bytes=_MAX_RESPONSE_BYTES, on_sent=on_sent)
        if call in self.sent:
            made = "1 call" if len(self.sent) == 1 else f"{len(self.sent)} calls"
            await self.call.events.on_step(f"{made} made, the last of {tool.name}")
        if result.is_error:
            raise ProgramError("RuntimeError", f"{tool.name}({call.arguments}): {_text(result.content)}")
        is_small = sum(len(block.get("text", "")) for block in result.content) <= MAX_SMALL_CHARACTERS
        make = partial(function_value, tool, result)
        value, notes = make() if is_small else await background.run("large", make)
        call.made = str(value["id"])[:MAX_ARGUMENT] if isinstance(value, dict) and _is_id(value.get("id")) else ""
        self._note(*(f"{tool.name}: {note}" for note in notes))
        return value, result

    def _note(self, *notes: str) -> None:
        """Add notes for the result, which shows the first ones."""
        self.notes += notes[: MAX_NOTES - len(self.notes)] if len(self.notes) < MAX_NOTES else ()

    def note_sent(self, call: Call, status: int) -> None:
        """Note that a call has left, and the status of its response."""
        call.status = status
        if call not in self.sent:  # it may be sent again with another token
            self.sent.append(call)

    async def _with_headers(self, tool: Any = None, *, positional: list[Any], keywords: dict[str, Any]) -> JsonObject:
        """Return the value of a call, and the headers of the response that a model needs (see `needed_headers`)."""
        name = self.names.get(str(tool), tool)
        self.check_calls()
        value, result = await self._value(await self._tool(name), self._arguments(name, positional, keywords))
        return {"body": value, "headers": dict(result.meta.get(HEADERS, {}))}

    async def _paginate(self, tool: Any = None, *, positional: Sequence[Any], keywords: dict[str, Any]) -> list[Any]:
        """Return the items of a tool's pages, up to a limit; a note tells where they end."""
        limit = keywords.pop("limit", DEFAULT_LIMIT)
        if type(limit) is not int or not 0 < limit <= MAX_LIMIT:
            raise ProgramError("ValueError", f"paginate: limit is the number of items to return, 1 to {MAX_LIMIT}")
        name = self.names.get(str(tool), tool)
        paging = PageReader(await self._tool(name), self._arguments(name, list(positional), keywords), limit)
        received = 0
        while paging.arguments is not None:
            if paging.pages and (reason := self._end_of_paging(received)):
                paging.interrupt(reason)
                break
            received += await self._add_page(paging, name)
        self._note(paging.summary(name))
        return paging.items

    async def _add_page(self, paging: PageReader, name: str) -> int:
        """Read the next page and return its approximate size in bytes."""
        self.check_calls()
        try:
            value, result = await self._value(paging.tool, paging.arguments or {})
            paging.add(value, result.meta.get(HEADERS, {}))
        except PagingError as failure:
            raise ProgramError("RuntimeError", f"paginate({name}): {failure}. Call {name}() itself.") from failure
        except ProgramError as failure:
            read = f"\npaginate({name}) had read {len(paging.items)} items of {paging.pages} pages before."
            raise ProgramError("RuntimeError", f"{failure}{read if paging.pages else ''}") from failure
        return sum(len(block.get("text", "")) for block in result.content)

    def _end_of_paging(self, received: int) -> str:
        """Return why no further page may be read; empty if one may."""
        if self.attempts >= self.max_calls:
            return f"the {self.max_calls} calls of the program are made"
        if asyncio.get_running_loop().time() - self._started_at > _MAX_TIME * self.seconds:
            return f"most of the {self.seconds:g} seconds of the program are over"
        return f"{_MAX_RESPONSE_BYTES:,} bytes are read" if received >= _MAX_RESPONSE_BYTES else ""

    async def _save(self, name: Any = None, value: Any = None) -> str:
        """Keep a value for the next programs of the session."""
        if not isinstance(name, str):
            raise ProgramError("TypeError", "save(name, value): the name is text")
        values = self._saved_values()
        text = json.dumps(value) if is_small_value(value) else await background.run("large", json.dumps, value)
        try:
            kept = await done(values, values.save, name, text)
        except SaveError as failure:
            raise ProgramError("RuntimeError", f"save: {failure}") from failure
        if values.has_handles:
            self._note(f'Saved: load("{kept}") in another program returns {name}.')
        return kept

    async def _load(self, name: Any = None, *default: Any, **named: Any) -> Any:
        """Return a value that was saved, else the default."""
        values = self._saved_values()
        defaults = [*default, *named.values()]
        try:
            text = await done(values, values.load, str(name))
            return (
                json.loads(text)
                if len(text) <= MAX_SMALL_CHARACTERS
                else await background.run("large", json.loads, text)
            )
        except KeyError:
            if defaults:
                return defaults[0]
        dropped = "; values were lost, since other sessions needed the memory" if values.was_dropped else ""
        names = await done(values, values.names)
        known = f"; saved: {', '.join(names)}" if names else ""
        known = "; without a session, load the name that save returned" if values.has_handles else known
        raise ProgramError("KeyError", f"nothing is saved under {str(name)[:_MAX_NAME_LENGTH]}{known}{dropped}")

    def _saved_values(self) -> SavedValues:
        """Return the values of the session whose program this is."""
        state_of = SESSION_STATE.get()
        if state_of is None:
            return self.saved
        state = state_of()
        owner = "" if state.is_session else subject()
        key = _STATE if state.is_session else f"{_STATE} of {owner or CALLER.get().address}"
        while key not in state.values and len(state.values) >= MAX_CLIENTS:
            del state.values[next(iter(state.values))]
        if key not in state.values:
            digest = hashlib.sha256(key.encode()).hexdigest()[:32]
            file = state.file and state.file.with_name(f"{state.file.name}-{digest}")
            state.values[key] = SavedValues(has_handles=not (state.is_session or owner), file=file)
        values: SavedValues = state.values[key]
        return values

    def _resolve_call_tool(
        self, positional: list[Any], keywords: dict[str, Any]
    ) -> tuple[str, list[Any], dict[str, Any]]:
        """Return the function name and the arguments of the tool that `call_tool` names, in a dict or as keywords."""
        parameters = dict(zip(("name", "arguments"), positional, strict=False)) | keywords
        name = str(parameters.pop("name", None))
        arguments = parameters.pop("arguments", None)
        return self.names.get(name, name), [arguments or {}], parameters

    def _arguments(self, name: str, positional: list[Any], keywords: dict[str, Any]) -> dict[str, Any]:
        if len(positional) > 1 or not all(isinstance(value, dict) for value in positional):
            properties = self.functions[name].input_schema.get("properties", {}) if name in self.functions else {}
            names = ", ".join(properties)
            raise ProgramError("TypeError", f"{name}() takes keyword arguments, or one dict of them: {names}")
        return {key: value for values in (*positional, keywords) for key, value in values.items()}


class _WorkflowCalls(NamedTuple):
    """The calls of a workflow within a program, which count and are listed as the program's own (a CallByName)."""

    program: ProgramCalls
    call: CallByName

    @property
    def events(self) -> CallEvents:
        """The receiver of what happens meanwhile."""
        return self.call.events

    @property
    def sanitizer(self) -> Sanitizer:
        """Remover of the secrets of these calls."""
        return self.call.sanitizer

    @property
    def asks(self) -> bool:
        """True if users are asked before calls that need their consent."""
        return self.call.asks

    def using(self, events: CallEvents, api: str = "") -> "_WorkflowCalls":
        """Return the same with other events; with `api` for the tools of another API. Raises KeyError."""
        return self._replace(call=self.call.using(events, api))

    async def __call__(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        /,
        *,
        max_result_bytes: int | None = None,
        on_sent: Callable[[int], None] | None = None,
    ) -> CallToolResult:
        """Return the result of a call. Raises ProgramError for one more than a program may make."""
        self.program.check_calls()
        note = Call(tool, shorten(arguments))

        def sent(status: int) -> None:
            self.program.note_sent(note, status)
            if on_sent is not None:
                on_sent(status)

        return await self.call(tool, arguments, max_result_bytes=max_result_bytes, on_sent=sent)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or type(value) is int


def function_value(tool: Tool, result: CallToolResult) -> tuple[Any, list[str]]:
    """Return the value of a function for its tool's result, and the result's notes, for example that it was cut.

    A result that was cut, or whose request deviated from the document, begins with a note. The structured content of an
    answer that is not JSON may be empty.
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


def _text(content: Iterable[JsonObject]) -> str:
    return "\n".join(block["text"] for block in content if block["type"] == "text")
