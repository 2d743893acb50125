"""Special events hosted by the museum."""

from typing import Any, NotRequired, TypedDict

from ..api import BASE_URL, MUSEUM_PLACEHOLDER_AUTH
from ..runtime import Api, Result, Schema, Toolbox, body, path, query, read_schemas

SCHEMAS = read_schemas(__file__)

DEFINITIONS: dict[str, Schema] = {
    "Date": {"type": "string", "format": "date"},
    "EventDates": {
        "type": "array",
        "items": {"$ref": "#/$defs/Date"},
        "description": "List of planned dates for the special event.",
    },
    "EventDescription": {"type": "string", "description": "Description of the special event."},
    "EventId": {"description": "Identifier for a special event.", "type": "string", "format": "uuid"},
    "EventLocation": {
        "type": "string",
        "description": "Location where the special event is held.",
        "examples": ["Computer Room"],
    },
    "EventName": {
        "type": "string",
        "description": "Name of the special event.",
        "examples": ["Pirate Coding Workshop"],
    },
    "EventPrice": {"description": "Price of a ticket for the special event.", "type": "number", "format": "float"},
}


class SpecialEvent(TypedDict):
    eventId: NotRequired[str]
    name: NotRequired[str]
    location: NotRequired[str]
    eventDescription: NotRequired[str]
    dates: NotRequired[list[str]]
    price: NotRequired[float]


EVENT_ID = path("eventId", {"type": "string", "format": "uuid", "description": "Identifier for a special event."})


tools = Toolbox(base_url=BASE_URL, tags=["Events"], security=[[MUSEUM_PLACEHOLDER_AUTH]], definitions=DEFINITIONS)


@tools.post(
    "/special-events",
    name="createSpecialEvent",
    inputs=[
        body("eventId", {"$ref": "#/$defs/EventId"}),
        body("name", {"$ref": "#/$defs/EventName"}, required=True),
        body("location", {"$ref": "#/$defs/EventLocation"}, required=True),
        body("eventDescription", {"$ref": "#/$defs/EventDescription"}, required=True),
        body("dates", {"$ref": "#/$defs/EventDates"}, required=True),
        body("price", {"$ref": "#/$defs/EventPrice"}, required=True),
    ],
    open_body=True,
    output_schema=SCHEMAS["createSpecialEvent"],
)
async def create_special_event(
    api: Api,
    *,
    event_id: str | None = None,
    name: str,
    location: str,
    event_description: str,
    dates: list[str],
    price: float,
    others: dict[str, Any] | None = None,
) -> Result[SpecialEvent]:
    """Create special events

    Creates a new special event for the museum.
    """
    return await api.call(
        create_special_event,
        event_id=event_id,
        name=name,
        location=location,
        event_description=event_description,
        dates=dates,
        price=price,
        others=others,
    )


@tools.get(
    "/special-events",
    name="listSpecialEvents",
    title="List special events",
    inputs=[
        query(
            "startDate",
            {
                "type": "string",
                "format": "date",
                "description": "Starting date to retrieve future operating hours from. Defaults to today's date.",
            },
        ),
        query(
            "endDate",
            {
                "type": "string",
                "format": "date",
                "description": (
                    "End of a date range to retrieve special events for. Defaults to 7 days after `startDate`."
                ),
            },
        ),
        query("page", {"type": "integer", "default": 1, "description": "Page number to retrieve."}),
        query("limit", {"type": "integer", "default": 10, "maximum": 30, "description": "Number of days per page."}),
    ],
    output_schema=SCHEMAS["listSpecialEvents"],
)
async def list_special_events(
    api: Api,
    *,
    start_date: str | None = None,
    end_date: str | None = None,
    page: int = 1,
    limit: int = 10,
) -> Result[list[SpecialEvent]]:
    """Return a list of upcoming special events at the museum."""
    return await api.call(list_special_events, start_date=start_date, end_date=end_date, page=page, limit=limit)


@tools.get(
    "/special-events/{eventId}",
    name="getSpecialEvent",
    title="Get special event",
    inputs=[EVENT_ID],
    output_schema=SCHEMAS["createSpecialEvent"],
)
async def get_special_event(api: Api, *, event_id: str) -> Result[SpecialEvent]:
    """Get details about a special event."""
    return await api.call(get_special_event, event_id=event_id)


@tools.patch(
    "/special-events/{eventId}",
    name="updateSpecialEvent",
    title="Update special event",
    inputs=[
        EVENT_ID,
        body("name", {"$ref": "#/$defs/EventName"}),
        body("location", {"$ref": "#/$defs/EventLocation"}),
        body("eventDescription", {"$ref": "#/$defs/EventDescription"}),
        body("dates", {"$ref": "#/$defs/EventDates"}),
        body("price", {"$ref": "#/$defs/EventPrice"}),
    ],
    open_body=True,
    output_schema=SCHEMAS["createSpecialEvent"],
)
async def update_special_event(
    api: Api,
    *,
    event_id: str,
    name: str | None = None,
    location: str | None = None,
    event_description: str | None = None,
    dates: list[str] | None = None,
    price: float | None = None,
    others: dict[str, Any] | None = None,
) -> Result[SpecialEvent]:
    """Update the details of a special event."""
    return await api.call(
        update_special_event,
        event_id=event_id,
        name=name,
        location=location,
        event_description=event_description,
        dates=dates,
        price=price,
        others=others,
    )


@tools.delete("/special-events/{eventId}", name="deleteSpecialEvent", title="Delete special event", inputs=[EVENT_ID])
async def delete_special_event(api: Api, *, event_id: str) -> Result[Any]:
    """Delete a special event from the collection. Allows museum to cancel planned events."""
    return await api.call(delete_special_event, event_id=event_id)
