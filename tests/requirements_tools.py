"""What the specification demands of tools: their list, its changes, their calls, their schemas; and of a proxy."""

from typing import Final

from tests.requirement import ALL, HANDSHAKE, PROTOCOL, RUNTIME, STATELESS, Requirement, must, should, under

CLIENTS: Final = "tests/test_clients.py::"
CATALOG: Final = RUNTIME + "catalog.py::"
REVISIONS: Final = PROTOCOL + "revisions.py::"
SERVER: Final = RUNTIME + "server.py::"
RESULTS: Final = RUNTIME + "results.py::"
LIVE: Final = RUNTIME + "live.py::"
CONVERSATION: Final = RUNTIME + "conversation.py::"
IN_SESSION: Final = RUNTIME + "http_sessions.py::"
WAITING: Final = RUNTIME + "waiting.py::"
FETCH: Final = "tests/test_fetch.py::"
WITH_STRUCTURE: Final = ("2025-06-18", "2025-11-25")

LIST: Final = (
    must(
        "list.capability",
        ALL,
        "server/tools, Capabilities",
        "The tools capability is declared, and listChanged only where changes are told.",
        under(
            "What a server says of itself, as far as this revision asks, and that it tells of changes.",
            "description",
            "2025-11-25",
        ),
        under(
            "What a server says of itself when it is asked, and the short of it with every other result.",
            "description",
            "2026-07-28",
        ),
    ),
    must(
        "list.fields",
        ALL,
        "server/tools, Tool; schema",
        "A tool has a name and an inputSchema, and of the other fields those that the revision has.",
        REVISIONS + "test_a_tool_shows_the_fields_its_revision_has",
        REVISIONS + "test_what_a_tool_does_not_have_is_left_out",
        REVISIONS + "test_a_title_is_an_annotation_where_only_annotations_have_titles",
        CLIENTS + "test_it_settles_on_its_revision_and_lists_every_tool",
    ),
    should(
        "list.names",
        ("2025-11-25", "2026-07-28"),
        "server/tools, Tool Names",
        "Names are unique, of 1 to 128 characters out of A-Z, a-z, 0-9, _, - and the full stop.",
        "tests/test_naming.py::test_tool_names_are_legal_unique_and_independent_of_the_order",
    ),
    should(
        "list.order",
        STATELESS,
        "server/tools, Listing Tools",
        "The order is the same each time.",
        "tests/test_tools.py::test_building_twice_gives_the_same",
        SERVER + "test_the_list_is_rendered_once_for_each_revision",
    ),
    must(
        "list.same-for-all",
        STATELESS,
        "server/tools, Listing Tools",
        "The list does not depend on the connection, nor on what was called.",
        SERVER + "test_the_list_is_rendered_once_for_each_revision",
        CLIENTS + "test_its_cancellation_closes_the_connection_to_the_api",
    ),
    must(
        "list.pages",
        ALL,
        "server/utilities/pagination",
        "The pages are the list: cursors are opaque and stay, and the last page has none.",
        CATALOG + "test_the_pages_are_the_list",
        CATALOG + "test_another_process_with_the_same_tools_knows_the_cursors",
        SERVER + "test_a_cursor_leads_on_in_another_process_and_a_changed_one_nowhere",
        REVISIONS + "test_the_last_page_has_no_cursor",
    ),
    should(
        "list.bad-cursor",
        ALL,
        "server/utilities/pagination, Error Handling",
        "A cursor that was never given out is -32602.",
        CATALOG + "test_a_made_up_cursor_is_refused",
        SERVER + "test_a_cursor_that_was_never_given_out_is_an_error_of_the_request",
    ),
    must(
        "list.caching",
        STATELESS,
        "server/utilities/caching",
        "The list and server/discover say for how long, and by whom, they may be kept; all pages say the same.",
        "tests/conversations/2026-07-28/http.jsonl::Headers that say what the message says.",
        "tests/test_fuzz_http.py::test_each_request_gets_the_status_and_the_answer_it_has_to",
    ),
)

CHANGES: Final = (
    should(
        "changes.told",
        HANDSHAKE,
        "server/tools, List Changed Notification",
        "Who shook hands is told that the list changed: on stdio, and on the stream of its session.",
        CLIENTS + "test_it_hears_of_a_change_of_the_document",
        CONVERSATION + "test_who_shook_hands_is_told_of_each_change_and_then_finds_the_new_tools",
        IN_SESSION + "test_every_client_hears_that_the_list_changed",
        PROTOCOL + "actions.py::test_a_change_is_told_without_a_tag_in_the_handshake_era",
    ),
    must(
        "changes.after-the-handshake",
        HANDSHAKE,
        "basic/lifecycle, Initialization",
        "Nothing is told before the handshake.",
        CONVERSATION + "test_nobody_is_told_before_the_handshake_or_without_a_promise",
        CONVERSATION + "test_the_answer_to_initialize_comes_before_any_change",
    ),
    must(
        "subscriptions.acknowledged",
        STATELESS,
        "basic/patterns/subscriptions",
        "subscriptions/listen is first acknowledged, with what will be told; what this server has not is left out.",
        under(
            "A server that does not tell of changes takes subscriptions, and says that they are about nothing.",
            "subscriptions_over_http",
        ),
        under(
            "Who did not ask is told nothing; what this server does not have is left out, whatever its shape.",
            "subscriptions_over_http",
        ),
        LIVE + "test_a_subscription_is_acknowledged_told_and_ended",
        LIVE + "test_a_change_during_the_acknowledgement_is_told_after_it",
        WAITING + "test_what_is_always_a_stream_is_for_who_takes_one",
    ),
    must(
        "subscriptions.tagged",
        STATELESS,
        "basic/patterns/subscriptions",
        "Each notification has the id of the subscription it is for.",
        under(
            "One that does tells who asked, and tags what it says with the id of the request, whatever its type.",
            "subscriptions_over_http",
        ),
        under(
            "One that does tells who asked, and tags what it says with the id of the request, whatever its type.",
            "subscriptions_over_stdio",
        ),
        CONVERSATION + "test_several_subscriptions_are_told_apart_and_end_apart",
    ),
    must(
        "subscriptions.filtered",
        STATELESS,
        "basic/patterns/subscriptions",
        "Nothing is sent that was not asked for.",
        LIVE + "test_who_subscribes_to_nothing_is_told_nothing",
        under(
            "Who did not ask is told nothing; what this server does not have is left out, whatever its shape.",
            "subscriptions_over_stdio",
        ),
        under("A request that is none.", "subscriptions_over_stdio"),
        under("A request that is none.", "subscriptions_over_http"),
    ),
    should(
        "subscriptions.end",
        STATELESS,
        "basic/patterns/subscriptions; basic/patterns/cancellation",
        "A server that ends a subscription says so with its result; on stdio with a cancellation too.",
        WAITING + "test_a_subscription_is_told_kept_alive_and_ended_by_the_server",
        CONVERSATION + "test_a_subscription_is_ended_by_its_reply_also_when_the_server_is_stopped",
        RUNTIME + "stdio.py::test_the_official_client_subscribes_hears_of_a_change_and_of_the_end",
        under("The end, told by the client.", "subscriptions_over_stdio"),
        under("The end, told by the client.", "subscriptions_over_http"),
        "tests/test_fuzz_stdio.py::test_each_line_gets_the_answer_it_has_to_however_it_is_cut",
    ),
)

CALLS: Final = (
    must(
        "calls.unknown",
        ALL,
        "server/tools, Error Handling",
        "An unknown tool, or a request that is no call, is -32602.",
        SERVER + "test_an_unknown_tool_is_an_error_of_the_request",
        under("Calls that are none.", "stdio"),
    ),
    should(
        "calls.errors",
        ("2025-11-25", "2026-07-28"),
        "server/tools, Error Handling",
        "Arguments that do not fit, and errors of the API or on the way to it, are results with isError.",
        SERVER + "test_an_argument_that_does_not_fit_is_told_to_the_model",
        SERVER + "test_an_api_that_cannot_be_reached_is_told_to_the_model",
        RESULTS + "test_an_error_status_is_an_error_with_status_reason_and_body",
        CLIENTS + "test_it_is_told_of_errors_as_results",
        CLIENTS + "test_the_inspector_calls",
    ),
    must(
        "calls.content",
        ALL,
        "server/tools, Tool Result",
        "A result has content, of the kinds that the revision has.",
        REVISIONS + "test_content_is_never_empty",
        RUNTIME + "calls.py::test_an_answer_without_content_is_one_block_that_says_so",
        under("Calls: an object, a list, bytes, an error of the API.", "stdio", "2024-11-05"),
        under("Calls: an object, a list as it is, bytes, an error of the API.", "stdio", "2026-07-28"),
        CLIENTS + "test_its_calls_reach_the_api_and_come_back",
    ),
    must(
        "calls.structured-object",
        WITH_STRUCTURE,
        "server/tools, Structured Content",
        "Structured content is an object, and so is what outputSchema describes.",
        REVISIONS + "test_content_is_wrapped_exactly_where_its_schema_is",
        REVISIONS + "test_a_wrapped_schema_keeps_its_dialect_and_definitions_at_the_root",
    ),
    must(
        "calls.structured-any",
        STATELESS,
        "server/tools, Structured Content",
        "Structured content is any JSON value, as it is.",
        REVISIONS + "test_the_stateless_era_takes_any_value_as_it_is",
        REVISIONS + "test_no_structured_content_is_not_null",
    ),
    must(
        "calls.unstructured",
        ("2024-11-05", "2025-03-26"),
        "server/tools; schema",
        "These revisions have neither structuredContent nor outputSchema.",
        REVISIONS + "test_revisions_without_structured_content_have_the_text_alone",
    ),
    should(
        "calls.text-too",
        WITH_STRUCTURE + STATELESS,
        "server/tools, Structured Content",
        "What is structured is in the text too.",
        RESULTS + "test_json_is_text_as_it_came_and_the_same_as_a_value",
    ),
    must(
        "calls.conforming",
        WITH_STRUCTURE + STATELESS,
        "server/tools, Output Schema",
        "With an outputSchema, the result of a call that succeeds conforms to it.",
        RESULTS + "test_structured_content_always_conforms_and_the_text_has_all",
        "tests/test_outputs.py::test_whatever_a_conforming_answer_leaves_out_still_conforms",
    ),
    must(
        "calls.explicit",
        ALL,
        "schema, CallToolResult and PaginatedResult",
        "Fields that may be absent may also be said, for clients that insist on them.",
        under("Fields that some clients insist on, although they may be absent.", "description"),
        REVISIONS + "test_no_structured_content_is_an_empty_object_where_it_must_be_said",
    ),
    must(
        "calls.validated",
        ALL,
        "server/tools, Security Considerations",
        "Arguments are validated before anything is sent.",
        RUNTIME + "arguments.py::test_whatever_comes_out_fits_and_nothing_else_is_changed",
        RUNTIME + "arguments.py::test_a_refusal_says_which_argument_what_was_wanted_and_what_came",
    ),
    must(
        "calls.rate",
        ALL,
        "server/tools, Security Considerations",
        "Calls can be limited for each caller and tool, and there is an end to what is done at once.",
        "tests/test_rate_limits.py::test_each_caller_may_call_each_tool_so_often",
        RUNTIME + "calls.py::test_who_calls_too_often_is_told_when_to_try_again",
        RUNTIME + "door.py::test_there_is_a_limit_to_what_is_done_at_once",
        CONVERSATION + "test_only_so_many_calls_are_made_at_once_and_who_waits_can_be_cancelled",
    ),
    must(
        "calls.sanitised",
        ALL,
        "server/tools, Security Considerations",
        "What comes back holds no secret and nothing of the inside of the server.",
        RESULTS + "test_no_secret_of_the_request_is_in_a_result",
        SERVER + "test_what_nobody_foresaw_is_logged_whole_and_told_without_its_insides",
    ),
    should(
        "calls.timeouts",
        ALL,
        "basic/lifecycle, Timeouts; server/tools",
        "Calls end: the API is given up after a time, and so is a request.",
        RUNTIME + "upstream.py::test_a_silent_server_is_given_up",
        RUNTIME + "upstream.py::test_a_server_that_never_ends_is_given_up_in_total",
        WAITING + "test_what_takes_too_long_is_stopped_and_says_so",
    ),
)

SCHEMAS: Final = (
    must(
        "schemas.input-object",
        ALL,
        "schema, Tool",
        "An inputSchema is an object schema whose properties are schemas; without arguments, a closed one.",
        "tests/test_inputs.py::test_no_union_and_no_reference_ever_stands_at_the_root",
        "tests/test_inputs.py::test_no_arguments_are_an_empty_closed_object",
        "tests/test_tools.py::test_no_damage_to_a_document_stops_it_or_breaks_a_schema",
    ),
    must(
        "schemas.valid",
        ("2025-11-25", "2026-07-28"),
        "basic, JSON Schema Usage",
        "Schemas are valid in their dialect, which is 2020-12, and clients can compile them.",
        "tests/test_tools_ajv.py::test_the_npm_clients_ajv_compiles_every_schema",
        "tests/test_conversion.py::test_what_3_0_writes_differently",
        "tests/test_patterns.py::test_what_is_portable_compiles_in_javascript_and_matches_the_same",
        CLIENTS + "test_the_inspector_finds_nothing_to_complain_of",
        CLIENTS + "test_clients_accept_the_whole_list_of_a_big_document",
    ),
    must(
        "schemas.no-network",
        STATELESS,
        "basic, JSON Schema Usage, Security",
        "References to the network are not followed unless that was asked for, and never to private addresses.",
        RUNTIME + "arguments.py::test_a_reference_that_leads_nowhere_fetches_nothing_and_judges_nothing",
        "tests/test_sources.py::test_leave_lets_references_go_to_public_hosts_and_no_others",
        FETCH + "test_a_foreign_host_at_a_private_address_is_refused",
        FETCH + "test_no_spelling_of_loopback_is_asked",
        FETCH + "test_a_redirect_to_a_private_address_is_refused",
        FETCH + "test_a_file_that_is_too_large_is_refused",
    ),
    should(
        "schemas.bounded",
        STATELESS,
        "basic, JSON Schema Usage, Security",
        "Depth, size and time of schemas are bounded.",
        RUNTIME + "arguments.py::test_endless_nesting_is_refused",
        RUNTIME + "arguments.py::test_references_that_point_at_each_other_do_not_hang",
        "tests/test_schemas.py::test_a_schema_that_doubles_with_each_reference_takes_no_time",
        "tests/test_patterns.py::test_a_pattern_that_can_take_exponential_time_is_none",
    ),
    should(
        "schemas.unresolvable",
        STATELESS,
        "basic, JSON Schema Usage",
        "A reference that leads nowhere costs the tools that need it, and is reported.",
        "tests/test_schemas.py::test_a_broken_reference_costs_the_operations_that_need_it",
    ),
)

PROXY: Final = (
    must(
        "proxy.no-passthrough",
        ALL,
        "basic/security_best_practices, Token Passthrough",
        "What a client shows at the door is never sent on.",
        RUNTIME + "door.py::test_nothing_that_a_client_shows_reaches_the_api",
        RUNTIME + "headers.py::test_no_argument_sets_the_host_the_framing_or_who_is_asking",
    ),
    must(
        "proxy.challenge",
        ALL,
        "basic/authorization, Token Handling; RFC 6750",
        "Who shows no token, or a wrong one, gets 401 with WWW-Authenticate.",
        RUNTIME + "door.py::test_who_wants_in_shows_the_token",
        RUNTIME + "door.py::test_the_door_asks_who_before_what",
    ),
    must(
        "proxy.requests-stay",
        ALL,
        "basic/security_best_practices, SSRF",
        "No argument leads a request to another host or path.",
        RUNTIME + "addresses.py::test_no_value_leaves_its_place_in_the_url",
        RUNTIME + "addresses.py::test_two_values_cannot_climb_together",
        RUNTIME + "headers.py::test_a_header_value_that_would_end_its_line_is_refused",
    ),
    must(
        "proxy.redirects",
        ALL,
        "basic/security_best_practices, SSRF",
        "Redirects to another origin travel without credentials, and end.",
        RUNTIME + "redirects.py::test_another_origin_gets_no_credential_whatever_it_is_called",
        RUNTIME + "upstream.py::test_a_loop_of_redirects_ends",
    ),
    must(
        "proxy.icons",
        ("2025-11-25", "2026-07-28"),
        "basic, Icons",
        "Icons are https or data.",
        "tests/test_about.py::test_a_logo_is_an_icon_where_a_client_may_fetch_it",
    ),
)

TOOLS: Final[tuple[Requirement, ...]] = LIST + CHANGES + CALLS + SCHEMAS + PROXY
