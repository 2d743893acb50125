"""The transcripts of tests/conversations, replayed: what each revision says to what it hears, word for word.

A line `{"in": message}` is a message that arrives, with `headers` where it came over HTTP; the line `{"out": reply}`
after it is the reply, null for silence, with the HTTP `status` where there are headers, and with `before` where
something is said before the reply. An `out` with a `session` gives out that session id, which later messages send as
`mcp-session-id`. A line `{"server": {…}}` changes what the server says of itself from there on. Lines that begin with
`#` are comments.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.runtime.catalog import Catalog
from openapi_mcp.runtime.errors import CursorError
from openapi_mcp.runtime.protocol import (
    HANDSHAKE,
    STATELESS,
    Cancellation,
    ServerDescription,
    Session,
    Step,
    Subscription,
    ToolCall,
    ToolList,
    is_stateless,
    receive,
)
from openapi_mcp.runtime.types import Implementation, JsonObject
from tests.runtime.pets import DESCRIPTION, NO_PET, RESULTS, TOOLS

FOLDER = Path(__file__).parents[2] / "conversations"
TRANSCRIPTS = sorted(FOLDER.glob("*/*.jsonl"))
CATALOG = Catalog(TOOLS, page_size=2)


@dataclass
class Conversation:
    """A server that does nothing, and what a transport remembers of its client: one on stdio, several over HTTP."""

    description: ServerDescription = DESCRIPTION
    session: Session = field(default_factory=Session)
    sessions: dict[str, Session] = field(default_factory=dict)

    def describe(self, changes: JsonObject) -> None:
        """The server says other things of itself."""
        server = changes.pop("implementation", None)
        self.description = replace(self.description, **changes)
        if server is not None:
            implementation = Implementation(**{**server, "icons": tuple(server.get("icons", ()))})
            self.description = replace(self.description, implementation=implementation)

    def hear(self, heard: JsonObject, opened: str | None) -> JsonObject:
        """What is said to a message; over HTTP a session that begins with it has the id `opened`."""
        headers = heard.get("headers")
        if headers is None:
            step = receive(self.description, self.session, heard["in"])
            self.session = step.session
            return said(step, over_http=False)
        token = "" if is_stateless(heard["in"], headers) else headers.get("mcp-session-id", "")
        step = receive(self.description, self.sessions.get(token, Session()), heard["in"], headers)
        if token in self.sessions:
            self.sessions[token] = step.session
        begun = opened if step.opens else None
        if begun is not None:
            self.sessions[begun] = replace(step.session, id=begun)
        return {**said(step, over_http=True), "status": step.status} | ({"session": begun} if begun else {})


def said(step: Step, *, over_http: bool) -> JsonObject:
    """The reply to a step, from canned results, and what is said before it."""
    before = list(said_before(step, over_http=over_http))
    return {"out": perform(step)} | ({"before": before} if before else {})


def said_before(step: Step, *, over_http: bool) -> Iterator[JsonObject]:
    """A log message where a call has an argument for its level; of a subscription all it can say, over its whole life.

    On stdio the server cancels it in the end; over HTTP the stream ends instead.
    """
    match step.action:
        case ToolCall(arguments={"log": level}) as call:
            message = call.log(level, {"retries": 1}, "openapi-mcp.test")
            yield from [] if message is None else [message]
        case Subscription() as subscription:
            yield subscription.acknowledged()
            yield from [subscription.changed()] if subscription.tools_list_changed else []
            yield from [] if over_http else [subscription.cancelled()]


def perform(step: Step) -> Any:
    """The reply to a step, from canned results; a cancellation shows as data."""
    if step.batch:
        return [reply for part in step.batch if (reply := perform(part)) is not None] or None
    match step.action:
        case ToolCall() as call:
            return reply_to_call(call)
        case ToolList() as wanted:
            return reply_to_list(wanted)
        case Subscription() as subscription:
            return subscription.reply()
        case Cancellation(request_id):
            return {"cancelled": request_id} | ({"session": step.session.id} if step.session.id else {})
    return step.reply


def reply_to_call(call: ToolCall) -> Any:
    tool = CATALOG.get(call.name)
    if tool is None:
        return call.refuse("There is no tool of that name.")
    result = NO_PET if call.arguments.get("petId") == 404 else RESULTS[tool.name]
    return call.reply(result, tool.output_schema)


def reply_to_list(wanted: ToolList) -> Any:
    try:
        return wanted.reply(wanted.render(*CATALOG.page(wanted.cursor)))
    except CursorError as failure:
        return wanted.refuse(str(failure))


def lines(transcript: Path) -> Iterator[tuple[int, JsonObject]]:
    """What a transcript says, each with the number of its line."""
    for number, line in enumerate(transcript.read_text("utf-8").splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            yield number, json.loads(line)


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_conversation_goes_as_written(transcript: Path) -> None:
    conversation = Conversation()
    written = lines(transcript)
    for number, heard in written:
        if "server" in heard:
            conversation.describe(heard["server"])
            continue
        _, expected = next(written)
        where = f"{transcript.name}:{number}"
        assert (where, conversation.hear(heard, expected.get("session"))) == (where, expected)


def test_every_revision_has_transcripts() -> None:
    assert {path.parent.name for path in TRANSCRIPTS} == {*HANDSHAKE, *STATELESS}
