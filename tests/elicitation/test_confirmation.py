"""`--confirm` with the official client, in both eras: who is asked, what is asked, and what each answer causes."""

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.elicitation import pets
from tests.elicitation.pets import AGREES, HANDSHAKE, PETSTORE, STATELESS, PetApi, answering, call

pytestmark = pytest.mark.process

BOTH = pytest.mark.parametrize("era", [HANDSHAKE, STATELESS])


@pytest.fixture
def api() -> Iterator[PetApi]:
    with pets.serving_api() as serving:
        yield serving


@BOTH
def test_call_that_destroys_is_made_when_the_user_agrees(api: PetApi, era: str) -> None:
    seen: list[Any] = []
    with pets.serving(api) as url:
        assert call(url, era, answering("accept", {"confirm": True}, seen), petId=3)[0]
    assert api.made == ["DELETE /pets/3"]
    (question,) = seen
    assert question.message == "May this call be made?\n\ndeletePet (DELETE /pets/{petId})\n  petId: 3"
    assert question.requested_schema["required"] == ["confirm"]


@BOTH
@pytest.mark.parametrize(
    ("action", "content"), [("accept", {"confirm": False}), ("accept", {}), ("decline", None), ("cancel", None)]
)
def test_call_is_not_made_when_the_user_does_not_agree(
    api: PetApi, era: str, action: str, content: dict[str, Any] | None
) -> None:
    with pets.serving(api) as url:
        made, text = call(url, era, answering(action, content), petId=3)
    assert (made, api.made) == (False, [])
    assert text.startswith("The call was not made: the user ")


@BOTH
def test_calls_that_only_read_or_add_are_not_asked_about(api: PetApi, era: str) -> None:
    seen: list[Any] = []
    with pets.serving(api) as url:
        assert call(url, era, answering("decline", None, seen), "getPet", petId=3)[0]
        assert call(url, era, answering("decline", None, seen), "createPet", name="Minka")[0]
    assert not seen


def test_all_changes_are_asked_about_where_that_is_set(api: PetApi) -> None:
    with pets.serving(api, confirm="changing") as url:
        assert not call(url, HANDSHAKE, answering("decline"), "createPet", name="Minka")[0]
        assert call(url, HANDSHAKE, answering("decline"), "getPet", petId=3)[0]
    assert api.made == ["GET /pets/3"]


@BOTH
def test_invalid_arguments_are_refused_before_the_user_is_asked(api: PetApi, era: str) -> None:
    seen: list[Any] = []
    with pets.serving(api) as url:
        made, text = call(url, era, answering("accept", {"confirm": True}, seen), petId="no number")
    assert not made
    assert "petId" in text
    assert not seen


@BOTH
def test_client_without_elicitation_gets_a_phrase_for_the_same_call(api: PetApi, era: str) -> None:
    with pets.serving(api) as url:
        made, text = call(url, era, None, petId=3)
        assert not made
        assert "deletePet (DELETE /pets/{petId})\n  petId: 3" in text
        phrase = re.search(r'_confirm: "(The user agreed: [\w.=-]+)"', text)
        assert phrase
        assert not call(url, era, None, petId=4, _confirm=phrase[1])[0]
        assert not call(url, era, None, petId=3, _confirm="yes")[0]
        assert api.made == []
        assert call(url, era, None, petId=3, _confirm=phrase[1])[0]
        assert not call(url, era, None, petId=3, _confirm=phrase[1])[0]
    assert api.made == ["DELETE /pets/3"]


@BOTH
def test_client_with_elicitation_is_asked_in_spite_of_a_phrase(api: PetApi, era: str) -> None:
    with pets.serving(api) as url:
        phrase = re.search(r'_confirm: "([^"]+)"', call(url, era, None, petId=3)[1])
        assert phrase
        assert not call(url, era, answering("decline"), petId=3, _confirm=phrase[1])[0]
    assert api.made == []


@BOTH
def test_call_through_call_tool_is_asked_about(api: PetApi, era: str) -> None:
    with pets.serving(api, mode="search") as url:
        arguments = {"name": "deletePet", "arguments": {"petId": 3}}
        assert not asyncio.run(call_tool(url, era, answering("decline"), arguments))
        assert api.made == []
        assert asyncio.run(call_tool(url, era, AGREES, arguments))
    assert api.made == ["DELETE /pets/3"]


async def call_tool(url: str, era: str, user: Any, arguments: dict[str, Any]) -> bool:
    async with pets.connected(url, era, user) as client:
        return not (await client.call_tool("call_tool", arguments)).is_error


PROGRAM = "deletePet(petId=3)\ndeletePet(petId=4)\n'both'"


def test_each_call_of_a_program_is_asked_about(api: PetApi) -> None:
    seen: list[Any] = []
    with pets.serving(api, mode="code") as url:
        made, text = call(url, HANDSHAKE, answering("accept", {"confirm": True}, seen), "run_code", code=PROGRAM)
    assert made, text
    assert len(seen) == 2
    assert api.made == ["DELETE /pets/3", "DELETE /pets/4"]


def test_program_is_not_repeated_for_a_question(api: PetApi) -> None:
    """A question by result would repeat the program, and with it the calls that it made before."""
    with pets.serving(api, mode="code") as url:
        code = "getPet(petId=1)\ntry:\n    deletePet(petId=3)\nexcept RuntimeError as error:\n    print(error)"
        made, text = call(url, STATELESS, AGREES, "run_code", code=code)
        assert made, text
        assert api.made == ["GET /pets/1"]
        phrase = re.search(r'_confirm: "([^"]+)"', text)
        assert phrase, text
        code = f"deletePet(petId=3, _confirm={phrase[1]!r})"
        assert call(url, STATELESS, AGREES, "run_code", code=code)[0]
    assert api.made == ["GET /pets/1", "DELETE /pets/3"]


@BOTH
def test_question_over_stdio(api: PetApi, era: str) -> None:
    options = ["--base-url", api.url, "--transport", "stdio", "--confirm", "destructive", "--no-cache"]
    serve = [sys.executable, "-m", "openapi_mcp", "serve", str(PETSTORE), *options]
    assert not call(serve, era, answering("decline"), petId=3)[0]
    assert call(serve, era, AGREES, petId=3)[0]
    assert api.made == ["DELETE /pets/3"]


def test_question_waits_no_longer_than_a_call(api: PetApi) -> None:
    with pets.serving(api, total_timeout=0.5) as url:
        made, text = call(url, HANDSHAKE, pets.never, petId=3)
    assert (made, text) == (False, "The call was not made: the user did not answer within 0.5 seconds.")


def test_question_ends_with_a_call_that_is_cancelled(api: PetApi) -> None:
    async def cancelled(url: str) -> None:
        asked = asyncio.Event()

        async def user(_context: Any, _params: Any) -> Any:
            asked.set()
            await asyncio.sleep(60)

        async with pets.connected(url, HANDSHAKE, user) as client:
            task = asyncio.create_task(client.call_tool("deletePet", {"petId": 3}))
            await asked.wait()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert not (await client.call_tool("getPet", {"petId": 3})).is_error

    with pets.serving(api) as url:
        asyncio.run(cancelled(url))
    assert api.made == ["GET /pets/3"]


def test_tools_that_are_confirmed_list_the_argument_for_the_phrase(api: PetApi) -> None:
    listed = {tool.name: tool.input_schema["properties"] for tool in pets.bridge(api).offer.tools}
    assert {name for name, properties in listed.items() if "_confirm" in properties} == {
        "deletePet",
        "updatePet",
        "putPhoto",
    }
    assert not any("_confirm" in json.dumps(tool.input_schema) for tool in pets.bridge(api, confirm="never").tools)
