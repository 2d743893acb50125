"""Operations about user"""

from typing import Any, NotRequired, TypedDict

from ..api import BASE_URL
from ..runtime import Api, Result, Schema, Toolbox, body, path, query, whole_body

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
            "username": {"type": "string"},
            "firstName": {"type": "string"},
            "lastName": {"type": "string"},
            "email": {"type": "string"},
            "password": {"type": "string"},
            "phone": {"type": "string"},
            "userStatus": {"type": "integer", "format": "int32", "description": "User Status"},
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


USER_STATUS = body("userStatus", {"type": "integer", "format": "int32", "description": "User Status"})

BODY = whole_body(
    "body",
    {"type": "array", "items": {"$ref": "#/$defs/User"}, "description": "List of user object"},
    required=True,
)


tools = Toolbox(base_url=BASE_URL, tags=["user"], definitions=DEFINITIONS)


@tools.post(
    "/user",
    name="createUser",
    title="Create user",
    inputs=[
        body("id", {"type": "integer", "format": "int64"}),
        body("username", {"type": "string"}),
        body("firstName", {"type": "string"}),
        body("lastName", {"type": "string"}),
        body("email", {"type": "string"}),
        body("password", {"type": "string"}),
        body("phone", {"type": "string"}),
        USER_STATUS,
    ],
    open_body=True,
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
    others: dict[str, Any] | None = None,
) -> Result[Any]:
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
        others=others,
    )


@tools.post("/user/createWithArray", name="createUsersWithArrayInput", inputs=[BODY])
async def create_users_with_array_input(api: Api, *, body: list[User]) -> Result[Any]:
    """Creates list of users with given input array"""
    return await api.call(create_users_with_array_input, body=body)


@tools.post("/user/createWithList", name="createUsersWithListInput", inputs=[BODY])
async def create_users_with_list_input(api: Api, *, body: list[User]) -> Result[Any]:
    """Creates list of users with given input array"""
    return await api.call(create_users_with_list_input, body=body)


@tools.get(
    "/user/login",
    name="loginUser",
    inputs=[
        query("username", {"type": "string", "description": "The user name for login"}, required=True),
        query("password", {"type": "string", "description": "The password for login in clear text"}, required=True),
    ],
    accept="application/json, application/xml;q=0.8, */*;q=0.5",
    response_headers=["x-rate-limit", "x-expires-after"],
)
async def login_user(api: Api, *, username: str, password: str) -> Result[Any]:
    """Logs user into the system"""
    return await api.call(login_user, username=username, password=password)


@tools.get("/user/logout", name="logoutUser")
async def logout_user(api: Api) -> Result[Any]:
    """Logs out current logged in user session"""
    return await api.call(logout_user)


@tools.get(
    "/user/{username}",
    name="getUserByName",
    inputs=[
        path(
            "username",
            {"type": "string", "description": "The name that needs to be fetched. Use user1 for testing."},
        ),
    ],
    output_schema=USER,
    accept="application/json, application/xml;q=0.8, */*;q=0.5",
)
async def get_user_by_name(api: Api, *, username: str) -> Result[User]:
    """Get user by user name"""
    return await api.call(get_user_by_name, username=username)


@tools.put(
    "/user/{username}",
    name="updateUser",
    inputs=[
        path(
            "username",
            {
                "type": "string",
                "description": "`username` in the path (in the body: `username_body`). name that need to be updated",
            },
        ),
        body("id", {"type": "integer", "format": "int64"}),
        body(
            "username_body",
            {"type": "string", "description": "`username` in the body (in the path: `username`)."},
            wire_name="username",
        ),
        body("firstName", {"type": "string"}),
        body("lastName", {"type": "string"}),
        body("email", {"type": "string"}),
        body("password", {"type": "string"}),
        body("phone", {"type": "string"}),
        USER_STATUS,
    ],
    open_body=True,
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
    others: dict[str, Any] | None = None,
) -> Result[Any]:
    """Updated user

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
        others=others,
    )


@tools.delete(
    "/user/{username}",
    name="deleteUser",
    title="Delete user",
    inputs=[path("username", {"type": "string", "description": "The name that needs to be deleted"})],
)
async def delete_user(api: Api, *, username: str) -> Result[Any]:
    """This can only be done by the logged in user."""
    return await api.call(delete_user, username=username)
