"""Commands whose options are read at once: what needs no conversion is not sent through what typer converts with.

Typer builds a pydantic validator for every option of a command, used or not, which takes as long as everything else of
a small server's start. An option that was not used is nothing, and text is text; whatever else was given goes typer's
own way, so that its checks and its words stay.
"""

from collections.abc import Callable, Iterable
from enum import EnumType
from typing import Any, Final

from typer.core import TyperCommand, TyperGroup

Process = Callable[..., Any]

_TEXTS: Final = (str, list[str])


class Command(TyperCommand):
    """A command of typer's."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        _hasten(self.params)


class Commands(TyperGroup):
    """A group of typer's, which has options too."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        _hasten(self.params)


def _hasten(parameters: Iterable[Any]) -> None:
    for parameter in parameters:
        parameter.process_value = _at_once(parameter)


def _at_once(parameter: Any) -> Process:
    """How a parameter makes a value of what was written."""
    otherwise: Process = parameter.process_value
    kind: Any = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)  # older versions have none
    members: Iterable[Any] = kind if isinstance(kind, EnumType) else ()
    choices = {str(choice): choice for choice in members}

    def process(*arguments: Any, **keywords: Any) -> Any:
        value = keywords["value"] if "value" in keywords else arguments[-1]
        if value in (None, (), []) and not parameter.required:
            return None
        if value and kind in _TEXTS:
            return value
        if isinstance(value, str) and value in choices:
            return choices[value]
        return otherwise(*arguments, **keywords)

    return process
