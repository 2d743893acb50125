"""The API behind workshop.yaml: jobs, what is done for them bit by bit, and one that never gets done.

It tells a test what it cannot see itself: that somebody waits for a job, and that they left without an answer. And it
says no more of a job before it hears that what it said was seen.
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
PATIENCE = 20
"""Seconds that the API waits for its test."""


class Workshop:
    """`left(job)` is set once a client that waited for a job has gone away."""

    def __init__(self) -> None:
        self._begun: defaultdict[int, threading.Event] = defaultdict(threading.Event)
        self._left: defaultdict[int, threading.Event] = defaultdict(threading.Event)
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
                Route("/seen/{job:int}", self._go_on),
            ]
        )

    def left(self, job: int) -> threading.Event:
        """Set once somebody who waited for this job has left."""
        return self._left[job]

    async def _list(self, request: Request) -> Response:
        states = request.query_params.get("state", "open,done").split(",")
        return JSONResponse([job for job in JOBS.values() if job["state"] in states])

    async def _create(self, request: Request) -> Response:
        return JSONResponse({"id": 3, "state": "open", **await request.json()}, 201)

    async def _get(self, request: Request) -> Response:
        job = JOBS.get(request.path_params["job"])
        return JSONResponse(job) if job else JSONResponse({"reason": "nobody brought that job"}, MISSING)

    async def _log(self, request: Request) -> Response:
        entries = self._entries(request.path_params["job"], "{}\n")
        return StreamingResponse(entries, headers={"content-type": "application/x-ndjson"})

    async def _news(self, request: Request) -> Response:
        entries = self._entries(request.path_params["job"], "data: {}\n\n")
        return StreamingResponse(entries, headers={"content-type": "text/event-stream"})

    async def _entries(self, job: int, written: str) -> AsyncIterator[str]:
        """Each entry once the one before it was seen, and the end once all were."""
        for line in LINES:
            yield written.replace("{}", line)
            assert await asyncio.to_thread(self._seen[job].acquire, timeout=PATIENCE), "nobody saw the last entry"

    async def _result(self, request: Request) -> Response:
        job = request.path_params["job"]
        self._begun[job].set()
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self._left[job].set()
        return Response()

    async def _wait_for_begin(self, request: Request) -> Response:
        """Answers once somebody waits for a job, however early it is asked."""
        begun = await asyncio.to_thread(self._begun[request.path_params["job"]].wait, PATIENCE)
        return Response(status_code=204 if begun else 504)

    async def _go_on(self, request: Request) -> Response:
        """Hears that an entry of a job was seen."""
        self._seen[request.path_params["job"]].release()
        return Response(status_code=204)
