"""Tools made by hand, as the compile side makes them from a document, for tests of what the runtime does with them."""

from collections.abc import Mapping
from typing import Any, cast

import httpx

from openapi_mcp.runtime.models import Argument, Encoding, Location, MediaType, RequestBody, Style, Tool
from openapi_mcp.runtime.requests import RequestOptions, build_request
from openapi_mcp.runtime.types import Schema

ANYTHING: Schema = {"type": "object"}
BODY = Argument(name="body", location="body")
CHOICE = Argument(name="content_type", location="media_type")
_STYLES: dict[str, Style] = {"path": "simple", "header": "simple", "query": "form", "cookie": "form"}


def tool(path: str = "/x", *arguments: Argument, method: str = "GET", **more: Any) -> Tool:
    """A tool that accepts anything, unless told otherwise."""
    described = {
        "name": "x",
        "description": "",
        "input_schema": ANYTHING,
        "annotations": {},
        "base_url": "http://api.test",
    }
    return Tool(method=method, path=path, arguments=arguments, **cast("dict[str, Any]", described | more))


def with_body(*media_types: MediaType | str, required: bool = False, arguments: tuple[Argument, ...] = (BODY,)) -> Tool:
    """A POST with a body, by default one argument `body`."""
    media = tuple(MediaType(content_type=entry) if isinstance(entry, str) else entry for entry in media_types)
    return tool("/x", *arguments, method="POST", body=RequestBody(media_types=media, required=required))


def form(content_type: str = "application/x-www-form-urlencoded", **encoding: Encoding) -> MediaType:
    """A form or multipart media type with an Encoding for each property."""
    return MediaType(content_type=content_type, encoding=encoding)


def parameter(declared: Mapping[str, Any]) -> Argument:
    """A Parameter Object with the specification's defaults applied; its argument is named `in.name`."""
    location = cast("Location", declared["in"])
    style = declared.get("style", _STYLES.get(location, "form"))
    return Argument(
        name=f"{location}.{declared['name']}",
        wire_name=declared["name"],
        location=location,
        style=style,
        explode=declared.get("explode", style in {"form", "cookie"}),
        allow_reserved=declared.get("allowReserved", False),
        content_type=next(iter(declared.get("content", {})), None),
    )


def request(made: Tool, _options: RequestOptions | None = None, /, **arguments: Any) -> httpx.Request:
    """The request for a call."""
    return build_request(made, arguments, _options or RequestOptions())
