"""The transcripts of tests/conversations, replayed: the exact reply of each revision to each message.

A line `{"in": message}` is a message that arrives, with `headers` if it came over HTTP. The line `{"out": reply}` after
it is the reply, null for no reply, with the HTTP `status` if there are headers, and with `before` for the messages that
are sent before the reply. An `out` with a `session` issues that session id, which later messages send as
`mcp-session-id`. A line `{"server": {…}}` changes the server's description from there on. Lines that begin with `#` are
headings.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

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
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.types import Implementation, JsonObject
from tests.runtime.pets import DESCRIPTION, NO_PET, RESULTS, TOOLS

FOLDER = Path(__file__).parents[2] / "conversations"
TRANSCRIPTS = sorted(FOLDER.glob("*/*.jsonl"))
CATALOG = Catalog(TOOLS, page_size=2)


@dataclass
class Conversation:
    """A server that executes nothing, with the state of a transport: one client on stdio, several over HTTP."""

    description: ServerDescription = DESCRIPTION
    session: Session = field(default_factory=Session)
    sessions: dict[str, Session] = field(default_factory=dict)

    def describe(self, changes: JsonObject) -> None:
        """Change the server's description."""
        server = changes.pop("implementation", None)
        self.description = replace(self.description, **changes)
        if server is not None:
            implementation = Implementation(**{**server, "icons": tuple(server.get("icons", ()))})
            self.description = replace(self.description, implementation=implementation)

    def receive_entry(self, entry: JsonObject, session_id: str | None) -> JsonObject:
        """Return the reply to a message.

        Over HTTP the session that begins with the message gets the id `session_id`.
        """
        headers = entry.get("headers")
        if headers is None:
            step = receive(self.description, self.session, entry["in"])
            self.session = step.session
            return outcome(step, over_http=False)
        token = "" if is_stateless(entry["in"], headers) else headers.get("mcp-session-id", "")
        step = receive(self.description, self.sessions.get(token, Session()), entry["in"], headers)
        if token in self.sessions:
            self.sessions[token] = step.session
        new_session = session_id if step.opens_session else None
        if new_session is not None:
            self.sessions[new_session] = step.session._replace(id=new_session)
        return {**outcome(step, over_http=True), "status": step.status} | (
            {"session": new_session} if new_session else {}
        )


def outcome(step: Step, *, over_http: bool) -> JsonObject:
    """Return the reply to a step, from fixed results, and the messages before it."""
    before = list(messages_before(step, over_http=over_http))
    return {"out": perform(step)} | ({"before": before} if before else {})


def messages_before(step: Step, *, over_http: bool) -> Iterator[JsonObject]:
    """Yield a log message for a call with an argument `log`, and all messages of a subscription over its life.

    On stdio the server cancels a subscription at its end; over HTTP the stream ends instead.
    """
    match step.action:
        case ToolCall(arguments={"log": level}) as call:
            message = call.log(level, {"retries": 1}, "openapi-mcp.test")
            yield from [] if message is None else [message]
        case Subscription() as subscription:
            yield subscription.acknowledgement()
            yield from [subscription.list_changed()] if subscription.tools_list_changed else []
            yield from [] if over_http else [subscription.cancellation()]


def perform(step: Step) -> Any:
    """Return the reply to a step, from fixed results; a cancellation is shown as data."""
    if step.batch:
        return [reply for part in step.batch if (reply := perform(part)) is not None] or None
    match step.action:
        case ToolCall() as call:
            return reply_to_call(call)
        case ToolList() as request:
            return reply_to_list(request)
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


def reply_to_list(request: ToolList) -> Any:
    try:
        return request.reply(request.render(*(((), None) if request.is_past_end else CATALOG.page(request.cursor))))
    except CursorError as failure:
        return request.refuse(str(failure))


def lines(transcript: Path) -> Iterator[tuple[int, JsonObject]]:
    """Yield the entries of a transcript, each with its line number."""
    for number, line in enumerate(transcript.read_text("utf-8").splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            yield number, json.loads(line)


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_replies_equal_the_transcript(transcript: Path) -> None:
    conversation = Conversation()
    entries = lines(transcript)
    for number, entry in entries:
        if "server" in entry:
            conversation.describe(entry["server"])
            continue
        _, expected = next(entries)
        position = f"{transcript.name}:{number}"
        assert (position, conversation.receive_entry(entry, expected.get("session"))) == (position, expected)


def test_every_revision_has_transcripts() -> None:
    assert {path.parent.name for path in TRANSCRIPTS} == {*HANDSHAKE, *STATELESS}
