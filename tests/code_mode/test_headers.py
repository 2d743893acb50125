"""`with_headers`: the headers of a response in a program, such as the ETag that its next call needs."""

import json

import httpx
import pytest

from tests.code_mode.api import Api
from tests.runtime.pets import GET_PET

pytestmark = pytest.mark.process


class Versioned(Api):
    """Pets with an ETag."""

    def respond(self, request: httpx.Request) -> httpx.Response:
        response = super().respond(request)
        response.headers.update({"etag": f'"{request.url.path[-1]}"', "set-cookie": "a=b"})
        return response


@pytest.mark.parametrize(
    "code",
    [
        "with_headers(getPet, petId=7)",
        "with_headers('getPet', {'petId': 7})",
        "await with_headers(getPet, petId=7)",
        "(await asyncio.gather(with_headers(getPet, petId=7)))[0]",
    ],
)
def test_program_gets_the_headers_that_a_call_needs(code: str) -> None:
    value, *_ = Versioned(GET_PET).run(f"r = {code}\n[r.headers.etag, r['body']['id'], r.headers]")
    assert json.loads(value) == ['"7"', "/pets/7", {"etag": '"7"'}]


def test_answer_without_such_headers_has_none() -> None:
    assert json.loads(Api(GET_PET).run("with_headers(getPet, petId=1).headers")[0]) == {}


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("with_headers(getPet, petId=404)", "404 Not Found"),
        ("with_headers('getPett', petId=1)", "There is no tool getPett; did you mean getPet"),
        ("with_headers()", "There is no tool None"),
        ("with_headers(getPet)", "petId"),
    ],
)
def test_failed_call_raises(code: str, text: str) -> None:
    assert text in Api(GET_PET).error(code)
