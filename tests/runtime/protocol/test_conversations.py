"""The transcripts of tests/conversations, replayed: what each revision says to what it hears, word for word.

A line `{"in": message}` is a message that arrives, with `headers` where it came over HTTP; the line `{"out": reply}`
after it is the reply, null for silence, with the HTTP `status` where there are headers. Lines that begin with `#` are
comments.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.runtime.catalog import Catalog
from openapi_mcp.runtime.errors import CursorError
from openapi_mcp.runtime.protocol import HANDSHAKE, STATELESS, Cancellation, Session, Step, ToolCall, ToolList, receive
from tests.runtime.pets import DESCRIPTION, NO_PET, RESULTS, TOOLS

FOLDER = Path(__file__).parents[2] / "conversations"
TRANSCRIPTS = sorted(FOLDER.glob("*/*.jsonl"))
CATALOG = Catalog(TOOLS, page_size=2)


def perform(step: Step) -> Any:
    """The reply to a step, from canned results; a cancellation shows as data."""
    if step.batch:
        return [reply for part in step.batch if (reply := perform(part)) is not None] or None
    match step.action:
        case ToolCall() as call:
            return reply_to_call(call)
        case ToolList() as wanted:
            return reply_to_list(wanted)
        case Cancellation(request_id):
            return {"cancelled": request_id}
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


def exchanges(transcript: Path) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    """The exchanges of a transcript, each with the number of the line that its message is on."""
    lines = [
        (number, json.loads(line))
        for number, line in enumerate(transcript.read_text("utf-8").splitlines(), start=1)
        if line.strip() and not line.startswith("#")
    ]
    assert len(lines) % 2 == 0, "each message has one line for its reply"
    for (number, heard), (_, said) in zip(lines[::2], lines[1::2], strict=True):
        yield number, heard, said


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_conversation_goes_as_written(transcript: Path) -> None:
    session = Session()
    for number, heard, said in exchanges(transcript):
        headers = heard.get("headers")
        step = receive(DESCRIPTION, session if headers is None else Session(), heard["in"], headers)
        session = step.session
        where = f"{transcript.name}:{number}"
        assert (where, perform(step)) == (where, said["out"])
        if headers is not None:
            assert (where, step.status) == (where, said["status"])


def test_every_revision_has_transcripts() -> None:
    assert {path.parent.name for path in TRANSCRIPTS} == {*HANDSHAKE, *STATELESS}
