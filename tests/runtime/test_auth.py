"""`auth`: OpenAPI's OR of ANDs, where each scheme puts its credential, and that none is ever shown."""

from typing import Any

import pytest

from openapi_mcp.runtime import auth
from openapi_mcp.runtime.errors import RequestError
from openapi_mcp.runtime.models import SecurityScheme
from tests.runtime.making import tool


def scheme(name: str, **more: Any) -> SecurityScheme:
    return SecurityScheme(**({"name": name, "type": "http", "variable": f"API_{name.upper()}"} | more))


BEARER = scheme("bearer", scheme="bearer")
BASIC = scheme("basic", scheme="basic")
DIGEST = scheme("digest", scheme="digest")
HEADER = scheme("header", type="apiKey", location="header", parameter="X-API-Key")
QUERY = scheme("query", type="apiKey", location="query", parameter="api_key")
COOKIE = scheme("cookie", type="apiKey", location="cookie", parameter="session")
OAUTH = scheme("oauth", type="oauth2")
OIDC = scheme("oidc", type="openIdConnect")
MTLS = scheme("mtls", type="mutualTLS")
ALL = {item.name: f"{item.name}-secret" for item in (BEARER, DIGEST, HEADER, QUERY, COOKIE, OAUTH, OIDC, MTLS)}
ALL["basic"] = "u:p"


@pytest.mark.parametrize(
    ("used", "credential", "expected"),
    [
        (BEARER, "T", {"headers": (("Authorization", "Bearer T"),)}),
        (BEARER, " T\n", {"headers": (("Authorization", "Bearer T"),)}),
        (BEARER, "Bearer T", {"headers": (("Authorization", "Bearer T"),)}),
        (BASIC, "u:p", {"headers": (("Authorization", "Basic dTpw"),)}),
        (BASIC, "Basic dTpw", {"headers": (("Authorization", "Basic dTpw"),)}),
        (BASIC, "key", {"headers": (("Authorization", "Basic a2V5Og=="),)}),
        (BASIC, "é:ü", {"headers": (("Authorization", "Basic w6k6w7w="),)}),
        (DIGEST, "T", {"headers": (("Authorization", "Digest T"),)}),
        (scheme("proof", scheme="DPoP"), "T", {"headers": (("Authorization", "DPoP T"),)}),
        (OAUTH, "T", {"headers": (("Authorization", "Bearer T"),)}),
        (OIDC, "T", {"headers": (("Authorization", "Bearer T"),)}),
        (HEADER, "K", {"headers": (("X-API-Key", "K"),)}),
        (QUERY, "K", {"query": (("api_key", "K"),)}),
        (COOKIE, "K", {"cookies": (("session", "K"),)}),
    ],
)
def test_a_scheme_puts_its_credential_where_the_specification_says(
    used: SecurityScheme, credential: str, expected: dict[str, Any]
) -> None:
    assert auth.apply(tool(security=((used,),)), {used.name: credential}) == auth.Credentials(**expected)


@pytest.mark.parametrize(
    ("security", "configured", "used"),
    [
        ((), "bearer", ()),
        (((),), "bearer", ()),
        (((), (BEARER,)), "bearer", (BEARER,)),
        (((), (BEARER,)), "", ()),
        (((HEADER,), (BASIC,)), "header basic", (HEADER,)),
        (((HEADER,), (BASIC,)), "basic", (BASIC,)),
        (((HEADER, BEARER), (QUERY,)), "header query", (QUERY,)),
        (((HEADER, QUERY),), "header query", (HEADER, QUERY)),
        (((HEADER, QUERY),), "header", ()),
        (((MTLS, BEARER),), "bearer", ()),
        (((MTLS,), (BEARER,)), "mtls bearer", (BEARER,)),
    ],
)
def test_the_first_alternative_that_is_complete_is_used_and_no_other(
    security: tuple[tuple[SecurityScheme, ...], ...], configured: str, used: tuple[SecurityScheme, ...]
) -> None:
    credentials = {name: ALL[name] for name in configured.split()}
    assert auth.choose(tool(security=security), credentials) == used


@pytest.mark.parametrize(
    ("security", "used"),
    [
        (((MTLS,),), (MTLS,)),
        (((MTLS, BEARER),), (MTLS, BEARER)),
        (((MTLS, HEADER), (BEARER,)), (BEARER,)),
    ],
)
def test_a_client_certificate_satisfies_mutual_tls_and_puts_nothing_into_the_request(
    security: tuple[tuple[SecurityScheme, ...], ...], used: tuple[SecurityScheme, ...]
) -> None:
    made = tool(security=security)
    assert auth.choose(made, {"bearer": "T"}, client_certificate=True) == used
    headers = (("Authorization", "Bearer T"),) if BEARER in used else ()
    assert auth.apply(made, {"bearer": "T"}, client_certificate=True) == auth.Credentials(headers)


def test_an_empty_credential_is_none() -> None:
    assert auth.choose(tool(security=((BEARER,),)), {"bearer": ""}) == ()


def test_of_two_schemes_that_want_one_header_the_first_has_it() -> None:
    applied = auth.apply(tool(security=((BASIC, BEARER),)), {"basic": "u:p", "bearer": "T"})
    assert applied.headers == (("Authorization", "Basic dTpw"),)


def test_a_credential_with_a_line_break_is_refused_without_being_shown() -> None:
    with pytest.raises(RequestError, match="API_BEARER") as refused:
        auth.apply(tool(security=((BEARER,),)), {"bearer": "sec\r\nret"})
    assert "sec" not in str(refused.value)


def test_credentials_do_not_show_in_a_repr() -> None:
    shown = repr(auth.apply(tool(security=((BEARER, QUERY, COOKIE),)), ALL))
    assert "secret" not in shown


@pytest.mark.parametrize(
    ("security", "expected"),
    [
        ((), ""),
        (((),), ""),
        (((BEARER,),), "`API_BEARER` (a token)"),
        (
            ((BASIC,), (HEADER, MTLS)),
            "`API_BASIC` (user:password), or `API_HEADER` (an API key) and a client certificate",
        ),
    ],
)
def test_the_hint_names_the_variables(security: tuple[tuple[SecurityScheme, ...], ...], expected: str) -> None:
    hint = auth.hint(tool(security=security))
    assert expected in hint
    assert bool(hint) == bool(expected)
