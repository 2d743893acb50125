"""Access to Petstore orders"""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from ..api import API_KEY, BASE_URL
from ..runtime import (
    Api,
    Encoding,
    MediaType,
    RequestBody,
    Result,
    Schema,
    Toolbox,
    XmlDocument,
    XmlNode,
    body,
    media_type,
    path,
)

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


PlaceOrderContentType: TypeAlias = Literal["application/json", "application/x-www-form-urlencoded", "application/xml"]


tools = Toolbox(base_url=BASE_URL, tags=["store"])


@tools.get("/store/inventory", name="getInventory", output_schema=GET_INVENTORY_OUTPUT, security=[[API_KEY]])
async def get_inventory(api: Api) -> Result[dict[str, int]]:
    """Returns pet inventories by status.

    Returns a map of status codes to quantities.
    """
    return await api.call(get_inventory)


@tools.post(
    "/store/order",
    name="placeOrder",
    inputs=[
        body("id", {"type": "integer", "format": "int64"}),
        body("petId", {"type": "integer", "format": "int64", "examples": [198772]}),
        body("quantity", {"type": "integer", "format": "int32"}),
        body("shipDate", {"type": "string", "format": "date-time"}),
        body("status", {"type": "string", "description": "Order Status", "enum": ["placed", "approved", "delivered"]}),
        body("complete", {"type": "boolean"}),
        media_type(
            "content_type",
            {
                "type": "string",
                "enum": ["application/json", "application/x-www-form-urlencoded", "application/xml"],
                "default": "application/json",
                "description": "The media type to send the body in.",
            },
        ),
    ],
    open_body=True,
    output_schema=ORDER,
    request_body=RequestBody(
        media_types=(
            MediaType(content_type="application/json"),
            MediaType(
                content_type="application/x-www-form-urlencoded",
                encoding={
                    "id": Encoding(),
                    "petId": Encoding(),
                    "quantity": Encoding(),
                    "shipDate": Encoding(),
                    "status": Encoding(),
                    "complete": Encoding(),
                },
            ),
            MediaType(
                content_type="application/xml",
                xml=XmlDocument(
                    root=XmlNode(node_type="none", name="Order", ref="Order"),
                    definitions={
                        "Order": XmlNode(
                            name="order",
                            properties={
                                "id": XmlNode(),
                                "petId": XmlNode(),
                                "quantity": XmlNode(),
                                "shipDate": XmlNode(),
                                "status": XmlNode(),
                                "complete": XmlNode(),
                            },
                        ),
                    },
                ),
            ),
        ),
    ),
)
async def place_order(
    api: Api,
    *,
    id: int | None = None,
    pet_id: int | None = None,
    quantity: int | None = None,
    ship_date: str | None = None,
    status: Literal["placed", "approved", "delivered"] | None = None,
    complete: bool | None = None,
    content_type: PlaceOrderContentType = "application/json",
    others: dict[str, Any] | None = None,
) -> Result[Order]:
    """Place an order for a pet.

    Place a new order in the store.
    """
    return await api.call(
        place_order,
        id=id,
        pet_id=pet_id,
        quantity=quantity,
        ship_date=ship_date,
        status=status,
        complete=complete,
        content_type=content_type,
        others=others,
    )


@tools.get(
    "/store/order/{orderId}",
    name="getOrderById",
    inputs=[
        path("orderId", {"type": "integer", "format": "int64", "description": "ID of order that needs to be fetched"}),
    ],
    output_schema=ORDER,
    accept="application/json, application/xml;q=0.8, */*;q=0.5",
)
async def get_order_by_id(api: Api, *, order_id: int) -> Result[Order]:
    """Find purchase order by ID.

    For valid response try integer IDs with value <= 5 or > 10. Other values will generate exceptions.
    """
    return await api.call(get_order_by_id, order_id=order_id)


@tools.delete(
    "/store/order/{orderId}",
    name="deleteOrder",
    inputs=[
        path(
            "orderId",
            {"type": "integer", "format": "int64", "description": "ID of the order that needs to be deleted"},
        ),
    ],
)
async def delete_order(api: Api, *, order_id: int) -> Result[Any]:
    """Delete purchase order by identifier.

    For valid response try integer IDs with value < 1000. Anything above 1000 or non-integers will generate API
    errors.
    """
    return await api.call(delete_order, order_id=order_id)
