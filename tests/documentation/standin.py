"""A stand-in for GitHub on 127.0.0.1: its document, and what its API answers."""

from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

DOCUMENTS: Final = "https://raw.githubusercontent.com"
API: Final = "https://api.github.com"
MOUNT: Final = "/api"
"""The path of the stand-in's API; all else is where documents are."""

_PATH: Final = "/github/rest-api-description/main/descriptions/api.github.com/api.github.com.json"


def github(document: Path) -> Starlette:
    """Return an application that serves GitHub's document, with itself as the API, and the API's answers."""
    text = document.read_text()

    async def description(request: Request) -> Response:
        base_url = f"{request.url.scheme}://{request.url.netloc}{MOUNT}"
        return Response(text.replace(f'"{API}"', f'"{base_url}"'), media_type="application/json")

    return Starlette(
        routes=[
            Route(_PATH, description),
            Route(MOUNT + "/repos/{owner}/{repo}", _repository),
            Route(MOUNT + "/repos/{owner}/{repo}/issues", _create_issue, methods=["POST"]),
            Route(MOUNT + "/search/issues", _search),
        ]
    )


async def _repository(request: Request) -> Response:
    """Answer with a few of the fields that GitHub's answer has."""
    name = "{owner}/{repo}".format_map(request.path_params)
    fields = {"full_name": name, "html_url": f"https://github.com/{name}", "language": "Python"}
    return JSONResponse({**fields, "private": False, "default_branch": "main"})


async def _search(_: Request) -> Response:
    return JSONResponse({"total_count": 0, "incomplete_results": False, "items": []})


async def _create_issue(request: Request) -> Response:
    name = "{owner}/{repo}".format_map(request.path_params)
    sent = await request.json()
    fields = {"number": 7001, "html_url": f"https://github.com/{name}/issues/7001", "state": "open"}
    return JSONResponse({**fields, "title": sent["title"], "body": sent["body"]}, 201)
