"""openapi-core's validators for the messages of one operation, which is known and not looked for.

Two keywords are ours: a pattern that a backtracking engine could hang on is not asked, and a property that only the
other side sends may be missing in every version of OpenAPI (openapi-core knows that of 3.0 only).
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any, Final

from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from .excerpts import APART
from .exchanges import Decoders
from .patterns import portable

_READ_OR_WRITTEN: Final = {"3.0": ("oas30_write", "oas30_read"), "3.1": ("oas31", "oas31"), "3.2": ("oas32", "oas32")}
"""The schema dialects of requests and of answers, as openapi-core names them."""


def of_requests(version: str, spec: Any, decoders: Decoders, *, with_body: bool) -> Any:
    """Judges parameters, and the body if asked."""
    from openapi_core.validation import request

    kind = "Request" if with_body else "RequestParameters"
    return _made(getattr(request, f"V{_digits(version)}{kind}Validator"), _schemas(version, 0), spec, decoders)


def of_answers(version: str, spec: Any, decoders: Decoders, *, with_body: bool) -> Any:
    """Judges status and headers, and the body if asked."""
    from openapi_core.validation import response

    kind = "Response" if with_body else "ResponseHeaders"
    return _made(getattr(response, f"V{_digits(version)}{kind}Validator"), _schemas(version, 1), spec, decoders)


def _digits(version: str) -> str:
    return version.replace(".", "")


def _made(validator: Any, schemas: Any, spec: Any, decoders: Decoders) -> Any:
    return validator(
        spec, path_finder_cls=_Known, schema_validators_factory=schemas, extra_media_type_deserializers=decoders
    )


class _Known:
    """Finds the operation that an excerpt sets apart (openapi_core.templating.paths.finders.BasePathFinder)."""

    def __init__(self, spec: Any, base_url: str | None = None) -> None:  # noqa: ARG002  openapi-core passes it
        self._operation = spec / APART

    def find(self, _method: str, _url: str) -> tuple[Any, ...]:
        """The path item, the operation, its server, and what was found in the URL: nothing."""
        from openapi_core.templating.datatypes import TemplateResult

        return self._operation, self._operation, None, TemplateResult("", {}), None


@cache
def _schemas(version: str, side: int) -> Any:
    from openapi_core.validation import schemas
    from openapi_core.validation.schemas.factories import SchemaValidatorsFactory

    theirs = getattr(schemas, f"{_READ_OR_WRITTEN[version][side]}_schema_validators_factory")
    keywords = {"pattern": _pattern, "required": partial(_required, ("readOnly", "writeOnly")[side])}
    validator = extend(theirs.schema_validator_cls, keywords)  # type: ignore[no-untyped-call]  # so it is in the stubs
    return SchemaValidatorsFactory(validator, format_checker=theirs.format_checker)


def _pattern(_validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    expression = portable(pattern) if isinstance(pattern, str) and isinstance(instance, str) else None
    if expression is not None and not re.search(expression, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _required(
    excused: str, validator: Any, names: Any, instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    properties = schema.get("properties")
    for name in names if validator.is_type(instance, "object") else ():
        node = properties.get(name) if isinstance(properties, dict) else None
        if name not in instance and not (isinstance(node, dict) and node.get(excused) is True):
            yield ValidationError(f"{name!r} is a required property")
