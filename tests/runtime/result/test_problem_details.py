"""`problem_details`: the messages of an error's body, in the forms that APIs use, with the arguments they are about."""

import json
import time
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.result.build import to_result
from openapi_mcp.runtime.result.problem_details import summary
from openapi_mcp.runtime.result.sanitizer import Sanitizer
from openapi_mcp.runtime.tool import Argument, Tool
from tests.runtime.making import tool

PET = tool(
    "/pets/{petId}",
    Argument(name="pet_id", wire_name="petId", location="path"),
    Argument(name="age", wire_name="age", location="body"),
    Argument(name="user", wire_name="user", location="body"),
    Argument(name="first_name", wire_name="firstName", location="body"),
    Argument(name="data", wire_name="data", location="body"),
    Argument(name="top", wire_name="$top", location="query"),
    Argument(name="filter_status", wire_name="filter[status]", location="query"),
)
WHOLE = tool("/pets", Argument(name="body", location="body"), method="POST")


def said(value: Any, api_tool: Tool = PET, text: str | None = None) -> str:
    return summary(api_tool, value, text, 400, "Bad Request")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            {
                "type": "https://pets.example/probs/invalid",
                "title": "The request is not valid.",
                "status": 400,
                "detail": "Two members are wrong.",
                "errors": [
                    {"detail": "must be positive", "pointer": "#/age"},
                    {"detail": "must be green", "pointer": "#/user/colour"},
                ],
            },
            "The request is not valid: Two members are wrong.\n"
            "- the argument `age`: must be positive\n- the argument `user.colour`: must be green",
            id="RFC 9457",
        ),
        pytest.param(
            {"title": "Bad Request", "invalid-params": [{"name": "age", "reason": "must be positive"}]},
            "the argument `age`: must be positive",
            id="RFC 7807 invalid-params",
        ),
        pytest.param({"detail": "Pet not found"}, "Pet not found", id="FastAPI, text"),
        pytest.param(
            {
                "detail": [
                    {"type": "missing", "loc": ["body", "user", "email"], "msg": "Field required", "input": {"a": 1}},
                    {"type": "less_than", "loc": ["query", "$top"], "msg": "too large"},
                    {"type": "int_parsing", "loc": ["path", "petId"], "msg": "no integer", "ctx": {"error": "x"}},
                ]
            },
            "\n- the argument `user.email`: Field required\n- the argument `top` (the API's `$top`): too large"
            "\n- the argument `pet_id` (the API's `petId`): no integer",
            id="FastAPI",
        ),
        pytest.param(
            {
                "error": {
                    "code": 400,
                    "message": "Invalid value",
                    "status": "INVALID_ARGUMENT",
                    "details": [
                        {
                            "@type": "type.googleapis.com/google.rpc.BadRequest",
                            "fieldViolations": [{"field": "user.name", "description": "too long"}],
                        }
                    ],
                }
            },
            "INVALID_ARGUMENT: Invalid value\n- the argument `user.name`: too long",
            id="Google",
        ),
        pytest.param(
            {"__type": "com.amazonaws.pets#PetMissingException", "message": "No such pet"},
            "PetMissingException: No such pet",
            id="AWS",
        ),
        pytest.param(
            {"__type": "ValidationException", "Message": "1 error"}, "ValidationException: 1 error", id="AWS, Message"
        ),
        pytest.param(
            {
                "errors": [
                    {
                        "status": "422",
                        "source": {"pointer": "/data/attributes/firstName"},
                        "title": "Invalid Attribute",
                        "detail": "It must have two characters.",
                    },
                    {"source": {"parameter": "filter[status]"}, "title": "Invalid Query Parameter"},
                ]
            },
            "\n- the argument `data.attributes.firstName`: Invalid Attribute: It must have two characters."
            "\n- the argument `filter_status` (the API's `filter[status]`): Invalid Query Parameter",
            id="JSON:API",
        ),
        pytest.param(
            {"data": None, "errors": [{"message": "Cannot query field", "path": ["pets", 0]}]},
            "`pets[0]`: Cannot query field",
            id="GraphQL",
        ),
        pytest.param(
            {"age": ["No integer."], "user": {"email": ["No email."]}, "non_field_errors": ["One of both."]},
            "\n- the argument `age`: No integer.\n- the argument `user.email`: No email.\n- One of both.",
            id="Django REST framework",
        ),
        pytest.param(
            {"message": "The data was invalid.", "errors": {"age": ["No integer.", "Too old."], "user.email": ["x"]}},
            "The data was invalid.\n- the argument `age`: No integer.; Too old.\n- the argument `user.email`: x",
            id="Laravel",
        ),
        pytest.param(
            {"errors": {"title": ["can't be blank"], "age": ["is no number"]}},
            "\n- `title`: can't be blank\n- the argument `age`: is no number",
            id="Rails",
        ),
        pytest.param({"errors": ["Age is bad", "Name is bad"]}, "Age is bad\n- Name is bad", id="Rails, texts"),
        pytest.param(
            {
                "type": "https://tools.ietf.org/html/rfc7231#section-6.5.1",
                "title": "One or more validation errors occurred.",
                "status": 400,
                "traceId": "00-1",
                "errors": {"FirstName": ["The FirstName field is required."], "$.age": ["No integer."]},
            },
            "One or more validation errors occurred."
            "\n- the argument `first_name` (the API's `firstName`): The FirstName field is required."
            "\n- the argument `age`: No integer.",
            id="ASP.NET",
        ),
        pytest.param(
            {"Message": "The request is invalid.", "ModelState": {"pet.Age": ["No integer."]}},
            "The request is invalid.\n- the argument `age`: No integer.",
            id="ASP.NET ModelState",
        ),
        pytest.param(
            {"error": {"code": "Request_Bad", "message": {"lang": "en", "value": "Invalid filter"}}},
            "Request_Bad: Invalid filter",
            id="OData 3",
        ),
        pytest.param(
            {"error": {"code": "BadArgument", "message": "Bad", "details": [{"target": "age", "message": "too old"}]}},
            "BadArgument: Bad\n- the argument `age`: too old",
            id="OData 4",
        ),
        pytest.param(
            {"error": "invalid_grant", "error_description": "It expired"}, "invalid_grant: It expired", id="OAuth"
        ),
        pytest.param({"error": "no such pet"}, "no such pet", id="error"),
        pytest.param({"message": "no such pet", "status": 400}, "no such pet", id="message"),
        pytest.param(
            {"message": "Validation Failed", "errors": [{"resource": "Pet", "field": "age", "code": "missing_field"}]},
            "Validation Failed\n- the argument `age`: missing_field",
            id="GitHub",
        ),
        pytest.param(
            {"statusCode": 400, "message": ["age must be positive", "user is needed"], "error": "Bad Request"},
            "age must be positive\n- user is needed",
            id="NestJS",
        ),
        pytest.param(
            {
                "status": 400,
                "error": "Bad Request",
                "path": "/pets",
                "errors": [{"field": "firstName", "defaultMessage": "must not be blank", "code": "NotBlank"}],
            },
            "the argument `first_name` (the API's `firstName`): NotBlank: must not be blank",
            id="Spring",
        ),
        pytest.param(
            [{"property": "age", "constraints": {"min": "age must not be less than 1"}}],
            "the argument `age`: age must not be less than 1",
            id="class-validator",
        ),
        pytest.param(
            {"success": False, "error": {"name": "ZodError", "issues": [{"path": ["user", "age"], "message": "low"}]}},
            "the argument `user.age`: low",
            id="Zod",
        ),
        pytest.param({"errorMessages": ["No such issue"], "errors": {}}, "No such issue", id="Jira"),
        pytest.param({"json": {"age": ["No integer."]}}, "the argument `age`: No integer.", id="webargs"),
        pytest.param(
            {"error": {"message": "Missing required param: petId.", "type": "invalid_request_error"}},
            "Missing required param: petId.\nThe API's `petId` is the argument `pet_id`.",
            id="name in the text",
        ),
        pytest.param({"id": 5, "name": "Rex"}, "", id="no error"),
        pytest.param({"error": "Bad Request"}, "", id="the reason again"),
        pytest.param({}, "", id="empty"),
        pytest.param([], "", id="empty list"),
        pytest.param("text", "", id="text"),
    ],
)
def test_messages_come_first_and_name_arguments(body: Any, expected: str) -> None:
    assert said(body) == expected


def test_place_in_a_body_that_is_one_argument() -> None:
    body = {"detail": [{"loc": ["body", "user", 0, "email"], "msg": "no email"}]}
    assert said(body, WHOLE) == "the argument `body.user[0].email`: no email"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>The &quot;pet&quot; is gone.</Message></Error>',
            'NoSuchKey: The "pet" is gone.',
        ),
        ("<s:Fault><faultcode>s:Client</faultcode><faultstring>Bad pet</faultstring></s:Fault>", "Bad pet"),
        ('<problem xmlns="urn:ietf:rfc:7807"><title>Out</title><detail>No food.</detail></problem>', "Out: No food."),
        ("no such pet", ""),
    ],
)
def test_messages_of_xml(text: str, expected: str) -> None:
    assert said(None, text=text) == expected


def test_result_begins_with_the_messages_and_keeps_the_body() -> None:
    body = {"detail": [{"loc": ["query", "$top"], "msg": "too large\u202e, token s3cret-s3cret"}]}
    response = httpx.Response(422, json=body, request=httpx.Request("GET", "https://api.test/pets"))
    text = to_result(PET, response, max_bytes=5000, sanitizer=Sanitizer(["s3cret-s3cret"])).content[0]["text"]
    first, _, raw = text.partition("\n\n")
    assert first == ("422 Unprocessable Entity: the argument `top` (the API's `$top`): too large\\u202e, token ***")
    assert json.loads(raw)["detail"][0]["loc"] == ["query", "$top"]


def test_page_of_html_has_no_messages() -> None:
    page = "<html><title>Oops</title><body><error>x</error></body></html>"
    response = httpx.Response(500, html=page, request=httpx.Request("GET", "https://api.test/pets"))
    assert to_result(PET, response, max_bytes=5000).content[0]["text"].startswith("500 Internal Server Error\n\n")


def test_messages_are_bounded() -> None:
    many = {"errors": [{"message": "long " * 1000, "field": f"{number}{'f' * 5000}"} for number in range(10_000)]}
    deep: Any = {"error": "x"}
    for _ in range(900):
        deep = {"errors": [deep]}
    start = time.process_time()
    text = said(many)
    assert len(text) < 1600
    assert "more." in text
    assert said(deep) == ""
    said({f"field{number}": ["bad"] for number in range(100_000)})
    said(None, text="<a><Code>" * 100_000)
    wide = tool(
        "/x", *(Argument(name=f"a{number}", wire_name=f"A-{number}", location="query") for number in range(900))
    )
    said({"error": "x" * 10_000}, wide)
    assert time.process_time() - start < 5


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "errors", "detail", "message", "loc", "field", "source", "a", ""]), inner
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read(value: Any) -> None:
    assert len(said(value)) < 1600
