"""A stand-in for GitHub on 127.0.0.1: its document, and two repositories as its API answers for them."""

from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

DOCUMENTS: Final = "https://raw.githubusercontent.com"
API: Final = "https://api.github.com"
_PATH: Final = "/github/rest-api-description/main/descriptions/api.github.com/api.github.com.json"


def github(document: Path) -> Starlette:
    """Return an application that serves GitHub's document, with itself as the API, and the API's answers."""
    text = document.read_text()

    async def description(request: Request) -> Response:
        base_url = f"{request.url.scheme}://{request.url.netloc}"
        return Response(text.replace(f'"{API}"', f'"{base_url}"'), media_type="application/json")

    async def repository(request: Request) -> Response:
        return JSONResponse(_repository(**request.path_params))

    return Starlette(routes=[Route(_PATH, description), Route("/repos/{owner}/{name}", repository)])


def _repository(owner: str, name: str) -> dict[str, Any]:
    """Return a repository with a few of the fields of GitHub's answer."""
    return {
        "name": name,
        "full_name": f"{owner}/{name}",
        "private": False,
        "html_url": f"https://github.com/{owner}/{name}",
        "language": "Python",
        "default_branch": "main",
    }
