"""Operations on the time that was spent on tickets."""

from typing import Annotated

from fastapi import APIRouter, Body, Query

from .app_state import Database
from .lists import filtered, page_after
from .models import CursorPage, Limit, Offset, TimeEntry, TimeEntryCreate, TimeEntryFilter, TimeEntryUpdate
from .store import NOW

router = APIRouter(prefix="/time_entries", tags=["Time entries"])


@router.post("/", status_code=201)
def create_time_entry(database: Database, time_entry: TimeEntryCreate) -> TimeEntry:
    """Log time that a user spent on a ticket."""
    database.get("ticket", time_entry.ticket_id)
    database.get("user", time_entry.user_id)
    return TimeEntry(**database.create("time_entry", time_entry.model_dump() | {"created": NOW}))


@router.get("/")
def list_time_entries(
    database: Database, cursor: str | None = None, limit: Annotated[int, Query(ge=1, le=100)] = 100
) -> CursorPage[TimeEntry]:
    """List the time that was logged, a page after the other."""
    return CursorPage(**page_after(database.all("time_entry"), cursor, limit))


@router.post("/filter")
def read_time_entries(
    database: Database,
    time_entries: Annotated[TimeEntryFilter | None, Body()] = None,
    limit: Annotated[Limit, Body()] = 50,
    offset: Annotated[Offset, Body()] = 0,
) -> list[TimeEntry]:
    """Query for time entries."""
    rows = filtered(database.all("time_entry"), time_entries)[offset : offset + limit]
    return [TimeEntry(**row) for row in rows]


@router.patch("/{time_entry_id}")
def update_time_entry(database: Database, time_entry_id: int, change: TimeEntryUpdate) -> TimeEntry:
    """Update fields of a time entry."""
    return TimeEntry(**database.update("time_entry", time_entry_id, change.model_dump(exclude_unset=True)))


@router.delete("/{time_entry_id}", status_code=204)
def delete_time_entry(database: Database, time_entry_id: int) -> None:
    """Delete a time entry."""
    database.delete("time_entry", time_entry_id)
