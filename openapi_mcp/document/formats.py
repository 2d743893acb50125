"""Name descriptions of APIs that are no OpenAPI document, so that the error says what a file is and what to do.

A format is recognised by the keys of a JSON or YAML mapping, or by the beginning of a text.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ..errors import DocumentError

CONVERT: Final = "export it as OpenAPI from the tool that made it, or convert it"


class Format(NamedTuple):
    """The name of a format with its article, and what helps."""

    name: str
    cure: str = CONVERT

    def error(self) -> DocumentError:
        """Return the error that a file of this format is refused with."""
        return DocumentError(f"this is {self.name}, not an OpenAPI document", hint=self.cure)


def _has(*keys: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda root: any(key in root for key in keys)


def _is_postman(root: Mapping[str, Any]) -> bool:
    info = root.get("info", root)
    return isinstance(info, Mapping) and ("_postman_id" in info or "getpostman.com" in str(info.get("schema", "")))


def _is_har(root: Mapping[str, Any]) -> bool:
    return isinstance(root.get("log"), Mapping) and "entries" in root["log"]


def _is_introspection(root: Mapping[str, Any]) -> bool:
    data = root.get("data", root)
    return isinstance(data, Mapping) and "__schema" in data


_GRAPHQL: Final = Format("a GraphQL schema", "a GraphQL API has no operations that a bridge of OpenAPI could offer")

_OF_MAPPINGS: Final[tuple[tuple[Callable[[Mapping[str, Any]], bool], Format], ...]] = (
    (_has("asyncapi"), Format("an AsyncAPI document", "it describes messages; OpenAPI describes the HTTP API")),
    (_has("arazzo"), Format("an Arazzo document", "give it with --workflow, beside the OpenAPI document")),
    (_has("overlay"), Format("an OpenAPI Overlay", "give it with --overlay, beside the OpenAPI document")),
    (_has("swaggerVersion"), Format("a Swagger 1.x document", "convert it to Swagger 2.0 or OpenAPI 3")),
    (_is_postman, Format("a Postman collection", "convert it, for example with `npx postman-to-openapi`")),
    (_is_har, Format("a HAR file", "it records traffic; OpenAPI describes the API")),
    (_is_introspection, _GRAPHQL),
    (
        lambda root: root.get("kind") == "discovery#restDescription",
        Format("a Google API discovery document", "convert it, for example with `npx google-discovery-to-swagger`"),
    ),
    (lambda root: root.get("_type") == "export", Format("an Insomnia export")),
    (_has("raml"), Format("a RAML document")),
    (_has("$schema"), Format("a JSON Schema", "an OpenAPI document has `paths` that use it")),
)

_OF_TEXTS: Final[tuple[tuple[re.Pattern[str], Format], ...]] = (
    (re.compile(r"\s*#%RAML"), Format("a RAML document")),
    (re.compile(r"\s*FORMAT:\s*\w+"), Format("an API Blueprint")),
    (
        re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?><!--.*?-->\s*)*+<(?:\w+:)?definitions\b", re.DOTALL),
        Format("a WSDL file"),
    ),
    (re.compile(r"\s*(?:<\?xml[^>]*>\s*)?<(?:\w+:)?Edmx\b", re.IGNORECASE), Format("an OData metadata document")),
    (re.compile(r"\s*(?:<\?xml[^>]*>\s*)?<(?:\w+:)?application\b"), Format("a WADL file")),
    (
        re.compile(r"\s*(?><!--.*?-->\s*)*+(?:<!doctype html|<html\b)", re.DOTALL | re.IGNORECASE),
        Format("a web page", "give the address of the document itself"),
    ),
    (re.compile(r"\s*<"), Format("XML")),
    (
        re.compile(
            r"(?>\s*(?>#[^\n]*|\"\"\".*?\"\"\"))*+"
            r"\s*(?:schema|(?:extend )?type|interface|enum|scalar|directive)\b[^\n:]*[{@]",
            re.DOTALL,
        ),
        _GRAPHQL,
    ),
    (re.compile(r"(?:\s*//[^\n]*)*\s*syntax\s*=\s*[\"']proto[23]"), Format("a Protocol Buffers file")),
)

_MAX_START: Final = 4096
"""Characters of a text that are looked at: the beginning tells every one of these formats."""


def format_of_mapping(root: Mapping[str, Any]) -> Format | None:
    """Return the format that the keys of a mapping are known for, or None."""
    return next((found for is_one, found in _OF_MAPPINGS if is_one(root)), None)


def format_of_text(text: str) -> Format | None:
    """Return the format that a text which is no mapping begins like, or None."""
    start = text[:_MAX_START]
    return next((found for pattern, found in _OF_TEXTS if pattern.match(start)), None)
