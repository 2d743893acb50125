"""Everything about your Pets"""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

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
    whole_body,
)

SCHEMAS = read_schemas(__file__)

API_RESPONSE: Schema = {
    "type": "object",
    "properties": {"code": {"type": "integer"}, "type": {"type": "string"}, "message": {"type": "string"}},
}

DEFINITIONS: dict[str, Schema] = {
    "Category": {
        "type": "object",
        "properties": {"id": {"type": "integer", "format": "int64"}, "name": {"type": "string", "examples": ["Dogs"]}},
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
    name: NotRequired[str]
    category: NotRequired[Category]
    photoUrls: NotRequired[list[str]]
    tags: NotRequired[list[Tag]]
    status: NotRequired[str]


UpdatePetContentType: TypeAlias = Literal["application/json", "application/x-www-form-urlencoded", "application/xml"]


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
        "enum": ["application/json", "application/x-www-form-urlencoded", "application/xml"],
        "default": "application/json",
        "description": "The media type to send the body in.",
    },
)


tools = Toolbox(
    base_url=BASE_URL,
    tags=["pet"],
    security=[[PETSTORE_AUTH]],
    accept="application/json, application/xml;q=0.8, */*;q=0.5",
    definitions=DEFINITIONS,
)


@tools.put(
    "/pet",
    name="updatePet",
    title="Update an existing pet.",
    inputs=[
        body("id", {"type": "integer", "format": "int64"}),
        body("name", {"type": "string", "examples": ["doggie"]}, required=True),
        body("category", {"$ref": "#/$defs/Category"}),
        body("photoUrls", {"type": "array", "items": {"type": "string"}}, required=True),
        body("tags", {"type": "array", "items": {"$ref": "#/$defs/Tag"}}),
        STATUS,
        CONTENT_TYPE,
    ],
    open_body=True,
    output_schema=SCHEMAS["updatePet"],
    request_body=RequestBody(
        media_types=(
            MediaType(content_type="application/json"),
            MediaType(
                content_type="application/x-www-form-urlencoded",
                encoding={
                    "id": Encoding(),
                    "name": Encoding(),
                    "category": Encoding(content_type="application/json"),
                    "photoUrls": Encoding(),
                    "tags": Encoding(content_type="application/json"),
                    "status": Encoding(),
                },
            ),
            MediaType(
                content_type="application/xml",
                xml=XmlDocument(
                    root=XmlNode(node_type="none", name="Pet", ref="Pet"),
                    definitions={
                        "Category": XmlNode(name="category", properties={"id": XmlNode(), "name": XmlNode()}),
                        "Pet": XmlNode(
                            name="pet",
                            properties={
                                "id": XmlNode(),
                                "name": XmlNode(),
                                "category": XmlNode(node_type="none", ref="Category"),
                                "photoUrls": XmlNode(items=XmlNode(name="photoUrl")),
                                "tags": XmlNode(items=XmlNode(node_type="none", ref="Tag")),
                                "status": XmlNode(),
                            },
                        ),
                        "Tag": XmlNode(name="tag", properties={"id": XmlNode(), "name": XmlNode()}),
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
    name: str,
    category: Category | None = None,
    photo_urls: list[str],
    tags: list[Tag] | None = None,
    status: Literal["available", "pending", "sold"] | None = None,
    content_type: UpdatePetContentType = "application/json",
    others: dict[str, Any] | None = None,
) -> Result[Pet]:
    """Update an existing pet by Id."""
    return await api.call(
        update_pet,
        id=id,
        name=name,
        category=category,
        photo_urls=photo_urls,
        tags=tags,
        status=status,
        content_type=content_type,
        others=others,
    )


@tools.post(
    "/pet",
    name="addPet",
    inputs=[
        body("id", {"type": "integer", "format": "int64"}),
        body("name", {"type": "string", "examples": ["doggie"]}, required=True),
        body("category", {"$ref": "#/$defs/Category"}),
        body("photoUrls", {"type": "array", "items": {"type": "string"}}, required=True),
        body("tags", {"type": "array", "items": {"$ref": "#/$defs/Tag"}}),
        STATUS,
        CONTENT_TYPE,
    ],
    open_body=True,
    output_schema=SCHEMAS["updatePet"],
    request_body=RequestBody(
        media_types=(
            MediaType(content_type="application/json"),
            MediaType(
                content_type="application/x-www-form-urlencoded",
                encoding={
                    "id": Encoding(),
                    "name": Encoding(),
                    "category": Encoding(content_type="application/json"),
                    "photoUrls": Encoding(),
                    "tags": Encoding(content_type="application/json"),
                    "status": Encoding(),
                },
            ),
            MediaType(
                content_type="application/xml",
                xml=XmlDocument(
                    root=XmlNode(node_type="none", name="Pet", ref="Pet"),
                    definitions={
                        "Category": XmlNode(name="category", properties={"id": XmlNode(), "name": XmlNode()}),
                        "Pet": XmlNode(
                            name="pet",
                            properties={
                                "id": XmlNode(),
                                "name": XmlNode(),
                                "category": XmlNode(node_type="none", ref="Category"),
                                "photoUrls": XmlNode(items=XmlNode(name="photoUrl")),
                                "tags": XmlNode(items=XmlNode(node_type="none", ref="Tag")),
                                "status": XmlNode(),
                            },
                        ),
                        "Tag": XmlNode(name="tag", properties={"id": XmlNode(), "name": XmlNode()}),
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
    name: str,
    category: Category | None = None,
    photo_urls: list[str],
    tags: list[Tag] | None = None,
    status: Literal["available", "pending", "sold"] | None = None,
    content_type: UpdatePetContentType = "application/json",
    others: dict[str, Any] | None = None,
) -> Result[Pet]:
    """Add a new pet to the store."""
    return await api.call(
        add_pet,
        id=id,
        name=name,
        category=category,
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
                "type": "string",
                "default": "available",
                "enum": ["available", "pending", "sold"],
                "description": "Status values that need to be considered for filter",
            },
        ),
    ],
    output_schema=SCHEMAS["findPetsByStatus"],
)
async def find_pets_by_status(
    api: Api,
    *,
    status: Literal["available", "pending", "sold"] = "available",
) -> Result[list[Pet]]:
    """Finds Pets by status.

    Multiple status values can be provided with comma separated strings.
    """
    return await api.call(find_pets_by_status, status=status)


@tools.get(
    "/pet/findByTags",
    name="findPetsByTags",
    inputs=[query("tags", {"type": "array", "items": {"type": "string"}, "description": "Tags to filter by"})],
    output_schema=SCHEMAS["findPetsByStatus"],
)
async def find_pets_by_tags(api: Api, *, tags: list[str] | None = None) -> Result[list[Pet]]:
    """Finds Pets by tags.

    Multiple tags can be provided with comma separated strings. Use tag1, tag2, tag3 for testing.
    """
    return await api.call(find_pets_by_tags, tags=tags)


@tools.get(
    "/pet/{petId}",
    name="getPetById",
    inputs=[path("petId", {"type": "integer", "format": "int64", "description": "ID of pet to return"})],
    output_schema=SCHEMAS["updatePet"],
    security=[[API_KEY], [PETSTORE_AUTH]],
)
async def get_pet_by_id(api: Api, *, pet_id: int) -> Result[Pet]:
    """Find pet by ID.

    Returns a single pet.
    """
    return await api.call(get_pet_by_id, pet_id=pet_id)


@tools.post(
    "/pet/{petId}",
    name="updatePetWithForm",
    inputs=[
        path("petId", {"type": "integer", "format": "int64", "description": "ID of pet that needs to be updated"}),
        query("name", {"type": "string", "description": "Name of pet that needs to be updated"}),
        query("status", {"type": "string", "description": "Status of pet that needs to be updated"}),
    ],
    output_schema=SCHEMAS["updatePet"],
)
async def update_pet_with_form(
    api: Api,
    *,
    pet_id: int,
    name: str | None = None,
    status: str | None = None,
) -> Result[Pet]:
    """Updates a pet in the store with form data.

    Updates a pet resource based on the form data.
    """
    return await api.call(update_pet_with_form, pet_id=pet_id, name=name, status=status)


@tools.delete(
    "/pet/{petId}",
    name="deletePet",
    inputs=[
        path("petId", {"type": "integer", "format": "int64", "description": "Pet id to delete"}),
        header("api_key", {"type": "string"}),
    ],
    accept="application/json, */*;q=0.5",
)
async def delete_pet(api: Api, *, pet_id: int, api_key: str | None = None) -> Result[Any]:
    """Deletes a pet.

    Delete a pet.
    """
    return await api.call(delete_pet, pet_id=pet_id, api_key=api_key)


@tools.post(
    "/pet/{petId}/uploadImage",
    name="uploadFile",
    inputs=[
        path("petId", {"type": "integer", "format": "int64", "description": "ID of pet to update"}),
        query("additionalMetadata", {"type": "string", "description": "Additional Metadata"}),
        whole_body("body", {"type": "string", "contentEncoding": "base64", "description": "The bytes in base64."}),
    ],
    output_schema=API_RESPONSE,
    request_body=RequestBody(media_types=(MediaType(content_type="application/octet-stream", binary=True),)),
    accept="application/json, */*;q=0.5",
)
async def upload_file(
    api: Api,
    *,
    pet_id: int,
    additional_metadata: str | None = None,
    body: str | None = None,
) -> Result[ApiResponse]:
    """Uploads an image.

    Upload image of the pet.
    """
    return await api.call(upload_file, pet_id=pet_id, additional_metadata=additional_metadata, body=body)
