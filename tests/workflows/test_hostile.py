"""Attempts to break out of workflows: by their documents, by inputs of a model, and by answers of the API."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import Response

from openapi_mcp.bridge import Bridge
from openapi_mcp.errors import BridgeError
from openapi_mcp.workflows.evaluation import expressions
from openapi_mcp.workflows.evaluation.conditions import evaluate, parse_condition
from openapi_mcp.workflows.evaluation.scope import walk
from tests.workflows.api import TableApi, bridge, call, description, serving, text, tools_of, write
from tests.workflows.test_runs import SPEC, Folder, step

SECRET = "sk-live-4711-secret"
SECURED = SPEC | {
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
    "security": [{"key": []}],
}


@pytest.fixture(scope="module")
def api() -> Iterator[TableApi]:
    with serving() as served:
        yield served


@pytest.fixture(scope="module")
def other() -> Iterator[TableApi]:
    with serving() as served:
        yield served


@pytest.fixture
def folder(tmp_path: Path, api: TableApi) -> Folder:
    api.answers({"GET *": lambda _: {"id": 1, "name": "n"}, "POST *": lambda _: {"id": 2}})
    return Folder(tmp_path, api)


CODE = [
    "__import__('os').system('touch {marker}')",
    "$inputs.__class__.__mro__",
    "{{$inputs.x.__init__.__globals__}}",
    "$response.body.__class__.__subclasses__",
    "$response.body.constructor.constructor('touch {marker}')",
    "$inputs.__proto__.polluted",
    "${{7*7}}",
    "$(touch {marker})",
    "`touch {marker}`",
    "{{% for x in ().__class__.__base__.__subclasses__() %}}",
    "$steps.one.outputs.__dict__",
    "eval(open('{marker}','w'))",
    "lambda: 1",
    "$statusCode.__class__ == null",
    "$statusCode == 200; import os",
    "$statusCode == 200 or exec('1')",
    "f'{{__import__(chr(111)+chr(115))}}'",
]


@pytest.mark.slow
def test_no_text_of_a_document_is_run_as_code(folder: Folder, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    texts = [each.format(marker=marker) for each in CODE]
    workflows = []
    for number, attempt in enumerate(texts):
        query = {"context": "$response.body", "condition": attempt, "type": "jsonpath"}
        parts: list[dict[str, Any]] = [
            step("one", parameters=[{"name": "q", "in": "query", "value": attempt}]),
            step("one", successCriteria=[{"condition": attempt}]),
            step("one", successCriteria=[query]),
            step("one", successCriteria=[query | {"type": "regex"}]),
            step("one", outputs={"x": attempt}),
            step("one", "addItem", requestBody={"payload": {"name": attempt}}),
            step("one", "addItem", requestBody={"payload": f'{{"name": {json.dumps(attempt)}}}'}),
        ]
        inputs = {"type": "object", "properties": {"x": {"type": "string"}}}
        workflows += [
            {"workflowId": f"w{number}-{kind}", "inputs": inputs, "steps": [each]} for kind, each in enumerate(parts)
        ]
    opened = folder.open(*workflows)
    for tool in tools_of(opened):
        result = call(opened, tool.name, {"x": "v"})
        assert "Traceback" not in text(result)
        assert "the reason is in its log" not in text(result), text(result)
    assert not marker.exists()
    for sent in folder.api.sent:
        assert "<class" not in str(sent.query) + sent.raw.decode()


def test_values_are_not_evaluated_again(folder: Folder) -> None:
    folder.api.answers({"GET *": lambda _: {"name": "{$inputs.key} $inputs.key"}, "POST *": lambda sent: sent.body})
    steps = [
        step("one", outputs={"name": "$response.body#/name"}),
        step("two", "addItem", requestBody={"payload": {"name": "$steps.one.outputs.name", "tags": ["$inputs.word"]}}),
    ]
    folder.run(*steps, inputs={"key": SECRET, "word": "{$inputs.key}"})
    assert folder.api.sent[-1].body == {"name": "{$inputs.key} $inputs.key", "tags": ["{$inputs.key}"]}


@pytest.mark.parametrize("name", ["__class__", "__init__", "keys", "items", "__len__", "append", "__proto__", "0"])
def test_paths_lead_to_json_only(name: str) -> None:
    assert walk({}, [name]) is walk([], [name]) is walk("text", [name]) is walk(3, [name])
    condition = parse_condition(f"$inputs.x.{name} == null")
    assert evaluate(condition, lambda expression: walk({"x": {}}, expression.path or ["none"])) is True


INJECTED = 'x", "admin": true, "y": "'


def test_inputs_stay_what_they_are_in_templates_and_queries(folder: Folder) -> None:
    folder.api.answers({"GET *": lambda _: ["a", "b"], "POST *": lambda sent: sent.body})
    body = '{"name": "{$inputs.s}", "tags": ["pre {$inputs.s}"]}'
    result = folder.run(step("one", "addItem", requestBody={"payload": body}), inputs={"s": INJECTED})
    assert not result.is_error
    assert folder.api.sent[-1].body == {"name": INJECTED, "tags": [f"pre {INJECTED}"]}
    for attempt in ('x" || @ != "', "x' || @ != '", 'x\\" || true || "', "x\\"):
        for quote in ("'", '"'):
            query = {
                "context": "$response.body",
                "type": "jsonpath",
                "condition": f"$[?@ == {quote}{{$inputs.s}}{quote}]",
            }
            result = folder.run(step("one", successCriteria=[query]), inputs={"s": attempt})
            assert result.is_error, (attempt, quote)
        query = {"context": "$response.body", "type": "jsonpath", "condition": "$[?@ == {$inputs.s}]"}
        assert folder.run(step("one", successCriteria=[query]), inputs={"s": attempt}).is_error


SLOW_PATTERNS = [
    "(a+)+$",
    "(a|aa)+$",
    "(a|a?)+b$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(.*a){20}$",
    "(?=(a+))\\1+$",
    "a{1,9999}{1,9999}",
]


@pytest.mark.slow
def test_patterns_take_bounded_time_and_what_is_not_decided_fails(folder: Folder) -> None:
    folder.api.answers({"GET *": lambda _: {"text": "a" * 40_000 + "!"}})
    fixed = [{"context": "$response.body#/text", "condition": each, "type": "regex"} for each in SLOW_PATTERNS]
    given = {"context": "$response.body#/text", "condition": "{$inputs.p}", "type": "regex"}
    in_query = [f"$[?search(@, '{each}')]" for each in SLOW_PATTERNS[:3]]
    queries = [{"context": "$response.body", "condition": each, "type": "jsonpath"} for each in in_query]
    for criterion in (*fixed, *queries):
        opened = folder.open({"workflowId": "flow", "steps": [step("one", successCriteria=[criterion])]})
        assert not tools_of(opened) or call(opened, "flow").is_error
    for pattern in (*SLOW_PATTERNS, "(", "a" * 5000, "(?P<x>", "\\"):
        assert folder.run(step("one", successCriteria=[given]), inputs={"p": pattern}).is_error


@pytest.mark.slow
def test_queries_take_bounded_time(folder: Folder) -> None:
    deep: Any = 1
    for _ in range(60):
        deep = {"a": deep, "b": [1, 2]}
    folder.api.answers({"GET *": lambda _: {"list": [{"id": n} for n in range(20_000)], "deep": deep}})
    for query in (
        "$..*..*..*",
        "$..[?count($..*) > 1]",
        "$.list[?count($.list[*]) > 5 && @.id == $.list[0].id]",
        "$" + "[*,*]" * 60,
        "$" + "..*" * 200,
        "$[?" + "(" * 3000 + "@" + ")" * 3000 + "]",
    ):
        criterion = {"context": "$response.body", "condition": query, "type": "jsonpath"}
        workflow = {"workflowId": "flow", "steps": [step("one", successCriteria=[criterion])]}
        opened = folder.open(workflow)
        assert not tools_of(opened) or call(opened, "flow").is_error, query


def test_circles_end(folder: Folder) -> None:
    itself = {"workflowId": "itself", "steps": [{"stepId": "one", "workflowId": "itself"}]}
    ping = {"workflowId": "ping", "steps": [{"stepId": "one", "workflowId": "pong"}]}
    pong = {"workflowId": "pong", "steps": [{"stepId": "one", "workflowId": "ping"}]}
    before = {"workflowId": "before", "dependsOn": ["after"], "steps": [step("one")]}
    after = {"workflowId": "after", "dependsOn": ["before"], "steps": [step("one")]}
    forever = {
        "workflowId": "forever",
        "steps": [step("one", onSuccess=[{"name": "g", "type": "goto", "stepId": "one"}])],
    }
    jump = {
        "workflowId": "jump",
        "steps": [step("one", onSuccess=[{"name": "g", "type": "goto", "workflowId": "jump"}])],
    }
    each = {"workflowId": "each", "steps": [step("a", dependsOn=["b"]), step("b", dependsOn=["a"])]}
    schema = {"type": "object", "properties": {"x": {"$ref": "#/components/inputs/loop"}}}
    loop = {"workflowId": "loop", "inputs": schema, "steps": [step("one")]}
    value = {"name": "q", "in": "query", "value": "$components.parameters.q"}
    component = {
        "workflowId": "component",
        "steps": [step("one", parameters=[{"reference": "$components.parameters.q"}])],
    }
    components = {
        "inputs": {"loop": {"type": "object", "properties": {"y": {"$ref": "#/components/inputs/loop"}}}},
        "parameters": {"q": value},
    }
    opened = folder.open(itself, ping, pong, before, after, forever, jump, each, loop, component, components=components)
    made = {tool.name: text(call(opened, tool.name)) for tool in tools_of(opened)}
    for name in ("itself", "ping", "pong", "before", "after", "jump"):
        assert "nested more than 8 deep" in made[name], name
    assert "has made 100 steps" in made["forever"]
    assert folder.api.lines.count("GET /items") <= 150
    assert "loop" in made
    assert {"each", "component"}.isdisjoint(made)
    messages = " ".join(problem.message for problem in opened.problems)
    assert "the steps a, b depend on each other" in messages
    assert "leads to another component" in messages


BREAKS = ["x\r\nX-Evil: 1", "x\nX-Evil: 1", "x\rX-Evil: 1", "x\x00y"]


@pytest.mark.parametrize("value", BREAKS, ids=repr)
def test_no_header_is_ended_by_a_value(value: str, folder: Folder) -> None:
    for name, location in (("X-Tenant", "header"), ("Authorization", "header"), ("session", "cookie")):
        parameter = {"name": name, "in": location, "value": "$inputs.v"}
        folder.run(step("one", parameters=[parameter]), inputs={"v": value})
        named = {"name": value, "in": location, "value": "1"}
        folder.run(step("one", parameters=[named]))
    for sent in folder.api.sent:
        assert "x-evil" not in sent.headers


CLIMBS = [
    "../admin",
    "..",
    "%2e%2e/admin",
    "..%2fadmin",
    "1/../../admin",
    "..\\admin",
    "http://127.0.0.2/",
    "//evil/",
    "1?x=1#",
]


@pytest.mark.parametrize("value", CLIMBS)
def test_no_value_of_an_answer_leaves_its_place_in_the_path(value: str, folder: Folder, tmp_path: Path) -> None:
    name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    operation = {"operationId": "getThing", "parameters": [name], "responses": {"200": {"description": "ok"}}}
    paths = {"/things/{name}": {"get": operation}}
    folder.spec = write(tmp_path, SPEC | {"paths": SPEC["paths"] | paths}, "api.yaml")  # type: ignore[operator]
    folder.api.answers({"GET /items": lambda _: {"next": value}, "GET *": lambda _: {}})
    steps = [
        step("one", outputs={"next": "$response.body#/next"}),
        step("two", "getThing", parameters=[{"name": "name", "in": "path", "value": "$steps.one.outputs.next"}]),
    ]
    folder.run(*steps)
    assert all(line == "GET /items" or line.startswith("GET /things/") for line in folder.api.lines), folder.api.lines
    assert not any("admin" in line and ".." in line for line in folder.api.lines)


def test_no_value_chooses_the_host(folder: Folder, other: TableApi) -> None:
    other.answers({"GET *": lambda _: {}})
    folder.api.answers({"GET *": lambda _: Response("", 307, {"Location": f"{other.url}/items"})})
    folder.run(step("one", parameters=[{"name": "Host", "in": "header", "value": other.url}]))
    sources = [{"name": "api", "url": "{$inputs.host}/openapi.json"}, {"name": "two", "url": f"{other.url}/api.yaml"}]
    path = "{$steps.one.outputs.url}#/paths/~1items/get"
    workflows = [
        {"workflowId": "a", "steps": [step("one"), {"stepId": "two", "operationPath": path}]},
        {"workflowId": "b", "steps": [step("one", f"{other.url}/items")]},
        {"workflowId": "c", "steps": [step("one", "$sourceDescriptions.two.listItems")]},
    ]
    opened = folder.open(*workflows, sourceDescriptions=sources)
    for tool in tools_of(opened):
        call(opened, tool.name)
    assert [tool.name for tool in tools_of(opened)] == ["c"]
    assert not other.sent, "the document that is served stands for the source, and its host gets the calls"


def test_sizes_are_bounded(folder: Folder) -> None:
    big = "x" * 1_000_000
    folder.api.answers({"GET *": lambda _: {"text": big}, "POST *": lambda _: {}})
    doubled = {"name": "{$steps.one.outputs.t}" * 10}
    copies = {"tags": ["$steps.one.outputs.t"] * 10}
    for payload in (doubled, copies, json.dumps(doubled)):
        steps = [
            step("one", outputs={"t": "$response.body#/text"}),
            step("two", "addItem", requestBody={"payload": payload}),
        ]
        result = folder.run(*steps)
        assert result.is_error
        assert "more than 4,194,304 characters" in text(result)
    assert "POST /items" not in folder.api.lines
    result = folder.run(step("one", outputs={"t": "$response.body"}), outputs={"t": "$steps.one.outputs.t"})
    assert not result.is_error
    assert len(text(result)) < 200_000
    folder.api.answers({"GET *": lambda _: {"text": big * 5}})
    assert "the most that a workflow reads" in text(folder.run(step("one")))


def test_documents_are_bounded(folder: Folder, tmp_path: Path) -> None:
    deep: Any = "$inputs.x"
    for _ in range(200):
        deep = [deep]
    parentheses = {"condition": "(" * 2000 + "true" + ")" * 2000}
    workflows = [
        {"workflowId": "deep", "steps": [step("one", "addItem", requestBody={"payload": {"tags": deep}})]},
        {"workflowId": "many", "steps": [step(f"s{n}") for n in range(300)]},
        {"workflowId": "nested", "steps": [step("one", successCriteria=[parentheses])]},
        {"workflowId": "not", "steps": [step("one", successCriteria=[{"condition": "!" * 2000 + "true"}])]},
        {"workflowId": "long", "steps": [step("one", parameters=[
            {"name": "q", "in": "query", "value": "$inputs." + "x" * 5000}])]},
    ]  # fmt: skip
    assert not tools_of(folder.open(*workflows))
    bomb = tmp_path / "bomb.yaml"
    lines = ["arazzo: 1.0.0", "a: &a [x,x,x,x,x,x,x,x,x]"]
    lines += [f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]" for n in range(9)]
    bomb.write_text("\n".join(lines))
    assert not tools_of(bridge(folder.spec, bomb)), "read, without the aliases beyond the limit"
    bomb.write_text("arazzo: !!python/object/apply:os.system ['true']\nworkflows: []\n")
    with pytest.raises(BridgeError):
        bridge(folder.spec, bomb)


FILES = ["file:///etc/passwd", "/etc/passwd", "../../../../../../etc/passwd", "http://169.254.169.254/latest/meta-data"]


@pytest.mark.parametrize("url", FILES)
@pytest.mark.parametrize("kind", ["openapi", "arazzo"])
def test_sources_reach_no_files_and_hosts_beyond_the_rules(url: str, kind: str, folder: Folder) -> None:
    sources = [{"name": "api", "url": "api.yaml"}, {"name": "evil", "url": url, "type": kind}]
    named = {"operationId" if kind == "openapi" else "workflowId": "$sourceDescriptions.evil.x"}
    workflow = {"workflowId": "flow", "steps": [{"stepId": "one", **named}]}
    opened = folder.open(workflow, sourceDescriptions=sources)
    assert not tools_of(opened)
    assert any("evil" in problem.message for problem in opened.problems)
    assert "root:" not in str(opened.problems)


def secured(folder: Folder, tmp_path: Path, *workflows: dict[str, Any], **fields: Any) -> Bridge:
    folder.spec = write(tmp_path, SECURED, "api.yaml")
    options = {"auth": [f"key={SECRET}"], "header": [f"X-Own: {SECRET}-2"]}
    return folder.open(*workflows, options=options, **fields)


def test_credentials_are_sent_and_not_shown(folder: Folder, tmp_path: Path) -> None:
    folder.api.answers({"GET *": lambda sent: {"echo": sent.headers["x-key"], "hidden": "\u202e\x1b[2J"}})
    outputs = {
        "echo": "$response.body#/echo",
        "key": "$request.header.X-Key",
        "own": "$request.header.X-Own",
        "url": "$url",
        "hidden": "$response.body#/hidden",
    }
    names = {name: f"$steps.one.outputs.{name}" for name in outputs}
    workflow = {"workflowId": "flow", "steps": [step("one", outputs=outputs)], "outputs": names}
    result = call(secured(folder, tmp_path, workflow), "flow")
    assert folder.api.sent[0].headers["x-key"] == SECRET
    assert SECRET not in text(result) + str(result.structured_content)
    assert result.structured_content["key"] is result.structured_content["own"] is None
    assert "\x1b" not in text(result)
    assert "\u202e" not in text(result)


def test_another_api_gets_nothing_of_this_one(
    folder: Folder, other: TableApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = {"/far": {"get": {"operationId": "far", "responses": {"200": {"description": "ok"}}}}}
    far = SECURED | {"info": {"title": "Far", "version": "1"}, "paths": paths, "servers": [{"url": other.url}]}
    write(tmp_path, far, "far.yaml")
    sources = [{"name": "api", "url": "api.yaml"}, {"name": "far", "url": "./far.yaml"}]
    steps = [
        step("near", "$sourceDescriptions.api.listItems", outputs={"name": "$response.body#/name"}),
        step("away", "$sourceDescriptions.far.far", outputs={"got": "$response.body#/got"}, parameters=[
            {"name": "q", "in": "query", "value": "$steps.near.outputs.name"}]),
    ]  # fmt: skip
    workflow = {"workflowId": "flow", "steps": steps, "outputs": {"got": "$steps.away.outputs.got"}}
    monkeypatch.setenv("API_FAR_KEY", "far-credential")
    other.answers({"GET /far": lambda sent: {"got": f"of {sent.headers.get('x-key')} {sent.query['q']}"}})
    opened = secured(folder, tmp_path, workflow, sourceDescriptions=sources)
    result = call(opened, "flow")
    assert not result.is_error, text(result)
    assert folder.api.sent[0].headers["x-key"] == SECRET
    assert other.sent[0].headers["x-key"] == "far-credential"
    assert "x-own" not in other.sent[0].headers
    assert SECRET not in str(other.sent[0].headers)
    write(tmp_path, far | {"info": {"title": "Items", "version": "1"}}, "far.yaml")
    monkeypatch.setenv("API_ITEMS_KEY", SECRET)
    folder.spec = write(tmp_path, SECURED, "api.yaml")
    opened = folder.open(workflow, sourceDescriptions=sources)
    assert not tools_of(opened)
    assert any("would get the credential of API_ITEMS_KEY" in problem.message for problem in opened.problems)


def test_inputs_that_the_workflow_does_not_have_are_refused(folder: Folder) -> None:
    workflow = {"workflowId": "flow", "inputs": {"type": "object", "properties": {"a": {}}}, "steps": [step("one")]}
    result = call(folder.open(workflow), "flow", {"a": 1, "__proto__": {"x": 1}})
    assert result.is_error
    assert not folder.api.sent


@pytest.mark.parametrize("value", ["-5", "nan", "inf", "9" * 400, "Mon, 99 Foo 9999", "0; x", ""])
def test_waits_that_an_api_asks_for_are_bounded(value: str, folder: Folder) -> None:
    folder.api.answers({"GET *": lambda _: Response("{}", 500, {"Retry-After": value} if value else {})})
    retry = {"name": "again", "type": "retry", "retryAfter": 0, "retryLimit": 1}
    assert folder.run(step("one", onFailure=[retry])).is_error


def test_every_expression_of_the_corpus_is_parsed_or_refused() -> None:
    for attempt in [
        *CODE,
        "$",
        "$.",
        "$inputs",
        "$inputs.",
        "$steps..outputs.x",
        "$response.body#x",
        "$inputs.a#/~2",
        "$url$url",
    ]:
        for piece in (attempt, f"${attempt}", f"$inputs.{attempt}", f"$response.body#/{attempt}"):
            try:
                parsed = expressions.parse(piece)
            except expressions.ExpressionError:
                continue
            assert parsed.source in {"inputs", "response", "steps"}, piece


def test_the_corpus_ran_against_real_requests(folder: Folder) -> None:
    assert description()["arazzo"] == "1.1.0"
    assert not folder.run(step("one")).is_error, "the attempts fail because they are refused, not because nothing works"
