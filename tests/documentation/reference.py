"""Pages of docs/ that are made from the code: options, exit codes, public Python names, and llms.txt.

`make renew` writes them; a test compares them with what is committed.
"""

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Final

import yaml

import openapi_mcp
from openapi_mcp import errors
from openapi_mcp.errors import BridgeError
from openapi_mcp.options.option import GROUPS, Option
from openapi_mcp.options.table import OPTIONS
from tests.conftest import ROOT

DOCS: Final = ROOT / "docs"
SITE: Final[Mapping[str, Any]] = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
MADE: Final = "<!-- Made from the code by `make renew`. -->\n\n"


def write(folder: Path) -> None:
    """Write all pages that are made into a folder like docs/."""
    for path, text in pages().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def pages() -> dict[PurePosixPath, str]:
    """Return the text of each page by its path within docs/."""
    return {
        PurePosixPath("reference/options.md"): MADE + _options(),
        PurePosixPath("reference/exit-codes.md"): MADE + _exit_codes(),
        PurePosixPath("reference/python.md"): MADE + _python(),
        PurePosixPath("llms.txt"): _llms(),
    }


def _options() -> str:
    intro = (
        "# Options\n\nEvery option, from the one table that the command line, the settings file and its JSON Schema "
        "are made from. In a settings file an option has its name without the dashes. `openapi-mcp COMMAND --help` "
        "shows those of one command.\n"
    )
    return intro + "".join(_groups())


def _groups() -> Iterator[str]:
    for group in GROUPS:
        yield f"\n## {group}\n\n| option | meaning | default | commands |\n|---|---|---|---|\n"
        yield from (_row(option) for option in OPTIONS if option.group == group)


def _row(option: Option) -> str:
    commands = ", ".join(dict.fromkeys(option.commands)) or "in the settings file only"
    return f"| {_flag(option)} | {_cell(option.help)} | {_default(option)} | {commands} |\n"


def _flag(option: Option) -> str:
    if option.group == GROUPS[0]:
        return f"`{option.metavar or option.name.upper()}`"
    dashes = "--" if option.commands else ""
    return f"`{dashes}{option.setting} {option.metavar}".strip().replace("|", "\\|") + "`"


def _default(option: Option) -> str:
    if option.variable:
        return f"the variable `{option.variable}`"
    value = option.default_text or ("" if option.default in {None, False} else str(option.default))
    return _cell(value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _exit_codes() -> str:
    classes = [item for item in vars(errors).values() if inspect.isclass(item) and issubclass(item, BridgeError)]
    codes = {item.exit_code: item for item in reversed(classes) if item is not BridgeError}
    rows = "".join(f"| {code} | {_summary(codes[code])} | `{codes[code].__name__}` |\n" for code in sorted(codes))
    return (
        "# Exit codes\n\n| code | meaning | exception |\n|---|---|---|\n| 0 | Success. | |\n"
        f"| 1 | A defect of this program. | |\n{rows}"
    )


def _python() -> str:
    names = [name for name in openapi_mcp.__all__ if name[0].isupper()]
    values = {name: getattr(openapi_mcp, name) for name in names}
    classes = {name: value for name, value in values.items() if not _is_error(value)}
    intro = (
        "# Python\n\nThe public names of `openapi_mcp`. They are imported on first use: `import openapi_mcp` alone "
        "costs nothing.\n"
    )
    exceptions = (
        "\n## Exceptions\n\nAll are `BridgeError`s with `message`, `where` and `hint`.\n\n"
        "| name | raised when |\n|---|---|\n"
    )
    rows = "".join(f"| `{name}` | {_summary(value)} |\n" for name, value in values.items() if _is_error(value))
    return intro + "".join(_class(name, value) for name, value in classes.items()) + exceptions + rows


def _is_error(value: object) -> bool:
    return inspect.isclass(value) and issubclass(value, BridgeError)


def _class(name: str, value: Any) -> str:
    text = f"\n## {name}\n\n{_text(value)}\n"
    if dataclasses.is_dataclass(value):
        fields = [field.name for field in dataclasses.fields(value) if not field.name.startswith("_")]
        text += f"\nFields: {', '.join(f'`{field}`' for field in fields)}.\n"
    return text + "".join(_member(member, item) for member, item in _members(value))


def _members(value: type) -> Iterator[tuple[str, Any]]:
    """Yield the documented public methods and properties of a class, also those of its bases in the package."""
    bases = [base for base in value.__mro__ if base.__module__.startswith("openapi_mcp.")]
    for name, item in {name: item for base in reversed(bases) for name, item in vars(base).items()}.items():
        function = item.__func__ if isinstance(item, classmethod | staticmethod) else item
        function = property(item.func) if isinstance(item, cached_property) else function
        if not name.startswith("_") and (inspect.isfunction(function) or isinstance(function, property)):
            yield name, function


def _member(name: str, item: Any) -> str:
    if isinstance(item, property):
        return f"\n### {name}\n\n{_text(item.fget)}\n"
    return f"\n### {name}\n\n```python\n{name}{_signature(item)}\n```\n\n{_text(item)}\n"


def _signature(function: Callable[..., Any]) -> str:
    """Return the parameters and the result in source form; a default that is no literal is `…`."""
    signature = inspect.signature(function)
    parameters = [item for name, item in signature.parameters.items() if name not in {"self", "cls"}]
    shown = [item if _is_literal(item.default) else item.replace(default=_ELLIPSIS) for item in parameters]
    text = str(signature.replace(parameters=shown))
    return re.sub(r"\b(?:openapi_mcp|collections|typing|pathlib)(?:\.\w+)*\.(\w+)", r"\1", text).replace("'", "")


def _is_literal(value: object) -> bool:
    return value is inspect.Parameter.empty or value is None or isinstance(value, str | int | float | bool)


class _Ellipsis:
    def __repr__(self) -> str:
        return "…"


_ELLIPSIS: Final = _Ellipsis()


def _text(item: object) -> str:
    """Return a docstring as Markdown."""
    return (inspect.getdoc(item) or "").replace("<", "&lt;")


def _summary(item: object) -> str:
    return _text(item).partition("\n\n")[0].replace("\n", " ")


def _llms() -> str:
    """Return the index of the documentation for language models (llmstxt.org)."""
    lines = [f"# {SITE['site_name']}\n\n> {SITE['site_description']}\n"]
    for section in SITE["nav"]:
        ((title, entries),) = section.items()
        entries = [entries] if isinstance(entries, str) else entries
        lines.append(f"\n## {title}\n\n" + "".join(f"- [{_title(page)}]({page})\n" for page in entries))
    return "".join(lines)


def _title(page: str) -> str:
    made = DOCS / page
    text = made.read_text() if made.exists() else page
    match = re.search(r"^# (.+)$", text, re.MULTILINE)
    return match[1].replace("`", "") if match else page
