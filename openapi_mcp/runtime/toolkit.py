"""What a package with tools of its own is made of: the public face of the runtime, and nothing else.

Specification of each name: where it is defined. A generated package imports all it needs from here, in one line.
"""

from typing import TypeAlias

from .catalog import Catalog
from .declarations import (
    JSON,
    Input,
    Toolbox,
    body,
    cookie,
    header,
    media_type,
    path,
    query,
    querystring,
    read_schemas,
    whole_body,
)
from .errors import ArgumentError, RequestError, RuntimeFailure, UpstreamError
from .functions import Api, ToolFunction
from .models import Argument, Encoding, MediaType, RequestBody, SecurityScheme, Tool, XmlDocument, XmlNode
from .programs import serve_http, serve_stdio
from .protocol import ServerDescription
from .requests import RequestOptions
from .retries import Retries
from .server import Server
from .types import CallToolResult, Implementation, Schema, text_content
from .upstream import Upstream

Result: TypeAlias = CallToolResult

__all__ = [
    "JSON",
    "Api",
    "Argument",
    "ArgumentError",
    "CallToolResult",
    "Catalog",
    "Encoding",
    "Implementation",
    "Input",
    "MediaType",
    "RequestBody",
    "RequestError",
    "RequestOptions",
    "Result",
    "Retries",
    "RuntimeFailure",
    "Schema",
    "SecurityScheme",
    "Server",
    "ServerDescription",
    "Tool",
    "ToolFunction",
    "Toolbox",
    "Upstream",
    "UpstreamError",
    "XmlDocument",
    "XmlNode",
    "body",
    "cookie",
    "header",
    "media_type",
    "path",
    "query",
    "querystring",
    "read_schemas",
    "serve_http",
    "serve_stdio",
    "text_content",
    "whole_body",
]
