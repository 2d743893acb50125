"""The outside judge: `@redocly/cli score`, which gives a document an Agent Readiness score from 0 to 100."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

from benchmarks.referee import NODE

HERE: Final = Path(__file__).parent / "redocly"
CLI: Final = HERE / "node_modules" / "@redocly" / "cli" / "bin" / "cli.js"
SECONDS: Final = 120


def score(path: Path) -> float:
    """Return the score of a document of OpenAPI 3.x."""
    environment = os.environ | {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    command = [str(NODE), str(CLI), "score", str(path), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS, env=environment)
    text = done.stdout[done.stdout.find("{") :]
    try:
        value: Any = json.JSONDecoder().raw_decode(text)[0]
    except ValueError:
        message = f"redocly score: {done.stderr[-500:] or done.stdout[-500:]}"
        raise RuntimeError(message) from None
    return float(value["agentReadiness"])
