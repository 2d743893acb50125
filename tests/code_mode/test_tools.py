"""Code mode: calls of programs are treated as a client's own, and only a program's result is returned."""

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

from openapi_mcp.cli.serve.reload import Reloader
from openapi_mcp.cli.settings import Settings
from openapi_mcp.code_mode.limits import DEFAULT_LIMITS, CodeLimits
from openapi_mcp.code_mode.tools import MAX_RESULT_BYTES, builtin_tools, code_catalog
from openapi_mcp.errors import UsageError
from openapi_mcp.modes import CODE_NAMES, Mode, catalog
from openapi_mcp.runtime.protocol import Session
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server import notifications
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import Argument, Tool
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.runtime.upstream.retries import Retries
from openapi_mcp.token_budget import tokens
from tests.code_mode.api import Api, more
from tests.command import command, serving_http
from tests.compiling import compiled_operation, json_body
from tests.conftest import ROOT
from tests.databases import without_fts5
from tests.runtime.making import tool
from tests.runtime.pets import DESCRIPTION, GET_PET, LIST_PETS, TOOLS
from tests.runtime.wire import INITIALIZE, call

pytestmark = pytest.mark.process

PETSTORE = ROOT / "specs" / "petstore.yaml"
PAGE = (ROOT / "docs" / "big-apis.md").read_text()
LARGE = [replace(GET_PET, name=f"pet-{number}", tags=(f"tag {number} of many",)) for number in range(2000)]
LIMIT = 20.0
"""Seconds after which a test fails."""


def test_three_tools_and_pinned_ones_are_listed() -> None:
    listed = catalog(TOOLS, Mode.CODE, ["getPet", "getPet"])
    assert [entry.name for entry in listed.tools] == ["search_tools", "describe_tool", "run_code", "getPet"]
    assert {entry.name for entry in builtin_tools(TOOLS)} == CODE_NAMES


@pytest.mark.parametrize("tools", [TOOLS, LARGE], ids=["few", "many"])
def test_builtin_tools_cost_at_most_1100_tokens(tools: list[Tool]) -> None:
    assert sum(map(tokens, builtin_tools(tools))) <= 1100


def test_a_pin_with_the_name_of_a_listed_tool_is_refused() -> None:
    with pytest.raises(UsageError, match="run_code is also"):
        catalog([replace(GET_PET, name="run_code")], Mode.CODE, ["run_code"])
    assert len(catalog([replace(GET_PET, name="call_tool")], Mode.CODE, ["call_tool"]).tools) == 4


def test_code_mode_requires_fts5(monkeypatch: pytest.MonkeyPatch) -> None:
    without_fts5(monkeypatch)
    with pytest.raises(UsageError, match="FTS5") as raised:
        catalog(TOOLS, Mode.CODE)
    assert raised.value.where == "--mode code"


@pytest.mark.parametrize(
    "how", ["import sys; sys.modules['pydantic_monty'] = None", "import os; os.environ['PATH'] = ''"]
)
def test_missing_extra_is_named_with_the_cure(how: str) -> None:
    hidden = "import sysconfig; sysconfig.get_path = lambda *_: '/nowhere'" if "PATH" in how else ""
    program = f"{how}; {hidden}\nfrom openapi_mcp.cli.main import main\nmain()"
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
    [text] = [block["text"] for block in api.call("search_tools", query="pets").content]
    assert "async def getPet(*, petId: int)" in text
    assert "pets_list() -> list[dict]" in text
    for name in ("pets_list", "pets/list"):
        [described] = api.call("describe_tool", name=name, schema=True).content
        assert described["text"].startswith('Called as pets_list.\n{"name":"pets/list"')
        assert "pets_list() -> list[dict]" in api.call("describe_tool", name=name).content[0]["text"]
    [described] = api.call("describe_tool", name="getPet", schema=True).content
    assert described["text"].startswith("{")


def test_a_program_calls_tools_as_functions() -> None:
    api = Api()
    [text] = api.run("[getPet(petId=pet['id'])['id'] for pet in listPets() if pet['id'] > 0]")
    assert json.loads(text) == ["/pets/1", "/pets/2"]
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
def test_calls_can_be_written_in_several_forms(code: str) -> None:
    [text] = Api().run(code)
    assert json.loads(text)["id"] == "/pets/7"


def test_arguments_that_are_no_identifiers_go_in_a_dict() -> None:
    odd = tool("/odd", Argument(name="pet-id", wire_name="pet-id", location="query", style="form"), name="odd/pet.get")
    api = Api(odd)
    for text in (
        "odd_pet_get({'pet-id': 7})",
        "odd_pet_get(**{'pet-id': 7})",
        "call_tool('odd/pet.get', {'pet-id': 7})",
    ):
        api.run(text)
    assert {str(request.url) for request in api.requests} == {"http://api.test/odd?pet-id=7"}


def test_function_returns_the_response() -> None:
    api = Api(more("text"), more("bytes"), more("object"))
    assert api.run("text()") == ["just text"]
    assert api.run("bytes_()[0]['mimeType']") == ["image/png"]
    assert api.run("object_()['unknown']") == ["true"]


def test_undeclared_properties_are_in_the_value() -> None:
    strict = replace(more("object"), output_schema={"type": "object", "properties": {"id": {"type": "integer"}}})
    assert json.loads(Api(strict).run("object_()")[0]) == {"id": "/object", "unknown": True}


def test_large_response_is_complete_in_the_program_and_cut_in_the_result() -> None:
    api = Api(more("large"), max_result_bytes=1024)
    assert api.run("sum(len(text) for text in large())") == ["1000000"]
    text, note = api.run("large()")
    assert len(text) <= MAX_RESULT_BYTES + 1000
    assert json.loads(text)[0] == "x" * 1000
    assert "of 1000 items" in note
    text, note = api.run("'x' * 100000")
    assert len(text) == MAX_RESULT_BYTES
    assert note.startswith(f"The result was cut to {MAX_RESULT_BYTES:,} of 100,000 characters. Return less")


def test_cut_response_is_noted() -> None:
    text, note = Api(more("huge")).run("len(huge())")
    assert int(text) < 5000
    assert note.startswith("huge: This is a part of the answer. It was cut to 4,194,304 bytes, as much as a program")
    assert note.endswith("Ask the API for less at a time.")
    assert "--max-result-tokens" not in note


def test_printed_text_follows_the_result() -> None:
    api = Api()
    assert api.run("print('a', 1)\nprint('b')\n{'c': 1}") == ['{"c": 1}', "Printed:\na 1\nb"]
    assert api.run("print('only this')") == ["Printed:\nonly this"]
    assert api.run("x = 1") == ["null", "The program has no result: end it with an expression, or print."]


def test_failed_call_raises_a_catchable_exception() -> None:
    api = Api()
    code = "try:\n    getPet(petId=404)\nexcept RuntimeError as error:\n    said = str(error)\nsaid"
    [text] = api.run(code)
    assert text.startswith("getPet(petId=404): 404 Not Found")
    assert "no such pet" in text
    error = api.error("listPets()\nlistPets()\nprint('so far')\ngetPet(petId=404)")
    assert "Line 4" in error
    assert "RuntimeError: getPet(petId=404): 404 Not Found" in error
    assert "3 calls made before the error: listPets 200 x2; getPet 404." in error
    assert error.endswith("Printed:\nso far")


def test_calls_that_were_not_sent_are_not_in_the_list_of_calls() -> None:
    refused = ["getPet()", "getPet(petId='x')", "getPet(petId=1, pet=2)", "call_tool('getPett')"]
    attempts = "\n".join(f"try:\n    {call}\nexcept RuntimeError:\n    pass" for call in refused)
    api = Api()
    error = api.error(f"{attempts}\nlistPets()\n1 / 0")
    assert "1 call made before the error: listPets 200." in error
    assert [request.url.path for request in api.requests] == ["/pets"]


def test_calls_without_connection_are_not_in_the_list_of_calls_and_broken_ones_are() -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        kind = httpx.ConnectError if request.url.path == "/pets" else httpx.ReadError
        raise kind("no", request=request)

    api = Api()
    retries = Retries(attempts=1)
    upstream = Upstream(transport=httpx.MockTransport(fail), retries=retries)
    api.server = Server(code_catalog(TOOLS), DESCRIPTION, upstream, options=RequestOptions(base_url="http://api.test"))
    code = "try:\n    listPets()\nexcept RuntimeError:\n    pass\ngetPet(petId=1)"
    assert "1 call made before the error: getPet no response." in api.error(code)


def test_required_object_without_required_properties_may_be_left_out() -> None:
    [made] = compiled_operation(json_body({"type": "object", "additionalProperties": {}}), path="/thing").tools
    api = Api(replace(made, base_url="http://api.test"))
    api.run("it()")
    api.run("it(body={'a': 1})")
    assert [request.content for request in api.requests] == [b"{}", b'{"a":1}']


@pytest.mark.parametrize(
    ("code", "text"),
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
        ("def f(:\n  pass", "SyntaxError"),
        ("class A(dict): pass", "class inheritance"),
    ],
)
def test_error_names_the_cure(code: str, text: str) -> None:
    error = Api().error(code)
    assert text in error
    assert str(ROOT) not in error


def test_code_is_validated_before_it_runs() -> None:
    assert "code" in Api().error("")
    assert "20000" in Api().error("x = 1\n" * 5000)


def test_number_of_calls_is_limited() -> None:
    api = Api()
    error = api.error(f"for n in range({DEFAULT_LIMITS.calls + 5}): listPets()")
    assert f"A program may make {DEFAULT_LIMITS.calls} calls" in error
    assert len(api.requests) == DEFAULT_LIMITS.calls
    endless = Api(limits=CodeLimits(seconds=LIMIT, compute_seconds=0.5))
    endless.error("while True:\n    try:\n        listPets()\n    except RuntimeError:\n        pass")
    assert len(endless.requests) <= DEFAULT_LIMITS.calls


def test_the_limits_are_options(tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text('mode = "code"\ncode-timeout = 5\ncode-calls = 3\n')
    [*_, run_code] = Settings(str(PETSTORE), {"code_calls": 2}, settings).bridge().catalog.tools
    assert "Limits: 2 calls; 5 seconds in all" in run_code.description


def test_calls_are_rate_limited_and_observed() -> None:
    called_tools: list[str] = []

    def observer(called: Tool, _request: httpx.Request, _response: httpx.Response) -> None:
        called_tools.append(called.name)

    api = Api(observer=observer, limiter=lambda _caller, name: 7.0 if name == "getPet" else None)
    assert "RuntimeError: getPet(petId=1): Too many calls of getPet. Try again in 7 seconds." in api.error(
        "listPets()\ngetPet(petId=1)"
    )
    assert called_tools == ["listPets"]


def test_program_reports_progress_while_the_api_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifications, "PROGRESS_INTERVAL", 0.1)
    monkeypatch.setattr(notifications, "_TIMER_TOLERANCE", 0.0)
    progress: list[float] = []

    async def respond(_: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0.5)
        return httpx.Response(200, json={})

    async def notify(message: bytes) -> None:
        progress.append(json.loads(message)["params"]["progress"])

    async def once() -> None:
        server = Server(
            code_catalog(TOOLS, limits=DEFAULT_LIMITS),
            DESCRIPTION,
            Upstream(transport=httpx.MockTransport(respond)),
            options=RequestOptions(base_url="http://api.test"),
        )
        step = server.receive(call(1, "run_code", {"code": "sing()"}, progressToken="t"), Session("2025-11-25"))
        reply = await server.perform(step, notify)
        assert not json.loads(reply.body or b"")["result"].get("isError")

    asyncio.run(once())
    assert len(progress) >= 3
    assert progress == sorted(set(progress))


def test_programs_after_a_reload_have_the_new_tools(tmp_path: Path) -> None:
    def document_of(*names: str) -> str:
        paths = "".join(
            f"  /{name}: {{get: {{operationId: {name}, responses: {{default: {{}}}}}}}}\n" for name in names
        )
        return f"openapi: 3.1.0\ninfo: {{title: T, version: '1'}}\nservers: [{{url: 'http://127.0.0.1:9'}}]\npaths:\n{paths}"

    path = tmp_path / "a.yaml"
    path.write_text(document_of("first"))

    async def run() -> list[str]:
        messages: asyncio.Queue[str] = asyncio.Queue()
        opening = Settings(str(path), {"watch": True, "mode": "code", "retries": 0})
        reloader = Reloader(opening, opening.bridge(), messages.put_nowait, messages.put_nowait)
        texts = []
        async with reloader.running():
            for change in ("first", "second"):
                result = await reloader.live.server.call("run_code", {"code": "second()"})
                texts.append(result.content[0]["text"])
                if change == "first":
                    await asyncio.to_thread(path.write_text, document_of("first", "second"))
                    await asyncio.wait_for(messages.get(), LIMIT)
        await reloader.live.aclose()
        return texts

    before, after = asyncio.run(run())
    assert "NameError: name 'second' is not defined" in before
    assert "RuntimeError: second(): " in after


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
            output = await client.call_tool("search_tools", {"query": "the price of each pet"})
            return names, text(output), await client.call_tool("run_code", {"code": CHAIN})

    with serving(petstore, "--pin", "getInventory") as connect:
        names, output, ran = asyncio.run(converse(connect))
    pets = httpx.get(f"{petstore}/pets", params={"limit": 100}).json()["pets"]
    assert names == ["search_tools", "describe_tool", "run_code", "getInventory"]
    assert "async def listPets(" in output
    assert json.loads(text(ran)) == {pet["name"]: pet["price"] for pet in pets if (pet["price"] or 0) < 20}
    assert text(ran, 1) == f"Printed:\n{len(pets)} pets"


def test_documented_program_has_its_result(petstore: str) -> None:
    [program] = re.findall(r"```python\n(.+?)```", PAGE, re.DOTALL)

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
def test_endless_program_blocks_no_other_call_and_can_be_cancelled(petstore: str, serving: Any, era: str) -> None:
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


def test_program_ends_with_its_server(petstore: str) -> None:
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


def test_programs_run_in_workers(petstore: str) -> None:
    async def converse(connect: Connect) -> list[str]:
        async def one(number: int) -> str:
            async with connected(connect, "2026-07-28") as client:
                result = await client.call_tool("run_code", {"code": f"getPet(petId=1)['id'] + {number}"})
                return text(result)

        return await asyncio.gather(*map(one, range(6)))

    with over_http(petstore, "--workers", "2") as connect:
        assert asyncio.run(converse(connect)) == [str(number + 1) for number in range(6)]


def text(result: Any, block: int = 0) -> str:
    text: str = result.content[block].text
    return text


async def until(holds: Callable[[], bool]) -> None:
    """Poll until a condition of another process holds."""
    async with asyncio.timeout(LIMIT):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def workers() -> list[int]:
    """Return the process ids of the programs that this test has started."""
    output = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in output.splitlines()[1:]]
    parents = {int(pid): int(parent) for pid, parent, *_ in rows}

    def is_descendant(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    return [int(row[0]) for row in rows if Path(row[-1].split()[0]).stem == "monty" and is_descendant(int(row[0]))]
