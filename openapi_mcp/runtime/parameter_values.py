"""The value of a `content` parameter as the text that its place carries: what its media type makes of it.

Any other parameter's value is left to its style. Specification: OpenAPI 3.2 Parameter Object ("Fixed Fields for use
with `content`"), RFC 9110 §5.5, RFC 8259 §7.
"""

import json
import re
from typing import Any, Final

from . import content, forms, media_types
from .models import Argument, MediaType

_NOT_ASCII: Final = re.compile("[^\x00-\x7f]+")


def written(argument: Argument, value: Any) -> Any:
    """What a style has to write: the value, or the text that its media type makes of it."""
    return value if argument.content_type is None else text(argument, value, argument.content_type)


def text(argument: Argument, value: Any, content_type: str) -> str:
    """The value in this media type. Raises ArgumentError."""
    media = argument.media or MediaType(content_type=content_type)
    if isinstance(value, dict) and media_types.is_form(content_type):
        return forms.encode(value, media.encoding)
    found = content.encode_text(value, content_type, media.xml)
    return _in_ascii(found) if argument.location == "header" and media_types.is_json(content_type) else found


def _in_ascii(text: str) -> str:
    """The same JSON text: headers are read as Latin-1 by one server and as UTF-8 by another, and JSON needs neither."""
    return _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)
