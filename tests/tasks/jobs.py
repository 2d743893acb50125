"""An API whose operations go on in the background, in the ways of several vendors; and the server in front of it."""

import asyncio
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

KEY: Final = "open-sesame"
RESULT: Final = {"rows": 3}


class Jobs:
    """The jobs of the API: each is done after so many questions. `seen` has `METHOD path` of all requests."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.questions: dict[str, int] = {}
        self.release = asyncio.Event()

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/v1/jobs/{kind}", self.start, methods=["POST", "GET", "PUT"]),
                Route("/v1/jobs/{kind}/{number}", self.status, methods=["GET", "DELETE"]),
                Route("/v1/results/{number}", self.result),
            ]
        )

    async def start(self, request: Request) -> Response:
        kind = request.path_params["kind"]
        self.seen.append(f"{request.method} {request.url.path}")
        steps = request.query_params.get("steps", "2")
        location = f"/v1/jobs/{kind}/{steps}"
        headers = {"retry-after": "0"}
        body: Any = {"id": steps, "status": "queued"}
        if kind in ("azure", "azure-created"):
            headers |= {"operation-location": location, "location": f"/v1/results/{steps}"}
        elif kind == "elsewhere":
            headers["location"] = "http://127.0.0.2:1/jobs/1"
        elif kind == "again":
            self.questions[kind] = self.questions.get(kind, 0) + 1
            if self.questions[kind] > 2:
                return JSONResponse(RESULT)
        elif kind != "nowhere":
            headers["location"] = location
        if kind == "slow":
            headers["retry-after"] = "120"
        if kind == "nowhere":
            headers = {}
        return JSONResponse(body, 201 if kind == "azure-created" else 202, headers)

    async def status(self, request: Request) -> Response:
        kind, number = request.path_params["kind"], request.path_params["number"]
        self.seen.append(f"{request.method} {request.url.path}")
        if request.headers.get("x-key") != KEY and request.query_params.get("key") != KEY:
            return JSONResponse({"detail": "no key"}, 401)
        if request.method == "DELETE":
            return Response(status_code=204)
        count = self.questions[kind] = self.questions.get(kind, 0) + 1
        is_done = count >= int(number)
        if kind == "waiting":
            await self.release.wait()
            is_done = True
        return self.answer(kind, number, count, is_done=is_done)

    def answer(self, kind: str, number: str, count: int, *, is_done: bool) -> Response:
        """Return the answer of one kind of API to a question about a job."""
        headers = {"retry-after": "0"}
        if kind == "busy" and count <= 3:
            return Response(status_code=503, headers=headers)
        if kind == "gone":
            return JSONResponse({"title": "There is no such job"}, 404)
        if not is_done:
            google = {"done": False, "metadata": {"progressPercent": 40}}
            running = google if kind == "google" else {"status": "Running", "percentComplete": 50}
            return JSONResponse(running, 202 if kind == "location" else 200, headers)
        if kind == "see-other":
            return RedirectResponse(f"/v1/results/{number}", 303)
        ends = {
            "google": {"done": True, "response": RESULT},
            "failing": {"status": "Failed", "error": {"message": "The disk is full"}},
            "location": RESULT,
            "busy": RESULT,
        }
        return JSONResponse(ends.get(kind, {"status": "Succeeded", "resourceLocation": f"/v1/results/{number}"}))

    async def result(self, request: Request) -> Response:
        self.seen.append(f"{request.method} {request.url.path}")
        if request.headers.get("x-key") != KEY and request.query_params.get("key") != KEY:
            return JSONResponse({"detail": "no key"}, 401)
        return JSONResponse(RESULT)


def document(location: str = "header") -> dict[str, Any]:
    """Return the document of the API, whose key stands in a header or in the query."""
    steps = {"name": "steps", "in": "query", "schema": {"type": "string"}}
    kind = {"name": "kind", "in": "path", "required": True, "schema": {"type": "string"}}
    number = {"name": "number", "in": "path", "required": True, "schema": {"type": "string"}}
    name = "X-Key" if location == "header" else "key"
    return {
        "openapi": "3.1.0",
        "info": {"title": "Jobs", "version": "1"},
        "servers": [{"url": "http://api.test/v1"}],
        "security": [{"key": []}],
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": location, "name": name}}},
        "paths": {
            "/jobs/{kind}": {
                "parameters": [kind, steps],
                "post": {"operationId": "startJob"},
                "get": {"operationId": "readJobs"},
                "put": {"operationId": "putJob"},
            },
            "/jobs/{kind}/{number}": {
                "parameters": [kind, number],
                "get": {"operationId": "getJob"},
                "delete": {"operationId": "deleteJob"},
            },
        },
    }
