"""Validate a document with openapi-core's validator, as Problems. It only reports: an invalid document is still served.

It takes seconds for large documents, so nothing on the way to a running server calls it. It gets the loaded document
and fetches nothing more.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from ..document.model import Document, join
from ..document.resolver import Resolver
from ..errors import Problem
from ..runtime.types import JsonObject

MAX_FINDINGS: Final = 100
"""More findings repeat the same mistake: a document that breaks a rule breaks it everywhere."""

MAX_MESSAGE_LENGTH: Final = 300
"""Characters. The validator's messages quote the invalid object in full."""


def validate(document: Document) -> Iterator[Problem]:
    """Yield the validator's findings as they are found.

    The original document is validated (Swagger 2.0 as Swagger 2.0). A crash of the validator is a finding too.
    """
    try:
        findings = _findings(document)
        yield from islice(findings, MAX_FINDINGS)
        if next(findings, None):
            yield Problem(
                pointer="#", kind="validation", message=f"more than {MAX_FINDINGS} findings; the rest is left out"
            )
    except (RecursionError, Exception) as error:  # noqa: BLE001  the validator crashes on some documents, with any error
        yield Problem(
            pointer="#",
            kind="validator",
            message=f"the validator failed on this document: {_shortened(f'{type(error).__name__}: {error}')}",
            hint="the findings before this one are valid; the tools do not depend on the validator",
        )


def _findings(document: Document) -> Iterator[Problem]:
    original = document.as_written()
    resolver = Resolver(original)
    for error in _validator(original.version, original.root).iter_errors():
        cause = deepest_error(error)
        pointer = resolver.display(resolver.locate(join("#", *cause.absolute_path)))
        yield Problem(pointer=pointer, kind="validation", message=_shortened(cause.message))


def _validator(version: str, root: JsonObject) -> Any:
    """Return the validator of a document of a version.

    It uses jsonschema for the document's schema: jsonschema-rs, which it prefers where that is installed, does not tell
    the failures of a union's branches.
    """
    import openapi_spec_validator as validators
    from jsonschema.validators import validator_for
    from openapi_spec_validator import schemas

    validator_class, schema = {
        "2.0": (validators.OpenAPIV2SpecValidator, schemas.schema_v2),
        "3.0": (validators.OpenAPIV30SpecValidator, schemas.schema_v30),
        "3.1": (validators.OpenAPIV31SpecValidator, schemas.schema_v31),
        "3.2": (validators.OpenAPIV32SpecValidator, schemas.schema_v32),
    }[version]
    keywords = {name: _located(each) for name, each in validator_class.keyword_validators.items()}
    located_class = type(validator_class.__name__, (validator_class,), {"keyword_validators": keywords})
    validator = located_class(schema_path(root))
    validator.schema_validator = validator_for(schema)(schema)
    return validator


def _located(keyword_validator: type[Any]) -> type[Any]:
    """Return a validator of one part of a document whose errors have paths from the root, not from that part.

    The part is the first SchemaPath among the arguments. Validators call one another; the innermost knows best.
    """
    from jsonschema_path import SchemaPath
    from openapi_spec_validator.validation.keywords import ValueValidator

    end = ("default",) if issubclass(keyword_validator, ValueValidator) else ()

    def call(self: Any, *arguments: Any, **options: Any) -> Iterator[Any]:
        part = next(each for each in arguments if isinstance(each, SchemaPath))
        for error in keyword_validator.__call__(self, *arguments, **options):
            if not hasattr(error, "path_in_part"):
                error.path_in_part = (*end, *_fields(error, part), *error.absolute_path)
                error.path = error.relative_path = deque([*part.parts, *error.path_in_part])
                error.parent = None
            yield error

    return type(keyword_validator.__name__, (keyword_validator,), {"__call__": call})


def _fields(error: Any, part: Any) -> Sequence[str | int]:
    """Return the path from the part that an error of openapi-core's own is reported for to the field at fault."""
    from openapi_spec_validator.validation import exceptions

    if isinstance(error, exceptions.DuplicateOperationIDError):
        return ("operationId",)
    if isinstance(error, exceptions.ParameterDuplicateError):
        keys = [(parameter["name"], parameter["in"]) for parameter in part]
        return [index for index, key in enumerate(keys) if key in keys[:index] and f"'{key[0]}'" in error.message][:1]
    return ("required",) if isinstance(error, exceptions.ExtraParametersError) else ()


def schema_path(root: JsonObject, *, cache_size: int = 0) -> Any:
    """Return a document as openapi-core reads it (a SchemaPath), which caches the nodes at `cache_size` references.

    References out of the document raise LookupError and are not fetched.
    """
    from jsonschema_path import SchemaPath

    handlers = dict.fromkeys(("<all_urls>", "http", "https", "file", ""), _refuse)
    return SchemaPath.from_dict(root, handlers=handlers, resolved_cache_maxsize=cache_size)


def deepest_error(error: Any) -> Any:
    """Return the failure of the branch of a union that failed deepest: most likely the branch that was intended."""
    while error.context:
        error = max(error.context, key=lambda inner: len(inner.absolute_path))
    return error


def _refuse(uri: str) -> Any:
    raise LookupError(f"{uri} is not part of the loaded document")


def _shortened(message: str) -> str:
    message = " ".join(message.split())
    return message if len(message) <= MAX_MESSAGE_LENGTH else message[: MAX_MESSAGE_LENGTH - 1] + "…"
