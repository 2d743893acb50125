"""Typer commands made from the table of options: their parameters, and a help that shows the options in groups.

Only `_validate_on_use` touches parts of typer that are not documented, and does nothing where they are absent. All else
is the public interface of typer and click, from typer 0.16 on.
"""

import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import typer
from typer.core import TyperCommand, TyperGroup

from ..errors import BridgeError, CallFailed
from ..options.option import ARGUMENTS, GENERAL, GROUPS, Option
from ..options.table import of_command
from . import console

Values: TypeAlias = dict[str, Any]
"""Options that were used on a command line, by name. An option that was not used is absent."""


def command(app: typer.Typer, name: str = "", *, epilog: str = "") -> Callable[[Callable[..., None]], None]:
    """Register a function as the command `name` (else its own name), with the options that the table has for it.

    The function's parameters get the values of the options of these names; a parameter `values` gets all others.
    """

    def register(function: Callable[..., None]) -> None:
        command_name = name or function.__name__
        program = _CommandFunction(command_name, function)
        app.command(command_name, cls=Command, help=function.__doc__, epilog=epilog or None)(program)

    return register


class _CommandFunction:
    """The function of a command as typer calls it.

    Its parameters are made when typer reads the signature: those of all commands take 20 % of a start.
    """

    def __init__(self, name: str, function: Callable[..., None]) -> None:
        self.__annotations__ = {}
        self._name = name
        self._function = function

    @cached_property
    def _options(self) -> Sequence[Option]:
        return of_command(self._name)

    @cached_property
    def _words(self) -> list[Option]:
        return [option for option in self._options if option.group == ARGUMENTS]

    @cached_property
    def _takes_file(self) -> bool:
        return len(self._words) > 1 and self._words[0].name == "spec"

    @cached_property
    def __signature__(self) -> inspect.Signature:
        """The signature from which typer reads the options."""
        return inspect.Signature(
            [_parameter(option, checked_later=self._takes_file and option in self._words) for option in self._options]
        )

    def __call__(self, **parameters: Any) -> None:
        """Call the function with the values of a command line."""
        if self._takes_file:
            _use_settings_file(self._words, parameters)
        for option in self._options:
            if option.required and parameters[option.name] is None:  # typer 0.16 with click 8.3 lets it pass
                raise typer.BadParameter(f"Missing argument {_metavar(option)}.")
        own = inspect.signature(self._function).parameters.keys()
        arguments = {name: _plain(parameters.pop(name)) for name in own - {"values"}}
        if "values" in own:
            arguments["values"] = {key: _plain(value) for key, value in parameters.items() if is_used(value)}
        self._function(**arguments)


@contextmanager
def named_command(app: typer.Typer, words: Sequence[str]) -> Iterator[None]:
    """Let the app have, meanwhile, only the command that a command line begins with: typer would make each of them."""
    registered = app.registered_commands
    app.registered_commands = [each for each in registered if words and each.name == words[0]] or registered
    try:
        yield
    finally:
        app.registered_commands = registered


def is_used(value: object) -> bool:
    """Return whether an option was used: one that was not is None, False or an empty list, while 0 is a value."""
    return value is not None and value is not False and value not in ([], ())


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value


def _use_settings_file(words: list[Option], parameters: dict[str, Any]) -> None:
    """Give the words of a command line without SPEC to the arguments after it, where a settings file names it."""
    from ..settings.file import find_file, is_document, read_file

    first = parameters["spec"]
    file = None if first is None or is_document(first) else parameters.get("config") or find_file(Path())
    if file is None:
        return
    with reported_errors(debug=bool(parameters.get("debug"))):
        if first in read_file(file).apis:
            return
    values = [first]
    for option in words[1:]:
        given = parameters[option.name]
        values += (list(map(str, given)) if option.many else [str(given)]) if is_used(given) else []
    for option in words[1:]:
        value = values if option.many else option.kind(values.pop(0)) if values else None
        parameters[option.name] = value
        values = [] if option.many else values
    parameters["spec"] = None
    if values:
        raise typer.BadParameter(
            f"Got an unexpected extra argument: {first} is not a document, and {file} already names one."
        )


def _parameter(option: Option, *, checked_later: bool = False) -> inspect.Parameter:
    """Return an option as a parameter of a function, as typer reads it.

    `checked_later`: whether an argument is missing turns out once it is known whether the first one is SPEC.
    """
    required = option.required and not checked_later
    kind: Any = list[option.kind] if option.many else option.kind  # type: ignore[name-defined]  # for typer to read
    if option.choices:
        kind = _choices(option)
    details: dict[str, Any] = {"help": option.help, "min": option.minimum, "max": option.maximum}
    details |= {"metavar": _metavar(option) or None, "envvar": option.variable}
    if option.name in _COMPLETIONS:
        details["autocompletion"] = _COMPLETIONS[option.name]
    is_flag = option.kind is bool
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else option.default if is_flag else None,
        annotation=Annotated[
            kind if required or is_flag else kind | None,
            typer.Argument(**details) if option.group == ARGUMENTS else typer.Option(*_flags(option), **details),
        ],
    )


def _tool_names(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the tools that a shell may complete a word to."""
    from .shell.completion import tool_names

    return tool_names(ctx, incomplete)


def _arguments(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the arguments that a shell may complete a word to."""
    from .shell.completion import arguments

    return arguments(ctx, incomplete)


def _documents(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return what a shell may complete the first word to, besides files."""
    from .shell.completion import documents

    return documents(ctx, incomplete)


_COMPLETIONS: Final = {"spec": _documents, "tool": _tool_names, "arguments": _arguments}
"""Functions that complete a word of the command line, by the name of its option."""


def _choices(option: Option) -> Any:
    """Return the choices as an enumeration, which every version of typer reads."""
    members: Any = [(choice.upper(), choice) for choice in option.choices]
    return StrEnum(option.name, members)


def _flags(option: Option) -> tuple[str, ...]:
    return tuple(option.flags) or (f"--{option.setting}",)


@contextmanager
def reported_errors(debug: bool) -> Iterator[None]:
    """Print a BridgeError as message, location and cure, and exit with its code; other errors keep their traceback.

    With `debug` the traceback of a BridgeError is printed too, but not that of a call whose answer is an error.
    """
    if debug:
        console.log_everything()
    try:
        yield
    except BridgeError as error:
        if debug and not isinstance(error, CallFailed):
            console.err(traceback.format_exc().rstrip())
        console.err(f"openapi-mcp: {error.message}")
        for label, text in (("where", error.where), ("what to do", error.hint)):
            if text:
                console.err(f"  {label}: {text}")
        raise typer.Exit(error.exit_code) from None


class Command(TyperCommand):
    """A command whose help has a heading for each group of options."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, also those that typer adds."""
        return [_validate_on_use(parameter) for parameter in super().get_params(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line. Words too many are counted, not shown: a header without quotes leaves its secret."""
        ctx.allow_extra_args = True
        rest: list[str] = super().parse_args(ctx, args)
        if ctx.args:
            words = "argument" if len(ctx.args) == 1 else "arguments"
            ctx.fail(f"Got {len(ctx.args)} unexpected extra {words}; put a value with spaces in quotes.")
        return rest

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002  # the signature is click's
        """Return the words of the usage line after the command's name."""
        return ["[OPTIONS]", *(_usage(option) for option in of_command(str(self.name)) if option.group == ARGUMENTS)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options of the table, group by group."""
        help_names = ", ".join(ctx.help_option_names)
        options = of_command(str(self.name))
        for group in GROUPS:
            rows = [(_term(option), _description(option)) for option in options if option.group == group]
            if group == GENERAL:
                rows.append((help_names, "Show this message and exit."))
            if rows:
                with formatter.section(group):
                    formatter.write_dl(rows)


class CommandGroup(TyperGroup):
    """The commands as one program, which has options too."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, also those that typer adds."""
        return [_validate_on_use(parameter) for parameter in super().get_params(ctx)]


def _usage(option: Option) -> str:
    name = _metavar(option) + ("..." if option.many else "")
    return name if option.required else f"[{name}]"


def _metavar(option: Option) -> str:
    return option.metavar or "|".join(option.choices)


def _term(option: Option) -> str:
    """Return the left column of an option in the help."""
    if option.group == ARGUMENTS:
        return _metavar(option)
    flags = ", ".join(_flags(option)).replace("/", " / ")
    return flags if option.kind is bool else f"{flags} {_metavar(option)}"


def _description(option: Option) -> str:
    """Return the right column: the help, then the facts in brackets."""
    repeated = ["May be repeated."] if option.many and option.group != ARGUMENTS else []
    facts = f"[{'; '.join(_facts(option))}]"
    return "  ".join([" ".join([option.help, *repeated]), *([facts] if facts != "[]" else [])])


def _facts(option: Option) -> Iterator[str]:
    if option.required:
        yield "required"
    if option.variable:
        yield f"env var: {option.variable}"
    if option.default_text or not (option.default is None or option.kind is bool):
        yield f"default: {option.default_text or _format_default(option.default)}"
    if option.range:
        yield option.range


def _format_default(default: object) -> str:
    return f"{default:g}" if isinstance(default, float) else str(default)


def _validate_on_use(parameter: Any) -> Any:
    """Change a parameter so that a value which needs no conversion is taken as it is; return the parameter.

    Newer versions of typer build a pydantic validator for every option of a command, used or not, which takes as long
    as the rest of a small server's start. An option that was not used has no value, and text is text; any other value
    goes typer's own way, so that its checks and messages stay. Versions without `type_descriptor` have no validators.
    """
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    if kind is not None and "process_value" not in vars(parameter):
        parameter.process_value = _quick(parameter, kind, parameter.process_value)
    return parameter


def _quick(parameter: Any, kind: Any, validate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    choices: Mapping[str, Any] = {}
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        choices = {choice.value: choice for choice in kind}

    def process(ctx: Any, value: Any) -> Any:
        if not is_used(value):
            return validate(ctx, value) if parameter.required else value
        if parameter.callback is None and kind in (str, list[str]):
            return value
        return choices[value] if isinstance(value, str) and value in choices else validate(ctx, value)

    return process
