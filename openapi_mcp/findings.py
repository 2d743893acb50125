"""What openapi-core's errors mean, as kind, place and message: the same for all messages that have the same defect.

A message shows values shortened, and of headers and cookies (which may be credentials) none. openapi-core's exceptions
are told apart by their names, for they are imported only once there is something to check.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

from .runtime import jsontext
from .runtime.validation import missing_name
from .validation import closest_of

Finding = tuple[str, str, str]
"""Kind, where, and message (see `contract.Drift`)."""

UNCHECKED: Final = "not checked"
"""The kind of what could not be judged; its message says why."""

_LONGEST_VALUE: Final = 60
_LONGEST_MESSAGE: Final = 200
_SHORTEST_SECRET: Final = 4
"""Characters. Shorter ones occur everywhere, and keep no secret."""


class Findings:
    """Reads errors; `secrets` are values that are never shown."""

    def __init__(self, secrets: Collection[str]) -> None:
        self._secrets = sorted((text for text in secrets if len(text) >= _SHORTEST_SECRET), key=len, reverse=True)

    def of(self, error: Any) -> Iterator[Finding]:
        """What an error means, by its own class or by that of its cause; some mean nothing."""
        name, cause, place = type(error).__name__, error.__cause__, _place(error)
        hidden = place.startswith(("header ", "cookie "))
        if name == "ResponseNotFound":
            yield "status", "", f"{error.http_status} is not documented{_listed(error.availableresponses)}"
        elif name in {"MissingData", "MissingRequiredRequestBody"}:
            yield "required", place, "there is none"
        elif name in {"MissingRequiredHeader", "MissingRequiredParameter"}:
            if not place.startswith("path "):  # a URL without it would be another operation's
                yield "required", place, "it is required and missing"
        elif type(cause).__name__ == "InvalidSchemaValue":
            for each in cause.schema_errors:
                yield self._of_schema(closest_of(each), place, hidden=hidden)
        else:
            yield from self._of_reading(cause, place, hidden=hidden)

    def public(self, text: str) -> str:
        """A message in one line, without secrets, and without characters that would do something to a terminal."""
        return _shortened(line(self._without_secrets(text)), _LONGEST_MESSAGE)

    def _of_reading(self, cause: Any, place: str, *, hidden: bool) -> Iterator[Finding]:
        """What went wrong before there was a value for a schema to judge."""
        name = type(cause).__name__
        if name == "MediaTypeNotFound":
            given = f"{cause.mimetype} is" if cause.mimetype else "none is given, which is"
            yield "content type", place, f"{given} not documented{_listed(cause.availableMimetypes)}"
        elif name == "MediaTypeDeserializeError":
            yield "syntax", place, f"it cannot be read as {cause.mimetype}"
        elif name == "CastError" and place != "body":  # of forms, openapi-core reads the simplest only
            value = "its value" if hidden else self._shown(cause.value)
            yield "type", place, f"{value} cannot be read as {cause.type}"
        elif name != "EmptyQueryParameterValue":  # an empty string is a string (OpenAPI 3.2 "Style Examples")
            yield UNCHECKED, place, f"openapi-core cannot read it ({name})"

    def _of_schema(self, error: Any, place: str, *, hidden: bool) -> Finding:
        where = place + "".join("[]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
        if error.validator == "required":
            return "required", f"{where}.{missing_name(error)}", "it is required and missing"
        value, said = repr(error.instance), error.message
        if said.startswith(value):
            said = ("its value" if hidden else self._shown(error.instance)) + said[len(value) :]
        elif hidden:
            said = "its value does not fit"
        return str(error.validator), where, said

    def _shown(self, value: Any) -> str:
        try:
            return _shortened(self._without_secrets(jsontext.write(value)), _LONGEST_VALUE)
        except RecursionError:
            return "a deeply nested value"

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


def line(text: str) -> str:
    """A text of a document or an API in one line of printable characters."""
    return "".join(character if character.isprintable() else "\ufffd" for character in " ".join(text.split()))


def _place(error: Any) -> str:
    """What of a message an error is about: `query limit`, `header ETag`, `body`."""
    name = getattr(error, "name", None)
    return "body" if name is None else f"{getattr(error, 'location', 'header')} {name}"


def _listed(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f" ({listed})" if listed else ""


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
