"""The templates of the page, in which every value is escaped for HTML and hidden characters are shown as escapes."""

import json
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ..generator.templates import templates_path
from ..runtime.result import hidden_characters

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def templates() -> "Environment":
    """Return the templates; `to_json` is a filter for values that are shown as JSON."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(templates_path() / "ui"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["to_json"] = partial(json.dumps, indent=2, ensure_ascii=False)
    return environment


def _shown(value: Any) -> Any:
    if value is None:
        return ""
    return hidden_characters.escape(value) if type(value) is str else value


def render(name: str, **values: Any) -> str:
    """Return the HTML of a template."""
    return templates().get_template(name).render(values)
