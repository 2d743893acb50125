"""Which OpenAPI a document says it is, read as generously as can be done without guessing.

The prefix decides: `3.0.0-RC1`, `3.0.1-5` and the number 3.1 are what they begin with. What is no OpenAPI of a known
major version is refused by its name, since every error after that would mislead. Specification: OpenAPI 3.2 section
4.1.1.
"""

import re
from typing import Any, Final

from .errors import DocumentError, Problem

KNOWN: Final = ("2.0", "3.0", "3.1", "3.2")
_MINOR: Final = re.compile(r"\s*3(?:\.(\d+))?(?!\d)")
_OTHERS: Final = {
    "swaggerVersion": "a Swagger 1.x document",
    "asyncapi": "an AsyncAPI document",
    "arazzo": "an Arazzo document",
    "overlay": "an OpenAPI Overlay",
    "$schema": "a JSON Schema",
    "raml": "a RAML document",
}
_WANTED: Final = 'it has to say `openapi: 3.x` or `swagger: "2.0"` at the top'


def version_of(root: Any) -> tuple[str, tuple[Problem, ...]]:
    """One of `KNOWN`, and a Problem where the document says something else. Raises DocumentError."""
    if not isinstance(root, dict):
        raise DocumentError(f"this is {_kind(root)}, not an OpenAPI document", hint=_WANTED)
    if root.get("openapi") is not None:
        return _openapi(root["openapi"])
    if root.get("swagger") is not None:
        return _swagger(root["swagger"])
    kind = next((name for key, name in _OTHERS.items() if key in root), None)
    what = f"is {kind}, not an OpenAPI document" if kind else "does not say which OpenAPI it is"
    raise DocumentError(f"this {what}", hint=_WANTED)


def _openapi(value: Any) -> tuple[str, tuple[Problem, ...]]:
    found = _MINOR.match(str(value)) if isinstance(value, str | int | float) else None
    if found:
        version = f"3.{found[1]}"
        if version in KNOWN:
            return version, ()
        return KNOWN[-1], (_odd("openapi", value, KNOWN[-1]),)
    if str(value).strip().startswith("2"):
        return "2.0", (_odd("openapi", value, "2.0"),)
    raise DocumentError(f"OpenAPI {value!r} is not known", hint=f"known are {', '.join(KNOWN)}")


def _swagger(value: Any) -> tuple[str, tuple[Problem, ...]]:
    if str(value).strip() in ("2.0", "2"):
        return "2.0", ()
    if re.match(r"2\.0\D", str(value)):
        return "2.0", (_odd("swagger", value, "2.0"),)
    raise DocumentError(
        f"Swagger {value!r} is not known", hint='known is "2.0"; what came after it says `openapi: 3.x`'
    )


def _odd(field: str, value: Any, version: str) -> Problem:
    return Problem(
        pointer=f"#/{field}", kind="version", message=f"the version {value!r} is not known; it is read as {version}"
    )


def _kind(value: Any) -> str:
    if value is None:
        return "an empty file"
    if isinstance(value, str) and value.lstrip().startswith("<"):
        return "a web page or XML"
    return "a list" if isinstance(value, list) else "a single value"
