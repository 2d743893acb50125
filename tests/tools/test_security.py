"""Security requirements are read as far as the document defines their schemes."""

from typing import Any

import pytest

from openapi_mcp.runtime.tool import SecurityScheme
from tests.compiling import compiled_operation, kinds, tool_of

SCHEMES: dict[str, Any] = {
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "basic": {"type": "http", "scheme": "Basic"},
    "oauth": {"type": "oauth2", "flows": {}},
    "oidc": {"type": "openIdConnect", "openIdConnectUrl": "https://id.example.com"},
    "tls": {"type": "mutualTLS"},
    "alias": {"$ref": "#/components/securitySchemes/key"},
    "no type": {"in": "header"},
    "odd type": {"type": "basic"},
    "homeless": {"type": "apiKey", "name": "X-Key"},
    "nameless": {"type": "apiKey", "in": "query"},
    "lost": {"$ref": "#/gone"},
    "null": None,
}


def security_of(requirements: Any, **root: Any) -> tuple[list[list[str]], list[tuple[str, str | None]]]:
    fields = {} if requirements == "absent" else {"security": requirements}
    result = compiled_operation(fields, components={"securitySchemes": SCHEMES}, **root)
    return [[scheme.name for scheme in each] for each in result.tools[0].security], kinds(result)


@pytest.mark.parametrize(
    ("security", "alternatives"),
    [
        ([{"key": []}], [["key"]]),
        ([{"key": [], "basic": []}, {"oauth": ["read"]}, {}], [["key", "basic"], ["oauth"], []]),
        ([{"key": []}, {"key": ["again"]}], [["key"]]),
        ([], []),
        ("absent", [["tls"]]),
        (None, [["tls"]]),
    ],
)
def test_alternatives_are_an_or_of_ands(security: Any, alternatives: list[list[str]]) -> None:
    assert security_of(security, security=[{"tls": []}]) == (alternatives, [])


@pytest.mark.parametrize("name", ["undefined", "no type", "odd type", "homeless", "nameless", "null"])
def test_alternative_with_an_undefined_scheme_is_left_out_and_reported(name: str) -> None:
    assert security_of([{name: []}, {"key": [], name: []}, {"oidc": []}])[0] == [["oidc"]]
    assert {kind for kind, _ in security_of([{name: []}])[1]} == {"security"}


def test_broken_scheme_reference_costs_only_its_alternatives() -> None:
    assert security_of([{"lost": []}, {"key": []}]) == ([["key"]], [("reference", None)])


@pytest.mark.parametrize("security", [{"key": []}, "key", [["key"]], ["key"], [None]])
def test_security_of_a_wrong_type_is_reported(security: Any) -> None:
    assert security_of(security) == ([], [("security", None)])


def test_schemes_have_the_fields_that_a_request_needs() -> None:
    requirements: Any = [{"key": [], "basic": [], "alias": []}]
    result = compiled_operation({"security": requirements}, components={"securitySchemes": SCHEMES})
    assert result.tools[0].security == (
        (
            SecurityScheme(
                name="key", type="apiKey", variable="API_PETSTORE_KEY", location="header", parameter="X-Key"
            ),
            SecurityScheme(name="basic", type="http", variable="API_PETSTORE_BASIC", scheme="basic"),
            SecurityScheme(
                name="alias", type="apiKey", variable="API_PETSTORE_ALIAS", location="header", parameter="X-Key"
            ),
        ),
    )


def required_schemes(parameters: list[Any], *requirements: Any, path: str = "/x") -> tuple[list[str], list[str]]:
    """Return the names of the required schemes and of the arguments of an operation with these parameters."""
    schemes = {
        "key": {"type": "apiKey", "in": "query", "name": "key"},
        "token": {"type": "apiKey", "in": "header", "name": "X-Token"},
        "session": {"type": "apiKey", "in": "cookie", "name": "sid"},
        "auth": {"type": "apiKey", "in": "header", "name": "Authorization"},
    }
    fields = {"parameters": parameters, "security": list(requirements)}
    tool = tool_of(fields, path, components={"securitySchemes": schemes})
    return [scheme.name for scheme in tool.required_schemes], [each.name for each in tool.arguments]


def parameter(location: str, name: str, **fields: Any) -> Any:
    return {"in": location, "name": name, "required": True, "schema": {"type": "string"}, **fields}


@pytest.mark.parametrize(
    ("location", "name", "scheme"),
    [
        ("query", "key", "key"),
        ("header", "x-token", "token"),
        ("cookie", "sid", "session"),
        ("header", "authorization", "auth"),
    ],
)
def test_required_parameter_of_a_scheme_is_a_required_scheme(location: str, name: str, scheme: str) -> None:
    declared = parameter(location, name)
    assert required_schemes([declared], {"key": []}, {scheme: []}) == ([scheme], [])
    assert required_schemes([{**declared, "required": False}], {scheme: []}) == ([], [])


def test_required_parameters_of_alternative_schemes_are_all_required() -> None:
    declared = [parameter("query", "key"), parameter("header", "X-Token")]
    assert required_schemes(declared, {"key": []}, {"token": []}) == (["key", "token"], [])


def test_required_parameter_with_a_default_is_no_required_scheme() -> None:
    schema = {"type": "string", "default": "DEMO_KEY"}
    assert required_schemes([parameter("query", "key", schema=schema)], {"key": []}) == ([], [])


def test_required_parameter_with_one_documented_value_stays_an_argument() -> None:
    schema = {"type": "string", "enum": ["public"]}
    assert required_schemes([parameter("query", "key", schema=schema)], {"key": []}) == ([], ["key"])


@pytest.mark.parametrize("security", [{}, {"security": []}, {"security": [{"undefined": []}]}])
@pytest.mark.parametrize("required", [True, False])
def test_header_authorization_without_a_scheme_is_a_credential(security: Any, required: bool) -> None:
    declared = parameter("header", "authorization", required=required)
    tool = tool_of({**security, "parameters": [declared]})
    implied = SecurityScheme(
        name="Authorization",
        type="apiKey",
        variable="API_PETSTORE_AUTHORIZATION",
        location="header",
        parameter="Authorization",
    )
    assert (tool.security, tool.arguments) == (((implied,),), ())
    assert tool.required_schemes == ((implied,) if required else ())


def test_header_authorization_beside_a_scheme_is_left_out() -> None:
    fields = {"parameters": [parameter("header", "Authorization")], "security": [{"basic": []}]}
    tool = tool_of(fields, components={"securitySchemes": SCHEMES})
    assert [[each.name for each in group] for group in tool.security] == [["basic"]]
    assert (tool.required_schemes, tool.arguments) == ((), ())


def test_header_authorization_is_sent_by_the_scheme_of_its_name() -> None:
    schemes = {"Authorization": {"type": "http", "scheme": "bearer"}}
    tool = tool_of({"parameters": [parameter("header", "Authorization")]}, components={"securitySchemes": schemes})
    assert [[(each.name, each.type) for each in group] for group in tool.security] == [[("Authorization", "http")]]


@pytest.mark.parametrize(
    ("requirements", "scopes"),
    [
        ([{"oauth": ["write", "read"]}], (("read", "write"),)),
        ([{"oauth": ["read"]}, {"oidc": ["admin"]}], (("read",), ("admin",))),
        ([{"oauth": ["read"], "oidc": ["admin"], "key": []}], (("admin", "read"),)),
        ([{"oauth": ["read"]}, {}], ()),
        ([{"oauth": ["read"]}, {"oidc": []}], ()),
        ([{"oauth": ["read"]}, {"oauth": ["read"]}], (("read",),)),
        # An API key of the server gives its clients no rights.
        ([{"key": []}, {"oauth": ["read"]}], (("read",),)),
        ([{"key": []}, {"basic": []}], ()),
        # Roles of 3.1; and what an undefined or broken scheme demands is demanded too.
        ([{"basic": ["auditor"]}], (("auditor",),)),
        ([{"undefined": ["admin"]}], (("admin",),)),
        ([{"lost": ["admin"]}], (("admin",),)),
        ([{"oauth": ["read", 5, {}, ""]}], (("read",),)),
        ([{"oauth": None}], ()),
        (["oauth", None, 7], ()),
        ("oauth", ()),
        ("absent", (("everywhere",),)),
    ],
)
def test_scopes_that_a_client_needs_are_an_or_of_ands(requirements: Any, scopes: Any) -> None:
    fields = {} if requirements == "absent" else {"security": requirements}
    result = compiled_operation(fields, components={"securitySchemes": SCHEMES}, security=[{"oauth": ["everywhere"]}])
    assert result.tools[0].scopes == scopes
