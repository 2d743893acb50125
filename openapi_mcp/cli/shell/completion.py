"""Completion in a shell of the names of tools, of their arguments and of values, from the tools that a command kept.

A shell waits for the answer at each press of a key: no document is read, compiled or fetched, no plugin is loaded, and
whatever goes wrong is no completion.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import typer

from ... import plain_text
from ...errors import BridgeError
from ...runtime.tool import Tool
from ...runtime.types import JsonObject
from ...settings.file import find_file, is_document, read_file
from ..report import printable

MAX_COMPLETIONS: Final = 200
"""Words that are offered at once: more fill the screen and tell nothing."""

MAX_NODES: Final = 50
"""Schemas of one property that are read: a list, its items, their alternatives."""

MAX_PURPOSE: Final = 60
"""Characters about an argument: the list stays one line for each."""


def tool_names(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the tools whose names begin with the word, each with its request; none where no tools are kept."""
    with suppress(BridgeError, OSError, ValueError, KeyError, TypeError):
        if _is_of_settings(ctx.params):
            return arguments(ctx, incomplete) if "arguments" in ctx.params else []
        found = [tool for tool in _kept_tools(ctx.params) if tool.name.startswith(incomplete)]
        return [(tool.name, printable(f"{tool.method} {tool.path}")) for tool in found[:MAX_COMPLETIONS]]
    return []


def documents(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return what the settings file lets stand in the place of a document: its APIs, or the tools of its document."""
    with suppress(BridgeError, OSError, ValueError, KeyError, TypeError):
        file = ctx.params.get("config") or find_file(Path())
        if file is None:
            return []
        if apis := read_file(file).apis:
            return [(name, "") for name in apis if name.startswith(incomplete)]
        if "tool" in {parameter.name for parameter in ctx.command.params}:
            return tool_names(ctx, incomplete)
    return []


def arguments(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the arguments KEY=VALUE that the word may become: names, each with what it is for, and known values."""
    with suppress(BridgeError, OSError, ValueError, LookupError, TypeError, AttributeError):
        parameters = dict(ctx.params)
        words = list(parameters.pop("arguments", None) or ())
        if _is_of_settings(parameters):  # which name the document, and so SPEC is the tool
            words = [word for word in (parameters.get("tool"), *words) if word]
            parameters["tool"] = parameters.pop("spec")
        tools = {tool.name: tool for tool in _kept_tools(parameters)}
        found = list(_matches(tools[parameters["tool"]].input_schema, words, incomplete))
        return [each for each in found if _is_word(each[0])][:MAX_COMPLETIONS]
    return []


def _matches(schema: JsonObject, words: list[str], incomplete: str) -> Iterator[tuple[str, str]]:
    """Yield the words that begin with the incomplete one.

    bash hands over `=` as a word of its own, which is left out if it is the last one (by click).
    """
    properties = schema["properties"]
    before = words[:-1] if words[-1:] == ["="] else words
    if before != words or (not incomplete and before[-1:] and before[-1] in properties and before[-2:-1] != ["="]):
        values = _values(schema, properties[before[-1]])
        yield from ((text, "") for text in values if text.startswith(incomplete))
        return
    name, equals, value = incomplete.partition("=")
    if equals:
        yield from ((f"{name}={text}", "") for text in _values(schema, properties[name]) if text.startswith(value))
        return
    given = {word.partition("=")[0] for word in words}
    names = [each for each in properties if each.startswith(name) and each not in given]
    values = _values(schema, properties[names[0]]) if len(names) == 1 else []
    yield from ((f"{names[0]}={text}", "") for text in values)
    if not values:
        required = schema.get("required", ())
        yield from ((f"{each}=", _purpose(properties[each], is_required=each in required)) for each in names)


def _values(schema: JsonObject, node: JsonObject) -> list[str]:
    """Return the values that a property may have, as they are written; none where there are too many to know."""
    waiting, values = [node], list[Any]()
    for _ in range(MAX_NODES):
        if not waiting:
            break
        each = waiting.pop(0)
        if isinstance(each.get("$ref"), str):
            waiting.append(schema["$defs"][each["$ref"].removeprefix("#/$defs/")])
        waiting += [*each.get("anyOf", ()), *each.get("oneOf", ()), *([each["items"]] if "items" in each else ())]
        values += each.get("enum") or ([each["const"]] if "const" in each else [])
        values += [True, False] if each.get("type") == "boolean" else []
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values if value is not None]
    return list(dict.fromkeys(texts))


def _purpose(node: JsonObject, *, is_required: bool) -> str:
    text = plain_text.line(str(node.get("description", "")), MAX_PURPOSE)
    return printable(" ".join(filter(None, ["required" if is_required else "", text])))


def _is_word(text: str) -> bool:
    """Return whether a shell takes a text as one word, and a terminal shows it as it is."""
    return text.isprintable() and printable(text) == text and not set(text) & set(" \"'`$\\;&|<>(){}*?!#~")


def _is_of_settings(parameters: dict[str, Any]) -> bool:
    """Return whether the first word is neither a document nor an API of the settings file."""
    spec = parameters.get("spec")
    file = parameters.get("config") or find_file(Path())
    return spec is not None and file is not None and not is_document(spec) and spec not in read_file(file).apis


def _kept_tools(parameters: dict[str, Any]) -> tuple[Tool, ...]:
    """Return the tools of a document with some options, as a command kept them; none where it kept none."""
    from ...bridge import Bridge
    from ...cache.compilations import CompilationCache
    from ...cache.files import Cache, folder
    from ...config import Config
    from ..settings import Settings

    used = {name: value for name, value in parameters.items() if value not in (None, False, [], ())}
    spec, file = used.pop("spec", None), used.pop("config", None)
    settings = Settings.find(spec, used, file)
    options = settings.options()
    source = settings.source or options["spec"]
    config = Config.from_options(source, options)
    kept = CompilationCache(Cache(folder()), config.source, config.compile_options).kept()
    return () if kept is None else Bridge(config, *kept).tools
