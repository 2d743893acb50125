"""Names are legal, unique, readable, and independent of the order of the things named."""

import re
from dataclasses import replace
from itertools import permutations

import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.tools.names import (
    ArgumentKey,
    ToolKey,
    argument_names,
    environment_variables,
    function_names,
    shorten,
    suggest_names,
    tool_names,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserByID", ["get", "user", "by", "id"]),
        ("list_all-pets.v2", ["list", "all", "pets", "v2"]),
        ("HTTPServerError", ["http", "server", "error"]),
        ("Swagger Petstore - OpenAPI 3.0", ["swagger", "petstore", "open", "api", "3", "0"]),
        ("oauth2Token", ["oauth2", "token"]),
        ("Ünïcödé", ["unicode"]),
        ("日付", []),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (ToolKey("GET", "/pets", "listPets"), "listPets"),
        (ToolKey("GET", "/pets", "pets/list-all"), "pets_list-all"),
        (ToolKey("GET", "/pets", "with\nnewline"), "with_newline"),
        (ToolKey("GET", "/pets", "__proto__"), "proto"),
        (ToolKey("GET", "/pets", "Ünïcödé"), "Unicode"),
        (ToolKey("GET", "/pets", "取得する"), "get_pets"),
        (ToolKey("GET", "/pets/{petId}/toys"), "get_pets_by_pet_id_toys"),
        (ToolKey("COPY", "/things/{id}"), "copy_things_by_id"),
        (ToolKey("GET", "/"), "get_root"),
        (ToolKey("GET", "/pets", "listPets", "pets"), "pets"),
    ],
)
def test_a_tool_is_named_after_its_operation(key: ToolKey, name: str) -> None:
    assert tool_names([key]) == [name]


def test_exact_operation_id_has_precedence() -> None:
    keys = [ToolKey("GET", "/1", "list/users"), ToolKey("GET", "/2", "list_users"), ToolKey("GET", "/3", "List.Users")]
    assert tool_names(keys) == ["list_users_get_1", "list_users", "List_Users_get_3"]


def test_duplicate_operation_ids_are_all_extended() -> None:
    keys = [ToolKey("GET", "/dup/1", "same"), ToolKey("POST", "/dup/1", "same")]
    assert tool_names(keys) == ["same_get_dup_1", "same_post_dup_1"]


def test_paths_with_the_same_words_have_a_hash() -> None:
    names = tool_names([ToolKey("GET", "/a/b"), ToolKey("GET", "/a-b")])
    assert len(set(names)) == 2
    assert all(re.fullmatch("get_a_b_[0-9a-f]{6}", name) for name in names)


def test_long_names_lose_fillers_and_then_words_in_their_middle() -> None:
    long = "listTheRepositoriesForTheAuthenticatedUserThatAreAccessibleToTheInstallation"
    assert shorten(long, 64) == "listRepositoriesAuthenticatedUserThatAreAccessibleInstallation"
    assert shorten("a_very_long_name", 11) == "a_long_name"
    assert shorten("x" * 70, 64) == "x" * 64
    assert shorten("a" * 40 + "_" + "z" * 40, 10) == "aaaaazzzzz"
    assert shorten("of" * 500_000, 64) == "of" * 32


def test_shortened_names_keep_the_end_that_tells_them_apart() -> None:
    stem = "orgs/custom-properties-for-repos-create-or-update-organization"
    keys = [ToolKey("PUT", f"/{end}", f"{stem}-{end}") for end in ("values", "definitions")]
    assert tool_names(keys, prefix="github_") == [
        "github_orgs_custom-properties-repos-update-organization-values",
        "github_orgs_custom-properties-or-update-organization-definitions",
    ]


@given(st.text(alphabet="abB1_-.", max_size=60), st.integers(min_value=1, max_value=40))
def test_shortened_names_fit(name: str, limit: int) -> None:
    short = shorten(name, limit)
    assert len(short) <= limit
    assert short == (name if len(name) <= limit else shorten(short, limit))


def fastapi_app() -> tuple[FastAPI, dict[tuple[str, str], str]]:
    """Return an application of real FastAPI, and the name that the tool of each operation should have."""
    app = FastAPI()
    expected = {}
    for method, path, function, name in (
        ("post", "/work_pools/", "create_work_pool", "create_work_pool"),
        ("get", "/items/{item_id}", "read_item", "read_item"),
        ("get", "/files/{file_path}/v1.0", "download_file", "download_file"),
        ("post", "/login", "login", "login"),
        ("get", "/", "root", "root"),
        ("get", "/pets", "get_all", "get_all_pets"),
        ("get", "/users/{id}", "get", "get_users_by_id"),
        ("delete", "/cats", "remove_pet", "remove_pet_cats"),
        ("delete", "/dogs", "remove_pet", "remove_pet_dogs"),
        ("get", "/ping", "ping_it", "ping_it_get_ping"),
        ("post", "/ping", "ping_it", "ping_it_post_ping"),
    ):
        app.add_api_route(path, lambda: None, methods=[method.upper()], name=function)
        expected[method, path] = name
    app.add_api_route("/own", lambda: None, methods=["GET"], operation_id="own_own_id")
    return app, expected | {("get", "/own"): "own_own_id"}


def named(keys: list[ToolKey]) -> list[str]:
    functions = function_names(keys)
    return tool_names([replace(key, function_names=functions.get(key, ())) for key in keys])


@pytest.mark.parametrize("mount", ["", "/api", "/api/v1"])
def test_operation_ids_of_fastapi_become_the_names_of_its_functions(mount: str) -> None:
    app, expected = fastapi_app()
    operations = [(m, p, o["operationId"]) for p, item in app.openapi()["paths"].items() for m, o in item.items()]
    keys = [ToolKey(method.upper(), mount + path, operation_id) for method, path, operation_id in operations]
    names = dict(zip(keys, named(keys), strict=True))
    for (method, path, operation_id), key in zip(operations, keys, strict=True):
        assert names[key] == expected[method, path], operation_id
    assert named(keys[::-1]) == [names[key] for key in keys[::-1]]


@pytest.mark.parametrize(
    ("path", "operation_id"),
    [
        ("/api/users", "find_active_users_get"),  # not the whole path, and no mark of FastAPI
        ("/users", "findUsersGet"),
        ("/users", "users_get"),  # no function
        ("/users/{id}", "find_user_users_id_get"),
    ],
)
def test_other_operation_ids_stay(path: str, operation_id: str) -> None:
    assert named([ToolKey("GET", path, operation_id)]) == [operation_id]


def test_a_name_of_x_mcp_stays_before_that_of_a_function() -> None:
    key = ToolKey("POST", "/login", "login_login_post", "sign_in", ("login",))
    assert tool_names([key]) == ["sign_in"]


def test_prefix_counts_towards_the_length() -> None:
    (name,) = tool_names([ToolKey("GET", "/", "x" * 60)], prefix="shop_")
    assert name == "shop_" + "x" * 59


KEYS = st.builds(
    ToolKey,
    st.sampled_from(["GET", "POST"]),
    st.sampled_from(["/", "/a", "/a/b", "/a-b", "/{a}/b"]),
    st.none()
    | st.sampled_from(["", "same", "Same", "sa/me", "get_a_b", "***", "x" * 80, "x" * 81])
    | st.text(max_size=5),
)


@given(st.lists(KEYS, max_size=5, unique_by=lambda key: (key.method, key.path)))
def test_tool_names_are_legal_unique_and_independent_of_the_order(keys: list[ToolKey]) -> None:
    names = dict(zip(keys, tool_names(keys), strict=True))
    assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", name) for name in names.values())
    assert len({name.casefold() for name in names.values()}) == len(keys)
    for order in permutations(keys):
        assert tool_names(order) == [names[key] for key in order]


@pytest.mark.parametrize(
    ("wire", "name"),
    [
        ("limit", "limit"),
        ("X-Rate.Limit_1", "X-Rate.Limit_1"),
        ("$top", "top"),
        ("@type", "type"),
        ("filter[x]", "filter_x"),
        ("filter[a][b]", "filter_a_b"),
        ("StartTime<", "StartTime_lt"),
        ("StartTime>", "StartTime_gt"),
        ("a b", "a_b"),
        ("__proto__", "proto"),
        ("__typename", "typename"),
        ("_count", "_count"),
        ("1st", "1st"),
        ("größe", "groe"),
        ("日付", "query"),
        ("_", "query"),
    ],
)
def test_an_argument_is_named_after_its_parameter(wire: str, name: str) -> None:
    assert argument_names([ArgumentKey("query", wire)]) == [name]


def test_one_argument_name_in_every_location() -> None:
    keys = [ArgumentKey(location, "id") for location in ("body", "cookie", "header", "query", "path")]
    assert argument_names(keys) == ["id_body", "id_cookie", "id_header", "id_query", "id"]
    assert argument_names(keys[:4]) == ["id", "id_cookie", "id_header", "id_query"]
    assert argument_names(keys[1:3]) == ["id_cookie", "id"]


def test_argument_without_a_wire_name_yields() -> None:
    body = ArgumentKey("body", None, ("body", "request_body"))
    assert argument_names([body]) == ["body"]
    assert argument_names([ArgumentKey("query", "body"), body]) == ["body", "request_body"]


def test_names_that_become_equal_have_a_hash() -> None:
    names = argument_names([ArgumentKey("query", wire) for wire in ("a.b", "a_b", "a-b", "a[b]", "a b", "$a_b")])
    assert names[:3] == ["a.b", "a_b", "a-b"]
    assert len(set(names)) == 6


PLACES = st.sampled_from(["path", "query", "header", "cookie", "body"])
ARGUMENTS = st.builds(
    ArgumentKey, PLACES, st.sampled_from(["id", "ID", "i d", "[id]", "__id", "日"]) | st.text(min_size=1)
)


@given(st.lists(ARGUMENTS, max_size=8, unique=True))
def test_argument_names_are_legal_and_unique(keys: list[ArgumentKey]) -> None:
    names = argument_names(keys)
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name) and not name.startswith("__") for name in names)
    assert len(set(names)) == len(keys)


@pytest.mark.parametrize(
    ("scheme", "variable"),
    [
        ("shopKey", "API_PETSTORE_SHOPKEY"),
        ("petstore_auth", "API_PETSTORE_PETSTORE_AUTH"),
        ("api_key", "API_PETSTORE_API_KEY"),
        ("OAuth2", "API_PETSTORE_OAUTH2"),
        ("Schlüssel", "API_PETSTORE_SCHLUESSEL"),
        ("AwsSecretAccessKey", "API_PETSTORE_AWSSECRETACCESSKEY"),
        ("OPENAPI_MCP_AUTH_TOKEN", "API_PETSTORE_OPENAPI_MCP_AUTH_TOKEN"),
        ("Api Key (v2)!", "API_PETSTORE_API_KEY_V2"),
        ("2fa_code", "API_PETSTORE_2FA_CODE"),
        ("日付", "API_PETSTORE_CREDENTIAL_666819"),
    ],
)
def test_variable_is_the_fixed_word_the_title_and_the_scheme(scheme: str, variable: str) -> None:
    assert environment_variables([scheme], "The Pet Store API") == {scheme: variable}


@pytest.mark.parametrize(
    ("title", "variable"),
    [
        ("GitHub v3 REST API", "API_GITHUB_KEY"),
        ("OAuth2", "API_OAUTH2_KEY"),
        ("Größe", "API_GROESSE_KEY"),
        ("Gro\u0308ße", "API_GROESSE_KEY"),
        ("Bob\u2019s Pizza", "API_BOBSPIZZA_KEY"),
        ("Swagger Petstore - OpenAPI 3.0", "API_PETSTORE_KEY"),
        ("AWS", "API_AWS_KEY"),
        ("OPENAPI_MCP", "API_MCP_KEY"),
        ("Secret", "API_SECRET"),
        ("", "API_"),
        ("宠物店", "API_"),
    ],
)
def test_title_is_one_word_of_the_variable_and_unlike_other_programs(title: str, variable: str) -> None:
    name = environment_variables(["key"], title)["key"]
    if variable.endswith("_KEY"):
        assert name == variable
    else:  # a hash keeps the variable of a generic title from being API_SECRET_KEY or API_KEY
        assert re.fullmatch(variable + "[0-9A-F]{6}_KEY", name)


@given(
    st.lists(st.sampled_from(["a b", "a-b", "aB", "A_B", "日", "付"]) | st.text(max_size=4), unique=True),
    st.text(max_size=9),
)
def test_no_two_schemes_share_a_variable(schemes: list[str], title: str) -> None:
    variables = environment_variables(schemes, title)
    assert all(re.fullmatch("[A-Z][A-Z0-9_]*", variable) for variable in variables.values())
    assert len(set(variables.values())) == len(schemes)


def test_similar_names_are_suggested() -> None:
    assert suggest_names("createPets", ["createPet", "getPet", "sing"]) == "did you mean createPet?"
    assert suggest_names("xyz", ["createPet"]) == ""
