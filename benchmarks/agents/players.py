"""Players: the ways in which a task is carried out: plain HTTP requests, tools, searched tools, programs."""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

import httpx

from .apis import KEY, Api
from .client import McpSession
from .costs import Cost, tokens_of_call, tokens_of_result
from .task import Task, run

Request: TypeAlias = tuple[str, dict[str, Any]]
"""A call of a server's tool: its name and arguments."""


def _describe_each(names: Sequence[str]) -> list[Request]:
    return [("describe_tool", {"name": name}) for name in names]


@dataclass(frozen=True, slots=True)
class Discovery:
    """The tools that find others: the name of the search, and ways to describe tools, the shortest first."""

    search: str = "search_tools"
    describe: tuple[Callable[[Sequence[str]], list[Request]], ...] = (_describe_each,)


class PlayError(Exception):
    """A task could not be carried out."""


@dataclass(frozen=True)
class Played:
    """The answer of a task, its cost, and the operations that it called.

    `calls` has each with the names of the arguments that it gave, and of the properties of objects in them.
    """

    answer: Any
    cost: Cost = field(default_factory=Cost)
    calls: tuple[tuple[str, frozenset[str]], ...] = ()


class Player(Protocol):
    """A way to carry out tasks."""

    def play(self, task: Task, gold: Played) -> Played:
        """Carry out a task. `gold` has its calls. Raises PlayError."""
        ...


Call = Callable[[str, dict[str, Any]], Any]
"""Calls an operation by its id, with its arguments; raises RuntimeError for an error of the API."""


def _functions(names: Mapping[str, Any], call: Call) -> dict[str, Callable[..., Any]]:
    """Return a function for each operation, which takes keywords, or a dict of them."""

    def function(name: str, arguments: Mapping[str, Any] = {}, /, **more: Any) -> Any:
        return call(name, {**arguments, **more})

    return {name: partial(function, name) for name in names}


class Http:
    """Plain HTTP requests, made from the document without this project: the gold."""

    def __init__(self, api: Api, client: httpx.Client) -> None:
        self._api, self._client, self._operations = api, client, api.operations()

    def play(self, task: Task) -> Played:
        """Carry out a task."""
        calls: list[tuple[str, frozenset[str]]] = []

        def call(name: str, arguments: dict[str, Any]) -> Any:
            calls.append((name, frozenset(_property_names(arguments))))
            return self._call(self._operations[name], dict(arguments))

        return Played(run(task.program, _functions(self._operations, call)), calls=tuple(calls))

    def _call(self, operation: dict[str, Any], arguments: dict[str, Any]) -> Any:
        places: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {"X-API-Key": KEY}}
        for parameter in operation["parameters"]:
            if parameter["name"] in arguments:
                places[parameter["in"]][parameter["name"]] = arguments.pop(parameter["name"])
        url = self._api.url + operation["path"].format(**places["path"])
        body = self._body(operation, arguments)
        answer = self._client.request(
            operation["method"], url, params=places["query"], headers=places["header"], **body
        )
        if answer.is_error:
            raise RuntimeError(f"{answer.status_code}: {answer.text}")
        return answer.json() if answer.content and "json" in answer.headers.get("content-type", "") else answer.text

    @staticmethod
    def _body(operation: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of httpx for a body."""
        [media_type] = operation.get("requestBody", {}).get("content", {"application/json": {}})
        if media_type == "multipart/form-data":
            return {"files": {name: base64.b64decode(value) for name, value in arguments.items()}}
        if media_type == "application/x-www-form-urlencoded":
            return {"data": arguments}
        if media_type.startswith("image/"):
            return {"content": base64.b64decode(arguments["body"])}
        return {"json": arguments} if "requestBody" in operation else {}


class Listed:
    """Calls of listed tools. `names` are the server's names of the operations."""

    def __init__(self, session: McpSession, names: Mapping[str, str]) -> None:
        self._session, self._names = session, names

    def play(self, task: Task, gold: Played) -> Played:
        """Carry out a task."""
        cost = self._find(task, gold)

        def call(name: str, arguments: dict[str, Any]) -> Any:
            tool, given = self._tool_call(self._names[name], arguments)
            cost.calls += tokens_of_call(tool, given)
            cost.turns += 1
            result = self._session.call(tool, given)
            cost.answers += tokens_of_result(result)
            return value_of(result)

        return Played(run(task.program, _functions(self._names, call)), cost)

    def _find(self, _: Task, __: Played) -> Cost:
        return Cost()

    def _tool_call(self, name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return name, arguments


class Searched(Listed):
    """Searches, descriptions of tools that a search shows without their arguments, and calls with `call_tool`."""

    def __init__(self, session: McpSession, names: Mapping[str, str], discovery: Discovery) -> None:
        super().__init__(session, names)
        self._discovery = discovery

    def _find(self, task: Task, gold: Played) -> Cost:
        return find(self._session, task, needed(gold, self._names), self._discovery)

    def _tool_call(self, name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return "call_tool", {"name": name, "arguments": arguments}


class Programmed:
    """Searches, descriptions of functions that a search shows without their arguments, and one program.

    `tool` runs programs; `written` returns a task's program in the form that it takes.
    """

    def __init__(
        self,
        session: McpSession,
        names: Mapping[str, str],
        discovery: Discovery,
        *,
        tool: str = "run_code",
        written: Callable[[Task], str] = lambda task: task.code,
    ) -> None:
        self._session, self._names, self._discovery = session, names, discovery
        self._tool, self._written = tool, written

    def play(self, task: Task, gold: Played) -> Played:
        """Carry out a task."""
        cost = find(self._session, task, needed(gold, self._names), self._discovery)
        code = {"code": self._written(task)}
        result = self._session.call(self._tool, code)
        cost.calls += tokens_of_call(self._tool, code)
        cost.turns += 1
        cost.answers += tokens_of_result(result)
        return Played(value_of(result), cost)


def value_of(result: dict[str, Any]) -> Any:
    """Return what a result says: the first text that is JSON, else the first text. Raises RuntimeError for an error.

    Values that are not objects, FastMCP puts into one with the property `result`.
    """
    texts = [block["text"] for block in result["content"] if block["type"] == "text"]
    if result.get("isError"):
        raise RuntimeError("\n".join(texts))
    for text in texts:
        try:
            value = json.loads(text)
        except ValueError:
            continue
        return value["result"] if isinstance(value, dict) and value.keys() == {"result"} else value
    return texts[0] if texts else None


def needed(gold: Played, names: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Return the tools that a task calls, each with all names of arguments and properties that are given to it."""
    found: dict[str, frozenset[str]] = {}
    for name, arguments in gold.calls:
        found[names[name]] = found.get(names[name], frozenset()) | arguments
    return found


def find(session: McpSession, task: Task, tools: Mapping[str, frozenset[str]], discovery: Discovery) -> Cost:
    """Search as the task says, and describe the needed tools of which no answer shows all that they are given.

    Raises PlayError if no answer names a needed tool, or no description shows what it is given.
    """
    cost, answers = Cost(), []
    for query in task.searches:
        text, tokens = _ask(session, discovery.search, {"query": query})
        answers.append(text)
        cost += Cost(searches=tokens, turns=1)
    unknown = {}
    for name, given in tools.items():
        if not any(_names(answer, name) for answer in answers):
            raise PlayError(f"no search shows {name}: {' | '.join(task.searches)}")
        if not any(_shows(answer, name, given) for answer in answers):
            unknown[name] = given
    return cost + _describe(session, unknown, discovery)


def _describe(session: McpSession, unknown: dict[str, frozenset[str]], discovery: Discovery) -> Cost:
    """Describe tools until all that they are given is shown."""
    cost = Cost()
    for way in discovery.describe:
        texts = []
        for tool, arguments in way(list(unknown)) if unknown else ():
            text, tokens = _ask(session, tool, arguments)
            cost += Cost(describes=tokens, turns=1)
            texts.append(text)
        shown = "\n".join(texts)
        unknown = {name: given for name, given in unknown.items() if not all(_names(shown, each) for each in given)}
    if unknown:
        raise PlayError(f"no description shows all names that are given to {', '.join(unknown)}")
    return cost


def _ask(session: McpSession, tool: str, arguments: dict[str, Any]) -> tuple[str, int]:
    """Return the text of a result, and the tokens of the call and the result."""
    result = session.call(tool, arguments)
    text = "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
    return text, tokens_of_call(tool, arguments) + tokens_of_result(result)


def _property_names(value: Any) -> Iterator[str]:
    """Yield the names of the properties of objects in a value."""
    if isinstance(value, dict):
        yield from value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _property_names(part)


_NEXT_HIT: Final = re.compile(r"\n(?=\d+\. )")
_CLASS: Final = re.compile(r"^class (\w+):.*(?:\n  .*)*", re.MULTILINE)
_HEAD_LINES: Final = 2
"""Lines of a hit that may name its tool; below them stand tools that find its arguments."""


def _shows(answer: str, name: str, given: frozenset[str]) -> bool:
    """Return whether a hit of an answer is a tool, and has all names that are given to it.

    To a hit belong the classes that it refers to, wherever in the answer they are defined.
    """
    classes = {found[1]: found[0] for found in _CLASS.finditer(answer)}
    hits = _NEXT_HIT.split(answer)
    return any(
        all(_names(text, each) for each in given)
        for hit in hits
        if any(_names(line, name) for line in hit.split("\n")[:_HEAD_LINES])
        for text in [_with_classes(hit, classes)]
    )


def _with_classes(text: str, classes: dict[str, str]) -> str:
    """Return a text and the classes that it refers to, directly or through others."""
    rest = dict(classes)
    while found := [name for name in rest if _names(text, name)]:
        text = "\n".join([text, *(rest.pop(name) for name in found)])
    return text


def _names(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None
