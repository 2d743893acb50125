"""Museum tickets for general entrance or special events."""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from ..api import BASE_URL, MUSEUM_PLACEHOLDER_AUTH
from ..runtime import Api, Result, Schema, Toolbox, body, path, read_schemas

SCHEMAS = read_schemas(__file__)

DEFINITIONS: dict[str, Schema] = {
    "Date": {"type": "string", "format": "date"},
    "Email": {"description": "Email address for ticket purchaser.", "type": "string", "format": "email"},
    "EventId": {"description": "Identifier for a special event.", "type": "string", "format": "uuid"},
    "TicketId": {
        "description": "Unique identifier for museum ticket. Generated when purchased.",
        "type": "string",
        "format": "uuid",
    },
    "TicketType": {
        "description": (
            "Type of ticket being purchased. Use `general` for regular museum entry and `event` for tickets to special "
            "events."
        ),
        "type": "string",
        "enum": ["event", "general"],
    },
}


class MuseumTicketsConfirmation(TypedDict):
    ticketId: NotRequired[str]
    ticketDate: NotRequired[str]
    ticketType: NotRequired[str]
    eventId: NotRequired[str]
    message: NotRequired[str]
    confirmationCode: NotRequired[str]


TicketType: TypeAlias = Literal["event", "general"]


tools = Toolbox(base_url=BASE_URL, tags=["Tickets"], security=[[MUSEUM_PLACEHOLDER_AUTH]], definitions=DEFINITIONS)


@tools.post(
    "/tickets",
    name="buyMuseumTickets",
    title="Buy museum tickets",
    inputs=[
        body("email", {"$ref": "#/$defs/Email"}),
        body("ticketId", {"$ref": "#/$defs/TicketId"}),
        body(
            "ticketDate",
            {"$ref": "#/$defs/Date", "description": "Date when this ticket can be used for museum entry."},
            required=True,
        ),
        body("ticketType", {"$ref": "#/$defs/TicketType"}, required=True),
        body(
            "eventId",
            {
                "$ref": "#/$defs/EventId",
                "description": (
                    "Unique identifier for a special event. Required if purchasing tickets for the museum's special "
                    "events."
                ),
            },
        ),
    ],
    open_body=True,
    output_schema=SCHEMAS["buyMuseumTickets"],
)
async def buy_museum_tickets(
    api: Api,
    *,
    email: str | None = None,
    ticket_id: str | None = None,
    ticket_date: str,
    ticket_type: TicketType,
    event_id: str | None = None,
    others: dict[str, Any] | None = None,
) -> Result[MuseumTicketsConfirmation]:
    """Purchase museum tickets for general entry or special events."""
    return await api.call(
        buy_museum_tickets,
        email=email,
        ticket_id=ticket_id,
        ticket_date=ticket_date,
        ticket_type=ticket_type,
        event_id=event_id,
        others=others,
    )


@tools.get(
    "/tickets/{ticketId}/qr",
    name="getTicketCode",
    inputs=[
        path(
            "ticketId",
            {
                "type": "string",
                "format": "uuid",
                "description": "Identifier for a ticket to a museum event. Used to generate ticket image.",
            },
        ),
    ],
    accept="image/png, */*;q=0.5",
)
async def get_ticket_code(api: Api, *, ticket_id: str) -> Result[Any]:
    """Get ticket QR code

    Return an image of your ticket with scannable QR code. Used for event entry.
    """
    return await api.call(get_ticket_code, ticket_id=ticket_id)
