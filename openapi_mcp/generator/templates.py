"""Render templates: one jinja2 Environment for each kind of file, whose `finalize` escapes every value.

A template writes `{{ value }}`, and the kind of the file decides how the value is escaped; `Source` is inserted
unchanged. Templates hold no logic: no macros, and no expressions but names.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..errors import UsageError
from . import literals
from .literals import Source, literal

if TYPE_CHECKING:
    from jinja2 import Environment

ENDING: Final = ".jinja"


def templates_path() -> Path:
    """Return the folder of this project's templates: in the installed package, or beside it in a checkout."""
    installed = Path(__file__).parents[1] / "templates"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "templates"


class Templates:
    """The templates of this project, and those of a folder that replace them or add to them file by file.

    Raises UsageError if the folder does not exist.
    """

    def __init__(self, folder: Path | None = None) -> None:
        if folder is not None and not folder.is_dir():
            raise UsageError("folder of templates does not exist", where=str(folder), hint="see --templates")
        self._folders = [templates_path()] if folder is None else [folder, templates_path()]
        self._environments: dict[str, Environment] = {}

    def names(self) -> Sequence[str]:
        """Return the paths of all templates relative to their folder, without `.jinja`."""
        return sorted({name for folder in self._folders for name in _names(folder)})

    def render(self, name: str, values: Mapping[str, Any]) -> bytes:
        """Return the content of a file. Raises UsageError for an invalid template and for names it does not define."""
        from jinja2 import TemplateError

        kind = _kind(name)
        if kind not in self._environments:
            self._environments[kind] = _environment(self._folders, FINALIZE[kind])
        try:
            text = self._environments[kind].get_template(name + ENDING).render(values)
        except TemplateError as error:
            raise UsageError(
                f"template cannot be rendered: {error}", where=name + ENDING, hint="correct the template"
            ) from error
        return text.encode("utf-8")


def _names(folder: Path) -> Iterator[str]:
    for path in folder.rglob(f"*{ENDING}"):
        yield path.relative_to(folder).as_posix().removesuffix(ENDING)


def _environment(folders: Sequence[Path], finalize: Callable[[Any], str]) -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(  # noqa: S701 - `finalize` escapes; no template is HTML  # nosec B701
        loader=FileSystemLoader([str(folder) for folder in folders]),
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"docstring": literals.summary_docstring, "string": _string, "blocks": _blocks}
    return environment


def _string(value: str) -> Source:
    return literal(str(value))


def _blocks(declarations: Sequence[Source]) -> Source:
    """Join declarations with the empty lines of formatters: two around a class, one around several lines or a type."""
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
    """Return a basic string, a list of such, or Source unchanged, which is a key (TOML 1.0)."""
    if isinstance(value, Source):
        return value
    if isinstance(value, list | tuple):
        return "[\n" + "".join(f"    {_toml(item)},\n" for item in value) + "]"
    text = "".join(_toml_character(character) for character in str(value))
    return f'"{text}"'


def _toml_character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    code = ord(character)
    return " " if 0xD800 <= code < 0xE000 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]()#+!|<>~&$^-])")


def _markdown(value: Any) -> str:
    """Escape text for a line of Markdown (CommonMark 2.4: any punctuation may be escaped)."""
    if isinstance(value, Source):
        return value
    line = "".join(character if character.isprintable() else " " for character in " ".join(str(value).split()))
    return _MARKDOWN.sub(r"\\\1", line)


def _plain(value: Any) -> str:
    """Return Source. Raises TypeError for anything else: other kinds of files take no text of a document."""
    if not isinstance(value, Source):
        raise TypeError(f"only identifiers are allowed here, not {value!r}")
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
