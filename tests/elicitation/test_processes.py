"""Questions with several processes, and answers that belong to others: sessions, callers, calls."""

import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.authorization.doors import DOCUMENT, World, within
from tests.authorization.issuing import issuing
from tests.command import command, serving_http
from tests.elicitation import pets
from tests.elicitation.pets import AGREES, HANDSHAKE, PETSTORE, STATELESS, PetApi, call
from tests.replicas.servers import redis

pytestmark = pytest.mark.process

STREAM = {"Accept": "application/json, text/event-stream"}
PREFIX = "io.modelcontextprotocol/"
ENVELOPE = {f"{PREFIX}protocolVersion": STATELESS, f"{PREFIX}clientCapabilities": {"elicitation": {}}}
STATELESS_HEADERS = {
    **STREAM,
    "MCP-Protocol-Version": STATELESS,
    "Mcp-Method": "tools/call",
    "Mcp-Name": "deletePet",
}
YES = {"action": "accept", "content": {"confirm": True}}


@pytest.fixture
def api() -> Iterator[PetApi]:
    with pets.serving_api() as serving:
        yield serving


@contextlib.contextmanager
def two_workers(api: PetApi) -> Iterator[str]:
    options = ["--confirm", "destructive", "--workers", "2", "--no-cache"]
    with serving_http(command(PETSTORE, api.url, *options)) as url:
        yield url


def rpc(method: str, request_id: int = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def open_session(url: str) -> dict[str, str]:
    about: dict[str, Any] = {"protocolVersion": HANDSHAKE, "capabilities": {"elicitation": {}}}
    hello = rpc("initialize", **about, clientInfo={"name": "c", "version": "1"})
    opened = httpx.post(url, json=hello, headers=STREAM)
    return {**STREAM, "Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": HANDSHAKE}


def events(response: httpx.Response) -> Iterator[dict[str, Any]]:
    for line in response.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line[6:])


def test_any_process_takes_the_answer(api: PetApi) -> None:
    """Each message has a connection of its own, so that answers reach either process."""
    with two_workers(api) as url:
        session = open_session(url)
        for number in range(12):
            delete = rpc("tools/call", 2 + number, name="deletePet", arguments={"petId": number + 1})
            with httpx.stream("POST", url, json=delete, headers=session, timeout=20) as response:
                messages = events(response)
                question = next(messages)
                answer = {"jsonrpc": "2.0", "id": question["id"], "result": YES}
                assert httpx.post(url, json=answer, headers=session).status_code == 202
                assert not next(messages)["result"]["isError"]
    assert len(api.made) == 12


def test_any_process_takes_the_repeated_call_and_one_takes_it_once(api: PetApi) -> None:
    with two_workers(api) as url:
        for _ in range(6):
            state = ask(url)
            assert not repeat(url, state)["result"]["isError"]
            assert [repeat(url, state)["error"]["code"] for _ in range(3)] == [-32602] * 3
    assert len(api.made) == 6


def ask(url: str, **headers: str) -> str:
    params: dict[str, Any] = {"name": "deletePet", "arguments": {"petId": 3}, "_meta": ENVELOPE}
    asked = httpx.post(url, json=rpc("tools/call", **params), headers={**STATELESS_HEADERS, **headers}).json()
    assert asked["result"]["resultType"] == "input_required"
    state: str = asked["result"]["requestState"]
    return state


def repeat(url: str, state: str | None, pet: int = 3, answer: Any = YES, **headers: str) -> Any:
    params: dict[str, Any] = {"name": "deletePet", "arguments": {"petId": pet}, "_meta": ENVELOPE}
    params |= {"inputResponses": {"question": answer}} | ({} if state is None else {"requestState": state})
    return httpx.post(url, json=rpc("tools/call", 2, **params), headers={**STATELESS_HEADERS, **headers}).json()


def test_state_of_another_call_or_an_altered_one_is_refused(api: PetApi) -> None:
    with pets.serving(api) as url:
        state = ask(url)
        for reply in (repeat(url, state, pet=4), repeat(url, state[:-1] + "!"), repeat(url, ""), repeat(url, "x")):
            assert reply["error"]["code"] == -32602
            assert "requestState is not valid" in reply["error"]["message"]
    assert api.made == []


def test_answer_without_the_state_is_asked_again(api: PetApi) -> None:
    with pets.serving(api) as url:
        assert repeat(url, None)["result"]["resultType"] == "input_required"
        state = ask(url)
        missing: dict[str, Any] = {
            "name": "deletePet",
            "arguments": {"petId": 3},
            "_meta": ENVELOPE,
            "requestState": state,
        }
        again = httpx.post(url, json=rpc("tools/call", 3, **missing), headers=STATELESS_HEADERS).json()
        assert again["result"]["resultType"] == "input_required"
        assert repeat(url, state, answer={"action": "agree"})["error"]["code"] == -32602
    assert api.made == []


def test_another_session_cannot_answer(api: PetApi) -> None:
    with pets.serving(api, total_timeout=1.0) as url:
        ann, bob = open_session(url), open_session(url)
        delete = rpc("tools/call", 2, name="deletePet", arguments={"petId": 3})
        with httpx.stream("POST", url, json=delete, headers=ann, timeout=20) as response:
            messages = events(response)
            answer = {"jsonrpc": "2.0", "id": next(messages)["id"], "result": YES}
            no_session = {**STREAM, "MCP-Protocol-Version": HANDSHAKE}
            assert httpx.post(url, json=answer, headers=bob).status_code == 202
            assert httpx.post(url, json=answer, headers=no_session).status_code == 202
            withdrawn, result = next(messages), next(messages)
        assert (withdrawn["method"], withdrawn["params"]["requestId"]) == ("notifications/cancelled", answer["id"])
        assert "did not answer within 1 seconds" in result["result"]["content"][0]["text"]
    assert api.made == []


def test_session_that_ends_ends_its_questions(api: PetApi) -> None:
    with pets.serving(api) as url:
        session = open_session(url)
        delete = rpc("tools/call", 2, name="deletePet", arguments={"petId": 3})
        with httpx.stream("POST", url, json=delete, headers=session, timeout=20) as response:
            messages = events(response)
            next(messages)
            ending = threading.Thread(target=httpx.delete, args=[url], kwargs={"headers": session})
            ending.start()
            assert list(messages) == []
            ending.join()
    assert api.made == []


def test_official_clients_with_two_processes(api: PetApi) -> None:
    with two_workers(api) as url:
        for era in (HANDSHAKE, STATELESS):
            assert call(url, era, AGREES, petId=3)[0]
    assert api.made == ["DELETE /pets/3"] * 2


def test_another_caller_cannot_repeat_the_call(api: PetApi, tmp_path: Path) -> None:
    async def repeated(world: World) -> list[Any]:
        headers = {"mcp_protocol_version": STATELESS, "mcp_method": "tools/call", "mcp_name": "deletePets"}
        params: dict[str, Any] = {"name": "deletePets", "arguments": {}, "_meta": ENVELOPE}
        ann, bob = (issuer.token(sub=name, scope="admin") for name in ("ann", "bob"))
        asked = (await world.post(ann, rpc("tools/call", **params), **headers)).json()["result"]
        retry = {**params, "requestState": asked["requestState"], "inputResponses": {"question": YES}}
        return [(await world.post(token, rpc("tools/call", 2, **retry), **headers)).json() for token in (bob, ann)]

    with issuing() as issuer:
        document = {**DOCUMENT, "servers": [{"url": api.url}]}
        bobs, anns = within(tmp_path, issuer, repeated, confirm="destructive", document=document)
    assert "another call or caller" in bobs["error"]["message"]
    assert not anns["result"]["isError"]
    assert api.made == ["DELETE /pets"]


def test_another_replica_takes_the_answer_and_a_state_is_used_in_one(
    api: PetApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAPI_MCP_SESSION_SECRET", "the-secret-of-all-replicas")
    with redis(tmp_path) as shared:
        serve = command(PETSTORE, api.url, "--confirm", "destructive", "--redis", shared, "--no-cache")
        with serving_http(serve) as one, serving_http(serve) as other:
            session = open_session(one)
            delete = rpc("tools/call", 2, name="deletePet", arguments={"petId": 3})
            with httpx.stream("POST", one, json=delete, headers=session, timeout=20) as response:
                messages = events(response)
                answer = {"jsonrpc": "2.0", "id": next(messages)["id"], "result": YES}
                assert httpx.post(other, json=answer, headers=session).status_code == 202
                assert not next(messages)["result"]["isError"]
            state = ask(one)
            assert not repeat(other, state)["result"]["isError"]
            for _ in range(50):
                again = repeat(one, state)
                if "error" in again:
                    break
            assert again["error"]["code"] == -32602
    assert len(api.made) < 10
