"""The first rows: the same in every database."""

from typing import Final

from .store import NOW, Row, Store

PROJECTS: Final = ("Website", "Mobile app", "Billing", "Warehouse", "Intranet", "Data platform")
_LABELS: Final = ("bug", "outage", "refund", "question", "security", "design", "slow", "docs", "feature", "invoice")
_TEAMS: Final = ("Support", "Platform", "Payments", "Design", "Operations")
_GIVEN: Final = ("Ada", "Ben", "Chloe", "Dario", "Esra", "Farid", "Greta", "Hugo")
_FAMILY: Final = ("Lang", "Moreau", "Novak", "Okafor", "Petrov")
_STATES: Final = ("open", "in_progress", "waiting", "resolved", "closed")
_PRIORITIES: Final = ("low", "normal", "normal", "high", "urgent", "normal", "low")
_SUBJECTS: Final = (
    "Login fails after a reset of the password",
    "Invoice shows the wrong tax",
    "Page loads slowly",
    "Export has empty columns",
    "Customer asks for a refund",
    "Button is hidden on small screens",
    "Search finds nothing",
)
TICKETS: Final = 240
TIME_ENTRIES: Final = 600


def seed(store: Store) -> None:
    """Store the first rows."""
    names = [(given, family) for family in _FAMILY for given in _GIVEN]
    store.create_many("user", [_user(number, *name) for number, name in enumerate(names, 1)])
    store.create_many("project", [_project(number, name) for number, name in enumerate(PROJECTS, 1)])
    store.create_many("team", [_team(number, name) for number, name in enumerate(_TEAMS, 1)])
    store.create_many("label", [{"name": name, "color": "#888888", "created": NOW} for name in _LABELS])
    store.create_many("ticket", [_ticket(number) for number in range(1, TICKETS + 1)])
    comments = [_comment(ticket, number) for ticket in range(1, 121) for number in range(ticket % 4)]
    store.create_many("comment", comments + [_comment(12, number) for number in range(125)])
    store.create_many("time_entry", [_time_entry(number) for number in range(1, TIME_ENTRIES + 1)])
    targets = {name: {"answer_minutes": 240, "resolve_minutes": 2880} for name in ("low", "normal", "high", "urgent")}
    store.create("policy", {"targets": targets, "business_hours_only": True})


def _user(number: int, given: str, family: str) -> Row:
    email = f"{given}.{family}@example.com".lower()
    return {"name": f"{given} {family}", "email": email, "active": number % 9 != 0, "created": NOW}


def _project(number: int, name: str) -> Row:
    description = f"All work on the {name.lower()}"
    return {"name": name, "description": description, "lead_id": number * 5, "archived": False, "created": NOW}


def _team(number: int, name: str) -> Row:
    return {"name": name, "member_ids": [number, number + 8, number + 16], "created": NOW}


def _ticket(number: int) -> Row:
    return {
        "title": f"{_SUBJECTS[number * 5 % 7]} ({number})",
        "description": f"Reported by telephone, case {1000 + number * 37 % 1000}. Please answer within a day.",
        "project_id": number % len(PROJECTS) + 1,
        "state": _STATES[number * 3 % 11 % 5],
        "priority": _PRIORITIES[number * 4 % 7],
        "assignee_id": None if number % 5 == 0 else number * 7 % 40 + 1,
        "requester_id": number * 11 % 40 + 1,
        "labels": sorted({_LABELS[number % 10], _LABELS[number * 3 % 10]}),
        "due": {"date": f"2026-03-{number % 28 + 1:02}", "is_firm": number % 2 == 0} if number % 3 == 0 else None,
        "created": NOW,
    }


def _comment(ticket_id: int, number: int) -> Row:
    text = "I tried that, and it happens again." if number % 2 else "Please clear the cache and try once more."
    author = (ticket_id * 3 + number) % 40 + 1
    return {"ticket_id": ticket_id, "author_id": author, "text": text, "internal": number % 5 == 4, "created": NOW}


def _time_entry(number: int) -> Row:
    minutes = number * 13 % 90 + 5
    ticket, user = number * 7 % TICKETS + 1, number * 3 % 40 + 1
    return {"ticket_id": ticket, "user_id": user, "minutes": minutes, "billable": number % 4 != 0, "created": NOW}
