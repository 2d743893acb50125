"""The requirements of the extension for tasks, for a server whose tasks follow operations of an API.

Rules about requests for input during a task, and about notifications, do not bind it: its tasks ask for nothing, and it
sends none, which is optional. Section names are those of ext-tasks, specification/draft/tasks.
"""

from typing import Final

from tests.requirement import STATELESS, Requirement, must, should

BOARD: Final = "tests/tasks/test_board.py::"
RECORDS: Final = "tests/tasks/test_records.py::"
HEADERS: Final = "tests/tasks/test_headers.py::"

TASKS: Final[tuple[Requirement, ...]] = (
    must(
        "tasks.capability",
        STATELESS,
        "ext-tasks, Capability Negotiation",
        "server/discover has the extension; a request that does not declare it is never answered with a task.",
        BOARD + "test_server_advertises_the_extension",
        BOARD + "test_call_waits_for_the_result",
        BOARD + "test_client_without_tasks_never_gets_one_and_may_not_ask_for_one",
    ),
    must(
        "tasks.result-type",
        STATELESS,
        "ext-tasks, Polymorphic Results; Task Polling; Task Cancellation",
        "resultType is `task` on a created task and on nothing else; all other results are `complete`.",
        BOARD + "test_call_becomes_a_task_and_the_task_has_the_result",
        BOARD + "test_update_is_acknowledged",
        BOARD + "test_cancelled_task_ends_and_its_operation_is_deleted_where_that_is_documented",
    ),
    must(
        "tasks.durable",
        STATELESS,
        "ext-tasks, Task Creation",
        "A task is found from the moment at which it is returned, by every process of the server.",
        BOARD + "test_call_becomes_a_task_and_the_task_has_the_result",
        BOARD + "test_processes_of_a_machine_share_tasks",
    ),
    should(
        "tasks.questions-first",
        STATELESS,
        "ext-tasks, Task Creation",
        "Round trips for input are over before a task is returned.",
        BOARD + "test_user_is_asked_before_a_call_becomes_a_task",
    ),
    must(
        "tasks.get",
        STATELESS,
        "ext-tasks, Task Polling",
        "tasks/get returns the status; with the result of a completed task.",
        BOARD + "test_call_becomes_a_task_and_the_task_has_the_result",
        BOARD + "test_cancelled_task_ends_and_its_operation_is_deleted_where_that_is_documented",
    ),
    must(
        "tasks.failed",
        STATELESS,
        "ext-tasks, Task Status; Task Execution Errors",
        "A result with isError is that of a completed task; `failed` is for errors of JSON-RPC, which the task has.",
        BOARD + "test_operation_that_fails_is_a_completed_task_with_an_error",
        BOARD + "test_call_that_ends_with_an_error_of_the_protocol_is_a_failed_task",
    ),
    must(
        "tasks.acknowledgements",
        STATELESS,
        "ext-tasks, Task Update Requests; Task Cancellation",
        "tasks/update and tasks/cancel are acknowledged with an empty result, also where nothing is outstanding.",
        BOARD + "test_update_is_acknowledged",
        BOARD + "test_cancelled_task_ends_and_its_operation_is_deleted_where_that_is_documented",
    ),
    must(
        "tasks.unknown",
        STATELESS,
        "ext-tasks, Protocol Errors",
        "A task that does not exist, or no longer, is refused with -32602, with a message that says why.",
        BOARD + "test_unknown_tasks_and_removed_methods_are_refused",
        BOARD + "test_task_is_forgotten_when_its_time_is_over",
    ),
    must(
        "tasks.undeclared",
        STATELESS,
        "ext-tasks, Protocol Errors; Task Status Notifications",
        "A client that does not declare the extension gets -32021, which names it, for requests about tasks.",
        BOARD + "test_client_without_tasks_never_gets_one_and_may_not_ask_for_one",
    ),
    must(
        "tasks.no-progress",
        STATELESS,
        "ext-tasks, Task Status Notifications",
        "No progress is sent for a call that has become a task.",
        BOARD + "test_nothing_is_sent_on_the_exchange_of_a_call_that_became_a_task",
    ),
    must(
        "tasks.headers",
        STATELESS,
        "ext-tasks, Streamable HTTP: Routing Headers",
        "Mcp-Name of a request about a task is its id; any other, or none, is refused.",
        HEADERS + "test_name_in_the_header_is_the_id_of_the_task",
    ),
    must(
        "tasks.ids",
        STATELESS,
        "ext-tasks, Security Considerations",
        "Ids cannot be guessed.",
        RECORDS + "test_ids_are_random",
    ),
    must(
        "tasks.owner",
        STATELESS,
        "ext-tasks, Security Considerations",
        "Each request about a task is authorized: a caller finds its own tasks alone.",
        BOARD + "test_tasks_belong_to_their_caller",
        BOARD + "test_processes_of_a_machine_share_tasks",
        RECORDS + "test_record_is_found_by_its_owner_alone",
    ),
)
