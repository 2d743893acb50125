"""Tell the version of OpenAPI, or the other format, that the root of a document is of.

The prefix of a version decides: `3.0.0-RC1`, `3.0.1-5` and the number 3.1 are read as 3.0, 3.0 and 3.1. A document of
another format or of an unknown major version is refused at once, since all later errors would be misleading; the error
says what it is and what to do. A format is recognised by the keys of a mapping, or by the beginning of a text.

Specification: OpenAPI 3.2 section 4.1.1.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ..errors import DocumentError, Problem

CONVERT: Final = "export it as OpenAPI from the tool that made it, or convert it"


class ForeignFormat(NamedTuple):
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


_GRAPHQL: Final = ForeignFormat("a GraphQL schema", "a GraphQL API has no OpenAPI operations")

_OF_MAPPINGS: Final[tuple[tuple[Callable[[Mapping[str, Any]], bool], ForeignFormat], ...]] = (
    (_has("asyncapi"), ForeignFormat("an AsyncAPI document", "it describes messages; OpenAPI describes the HTTP API")),
    (_has("arazzo"), ForeignFormat("an Arazzo document", "give it with --workflow, beside the OpenAPI document")),
    (_has("overlay"), ForeignFormat("an OpenAPI Overlay", "give it with --overlay, beside the OpenAPI document")),
    (_has("swaggerVersion"), ForeignFormat("a Swagger 1.x document", "convert it to Swagger 2.0 or OpenAPI 3")),
    (_is_postman, ForeignFormat("a Postman collection", "convert it, for example with `npx postman-to-openapi`")),
    (_is_har, ForeignFormat("a HAR file", "it records traffic; OpenAPI describes the API")),
    (_is_introspection, _GRAPHQL),
    (
        lambda root: root.get("kind") == "discovery#restDescription",
        ForeignFormat(
            "a Google API discovery document", "convert it, for example with `npx google-discovery-to-swagger`"
        ),
    ),
    (lambda root: root.get("_type") == "export", ForeignFormat("an Insomnia export")),
    (_has("raml"), ForeignFormat("a RAML document")),
    (_has("$schema"), ForeignFormat("a JSON Schema", "an OpenAPI document has `paths` that use it")),
)

_OF_TEXTS: Final[tuple[tuple[re.Pattern[str], ForeignFormat], ...]] = (
    (re.compile(r"\s*#%RAML"), ForeignFormat("a RAML document")),
    (re.compile(r"\s*FORMAT:\s*\w+"), ForeignFormat("an API Blueprint")),
    (
        re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?><!--.*?-->\s*)*+<(?:\w+:)?definitions\b", re.DOTALL),
        ForeignFormat("a WSDL file"),
    ),
    (
        re.compile(r"\s*(?:<\?xml[^>]*>\s*)?<(?:\w+:)?Edmx\b", re.IGNORECASE),
        ForeignFormat("an OData metadata document"),
    ),
    (re.compile(r"\s*(?:<\?xml[^>]*>\s*)?<(?:\w+:)?application\b"), ForeignFormat("a WADL file")),
    (
        re.compile(r"\s*(?><!--.*?-->\s*)*+(?:<!doctype html|<html\b)", re.DOTALL | re.IGNORECASE),
        ForeignFormat("a web page", "give the address of the document itself"),
    ),
    (re.compile(r"\s*<"), ForeignFormat("XML")),
    (
        re.compile(
            r"(?>\s*(?>#[^\n]*|\"\"\".*?\"\"\"))*+"
            r"\s*(?:schema|(?:extend )?type|interface|enum|scalar|directive)\b[^\n:]*[{@]",
            re.DOTALL,
        ),
        _GRAPHQL,
    ),
    (re.compile(r"(?:\s*//[^\n]*)*\s*syntax\s*=\s*[\"']proto[23]"), ForeignFormat("a Protocol Buffers file")),
)

_MAX_START: Final = 4096
"""Characters of a text that are looked at: the beginning tells every one of these formats."""


def format_of_mapping(root: Mapping[str, Any]) -> ForeignFormat | None:
    """Return the format that the keys of a mapping are known for, or None."""
    return next((found for is_one, found in _OF_MAPPINGS if is_one(root)), None)


def format_of_text(text: str) -> ForeignFormat | None:
    """Return the format that a text which is no mapping begins like, or None."""
    start = text[:_MAX_START]
    return next((found for pattern, found in _OF_TEXTS if pattern.match(start)), None)


VERSIONS: Final = ("2.0", "3.0", "3.1", "3.2")
_OPENAPI_3: Final = re.compile(r"\s*3(?:\.(\d+))?(?!\d)")
_VERSION_HINT: Final = 'it must have `openapi: 3.x` or `swagger: "2.0"` at the top level'


def version_of(root: Any) -> tuple[str, tuple[Problem, ...]]:
    """Return one of `VERSIONS`, and a Problem if the document's own text is another. Raises DocumentError."""
    if not isinstance(root, dict):
        raise DocumentError(f"this is {_describe(root)}, not an OpenAPI document", hint=_VERSION_HINT)
    if root.get("openapi") is not None:
        return _openapi(root["openapi"])
    if root.get("swagger") is not None:
        return _swagger(root["swagger"])
    if found := format_of_mapping(root):
        raise found.error()
    raise DocumentError("this has no OpenAPI version", hint=_VERSION_HINT)


def _openapi(value: Any) -> tuple[str, tuple[Problem, ...]]:
    match = _OPENAPI_3.match(str(value)) if isinstance(value, str | int | float) else None
    if match:
        version = f"3.{match[1]}"
        if version in VERSIONS:
            return version, ()
        return VERSIONS[-1], (_version_problem("openapi", value, VERSIONS[-1]),)
    if str(value).strip().startswith("2"):
        return "2.0", (_version_problem("openapi", value, "2.0"),)
    raise DocumentError(f"OpenAPI {value!r} is not supported", hint=f"supported are {', '.join(VERSIONS)}")


def _swagger(value: Any) -> tuple[str, tuple[Problem, ...]]:
    if str(value).strip() in ("2.0", "2"):
        return "2.0", ()
    if re.match(r"2\.0\D", str(value)):
        return "2.0", (_version_problem("swagger", value, "2.0"),)
    raise DocumentError(
        f"Swagger {value!r} is not supported", hint='supported is "2.0"; later versions have `openapi: 3.x` instead'
    )


def _version_problem(field: str, value: Any, version: str) -> Problem:
    return Problem(
        pointer=f"#/{field}", kind="version", message=f"the version {value!r} is unknown; it is read as {version}"
    )


def _describe(value: Any) -> str:
    if value is None:
        return "an empty file"
    return "a list" if isinstance(value, list) else "a single value"
