"""Operations on projects and labels, on the service level, and on exports and other jobs."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, HTTPException, Response

from .app_state import Database
from .lists import filtered, numbered_page
from .models import (
    ExportCreate,
    Job,
    Label,
    LabelCreate,
    Limit,
    Offset,
    Page,
    Policy,
    Project,
    ProjectCreate,
    ProjectFilter,
    ProjectSummary,
    ProjectUpdate,
)
from .store import NOW, Row, Store

router = APIRouter(prefix="/projects", tags=["Projects"])
labels = APIRouter(prefix="/labels", tags=["Labels"])
policy = APIRouter(prefix="/settings", tags=["Settings"])
jobs = APIRouter(tags=["Jobs"])


@router.post("/", status_code=201)
def create_project(database: Database, project: ProjectCreate) -> Project:
    """Create a project. Answers 409 if another one has the name."""
    _check_name(database, project.name)
    return Project(**database.create("project", project.model_dump() | {"archived": False, "created": NOW}))


@router.post("/filter")
def read_projects(
    database: Database,
    projects: Annotated[ProjectFilter | None, Body()] = None,
    limit: Annotated[Limit, Body()] = 50,
    offset: Annotated[Offset, Body()] = 0,
) -> list[Project]:
    """Query for projects."""
    rows = filtered(database.all("project"), projects)[offset : offset + limit]
    return [Project(**row) for row in rows]


@router.post("/count")
def count_projects(database: Database, projects: Annotated[ProjectFilter | None, Body(embed=True)] = None) -> int:
    """Count projects."""
    return len(filtered(database.all("project"), projects))


@router.post("/paginate")
def paginate_projects(
    database: Database,
    projects: Annotated[ProjectFilter | None, Body()] = None,
    page: Annotated[int, Body(ge=1)] = 1,
    limit: Annotated[Limit, Body()] = 50,
) -> Page[Project]:
    """Query for a page of projects."""
    return Page(**numbered_page(filtered(database.all("project"), projects), page, limit))


@router.get("/name/{name}")
def read_project_by_name(database: Database, name: str) -> Project:
    """Get a project by its name."""
    for row in database.all("project"):
        if row["name"].casefold() == name.casefold():
            return Project(**row)
    raise HTTPException(404, f"there is no project {name}")


@router.get("/{project_id}")
def read_project(database: Database, project_id: int) -> Project:
    """Get a project by its id."""
    return Project(**database.get("project", project_id))


@router.patch("/{project_id}")
def update_project(database: Database, project_id: int, change: ProjectUpdate) -> Project:
    """Update fields of a project."""
    if change.name is not None:
        _check_name(database, change.name)
    return Project(**database.update("project", project_id, change.model_dump(exclude_unset=True)))


@router.delete("/{project_id}", status_code=204)
def delete_project(database: Database, project_id: int) -> None:
    """Delete a project. Answers 409 while it has tickets."""
    if any(row["project_id"] == project_id for row in database.all("ticket")):
        raise HTTPException(409, "the project has tickets")
    database.delete("project", project_id)


@router.get("/{project_id}/summary")
def read_project_summary(database: Database, project_id: int) -> ProjectSummary:
    """Get the numbers of a project: tickets in each state, and logged time."""
    database.get("project", project_id)
    tickets = {row["id"]: row for row in database.all("ticket") if row["project_id"] == project_id}
    states = sorted({row["state"] for row in tickets.values()})
    counts = {state: sum(row["state"] == state for row in tickets.values()) for state in states}
    minutes = sum(row["minutes"] for row in database.all("time_entry") if row["ticket_id"] in tickets)
    return ProjectSummary(project_id=project_id, tickets=counts, minutes=minutes)


@labels.post("/", status_code=201)
def create_label(database: Database, label: LabelCreate) -> Label:
    """Create a label. Answers 409 if there is one of that name."""
    if any(row["name"] == label.name for row in database.all("label")):
        raise HTTPException(409, f"there is a label {label.name}")
    return Label(**database.create("label", label.model_dump() | {"created": NOW}))


@labels.get("/")
def read_labels(database: Database) -> list[Label]:
    """Get all labels."""
    return [Label(**row) for row in database.all("label")]


@labels.delete("/{name}", status_code=204)
def delete_label(database: Database, name: str) -> None:
    """Delete a label. Answers 409 while tickets have it."""
    if any(name in row["labels"] for row in database.all("ticket")):
        raise HTTPException(409, f"tickets have the label {name}")
    for row in database.all("label"):
        if row["name"] == name:
            database.delete("label", row["id"])
            return
    raise HTTPException(404, f"there is no label {name}")


@policy.get("/sla")
def read_sla(database: Database) -> Policy:
    """Get the service level agreement: the targets of each priority."""
    return Policy(**_policy_fields(database.get("policy", 1)))


@policy.put("/sla")
def update_sla(database: Database, policy: Policy) -> Policy:
    """Replace the service level agreement."""
    return Policy(**_policy_fields(database.update("policy", 1, policy.model_dump())))


@jobs.post("/exports/", status_code=202)
def create_export(database: Database, response: Response, export: ExportCreate) -> Job:
    """Start an export. Ask for its job until that is done, then download the content."""
    kind = {"tickets": "ticket", "users": "user", "time_entries": "time_entry"}[export.kind]
    rows = database.all(kind)
    if kind == "ticket" and export.project_id is not None:
        rows = [row for row in rows if row["project_id"] == export.project_id]
    stored = database.create("export", {"content": _csv(rows), "created": NOW})
    result = {"export_id": stored["id"], "rows": len(rows)}
    job = database.create("job", {"kind": "export", "state": "queued", "result": result, "created": NOW})
    response.headers["Location"] = f"/jobs/{job['id']}"
    return Job(**job | {"result": None})


@jobs.get("/jobs/{job_id}")
def read_job(database: Database, job_id: int) -> Job:
    """Get the state of a job: queued, running or done."""
    job = database.get("job", job_id)
    if job["state"] != "done":  # each question brings the job one state further
        job = database.update("job", job_id, {"state": "running" if job["state"] == "queued" else "done"})
    return Job(**job | {"result": job["result"] if job["state"] == "done" else None})


@jobs.get("/exports/{export_id}/content", response_class=Response)
def read_export_content(database: Database, export_id: int) -> Response:
    """Download an export as CSV."""
    return Response(database.get("export", export_id)["content"], media_type="text/csv")


def _check_name(database: Store, name: str) -> None:
    """Raise HTTPException 409 for the name of a project that exists."""
    if any(row["name"].casefold() == name.casefold() for row in database.all("project")):
        raise HTTPException(409, f"there is a project {name}")


def _policy_fields(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("targets", "business_hours_only")}


def _csv(rows: list[Row]) -> str:
    names = [name for name in (rows[0] if rows else {}) if name not in {"version", "description", "due", "labels"}]
    lines = [",".join(names), *(",".join(str(row[name]) for name in names) for row in rows)]
    return "".join(f"{line}\n" for line in lines)
