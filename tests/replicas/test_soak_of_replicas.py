"""Thousands of calls through nginx to two replicas that share Redis, over a faulty API; one replica is killed.

Each call is answered once, or lost with the killed replica. `make replicas` makes 10,000 calls.
"""

import asyncio
import json
import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.command import command, serving_http
from tests.replicas.servers import nginx, redis
from tests.runtime.raw import serving
from tests.test_soak import CALLS, DOCUMENT, MAX_GROWTH, FaultyApi, Soak

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of processes is read from /proc"),
]


@dataclass
class ReplicaSoak(Soak):
    """Clients of two replicas, which are single processes."""

    replicas: list[int] = field(default_factory=list)

    def workers(self) -> list[int]:
        """Return the process ids of the replicas."""
        return self.replicas


def test_each_call_is_answered_once_or_lost_with_its_replica(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAPI_MCP_SESSION_SECRET", "one secret for all replicas")
    document = tmp_path / "things.json"
    document.write_text(json.dumps(DOCUMENT))

    async def soak() -> tuple[FaultyApi, ReplicaSoak]:
        api, pids = FaultyApi(), list[int]()
        async with serving(api.serve) as base_url:
            with ExitStack() as stack:
                shared = stack.enter_context(redis(tmp_path))
                serve = command(document, base_url, "--timeout", "1", "--redis", shared, "--rate-limit", "1000/second")
                ends = [stack.enter_context(serving_http(serve, pids, killed=True)) for _ in range(2)]
                proxy = stack.enter_context(nginx(tmp_path, [urlsplit(end).netloc for end in ends]))
                run = ReplicaSoak(f"{proxy}/mcp", {}, os.getpid(), replicas=pids)
                await run.run()
        return api, run

    api, run = asyncio.run(soak())
    figures = f"{CALLS} calls: {dict(run.answered)}, lost {len(run.lost)}, KiB {run.memory}, requests {api.requests}"
    sys.stdout.write(f"{figures}\n")
    assert not run.unknown, run.unknown[:3]
    assert run.answered["wrong"] == 0
    assert run.answered.total() + len(run.lost) == CALLS, figures
    assert run.answered["right"] > CALLS * 3 // 4, figures
    assert run.answered["failed"] > 0
    assert len(run.lost) <= 64, figures  # at most one call of each client was with the killed replica
    assert max(api.seen.values()) <= 3
    assert run.memory[1] - run.memory[0] < MAX_GROWTH, figures
