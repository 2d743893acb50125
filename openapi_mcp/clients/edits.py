"""A text of settings with an entry added or removed. What is made is read again and compared with what was there."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol

from ..errors import UsageError
from . import json_text, toml_text, yaml_text
from .server import MODULE, InstalledServer
from .table import Client, Entry

INPUTS: Final = ("inputs",)
"""Key under which VS Code keeps the values that it asks its user for."""

_URLS: Final = ("url", "serverUrl", "httpUrl", "uri")


class Texts(Protocol):
    """The edits of one format."""

    def parsed(self, text: str) -> Any:
        """Return the value of a text; None of an empty one. Raises ValueError."""

    def put(self, text: str, path: Sequence[str], key: str, value: Any) -> str:
        """Return the text with another member."""

    def removals(self, text: str, path: Sequence[str], key: Any) -> Iterator[str]:
        """Yield the texts without a member."""


FORMATS: Final[dict[str, Texts]] = {"json": json_text, "toml": toml_text, "yaml": yaml_text}


class Uneditable(UsageError):
    """A text of settings that cannot be changed: it is not of its format, or has another structure than expected."""


def servers_in(text: str, client: Client) -> dict[str, Any]:
    """Return the entries of all servers by name. Raises Uneditable."""
    try:
        value = FORMATS[client.format].parsed(text.removeprefix("\ufeff"))
    except ValueError as error:
        message = f"the settings file of {client.title} is not {client.format.upper()}: {error}"
        raise Uneditable(message, hint="correct the file, or add what --print shows by hand") from None
    for place, key in enumerate(("", *client.path)):
        value = value if not key or value is None else value.get(key)
        if value is not None and not isinstance(value, dict):
            where = f"`{'.'.join(client.path[:place])}`" if key else "the root"
            hint = "correct the file, or add what --print shows by hand"
            raise Uneditable(f"{where} of the settings file of {client.title} is not an object", hint=hint)
    return value or {}


def is_ours(entry: Any, url: str = "") -> bool:
    """Return whether this program wrote an entry: one that runs it, or that has the `url`."""
    if not isinstance(entry, dict):
        return False
    args = entry.get("args")
    runs = isinstance(args, list) and args[:3] == ["-m", MODULE, "serve"]
    return runs or bool(url and any(entry.get(key) == url for key in _URLS))


def source_of(entry: Any) -> str:
    """Return the document of an entry of ours, or the settings file that names it; empty where it has none."""
    words = [str(word) for word in entry["args"][3:]] if is_ours(entry) else []
    return words[1] if len(words) > 1 and words[0] == "--config" else words[0] if words else ""


def added(text: str, client: Client, server: InstalledServer) -> str:
    """Return the text with the entry of a server, which replaces one of its name. Raises Uneditable."""
    return _put(text, client, server.name, client.entry(server), client.inputs(server))


def without(text: str, client: Client, name: str, original: str | None) -> str | None:
    """Return the text without an entry; None where the file has nothing else and was not there before.

    `original` is the text before the first entry of ours, if it is known: what can be restored to it, is.
    """
    entry = servers_in(text, client)[name]
    inputs = [each for each in _inputs(text, client) if f"${{input:{each.get('id')}}}" in repr(entry)]
    with suppress(Uneditable):
        if _put(original or "", client, name, entry, inputs) == text:
            return original
    candidates = [
        each
        for each in _removals(text, client, name, [str(item.get("id")) for item in inputs])
        if _is_valid(each, client) and _others(each, client, name, inputs) == _others(text, client, name, inputs)
    ]
    if not candidates:
        raise Uneditable(f"the entry `{name}` cannot be removed safely", hint="remove it by hand")
    if original in candidates:
        return original
    empty = next((each for each in candidates if not FORMATS[client.format].parsed(each)), None)
    if empty is not None and not (original or "").strip():
        return original
    return min(candidates, key=lambda each: _difference(each, original, client))


def _is_valid(text: str, client: Client) -> bool:
    try:
        servers_in(text, client)
    except Uneditable:
        return False
    return True


def _difference(text: str, original: str | None, client: Client) -> int:
    """Return in how many ways a text ends or groups its values otherwise than the original does."""
    if original is None:
        return 0
    keys = [set(FORMATS[client.format].parsed(each.removeprefix("\ufeff")) or {}) for each in (text, original)]
    return len((keys[0] ^ keys[1]) & {*client.path, *INPUTS}) + (text[-1:] != original[-1:])


def _put(text: str, client: Client, name: str, entry: Entry, inputs: Sequence[Entry]) -> str:
    """Return the text with an entry and its inputs. Raises Uneditable, also where anything else would change."""
    texts = FORMATS[client.format]
    result = text
    if name in servers_in(text, client):
        removed = (each for each in texts.removals(text, client.path, name) if _is_valid(each, client))
        result = next(iter(removed), text)
    known = [each.get("id") for each in _inputs(text, client)]
    try:
        result = texts.put(result, client.path, name, entry)
        for each in inputs:
            result = result if each["id"] in known else texts.put(result, INPUTS, "", each)
        asked = [each.get("id") for each in _inputs(result, client)]
        is_right = servers_in(result, client).get(name) == entry and all(each["id"] in asked for each in inputs)
    except (ValueError, IndexError, Uneditable):
        is_right = False
    if not is_right or _others(result, client, name, inputs) != _others(text, client, name, inputs):
        message = f"the settings file of {client.title} is written in a way that cannot be changed safely"
        raise Uneditable(message, hint="add what --print shows by hand")
    return result


def _inputs(text: str, client: Client) -> list[Entry]:
    """Return the inputs of a text. Raises Uneditable where they are no list."""
    value = (FORMATS[client.format].parsed(text.removeprefix("\ufeff")) or {}) if client.asks else {}
    inputs = value.get(INPUTS[0]) or []
    if not isinstance(inputs, list):
        hint = "correct the file, or add what --print shows by hand"
        raise Uneditable(f"`inputs` of the settings file of {client.title} is not a list", hint=hint)
    return [each for each in inputs if isinstance(each, dict)]


def _removals(text: str, client: Client, name: str, ids: Sequence[str]) -> Iterator[str]:
    for each in FORMATS[client.format].removals(text, client.path, name):
        if _is_valid(each, client):
            yield from _removals_of_inputs(each, ids)


def _removals_of_inputs(text: str, ids: Sequence[str]) -> Iterator[str]:
    if not ids:
        yield text
        return
    items = (json_text.parsed(text) or {}).get(INPUTS[0]) or []
    index = next((place for place, each in enumerate(items) if isinstance(each, dict) and each.get("id") == ids[0]), -1)
    for each in json_text.removals(text, INPUTS, index) if index >= 0 else [text]:
        yield from _removals_of_inputs(each, ids[1:])


def _others(text: str, client: Client, name: str, inputs: Sequence[Entry]) -> str:
    """Return all values of a text but one entry, its inputs, and objects that are empty without them."""
    value = copy.deepcopy(FORMATS[client.format].parsed(text.removeprefix("\ufeff")) or {})
    (key,) = client.path
    servers = value.get(key) or {}
    servers.pop(name, None)
    if not servers:
        value.pop(key, None)
    if client.asks:
        ids = {each["id"] for each in inputs}
        left = [e for e in value.pop(INPUTS[0], None) or [] if not isinstance(e, dict) or e.get("id") not in ids]
        return repr((value, left))
    return repr(value)
