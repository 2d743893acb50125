"""The REST API of the suite's scenarios about tasks, and its document: jobs that are accepted with 202.

The scenarios belong to an extension, so that no revision requires them; `python -m tests.conformance` runs
them. A job that fails in the protocol, one that asks the user while it runs, and a tool that demands tasks have no
counterpart in HTTP.
"""

import json
import secrets
import time
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

SCENARIOS: Final = (
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-mrtr-input",
    "tasks-request-state-removal",
    "tasks-request-headers",
    "tasks-status-notifications",
    "tasks-dispatch-and-envelope",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
)

EXPECTED_FAILURES: Final = frozenset(
    {
        "sep-2663-tasks-get-status-failed",  # a job that ends with an error of JSON-RPC
        "sep-2663-tasks-get-status-input-required",  # jobs that ask the user while they run
        "tasks-mrtr-tasks-update-resumes",
        "tasks-mrtr-partial-fulfillment",
        "sep-2663-server-returns-missing-capability-when-required",  # a tool that cannot do without tasks
        "sep-2663-mrtr-synchronous-before-task-creation",  # a tool that asks for a name; consent is asked for before
    }
)
"""Checks that no REST API passes."""


def _operation(name: str, /, **properties: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    text = {"text/plain": {"schema": {"type": "string"}}}
    body = {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
    return {
        "operationId": name,
        "summary": name.replace("_", " ").capitalize(),
        **(body if properties else {}),
        "responses": {"200": {"description": "The result.", "content": text}, "202": {"description": "Accepted."}},
    }


def write_document(path: Path, base_url: str) -> None:
    """Write the document of the API."""
    number = {"name": "number", "in": "path", "required": True, "schema": {"type": "string"}}
    paths = {
        "/greet": {"post": _operation("greet", name="string")},
        "/computations": {"post": _operation("slow_compute", seconds="number", label="string")},
        "/deletions": {"post": _operation("confirm_delete", filename="string")},
        "/failures": {"post": _operation("failing_job")},
        "/jobs/{number}": {"parameters": [number], "get": _operation("get_job"), "delete": _operation("delete_job")},
    }
    info = {"title": "Jobs", "version": "1"}
    path.write_text(json.dumps({"openapi": "3.1.0", "info": info, "servers": [{"url": base_url}], "paths": paths}))


def create_app() -> Starlette:
    """Return the API."""
    ends: dict[str, tuple[float, bool]] = {}

    async def greet(request: Request) -> Response:
        return PlainTextResponse(f"Hello, {(await request.json())['name']}!")

    async def compute(request: Request) -> Response:
        seconds = float((await request.json()).get("seconds", 0))
        return accepted(seconds, fails=False) if seconds else PlainTextResponse("computed")

    async def fail(_: Request) -> Response:
        return accepted(1.0, fails=True)

    async def delete(_: Request) -> Response:
        return accepted(0.5, fails=False)

    def accepted(seconds: float, *, fails: bool) -> Response:
        number = secrets.token_hex(4)
        ends[number] = time.monotonic() + seconds, fails
        return Response(status_code=202, headers={"location": f"/jobs/{number}", "retry-after": "0"})

    async def job(request: Request) -> Response:
        number = request.path_params["number"]
        if request.method == "DELETE":
            del ends[number]
            return Response(status_code=204)
        end, fails = ends[number]
        if time.monotonic() < end:
            return JSONResponse({"status": "running"}, 202, {"retry-after": "0"})
        return JSONResponse({"status": "failed", "error": "it had to"}) if fails else PlainTextResponse("computed")

    return Starlette(
        routes=[
            Route("/greet", greet, methods=["POST"]),
            Route("/computations", compute, methods=["POST"]),
            Route("/deletions", delete, methods=["POST"]),
            Route("/failures", fail, methods=["POST"]),
            Route("/jobs/{number}", job, methods=["GET", "DELETE"]),
        ]
    )
