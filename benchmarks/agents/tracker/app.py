"""The application: its routes, and its answers to errors of the store."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from . import people, projects, tickets, time_entries
from .seed import seed
from .store import NotFoundError, StaleError, Store


def create_app(database: Path) -> FastAPI:
    """Return the API over one database file, which is created with the first rows if it does not exist."""
    is_new = not database.exists()
    store = Store(database)
    if is_new:
        seed(store)
    app = FastAPI(
        title="Tracker",
        version="1.0.0",
        description="Projects, tickets, and the time spent on them.",
        generate_unique_id_function=lambda route: route.name,  # programs of all modes call operations by these names
    )
    app.state.store = store
    for router in (
        projects.router,
        tickets.router,
        tickets.comments,
        tickets.attachments,
        people.users,
        people.teams,
        time_entries.router,
        projects.labels,
        projects.policy,
        projects.jobs,
    ):
        app.include_router(router)
    app.add_exception_handler(NotFoundError, _answer(404))
    app.add_exception_handler(StaleError, _answer(412))
    return app


def _answer(status: int) -> Callable[[Request, Exception], Awaitable[JSONResponse]]:
    async def answer(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, status)

    return answer
