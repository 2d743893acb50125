"""The animals."""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from ..api import BASE_URL, SHOP_KEY
from ..runtime import Api, MediaType, RequestBody, Result, Schema, Toolbox, body, path, query, whole_body

PAGE: Schema = {
    "type": "object",
    "properties": {
        "total": {"type": "integer", "description": "Pets that match"},
        "pets": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "integer"},
                    "name": {"type": "string"},
                    "status": {"type": "string"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "price": {"type": ["number", "null"]},
                },
            },
        },
    },
}

PET: Schema = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "status": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "price": {"type": ["number", "null"]},
    },
}

DEFINITIONS: dict[str, Schema] = {"Status": {"type": "string", "enum": ["available", "reserved", "sold"]}}


class Pet(TypedDict):
    id: NotRequired[int]
    name: NotRequired[str]
    status: NotRequired[str]
    tags: NotRequired[list[str]]
    price: NotRequired[float | None]


class Page(TypedDict):
    total: NotRequired[int]
    pets: NotRequired[list[Pet]]


Status: TypeAlias = Literal["available", "reserved", "sold"]

TAGS = body("tags", {"type": "array", "items": {"type": "string"}, "uniqueItems": True})

PET_ID = path("petId", {"type": "integer", "minimum": 1, "description": "The id of the pet."})


tools = Toolbox(base_url=BASE_URL, tags=["pets"], security=[[SHOP_KEY]], definitions=DEFINITIONS)


@tools.get(
    "/pets",
    name="listPets",
    title="List pets",
    inputs=[
        query("q", {"type": "string", "maxLength": 60, "description": "Part of a name."}),
        query(
            "status",
            {"type": "array", "items": {"$ref": "#/$defs/Status"}, "description": "Only pets in one of these states."},
        ),
        query("tag", {"type": "string", "description": "Only pets that carry this tag."}),
        query(
            "limit",
            {"type": "integer", "minimum": 1, "maximum": 100, "default": 20, "description": "Pets on a page."},
        ),
        query("offset", {"type": "integer", "minimum": 0, "default": 0, "description": "Pets to skip."}),
    ],
    output_schema=PAGE,
    security=[],
)
async def list_pets(
    api: Api,
    *,
    q: str | None = None,
    status: list[Status] | None = None,
    tag: str | None = None,
    limit: int = 20,
    offset: int = 0,
) -> Result[Page]:
    """Pets in the order of their ids, a page at a time. The filters narrow the list together."""
    return await api.call(list_pets, q=q, status=status, tag=tag, limit=limit, offset=offset)


@tools.post(
    "/pets",
    name="createPet",
    inputs=[
        body("name", {"type": "string", "minLength": 1, "maxLength": 60}, required=True),
        body("status", {"$ref": "#/$defs/Status", "default": "available"}),
        TAGS,
        body("price", {"type": ["number", "null"], "minimum": 0, "description": "In euros, or null: ask in the shop."}),
    ],
    output_schema=PET,
)
async def create_pet(
    api: Api,
    *,
    name: str,
    status: Status = "available",
    tags: list[str] | None = None,
    price: float | None = None,
) -> Result[Pet]:
    """Create a pet"""
    return await api.call(create_pet, name=name, status=status, tags=tags, price=price)


@tools.get("/pets/{petId}", name="getPet", inputs=[PET_ID], output_schema=PET, security=[])
async def get_pet(api: Api, *, pet_id: int) -> Result[Pet]:
    """Get a pet"""
    return await api.call(get_pet, pet_id=pet_id)


@tools.patch(
    "/pets/{petId}",
    name="updatePet",
    inputs=[
        PET_ID,
        body("name", {"type": "string", "minLength": 1, "maxLength": 60}),
        body("status", {"$ref": "#/$defs/Status"}),
        TAGS,
        body("price", {"type": ["number", "null"], "minimum": 0}),
    ],
    output_schema=PET,
)
async def update_pet(
    api: Api,
    *,
    pet_id: int,
    name: str | None = None,
    status: Status | None = None,
    tags: list[str] | None = None,
    price: float | None = None,
) -> Result[Pet]:
    """Change a pet

    Only the fields that are given change.
    """
    return await api.call(update_pet, pet_id=pet_id, name=name, status=status, tags=tags, price=price)


@tools.delete("/pets/{petId}", name="deletePet", inputs=[PET_ID])
async def delete_pet(api: Api, *, pet_id: int) -> Result[Any]:
    """Delete a pet"""
    return await api.call(delete_pet, pet_id=pet_id)


@tools.get("/pets/{petId}/photo", name="getPhoto", inputs=[PET_ID], security=[], accept="image/png, */*;q=0.5")
async def get_photo(api: Api, *, pet_id: int) -> Result[Any]:
    """Get a pet's photo"""
    return await api.call(get_photo, pet_id=pet_id)


@tools.put(
    "/pets/{petId}/photo",
    name="putPhoto",
    inputs=[
        PET_ID,
        whole_body(
            "body",
            {
                "type": "string",
                "contentEncoding": "base64",
                "description": "The bytes in base64.",
                "contentMediaType": "image/png",
            },
            required=True,
        ),
    ],
    request_body=RequestBody(media_types=(MediaType(content_type="image/png", binary=True),), required=True),
)
async def put_photo(api: Api, *, pet_id: int, body: str) -> Result[Any]:
    """Store a pet's photo"""
    return await api.call(put_photo, pet_id=pet_id, body=body)
