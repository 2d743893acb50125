"""Everything about your Pets"""

from typing import Any, Literal, NotRequired, TypedDict

from ..api import API_KEY, BASE_URL, PETSTORE_AUTH
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
    header,
    media_type,
    path,
    query,
    read_schemas,
)

SCHEMAS = read_schemas(__file__)

API_RESPONSE: Schema = {
    "type": "object",
    "properties": {"code": {"type": "integer"}, "type": {"type": "string"}, "message": {"type": "string"}},
}

DEFINITIONS: dict[str, Schema] = {
    "Category": {
        "type": "object",
        "properties": {"id": {"type": "integer", "format": "int64"}, "name": {"type": "string"}},
    },
    "Tag": {"type": "object", "properties": {"id": {"type": "integer", "format": "int64"}, "name": {"type": "string"}}},
}


class Category(TypedDict):
    id: NotRequired[int]
    name: NotRequired[str]


class Tag(TypedDict):
    id: NotRequired[int]
    name: NotRequired[str]


class Pet(TypedDict):
    id: NotRequired[int]
    category: NotRequired[Category]
    name: NotRequired[str]
    photoUrls: NotRequired[list[str]]
    tags: NotRequired[list[Tag]]
    status: NotRequired[str]


class ApiResponse(TypedDict):
    code: NotRequired[int]
    type: NotRequired[str]
    message: NotRequired[str]


STATUS = body(
    "status",
    {"type": "string", "description": "pet status in the store", "enum": ["available", "pending", "sold"]},
)

CONTENT_TYPE = media_type(
    "content_type",
    {
        "type": "string",
        "enum": ["application/json", "application/xml"],
        "default": "application/json",
        "description": "The media type to send the body in.",
    },
)


tools = Toolbox(base_url=BASE_URL, tags=["pet"], security=[[PETSTORE_AUTH]], definitions=DEFINITIONS)


@tools.post(
    "/pet",
    name="addPet",
    inputs=[
        body("id", {"type": "integer", "format": "int64"}),
        body("category", {"$ref": "#/$defs/Category"}),
        body("name", {"type": "string", "examples": ["doggie"]}, required=True),
        body("photoUrls", {"type": "array", "items": {"type": "string"}}, required=True),
        body("tags", {"type": "array", "items": {"$ref": "#/$defs/Tag"}}),
        STATUS,
        CONTENT_TYPE,
    ],
    open_body=True,
    request_body=RequestBody(
        media_types=(
            MediaType(content_type="application/json"),
            MediaType(
                content_type="application/xml",
                xml=XmlDocument(
                    root=XmlNode(node_type="none", name="Pet", ref="Pet"),
                    definitions={
                        "Category": XmlNode(name="Category", properties={"id": XmlNode(), "name": XmlNode()}),
                        "Pet": XmlNode(
                            name="Pet",
                            properties={
                                "id": XmlNode(),
                                "category": XmlNode(node_type="none", ref="Category"),
                                "name": XmlNode(),
                                "photoUrls": XmlNode(name="photoUrl", items=XmlNode()),
                                "tags": XmlNode(name="tag", items=XmlNode(node_type="none", ref="Tag")),
                                "status": XmlNode(),
                            },
                        ),
                        "Tag": XmlNode(name="Tag", properties={"id": XmlNode(), "name": XmlNode()}),
                    },
                ),
            ),
        ),
        required=True,
    ),
)
async def add_pet(
    api: Api,
    *,
    id: int | None = None,
    category: Category | None = None,
    name: str,
    photo_urls: list[str],
    tags: list[Tag] | None = None,
    status: Literal["available", "pending", "sold"] | None = None,
    content_type: Literal["application/json", "application/xml"] = "application/json",
    others: dict[str, Any] | None = None,
) -> Result[Any]:
    """Add a new pet to the store"""
    return await api.call(
        add_pet,
        id=id,
        category=category,
        name=name,
        photo_urls=photo_urls,
        tags=tags,
        status=status,
        content_type=content_type,
        others=others,
    )


@tools.put(
    "/pet",
    name="updatePet",
    inputs=[
        body("id", {"type": "integer", "format": "int64"}),
        body("category", {"$ref": "#/$defs/Category"}),
        body("name", {"type": "string", "examples": ["doggie"]}, required=True),
        body("photoUrls", {"type": "array", "items": {"type": "string"}}, required=True),
        body("tags", {"type": "array", "items": {"$ref": "#/$defs/Tag"}}),
        STATUS,
        CONTENT_TYPE,
    ],
    open_body=True,
    request_body=RequestBody(
        media_types=(
            MediaType(content_type="application/json"),
            MediaType(
                content_type="application/xml",
                xml=XmlDocument(
                    root=XmlNode(node_type="none", name="Pet", ref="Pet"),
                    definitions={
                        "Category": XmlNode(name="Category", properties={"id": XmlNode(), "name": XmlNode()}),
                        "Pet": XmlNode(
                            name="Pet",
                            properties={
                                "id": XmlNode(),
                                "category": XmlNode(node_type="none", ref="Category"),
                                "name": XmlNode(),
                                "photoUrls": XmlNode(name="photoUrl", items=XmlNode()),
                                "tags": XmlNode(name="tag", items=XmlNode(node_type="none", ref="Tag")),
                                "status": XmlNode(),
                            },
                        ),
                        "Tag": XmlNode(name="Tag", properties={"id": XmlNode(), "name": XmlNode()}),
                    },
                ),
            ),
        ),
        required=True,
    ),
)
async def update_pet(
    api: Api,
    *,
    id: int | None = None,
    category: Category | None = None,
    name: str,
    photo_urls: list[str],
    tags: list[Tag] | None = None,
    status: Literal["available", "pending", "sold"] | None = None,
    content_type: Literal["application/json", "application/xml"] = "application/json",
    others: dict[str, Any] | None = None,
) -> Result[Any]:
    """Update an existing pet"""
    return await api.call(
        update_pet,
        id=id,
        category=category,
        name=name,
        photo_urls=photo_urls,
        tags=tags,
        status=status,
        content_type=content_type,
        others=others,
    )


@tools.get(
    "/pet/findByStatus",
    name="findPetsByStatus",
    inputs=[
        query(
            "status",
            {
                "type": "array",
                "items": {"type": "string", "enum": ["available", "pending", "sold"], "default": "available"},
                "description": "Status values that need to be considered for filter",
            },
            required=True,
        ),
    ],
    output_schema=SCHEMAS["findPetsByStatus"],
    accept="application/json, application/xml;q=0.8, */*;q=0.5",
)
async def find_pets_by_status(api: Api, *, status: list[Literal["available", "pending", "sold"]]) -> Result[list[Pet]]:
    """Finds Pets by status

    Multiple status values can be provided with comma separated strings
    """
    return await api.call(find_pets_by_status, status=status)


@tools.get(
    "/pet/findByTags",
    name="findPetsByTags",
    deprecated=True,
    inputs=[
        query(
            "tags",
            {"type": "array", "items": {"type": "string"}, "description": "Tags to filter by"},
            required=True,
        ),
    ],
    output_schema=SCHEMAS["findPetsByStatus"],
    accept="application/json, application/xml;q=0.8, */*;q=0.5",
)
async def find_pets_by_tags(api: Api, *, tags: list[str]) -> Result[list[Pet]]:
    """Finds Pets by tags

    Muliple tags can be provided with comma separated strings. Use tag1, tag2, tag3 for testing.

    Deprecated.
    """
    return await api.call(find_pets_by_tags, tags=tags)


@tools.get(
    "/pet/{petId}",
    name="getPetById",
    inputs=[path("petId", {"type": "integer", "format": "int64", "description": "ID of pet to return"})],
    output_schema=SCHEMAS["getPetById"],
    security=[[API_KEY]],
    accept="application/json, application/xml;q=0.8, */*;q=0.5",
)
async def get_pet_by_id(api: Api, *, pet_id: int) -> Result[Pet]:
    """Find pet by ID

    Returns a single pet
    """
    return await api.call(get_pet_by_id, pet_id=pet_id)


@tools.post(
    "/pet/{petId}",
    name="updatePetWithForm",
    inputs=[
        path("petId", {"type": "integer", "format": "int64", "description": "ID of pet that needs to be updated"}),
        body("name", {"type": "string", "description": "Updated name of the pet"}),
        body("status", {"type": "string", "description": "Updated status of the pet"}),
    ],
    open_body=True,
    request_body=RequestBody(
        media_types=(
            MediaType(
                content_type="application/x-www-form-urlencoded",
                encoding={"name": Encoding(), "status": Encoding()},
            ),
        ),
    ),
)
async def update_pet_with_form(
    api: Api,
    *,
    pet_id: int,
    name: str | None = None,
    status: str | None = None,
    others: dict[str, Any] | None = None,
) -> Result[Any]:
    """Updates a pet in the store with form data"""
    return await api.call(update_pet_with_form, pet_id=pet_id, name=name, status=status, others=others)


@tools.delete(
    "/pet/{petId}",
    name="deletePet",
    inputs=[
        path("petId", {"type": "integer", "format": "int64", "description": "Pet id to delete"}),
        header("api_key", {"type": "string"}),
    ],
)
async def delete_pet(api: Api, *, pet_id: int, api_key: str | None = None) -> Result[Any]:
    """Deletes a pet"""
    return await api.call(delete_pet, pet_id=pet_id, api_key=api_key)


@tools.post(
    "/pet/{petId}/uploadImage",
    name="uploadFile",
    inputs=[
        path("petId", {"type": "integer", "format": "int64", "description": "ID of pet to update"}),
        body("additionalMetadata", {"type": "string", "description": "Additional data to pass to server"}),
        body(
            "file",
            {"type": "string", "description": "file to upload The bytes in base64.", "contentEncoding": "base64"},
        ),
    ],
    open_body=True,
    output_schema=API_RESPONSE,
    request_body=RequestBody(
        media_types=(
            MediaType(
                content_type="multipart/form-data",
                encoding={
                    "additionalMetadata": Encoding(),
                    "file": Encoding(content_type="application/octet-stream", binary=True),
                },
            ),
        ),
    ),
)
async def upload_file(
    api: Api,
    *,
    pet_id: int,
    additional_metadata: str | None = None,
    file: str | None = None,
    others: dict[str, Any] | None = None,
) -> Result[ApiResponse]:
    """uploads an image"""
    return await api.call(upload_file, pet_id=pet_id, additional_metadata=additional_metadata, file=file, others=others)
