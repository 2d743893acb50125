"""Tell the version of OpenAPI from the root of a document.

The prefix of the version decides: `3.0.0-RC1`, `3.0.1-5` and the number 3.1 are read as 3.0, 3.0 and 3.1. A document of
another kind or of an unknown major version is refused at once, since all later errors would be misleading.

Specification: OpenAPI 3.2 section 4.1.1.
"""

import re
from typing import Any, Final

from ..errors import DocumentError, Problem
from .formats import format_of_mapping

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
