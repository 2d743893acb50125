"""Filters and pages of rows."""

import base64
import binascii
from collections.abc import Callable, Iterable
from typing import Any

from fastapi import HTTPException
from pydantic import BaseModel

from .store import Row


def filtered(rows: Iterable[Row], conditions: BaseModel | None, sort: str = "ID_ASC") -> list[Row]:
    """Return the rows that fulfil all conditions."""
    wanted = conditions.model_dump(exclude_none=True) if conditions else {}
    kept = [row for row in rows if all(_fulfils(row[name], wanted[name]) for name in wanted)]
    return kept[::-1] if sort.endswith("DESC") else kept


def _fulfils(value: Any, condition: Any) -> bool:
    """Return whether a value, or one of a list, fulfils a condition."""
    if not isinstance(condition, dict):
        return bool(value == condition)
    values = value if isinstance(value, list) else [value]
    checks: dict[str, Callable[[Any], bool]] = {
        "any_": lambda wanted: any(each in wanted for each in values),
        "not_any_": lambda wanted: all(each not in wanted for each in values),
        "is_null_": lambda wanted: (value is None) == wanted,
        "like_": lambda wanted: any(wanted.casefold() in str(each).casefold() for each in values),
    }
    return all(checks[name](wanted) for name, wanted in condition.items())


def numbered_page(rows: list[Row], page: int, limit: int) -> dict[str, Any]:
    """Return a page by its number, from 1."""
    pages = -(-len(rows) // limit)
    shown = rows[(page - 1) * limit : page * limit]
    return {"results": shown, "count": len(rows), "page": page, "pages": pages, "limit": limit}


def page_after(rows: list[Row], cursor: str | None, limit: int) -> dict[str, Any]:
    """Return the page after a cursor, which is the id of the last row, encoded. Raises HTTPException 400."""
    try:
        last = int(base64.urlsafe_b64decode(cursor)) if cursor else 0
    except (binascii.Error, ValueError):
        raise HTTPException(400, f"not a cursor: {cursor}") from None
    rest = [row for row in rows if row["id"] > last]
    shown = rest[:limit]
    more = len(rest) > limit
    return {"items": shown, "next_cursor": _cursor(shown[-1]["id"]) if more else None}


def _cursor(row_id: int) -> str:
    return base64.urlsafe_b64encode(str(row_id).encode()).decode()
