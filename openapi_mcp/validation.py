"""What openapi-core's validator says of a document, as Problems. It only reports: an invalid document is still served.

It takes seconds on big documents, so nothing on the way to a running server calls it. It is given what was loaded and
can fetch nothing more.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from .errors import Problem
from .loader import Document
from .runtime.types import JsonObject

MOST_FINDINGS: Final = 100
"""Findings beyond these repeat the same mistake: a document that breaks a rule breaks it everywhere."""

LONGEST_MESSAGE: Final = 300
"""Characters. The validator's messages quote the whole offending object."""


def validate(document: Document) -> Iterator[Problem]:
    """Yield what the validator finds wrong, as it finds it.

    The document is judged as it was written (Swagger 2.0 as Swagger 2.0). A crash of the validator is a finding too.
    """
    try:
        findings = _findings(document)
        yield from islice(findings, MOST_FINDINGS)
        if next(findings, None):
            yield Problem(
                pointer="#", kind="validation", message=f"more than {MOST_FINDINGS} findings; the rest is left out"
            )
    except (RecursionError, Exception) as error:  # noqa: BLE001  the validator crashes on some documents, with anything
        yield Problem(
            pointer="#",
            kind="validator",
            message=f"the validator gave up on this document: {_shortened(f'{type(error).__name__}: {error}')}",
            hint="its other findings are above; the tools do not depend on it",
        )


def _findings(document: Document) -> Iterator[Problem]:
    from openapi_spec_validator import (
        OpenAPIV2SpecValidator,
        OpenAPIV30SpecValidator,
        OpenAPIV31SpecValidator,
        OpenAPIV32SpecValidator,
    )

    validators = {
        "2.0": OpenAPIV2SpecValidator,
        "3.0": OpenAPIV30SpecValidator,
        "3.1": OpenAPIV31SpecValidator,
        "3.2": OpenAPIV32SpecValidator,
    }
    version, content = ("2.0", document.source) if document.source else (document.version, document.root)
    for error in validators[version](sealed(content)).iter_errors():
        closest = closest_of(error)
        yield Problem(pointer=_pointer(closest.absolute_path), kind="validation", message=_shortened(closest.message))


def sealed(root: JsonObject, *, kept: int = 0) -> Any:
    """A document as openapi-core reads it (a SchemaPath), which remembers `kept` places that it has found.

    What is not in the document is refused rather than fetched.
    """
    from jsonschema_path import SchemaPath

    handlers = dict.fromkeys(("<all_urls>", "http", "https", "file", ""), _refuse)
    return SchemaPath.from_dict(root, handlers=handlers, resolved_cache_maxsize=kept)


def closest_of(error: Any) -> Any:
    """Of the alternatives that all failed, the failure that got furthest: most likely the one that was meant."""
    while error.context:
        error = max(error.context, key=lambda inner: len(inner.absolute_path))
    return error


def _refuse(uri: str) -> Any:
    raise LookupError(f"{uri} is not part of the loaded document")


def _pointer(path: Sequence[str | int]) -> str:
    return "#" + "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)


def _shortened(message: str) -> str:
    message = " ".join(message.split())
    return message if len(message) <= LONGEST_MESSAGE else message[: LONGEST_MESSAGE - 1] + "…"
