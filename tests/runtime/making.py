"""Tools made by hand, as the compile side makes them from a document, for tests of the runtime."""

from collections.abc import Mapping
from typing import Any, cast

import httpx

from openapi_mcp.runtime.request.build import RequestOptions, build_request
from openapi_mcp.runtime.tool import Argument, Encoding, Location, MediaType, RequestBody, Style, Tool
from openapi_mcp.runtime.types import Schema

ANYTHING: Schema = {"type": "object"}
BODY = Argument(name="body", location="body")
CHOICE = Argument(name="content_type", location="media_type")
_STYLES: dict[str, Style] = {"path": "simple", "header": "simple", "query": "form", "cookie": "form"}


def tool(path: str = "/x", *arguments: Argument, method: str = "GET", **more: Any) -> Tool:
    """Return a tool that accepts anything; `more` sets its other fields."""
    described = {
        "name": "x",
        "description": "",
        "input_schema": ANYTHING,
        "annotations": {},
        "base_url": "http://api.test",
    }
    return Tool(method=method, path=path, arguments=arguments, **cast("dict[str, Any]", described | more))


def with_body(*media_types: MediaType | str, required: bool = False, arguments: tuple[Argument, ...] = (BODY,)) -> Tool:
    """Return a POST with a body, by default one argument `body`."""
    media = tuple(MediaType(content_type=entry) if isinstance(entry, str) else entry for entry in media_types)
    return tool("/x", *arguments, method="POST", body=RequestBody(media_types=media, required=required))


def form(content_type: str = "application/x-www-form-urlencoded", **encoding: Encoding) -> MediaType:
    """Return a form or multipart media type with an Encoding for each property."""
    return MediaType(content_type=content_type, encoding=encoding)


def parameter(declared: Mapping[str, Any]) -> Argument:
    """Return a Parameter Object's Argument with the specification's defaults; it is named `in.name`."""
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


def request(called: Tool, _options: RequestOptions | None = None, /, **arguments: Any) -> httpx.Request:
    """Return the request of a call."""
    return build_request(called, arguments, _options or RequestOptions())
