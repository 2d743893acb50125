"""Operations about user"""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from ..api import BASE_URL
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
    query,
    whole_body,
)

USER: Schema = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "username": {"type": "string"},
        "firstName": {"type": "string"},
        "lastName": {"type": "string"},
        "email": {"type": "string"},
        "password": {"type": "string"},
        "phone": {"type": "string"},
        "userStatus": {"type": "integer", "description": "User Status"},
    },
}

DEFINITIONS: dict[str, Schema] = {
    "User": {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "format": "int64"},
            "username": {"type": "string", "examples": ["theUser"]},
            "firstName": {"type": "string", "examples": ["John"]},
            "lastName": {"type": "string", "examples": ["James"]},
            "email": {"type": "string", "examples": ["john@email.com"]},
            "password": {"type": "string"},
            "phone": {"type": "string", "examples": ["12345"]},
            "userStatus": {"type": "integer", "description": "User Status", "format": "int32"},
        },
    },
}


class User(TypedDict):
    id: NotRequired[int]
    username: NotRequired[str]
    firstName: NotRequired[str]
    lastName: NotRequired[str]
    email: NotRequired[str]
    password: NotRequired[str]
    phone: NotRequired[str]
    userStatus: NotRequired[int]


CreateUserContentType: TypeAlias = Literal["application/json", "application/x-www-form-urlencoded", "application/xml"]

USER_STATUS = body("userStatus", {"type": "integer", "description": "User Status", "format": "int32"})

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
    tags=["user"],
    accept="application/json, application/xml;q=0.8, */*;q=0.5",
    definitions=DEFINITIONS,
)


@tools.post(
    "/user",
    name="createUser",
    title="Create user.",
    inputs=[
        body("id", {"type": "integer", "format": "int64"}),
        body("username", {"type": "string", "examples": ["theUser"]}),
        body("firstName", {"type": "string", "examples": ["John"]}),
        body("lastName", {"type": "string", "examples": ["James"]}),
        body("email", {"type": "string", "examples": ["john@email.com"]}),
        body("password", {"type": "string"}),
        body("phone", {"type": "string", "examples": ["12345"]}),
        USER_STATUS,
        CONTENT_TYPE,
    ],
    open_body=True,
    output_schema=USER,
    request_body=RequestBody(
        media_types=(
            MediaType(content_type="application/json"),
            MediaType(
                content_type="application/x-www-form-urlencoded",
                encoding={
                    "id": Encoding(),
                    "username": Encoding(),
                    "firstName": Encoding(),
                    "lastName": Encoding(),
                    "email": Encoding(),
                    "password": Encoding(),
                    "phone": Encoding(),
                    "userStatus": Encoding(),
                },
            ),
            MediaType(
                content_type="application/xml",
                xml=XmlDocument(
                    root=XmlNode(node_type="none", name="User", ref="User"),
                    definitions={
                        "User": XmlNode(
                            name="user",
                            properties={
                                "id": XmlNode(),
                                "username": XmlNode(),
                                "firstName": XmlNode(),
                                "lastName": XmlNode(),
                                "email": XmlNode(),
                                "password": XmlNode(),
                                "phone": XmlNode(),
                                "userStatus": XmlNode(),
                            },
                        ),
                    },
                ),
            ),
        ),
    ),
)
async def create_user(
    api: Api,
    *,
    id: int | None = None,
    username: str | None = None,
    first_name: str | None = None,
    last_name: str | None = None,
    email: str | None = None,
    password: str | None = None,
    phone: str | None = None,
    user_status: int | None = None,
    content_type: CreateUserContentType = "application/json",
    others: dict[str, Any] | None = None,
) -> Result[User]:
    """This can only be done by the logged in user."""
    return await api.call(
        create_user,
        id=id,
        username=username,
        first_name=first_name,
        last_name=last_name,
        email=email,
        password=password,
        phone=phone,
        user_status=user_status,
        content_type=content_type,
        others=others,
    )


@tools.post(
    "/user/createWithList",
    name="createUsersWithListInput",
    inputs=[whole_body("body", {"type": "array", "items": {"$ref": "#/$defs/User"}})],
    output_schema=USER,
    request_body=RequestBody(media_types=(MediaType(content_type="application/json"),)),
)
async def create_users_with_list_input(api: Api, *, body: list[User] | None = None) -> Result[User]:
    """Creates list of users with given input array."""
    return await api.call(create_users_with_list_input, body=body)


@tools.get(
    "/user/login",
    name="loginUser",
    inputs=[
        query("username", {"type": "string", "description": "The user name for login"}),
        query("password", {"type": "string", "description": "The password for login in clear text"}),
    ],
    response_headers=["x-rate-limit", "x-expires-after"],
)
async def login_user(api: Api, *, username: str | None = None, password: str | None = None) -> Result[Any]:
    """Logs user into the system.

    Log into the system.
    """
    return await api.call(login_user, username=username, password=password)


@tools.get("/user/logout", name="logoutUser", accept="application/json, */*;q=0.5")
async def logout_user(api: Api) -> Result[Any]:
    """Logs out current logged in user session.

    Log user out of the system.
    """
    return await api.call(logout_user)


@tools.get(
    "/user/{username}",
    name="getUserByName",
    inputs=[
        path("username", {"type": "string", "description": "The name that needs to be fetched. Use user1 for testing"}),
    ],
    output_schema=USER,
)
async def get_user_by_name(api: Api, *, username: str) -> Result[User]:
    """Get user by user name.

    Get user detail based on username.
    """
    return await api.call(get_user_by_name, username=username)


@tools.put(
    "/user/{username}",
    name="updateUser",
    inputs=[
        path(
            "username",
            {
                "type": "string",
                "description": "`username` in the path (in the body: `username_body`). name that need to be deleted",
            },
        ),
        body("id", {"type": "integer", "format": "int64"}),
        body(
            "username_body",
            {
                "type": "string",
                "examples": ["theUser"],
                "description": "`username` in the body (in the path: `username`).",
            },
            wire_name="username",
        ),
        body("firstName", {"type": "string", "examples": ["John"]}),
        body("lastName", {"type": "string", "examples": ["James"]}),
        body("email", {"type": "string", "examples": ["john@email.com"]}),
        body("password", {"type": "string"}),
        body("phone", {"type": "string", "examples": ["12345"]}),
        USER_STATUS,
        CONTENT_TYPE,
    ],
    open_body=True,
    request_body=RequestBody(
        media_types=(
            MediaType(content_type="application/json"),
            MediaType(
                content_type="application/x-www-form-urlencoded",
                encoding={
                    "id": Encoding(),
                    "username": Encoding(),
                    "firstName": Encoding(),
                    "lastName": Encoding(),
                    "email": Encoding(),
                    "password": Encoding(),
                    "phone": Encoding(),
                    "userStatus": Encoding(),
                },
            ),
            MediaType(
                content_type="application/xml",
                xml=XmlDocument(
                    root=XmlNode(node_type="none", name="User", ref="User"),
                    definitions={
                        "User": XmlNode(
                            name="user",
                            properties={
                                "id": XmlNode(),
                                "username": XmlNode(),
                                "firstName": XmlNode(),
                                "lastName": XmlNode(),
                                "email": XmlNode(),
                                "password": XmlNode(),
                                "phone": XmlNode(),
                                "userStatus": XmlNode(),
                            },
                        ),
                    },
                ),
            ),
        ),
    ),
    accept="application/json, */*;q=0.5",
)
async def update_user(
    api: Api,
    *,
    username: str,
    id: int | None = None,
    username_body: str | None = None,
    first_name: str | None = None,
    last_name: str | None = None,
    email: str | None = None,
    password: str | None = None,
    phone: str | None = None,
    user_status: int | None = None,
    content_type: CreateUserContentType = "application/json",
    others: dict[str, Any] | None = None,
) -> Result[Any]:
    """Update user resource.

    This can only be done by the logged in user.
    """
    return await api.call(
        update_user,
        username=username,
        id=id,
        username_body=username_body,
        first_name=first_name,
        last_name=last_name,
        email=email,
        password=password,
        phone=phone,
        user_status=user_status,
        content_type=content_type,
        others=others,
    )


@tools.delete(
    "/user/{username}",
    name="deleteUser",
    inputs=[path("username", {"type": "string", "description": "The name that needs to be deleted"})],
    accept="application/json, */*;q=0.5",
)
async def delete_user(api: Api, *, username: str) -> Result[Any]:
    """Delete user resource.

    This can only be done by the logged in user.
    """
    return await api.call(delete_user, username=username)
