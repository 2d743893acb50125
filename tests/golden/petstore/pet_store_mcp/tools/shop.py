"""The shop as a whole."""

from typing import Any

from ..api import BASE_URL
from ..runtime import Api, Encoding, MediaType, RequestBody, Result, Schema, Toolbox, body

GET_INVENTORY_OUTPUT: Schema = {"type": "object", "additionalProperties": {"type": "integer"}}


tools = Toolbox(base_url=BASE_URL, tags=["shop"], accept="text/plain, */*;q=0.5")


@tools.post(
    "/contact",
    name="sendMessage",
    inputs=[
        body("from", {"type": "string", "format": "email"}, required=True),
        body("text", {"type": "string", "minLength": 1}, required=True),
        body("topics", {"type": "array", "items": {"type": "string"}}),
    ],
    request_body=RequestBody(
        media_types=(
            MediaType(
                content_type="application/x-www-form-urlencoded",
                encoding={"from": Encoding(), "text": Encoding(), "topics": Encoding()},
            ),
        ),
        required=True,
    ),
)
async def send_message(api: Api, *, from_: str, text: str, topics: list[str] | None = None) -> Result[Any]:
    """Write to the shop"""
    return await api.call(send_message, from_=from_, text=text, topics=topics)


@tools.get("/inventory", name="getInventory", output_schema=GET_INVENTORY_OUTPUT, accept="application/json, */*;q=0.5")
async def get_inventory(api: Api) -> Result[dict[str, int]]:
    """Count the pets by state"""
    return await api.call(get_inventory)
