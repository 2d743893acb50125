"""`application/x-www-form-urlencoded`: properties as fields, each by its Encoding, nothing lost and nothing added.

Specification: OpenAPI 3.2 Encoding Object; WHATWG URL §5 for the escaping of fields without a style, RFC 6570 for
those with one. Null and empty arrays are not written: a form has no way to say them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote_plus

from . import content, media_types, styles
from .models import Encoding

FORM: Final = "application/x-www-form-urlencoded"
_UNDECLARED: Final = Encoding()


def encode(fields: Mapping[str, Any], encoding: Mapping[str, Encoding]) -> str:
    """`name=value&…` in the order of `fields`."""
    members = (pair for name, value in fields.items() for pair in _pairs(name, value, encoding.get(name, _UNDECLARED)))
    return "&".join(f"{name}={value}" for name, value in members)


def _pairs(name: str, value: Any, rule: Encoding) -> Iterator[tuple[str, str]]:
    if rule.style is not None:
        escaping = styles.QUERY_RESERVED if rule.allow_reserved else styles.STRICT
        yield from styles.pairs(name, value, style=rule.style, explode=rule.explode, escaping=escaping)
        return
    for item in value if isinstance(value, list) else [value]:
        if item is not None:
            yield quote_plus(name), quote_plus(_field(name, item, rule))


def _field(name: str, value: Any, rule: Encoding) -> str | bytes:
    if rule.binary:
        return content.file(value, name).data
    if isinstance(value, dict) and media_types.is_form(rule.content_type):
        return encode(value, rule.encoding)
    return content.encode(value, media_types.concrete(content.by_value(rule.content_type, value)), rule.xml)
