"""The example beside the sample API: three calls of it are one tool."""

import httpx
import pytest

from tests.conftest import ROOT
from tests.workflows.api import bridge, call, text, tools_of

EXAMPLE = ROOT / "examples" / "petstore" / "reserve.arazzo.yaml"
KEY = {"X-API-Key": "open-sesame"}


def test_a_pet_is_found_reserved_and_the_shop_told(petstore: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_PETSTORE_SHOPKEY", KEY["X-API-Key"])
    pet = httpx.post(f"{petstore}/pets", json={"name": "Wanda", "tags": ["of the workflow"]}, headers=KEY).json()
    opened = bridge(ROOT / "specs" / "petstore.yaml", EXAMPLE, url=petstore)
    assert not opened.problems
    (tool,) = tools_of(opened)
    assert tool.annotations["destructiveHint"] is True, "a PATCH replaces data"
    result = call(opened, "reserve-pet", {"tag": "of the workflow", "email": "ada@example.org"})
    assert not result.is_error, text(result)
    assert result.structured_content["pet"] == pet["id"]
    assert result.structured_content["answer"].startswith(
        "Thank you, ada@example.org. We answer questions about reserv"
    )
    assert httpx.get(f"{petstore}/pets/{pet['id']}").json()["status"] == "reserved"
    nothing = call(opened, "reserve-pet", {"tag": "of the workflow", "email": "ada@example.org"})
    assert nothing.structured_content == {"pet": None, "name": None, "answer": None}
    assert "action noneAvailable" in text(nothing)
    httpx.delete(f"{petstore}/pets/{pet['id']}", headers=KEY)
