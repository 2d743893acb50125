"""What an operation asks for is known as far as the document defines it."""

from typing import Any

import pytest

from openapi_mcp.runtime.models import SecurityScheme
from tests.compiling import compiled_operation, kinds

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


def security_of(wanted: Any, **root: Any) -> tuple[list[list[str]], list[tuple[str, str | None]]]:
    fields = {} if wanted == "absent" else {"security": wanted}
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
def test_an_alternative_with_an_unknown_scheme_is_left_out_and_reported(name: str) -> None:
    assert security_of([{name: []}, {"key": [], name: []}, {"oidc": []}])[0] == [["oidc"]]
    assert {kind for kind, _ in security_of([{name: []}])[1]} == {"security"}


def test_a_scheme_whose_reference_is_broken_costs_only_itself() -> None:
    assert security_of([{"lost": []}, {"key": []}]) == ([["key"]], [("reference", None)])


@pytest.mark.parametrize("security", [{"key": []}, "key", [["key"]], ["key"], [None]])
def test_security_that_is_no_list_of_objects_is_reported(security: Any) -> None:
    assert security_of(security) == ([], [("security", None)])


def test_schemes_are_what_a_request_needs_to_know() -> None:
    wanted: Any = [{"key": [], "basic": [], "alias": []}]
    result = compiled_operation({"security": wanted}, components={"securitySchemes": SCHEMES})
    assert result.tools[0].security == (
        (
            SecurityScheme(name="key", type="apiKey", variable="PET_STORE_KEY", location="header", parameter="X-Key"),
            SecurityScheme(name="basic", type="http", variable="PET_STORE_BASIC", scheme="basic"),
            SecurityScheme(
                name="alias", type="apiKey", variable="PET_STORE_ALIAS", location="header", parameter="X-Key"
            ),
        ),
    )
