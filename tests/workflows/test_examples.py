"""The example workflows of the specification run, against servers of the test that answer as their documents say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import RedirectResponse, Response

from tests.conftest import SHARED
from tests.workflows.api import TableApi, bridge, call, serving, text, tools_of, write

EXAMPLES = SHARED / "standards" / "arazzo" / "examples" / "1.0.0"

pytestmark = pytest.mark.skipif(
    not EXAMPLES.exists(), reason="the examples are in ../shared/standards, which is absent"
)


@pytest.fixture(scope="module")
def api() -> Iterator[TableApi]:
    with serving() as served:
        yield served


def test_apply_coupon_finds_a_pet_and_its_coupon_and_orders_it_by_another_workflow(api: TableApi) -> None:
    api.answers(
        {
            "GET /pet/findByTags": lambda _: [{"id": 7, "name": "Rex"}, {"id": 8, "name": "Tom"}],
            "GET /pet/7/coupons": lambda _: {"couponCode": "SAVE10"},
            "POST /store/order": lambda sent: {"id": 99, **sent.body},
        }
    )
    opened = bridge(EXAMPLES / "pet-coupons.openapi.yaml", EXAMPLES / "pet-coupons.arazzo.yaml", url=api.url)
    assert [tool.name for tool in tools_of(opened)] == ["apply-coupon", "buy-available-pet", "place-order"]
    result = call(opened, "apply-coupon", {"my_pet_tags": ["puppy", "dalmatian"]})
    assert not result.is_error, text(result)
    assert result.structured_content == {"apply_coupon_pet_order_id": 99}
    assert api.sent[-1].body == {"petId": 7, "couponCode": "SAVE10", "status": "placed", "complete": False}
    api.answers(
        {
            "GET /pet/findByStatus": lambda _: [{"id": 3, "name": "Ada"}],
            "POST /store/order": lambda sent: {"id": 12, **sent.body},
        }
    )
    assert call(opened, "buy-available-pet").structured_content == {"buy_pet_order_id": 12}
    assert api.sent[0].query == {"status": "available", "page": "1", "pageSize": "10"}


def test_the_flows_of_oauth_call_each_other(api: TableApi) -> None:
    def token(sent: Any) -> Any:
        return {"access_token": f"of {sent.form['grant_type']}", "refresh_token": "r-1", "expires_in": 60}

    api.answers({"GET /authorize": lambda _: {"access_token": "x", "code": "c-1"}, "POST /oauth/token": token})
    spec, workflows = EXAMPLES / "oauth.openapi.yaml", EXAMPLES / "oauth.arazzo.yaml"
    # The example refreshes without the client_id that its document requires.
    opened = bridge(spec, workflows, url=api.url, lenient=True)
    result = call(opened, "client-credentials-flow", {"client_id": "me", "client_secret": "s"})
    assert result.structured_content == {"access_token": "of client_credentials"}
    assert api.sent[-1].form == {"client_id": "me", "client_secret": "s", "grant_type": "client_credentials"}
    inputs = {"my_client_id": "me", "my_client_secret": "s", "my_redirect_uri": "https://app.example.com/cb"}
    result = call(opened, "refresh-token-flow", inputs)
    assert result.structured_content == {"access_token": "of refresh_token", "refresh_token": "r-1", "expires_in": 60}
    assert [each.form["grant_type"] for each in api.sent[-2:]] == ["authorization_code", "refresh_token"]
    assert api.sent[-1].form["refresh_token"] == "r-1"
    strict = call(bridge(spec, workflows, url=api.url), "refresh-token-flow", inputs)
    assert strict.is_error
    assert "do-the-refresh" in text(strict)
    assert "client_id" in text(strict)


def test_the_code_of_a_pushed_authorization_request_becomes_a_token(api: TableApi) -> None:
    api.answers(
        {
            "POST /as/par.oauth2": lambda _: {"request_uri": "urn:x", "expires_in": 60},
            "GET /as/authorize.oauth2": lambda _: Response(
                '{"code": "c-9"}', 302, {"Location": "https://app.example.com/cb", "Content-Type": "application/json"}
            ),
            "POST /as/token.oauth2": lambda sent: {"access_token": "t", "got": sent.body},
        }
    )
    spec, workflows = EXAMPLES / "FAPI-PAR.openapi.yaml", EXAMPLES / "FAPI-PAR.arazzo.yaml"
    opened = bridge(spec, workflows, url=api.url, lenient=True)
    assert any("PAR is read as Par" in problem.message for problem in opened.problems)
    inputs = {
        "client_id": "tpp",
        "redirect_uri": "https://app.example.com/cb",
        "code_verifier": "v",
        "PARrequestBody": {"response_type": "code", "client_id": "tpp"},
        "TokenRequestBody": {"grant_type": "x", "code": "x", "redirect_uri": "x", "code_verifier": "x"},
    }
    result = call(opened, "OIDC-PAR-AuthzCode", inputs)
    assert not result.is_error, text(result)
    assert api.sent[1].query == {"request_uri": "urn:x", "client_id": "tpp"}
    assert result.structured_content["access_token"]["access_token"] == "t"


def test_a_login_gives_the_header_of_the_next_step(api: TableApi, tmp_path: Path) -> None:
    parameters = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in ("username", "password")]
    status = [{"name": "status", "in": "query", "schema": {"type": "string"}}]
    paths = {
        "/user/login": {"get": {"operationId": "loginUser", "parameters": parameters, "responses": {"200": {}}}},
        "/pet/findByStatus": {"get": {"operationId": "find", "parameters": status, "responses": {"200": {}}}},
    }
    info = {"title": "Swagger Petstore", "version": "1"}
    spec = write(tmp_path, {"openapi": "3.0.3", "info": info, "paths": paths}, "openapi.yaml")
    headers = {"X-Rate-Limit": "10", "X-Expires-After": "soon"}
    api.answers(
        {
            "GET /user/login": lambda _: Response('"session-41"', 200, headers, "application/json"),
            "GET /pet/findByStatus": lambda sent: [{"for": sent.headers["authorization"]}],
        }
    )
    opened = bridge(spec, EXAMPLES / "LoginAndRetrievePets.arazzo.yaml", url=api.url)
    assert any("read as GET /pet/findByStatus" in problem.message for problem in opened.problems), opened.problems
    result = call(opened, "loginUserRetrievePet", {"username": "ada", "password": "pw"})
    assert result.structured_content == {"available": [{"for": "session-41"}]}


def test_parameters_of_a_workflow_are_sent_with_each_step(api: TableApi, tmp_path: Path) -> None:
    paths = {
        "/animals": {
            "post": {"operationId": "postAnimal", "responses": {"201": {"description": "made"}}},
            "get": {"operationId": "getRandomAnimal", "responses": {"200": {"description": "one"}}},
        }
    }
    spec = write(
        tmp_path, {"openapi": "3.1.0", "info": {"title": "Zoo", "version": "1"}, "paths": paths}, "animals.yaml"
    )
    api.answers({"POST /animals": lambda _: (201, {}), "GET /animals": lambda _: {}})
    opened = bridge(spec, EXAMPLES / "ExtendedParametersExample.arazzo.yaml", url=api.url)
    assert not call(opened, "animal-workflow").is_error
    for sent in api.sent:
        assert sent.headers["workflowlevelparamtwo"] == "someValue"
        assert "workflowLevelParamOne=someValue" in sent.headers["cookie"]
    assert "authentication=SUPER_SECRET" in api.sent[0].headers["cookie"]
    assert "SUPER_SECRET" not in api.sent[1].headers["cookie"]


CUSTOMER = {"firstName": "Ada", "lastName": "L", "dateOfBirth": "1815-12-10T00:00:00Z", "postalCode": "N1"}
PRODUCTS = [{"productCode": "p", "purchaseAmount": {"currency": "GBP", "amount": 10}}]


def test_a_loan_ends_where_its_actions_say(api: TableApi) -> None:
    spec, workflows = EXAMPLES / "bnpl-openapi.yaml", EXAMPLES / "bnpl-arazzo.yaml"
    opened = bridge(spec, workflows, url=api.url, lenient=True)
    inputs = {"customer": CUSTOMER, "products": PRODUCTS}
    api.answers({"POST /products": lambda _: {"existingCustomerNotEligible": False}})
    result = call(opened, "ApplyForLoanAtCheckout", inputs)
    assert not result.is_error, text(result)
    assert "existingCustomerNotEligible" in text(result)
    assert api.lines == ["POST /products"]
    assert api.sent[0].body == {"customer": CUSTOMER, "products": PRODUCTS}
    # Each member of `child` is an object with products, as the query of the example demands.
    api.answers(
        {
            "POST /products": lambda _: {
                "existingCustomerNotEligible": True,
                "eligibilityCheckRequired": True,
                "products": PRODUCTS,
                "child": {"products": 1},
            },
            "GET /terms-and-conditions": lambda _: {"terms": "…"},
            "POST /customers": lambda _: (201, {"links": {"self": "https://api/customers/1"}}),
            "POST /loan-transactions": lambda _: (202, {"redirectAuthToken": None, "links": {"self": "x"}}),
        }
    )
    result = call(opened, "ApplyForLoanAtCheckout", inputs)
    # The example asks for an output that it does not define, so that its last steps cannot be made by anybody.
    assert result.is_error
    assert "the step retrieveFinalizedPaymentPlan" in text(result)
    assert "loanTransactionId" in text(result)
    assert "createCustomer" in text(result), "what was made before is listed"
    assert api.lines[1:] == ["GET /terms-and-conditions", "POST /customers", "POST /loan-transactions"]
    assert api.sent[2].body["firstName"] == "Ada"
    assert api.sent[3].body["newCustomer"] == "https://api/customers/1"


def test_redirects_of_a_step_are_not_followed_to_another_host(api: TableApi) -> None:
    api.answers({"POST /oauth/token": lambda _: RedirectResponse("http://127.0.0.2:9/steal", 307)})
    opened = bridge(EXAMPLES / "oauth.openapi.yaml", EXAMPLES / "oauth.arazzo.yaml", url=api.url)
    result = call(opened, "client-credentials-flow", {"client_id": "me", "client_secret": "s"})
    assert result.is_error
    assert len(api.sent) == 1


def test_steps_of_asyncapi_are_problems_of_their_workflow(api: TableApi, tmp_path: Path) -> None:
    """The example in the text of 1.1 sends and receives messages of the AsyncAPI document that goes with it."""
    specification = (SHARED / "standards" / "arazzo" / "versions" / "1.1.0.md").read_text()
    block = specification.partition("##### Arazzo Specification Object Example")[2].partition("```yaml\n")[2]
    file = tmp_path / "purchase.arazzo.yaml"
    file.write_text(block.partition("```")[0])
    spec = tmp_path / "openapi.yaml"
    spec.write_text("openapi: 3.1.0\ninfo: {title: Pets, version: '1'}\npaths: {}\n")
    opened = bridge(spec, file, url=api.url)
    assert not tools_of(opened)
    messages = [problem.message for problem in opened.problems]
    assert any("of type 'asyncapi': AsyncAPI is not supported" in message for message in messages)
    assert any("$message is of AsyncAPI" in message for message in messages)
