"""The tools that are served, in their order."""

from typing import Any

from ..runtime import ToolFunction
from . import events, operations, tickets

FUNCTIONS: list[ToolFunction[..., Any]] = [
    operations.get_museum_hours,
    events.create_special_event,
    events.list_special_events,
    events.get_special_event,
    events.update_special_event,
    events.delete_special_event,
    tickets.buy_museum_tickets,
    tickets.get_ticket_code,
]
