"""Operations on tickets, their comments and their attachments."""

import base64
from typing import Annotated, Final

from fastapi import APIRouter, Body, File, Header, HTTPException, Query, Response, UploadFile

from .app_state import Database
from .lists import filtered, numbered_page, page_after
from .models import (
    Attachment,
    BulkUpdate,
    Comment,
    CommentCreate,
    CommentUpdate,
    CursorPage,
    Job,
    Limit,
    Offset,
    Page,
    Sort,
    State,
    StateChange,
    Ticket,
    TicketCreate,
    TicketFilter,
    TicketUpdate,
)
from .store import NOW, Row, Store

router = APIRouter(prefix="/tickets", tags=["Tickets"])
comments = APIRouter(tags=["Comments"])
attachments = APIRouter(tags=["Attachments"])

ME: Final = 1
"""The user whose requests these are."""

_NEXT_STATES: Final = {
    "open": {"in_progress", "waiting", "closed"},
    "in_progress": {"waiting", "resolved", "open"},
    "waiting": {"in_progress", "closed"},
    "resolved": {"closed", "open"},
    "closed": {"open"},
}
IfMatch = Annotated[str | None, Header(description="The ETag of the ticket as it was read; the change needs it.")]
Conditions = Annotated[TicketFilter | None, Body()]


@router.post("/", status_code=201)
def create_ticket(database: Database, ticket: TicketCreate) -> Ticket:
    """Create a ticket in a project."""
    database.get("project", ticket.project_id)
    _check_labels(database, ticket.labels)
    row = ticket.model_dump() | {"state": "open", "assignee_id": None, "created": NOW}
    return Ticket(**database.create("ticket", row))


@router.post("/filter")
def read_tickets(
    database: Database,
    tickets: Conditions = None,
    sort: Annotated[Sort, Body()] = "ID_ASC",
    limit: Annotated[Limit, Body()] = 50,
    offset: Annotated[Offset, Body()] = 0,
) -> list[Ticket]:
    """Query for tickets."""
    rows = filtered(database.all("ticket"), tickets, sort)[offset : offset + limit]
    return [Ticket(**row) for row in rows]


@router.post("/count")
def count_tickets(database: Database, tickets: Annotated[TicketFilter | None, Body(embed=True)] = None) -> int:
    """Count tickets."""
    return len(filtered(database.all("ticket"), tickets))


@router.post("/paginate")
def paginate_tickets(
    database: Database,
    tickets: Conditions = None,
    sort: Annotated[Sort, Body()] = "ID_ASC",
    page: Annotated[int, Body(ge=1)] = 1,
    limit: Annotated[Limit, Body()] = 50,
) -> Page[Ticket]:
    """Query for a page of tickets."""
    return Page(**numbered_page(filtered(database.all("ticket"), tickets, sort), page, limit))


@router.post("/bulk_update", status_code=202)
def bulk_update_tickets(database: Database, response: Response, update: BulkUpdate) -> Job:
    """Change the same fields of many tickets, in a job."""
    change = update.change.model_dump(exclude_unset=True)
    for ticket_id in update.ticket_ids:
        database.update("ticket", ticket_id, change)
    result = {"updated": len(update.ticket_ids)}
    job = database.create("job", {"kind": "bulk_update", "state": "queued", "result": result, "created": NOW})
    response.headers["Location"] = f"/jobs/{job['id']}"
    return Job(**job | {"result": None})


@router.get("/{ticket_id}")
def read_ticket(database: Database, response: Response, ticket_id: int) -> Ticket:
    """Get a ticket by its id, with its ETag."""
    ticket = Ticket(**database.get("ticket", ticket_id))
    response.headers["ETag"] = f'"{ticket.version}"'
    return ticket


@router.patch("/{ticket_id}")
def update_ticket(database: Database, ticket_id: int, change: TicketUpdate, if_match: IfMatch = None) -> Ticket:
    """Update fields of a ticket. Needs its ETag in If-Match: 428 without it, 412 if the ticket has changed."""
    if if_match is None:
        raise HTTPException(428, "If-Match is missing: read the ticket, then send its ETag")
    version = if_match.strip('"')
    if not version.isdecimal():
        raise HTTPException(412, f"not the ETag of the ticket: {if_match}")
    return Ticket(**database.update("ticket", ticket_id, change.model_dump(exclude_unset=True), int(version)))


@router.delete("/{ticket_id}", status_code=204)
def delete_ticket(database: Database, ticket_id: int) -> None:
    """Delete a ticket."""
    database.delete("ticket", ticket_id)


@router.post("/{ticket_id}/set_state")
def set_ticket_state(database: Database, ticket_id: int, state: Annotated[State, Body(embed=True)]) -> Ticket:
    """Set the state of a ticket. Answers 409 if the ticket cannot go from its state to that one."""
    before = database.get("ticket", ticket_id)["state"]
    if state not in _NEXT_STATES[before]:
        possible = " or ".join(sorted(_NEXT_STATES[before]))
        raise HTTPException(409, f"a ticket that is {before} cannot become {state}, only {possible}")
    change = {"ticket_id": ticket_id, "from_state": before, "to_state": state, "created": NOW}
    database.create("state_change", change)
    return Ticket(**database.update("ticket", ticket_id, {"state": state}))


@router.post("/{ticket_id}/assign")
def assign_ticket(
    database: Database, ticket_id: int, assignee_id: Annotated[int | None, Body(embed=True)] = None
) -> Ticket:
    """Assign a ticket to a user, or to nobody. Answers 409 if the user is not active."""
    if assignee_id is not None and not database.get("user", assignee_id)["active"]:
        raise HTTPException(409, f"user {assignee_id} is not active")
    return Ticket(**database.update("ticket", ticket_id, {"assignee_id": assignee_id}))


@router.get("/{ticket_id}/history")
def read_ticket_history(database: Database, ticket_id: int) -> list[StateChange]:
    """Get the changes of a ticket's state."""
    return [StateChange(**row) for row in database.all("state_change") if row["ticket_id"] == ticket_id]


@router.put("/{ticket_id}/labels/{label}")
def add_ticket_label(database: Database, ticket_id: int, label: str) -> Ticket:
    """Put a label on a ticket."""
    _check_labels(database, [label])
    ticket = database.get("ticket", ticket_id)
    return Ticket(**database.update("ticket", ticket_id, {"labels": sorted({*ticket["labels"], label})}))


@router.delete("/{ticket_id}/labels/{label}", status_code=204)
def remove_ticket_label(database: Database, ticket_id: int, label: str) -> None:
    """Take a label off a ticket."""
    ticket = database.get("ticket", ticket_id)
    if label not in ticket["labels"]:
        raise HTTPException(404, f"ticket {ticket_id} has no label {label}")
    database.update("ticket", ticket_id, {"labels": [each for each in ticket["labels"] if each != label]})


@router.post("/{ticket_id}/merge")
def merge_ticket(database: Database, ticket_id: int, into_id: Annotated[int, Body(embed=True)]) -> Ticket:
    """Close a ticket that repeats another, and move its comments there."""
    database.get("ticket", ticket_id)
    target = database.get("ticket", into_id)
    for comment in _of_ticket(database, "comment", ticket_id):
        database.update("comment", comment["id"], {"ticket_id": into_id})
    database.update("ticket", ticket_id, {"state": "closed"})
    return Ticket(**target)


@comments.post("/tickets/{ticket_id}/comments", status_code=201)
def create_comment(database: Database, ticket_id: int, comment: CommentCreate) -> Comment:
    """Write a comment on a ticket."""
    database.get("ticket", ticket_id)
    row = comment.model_dump() | {"ticket_id": ticket_id, "author_id": ME, "created": NOW}
    return Comment(**database.create("comment", row))


@comments.get("/tickets/{ticket_id}/comments")
def read_comments(
    database: Database, ticket_id: int, cursor: str | None = None, limit: Annotated[int, Query(ge=1, le=25)] = 25
) -> CursorPage[Comment]:
    """Get the comments on a ticket, the oldest first."""
    database.get("ticket", ticket_id)
    return CursorPage(**page_after(_of_ticket(database, "comment", ticket_id), cursor, limit))


@comments.get("/comments/{comment_id}")
def read_comment(database: Database, comment_id: int) -> Comment:
    """Get a comment by its id."""
    return Comment(**database.get("comment", comment_id))


@comments.patch("/comments/{comment_id}")
def update_comment(database: Database, comment_id: int, change: CommentUpdate) -> Comment:
    """Update the text of a comment."""
    return Comment(**database.update("comment", comment_id, change.model_dump()))


@comments.delete("/comments/{comment_id}", status_code=204)
def delete_comment(database: Database, comment_id: int) -> None:
    """Delete a comment."""
    database.delete("comment", comment_id)


@attachments.post("/tickets/{ticket_id}/attachments", status_code=201)
async def upload_attachment(database: Database, ticket_id: int, file: Annotated[UploadFile, File()]) -> Attachment:
    """Upload a file to a ticket."""
    database.get("ticket", ticket_id)
    content = await file.read()
    row = {"ticket_id": ticket_id, "size": len(content), "created": NOW}
    return Attachment(**database.create("attachment", row | {"content": base64.b64encode(content).decode()}))


@attachments.get("/tickets/{ticket_id}/attachments")
def read_attachments(database: Database, ticket_id: int) -> list[Attachment]:
    """Get the files of a ticket."""
    database.get("ticket", ticket_id)
    return [Attachment(**row) for row in _of_ticket(database, "attachment", ticket_id)]


@attachments.get("/attachments/{attachment_id}/content", response_class=Response)
def read_attachment_content(database: Database, attachment_id: int) -> Response:
    """Download a file."""
    content = base64.b64decode(database.get("attachment", attachment_id)["content"])
    return Response(content, media_type="text/plain" if content.isascii() else "application/octet-stream")


@attachments.delete("/attachments/{attachment_id}", status_code=204)
def delete_attachment(database: Database, attachment_id: int) -> None:
    """Delete a file."""
    database.delete("attachment", attachment_id)


def _of_ticket(database: Store, kind: str, ticket_id: int) -> list[Row]:
    return [row for row in database.all(kind) if row["ticket_id"] == ticket_id]


def _check_labels(database: Store, labels: list[str]) -> None:
    """Raise HTTPException 422 for a label that does not exist."""
    known = {row["name"] for row in database.all("label")}
    if unknown := sorted({*labels} - known):
        raise HTTPException(422, f"there is no label {unknown[0]}")
