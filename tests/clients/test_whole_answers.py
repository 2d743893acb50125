"""The official clients accept any JSON answer under any declared schema, and get all of it as structuredContent."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.clients.answers import api, document
from tests.clients.driving import drive
from tests.command import command
from tests.conftest import CLIENTS
from tests.runtime.protocol.test_output_schemas import SCHEMAS
from tests.servers import running

pytestmark = pytest.mark.process

BATCH = 200
"""Answers for one start of each client."""

NAMES = st.sampled_from(["id", "name", "items", "result", "tags"])
ANSWERS = st.recursive(  # numbers and keys that JavaScript's JSON.parse preserves
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text("aZ é€😀", max_size=4) | st.just(0.5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


def cases() -> list[tuple[Any, Any]]:
    """Return pairs of a declared schema and an answer."""
    pairs: list[tuple[Any, Any]] = []

    @settings(max_examples=int(os.environ.get("FUZZ") or BATCH), phases=[Phase.generate], database=None)
    @given(SCHEMAS, ANSWERS)
    def collect(schema: Any, answer: Any) -> None:
        pairs.append((schema, answer))

    collect()
    return pairs


@pytest.mark.timeout(0 if os.environ.get("FUZZ") else 300)
def test_official_clients_accept_every_answer_whole(node: Path, mcp_1: Path, tmp_path: Path) -> None:
    pairs = cases()
    for start in range(0, len(pairs), BATCH):
        check(pairs[start : start + BATCH], node, mcp_1, tmp_path)


def check(pairs: list[tuple[Any, Any]], node: Path, mcp_1: Path, folder: Path) -> None:
    """Assert that each client gets the answer of each pair."""
    path = folder / "answers.json"
    path.write_text(json.dumps(document([schema for schema, _ in pairs])))
    script = [str(node), str(CLIENTS / "drive.mjs")]
    clients = {
        ("client", "modern"): script,
        ("client", "legacy"): script,
        ("sdk", "legacy"): script,
        ("mcp 2", "modern"): [sys.executable, "-m", "tests.clients.drive_v2"],
        ("mcp 2", "legacy"): [sys.executable, "-m", "tests.clients.drive_v2"],
        ("mcp 1", "legacy"): [str(mcp_1), "-m", "tests.clients.drive_v1"],
    }
    calls: list[tuple[str, dict[str, Any]]] = [(f"answer{number}", {}) for number in range(len(pairs))]
    with running(api([answer for _, answer in pairs])) as url:
        target = {"command": command(path, url, "--mode", "all"), "env": dict(os.environ)}
        for (client, era), driver in clients.items():
            received = drive(driver, {"client": client, "era": era, "calls": calls, **target})
            for result, case in zip(received["results"], pairs, strict=True):
                assert arrived_whole(result, case[1]), (client, era, case, result)


def arrived_whole(result: dict[str, Any], value: Any) -> bool:
    """Return whether a result holds a value: in structuredContent, or there as `result` where that must be an object.

    The dump of the Python client leaves out a structuredContent of null.
    """
    content = result.get("structuredContent")
    wrapped = content.get("result", ...) if isinstance(content, dict) else ...
    return not result.get("isError") and value in (content, wrapped)
