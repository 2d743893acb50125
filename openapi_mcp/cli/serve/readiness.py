"""`/readyz` of a server of several APIs: whether new work is taken, and which APIs could be loaded."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from ...gateway.gateway import Gateway
from ...runtime.http.timeouts import SHUTDOWN_EVENT
from .reload import Reloader


def readiness(reloader: Reloader) -> Route:
    """Return the route: a line for the server, then one for each API. It is ready as long as one API is."""

    async def ready(request: Request) -> PlainTextResponse:
        stopping = request.scope.get("state", {}).get(SHUTDOWN_EVENT)
        is_stopping = stopping is not None and stopping.is_set()
        states = _states(reloader.served) if isinstance(reloader.served, Gateway) else {}
        lines = ["stopping" if is_stopping else "ok", *(f"{name}: {state}" for name, state in states.items())]
        return PlainTextResponse("\n".join(lines) + "\n", 503 if is_stopping else 200)

    return Route("/readyz", ready)


def _states(gateway: Gateway) -> dict[str, str]:
    failed = {failure.name: "old" if failure.is_old else "failed" for failure in gateway.failures}
    return dict.fromkeys(gateway.bridges, "ok") | failed
