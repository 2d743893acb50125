"""`save` and `load`: values of one session from program to program, within limits."""

import asyncio
import json
import os
import re
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from openapi_mcp.code_mode import values
from openapi_mcp.code_mode.values import MAX_SAVED, MAX_SAVED_BYTES, MAX_SESSION_BYTES, SavedValues, SaveError
from openapi_mcp.runtime.http.sessions import SessionStore
from openapi_mcp.runtime.http.workers import EndedSessions
from openapi_mcp.runtime.protocol import Session
from openapi_mcp.runtime.server.grants import GRANT, Grant
from openapi_mcp.runtime.session_state import SESSION_STATE, STATE_FILES, SessionState
from openapi_mcp.runtime.upstream.shares import CALLER, Caller
from tests.code_mode.api import Api
from tests.code_mode.test_tools import WAYS, Connect, connected, over_http

pytestmark = pytest.mark.process


def run(api: Api, code: str, state: SessionState | None = None, address: str = "192.0.2.1") -> list[str]:
    """Run a program in a session, or as a client of an address without one."""

    def in_session() -> Any:
        SESSION_STATE.set(None if state is None else lambda: state)
        CALLER.set(Caller(address, f"{address} client"))
        return api.call("run_code", code=code)

    result = copy_context().run(in_session)
    return [block["text"] for block in result.content]


def test_a_value_is_there_in_the_next_program() -> None:
    api = Api()
    api.run("save('pets', [pet.name for pet in listPets()])")
    assert json.loads(api.run("load('pets') + load('more', ['x'])")[0]) == ["pet 0", "pet 1", "pet 2", "x"]
    api.run("import datetime\nsave('pets', {'at': datetime.date(2026, 1, 2), 'of': (1, 2)})")
    assert json.loads(api.run("[load('pets').at, load('pets')['of'], load('none', None)]")[0]) == [
        "2026-01-02",
        [1, 2],
        None,
    ]
    assert json.loads(api.run("await save('a', None)\nawait load('a', 5)")[0]) is None


def test_a_value_that_is_not_there_names_those_that_are() -> None:
    api = Api()
    api.run("save('pets', 1)\nsave('cats', 2)")
    assert "KeyError: nothing is saved under dogs; saved: pets, cats" in api.error("load('dogs')")


def test_sessions_do_not_see_each_others_values() -> None:
    api, one, two = Api(), SessionState(), SessionState()
    run(api, "save('pets', 1)", one)
    run(api, "save('pets', 2)", two)
    assert run(api, "load('pets')", one) == ["1"]
    assert run(api, "load('pets')", two) == ["2"]
    assert "nothing is saved" in run(api, "load('pets')", SessionState())[0]
    assert "nothing is saved" in run(api, "load('pets')")[0]


def test_values_are_gone_with_their_session() -> None:
    store = SessionStore(lambda _: None)
    session = Session("2025-11-25", id="one")
    api = Api()
    run(api, "save('pets', 1)", store.state(session))
    assert run(api, "load('pets')", store.state(session)) == ["1"]
    store.end(session)
    assert "nothing is saved" in run(api, "load('pets')", store.state(session))[0]


def test_clients_without_a_session_load_by_a_handle_that_nobody_guesses() -> None:
    api, nobody = Api(), SessionStore(lambda _: None).state(Session())
    [_, note] = run(api, "save('pets', [1])\n1", nobody)
    [handle] = re.findall(r'Saved: load\("(pets~[\w-]{22})"\) in another program returns pets\.', note)
    assert run(api, f"load('{handle}')", nobody) == ["[1]"]
    other = run(api, "load('pets')", nobody)[0]
    assert "nothing is saved under pets; without a session, load the name that save returned" in other
    assert handle not in other


def test_a_subject_of_tokens_needs_no_handle_and_sees_its_own_values() -> None:
    api, nobody = Api(), SessionStore(lambda _: None).state(Session())

    def run_as(name: str, code: str) -> list[str]:
        context = copy_context()
        context.run(GRANT.set, Grant(name))
        texts: list[str] = context.run(run, api, code, nobody)
        return texts

    assert run_as("ada", "save('pets', [1])\n1") == ["1"]
    assert run_as("ada", "load('pets')") == ["[1]"]
    assert "nothing is saved under pets" in run_as("bob", "load('pets')")[0]
    assert "nothing is saved under pets" in run(api, "load('pets')", nobody)[0]


def test_the_oldest_value_without_a_session_makes_place() -> None:
    kept = SavedValues(has_handles=True)
    handles = [kept.save("a", "1") for _ in range(MAX_SAVED + 1)]
    assert kept.load(handles[-1]) == "1"
    with pytest.raises(KeyError):
        kept.load(handles[0])


def test_processes_share_values_by_a_file_which_ends_with_the_session(tmp_path: Path) -> None:
    stores = [SessionStore(lambda _: None, EndedSessions(tmp_path / ".ended")) for _ in range(2)]
    session = Session("2025-11-25", id="one")
    run(Api(), "save('pets', [1])\nsave('cats', 2)", stores[0].state(session))
    api = Api()
    assert run(api, "[load('pets'), load('cats')]", stores[1].state(session)) == ["[[1], 2]"]
    assert "saved: pets, cats" in run(api, "load('dogs')", stores[1].state(session))[0]
    run(api, "save('pets', [3])", stores[1].state(session))
    assert run(Api(), "load('pets')", stores[0].state(session)) == ["[3]"]
    [file] = tmp_path.glob(f"{STATE_FILES}*")
    assert file.stat().st_mode & 0o777 == 0o600
    stores[1].end(session)
    assert not file.exists()
    assert "nothing is saved" in run(Api(), "load('pets')", stores[0].state(session))[0]


def test_files_that_are_not_used_make_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MAX_ALL_BYTES", 3000)
    kept = [SavedValues(file=tmp_path / f"{STATE_FILES}{number}") for number in range(3)]
    for number, each in enumerate(kept):
        each.save("a", f'"{"x" * 1200}"')
        os.utime(each.file or "", (number, number))
    kept[2].save("a", f'"{"x" * 1300}"')
    assert [file.name for file in sorted(tmp_path.iterdir())] == [f"{STATE_FILES}1", f"{STATE_FILES}2"]


def test_values_are_limited() -> None:
    api = Api()
    assert f"a saved value may have {MAX_SAVED_BYTES:,}" in api.error(f"save('a', 'x' * {MAX_SAVED_BYTES})")
    assert "is text" in api.error("save(1, 2)")
    assert "1 to 100 characters" in api.error("save('x' * 101, 2)")
    assert f"a session keeps {MAX_SAVED} values" in api.error(f"for n in range({MAX_SAVED + 1}):\n    save(str(n), n)")
    api.run("save('1', 'again')")
    assert "cannot be sent" in api.error("save('f', print)")
    large = Api()
    count = MAX_SESSION_BYTES // MAX_SAVED_BYTES
    error = large.error(f"for n in range({count + 1}):\n    save(str(n), 'x' * ({MAX_SAVED_BYTES} - 2))")
    assert f"of {MAX_SESSION_BYTES:,} bytes together" in error
    assert "Line 2" in error


def test_values_of_sessions_that_are_not_used_make_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "_SAVED", type(values._SAVED)())
    monkeypatch.setattr(values, "MAX_ALL_BYTES", 3 * 1000)
    old, used, new = SavedValues(), SavedValues(), SavedValues()
    for each in (old, used):
        each.save("a", f'"{"x" * 998}"')
    used.load("a")
    old.load("a")
    used.load("a")
    for name in ("a", "b"):
        new.save(name, f'"{"x" * 998}"')
    assert (old.was_dropped, used.was_dropped, new.was_dropped) == (True, False, False)
    with pytest.raises(KeyError):
        old.load("a")
    with pytest.raises(SaveError):
        new.save("", "1")


def test_tools_called_like_helpers_have_other_names() -> None:
    from openapi_mcp.code_mode.tools import functions
    from tests.code_mode.api import more

    assert set(functions([more("save"), more("load"), more("paginate"), more("save_")])) == {
        "save_",
        "save__2",
        "load_",
        "paginate_",
    }


def test_programs_at_once_keep_all_values() -> None:
    api = Api()

    async def both() -> None:
        calls = (api.server.call("run_code", {"code": f"save('{name}', 1)"}) for name in "abcdef")
        await asyncio.gather(*calls)

    asyncio.run(both())
    assert json.loads(api.run("[load(name) for name in 'abcdef']")[0]) == [1] * 6


@WAYS
def test_the_official_client_keeps_values(petstore: str, serving: Any, era: str) -> None:
    async def run_code(client: Client, code: str) -> str:
        result = await client.call_tool("run_code", {"code": code})
        return "\n".join(getattr(block, "text", "") for block in result.content)

    async def converse(connect: Connect) -> tuple[str, str, str]:
        async with connected(connect, era) as client, connected(connect, era) as other:
            said = await run_code(client, "save('pets', [pet.id for pet in listPets(limit=3).pets])\n1")
            handle = re.findall(r'load\("([^"]+)"\)', said)
            loaded = await run_code(client, f"load('{(handle or ['pets'])[0]}')")
            return said, loaded, await run_code(other, "load('pets', 'nothing')")

    with serving(petstore) as connect:
        said, loaded, elsewhere = asyncio.run(converse(connect))
    assert json.loads(loaded) == [1, 2, 3]
    assert elsewhere == "nothing"
    assert ("Saved: load(" in said) == (serving is over_http and era == "auto")


def test_any_worker_has_the_values_of_a_session(petstore: str) -> None:
    async def converse(connect: Connect) -> list[str]:
        async with connected(connect, "legacy") as client:
            await client.call_tool("run_code", {"code": "save('pets', [1, 2])"})

            async def load() -> str:
                result = await client.call_tool("run_code", {"code": "load('pets')"})
                return str(getattr(result.content[0], "text", ""))

            return await asyncio.gather(*(load() for _ in range(8)))

    with over_http(petstore, "--workers", "2") as connect:
        assert asyncio.run(converse(connect)) == ["[1, 2]"] * 8
