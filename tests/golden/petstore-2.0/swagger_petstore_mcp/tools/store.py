"""Access to Petstore orders"""

from typing import Any, Literal, NotRequired, TypedDict

from ..api import API_KEY, BASE_URL
from ..runtime import Api, Result, Schema, Toolbox, body, path

GET_INVENTORY_OUTPUT: Schema = {"type": "object", "additionalProperties": {"type": "integer"}}

ORDER: Schema = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "petId": {"type": "integer"},
        "quantity": {"type": "integer"},
        "shipDate": {"type": "string"},
        "status": {"type": "string", "description": "Order Status"},
        "complete": {"type": "boolean"},
    },
}


class Order(TypedDict):
    id: NotRequired[int]
    petId: NotRequired[int]
    quantity: NotRequired[int]
    shipDate: NotRequired[str]
    status: NotRequired[str]
    complete: NotRequired[bool]


tools = Toolbox(base_url=BASE_URL, tags=["store"])


@tools.get("/store/inventory", name="getInventory", output_schema=GET_INVENTORY_OUTPUT, security=[[API_KEY]])
async def get_inventory(api: Api) -> Result[dict[str, int]]:
    """Returns pet inventories by status

    Returns a map of status codes to quantities
    """
    return await api.call(get_inventory)


@tools.post(
    "/store/order",
    name="placeOrder",
    inputs=[
        body("id", {"type": "integer", "format": "int64"}),
        body("petId", {"type": "integer", "format": "int64"}),
        body("quantity", {"type": "integer", "format": "int32"}),
        body("shipDate", {"type": "string", "format": "date-time"}),
        body("status", {"type": "string", "description": "Order Status", "enum": ["placed", "approved", "delivered"]}),
        body("complete", {"type": "boolean", "default": False}),
    ],
    open_body=True,
    output_schema=ORDER,
    accept="application/json, application/xml;q=0.8, */*;q=0.5",
)
async def place_order(
    api: Api,
    *,
    id: int | None = None,
    pet_id: int | None = None,
    quantity: int | None = None,
    ship_date: str | None = None,
    status: Literal["placed", "approved", "delivered"] | None = None,
    complete: bool = False,
    others: dict[str, Any] | None = None,
) -> Result[Order]:
    """Place an order for a pet"""
    return await api.call(
        place_order,
        id=id,
        pet_id=pet_id,
        quantity=quantity,
        ship_date=ship_date,
        status=status,
        complete=complete,
        others=others,
    )


@tools.get(
    "/store/order/{orderId}",
    name="getOrderById",
    inputs=[
        path(
            "orderId",
            {
                "type": "integer",
                "maximum": 10,
                "minimum": 1,
                "format": "int64",
                "description": "ID of pet that needs to be fetched",
            },
        ),
    ],
    output_schema=ORDER,
    accept="application/json, application/xml;q=0.8, */*;q=0.5",
)
async def get_order_by_id(api: Api, *, order_id: int) -> Result[Order]:
    """Find purchase order by ID

    For valid response try integer IDs with value >= 1 and <= 10. Other values will generated exceptions
    """
    return await api.call(get_order_by_id, order_id=order_id)


@tools.delete(
    "/store/order/{orderId}",
    name="deleteOrder",
    inputs=[
        path(
            "orderId",
            {
                "type": "integer",
                "minimum": 1,
                "format": "int64",
                "description": "ID of the order that needs to be deleted",
            },
        ),
    ],
)
async def delete_order(api: Api, *, order_id: int) -> Result[Any]:
    """Delete purchase order by ID

    For valid response try integer IDs with positive integer value. Negative or non-integer values will generate
    API errors
    """
    return await api.call(delete_order, order_id=order_id)
