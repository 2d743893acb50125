"""Templates into files: one jinja2 Environment for each kind of file, whose `finalize` is the only way into it.

A template writes `{{ value }}`, and the kind of file decides how that is escaped; Source is Python already. Templates
do not think: no macros, no expressions but names.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from . import docstring_literals
from .errors import UsageError
from .literals import Source, literal

if TYPE_CHECKING:
    from jinja2 import Environment

ENDING: Final = ".jinja"


def templates_path() -> Path:
    """Where this project's templates are: in the installed package, or beside it in a checkout."""
    inside = Path(__file__).parent / "templates"
    return inside if inside.is_dir() else Path(__file__).parents[1] / "templates"


class Templates:
    """The templates: this project's, and those of a folder that replace or add to them file by file."""

    def __init__(self, folder: Path | None = None) -> None:
        if folder is not None and not folder.is_dir():
            raise UsageError("there are no templates", where=str(folder), hint="--templates names a folder")
        self._folders = [templates_path()] if folder is None else [folder, templates_path()]
        self._environments: dict[str, Environment] = {}

    def names(self) -> Sequence[str]:
        """The paths of all templates, without their ending, as they are in the folder."""
        return sorted({name for folder in self._folders for name in _names(folder)})

    def render(self, name: str, values: Mapping[str, Any]) -> bytes:
        """A file from its template. UsageError for a template that cannot be used."""
        from jinja2 import TemplateError

        kind = _kind(name)
        if kind not in self._environments:
            self._environments[kind] = _environment(self._folders, FINALIZE[kind])
        try:
            text = self._environments[kind].get_template(name + ENDING).render(values)
        except TemplateError as error:
            raise UsageError(f"a template cannot be used: {error}", where=name + ENDING, hint="correct it") from error
        return text.encode("utf-8")


def _names(folder: Path) -> Iterator[str]:
    for path in folder.rglob(f"*{ENDING}"):
        yield path.relative_to(folder).as_posix().removesuffix(ENDING)


def _environment(folders: Sequence[Path], finalize: Callable[[Any], str]) -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(  # noqa: S701 - `finalize` escapes, and these are no pages of HTML
        loader=FileSystemLoader([str(folder) for folder in folders]),
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"docstring": docstring_literals.summary, "string": _string, "blocks": _blocks}
    return environment


def _string(value: str) -> Source:
    return literal(str(value))


def _blocks(declarations: Sequence[Source]) -> Source:
    """Declarations with the empty lines that formatters want: two around a class, one around what takes more lines."""
    text = "\n" if declarations and declarations[0].startswith("class ") else ""
    before = ""
    for declaration in declarations:
        if before:
            text += "\n" * max(_distance(before), _distance(declaration))
        text += declaration
        before = declaration
    return Source(text)


def _distance(declaration: str) -> int:
    return 3 if declaration.startswith("class ") else 2 if "\n" in declaration or ": " in declaration[:40] else 1


def _python(value: Any) -> str:
    return str(value) if isinstance(value, Source) else literal(value)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _toml(value: Any) -> str:
    """A basic string, a list of them, or the table keys that Source are (TOML 1.0)."""
    if isinstance(value, Source):
        return value
    if isinstance(value, list | tuple):
        return "[\n" + "".join(f"    {_toml(item)},\n" for item in value) + "]"
    inside = "".join(_toml_character(character) for character in str(value))
    return f'"{inside}"'


def _toml_character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    code = ord(character)
    return " " if 0xD800 <= code < 0xE000 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]()#+!|<>~&$^-])")


def _markdown(value: Any) -> str:
    """Text in a line of Markdown (CommonMark 2.4: any punctuation may be escaped)."""
    if isinstance(value, Source):
        return value
    line = "".join(character if character.isprintable() else " " for character in " ".join(str(value).split()))
    return _MARKDOWN.sub(r"\\\1", line)


def _plain(value: Any) -> str:
    """A name of this package, and nothing else: other files take no text of a document."""
    if not isinstance(value, Source):
        raise TypeError(f"{value!r} is no name")
    return value


FINALIZE: Final[Mapping[str, Callable[[Any], str]]] = {
    ".py": _python,
    ".json": _json,
    ".toml": _toml,
    ".md": _markdown,
    "": _plain,
}


def _kind(name: str) -> str:
    suffix = Path(name).suffix
    return suffix if suffix in FINALIZE else ""
