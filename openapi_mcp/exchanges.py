"""httpx's requests and responses as openapi-core reads them: the values of each location, the body, its media type.

Values are what was sent, decoded; nothing is checked here. The names are those of `openapi_core.protocols`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

import httpx

from .runtime import jsontext, media_types

FORM: Final = "application/x-www-form-urlencoded"

Decode = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """A request (openapi_core.protocols.Request). Where it went is not asked: its operation is known."""

    parameters: Any
    content_type: str
    body: bytes | None
    host_url: str = "http://upstream"
    path: str = "/"
    method: str = "get"


@dataclass(frozen=True, slots=True)
class Received:
    """An answer (openapi_core.protocols.Response)."""

    status_code: int
    headers: Mapping[str, str]
    content_type: str
    data: bytes | None


class Values(dict[str, str]):
    """Values by name: of several, the first, and all of them from `getlist`."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._pairs = list(pairs)
        super().__init__(reversed(self._pairs))

    def getlist(self, name: str) -> list[str]:
        """All values of a name, in their order."""
        return [value for key, value in self._pairs if key == name]


def sent(request: httpx.Request, template: str, content_type: str) -> Sent:
    """A request for a path `template`; `content_type` is the one under which the document describes its body."""
    from openapi_core.datatypes import RequestParameters

    query = parse_qsl(request.url.query.decode("ascii"), keep_blank_values=True)
    cookies = (pair.strip().partition("=") for pair in request.headers.get("cookie", "").split(";"))
    values = RequestParameters(
        query=Values(query),
        header=request.headers,
        cookie=Values((unquote(name), unquote(value)) for name, _, value in cookies),
        path=path_values(template, request.url.raw_path.decode("ascii").partition("?")[0]),
    )
    return Sent(values, content_type, request.content or None)


def received(response: httpx.Response, content_type: str) -> Received:
    """An answer; `content_type` is the one under which the document describes its body."""
    return Received(response.status_code, response.headers, content_type, response.content or None)


def path_values(template: str, path: str) -> dict[str, str]:
    """The values of a template's expressions in a path that may stand under another; none where it does not fit.

    Each is there under the names that openapi-core has for it, which are those of RFC 6570's operators.
    """
    pieces = re.split(r"\{([^{}]*)\}", template.partition("#")[0].partition("?")[0])
    literals, names = pieces[::2], pieces[1::2]
    found = re.search("([^/]*)".join(map(re.escape, literals)) + "$", path)
    values = [unquote(value) for value in found.groups()] if found else []
    return {
        f"{before}{name}{after}": value
        for name, value in zip(names, values, strict=False)
        for before, after in (("", ""), (".", ""), (".", "*"), (";", ""), (";", "*"))
    }


def documented(keys: Sequence[str], content_type: str) -> str | None:
    """Under which of a document's media types a content type falls: the most particular, or none."""
    fitting = [key for key in keys if media_types.covers(key, content_type)]
    return min(fitting, key=lambda key: (media_types.is_range(key), media_types.essence(key) == "*/*"), default=None)


def is_readable(content_type: str, key: str) -> bool:
    """Whether openapi-core makes a value of such a body that its schema can judge; a multipart's parts stay text."""
    name = media_types.essence(content_type)
    return media_types.is_json(name) or name == "text/plain" or (name == FORM == media_types.essence(key))


def handed(content_type: str, key: str) -> str:
    """The content type to hand over, so that openapi-core finds `key`; ranges are found by what they include."""
    return media_types.essence(content_type) if media_types.is_range(key) else key


class Decoders:
    """How the bytes of each media type are read (openapi-core's `extra_media_type_deserializers`); it knows forms.

    openapi-core asks by the document's media type; where that is a range, `content_type` says what it really is.
    """

    def __init__(self, content_type: str) -> None:
        self._content_type = content_type

    def __contains__(self, name: str) -> bool:
        return media_types.essence(name) != FORM

    def __getitem__(self, name: str) -> Decode:
        name = self._content_type if media_types.is_range(name) else name
        return _json if media_types.is_json(name) else _text


def _json(data: bytes | str, **_: str) -> Any:
    return jsontext.read(data)


def _text(data: bytes | str, **_: str) -> str:
    return data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")
