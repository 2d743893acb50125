"""Docstrings as the descriptions of tools: a line that begins with a letter continues the one before it.

That is how Markdown reads a paragraph, and all that is read here: empty lines, lists, quotations, tables and whatever
else begins with a sign stay as they are. So a description may be wrapped in source without being another.
"""

import inspect
import re
from typing import Final

_CONTINUED: Final = re.compile(r"(?<=\S)\n(?=[^\W\d_])")


def read(docstring: str | None) -> str:
    """The description that a docstring is; nothing where there is none."""
    return _CONTINUED.sub(" ", inspect.cleandoc(docstring)) if docstring else ""
