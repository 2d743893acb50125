"""Code mode: programs call tools as if each call were a client's own, and only their results come back."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, StdioServerParameters

from openapi_mcp.budget import tokens
from openapi_mcp.code_limits import USUAL, Limits
from openapi_mcp.code_mode import MAX_RESULT, code_catalog, own_tools
from openapi_mcp.errors import UsageError
from openapi_mcp.mode import Mode
from openapi_mcp.offering import CODE_NAMES, catalog
from openapi_mcp.opening import Opening
from openapi_mcp.reloading import Reloader
from openapi_mcp.runtime.models import Argument, Tool
from openapi_mcp.runtime.requests import RequestOptions
from openapi_mcp.runtime.server import Server
from openapi_mcp.runtime.types import CallToolResult
from openapi_mcp.runtime.upstream import Upstream
from tests.command import command, serving_http
from tests.conftest import ROOT
from tests.databases import without_fts5
from tests.runtime.making import tool
from tests.runtime.pets import DESCRIPTION, GET_PET, LIST_PETS, TOOLS
from tests.runtime.wire import INITIALIZE, call

PETSTORE = ROOT / "specs" / "petstore.yaml"
README = (ROOT / "README.md").read_text()
LARGE = [replace(GET_PET, name=f"pet-{number}", tags=(f"tag {number} of many",)) for number in range(2000)]
LIMIT = 20.0
"""Seconds after which a test has failed."""


class Api:
    """An API of pets, a server in code mode before it, and the requests that came through."""

    def __init__(self, *tools: Tool, limits: Limits = USUAL, **server: Any) -> None:
        self.requests: list[httpx.Request] = []
        self.server = Server(
            code_catalog(tools or TOOLS, limits=limits),
            DESCRIPTION,
            Upstream(transport=httpx.MockTransport(self.respond)),
            options=RequestOptions(base_url="http://api.test"),
            **server,
        )

    def respond(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.url.path == "/pets":
            return httpx.Response(200, json=[{"id": number, "name": f"pet {number}"} for number in range(3)])
        if request.url.path.endswith("/404"):
            return httpx.Response(404, json={"detail": "no such pet"})
        if request.url.path == "/text":
            return httpx.Response(200, text="just text")
        if request.url.path == "/bytes":
            return httpx.Response(200, content=b"\x89PNG", headers={"content-type": "image/png"})
        if request.url.path == "/large":
            return httpx.Response(200, json=["x" * 1000] * 1000)
        if request.url.path == "/huge":
            return httpx.Response(200, json=["x" * 1000] * 5000)
        return httpx.Response(200, json={"id": request.url.path, "unknown": True})

    def call(self, name: str, /, **arguments: Any) -> CallToolResult:
        return asyncio.run(self.server.call(name, arguments))

    def run(self, code: str) -> list[str]:
        """The texts that a program is answered with."""
        result = self.call("run_code", code=code)
        assert not result.is_error, result.content
        return [block["text"] for block in result.content]

    def error(self, code: str) -> str:
        result = self.call("run_code", code=code)
        assert result.is_error
        [block] = result.content
        text: str = block["text"]
        return text


def more(name: str, path: str = "") -> Tool:
    return tool(path or f"/{name}", name=name)


def test_only_three_tools_are_listed_and_what_is_pinned() -> None:
    listed = catalog(TOOLS, Mode.CODE, ["getPet", "getPet"])
    assert [entry.name for entry in listed.tools] == ["search_tools", "describe_tool", "run_code", "getPet"]
    assert {entry.name for entry in own_tools(TOOLS)} == CODE_NAMES


@pytest.mark.parametrize("tools", [TOOLS, LARGE], ids=["few", "many"])
def test_the_whole_list_costs_less_than_1100_tokens(tools: list[Tool]) -> None:
    assert sum(map(tokens, own_tools(tools))) <= 1100


def test_a_pin_with_the_name_of_a_listed_tool_is_refused() -> None:
    with pytest.raises(UsageError, match="run_code is also"):
        catalog([replace(GET_PET, name="run_code")], Mode.CODE, ["run_code"])
    assert len(catalog([replace(GET_PET, name="call_tool")], Mode.CODE, ["call_tool"]).tools) == 4


def test_without_fts5_there_is_no_code_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    without_fts5(monkeypatch)
    with pytest.raises(UsageError, match="FTS5") as raised:
        catalog(TOOLS, Mode.CODE)
    assert raised.value.where == "--mode code"


@pytest.mark.parametrize(
    "how", ["import sys; sys.modules['pydantic_monty'] = None", "import os; os.environ['PATH'] = ''"]
)
def test_without_the_extra_the_cure_is_told(how: str) -> None:
    hidden = "import sysconfig; sysconfig.get_path = lambda *_: '/nowhere'" if "PATH" in how else ""
    program = f"{how}; {hidden}\nfrom openapi_mcp.cli import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", program, "serve", str(PETSTORE), "--mode", "code"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "MONTY_BIN"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "pip install 'mcp-openapi-bridge[code]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_search_shows_functions_with_their_arguments_and_results() -> None:
    listing = replace(LIST_PETS, name="pets/list", output_schema={"type": "array", "items": {"type": "object"}})
    api = Api(listing, GET_PET)
    [said] = [block["text"] for block in api.call("search_tools", query="pets").content]
    assert "pets_list: " in said
    assert "   input schema: " in said
    assert '   result: {"type":"array","items":{"type":"object"}}' in said
    for name in ("pets_list", "pets/list"):
        [described] = api.call("describe_tool", name=name).content
        assert described["text"].startswith('Called as pets_list.\n{"name":"pets/list"')
    [described] = api.call("describe_tool", name="getPet").content
    assert described["text"].startswith("{")


def test_a_program_calls_tools_as_functions() -> None:
    api = Api()
    [said] = api.run("[getPet(petId=pet['id'])['id'] for pet in listPets() if pet['id'] > 0]")
    assert json.loads(said) == ["/pets/1", "/pets/2"]
    assert [request.url.path for request in api.requests] == ["/pets", "/pets/1", "/pets/2"]


@pytest.mark.parametrize(
    "code",
    [
        "getPet(petId=7)",
        "getPet({'petId': 7})",
        "getPet(**{'petId': 7})",
        "call_tool('getPet', {'petId': 7})",
        "call_tool(name='getPet', arguments={'petId': 7})",
        "await getPet(petId=7)",
        "getPet(petId='7')",
        "function = getPet\nfunction(petId=7)",
    ],
)
def test_there_are_several_ways_to_say_a_call(code: str) -> None:
    [said] = Api().run(code)
    assert json.loads(said)["id"] == "/pets/7"


def test_arguments_that_python_cannot_say_go_in_a_dict() -> None:
    odd = tool("/odd", Argument(name="pet-id", wire_name="pet-id", location="query", style="form"), name="odd/pet.get")
    api = Api(odd)
    for said in (
        "odd_pet_get({'pet-id': 7})",
        "odd_pet_get(**{'pet-id': 7})",
        "call_tool('odd/pet.get', {'pet-id': 7})",
    ):
        api.run(said)
    assert {str(request.url) for request in api.requests} == {"http://api.test/odd?pet-id=7"}


def test_what_a_function_returns_is_the_answer() -> None:
    api = Api(more("text"), more("bytes"), more("object"))
    assert api.run("text()") == ["just text"]
    assert api.run("bytes_()[0]['mimeType']") == ["image/png"]
    assert api.run("object_()['unknown']") == ["true"]


def test_the_whole_body_is_there_though_the_document_says_less() -> None:
    strict = replace(more("object"), output_schema={"type": "object", "properties": {"id": {"type": "integer"}}})
    assert json.loads(Api(strict).run("object_()")[0]) == {"id": "/object", "unknown": True}


def test_a_large_answer_is_whole_in_the_program_and_its_result_is_cut() -> None:
    api = Api(more("large"), max_result_bytes=1024)
    assert api.run("sum(len(text) for text in large())") == ["1000000"]
    said, note = api.run("large()")
    assert len(said) <= MAX_RESULT + 1000
    assert json.loads(said)[0] == "x" * 1000
    assert "of 1000 items" in note
    said, note = api.run("'x' * 100000")
    assert (len(said), note) == (MAX_RESULT, f"The result was cut to {MAX_RESULT:,} of 100,000 characters.")


def test_an_answer_that_was_cut_is_told() -> None:
    said, note = Api(more("huge")).run("len(huge())")
    assert int(said) < 5000
    assert note.startswith("huge: The answer was cut to 4194304 bytes")


def test_what_is_printed_comes_after_the_result() -> None:
    api = Api()
    assert api.run("print('a', 1)\nprint('b')\n{'c': 1}") == ['{"c": 1}', "Printed:\na 1\nb"]
    assert api.run("print('only this')") == ["Printed:\nonly this"]
    assert api.run("x = 1") == ["null", "The program has no result: end it with an expression, or print."]


def test_a_failed_call_is_an_exception_that_can_be_caught() -> None:
    api = Api()
    code = "try:\n    getPet(petId=404)\nexcept RuntimeError as error:\n    said = str(error)\nsaid"
    [said] = api.run(code)
    assert said.startswith("getPet: 404 Not Found")
    assert "no such pet" in said
    error = api.error("listPets()\nlistPets()\nprint('so far')\ngetPet(petId=404)")
    assert "Line 4" in error
    assert "RuntimeError: getPet: 404 Not Found" in error
    assert "Calls that it had made: listPets, 2 times, getPet." in error
    assert error.endswith("Printed:\nso far")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("getPet(petId='x')", "petId"),
        ("getPet()", "petId"),
        ("getPet(petId=1, pet=2)", "pet"),
        ("getPet(7)", "getPet() takes keyword arguments, or one dict of them: petId"),
        ("getPet({'petId': 1}, {})", "getPet() takes keyword arguments"),
        ("getPett(petId=1)", "did you mean getPet"),
        ("getPett", "did you mean getPet"),
        ("call_tool('getPett', {})", "There is no tool getPett; did you mean getPet"),
        ("call_tool('zzzzzzzz')", "search_tools finds the names"),
        ("call_tool()", "There is no tool None"),
        ("zzzzzz()", "search_tools finds the names"),
        ("x = listPets()\nawait getPet(petId=1)\nx[0]", "This program says await"),
        ("import asyncio\nasyncio.run(listPets())", "does not say await"),
        ("def f(:\n  pass", "SyntaxError"),
        ("list(map(getPet, [{'petId': 1}]))", "cannot suspend"),
        ("class A(dict): pass", "class inheritance"),
    ],
)
def test_an_error_says_what_to_do(code: str, said: str) -> None:
    error = Api().error(code)
    assert said in error
    assert str(ROOT) not in error


def test_a_program_is_judged_before_it_runs() -> None:
    assert "code" in Api().error("")
    assert "20000" in Api().error("x = 1\n" * 5000)


def test_a_program_makes_so_many_calls_and_no_more() -> None:
    api = Api()
    error = api.error(f"for n in range({USUAL.calls + 5}): listPets()")
    assert f"A program may make {USUAL.calls} calls" in error
    assert len(api.requests) == USUAL.calls
    endless = Api(limits=Limits(seconds=LIMIT, computing=0.5))
    endless.error("while True:\n    try:\n        listPets()\n    except RuntimeError:\n        pass")
    assert len(endless.requests) <= USUAL.calls


def test_the_limits_are_options(tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text('mode = "code"\ncode-timeout = 5\ncode-calls = 3\n')
    [*_, run_code] = Opening(str(PETSTORE), {"code_calls": 2}, settings).bridge().catalog.tools
    assert "At most 5 seconds with 2 calls" in run_code.description


def test_calls_are_limited_and_observed_as_any_others() -> None:
    seen: list[str] = []

    def observer(called: Tool, _request: httpx.Request, _response: httpx.Response) -> None:
        seen.append(called.name)

    api = Api(observer=observer, limiter=lambda _caller, name: 7.0 if name == "getPet" else None)
    assert "RuntimeError: getPet: Too many calls of getPet. Try again in 7 seconds." in api.error(
        "listPets()\ngetPet(petId=1)"
    )
    assert seen == ["listPets"]


def test_the_next_program_has_the_tools_of_a_document_that_changed(tmp_path: Path) -> None:
    def written(*names: str) -> str:
        paths = "".join(
            f"  /{name}: {{get: {{operationId: {name}, responses: {{default: {{}}}}}}}}\n" for name in names
        )
        return f"openapi: 3.1.0\ninfo: {{title: T, version: '1'}}\nservers: [{{url: 'http://127.0.0.1:9'}}]\npaths:\n{paths}"

    path = tmp_path / "a.yaml"
    path.write_text(written("first"))

    async def run() -> list[str]:
        said: asyncio.Queue[str] = asyncio.Queue()
        opening = Opening(str(path), {"watch": True, "mode": "code", "retries": 0})
        reloader = Reloader(opening, opening.bridge(), said.put_nowait)
        texts = []
        async with reloader.running():
            for change in ("first", "second"):
                result = await reloader.live.server.call("run_code", {"code": "second()"})
                texts.append(result.content[0]["text"])
                if change == "first":
                    await asyncio.to_thread(path.write_text, written("first", "second"))
                    await asyncio.wait_for(said.get(), LIMIT)
        await reloader.live.aclose()
        return texts

    before, after = asyncio.run(run())
    assert "NameError: name 'second' is not defined" in before
    assert "RuntimeError: second: " in after


Connect = Callable[[], Any]


@contextmanager
def over_stdio(petstore: str, *options: str) -> Iterator[Connect]:
    program, *arguments = command(PETSTORE, petstore, "--mode", "code", *options)
    yield lambda: StdioServerParameters(command=program, args=arguments, env=dict(os.environ), cwd=ROOT)


@contextmanager
def over_http(petstore: str, *options: str) -> Iterator[Connect]:
    with serving_http(command(PETSTORE, petstore, "--mode", "code", *options)) as url:
        yield lambda: url


@asynccontextmanager
async def connected(connect: Connect, era: str) -> AsyncIterator[Client]:
    async with Client(connect(), mode=era, read_timeout_seconds=LIMIT) as client:
        yield client


WAYS = pytest.mark.parametrize(
    ("serving", "era"), [(over_stdio, "2026-07-28"), (over_http, "auto"), (over_http, "legacy")]
)
CHAIN = """\
pets = listPets(limit=100)["pets"]
cheap = [getPet(petId=pet["id"]) for pet in pets if (pet["price"] or 0) < 20]
print(len(pets), "pets")
{pet["name"]: pet["price"] for pet in cheap}
"""


@WAYS
def test_the_official_client_searches_and_runs_a_program(petstore: str, serving: Any, era: str) -> None:
    async def converse(connect: Connect) -> tuple[list[str], str, Any]:
        async with connected(connect, era) as client:
            names = [entry.name for entry in (await client.list_tools()).tools]
            found = await client.call_tool("search_tools", {"query": "the price of each pet"})
            return names, text(found), await client.call_tool("run_code", {"code": CHAIN})

    with serving(petstore, "--pin", "getInventory") as connect:
        names, found, ran = asyncio.run(converse(connect))
    pets = httpx.get(f"{petstore}/pets", params={"limit": 100}).json()["pets"]
    assert names == ["search_tools", "describe_tool", "run_code", "getInventory"]
    assert "listPets: " in found
    assert json.loads(text(ran)) == {pet["name"]: pet["price"] for pet in pets if (pet["price"] or 0) < 20}
    assert text(ran, 1) == f"Printed:\n{len(pets)} pets"


def test_the_program_of_the_readme_does_what_it_says(petstore: str) -> None:
    [program] = re.findall(
        r"```python\n(.+?)```", README.partition("### Code mode")[2].partition("\n### ")[0], re.DOTALL
    )

    async def run(connect: Connect) -> Any:
        async with connected(connect, "auto") as client:
            return await client.call_tool("run_code", {"code": program})

    with over_stdio(petstore) as connect:
        ran = asyncio.run(run(connect))
    pets = httpx.get(f"{petstore}/pets", params={"limit": 100, "status": "available"}).json()["pets"]
    cheapest = sorted([pet["price"], pet["name"]] for pet in pets if pet["price"] is not None)[:3]
    assert json.loads(text(ran)) == cheapest
    assert text(ran, 1) == f"Printed:\n{len(pets)} pets"


@WAYS
def test_nobody_waits_for_an_endless_program_and_cancelling_ends_it(petstore: str, serving: Any, era: str) -> None:
    async def converse(connect: Connect) -> list[Any]:
        async with connected(connect, era) as client:
            endless = asyncio.create_task(client.call_tool("run_code", {"code": "while True: pass"}))
            async with asyncio.timeout(LIMIT):
                await until(lambda: bool(workers()))
                pet = await client.call_tool("getPet", {"petId": 1})
                other = await client.call_tool("run_code", {"code": "getPet(petId=1)['name']"})
                assert not endless.done()
                endless.cancel()
                await until(lambda: not workers())
            return [json.loads(text(pet))["name"], text(other)]

    with serving(petstore) as connect:
        named, also = asyncio.run(converse(connect))
    assert named == also


def test_a_client_that_leaves_takes_its_program_along(petstore: str) -> None:
    asking = [INITIALIZE, call(1, "run_code", {"code": "while True: pass"})]
    serve = command(PETSTORE, petstore, "--mode", "code")
    with subprocess.Popen(
        serve, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        server.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in asking))
        server.stdin.flush()
        asyncio.run(until(lambda: bool(workers())))
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=LIMIT)
    assert not workers()


def test_workers_run_programs(petstore: str) -> None:
    async def converse(connect: Connect) -> list[str]:
        async def one(number: int) -> str:
            async with connected(connect, "2026-07-28") as client:
                result = await client.call_tool("run_code", {"code": f"getPet(petId=1)['id'] + {number}"})
                return text(result)

        return await asyncio.gather(*map(one, range(6)))

    with over_http(petstore, "--workers", "2") as connect:
        assert asyncio.run(converse(connect)) == [str(number + 1) for number in range(6)]


def text(result: Any, block: int = 0) -> str:
    said: str = result.content[block].text
    return said


async def until(holds: Callable[[], bool]) -> None:
    """What is in another process tells nobody."""
    async with asyncio.timeout(LIMIT):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def workers() -> list[int]:
    """The processes of programs that this test has brought about."""
    found = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in found.splitlines()[1:]]
    parents = {int(pid): int(parent) for pid, parent, *_ in rows}

    def ours(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    return [int(row[0]) for row in rows if Path(row[-1].split()[0]).stem == "monty" and ours(int(row[0]))]
