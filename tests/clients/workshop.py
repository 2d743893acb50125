"""The API of workshop.yaml: jobs, streams of the work done for them, and a call that is never answered.

It reports to tests what they cannot see themselves: when a client waits for the result of a job, and when that client
has disconnected. A stream sends its next entry when the test confirms the previous one (`/seen/{job}`).
"""

import asyncio
import threading
from collections import defaultdict
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

JOBS = {
    1: {"id": 1, "title": "Mend a chair", "state": "open", "hours": 2.5},
    2: {"id": 2, "title": "Paint a door", "state": "done"},
}
DONE = ("sawn", "planed", "glued", "polished")
LINES = tuple(f'{{"done":"{each}"}}' for each in DONE)
MISSING = 404
MAX_WAIT_SECONDS = 20
"""Time that the API waits for a test."""


class Workshop:
    """The API as an ASGI application, `app`, with the events that tests wait for."""

    def __init__(self) -> None:
        self._begun: defaultdict[int, threading.Event] = defaultdict(threading.Event)
        self._disconnected: defaultdict[int, threading.Event] = defaultdict(threading.Event)
        self._seen: defaultdict[int, threading.Semaphore] = defaultdict(lambda: threading.Semaphore(0))
        self.app = Starlette(
            routes=[
                Route("/jobs", self._list, methods=["GET"]),
                Route("/jobs", self._create, methods=["POST"]),
                Route("/jobs/{job:int}", self._get),
                Route("/jobs/{job:int}/log", self._log),
                Route("/jobs/{job:int}/news", self._news),
                Route("/jobs/{job:int}/result", self._result),
                Route("/begun/{job:int}", self._wait_for_begin),
                Route("/seen/{job:int}", self._confirm),
            ]
        )

    def disconnection(self, job: int) -> threading.Event:
        """Return the event that is set when a client that waited for this job has disconnected."""
        return self._disconnected[job]

    async def _list(self, request: Request) -> Response:
        states = request.query_params.get("state", "open,done").split(",")
        return JSONResponse([job for job in JOBS.values() if job["state"] in states])

    async def _create(self, request: Request) -> Response:
        return JSONResponse({"id": 3, "state": "open", **await request.json()}, 201)

    async def _get(self, request: Request) -> Response:
        job = JOBS.get(request.path_params["job"])
        return JSONResponse(job) if job else JSONResponse({"reason": "there is no such job"}, MISSING)

    async def _log(self, request: Request) -> Response:
        entries = self._entries(request.path_params["job"], "{}\n")
        return StreamingResponse(entries, headers={"content-type": "application/x-ndjson"})

    async def _news(self, request: Request) -> Response:
        entries = self._entries(request.path_params["job"], "data: {}\n\n")
        return StreamingResponse(entries, headers={"content-type": "text/event-stream"})

    async def _entries(self, job: int, written: str) -> AsyncIterator[str]:
        """Yield each entry after the previous one was confirmed, and end after the last one was."""
        for line in LINES:
            yield written.replace("{}", line)
            confirmed = await asyncio.to_thread(self._seen[job].acquire, timeout=MAX_WAIT_SECONDS)
            assert confirmed, "the test did not confirm the last entry"

    async def _result(self, request: Request) -> Response:
        job = request.path_params["job"]
        self._begun[job].set()
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self._disconnected[job].set()
        return Response()

    async def _wait_for_begin(self, request: Request) -> Response:
        """Answer 204 as soon as a client waits for the result of a job, 504 if none does in time."""
        begun = await asyncio.to_thread(self._begun[request.path_params["job"]].wait, MAX_WAIT_SECONDS)
        return Response(status_code=204 if begun else 504)

    async def _confirm(self, request: Request) -> Response:
        """Accept the confirmation of one entry of a job."""
        self._seen[request.path_params["job"]].release()
        return Response(status_code=204)
