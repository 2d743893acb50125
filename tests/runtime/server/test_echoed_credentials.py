"""An API that echoes its credential: no result and no notification of a server has it."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.protocol import Session
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import SecurityScheme
from openapi_mcp.runtime.upstream.client import Upstream
from tests.runtime.making import tool
from tests.runtime.pets import DESCRIPTION
from tests.runtime.wire import call

KEY = "sk-live-0123456789"
SCHEME = SecurityScheme(name="key", type="apiKey", variable="API_KEY", location="header", parameter="X-Key")


def messages(content_type: str, status: int, body: str) -> str:
    """Return all that a client of an echoing API gets for one call with progress: notifications and the reply."""

    def respond(request: httpx.Request) -> httpx.Response:
        echo = request.headers["x-key"]
        headers = {"content-type": content_type, "x-echo": echo, "etag": echo}
        return httpx.Response(status, headers=headers, text=body.replace("KEY", echo))

    options = RequestOptions(credentials={"key": KEY})
    upstream = Upstream(transport=httpx.MockTransport(respond))
    server = Server(Catalog([tool("/x", security=((SCHEME,),))]), DESCRIPTION, upstream, options=options)
    sent: list[bytes] = []

    async def notify(message: bytes) -> None:
        sent.append(message)

    async def once() -> None:
        message: Any = call(1, "x")
        message["params"]["_meta"] = {"progressToken": 7}
        step = server.receive(message, Session("2025-11-25", log_level="debug"))
        reply = await server.perform(step, notify)
        sent.append(reply.body or b"")

    asyncio.run(once())
    return "\n".join(json.dumps(json.loads(message), ensure_ascii=False) for message in sent)


@pytest.mark.parametrize("status", [200, 401, 500])
@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", '{"key": "KEY", "KEY": ["KEY"]}'),
        ("text/plain", "your key is KEY"),
        ("text/event-stream", "data: KEY\n\ndata: KEY\n\n"),
        ("application/json", ""),
    ],
)
def test_echoed_credential_is_in_no_message(content_type: str, body: str, status: int) -> None:
    text = messages(content_type, status, body)
    assert KEY not in text
    assert "***" in text or not body


def test_hidden_characters_are_in_no_message() -> None:
    text = messages("text/event-stream", 200, "data: \x1b[2J\u202e\n\n")
    assert not {"\x1b", "\u202e"} & set(text)
    assert "\\u001b" not in text.replace("\\\\u001b", "")
