"""Routes of the sample API, an ordinary REST API without any relation to MCP.

Its document is specs/petstore.yaml, which it also serves at /openapi.yaml. Operations that change the shop require the
header `X-API-Key: open-sesame` (or the key in the environment variable PETSTORE_KEY).
"""

import hmac
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from .shop import STATES, NoSuchPet, Shop, as_pet

DOCUMENT = Path(__file__).parents[2] / "specs" / "petstore.yaml"
CHECKS: dict[str, Callable[[Any], bool]] = {
    "name": lambda value: isinstance(value, str) and 0 < len(value) <= 60,
    "status": lambda value: value in STATES,
    "tags": lambda value: isinstance(value, list) and all(isinstance(tag, str) for tag in value),
    "price": lambda value: value is None or (isinstance(value, int | float) and value >= 0),
}


class Api:
    """The operations of the document, one method each, over one shop."""

    def __init__(self, shop: Shop, key: str) -> None:
        self.shop = shop
        self.key = key

    def routes(self) -> list[Route]:
        """Return the routes to the methods."""
        return [
            Route("/pets", self.list_pets),
            Route("/pets", self.create_pet, methods=["POST"]),
            Route("/pets/{pet_id:int}", self.get_pet),
            Route("/pets/{pet_id:int}", self.update_pet, methods=["PATCH"]),
            Route("/pets/{pet_id:int}", self.delete_pet, methods=["DELETE"]),
            Route("/pets/{pet_id:int}/photo", self.get_photo),
            Route("/pets/{pet_id:int}/photo", self.put_photo, methods=["PUT"]),
            Route("/contact", self.send_message, methods=["POST"]),
            Route("/inventory", self.get_inventory),
            Route("/openapi.yaml", self.get_document),
        ]

    async def list_pets(self, request: Request) -> Response:
        query = request.query_params
        states = query.getlist("status")
        if unknown := [state for state in states if state not in STATES]:
            raise HTTPException(400, f"status cannot be {unknown[0]}")
        limit, offset = number_of(request, "limit", 20), number_of(request, "offset", 0)
        return JSONResponse(self.shop.search(query.get("q", ""), states, query.get("tag", ""), limit, offset))

    async def create_pet(self, request: Request) -> Response:
        self.check_key(request)
        fields = await fields_of(request)
        if "name" not in fields:
            raise HTTPException(400, "a pet needs a name")
        pet = as_pet(self.shop.create(fields))
        return JSONResponse(pet, 201, headers={"Location": f"/pets/{pet['id']}"})

    async def get_pet(self, request: Request) -> Response:
        return JSONResponse(as_pet(self.shop.get(request.path_params["pet_id"])))

    async def update_pet(self, request: Request) -> Response:
        self.check_key(request)
        return JSONResponse(as_pet(self.shop.update(request.path_params["pet_id"], await fields_of(request))))

    async def delete_pet(self, request: Request) -> Response:
        self.check_key(request)
        self.shop.delete(request.path_params["pet_id"])
        return Response(status_code=204)

    async def get_photo(self, request: Request) -> Response:
        photo = self.shop.get(request.path_params["pet_id"])["photo"]
        if photo is None:
            raise HTTPException(404, "this pet has no photo")
        return Response(photo, media_type="image/png")

    async def put_photo(self, request: Request) -> Response:
        self.check_key(request)
        photo = await request.body()
        if not photo.startswith(b"\x89PNG"):
            raise HTTPException(415, "the photo is not a PNG")
        self.shop.store_photo(request.path_params["pet_id"], photo)
        return Response(status_code=204)

    async def send_message(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode())
        if not form.get("from") or not form.get("text"):
            raise HTTPException(400, "a message needs from and text")
        topics = ", ".join(form.get("topics", ["anything"]))
        return PlainTextResponse(f"Thank you, {form['from'][0]}. We answer questions about {topics} within a day.\n")

    async def get_inventory(self, _: Request) -> Response:
        return JSONResponse(self.shop.inventory())

    async def get_document(self, _: Request) -> Response:
        return FileResponse(DOCUMENT, media_type="application/yaml")

    def check_key(self, request: Request) -> None:
        """Raise HTTPException 401 unless the request has the key."""
        if not hmac.compare_digest(request.headers.get("x-api-key", "").encode(), self.key.encode()):
            raise HTTPException(401, "the header X-API-Key is missing or wrong")


async def fields_of(request: Request) -> dict[str, Any]:
    """Return the JSON object in the body, with fields of a pet. Raises HTTPException 400 for any other body."""
    try:
        body = await request.json()
    except ValueError:
        raise HTTPException(400, "the body is not JSON") from None
    if not isinstance(body, dict):
        raise HTTPException(400, "the body is not an object")
    for field, value in body.items():
        if field not in CHECKS or not CHECKS[field](value):
            raise HTTPException(400, f"{field} cannot be {json.dumps(value)}")
    return body


def number_of(request: Request, name: str, default: int) -> int:
    """Return a query parameter that is a natural number. Raises HTTPException 400 for any other value."""
    value = request.query_params.get(name, str(default))
    if not value.isdecimal():
        raise HTTPException(400, f"{name} is not a number: {value}")
    return int(value)


def answer_error(_: Request, error: Exception) -> Response:
    """Answer any HTTPException in the form of the document's schema Error."""
    status, detail = (error.status_code, error.detail) if isinstance(error, HTTPException) else (500, "broken")
    return JSONResponse({"error": detail}, status)


def answer_missing_pet(_: Request, error: Exception) -> Response:
    """Answer a request for a pet that does not exist with 404."""
    return JSONResponse({"error": str(error)}, 404)


def create_app(database: Path, key: str = "open-sesame") -> Starlette:
    """Return the API over one database file, which is created with the first pets if it does not exist."""
    api = Api(Shop(database), key)
    return Starlette(
        routes=api.routes(), exception_handlers={HTTPException: answer_error, NoSuchPet: answer_missing_pet}
    )
