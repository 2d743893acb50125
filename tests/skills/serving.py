"""A server with a skill, and requests of a client of either era."""

import asyncio
import json
from pathlib import Path
from typing import Any

import yaml

from openapi_mcp import Bridge, Config
from openapi_mcp.runtime.protocol import Session
from openapi_mcp.runtime.server.grants import GRANT, Grant

HANDSHAKE = Session(revision="2025-11-25")
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def bridge_of(folder: Path, document: dict[str, Any] | str, **options: Any) -> Bridge:
    """Return the bridge of a document."""
    source = folder / "document.yaml"
    source.write_text(document if isinstance(document, str) else yaml.safe_dump(document, sort_keys=False))
    return Bridge.open(Config.from_options(str(source), {"no_cache": True, **options}))


def response(
    bridge: Bridge,
    method: str,
    *,
    session: Session | None = None,
    headers: dict[str, str] | None = None,
    scopes: frozenset[str] | None = None,
    **params: Any,
) -> Any:
    """Return the response to a request; of the stateless era without a session, with a grant where there are scopes."""
    envelope = {"_meta": _META} if session is None else {}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**envelope, **params}}

    async def handle() -> Any:
        if scopes is not None:
            GRANT.set(Grant("somebody", scopes))
        server = bridge.server()
        try:
            reply = await server.handle(message, session or Session(), headers)
            return json.loads(reply.body or b"null")
        finally:
            await server.aclose()

    return asyncio.run(handle())


def result(bridge: Bridge, method: str, **options: Any) -> Any:
    """Return the result of a request that succeeds."""
    answer = response(bridge, method, **options)
    assert "error" not in answer, answer
    return answer["result"]


def files(bridge: Bridge, **options: Any) -> dict[str, str]:
    """Return the texts of a skill's files by their paths, each read as a client reads it."""
    (skill,) = result(bridge, "skills/list", **options)["skills"]
    root, uris = skill["uri"].removesuffix("SKILL.md"), [each["uri"] for each in skill["resources"]]
    read = [result(bridge, "resources/read", uri=uri, **options)["contents"][0] for uri in uris]
    return {uri.removeprefix(root): contents["text"] for uri, contents in zip(uris, read, strict=True)}
