"""Runs of workflows: values, bodies, criteria, actions, workflows in workflows, failures, limits."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import Response

from openapi_mcp.bridge import Bridge
from openapi_mcp.errors import DocumentError
from openapi_mcp.runtime.types import CallToolResult
from openapi_mcp.runtime.upstream.events import CallEvents
from tests.workflows.api import TableApi, bridge, call, description, serving, text, tools_of, write

ITEM = {"type": "object", "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {}}}}
JSON_BODY = {"content": {"application/json": {"schema": ITEM}}}
PATHS: dict[str, Any] = {
    "/items": {
        "get": {"operationId": "listItems", "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}]},
        "post": {"operationId": "addItem", "requestBody": JSON_BODY},
    },
    "/items/{itemId}": {
        "parameters": [{"name": "itemId", "in": "path", "required": True, "schema": {"type": "integer"}}],
        "get": {"operationId": "getItem"},
        "delete": {"operationId": "deleteItem"},
    },
    "/notes": {"post": {"operationId": "addNote", "requestBody": {"content": {"application/xml": {"schema": {}}}}}},
    "/forms": {
        "post": {
            "operationId": "sendForm",
            "requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": {"type": "object"}}}},
        }
    },
    "/hidden": {"get": {"operationId": "readHidden", "x-mcp": {"hidden": True}}},
}
for _item in PATHS.values():
    for _method in _item.keys() & {"get", "post", "delete"}:
        _item[_method]["responses"] = {"200": {"description": "ok"}}
SPEC = {"openapi": "3.1.0", "info": {"title": "Items", "version": "1"}, "paths": PATHS}


@pytest.fixture(scope="module")
def api() -> Iterator[TableApi]:
    with serving() as served:
        yield served


class Folder:
    """A folder with the document, for workflows."""

    def __init__(self, path: Path, api: TableApi) -> None:
        self.path, self.api = path, api
        self.spec = write(path, SPEC, "api.yaml")

    def open(self, *workflows: dict[str, Any], options: dict[str, Any] | None = None, **fields: Any) -> Bridge:
        file = write(self.path, description(*workflows, **fields))
        return bridge(self.spec, file, url=self.api.url, **(options or {}))

    def run(self, *steps: dict[str, Any], inputs: dict[str, Any] | None = None, **fields: Any) -> CallToolResult:
        """Run a workflow of some steps whose inputs accept anything."""
        schema = {"type": "object", "properties": {name: {} for name in inputs or {}}}
        workflow = {"workflowId": "flow", "inputs": schema, "steps": list(steps), **fields}
        return call(self.open(workflow), "flow", inputs)


@pytest.fixture
def folder(tmp_path: Path, api: TableApi) -> Folder:
    api.answers({})
    return Folder(tmp_path, api)


def step(name: str, operation: str = "listItems", **fields: Any) -> dict[str, Any]:
    return {"stepId": name, "operationId": operation, **fields}


def test_expressions_have_the_values_of_request_and_response(folder: Folder) -> None:
    headers = {"X-Total": "7", "Content-Type": "application/json"}
    folder.api.answers({"GET /items": lambda _: Response('{"a/b": [{"c": 1}], "d": null}', 200, headers)})
    outputs = {
        "status": "$statusCode",
        "method": "$method",
        "url": "$url",
        "total": "$response.header.x-total",
        "pointer": "$response.body#/a~1b/0/c",
        "dotted": "$response.body.d",
        "all": "$response.body",
        "asked": "$request.query.q",
        "selected": {"context": "$response.body", "selector": "$['a/b'][*].c", "type": "jsonpath"},
        "pointed": {"context": "$response.body", "selector": "/a~1b/0", "type": "jsonpointer"},
        "input": "$inputs.word",
        "absent": "$response.body#/nothing",
    }
    parameters = [{"name": "q", "in": "query", "value": "say {$inputs.word}"}]
    names = {name: f"$steps.one.outputs.{name}" for name in outputs} | {"self": "$self"}
    names["source"] = "$sourceDescriptions.api.url"
    result = folder.run(step("one", parameters=parameters, outputs=outputs), inputs={"word": "hi & bye"}, outputs=names)
    made = result.structured_content
    assert not result.is_error, text(result)
    url = made.pop("url")
    assert url.startswith(f"{folder.api.url}/items?q=say")
    body = {"a/b": [{"c": 1}], "d": None}
    assert made == {
        "status": 200, "method": "GET", "total": "7", "pointer": 1, "dotted": None, "all": body,
        "asked": "say hi & bye", "selected": 1, "pointed": {"c": 1}, "input": "hi & bye", "absent": None,
        "self": None, "source": "api.yaml",
    }  # fmt: skip
    assert folder.api.sent[0].query == {"q": "say hi & bye"}


def test_bodies_are_templates_with_replacements(folder: Folder) -> None:
    folder.api.answers({"POST *": lambda _: (201, {"id": 1})})
    template = '{"name": "{$inputs.name}", "tags": {$inputs.tags}, "none": "{$inputs.none}"}'
    replacements = [
        {"target": "/name", "value": "$inputs.other"},
        {"target": "/tags/-", "value": 3},
        {"target": "$.tags[?@ == 'x']", "targetSelectorType": "jsonpath", "value": "y"},
        {"target": "/made/up", "value": "left out: there is no such object"},
    ]
    inputs = {"name": 'A "quote"', "tags": [1, "x"], "other": "B"}
    result = folder.run(
        step("one", "addItem", requestBody={"payload": template}),
        step("two", "addItem", requestBody={"payload": template, "replacements": replacements}),
        step("three", "addItem", requestBody={"payload": {"name": "$inputs.name", "tags": ["{$inputs.other}!"]}}),
        step("four", "addItem", requestBody={"payload": {"name": "$5.00", "tags": ["$inputs.none"]}}),
        inputs=inputs,
    )
    assert not result.is_error, text(result)
    assert [sent.body for sent in folder.api.sent] == [
        {"name": 'A "quote"', "tags": [1, "x"]},
        {"name": "B", "tags": [1, "y", 3]},
        {"name": 'A "quote"', "tags": ["B!"]},
        {"name": "$5.00", "tags": [None]},
    ]


def test_texts_of_xml_and_of_forms_cannot_be_broken_by_inputs(folder: Folder) -> None:
    folder.api.answers({"POST *": lambda _: None})
    inputs = {"name": "</n><admin/>", "form": "a&role=admin"}
    xml = {"contentType": "application/xml", "payload": "<n>{$inputs.name}</n>"}
    form = {"contentType": "application/x-www-form-urlencoded", "payload": "user={$inputs.form}&role=guest"}
    fields = {"contentType": "application/x-www-form-urlencoded", "payload": {"user": "$inputs.form"}}
    steps = [step("x", "addNote", requestBody=xml), step("f", "sendForm", requestBody=form)]
    result = folder.run(*steps, step("g", "sendForm", requestBody=fields), inputs=inputs)
    assert not result.is_error, text(result)
    assert folder.api.sent[0].raw == b"<n>&lt;/n&gt;&lt;admin/&gt;</n>"
    assert folder.api.sent[1].form == {"user": "a&role=admin", "role": "guest"}
    assert folder.api.sent[2].form == {"user": "a&role=admin"}


CONDITIONS: list[tuple[dict[str, Any], bool]] = [
    ({"condition": "$statusCode == 200"}, True),
    ({"condition": "$statusCode == 200 && $response.body#/count > 4"}, True),
    ({"condition": "$response.body.state == 'OPEN'"}, True),
    ({"condition": "$response.body.state != 'open'"}, False),
    ({"condition": "!($statusCode == 200)"}, False),
    ({"condition": "$response.body#/nothing == null"}, True),
    ({"condition": "$response.body#/count == '5' || false"}, True),
    ({"condition": "$response.body#/count < 5"}, False),
    ({"condition": "$response.body#/quoted == 'it''s'"}, True),
    ({"condition": "$response.body.list[1].id == 2"}, True),
    ({"condition": "$response.header.content-type == 'application/json'"}, True),
    ({"context": "$statusCode", "condition": "^2\\d{2}$", "type": "regex"}, True),
    ({"context": "$response.body#/state", "condition": "^clo", "type": "regex"}, False),
    ({"context": "$response.body#/nothing", "condition": ".*", "type": "regex"}, False),
    ({"context": "$response.body", "condition": "$.list[?@.id == 2]", "type": "jsonpath"}, True),
    ({"context": "$response.body", "condition": "$[?count(@.pets) > 0]", "type": "jsonpath"}, False),
    ({"context": "$response.body", "condition": "$.list[?@.id == {$inputs.n}]", "type": "jsonpath"}, True),
    ({"context": "$response.body", "condition": '$[?@ == "{$inputs.s}"]', "type": "jsonpath"}, True),
    (
        {
            "context": "$response.body",
            "condition": "$.list",
            "type": {"type": "jsonpath", "version": "draft-goessner-dispatch-jsonpath-00"},
        },
        True,
    ),
]


def test_criteria_decide_whether_a_step_has_succeeded(folder: Folder) -> None:
    body = {"count": 5, "state": "open", "quoted": "it's", "list": [{"id": 1}, {"id": 2}]}
    folder.api.answers({"GET /items": lambda _: body})
    workflows = [
        {
            "workflowId": f"w{number}",
            "inputs": {"type": "object", "properties": {"n": {}, "s": {}}},
            "steps": [step("one", successCriteria=[criterion])],
        }
        for number, (criterion, _) in enumerate(CONDITIONS)
    ]
    opened = folder.open(*workflows)
    made = [not call(opened, f"w{number}", {"n": 2, "s": "open"}).is_error for number in range(len(CONDITIONS))]
    assert made == [expected for _, expected in CONDITIONS]


def test_retries_wait_as_the_api_asks_and_end_at_their_limit(folder: Folder) -> None:
    def busy(_: Any) -> Any:
        return Response("{}", 500, {"Retry-After": "0"}) if len(folder.api.sent) < 3 else [1]

    folder.api.answers({"GET /items": busy})
    retry = {"name": "again", "type": "retry", "retryAfter": 3600, "retryLimit": 5}
    result = folder.run(step("one", onFailure=[retry], outputs={"n": "$response.body#/0"}))
    assert not result.is_error, text(result)
    assert len(folder.api.sent) == 3
    folder.api.answers({"GET /items": lambda _: (500, {"why": "broken"})})
    retry = {"name": "again", "type": "retry", "retryAfter": 0, "retryLimit": 2}
    later = {"name": "else", "type": "goto", "stepId": "two", "criteria": [{"condition": "$statusCode == 500"}]}
    folder.api.table["GET /items/1"] = lambda _: {"id": 1}
    item = step("two", "getItem", parameters=[{"name": "itemId", "in": "path", "value": 1}])
    result = folder.run(step("one", onFailure=[retry, later]), step("never", "addItem"), item)
    assert not result.is_error, "the limit is exhausted before the next action"
    assert folder.api.lines == ["GET /items"] * 3 + ["GET /items/1"]
    long = {"name": "again", "type": "retry", "retryAfter": 3600}
    result = folder.run(step("one", onFailure=[long]))
    assert result.is_error
    assert "the call has no time left to wait" in text(result)


def test_actions_of_the_workflow_hold_for_steps_that_do_not_replace_them(folder: Folder) -> None:
    folder.api.answers({"GET /items": lambda _: {"id": 1}})
    end = {"name": "stop", "type": "end", "criteria": [{"condition": "$response.body#/id == 1"}]}
    steps = [step("one", onSuccess=[{"name": "stop", "type": "goto", "stepId": "three"}]), step("two"), step("three")]
    result = folder.run(*steps, successActions=[end])
    assert len(folder.api.sent) == 2, "the first goes to the third, which ends"
    assert "action stop" in text(result)
    components = {"failureActions": {"giveUp": {"name": "giveUp", "type": "end"}}}
    workflow = {
        "workflowId": "flow",
        "steps": [step("one", "getItem", parameters=[{"name": "itemId", "in": "path", "value": 9}])],
        "failureActions": [{"reference": "$components.failureActions.giveUp"}],
        "outputs": {"seen": "$steps.one.outputs.seen"},
    }
    result = call(folder.open(workflow, components=components), "flow")
    assert not result.is_error, "the author has said what follows the failure"
    assert "ended with the step one (action giveUp) after it failed: 404" in text(result)
    assert result.structured_content == {"seen": None}


def test_workflows_call_others_and_depend_on_them(folder: Folder) -> None:
    folder.api.answers(
        {"GET /items": lambda sent: [{"id": int(sent.query.get("q", 0))}], "POST *": lambda _: {"id": 5}}
    )
    login = {
        "workflowId": "login",
        "inputs": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
        "steps": [step("one", parameters=[{"name": "q", "in": "query", "value": "$inputs.q"}],
                       outputs={"id": "$response.body#/0/id"})],
        "outputs": {"id": "$steps.one.outputs.id"},
    }  # fmt: skip
    main = {
        "workflowId": "main",
        "inputs": {"type": "object", "properties": {"name": {"type": "string", "default": "N"}}},
        "dependsOn": ["login"],
        "steps": [
            {"stepId": "sub", "workflowId": "login", "parameters": [{"name": "q", "value": "42"}],
             "outputs": {"id": "$outputs.id"}, "successCriteria": [{"condition": "$statusCode == 200"}]},
            step("add", "addItem", requestBody={"payload": {"name": "$inputs.name", "tags": [
                "$workflows.login.outputs.id", "$steps.sub.outputs.id"]}}),
        ],
        "outputs": {"asked": "$workflows.login.inputs.q"},
    }  # fmt: skip
    opened = folder.open(login, main)
    tool = next(each for each in tools_of(opened) if each.name == "main")
    assert tool.input_schema["required"] == ["q"], "what runs before it needs that"
    result = call(opened, "main", {"q": "7"})
    assert not result.is_error, text(result)
    assert [sent.query for sent in folder.api.sent[:2]] == [{"q": "7"}, {"q": "42"}]
    assert folder.api.sent[2].body == {"name": "N", "tags": [42, 42]}, "the latest run of it, and the step's own"
    assert result.structured_content == {"asked": "42"}


def test_a_goto_goes_on_in_another_workflow_and_a_retry_runs_one_before(folder: Folder) -> None:
    folder.api.answers({"GET /items": lambda _: (401, {}) if len(folder.api.sent) == 1 else {"id": 1},
                        "POST *": lambda _: {"id": 5}})  # fmt: skip
    login = {"workflowId": "login", "steps": [step("add", "addItem", requestBody={"payload": {"name": "x"}},
                                                  outputs={"id": "$response.body#/id"})],
             "outputs": {"id": "$steps.add.outputs.id"}}  # fmt: skip
    again = {"name": "login", "type": "retry", "workflowId": "login", "criteria": [{"condition": "$statusCode == 401"}]}
    onward = {"name": "onward", "type": "goto", "workflowId": "login"}
    main = {"workflowId": "main", "steps": [step("one", onFailure=[again], onSuccess=[onward], outputs={
        "id": "$response.body#/id"}), step("never")], "outputs": {"first": "$steps.one.outputs.id"}}  # fmt: skip
    result = call(folder.open(login, main), "main")
    assert folder.api.lines == ["GET /items", "POST /items", "GET /items", "POST /items"]
    assert result.structured_content == {"first": 1, "id": 5}


def test_steps_run_after_those_that_they_depend_on(folder: Folder) -> None:
    folder.api.answers({"GET *": lambda _: {"id": 4}, "POST *": lambda _: {"id": 5}})
    item = [{"name": "itemId", "in": "path", "value": "$steps.two.outputs.id"}]
    result = folder.run(
        step("one", "getItem", parameters=item, dependsOn=["two"]),
        step("two", outputs={"id": "$response.body#/id"}),
    )
    assert not result.is_error, text(result)
    assert folder.api.lines == ["GET /items", "GET /items/4"]


def test_an_error_says_which_step_failed_and_what_was_made_before(folder: Folder) -> None:
    folder.api.answers({"POST *": lambda _: {"id": 77}, "DELETE *": lambda _: (409, {"error": "in use"})})
    result = folder.run(
        step("add", "addItem", requestBody={"payload": {"name": "x"}}, outputs={"id": "$response.body#/id"}),
        step("drop", "deleteItem", parameters=[{"name": "itemId", "in": "path", "value": "$steps.add.outputs.id"}]),
    )
    assert result.is_error
    assert "the step drop of flow (deleteItem, DELETE /items/{itemId}): 409 Conflict: in use" in text(result)
    assert "2 calls made before the error. These may have changed something" in text(result)
    assert "addItem(" in text(result)
    assert "200, id 77" in text(result)
    assert result.meta["openapi-mcp/calls"] == {"addItem": 1, "deleteItem": 1}
    refused = folder.run(step("one", "getItem", parameters=[{"name": "itemId", "in": "path", "value": "x"}]))
    assert "itemId" in text(refused)
    assert "No call was made before the error." in text(refused)


def test_a_step_that_sends_nothing_has_failed_whatever_came_before(folder: Folder) -> None:
    folder.api.answers({"GET *": lambda _: {"id": 1, "list": [1]}})
    passes = [{"condition": "$statusCode == 200"}]
    steps = [step("one", outputs={"list": "$response.body#/list"}, successCriteria=passes)]
    body = {"payload": "$steps.one.outputs.list"}
    result = folder.run(*steps, step("two", "addItem", requestBody=body, successCriteria=passes))
    assert result.is_error
    assert "the step two" in text(result)
    absent = [{"name": "itemId", "in": "path", "value": "$steps.one.outputs.none"}]
    result = folder.run(*steps, step("two", "getItem", parameters=absent, successCriteria=passes))
    assert result.is_error
    assert "itemId" in text(result)
    assert set(folder.api.lines) == {"GET /items"}


def test_operations_that_models_do_not_see_may_be_steps(folder: Folder) -> None:
    folder.api.answers({"GET /hidden": lambda _: {"id": 1}, "GET /items": lambda _: {"id": 2}})
    steps = [step("one", "readHidden", outputs={"id": "$response.body#/id"}), step("two")]
    workflow = {"workflowId": "flow", "steps": steps, "outputs": {"id": "$steps.one.outputs.id"}}
    opened = folder.open(workflow, options={"exclude": ["id:listItems"]})
    assert {"readHidden", "listItems"}.isdisjoint(tool.name for tool in opened.tools)
    assert opened.catalog.get("readHidden") is None
    assert call(opened, "flow").structured_content == {"id": 1}
    assert folder.api.lines == ["GET /hidden", "GET /items"]


def test_hints_follow_from_the_steps(folder: Folder) -> None:
    item = [{"name": "itemId", "in": "path", "value": 1}]
    reads = {"workflowId": "reads", "steps": [step("one")]}
    adds = {"workflowId": "adds", "steps": [step("one"), step("two", "addItem")]}
    drops = {"workflowId": "drops", "steps": [{"stepId": "one", "workflowId": "deletes"}]}
    deletes = {
        "workflowId": "deletes",
        "steps": [step("one", "deleteItem", parameters=item)],
        "x-mcp": {"hidden": True},
    }
    own = {"workflowId": "own", "steps": [step("two", "addItem")], "x-mcp": {
        "name": "named", "title": "T", "description": "D.", "annotations": {"destructiveHint": False}}}  # fmt: skip
    tools = {tool.name: tool for tool in tools_of(folder.open(reads, adds, drops, deletes, own))}
    assert set(tools) == {"reads", "adds", "drops", "named"}
    assert tools["reads"].annotations["readOnlyHint"] is True
    assert tools["adds"].annotations["readOnlyHint"] is False
    assert "destructiveHint" not in tools["adds"].annotations
    assert tools["drops"].annotations["destructiveHint"] is True
    assert tools["named"].annotations["destructiveHint"] is False
    assert (tools["named"].title, tools["named"].description[:2]) == ("T", "D.")


class Steps(CallEvents):
    """A receiver of steps."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def on_step(self, text: str) -> None:
        self.texts.append(text)


def test_each_step_is_reported(folder: Folder) -> None:
    folder.api.answers({"GET *": lambda _: {"id": 1}})
    opened = folder.open({"workflowId": "flow", "steps": [step("one"), step("two")]})
    events = Steps()

    async def run() -> None:
        server = opened.server()
        try:
            tool = server.catalog.get("flow")
            assert tool is not None
            await server.calls.call(tool, {}, events=events)
        finally:
            await server.aclose()

    asyncio.run(run())
    assert events.texts == ["step 1 of 2, one: 200", "step 2 of 2, two: 200"]


def test_a_call_ends_at_its_time_and_says_where_it_was(folder: Folder) -> None:
    folder.api.answers({"GET /items": lambda _: {"id": 1}, "GET *": lambda _: (500, {})})
    item = [{"name": "itemId", "in": "path", "value": 1}]
    wait = {"name": "wait", "type": "retry", "retryAfter": 0.01, "retryLimit": 99}
    workflow = {"workflowId": "flow", "steps": [step("one"), step("two", "getItem", parameters=item, onFailure=[wait])]}
    result = call(folder.open(workflow, options={"total_timeout": 0.5}), "flow")
    assert result.is_error
    assert "it did not end within 0.5 seconds (`--total-timeout`)" in text(result) or "has no time" in text(result)
    assert "two" in text(result)
    assert "listItems 200" in text(result)


PROBLEMS: list[tuple[dict[str, Any], str, str]] = [
    (step("one", "listItemz"), "/steps/0/operationId", "there is no operation listItemz"),
    ({"stepId": "one"}, "/steps/0", "names no operation"),
    ({"stepId": "one", "workflowId": "nowhere"}, "/steps/0/workflowId", "there is no workflow nowhere"),
    (
        step("one", onSuccess=[{"name": "a", "type": "goto", "stepId": "tow"}]),
        "/onSuccess/0/stepId",
        "there is no step tow",
    ),
    (step("one", onSuccess=[{"name": "a", "type": "retry"}]), "/onSuccess/0/type", "an action is end or goto"),
    (step("one", successCriteria=[{"condition": "$statusCode = 200"}]), "/successCriteria/0", "is not a condition"),
    (
        step("one", successCriteria=[{"context": "$response.body", "condition": "//a", "type": "xpath"}]),
        "/successCriteria/0",
        "XPath is not supported",
    ),
    (step("one", parameters=[{"name": "q", "value": 1}]), "/parameters/0", "needs `in`"),
    (step("one", parameters=[{"name": "q", "in": "query", "value": "$steps.two.outputs.x"}]), "", "names no step"),
    (step("one", parameters=[{"name": "q", "in": "query", "value": "$steps"}]), "/parameters/0/value", "not a runtime"),
    (step("one", parameters=[{"reference": "$components.parameters.x"}]), "/parameters/0", "is not a component"),
    (step("one", channelPath="x"), "/steps/0", "names several"),
    ({"stepId": "one", "channelPath": "{$sourceDescriptions.a.url}#/x"}, "/steps/0", "AsyncAPI is not supported"),
    (step("one", "getItem", parameters=[{"name": "x", "in": "path", "value": 1}]), "", "has no path parameter x"),
    (step("one", outputs={"x": "$message.payload"}), "/outputs/x", "AsyncAPI"),
    (step("one", dependsOn=["zero"]), "/dependsOn/0", "there is no step zero"),
    (step("one", requestBody={"contentType": "x y", "payload": {}}), "/contentType", "not a media type"),
    (step("one", timeout="soon"), "/timeout", "milliseconds"),
]


def test_what_cannot_be_compiled_is_a_problem_with_its_place_and_costs_its_own_workflow(folder: Folder) -> None:
    broken = [{"workflowId": f"w{number}", "steps": [each]} for number, (each, _, _) in enumerate(PROBLEMS)]
    good = {"workflowId": "good", "steps": [step("one")]}
    user = {"workflowId": "user", "steps": [{"stepId": "one", "workflowId": "w0"}]}
    opened = folder.open(*broken, good, user)
    assert [tool.name for tool in tools_of(opened)] == ["good"]
    for number, (_, place, message) in enumerate(PROBLEMS):
        found = [
            problem
            for problem in opened.problems
            if f"#/workflows/{number}/" in problem.pointer and place in problem.pointer and message in problem.message
        ]
        assert found, (place, message, [each for each in opened.problems if f"/{number}/" in each.pointer])
    assert any("did you mean listItems" in problem.hint for problem in opened.problems)
    assert any("user needs w0, which cannot be run" in problem.message for problem in opened.problems)


def test_what_has_no_effect_is_a_problem_too(folder: Folder) -> None:
    workflow = {
        "workflowId": "flow",
        "stepz": 1,
        "inputs": {"type": "object", "properties": {"name": {"type": "string"}}},
        "steps": [
            step("one", outputs={"id": "$response.body#/id"}, parameters=[
                {"name": "q", "in": "query", "value": "$inputs.nam"},
                {"name": "Host", "in": "header", "value": "evil"}]),
            step("two", parameters=[{"name": "q", "in": "query", "value": "$steps.one.outputs.ident"}]),
        ],
    }  # fmt: skip
    opened = folder.open(workflow)
    messages = [problem.message for problem in opened.problems]
    assert any("stepz is not a field of a workflow" in each for each in messages)
    assert any("the workflow has no input nam" in each for each in messages)
    assert any("the step one has no output ident" in each for each in messages)
    assert any("the header Host has no effect" in each for each in messages)
    assert [tool.name for tool in tools_of(opened)] == ["flow"]


def test_what_the_description_lacks_or_has_twice_is_a_problem(folder: Folder) -> None:
    flow = {"workflowId": "flow", "steps": [step("one")]}
    opened = folder.open(flow, flow, info=None, sourceDescriptions=None, workflow=[])
    messages = [problem.message for problem in opened.problems]
    assert [tool.name for tool in tools_of(opened)] == ["flow"], "what can be run is run"
    assert "the description has no `info`" in messages
    assert "the description has no `sourceDescriptions`" in messages
    assert "flow is the id of another workflow too: this one is left out" in messages
    assert "workflow is not a field of an Arazzo Description" in messages


@pytest.mark.parametrize("root", [{"openapi": "3.1.0"}, {"arazzo": "2.0.0"}, {"arazzo": "1.9.0"}, []], ids=str)
def test_what_is_no_description_ends_the_command(root: Any, folder: Folder) -> None:
    file = write(folder.path, root, "wrong.yaml")
    with pytest.raises(DocumentError) as error:
        bridge(folder.spec, file)
    assert "wrong.yaml" in error.value.where


def test_names_are_those_of_no_tool(folder: Folder) -> None:
    names = ["listItems", "search_tools", "with spaces!", "flow"]
    opened = folder.open(*({"workflowId": name, "steps": [step("one")]} for name in names))
    assert [tool.name for tool in tools_of(opened)] == [
        "listItems_workflow", "search_tools_workflow", "with_spaces", "flow",
    ]  # fmt: skip


@pytest.mark.parametrize("mode", ["all", "search", "code"])
def test_every_mode_lists_workflows_first(mode: str, folder: Folder) -> None:
    folder.api.answers({"GET *": lambda _: {"id": 1}})
    opened = folder.open({"workflowId": "flow", "steps": [step("one")]}, options={"mode": mode})
    assert opened.catalog.tools[0].name == "flow"
    assert not call(opened, "flow").is_error
