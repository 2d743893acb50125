"""Bad peers on stdio: whatever lines come, cut wherever they may be, each gets what it has to, and the next one too."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openapi_mcp.runtime.conversation import Conversation
from openapi_mcp.runtime.upstream import Upstream
from tests.hostile import INITIALIZE, bodies, texts
from tests.oracle import INVALID, PARSE, PREFIX, Answer, Rules, Wanted, is_id, read, same, unmatched
from tests.runtime.pets import PetApi, pet_server
from tests.servers import running

ROOT = Path(__file__).parents[1]
TOOLS = ["getPet", "listPets", "sing", "unknown"]
KNOWN = frozenset({"getPet", "listPets", "sing", "wait"})
MAX_LINE = 30_000
"""Bytes of a line: little enough that fuzz goes beyond it."""

PROCESSES = max(3, settings().max_examples // 500)
"""Each takes a while to start, and reads some hundred lines."""

LINES = st.lists(bodies(TOOLS).map(lambda data: data.replace(b"\n", b" ")), min_size=1, max_size=12)
CUTS = st.lists(st.integers(1, 2000), min_size=1, max_size=5)
GREETINGS = st.lists(texts(INITIALIZE), max_size=1)


def pieces(data: bytes, cuts: Sequence[int]) -> Iterator[bytes]:
    """Bytes in pieces of these sizes, over and over."""
    start = number = 0
    while start < len(data):
        yield data[start : start + cuts[number % len(cuts)]]
        start += cuts[number % len(cuts)]
        number += 1


def ping(number: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": f"are you there? {number}", "method": "ping"}).encode()


def interleaved(lines: Sequence[bytes]) -> list[bytes]:
    """Each line, and after it the question whether anybody is there."""
    return [each for number, line in enumerate(lines) for each in (line, ping(number))]


def heard(lines: Sequence[bytes], max_line: int) -> tuple[list[Wanted], bool]:
    """What has to come back to these lines, and whether log messages may come too."""
    rules, wanted, logs = Rules(KNOWN), list[Wanted](), False
    for line in lines:
        if len(line) > max_line:
            wanted.append(Answer(codes=(INVALID,)))
        elif stripped := line.strip(b" \t\r"):
            try:
                message = read(stripped)
            except (ValueError, RecursionError):
                wanted.append(Answer(codes=(PARSE,)))
            else:
                wanted += rules.wanted(message)
                logs = logs or "logging/setLevel" in str(message)
    wanted += [_ending(answer) for answer in wanted if isinstance(answer, Answer) and answer.acknowledges]
    return [_excused(answer, rules.excused) for answer in wanted], logs


def _ending(answer: Answer) -> Answer:
    """What ends a subscription, at the latest when stdin ends."""
    return Answer(answer.id, shape=lambda result: result["_meta"][PREFIX + "subscriptionId"] == answer.id)


def _excused(answer: Wanted, cancelled: Sequence[Any]) -> Wanted:
    """The same, which may be missing where its request was cancelled."""
    if isinstance(answer, Answer) and any(is_id(each) and same(each, answer.id) for each in cancelled):
        return Answer(**{**vars(answer), "sure": False})
    return answer


def check(lines: Sequence[bytes], said: Sequence[Any], max_line: int = 4 * 1024 * 1024) -> None:
    """Each line got what it has to, and nothing else was said."""
    wanted, logs = heard(lines, max_line)
    ended = [answer.id for answer in wanted if isinstance(answer, Answer) and answer.acknowledges]
    answers = []
    for message in said:
        method = message.get("method") if isinstance(message, dict) else None
        if method == "notifications/cancelled":
            assert any(same(each, message["params"]["requestId"]) for each in ended), message
        elif method == "notifications/message":
            assert logs
        else:
            answers.append(message)
    assert unmatched(wanted, answers) == []


def converse(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    """What a server says to a client whose bytes come in pieces, until their end."""
    incoming, said = pieces(data, cuts), list[bytes]()

    async def run() -> None:
        api = httpx.MockTransport(lambda _: httpx.Response(200, json={"name": "Minka"}))
        server = pet_server("http://pets.example", Upstream(transport=api))
        try:
            await Conversation(server, lambda _: next(incoming, b""), said.append, max_line_bytes=MAX_LINE).run()
        finally:
            await server.aclose()

    asyncio.run(run())
    return said


@given(greeting=GREETINGS, lines=LINES, cuts=CUTS)
def test_each_line_gets_the_answer_it_has_to_however_it_is_cut(
    greeting: list[bytes], lines: list[bytes], cuts: list[int]
) -> None:
    sent = interleaved([*greeting, *lines])
    said = converse(b"\n".join(sent), cuts)
    assert all(line.endswith(b"\n") and b"\n" not in line[:-1] for line in said)
    check(sent, [json.loads(line) for line in said], MAX_LINE)


@pytest.fixture(scope="module")
def api() -> Iterator[str]:
    with running(PetApi().app) as url:
        yield url


@settings(max_examples=PROCESSES)
@given(greeting=GREETINGS, lines=st.lists(LINES, min_size=10, max_size=20))
def test_a_process_answers_on_and_ends_well(greeting: list[bytes], lines: list[list[bytes]], api: str) -> None:
    sent = interleaved([*greeting, *(line for some in lines for line in some)])
    command = [sys.executable, "-m", "tests.runtime.pets_over_stdio", api]
    done = subprocess.run(command, cwd=ROOT, input=b"\n".join(sent), capture_output=True, check=False, timeout=60)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    check(sent, [json.loads(line) for line in done.stdout.splitlines()])
