"""The tools that are served, in their order."""

from typing import Any

from ..runtime import ToolFunction
from . import catalogue, loans

FUNCTIONS: list[ToolFunction[..., Any]] = [
    catalogue.books_list,
    catalogue.books_search,
    catalogue.books_get,
    catalogue.books_put,
    catalogue.books_link,
    catalogue.reports,
    loans.lend,
    loans.keep_slip,
]
