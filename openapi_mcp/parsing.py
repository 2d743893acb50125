"""Commands whose options are read at once: what needs no conversion is not sent through what typer converts with.

Typer builds a pydantic validator for every option of a command, used or not, which takes as long as everything else of
a small server's start. An option that was not used is nothing, and text is text; whatever else was given goes typer's
own way, so that its checks and its words stay.
"""

from collections.abc import Callable, Iterable
from enum import EnumType
from typing import Any, Final

from typer.core import TyperCommand, TyperGroup

_TEXTS: Final = (str, list[str])
_PROCESS: Final = "process_value"


class Command(TyperCommand):
    """A command of typer's."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options and arguments, also those that typer adds."""
        return [_at_once(parameter) for parameter in super().get_params(ctx)]


class Commands(TyperGroup):
    """A group of typer's, which has options too."""

    def get_params(self, ctx: Any) -> list[Any]:
        """As of Command."""
        return [_at_once(parameter) for parameter in super().get_params(ctx)]


def _at_once(parameter: Any) -> Any:
    """The same parameter, which makes its value of what was written by the shortest way."""
    if _PROCESS not in vars(parameter):
        setattr(parameter, _PROCESS, _process(parameter, parameter.process_value))
    return parameter


def _process(parameter: Any, otherwise: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    kind: Any = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)  # older versions have none
    members: Iterable[Any] = kind if isinstance(kind, EnumType) else ()
    choices = {str(choice): choice for choice in members}

    def process(ctx: Any, value: Any) -> Any:
        if value is None or value is False or value in ((), []):
            return otherwise(ctx, value) if parameter.required else value
        if parameter.callback is None and kind in _TEXTS:
            return value
        return choices[value] if isinstance(value, str) and value in choices else otherwise(ctx, value)

    return process
