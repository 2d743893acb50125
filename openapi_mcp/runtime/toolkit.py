"""The public names of the runtime: all that a generated package imports, re-exported from their modules."""

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
from .protocol import ServerDescription
from .request.build import RequestOptions
from .request.credentials import credential_lines, credential_sources, read_credentials, read_variables
from .serve import serve_http, serve_stdio
from .server.catalog import Catalog
from .server.functions import Api, Result, ToolFunction
from .server.server import Server
from .tool import Argument, Encoding, MediaType, Preset, RequestBody, SecurityScheme, Tool, XmlDocument, XmlNode
from .types import CallToolResult, Implementation, Schema, text_content
from .upstream.client import Upstream
from .upstream.retries import Retries

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
    "Preset",
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
    "credential_lines",
    "credential_sources",
    "header",
    "media_type",
    "path",
    "query",
    "querystring",
    "read_credentials",
    "read_schemas",
    "read_variables",
    "serve_http",
    "serve_stdio",
    "text_content",
    "whole_body",
]
