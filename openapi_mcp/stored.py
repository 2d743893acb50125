"""Compiled tools as bytes and back: a digest, and behind it a pickle that can hold values of this project and no more.

Bytes that are not what was written are refused, and so is a pickle that names anything but the classes below: reading
one calls no function, whoever wrote it. (The same in JSON takes four times as long to read, and loses what is shared.)
"""

import hashlib
import io
import pickle
from typing import Any, Final

from .compiled import Compiled, Origin
from .economy import Room
from .errors import Problem
from .runtime import models
from .runtime.types import Implementation

Made = tuple[Origin, Compiled]

_CLASSES: Final = {
    (each.__module__, each.__qualname__): each
    for each in (
        Origin,
        Compiled,
        Problem,
        Room,
        Implementation,
        models.Tool,
        models.Argument,
        models.RequestBody,
        models.MediaType,
        models.Encoding,
        models.XmlDocument,
        models.XmlNode,
        models.SecurityScheme,
    )
}
_DIGEST: Final = hashlib.sha256().digest_size


class Unusable(Exception):
    """These bytes are not compiled tools."""


class _Values(pickle.Unpickler):
    """Reads the values above; of anything else not even the name is looked up."""

    def find_class(self, module: str, name: str) -> type[Any]:
        try:
            return _CLASSES[module, name]
        except KeyError:
            raise Unusable(f"{module}.{name} is not to be stored") from None


def written(made: Made) -> bytes:
    """Compiled tools as bytes."""
    pickled = pickle.dumps(made, protocol=5)
    return hashlib.sha256(pickled).digest() + pickled


def read(data: bytes) -> Made:
    """What `written` wrote. Raises Unusable."""
    digest, pickled = data[:_DIGEST], memoryview(data)[_DIGEST:]
    if hashlib.sha256(pickled).digest() != digest:
        raise Unusable("damaged")
    try:
        made = _Values(io.BytesIO(pickled)).load()
    except Unusable:
        raise
    except Exception as error:
        raise Unusable(f"{type(error).__name__}: {error}") from error
    match made:
        case (Origin() as origin, Compiled() as compiled):
            return origin, compiled
    raise Unusable("something else")
