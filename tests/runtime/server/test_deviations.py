"""`lenient`: what does not fit the document is sent, and the result, `_meta` and the log say so."""

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from openapi_mcp.code_mode.calls import function_value
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


AS_TEXT = "It is sent as text."
PDF = "data:application/pdf;base64,JVBERi0xLjQK"
FILE = {"type": "string", "format": "binary"}


def body_of(content: Mapping[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": content}}


def part(**schema: Any) -> dict[str, Any]:
    return body_of({"multipart/form-data": {"schema": {"type": "object", "properties": schema}}})


SENT_DEVIATIONS = [
    (  # a file of another type
        body_of({"image/png": {"schema": FILE}}),
        {"body": PDF},
        ("application/pdf", b"%PDF-1.4\n"),
        ["`body` must be a file of the type image/png, not application/pdf. It is sent as application/pdf."],
    ),
    (  # a file that is known by its first bytes only
        body_of({"image/*": {"schema": FILE}}),
        {"body": "JVBERi0xLjQK"},
        ("application/pdf", b"%PDF-1.4\n"),
        ["`body` must be a file of the type image/*, not application/pdf. It is sent as application/pdf."],
    ),
    (
        body_of({"image/png": {"schema": FILE}}),
        {"body": "no base64!"},
        ("image/png", b"no base64!"),
        ["`body` must be base64 (the bytes of a file); 'no base64!' is not base64. It is sent as text."],
    ),
    (
        body_of({"image/png": {"schema": FILE}}),
        {"body": "data:no comma"},
        ("image/png", b"data:no comma"),
        ["`body` must be a data: URL with a comma before its data, e.g. `data:image/png;base64,…`. " + AS_TEXT],
    ),
    (
        body_of({"text/plain; charset=iso-8859-1": {"schema": STRING}}),
        {"body": "5 €"},
        ("text/plain; charset=iso-8859-1", b"5 &#8364;"),
        ["The text holds characters that iso-8859-1 cannot express. They are sent as in `&#8364;`."],
    ),
]


@pytest.mark.parametrize(("fields", "arguments", "body", "sentences"), SENT_DEVIATIONS)
def test_bodies_that_do_not_fit_are_sent_and_reported(
    fields: dict[str, Any], arguments: dict[str, Any], body: tuple[str, bytes], sentences: list[str]
) -> None:
    api_tool = tool_of(fields)
    sent = Sent(api_tool)
    result = sent.call(arguments)
    assert [(request.headers["content-type"], request.content) for request in sent.requests] == [body]
    assert result.meta[DEVIATIONS] == sentences
    strict = Sent(api_tool, lenient=False)
    assert strict.call(arguments).is_error
    assert strict.requests == []


def test_value_that_is_no_file_is_sent_in_its_part() -> None:
    sent = Sent(tool_of(part(photo=FILE)))
    result = sent.call({"photo": 5})
    assert b'name="photo"; filename="photo"\r\nContent-Type: application/octet-stream\r\n\r\n5\r\n' in (
        sent.requests[0].content
    )
    assert "It is sent as text." in result.meta[DEVIATIONS][1]


def test_value_without_parts_is_the_only_part() -> None:
    fields = body_of({"multipart/form-data": {"schema": {"type": "array", "items": STRING}}})
    sent = Sent(tool_of(fields))
    result = sent.call({"body": 5})
    assert b"Content-Type: text/plain\r\n\r\n5\r\n" in sent.requests[0].content
    assert result.meta[DEVIATIONS][1].endswith("The value is sent as one part.")


CHOICE = body_of({"application/json": {"schema": {}}, "text/plain": {"schema": {}}})


@pytest.mark.parametrize(
    ("media_type", "value", "content"),
    [
        ("application/vnd.api+json", {"a": 1}, b'{"a":1}'),
        ("application/json; v=2", {"a": 1}, b'{"a":1}'),
        ("application/x-www-form-urlencoded", {"a": 1}, b"a=1"),
        ("application/yaml", "a: 1", b"a: 1"),
        ("application/xml", "<a/>", b"<a/>"),
        ("image/png", "AAEC", b"\0\1\2"),
    ],
)
def test_body_is_sent_in_an_undeclared_media_type(media_type: str, value: Any, content: bytes) -> None:
    api_tool = tool_of(CHOICE)
    chooser = next(item.name for item in api_tool.arguments if item.location == "media_type")
    sent = Sent(api_tool)
    result = sent.call({"body": value, chooser: media_type})
    assert [(each.headers["content-type"], each.content) for each in sent.requests] == [(media_type, content)]
    assert result.meta[DEVIATIONS][-1].endswith(f"The body is sent as {media_type}.")
    assert Sent(api_tool, lenient=False).call({"body": value, chooser: media_type}).is_error


@pytest.mark.parametrize("media_type", ["json", "text/plain\r\nX: y", "text/plain, a/b", "image/*", 5, ""])
def test_body_is_not_sent_in_what_is_no_media_type(media_type: Any) -> None:
    api_tool = tool_of(CHOICE)
    chooser = next(item.name for item in api_tool.arguments if item.location == "media_type")
    sent = Sent(api_tool)
    assert sent.call({"body": "x", chooser: media_type}).is_error
    assert sent.requests == []


def test_deep_arguments_are_sent_as_far_as_they_can_be_written() -> None:
    value: list[Any] = []
    for _ in range(2000):
        value = [value]
    sent = Sent(tool_of(json_body({"$ref": "#/components/schemas/T"}), components={"schemas": {"T": TREE}}))
    result = sent.call({"body": value})
    assert "nested too deeply" in result.content[0]["text"]
    assert len(sent.requests) == (not result.is_error)


TREE = {"type": "array", "items": {"$ref": "#/components/schemas/T"}}


@pytest.mark.parametrize("url", ["file:///etc/passwd", "file://host/etc/passwd"])
def test_files_that_may_not_be_read_are_refused(url: str) -> None:
    sent = Sent(tool_of(body_of({"image/png": {"schema": FILE}})))
    assert sent.call({"body": url}).is_error
    assert sent.requests == []
