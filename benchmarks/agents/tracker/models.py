"""The bodies of requests and answers."""

from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field

State: TypeAlias = Literal["open", "in_progress", "waiting", "resolved", "closed"]
Priority: TypeAlias = Literal["low", "normal", "high", "urgent"]
Item = TypeVar("Item")


class Strict(BaseModel):
    """A body of a request, which has no unknown properties."""

    model_config = ConfigDict(extra="forbid")


class Stored(BaseModel):
    """Fields that every stored object has."""

    id: int
    version: int = Field(description="Grows with each change; in quotes it is the ETag.")
    created: str


class IdFilter(Strict):
    """A condition on an id."""

    any_: list[int] | None = Field(None, description="Any of these ids.")
    is_null_: bool | None = Field(None, description="Whether there is none.")


class NameFilter(Strict):
    """A condition on a text."""

    any_: list[str] | None = Field(None, description="Any of these texts.")
    like_: str | None = Field(None, description="Contains this text, whatever the case.")


class StateFilter(Strict):
    """A condition on a state."""

    any_: list[State] | None = Field(None, description="Any of these states.")
    not_any_: list[State] | None = Field(None, description="None of these states.")


class PriorityFilter(Strict):
    """A condition on a priority."""

    any_: list[Priority] | None = Field(None, description="Any of these priorities.")


class ProjectFilter(Strict):
    """Conditions on projects."""

    id: IdFilter | None = None
    name: NameFilter | None = None
    archived: bool | None = None


class TicketFilter(Strict):
    """Conditions on tickets, all of which hold."""

    id: IdFilter | None = None
    title: NameFilter | None = None
    project_id: IdFilter | None = None
    assignee_id: IdFilter | None = None
    requester_id: IdFilter | None = None
    state: StateFilter | None = None
    priority: PriorityFilter | None = None
    labels: NameFilter | None = None


class UserFilter(Strict):
    """Conditions on users."""

    id: IdFilter | None = None
    name: NameFilter | None = None
    email: NameFilter | None = None
    active: bool | None = None


class TeamFilter(Strict):
    """Conditions on teams."""

    name: NameFilter | None = None


class TimeEntryFilter(Strict):
    """Conditions on time entries."""

    ticket_id: IdFilter | None = None
    user_id: IdFilter | None = None
    billable: bool | None = None


Limit: TypeAlias = Annotated[int, Field(ge=1, le=50, description="The largest number of results.")]
Offset: TypeAlias = Annotated[int, Field(ge=0, description="The number of results to skip.")]
Sort: TypeAlias = Literal["ID_ASC", "ID_DESC"]


class ProjectCreate(Strict):
    """A new project."""

    name: str = Field(min_length=1, max_length=60)
    description: str = ""
    lead_id: int | None = Field(None, description="The user who leads the project.")


class ProjectUpdate(Strict):
    """The fields of a project to change."""

    name: str | None = Field(None, min_length=1, max_length=60)
    description: str | None = None
    lead_id: int | None = None
    archived: bool | None = None


class Project(Stored):
    """A project."""

    name: str
    description: str
    lead_id: int | None
    archived: bool


class ProjectSummary(BaseModel):
    """The numbers of a project."""

    project_id: int
    tickets: dict[str, int] = Field(description="The number of tickets in each state.")
    minutes: int = Field(description="The minutes that were logged for its tickets.")


class Due(Strict):
    """When a ticket is due."""

    date: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description="Year, month and day.")
    is_firm: bool = False


class TicketCreate(Strict):
    """A new ticket."""

    title: str = Field(min_length=1, max_length=120)
    project_id: int
    description: str = ""
    priority: Priority = "normal"
    requester_id: int | None = None
    labels: list[str] = []
    due: Due | None = None


class TicketUpdate(Strict):
    """The fields of a ticket to change."""

    title: str | None = Field(None, min_length=1, max_length=120)
    description: str | None = None
    priority: Priority | None = None
    due: Due | None = None


class Ticket(Stored):
    """A ticket."""

    title: str
    description: str
    project_id: int
    state: State
    priority: Priority
    assignee_id: int | None
    requester_id: int | None
    labels: list[str]
    due: Due | None


class StateChange(BaseModel):
    """A change of the state of a ticket."""

    ticket_id: int
    from_state: State
    to_state: State
    created: str


class CommentCreate(Strict):
    """A new comment."""

    text: str = Field(min_length=1)
    internal: bool = Field(False, description="Hidden from the requester.")


class CommentUpdate(Strict):
    """The text of a comment to change."""

    text: str = Field(min_length=1)


class Comment(Stored):
    """A comment on a ticket."""

    ticket_id: int
    author_id: int
    text: str
    internal: bool


class Attachment(Stored):
    """A file that belongs to a ticket."""

    ticket_id: int
    size: int = Field(description="Bytes.")


class UserCreate(Strict):
    """A new user."""

    name: str = Field(min_length=1)
    email: str = Field(pattern=r"^[^@ ]+@[^@ ]+$")


class UserUpdate(Strict):
    """The fields of a user to change."""

    name: str | None = Field(None, min_length=1)
    active: bool | None = None


class User(Stored):
    """A user."""

    name: str
    email: str
    active: bool


class TeamCreate(Strict):
    """A new team."""

    name: str = Field(min_length=1)
    member_ids: list[int] = []


class Team(Stored):
    """A team of users."""

    name: str
    member_ids: list[int]


class TimeEntryCreate(Strict):
    """Time spent on a ticket."""

    ticket_id: int
    user_id: int
    minutes: int = Field(ge=1, le=1440)
    billable: bool = True


class TimeEntryUpdate(Strict):
    """The fields of a time entry to change."""

    minutes: int | None = Field(None, ge=1, le=1440)
    billable: bool | None = None


class TimeEntry(Stored):
    """Time that was spent on a ticket."""

    ticket_id: int
    user_id: int
    minutes: int
    billable: bool


class LabelCreate(Strict):
    """A new label."""

    name: str = Field(pattern=r"^[a-z][a-z-]*$")
    color: str = Field("#888888", pattern=r"^#[0-9a-f]{6}$")


class Label(Stored):
    """A label for tickets."""

    name: str
    color: str


class Target(Strict):
    """The times in which tickets of a priority are answered and resolved."""

    answer_minutes: int = Field(ge=1)
    resolve_minutes: int = Field(ge=1)


class Policy(Strict):
    """The service level: a target for each priority."""

    targets: dict[Priority, Target]
    business_hours_only: bool = True


class ExportCreate(Strict):
    """What to export."""

    kind: Literal["tickets", "users", "time_entries"]
    project_id: int | None = Field(None, description="Only tickets of this project.")


class BulkUpdate(Strict):
    """A change of many tickets."""

    ticket_ids: list[int] = Field(min_length=1)
    change: TicketUpdate


class Job(Stored):
    """Work that goes on after the answer."""

    kind: str
    state: Literal["queued", "running", "done"]
    result: dict[str, Any] | None = Field(description="What the job made, once it is done.")


class Page(BaseModel, Generic[Item]):
    """A page of results by its number."""

    results: list[Item]
    count: int = Field(description="The number of all results.")
    page: int
    pages: int
    limit: int


class CursorPage(BaseModel, Generic[Item]):
    """Some of the results, and where the others are."""

    items: list[Item]
    next_cursor: str | None = Field(description="The cursor of the next page; null at the end.")
