"""An API whose answers do not fit its document: any JSON value under any declared schema, for the official clients."""

import json
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def document(schemas: list[Any]) -> dict[str, Any]:
    """Return a document with one operation for each schema: `answer0`, `answer1` and so on."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Answers", "version": "1"},
        "paths": {
            f"/answers/{number}": {
                "get": {
                    "operationId": f"answer{number}",
                    "responses": {"200": {"description": "d", "content": {"application/json": {"schema": schema}}}},
                }
            }
            for number, schema in enumerate(schemas)
        },
    }


def api(values: list[Any]) -> Starlette:
    """Return an API that answers `/answers/{number}` with the value of that number."""

    async def answer(request: Request) -> Response:
        body = json.dumps(values[request.path_params["number"]])
        return Response(body, media_type="application/json")

    return Starlette(routes=[Route("/answers/{number:int}", answer)])
