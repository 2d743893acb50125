"""`lenient`: what does not fit the document is sent, and the result, `_meta` and the log say so."""

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from openapi_mcp.code_mode.tools import function_value
from openapi_mcp.runtime.declarations import Toolbox, query
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.deviations import DEVIATIONS
from openapi_mcp.runtime.server.functions import Api, ToolFunction
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.toolkit import Result, Upstream
from openapi_mcp.runtime.types import CallToolResult
from tests.compiling import STRING, json_body, tool_of
from tests.runtime.pets import DESCRIPTION

INTEGER = {"type": "integer"}
NOTE = "The request was sent although it does not fit the document (lenient):\n"


class Sent:
    """A lenient server of one tool, its last result, and the requests that its API received."""

    def __init__(
        self,
        api_tool: Any,
        *,
        lenient: bool = True,
        function: ToolFunction[Any, Any] | None = None,
        response: httpx.Response | None = None,
    ) -> None:
        self.tool = api_tool
        self.response = response or httpx.Response(200, json={"ok": True})
        self.requests: list[httpx.Request] = []
        self.server = Server(
            Catalog([api_tool]),
            DESCRIPTION,
            Upstream(transport=httpx.MockTransport(self._respond)),
            options=RequestOptions(base_url="http://api.test", lenient=lenient),
            functions={api_tool.name: function} if function else {},
        )

    def _respond(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return self.response

    def call(self, arguments: Mapping[str, Any]) -> CallToolResult:
        return asyncio.run(self.server.call(self.tool.name, arguments))


def parameter(name: str, location: str, schema: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": location, "schema": schema, **more}


ID = parameter("id", "path", INTEGER, required=True)
LIMIT = parameter("limit", "query", {"type": "integer", "maximum": 10}, required=True)


def get_tool() -> Any:
    return tool_of({"parameters": [ID, LIMIT]}, "/x/{id}", "get")


@pytest.mark.parametrize(
    ("arguments", "url", "sentence"),
    [
        ({"id": 1, "limit": 50}, "/x/1?limit=50", "`limit` must be at most 10, not 50."),
        ({"id": "a", "limit": 5}, "/x/a?limit=5", '`id` must be an integer, not "a".'),
        ({"id": "1", "limit": "x"}, "/x/1?limit=x", '`limit` must be an integer, not "x".'),
        ({"id": 1}, "/x/1", "`limit` (an integer) is required and missing."),
    ],
)
def test_arguments_that_do_not_fit_are_sent_and_reported_first(
    arguments: dict[str, Any], url: str, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    sent = Sent(get_tool())
    with caplog.at_level(logging.WARNING, "openapi_mcp"):
        result = sent.call(arguments)
    assert [request.url.raw_path.decode() for request in sent.requests] == [url]
    assert not result.is_error
    assert result.content[0]["text"] == NOTE + sentence
    assert result.meta[DEVIATIONS] == [sentence]
    assert json.loads(result.content[1]["text"]) == {"ok": True}
    assert sentence in caplog.text
    assert function_value(sent.tool, result) == ({"ok": True}, [NOTE + sentence])


def test_fitting_arguments_have_no_note() -> None:
    result = Sent(get_tool()).call({"id": 1, "limit": "5"})
    assert DEVIATIONS not in result.meta
    assert json.loads(result.content[0]["text"]) == {"ok": True}


def test_strict_server_refuses_the_same_call() -> None:
    sent = Sent(get_tool(), lenient=False)
    assert sent.call({"id": 1}).is_error
    assert sent.requests == []


@pytest.mark.parametrize("arguments", [{"limit": 5}, {"id": "..", "limit": 5}, {"id": "", "limit": 50}])
def test_path_that_cannot_be_written_is_refused(arguments: dict[str, Any]) -> None:
    sent = Sent(get_tool())
    result = sent.call(arguments)
    assert result.is_error
    assert "`id`" in result.content[0]["text"]
    assert sent.requests == []


def test_undeclared_argument_is_sent_in_the_query() -> None:
    sent = Sent(get_tool())
    result = sent.call({"id": 1, "limit": 5, "expand": ["a", "b"]})
    assert str(sent.requests[0].url) == "http://api.test/x/1?limit=5&expand=a&expand=b"
    assert "There is no `expand`" in result.meta[DEVIATIONS][0]
    assert result.meta[DEVIATIONS][1:] == ["`expand` is sent in the query."]
    assert result.content[0]["text"] == NOTE + "\n".join(result.meta[DEVIATIONS])
    assert json.loads(result.content[1]["text"]) == {"ok": True}


def test_misspelled_and_undeclared_properties_are_sent_in_the_body() -> None:
    closed = {"type": "object", "properties": {"name": STRING}, "required": ["name"], "additionalProperties": False}
    for schema in (closed, {**closed, "additionalProperties": True}):
        sent = Sent(tool_of(json_body(schema)))
        result = sent.call({"nmae": "a"})
        assert json.loads(sent.requests[0].content) == {"nmae": "a"}
        assert "did you mean `name`?" in result.content[0]["text"]


def test_call_without_a_required_credential_is_sent_and_reported() -> None:
    fields = {"parameters": [parameter("key", "query", STRING, required=True)], "security": [{"key": []}, {}]}
    scheme = {"key": {"type": "apiKey", "in": "query", "name": "key"}}
    sent = Sent(tool_of(fields, method="get", components={"securitySchemes": scheme}))
    result = sent.call({})
    assert str(sent.requests[0].url) == "http://api.test/x"
    (sentence,) = result.meta[DEVIATIONS]
    assert sentence.startswith("This operation requires the query parameter `key`, whose credential is not configured.")
    assert "not sent" not in sentence


def test_error_answer_keeps_the_note_first() -> None:
    result = Sent(get_tool(), response=httpx.Response(400, text="no")).call({"id": 1})
    assert result.is_error
    assert result.content[0]["text"].startswith(NOTE)
    assert "400" in result.content[1]["text"]


tools = Toolbox(base_url="http://api.test")


@tools.get("/pets", inputs=[query("limit", INTEGER, required=True), query("q", STRING)])
async def list_pets(api: Api, *, limit: int, q: str | None = None) -> Result[Any]:
    """List pets."""
    return await api.call(list_pets, limit=limit, q=q)


def test_function_gets_values_that_do_not_fit() -> None:
    sent = Sent(list_pets.tool, function=list_pets)
    result = sent.call({"limit": "many"})
    assert str(sent.requests[0].url) == "http://api.test/pets?limit=many"
    assert result.meta[DEVIATIONS] == ['`limit` must be an integer, not "many".']


@pytest.mark.parametrize("arguments", [{}, {"limit": 5, "other": 1}])
def test_function_that_cannot_be_called_is_not_bypassed(arguments: dict[str, Any]) -> None:
    sent = Sent(list_pets.tool, function=list_pets)
    assert sent.call(arguments).is_error
    assert sent.requests == []
