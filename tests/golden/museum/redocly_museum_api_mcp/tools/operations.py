"""Operational information about the museum."""

from typing import NotRequired, TypedDict

from ..api import BASE_URL, MUSEUM_PLACEHOLDER_AUTH
from ..runtime import Api, Result, Toolbox, query, read_schemas

SCHEMAS = read_schemas(__file__)


class MuseumDailyHours(TypedDict):
    date: NotRequired[str]
    timeOpen: NotRequired[str]
    timeClose: NotRequired[str]


tools = Toolbox(base_url=BASE_URL, tags=["Operations"], security=[[MUSEUM_PLACEHOLDER_AUTH]])


@tools.get(
    "/museum-hours",
    name="getMuseumHours",
    title="Get museum hours",
    inputs=[
        query(
            "startDate",
            {
                "type": "string",
                "format": "date",
                "description": "Starting date to retrieve future operating hours from. Defaults to today's date.",
            },
        ),
        query("page", {"type": "integer", "default": 1, "description": "Page number to retrieve."}),
        query("limit", {"type": "integer", "default": 10, "maximum": 30, "description": "Number of days per page."}),
    ],
    output_schema=SCHEMAS["getMuseumHours"],
)
async def get_museum_hours(
    api: Api,
    *,
    start_date: str | None = None,
    page: int = 1,
    limit: int = 10,
) -> Result[list[MuseumDailyHours]]:
    """Get upcoming museum operating hours."""
    return await api.call(get_museum_hours, start_date=start_date, page=page, limit=limit)
