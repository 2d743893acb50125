"""Operations on users and teams."""

from typing import Annotated

from fastapi import APIRouter, Body, HTTPException, Query

from .app_state import Database
from .lists import filtered, numbered_page
from .models import Limit, Offset, Page, Team, TeamCreate, TeamFilter, User, UserCreate, UserFilter, UserUpdate
from .store import NOW
from .tickets import ME

users = APIRouter(prefix="/users", tags=["Users"])
teams = APIRouter(prefix="/teams", tags=["Teams"])


@users.post("/", status_code=201)
def create_user(database: Database, user: UserCreate) -> User:
    """Create a user. Answers 409 if another one has the address."""
    if any(row["email"] == user.email for row in database.all("user")):
        raise HTTPException(409, f"there is a user with the email {user.email}")
    return User(**database.create("user", user.model_dump() | {"active": True, "created": NOW}))


@users.get("/")
def list_users(
    database: Database, page: Annotated[int, Query(ge=1)] = 1, limit: Annotated[int, Query(ge=1, le=20)] = 20
) -> Page[User]:
    """List users in pages, by the number of the page."""
    return Page(**numbered_page(database.all("user"), page, limit))


@users.post("/filter")
def read_users(
    database: Database,
    users: Annotated[UserFilter | None, Body()] = None,
    limit: Annotated[Limit, Body()] = 50,
    offset: Annotated[Offset, Body()] = 0,
) -> list[User]:
    """Query for users."""
    rows = filtered(database.all("user"), users)[offset : offset + limit]
    return [User(**row) for row in rows]


@users.post("/count")
def count_users(database: Database, users: Annotated[UserFilter | None, Body(embed=True)] = None) -> int:
    """Count users."""
    return len(filtered(database.all("user"), users))


@users.get("/me")
def read_own_user(database: Database) -> User:
    """Get the user whose request this is."""
    return User(**database.get("user", ME))


@users.get("/{user_id}")
def read_user(database: Database, user_id: int) -> User:
    """Get a user by the id."""
    return User(**database.get("user", user_id))


@users.patch("/{user_id}")
def update_user(database: Database, user_id: int, change: UserUpdate) -> User:
    """Update fields of a user."""
    return User(**database.update("user", user_id, change.model_dump(exclude_unset=True)))


@users.delete("/{user_id}", status_code=204)
def delete_user(database: Database, user_id: int) -> None:
    """Delete a user. Answers 409 while tickets are assigned to the user."""
    if any(row["assignee_id"] == user_id for row in database.all("ticket")):
        raise HTTPException(409, "tickets are assigned to this user: assign them to another one first")
    database.delete("user", user_id)


@teams.post("/", status_code=201)
def create_team(database: Database, team: TeamCreate) -> Team:
    """Create a team."""
    for user_id in team.member_ids:
        database.get("user", user_id)
    return Team(**database.create("team", team.model_dump() | {"created": NOW}))


@teams.post("/filter")
def read_teams(
    database: Database,
    teams: Annotated[TeamFilter | None, Body()] = None,
    limit: Annotated[Limit, Body()] = 50,
    offset: Annotated[Offset, Body()] = 0,
) -> list[Team]:
    """Query for teams."""
    rows = filtered(database.all("team"), teams)[offset : offset + limit]
    return [Team(**row) for row in rows]


@teams.get("/{team_id}")
def read_team(database: Database, team_id: int) -> Team:
    """Get a team by its id."""
    return Team(**database.get("team", team_id))


@teams.delete("/{team_id}", status_code=204)
def delete_team(database: Database, team_id: int) -> None:
    """Delete a team."""
    database.delete("team", team_id)


@teams.get("/{team_id}/members")
def read_team_members(database: Database, team_id: int) -> list[User]:
    """Get the members of a team."""
    return [User(**database.get("user", each)) for each in database.get("team", team_id)["member_ids"]]


@teams.put("/{team_id}/members/{user_id}")
def add_team_member(database: Database, team_id: int, user_id: int) -> Team:
    """Add a user to a team."""
    database.get("user", user_id)
    members = {*database.get("team", team_id)["member_ids"], user_id}
    return Team(**database.update("team", team_id, {"member_ids": sorted(members)}))


@teams.delete("/{team_id}/members/{user_id}", status_code=204)
def remove_team_member(database: Database, team_id: int, user_id: int) -> None:
    """Remove a user from a team."""
    members = database.get("team", team_id)["member_ids"]
    if user_id not in members:
        raise HTTPException(404, f"user {user_id} is not in team {team_id}")
    database.update("team", team_id, {"member_ids": [each for each in members if each != user_id]})
