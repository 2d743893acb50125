"""Hostile clients on stdio: every line, in chunks of any size, gets the answer that the specification requires."""

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

from openapi_mcp.runtime.stdio import StdioSession
from openapi_mcp.runtime.upstream.client import Upstream
from tests.hostile import INITIALIZE, bodies, texts
from tests.oracle import INVALID, PARSE, PREFIX, Answer, Expected, Rules, ids_in, is_id, read, same, unmatched
from tests.runtime.pets import PetApi, pet_server
from tests.servers import running

ROOT = Path(__file__).parents[2]
TOOLS = ["getPet", "listPets", "sing", "unknown"]
KNOWN = frozenset({"getPet", "listPets", "sing", "wait"})
MAX_LINE = 30_000
"""Bytes of a line: few enough that some of the drawn lines exceed it."""

PROCESSES = max(3, settings().max_examples // 500)
"""Number of server processes; each takes a while to start, and reads some hundred lines."""

LINES = st.lists(bodies(TOOLS).map(lambda data: data.replace(b"\n", b" ")), min_size=1, max_size=12)
CUTS = st.lists(st.integers(1, 2000), min_size=1, max_size=5)
GREETINGS = st.lists(texts(INITIALIZE), max_size=1)


def chunks(data: bytes, cuts: Sequence[int]) -> Iterator[bytes]:
    """Yield data in chunks of these sizes, repeated."""
    start = number = 0
    while start < len(data):
        yield data[start : start + cuts[number % len(cuts)]]
        start += cuts[number % len(cuts)]
        number += 1


def ping(number: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": f"ping {number}", "method": "ping"}).encode()


def interleaved(lines: Sequence[bytes]) -> list[bytes]:
    """Return the lines with a ping after each."""
    return [each for number, line in enumerate(lines) for each in (line, ping(number))]


def required(lines: Sequence[bytes], max_line: int) -> tuple[list[Expected], bool]:
    """Return the answers that these lines require, and whether log messages may come too."""
    rules, expected, logs = Rules(KNOWN), list[Expected](), False
    for line in lines:
        if len(line) > max_line:
            expected.append(Answer(codes=(INVALID,), other_ids=ids_in(line)))
        elif stripped := line.strip(b" \t\r"):
            try:
                message = read(stripped)
            except (ValueError, RecursionError):
                expected.append(Answer(codes=(PARSE,), other_ids=ids_in(stripped)))
            else:
                expected += rules.expected(message)
                logs = logs or "logging/setLevel" in str(message)
    expected += [
        _end_of_subscription(answer) for answer in expected if isinstance(answer, Answer) and answer.acknowledges
    ]
    return [_excused(answer, rules.excused) for answer in expected], logs


def _end_of_subscription(answer: Answer) -> Answer:
    """Return the answer that ends a subscription, at the latest when stdin ends."""
    return Answer(answer.id, shape=lambda result: result["_meta"][PREFIX + "subscriptionId"] == answer.id)


def _excused(answer: Expected, cancelled: Sequence[Any]) -> Expected:
    """Return the answer, marked as one that may be missing if its request was cancelled."""
    if isinstance(answer, Answer) and any(is_id(each) and same(each, answer.id) for each in cancelled):
        return Answer(**{**vars(answer), "sure": False})
    return answer


def check(lines: Sequence[bytes], received: Sequence[Any], max_line: int = 4 * 1024 * 1024) -> None:
    """Check that each line got the required answers and no other message came."""
    expected, logs = required(lines, max_line)
    subscriptions = [answer.id for answer in expected if isinstance(answer, Answer) and answer.acknowledges]
    answers = []
    for message in received:
        method = message.get("method") if isinstance(message, dict) else None
        if method == "notifications/cancelled":
            assert any(same(each, message["params"]["requestId"]) for each in subscriptions), message
        elif method == "notifications/message":
            assert logs
        else:
            answers.append(message)
    assert unmatched(expected, answers) == []


def converse(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    """Send data to a server in chunks; return the lines that it writes until the end of input."""
    incoming, written = chunks(data, cuts), list[bytes]()

    async def run() -> None:
        api = httpx.MockTransport(lambda _: httpx.Response(200, json={"name": "Minka"}))
        server = pet_server("http://pets.example", Upstream(transport=api))
        try:
            await StdioSession(server, lambda _: next(incoming, b""), written.append, max_line_bytes=MAX_LINE).run()
        finally:
            await server.aclose()

    asyncio.run(run())
    return written


@pytest.mark.slow
@given(greeting=GREETINGS, lines=LINES, cuts=CUTS)
def test_every_line_gets_the_required_answer_in_chunks_of_any_size(
    greeting: list[bytes], lines: list[bytes], cuts: list[int]
) -> None:
    sent = interleaved([*greeting, *lines])
    received = converse(b"\n".join(sent), cuts)
    assert all(line.endswith(b"\n") and b"\n" not in line[:-1] for line in received)
    check(sent, [json.loads(line) for line in received], MAX_LINE)


@pytest.fixture(scope="module")
def api() -> Iterator[str]:
    with running(PetApi().app) as url:
        yield url


@pytest.mark.process
@settings(max_examples=PROCESSES)
@given(greeting=GREETINGS, lines=st.lists(LINES, min_size=10, max_size=20))
def test_process_answers_hostile_lines_and_exits_with_0(
    greeting: list[bytes], lines: list[list[bytes]], api: str
) -> None:
    sent = interleaved([*greeting, *(line for some in lines for line in some)])
    command = [sys.executable, "-m", "tests.runtime.pets_over_stdio", api]
    completed = subprocess.run(command, cwd=ROOT, input=b"\n".join(sent), capture_output=True, check=False, timeout=60)
    assert completed.returncode == 0
    assert b"Traceback" not in completed.stderr
    check(sent, [json.loads(line) for line in completed.stdout.splitlines()])
