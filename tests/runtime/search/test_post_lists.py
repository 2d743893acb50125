"""Search in a document like Prefect's: FastAPI's names, lists that are POSTs, filters that name each other's things."""

import pytest

from openapi_mcp.runtime.search.ranking import Search
from openapi_mcp.runtime.tool import Tool
from tests.compiling import compiled

PAGED = ("flows", "flow_runs", "deployments", "task_runs", "work_pools")
"""Collections that can also be read page by page."""

OTHERS = ("artifacts", "variables", "automations", "block_types", "block_documents", "block_schemas", "logs", "events")
LIMITS = ("concurrency_limits", "saved_searches")
COUNTED = ("flows", "flow_runs", "deployments", "task_runs", "work_pools", "artifacts", "variables", "automations")
ACTIONS = {
    "flow_runs": ("set_state", "resume", "labels"),
    "deployments": ("create_flow_run", "pause_deployment", "resume_deployment"),
    "task_runs": ("set_state",),
    "block_types": ("install_system_block_types",),
}
STRINGS = {"type": "array", "items": {"type": "string"}}


def title(name: str) -> str:
    return name.replace("_", " ").title()


def condition(name: str) -> dict[str, object]:
    """Return the schema of a filter of some things, as all lists have it for all kinds of things."""
    properties = {field: {"type": "object", "properties": {"any_": STRINGS}} for field in ("id", "name", "tags")}
    return {"type": "object", "description": f"Filter {title(name).lower()}.", "properties": properties}


def body(*names: str, **more: object) -> dict[str, object]:
    schema = {"type": "object", "properties": {name: condition(name) for name in names} | more}
    return {"content": {"application/json": {"schema": schema}}}


def operation(function: str, method: str, path: str, description: str, **more: object) -> dict[str, object]:
    """Return an operation as FastAPI writes it: the function, the path and the method are its operationId."""
    words = path.replace("/", "_").replace("{", "_").replace("}", "_")
    tag = title(path.strip("/").partition("/")[0])
    responses = {"200": {"description": "Successful Response", "content": {"application/json": {"schema": {}}}}}
    return {
        "tags": [tag],
        "summary": title(function),
        "description": description,
        "operationId": f"{function}{words}_{method}",
        "responses": responses | {"422": {"description": "Validation Error"}},
        **more,
    }


def resource(name: str, prefix: str = "") -> dict[str, dict[str, object]]:
    """Return the paths of some things."""
    one, path = name.removesuffix("s"), f"{prefix}/{name}"
    thing, things = one.replace("_", " "), name.replace("_", " ")
    integer = {"type": "integer"}
    paged = body(*PAGED, sort={"type": "string"}, limit=integer, offset=integer)
    identifier = {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "format": "uuid"}}
    create = operation(f"create_{one}", "post", f"{path}/", f"Create a {thing}.", requestBody=body(name={}))
    paths: dict[str, dict[str, object]] = {
        f"{path}/": {"post": create},
        f"{path}/filter": {
            "post": operation(f"read_{name}", "post", f"{path}/filter", f"Query for {things}.", requestBody=paged)
        },
        f"{path}/{{id}}": {
            "parameters": [identifier],
            **{
                method: operation(f"{verb}_{one}", method, f"{path}/{{id}}", f"{title(verb)} a {thing} by id.")
                for method, verb in {"get": "read", "patch": "update", "delete": "delete"}.items()
            },
        },
    }
    if name in COUNTED:
        counted = operation(f"count_{name}", "post", f"{path}/count", f"Count {things}.", requestBody=body(*PAGED))
        paths[f"{path}/count"] = {"post": counted}
    if name in PAGED:
        pages = operation(
            f"paginate_{name}", "post", f"{path}/paginate", f"Pagination query for {things}.", requestBody=paged
        )
        paths[f"{path}/paginate"] = {"post": pages}
    for action in ACTIONS.get(name, ()):
        acted = f"{path}/{{id}}/{action}"
        paths[acted] = {
            "parameters": [identifier],
            "post": operation(f"{action}_{one}", "post", acted, f"{title(action)} of a {thing}."),
        }
    return paths


def document_paths() -> dict[str, dict[str, object]]:
    """Return all paths, among them ones that stand in the way of lists: histories, counts for a view, the latest."""
    paths: dict[str, dict[str, object]] = {}
    for name in (*PAGED, *OTHERS, *LIMITS):
        paths |= resource(name)
    paths |= resource("concurrency_limits", "/v2")
    queue = {"name": "work_pool_name", "in": "path", "required": True, "schema": {"type": "string"}}
    queues = "/work_pools/{work_pool_name}/queues"
    for path, method, function, text in (
        (f"{queues}/filter", "post", "read_work_queues", "Read all work pool queues."),
        (queues, "post", "create_work_queue", "Creates a new work pool queue."),
        ("/work_pools/{work_pool_name}/workers/filter", "post", "read_workers", "Read all worker processes."),
        ("/work_pools/{work_pool_name}/get_scheduled_flow_runs", "post", "get_scheduled_flow_runs", "Load scheduled."),
    ):
        paths.setdefault(path, {"parameters": [queue]})[method] = operation(function, method, path, text)
    for path, function, text in (
        ("/flow_runs/history", "flow_run_history", "Query for flow run history data across a given range."),
        ("/flow_runs/lateness", "average_flow_run_lateness", "Query for average flow-run lateness in seconds."),
        ("/task_runs/history", "task_run_history", "Query for task run history data across a given range."),
        ("/ui/flow_runs/history", "read_flow_run_history", "Read the history of flow runs for the dashboard."),
        ("/ui/flow_runs/count-task-runs", "read_task_run_counts", "Get task run counts by flow run id."),
        ("/ui/flows/count-deployments", "count_deployments_by_flow", "Get deployment counts by flow id."),
        ("/ui/flows/next-runs", "next_runs_by_flow", "Get the next flow run by flow id."),
        ("/ui/task_runs/count", "read_task_run_counts_by_state", "Count of task runs by state."),
        ("/artifacts/latest/filter", "read_latest_artifacts", "Query for the latest artifacts."),
        ("/deployments/get_scheduled_flow_runs", "get_scheduled_flow_runs", "Get scheduled runs of deployments."),
        ("/logs/", "create_logs", "Create new logs from the provided schema."),
    ):
        paths[path] = {"post": operation(function, "post", path, text, requestBody=body(*PAGED))}
    return paths


TOOLS: tuple[Tool, ...] = compiled(document_paths()).tools
SEARCH = Search(TOOLS)
REQUESTS = {
    "list all flows": "/flows",
    "show me the runs of my flows": "/flow_runs",
    "which deployments are there?": "/deployments",
    "get all work pools": "/work_pools",
    "what queues does a work pool have": "/work_pools/{work_pool_name}/queues",
    "list the task runs": "/task_runs",
    "show every artifact": "/artifacts",
    "list our variables": "/variables",
    "see which automations exist": "/automations",
    "browse the block types": "/block_types",
    "find log lines": "/logs",
}


def test_document_has_the_shape_of_prefects() -> None:
    posts = [tool for tool in TOOLS if tool.method == "POST"]
    assert len(TOOLS) > 90
    assert len([tool for tool in posts if tool.path.endswith("/filter")]) > len(REQUESTS)
    assert "read_flows" in {tool.name for tool in TOOLS}
    assert not [tool for tool in TOOLS if tool.method == "GET" and "{" not in tool.path]


@pytest.mark.parametrize(("request_text", "path"), REQUESTS.items())
def test_list_is_among_the_first_three(request_text: str, path: str) -> None:
    first = [hit.tool.path for hit in SEARCH.find(request_text, 3)]
    assert {f"{path}/filter", f"{path}/paginate"} & {*first}, first


@pytest.mark.parametrize("name", [*PAGED, "artifacts", "variables", "automations"])
def test_count_and_creation_are_not_taken_for_the_list(name: str) -> None:
    things = name.replace("_", " ")
    assert f"/{name}/count" in [hit.tool.path for hit in SEARCH.find(f"how many {things} are there", 3)]
    assert f"/{name}/" in [hit.tool.path for hit in SEARCH.find(f"create a new {things.removesuffix('s')}", 3)]
