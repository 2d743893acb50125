"""The official clients against the command itself: they list every tool and call some, over both transports."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.conftest import ROOT

Mode: TypeAlias = Literal["auto", "legacy", "2026-07-28"]
DOCUMENT = "specs/petstore.yaml"
ENVIRONMENT = os.environ | {"SHOP_KEY": "open-sesame"}
OPERATIONS = {
    "listPets",
    "createPet",
    "getPet",
    "updatePet",
    "deletePet",
    "getPhoto",
    "putPhoto",
    "sendMessage",
    "getInventory",
}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("listPets", {"status": ["available"], "q": "minka"}),
    ("getPet", {"petId": 2}),
    ("createPet", {"name": "Otto", "tags": ["dog"]}),
    ("sendMessage", {"from": "a@example.com", "text": "open?", "topics": ["cats", "dogs"]}),
    ("getPet", {"petId": 999}),
    ("getPet", {"petId": "a lot"}),
]


def command(petstore: str, *more: str) -> list[str]:
    return [sys.executable, "-m", "openapi_mcp", "serve", DOCUMENT, "--base-url", petstore, *more]


@contextmanager
def served_over_http(petstore: str) -> Iterator[str]:
    """The command on a port of its own choice; it says on stderr where it listens."""
    process = subprocess.Popen(
        command(petstore, "--transport", "http", "--port", "0"),
        cwd=ROOT,
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        words = (word for line in process.stderr for word in line.split())
        yield next(word for word in words if word.startswith("http://127.0.0.1") and word.endswith("/mcp"))
    finally:
        process.terminate()
        printed, _ = process.communicate(timeout=20)
    assert printed == ""
    assert process.returncode == 0


@pytest.fixture(scope="module")
def endpoint(petstore: str) -> Iterator[str]:
    with served_over_http(petstore) as url:
        yield url


def check(names: set[str], results: list[dict[str, Any]]) -> None:
    """What every client must have seen."""
    assert names == OPERATIONS
    listed, read, created, sent, missing, refused = results
    assert [pet["name"] for pet in listed["structuredContent"]["pets"]] == ["Minka"]
    assert read["structuredContent"] == {"id": 2, "name": "Rex", "status": "reserved", "tags": ["dog"], "price": 300.0}
    assert created["structuredContent"]["name"] == "Otto"
    assert sent["content"][0]["text"].startswith("Thank you, a@example.com. We answer questions about cats, dogs")
    assert missing["isError"]
    assert "no pet has the id 999" in missing["content"][0]["text"]
    assert refused["isError"]
    assert "petId" in refused["content"][0]["text"]


async def seen_by_python(target: Any, mode: Mode) -> tuple[set[str], list[dict[str, Any]]]:
    async with Client(target, mode=mode) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        answers = [await client.call_tool(name, arguments) for name, arguments in CALLS]
    return names, [answer.model_dump(mode="json", by_alias=True) for answer in answers]


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_the_python_client_over_http(endpoint: str, mode: Mode) -> None:
    check(*anyio.run(seen_by_python, endpoint, mode))


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_the_python_client_over_stdio(petstore: str, mode: Mode) -> None:
    program, *arguments = command(petstore)
    target = StdioServerParameters(command=program, args=arguments, cwd=ROOT, env=ENVIRONMENT)
    check(*anyio.run(seen_by_python, target, mode))


@pytest.mark.parametrize(
    ("client", "era"), [("sdk", "legacy"), ("client", "legacy"), ("client", "auto"), ("client", "modern")]
)
def test_the_npm_clients_over_http(drive: Callable[..., dict[str, Any]], endpoint: str, client: str, era: str) -> None:
    seen = drive(client=client, era=era, url=endpoint, calls=CALLS, names=True)
    check(set(seen["tools"]), seen["results"])


@pytest.mark.parametrize(("client", "era"), [("sdk", "legacy"), ("client", "auto")])
def test_the_npm_clients_over_stdio(drive: Callable[..., dict[str, Any]], petstore: str, client: str, era: str) -> None:
    program, *arguments = command(petstore)
    absolute = [str(ROOT / DOCUMENT) if argument == DOCUMENT else argument for argument in arguments]
    seen = drive(client=client, era=era, command=[program, *absolute], env=ENVIRONMENT, calls=CALLS, names=True)
    check(set(seen["tools"]), seen["results"])


BIG = [
    "github-rest/api.github.com.json",
    "stripe/openapi/spec3.yaml",
    "kubernetes/kubernetes/swagger.json.unprocessed",
    "digitalocean/DigitalOcean-public.v2.yaml",
    "openai/openapi.yaml",
    "twilio-api-v2010/spec/json/twilio_api_v2010.json",
    "elasticsearch/output/openapi/elasticsearch-openapi.json",
    "slack-web/web-api/slack_web_openapi_v2.json",
    "discord/specs/openapi.json",
    "box/openapi.json",
    "vault/openapi.json",
    "jira/jira.json",
    "netbox/netbox.dev.json",
    "zoom/zoom.us.json",
]
"""A dozen big documents and two more, of every version, in JSON and YAML, in one file and in many."""


@pytest.mark.corpus
@pytest.mark.parametrize("name", BIG)
def test_clients_accept_the_whole_list_of_a_big_document(
    drive: Callable[..., dict[str, Any]], corpus: Path, name: str
) -> None:
    served = [sys.executable, "-m", "openapi_mcp", "serve", str(corpus / name), "--transport", "stdio"]
    accepted = drive(client="sdk", era="legacy", command=served, env=ENVIRONMENT, names=True)["tools"]

    async def names_for_python(mode: Mode) -> list[str]:
        target = StdioServerParameters(command=served[0], args=served[1:], env=ENVIRONMENT)
        async with Client(target, mode=mode) as client:
            page = await client.list_tools()
            names = [tool.name for tool in page.tools]
            while page.next_cursor is not None:
                page = await client.list_tools(cursor=page.next_cursor)
                names += [tool.name for tool in page.tools]
            return names

    assert len(accepted) > 100
    assert anyio.run(names_for_python, "legacy") == accepted
    assert anyio.run(names_for_python, "2026-07-28") == accepted
