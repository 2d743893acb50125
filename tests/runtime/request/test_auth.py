"""Credentials: OpenAPI's alternatives (OR of ANDs), the location of each scheme's credential, and secrecy."""

from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.errors import RequestError
from openapi_mcp.runtime.request import auth
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.tool import SecurityScheme
from tests.runtime.making import request, tool


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
def test_credential_is_sent_as_its_scheme_specifies(
    used: SecurityScheme, credential: str, expected: dict[str, Any]
) -> None:
    assert auth.build_credentials(tool(security=((used,),)), {used.name: credential}) == auth.Credentials(**expected)


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
def test_first_satisfied_alternative_is_used_alone(
    security: tuple[tuple[SecurityScheme, ...], ...], configured: str, used: tuple[SecurityScheme, ...]
) -> None:
    credentials = {name: ALL[name] for name in configured.split()}
    assert auth.select_schemes(tool(security=security), credentials) == used


@pytest.mark.parametrize(
    ("security", "used"),
    [
        (((MTLS,),), (MTLS,)),
        (((MTLS, BEARER),), (MTLS, BEARER)),
        (((MTLS, HEADER), (BEARER,)), (BEARER,)),
    ],
)
def test_client_certificate_satisfies_mutual_tls_without_a_header(
    security: tuple[tuple[SecurityScheme, ...], ...], used: tuple[SecurityScheme, ...]
) -> None:
    secured = tool(security=security)
    assert auth.select_schemes(secured, {"bearer": "T"}, client_certificate=True) == used
    headers = (("Authorization", "Bearer T"),) if BEARER in used else ()
    assert auth.build_credentials(secured, {"bearer": "T"}, client_certificate=True) == auth.Credentials(headers)


def test_empty_credential_counts_as_missing() -> None:
    assert auth.select_schemes(tool(security=((BEARER,),)), {"bearer": ""}) == ()


def test_first_of_two_schemes_for_one_header_counts() -> None:
    credentials = auth.build_credentials(tool(security=((BASIC, BEARER),)), {"basic": "u:p", "bearer": "T"})
    assert credentials.headers == (("Authorization", "Basic dTpw"),)


def test_credential_with_a_line_break_is_refused_and_not_shown() -> None:
    with pytest.raises(RequestError, match="API_BEARER") as caught:
        auth.build_credentials(tool(security=((BEARER,),)), {"bearer": "sec\r\nret"})
    assert "sec" not in str(caught.value)


def test_repr_of_credentials_has_no_secret() -> None:
    text = repr(auth.build_credentials(tool(security=((BEARER, QUERY, COOKIE),)), ALL))
    assert "secret" not in text


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
def test_hint_names_the_variables(security: tuple[tuple[SecurityScheme, ...], ...], expected: str) -> None:
    hint = auth.variables_hint(tool(security=security))
    assert expected in hint
    assert bool(hint) == bool(expected)


BOTH = tool(security=((QUERY,), (HEADER,)), required_schemes=(QUERY, HEADER))


def test_credentials_of_required_parameters_are_sent_whichever_alternative_is_used() -> None:
    sent = auth.build_credentials(BOTH, ALL)
    assert sent == auth.Credentials(headers=(("X-API-Key", ALL["header"]),), query=(("api_key", ALL["query"]),))
    bearer_first = tool(security=((BEARER,), (QUERY,)), required_schemes=(QUERY,))
    assert auth.build_credentials(bearer_first, ALL).query == (("api_key", ALL["query"]),)


@pytest.mark.parametrize(
    ("credentials", "expected"),
    [
        ({}, ["query parameter `api_key`", "`API_QUERY`", "header parameter `X-API-Key`", "`API_HEADER`"]),
        ({"query": "K"}, ["header parameter `X-API-Key`", "`API_HEADER` (security scheme `header`)"]),
    ],
)
def test_missing_credential_of_a_required_parameter_is_named_before_the_call(
    credentials: dict[str, str], expected: list[str]
) -> None:
    with pytest.raises(RequestError) as caught:
        request(BOTH, RequestOptions(credentials=credentials))
    assert all(text in str(caught.value) for text in expected)
    assert "`API_QUERY`" not in str(caught.value) or "query" not in credentials


def test_configured_header_query_or_cookie_stands_for_a_required_parameter() -> None:
    required = tool(security=((QUERY, HEADER, COOKIE),), required_schemes=(QUERY, HEADER, COOKIE))
    headers = (("x-api-key", "H"), ("Cookie", "a=b; session=C"))
    built = request(required, RequestOptions(base_url="http://api.test/?api_key=Q", headers=headers))
    assert str(built.url) == "http://api.test/x?api_key=Q"
    assert built.headers["X-API-Key"] == "H"


def test_one_of_several_schemes_for_the_same_required_parameter_is_enough() -> None:
    other = scheme("other", type="apiKey", location="query", parameter="api_key")
    both = tool(security=((QUERY,), (other,)), required_schemes=(QUERY, other))
    assert str(request(both, RequestOptions(credentials={"other": "K"})).url) == "http://api.test/x?api_key=K"


def test_hint_names_the_credentials_of_required_parameters_too() -> None:
    assert "`API_QUERY` (an API key) and `API_HEADER` (an API key)." in auth.variables_hint(
        tool(security=((QUERY,),), required_schemes=(QUERY, HEADER))
    )


def refusal(status: int, schemes: tuple[SecurityScheme, ...], options: RequestOptions, **response: Any) -> str:
    """Return the hint for a response to a request with these schemes and options."""
    refused = tool(security=(schemes,) if schemes else ())
    answer = httpx.Response(status, request=request(refused, options), **response)
    return auth.refusal_hint(refused, answer)


def test_missing_refused_and_insufficient_credentials_have_different_hints() -> None:
    configured = RequestOptions(credentials={"bearer": "T"})
    assert refusal(401, (BEARER,), RequestOptions()).startswith("No credential was sent, since none is configured.")
    credential = "The credential of the security scheme `bearer` (`API_BEARER`) was sent"
    assert refusal(401, (BEARER,), configured) == f"{credential} and refused: it may be wrong or expired."
    assert refusal(403, (BEARER,), configured) == f"{credential}, but it does not allow this operation."


def test_refused_credential_is_named_by_the_variable_it_was_read_from() -> None:
    options = RequestOptions(credentials={"query": "K"}, credential_sources={"query": "OTHER"})
    assert "`query` (`OTHER`)" in refusal(401, (QUERY,), options)


@pytest.mark.parametrize(
    "response",
    [
        {"headers": {"WWW-Authenticate": 'Bearer error="invalid_token", error_description="The token expired."'}},
        {"json": {"error": "invalid_token", "error_description": "The token expired."}},
    ],
)
def test_reason_of_the_api_is_repeated(response: Any) -> None:
    hint = refusal(401, (BEARER,), RequestOptions(credentials={"bearer": "T"}), **response)
    assert hint.endswith("The API says: invalid_token: The token expired.")


@pytest.mark.parametrize("status", [401, 403])
def test_refusal_without_security_schemes_hints_at_a_header(status: int) -> None:
    assert "`--header 'Authorization: Bearer …'`" in refusal(status, (), RequestOptions())
    configured = RequestOptions(headers=(("X-API-Key", "K"),))
    assert refusal(status, (HEADER,), configured) == "The configured header X-API-Key was sent and refused."
