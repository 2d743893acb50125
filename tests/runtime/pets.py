"""A few tools, their results, and their API, for tests that need any."""

import asyncio
import threading

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openapi_mcp.runtime.protocol import ServerDescription
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import Argument, Tool
from openapi_mcp.runtime.types import CallToolResult, Implementation, audio_content, error_result, text_content
from openapi_mcp.runtime.upstream.client import Upstream

DESCRIPTION = ServerDescription(
    implementation=Implementation(name="pets", version="1.2.0", title="Pet store"), instructions="Ask for pets."
)

NO_ARGUMENTS = {"type": "object", "additionalProperties": False}
GET_PET = Tool(
    name="getPet",
    title="Get a pet",
    description="One pet by its number.",
    input_schema={"type": "object", "properties": {"petId": {"type": "integer"}}, "required": ["petId"]},
    output_schema={"type": "object", "properties": {"name": {"type": "string"}}},
    annotations={"readOnlyHint": True},
    method="GET",
    path="/pets/{petId}",
    arguments=(Argument(name="petId", location="path", required=True),),
)
LIST_PETS = Tool(
    name="listPets",
    description="All pets.",
    input_schema=NO_ARGUMENTS,
    output_schema={"type": "array", "items": {"$ref": "#/$defs/Pet"}, "$defs": {"Pet": {"type": "object"}}},
    annotations={},
    method="GET",
    path="/pets",
)
SING = Tool(name="sing", description="A song.", input_schema=NO_ARGUMENTS, annotations={}, method="GET", path="/song")
TOOLS = (GET_PET, LIST_PETS, SING)
WAIT = Tool(
    name="wait", description="Never answers.", input_schema=NO_ARGUMENTS, annotations={}, method="GET", path="/wait"
)

RESULTS = {
    "getPet": CallToolResult(content=(text_content('{"name":"Minka"}'),), structured_content={"name": "Minka"}),
    "listPets": CallToolResult(content=(text_content('[{"name":"Minka"}]'),), structured_content=[{"name": "Minka"}]),
    "sing": CallToolResult(content=(audio_content(b"la la", "audio/wav"),)),
}
NO_PET = error_result("404 Not Found")


class PetApi:
    """The API of these tools.

    `/wait` sets `waiting` and then waits: it sets `disconnected` if its client leaves, or answers once `may_answer` is
    set, and then sets `served`.
    """

    def __init__(self) -> None:
        self.waiting = threading.Event()
        self.disconnected = threading.Event()
        self.may_answer = threading.Event()
        self.served = threading.Event()
        self.app = Starlette(
            routes=[
                Route("/pets", self._list),
                Route("/pets/{pet_id:int}", self._get),
                Route("/song", self._sing),
                Route("/wait", self._wait),
            ]
        )

    async def _list(self, _request: Request) -> Response:
        return JSONResponse([{"name": "Minka"}])

    async def _get(self, request: Request) -> Response:
        exists = request.path_params["pet_id"] != 404
        return JSONResponse({"name": "Minka"}) if exists else JSONResponse({"detail": "no such pet"}, 404)

    async def _sing(self, _request: Request) -> Response:
        return Response(b"la la", media_type="audio/wav")

    async def _wait(self, request: Request) -> Response:
        self.waiting.set()
        while not self.may_answer.is_set():
            if await request.is_disconnected():
                self.disconnected.set()
                return Response()
            await asyncio.sleep(0.005)  # neither of the two can be awaited
        self.served.set()
        return Response()

    def reset(self) -> None:
        """Clear all events."""
        for event in (self.waiting, self.disconnected, self.may_answer, self.served):
            event.clear()


def pet_server(base_url: str, upstream: Upstream | None = None) -> Server:
    """Return an MCP server of all these tools over the API at `base_url`."""
    catalog = Catalog([*TOOLS, WAIT])
    return Server(catalog, DESCRIPTION, upstream or Upstream(), options=RequestOptions(base_url=base_url))
