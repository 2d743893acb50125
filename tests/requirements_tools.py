"""The requirements for tools (their list, its changes, their calls, their schemas) and for proxies, and their tests."""

from typing import Final

from tests.requirement import ALL, HANDSHAKE, PROTOCOL, RUNTIME, STATELESS, Requirement, must, should, under

CLIENTS: Final = "tests/test_clients.py::"
CATALOG: Final = RUNTIME + "server/test_catalog.py::"
REVISIONS: Final = PROTOCOL + "revisions.py::"
SERVER: Final = RUNTIME + "server/test_server.py::"
RESULTS: Final = RUNTIME + "result/test_build.py::"
RELOADABLE: Final = RUNTIME + "server/test_reloadable.py::"
STDIO_SESSION: Final = RUNTIME + "test_stdio_session.py::"
CLIENT_SESSIONS: Final = RUNTIME + "http/test_sessions_of_clients.py::"
CANCELLATION: Final = RUNTIME + "http/test_cancellation.py::"
SOURCES: Final = "tests/document/test_fetcher.py::"
STRUCTURED: Final = ("2025-06-18", "2025-11-25")

LIST: Final = (
    must(
        "list.capability",
        ALL,
        "server/tools, Capabilities",
        "The tools capability is declared, and listChanged only if changes are notified.",
        under(
            "The server's description with the fields of this revision, and the promise of list_changed.",
            "description",
            "2025-11-25",
        ),
        under(
            "The server's full description in server/discover, and its name in every other result.",
            "description",
            "2026-07-28",
        ),
    ),
    must(
        "list.fields",
        ALL,
        "server/tools, Tool; schema",
        "A tool has a name, an inputSchema, and those of the other fields that the revision has.",
        REVISIONS + "test_listed_tool_has_the_fields_of_its_revision",
        REVISIONS + "test_absent_fields_of_a_tool_are_omitted",
        REVISIONS + "test_title_is_an_annotation_in_revisions_without_tool_titles",
        REVISIONS + "test_title_that_repeats_the_description_or_the_name_is_not_listed",
        CLIENTS + "test_client_negotiates_its_revision_and_lists_every_tool",
    ),
    should(
        "list.names",
        ("2025-11-25", "2026-07-28"),
        "server/tools, Tool Names",
        "Names are unique and have 1 to 128 characters of A-Z, a-z, 0-9, _, - and the full stop.",
        "tests/tools/test_names.py::test_tool_names_are_legal_unique_and_independent_of_the_order",
    ),
    should(
        "list.order",
        STATELESS,
        "server/tools, Listing Tools",
        "The order is the same each time.",
        "tests/tools/test_compiler.py::test_repeated_build_is_equal",
        SERVER + "test_list_is_rendered_once_for_each_revision",
    ),
    must(
        "list.same-for-all",
        STATELESS,
        "server/tools, Listing Tools",
        "The list depends neither on the connection nor on earlier calls.",
        SERVER + "test_list_is_rendered_once_for_each_revision",
        CLIENTS + "test_cancelled_call_closes_the_connection_to_the_api",
    ),
    must(
        "list.pages",
        ALL,
        "server/utilities/pagination",
        "The pages together are the list: cursors are opaque and stable, and the last page has none.",
        CATALOG + "test_pages_together_are_the_list",
        CATALOG + "test_cursors_are_valid_in_another_process",
        SERVER + "test_cursor_is_valid_in_another_process_and_an_altered_one_is_not",
        REVISIONS + "test_last_page_has_no_cursor",
    ),
    should(
        "list.bad-cursor",
        ALL,
        "server/utilities/pagination, Error Handling",
        "A cursor that was never issued is -32602.",
        CATALOG + "test_invented_cursor_is_refused",
        SERVER + "test_unknown_cursor_is_a_request_error",
    ),
    must(
        "list.caching",
        STATELESS,
        "server/utilities/caching",
        "The list and server/discover tell for how long and by whom they may be cached, the same on all pages.",
        "tests/conversations/2026-07-28/http.jsonl::Headers that equal the message.",
        "tests/fuzz/test_http.py::test_every_request_gets_the_required_status_and_answer",
    ),
)

CHANGES: Final = (
    should(
        "changes.told",
        HANDSHAKE,
        "server/tools, List Changed Notification",
        "After the handshake a client is notified that the list changed: on stdio, and on the stream of its session.",
        CLIENTS + "test_client_is_notified_of_a_changed_document",
        STDIO_SESSION + "test_initialized_client_is_notified_of_changes_and_lists_new_tools",
        CLIENT_SESSIONS + "test_every_client_is_notified_of_a_changed_list",
        PROTOCOL + "messages.py::test_list_changed_has_no_subscription_id_in_the_handshake_era",
    ),
    must(
        "changes.after-the-handshake",
        HANDSHAKE,
        "basic/lifecycle, Initialization",
        "No notification is sent before the handshake.",
        STDIO_SESSION + "test_no_change_is_notified_before_the_handshake_or_undeclared",
        STDIO_SESSION + "test_initialize_reply_precedes_any_change",
    ),
    must(
        "subscriptions.acknowledged",
        STATELESS,
        "basic/patterns/subscriptions",
        "subscriptions/listen is first acknowledged, with the notifications that will be sent; unsupported ones are "
        "omitted.",
        under(
            "A server without list_changed accepts subscriptions, and acknowledges no notifications.",
            "subscriptions_over_http",
        ),
        under(
            "A client that requested nothing gets no notifications; unsupported ones are omitted, whatever their form.",
            "subscriptions_over_http",
        ),
        RELOADABLE + "test_subscription_is_acknowledged_notified_and_ended",
        RELOADABLE + "test_change_during_the_acknowledgement_follows_it",
        CANCELLATION + "test_subscription_without_accepting_events_is_406",
    ),
    must(
        "subscriptions.tagged",
        STATELESS,
        "basic/patterns/subscriptions",
        "Each notification has the id of the subscription it is for.",
        under(
            "A server that promises list_changed notifies the subscriber, with the id of its request, whatever its "
            "type.",
            "subscriptions_over_http",
        ),
        under(
            "A server that promises list_changed notifies the subscriber, with the id of its request, whatever its "
            "type.",
            "subscriptions_over_stdio",
        ),
        STDIO_SESSION + "test_subscriptions_are_notified_and_ended_separately",
    ),
    must(
        "subscriptions.filtered",
        STATELESS,
        "basic/patterns/subscriptions",
        "Only requested notifications are sent.",
        RELOADABLE + "test_empty_subscription_gets_no_notifications",
        under(
            "A client that requested nothing gets no notifications; unsupported ones are omitted, whatever their form.",
            "subscriptions_over_stdio",
        ),
        under("Malformed requests.", "subscriptions_over_stdio"),
        under("Malformed requests.", "subscriptions_over_http"),
    ),
    should(
        "subscriptions.end",
        STATELESS,
        "basic/patterns/subscriptions; basic/patterns/cancellation",
        "A server ends a subscription with its result, and on stdio with a cancellation too.",
        CANCELLATION + "test_subscription_gets_changes_comments_and_an_end",
        STDIO_SESSION + "test_stopping_the_server_ends_a_subscription_with_its_reply",
        RUNTIME + "test_stdio.py::test_official_client_subscription_gets_a_change_and_the_end",
        under("The end, by a cancellation of the client.", "subscriptions_over_stdio"),
        under("The end, by a cancellation of the client.", "subscriptions_over_http"),
        "tests/fuzz/test_stdio.py::test_every_line_gets_the_required_answer_in_chunks_of_any_size",
    ),
)

CALLS: Final = (
    must(
        "calls.unknown",
        ALL,
        "server/tools, Error Handling",
        "An unknown tool or a malformed call is -32602.",
        SERVER + "test_unknown_tool_is_a_request_error",
        under("Malformed calls.", "stdio"),
    ),
    should(
        "calls.errors",
        ("2025-11-25", "2026-07-28"),
        "server/tools, Error Handling",
        "Invalid arguments, errors of the API and failures of the connection to it are results with isError.",
        SERVER + "test_invalid_argument_is_described_to_the_model",
        SERVER + "test_unreachable_api_is_described_to_the_model",
        RESULTS + "test_error_status_is_an_error_with_status_reason_and_body",
        CLIENTS + "test_client_receives_errors_as_results",
        CLIENTS + "test_inspector_calls_tools",
    ),
    must(
        "calls.content",
        ALL,
        "server/tools, Tool Result",
        "A result has content, of the types that the revision has.",
        REVISIONS + "test_content_is_never_empty",
        RUNTIME + "server/test_calls.py::test_response_without_content_is_one_text_block",
        under("Calls: an object, a list, bytes, an error of the API.", "stdio", "2024-11-05"),
        under("Calls: an object, an unwrapped list, bytes, an error of the API.", "stdio", "2026-07-28"),
        CLIENTS + "test_client_calls_reach_the_api_and_return_its_answers",
    ),
    must(
        "calls.structured-object",
        STRUCTURED,
        "server/tools, Structured Content",
        "Structured content is an object, and so is what outputSchema describes.",
        REVISIONS + "test_structured_content_is_wrapped_exactly_if_its_schema_is",
        REVISIONS + "test_wrapped_schema_has_its_dialect_and_definitions_at_the_root",
    ),
    must(
        "calls.structured-any",
        STATELESS,
        "server/tools, Structured Content",
        "Structured content is any JSON value, unwrapped.",
        REVISIONS + "test_stateless_era_has_any_structured_content_unwrapped",
        REVISIONS + "test_missing_structured_content_is_omitted",
    ),
    must(
        "calls.unstructured",
        ("2024-11-05", "2025-03-26"),
        "server/tools; schema",
        "These revisions have neither structuredContent nor outputSchema.",
        REVISIONS + "test_revisions_without_structured_content_have_only_text",
    ),
    should(
        "calls.text-too",
        STRUCTURED + STATELESS,
        "server/tools, Structured Content",
        "Structured content is repeated as text.",
        RESULTS + "test_json_is_unchanged_text_and_structured_content",
    ),
    must(
        "calls.conforming",
        STRUCTURED + STATELESS,
        "server/tools, Output Schema",
        "The result of a successful call conforms to the tool's outputSchema.",
        RESULTS + "test_structured_content_and_text_are_complete_and_accepted",
        "tests/runtime/protocol/test_output_schemas.py::test_any_value_arrives_whole_under_any_output_schema",
        "tests/runtime/protocol/test_output_schemas.py::test_listed_schema_describes_the_documented_types",
        "tests/runtime/protocol/test_output_schemas.py::test_small_schema_is_listed_whole",
        "tests/runtime/protocol/test_output_schemas.py::test_large_schema_is_listed_without_descriptions_as_deep_as_it_fits",
        "tests/runtime/protocol/test_output_schemas.py"
        "::test_schema_whose_first_level_does_not_fit_is_not_listed_and_content_arrives",
        "tests/tools/test_output_schemas.py::test_output_schema_requires_no_property",
    ),
    must(
        "calls.explicit",
        ALL,
        "schema, CallToolResult and PaginatedResult",
        "Optional fields may be sent even if they are empty, for clients that require them.",
        under("Optional fields that some clients require.", "description"),
        REVISIONS + "test_missing_structured_content_is_an_empty_object_if_explicit",
    ),
    must(
        "calls.validated",
        ALL,
        "server/tools, Security Considerations",
        "Arguments are validated before anything is sent.",
        RUNTIME + "test_arguments.py::test_coerced_arguments_fit_and_equal_the_passed_values",
        RUNTIME + "test_arguments.py::test_refusal_names_argument_expectation_and_value",
    ),
    must(
        "calls.rate",
        ALL,
        "server/tools, Security Considerations",
        "Calls can be limited for each caller and tool, and the number of concurrent calls is limited.",
        "tests/replicas/test_rate_limits.py::test_each_caller_may_call_each_tool_so_often",
        RUNTIME + "server/test_calls.py::test_rate_limited_call_says_when_to_try_again",
        RUNTIME + "http/test_access.py::test_messages_beyond_max_concurrency_are_503",
        RUNTIME + "http/test_fairness.py::test_hanging_calls_of_one_client_do_not_stop_another",
        "tests/test_rate_limits_over_http.py::test_forwarded_addresses_of_a_client_give_it_no_other_limit",
        STDIO_SESSION + "test_concurrent_calls_are_limited_and_waiting_ones_cancellable",
    ),
    must(
        "calls.sanitised",
        ALL,
        "server/tools, Security Considerations",
        "Results contain no secrets and no internals of the server.",
        RESULTS + "test_result_has_no_secret_of_the_request",
        SERVER + "test_unexpected_failure_is_logged_and_its_details_not_sent",
    ),
    should(
        "calls.timeouts",
        ALL,
        "basic/lifecycle, Timeouts; server/tools",
        "Calls end: requests to the API and requests of clients have timeouts.",
        RUNTIME + "upstream/test_client.py::test_silent_server_is_a_read_timeout",
        RUNTIME + "upstream/test_client.py::test_endless_response_is_a_total_timeout",
        RUNTIME + "upstream/test_hostile.py::test_call_ends_in_time_whatever_arrives_slowly",
        CANCELLATION + "test_call_beyond_request_timeout_is_stopped_with_an_error_result",
    ),
)

SCHEMAS: Final = (
    must(
        "schemas.input-object",
        ALL,
        "schema, Tool",
        "An inputSchema is an object schema whose properties are schemas; without arguments it is closed.",
        "tests/tools/test_input_schema.py::test_root_has_no_union_and_no_reference",
        "tests/tools/test_input_schema.py::test_no_arguments_are_an_empty_closed_object",
        "tests/tools/test_compiler.py::test_damaged_documents_compile_to_valid_schemas",
    ),
    must(
        "schemas.valid",
        ("2025-11-25", "2026-07-28"),
        "basic, JSON Schema Usage",
        "Schemas are valid in their dialect, 2020-12, and clients can compile them.",
        "tests/tools/test_corpus.py::test_tools_of_every_document_are_valid",
        "tests/schemas/test_conversion.py::test_keywords_of_3_0_are_rewritten",
        "tests/schemas/test_patterns.py::test_portable_patterns_match_the_same_in_javascript",
        CLIENTS + "test_inspector_reports_no_issue",
        CLIENTS + "test_clients_accept_every_tool_of_a_big_document",
    ),
    must(
        "schemas.no-network",
        STATELESS,
        "basic, JSON Schema Usage, Security",
        "References to the network are followed only if that is enabled, and never to private addresses.",
        RUNTIME + "test_arguments.py::test_broken_reference_fetches_nothing_and_accepts_everything",
        "tests/document/test_sources.py::test_allowed_remote_references_reach_public_hosts_only",
        SOURCES + "test_a_foreign_host_at_a_private_address_is_refused",
        SOURCES + "test_every_spelling_of_loopback_is_refused",
        SOURCES + "test_a_redirect_to_a_private_address_is_refused",
        SOURCES + "test_a_file_that_is_too_large_is_refused",
    ),
    should(
        "schemas.bounded",
        STATELESS,
        "basic, JSON Schema Usage, Security",
        "Depth, size and time of schemas are bounded.",
        RUNTIME + "test_arguments.py::test_deeply_nested_arguments_are_refused",
        RUNTIME + "test_arguments.py::test_circular_references_are_refused",
        "tests/schemas/test_definitions.py::test_a_schema_that_doubles_with_each_reference_takes_no_time",
        "tests/schemas/test_patterns.py::test_exponential_patterns_are_none",
    ),
    should(
        "schemas.unresolvable",
        STATELESS,
        "basic, JSON Schema Usage",
        "An unresolvable reference is reported, and only the tools that need it are lost.",
        "tests/schemas/test_definitions.py::test_a_broken_reference_costs_the_operations_that_need_it",
    ),
)

PROXY: Final = (
    must(
        "proxy.no-passthrough",
        ALL,
        "basic/security_best_practices, Token Passthrough",
        "Credentials of a client for this server are never sent to the API.",
        RUNTIME + "http/test_access.py::test_headers_of_a_client_do_not_reach_the_api",
        RUNTIME + "request/test_headers.py::test_reserved_headers_cannot_be_set_by_arguments",
    ),
    must(
        "proxy.challenge",
        ALL,
        "basic/authorization, Token Handling; RFC 6750",
        "A missing or wrong token is answered by 401 with WWW-Authenticate.",
        RUNTIME + "http/test_access.py::test_missing_or_wrong_bearer_token_is_401_and_malformed_400",
        RUNTIME + "http/test_access.py::test_address_and_token_are_checked_before_method_and_body",
    ),
    must(
        "proxy.requests-stay",
        ALL,
        "basic/security_best_practices, SSRF",
        "No argument can change the host or the path of a request.",
        RUNTIME + "request/test_urls.py::test_no_value_changes_the_structure_of_the_url",
        RUNTIME + "request/test_urls.py::test_values_cannot_form_a_dot_segment_with_each_other_or_with_the_template",
        RUNTIME + "request/test_headers.py::test_header_value_with_a_line_break_is_refused",
    ),
    must(
        "proxy.redirects",
        ALL,
        "basic/security_best_practices, SSRF",
        "Redirects stay at the API's origin, carry no credentials elsewhere, and their number is limited.",
        RUNTIME + "upstream/test_redirects.py::test_redirect_away_from_the_api_is_not_followed",
        RUNTIME + "upstream/test_redirects.py::test_another_origin_gets_no_credential_under_any_name",
        RUNTIME + "upstream/test_client.py::test_redirect_loop_is_an_error",
    ),
    must(
        "proxy.icons",
        ("2025-11-25", "2026-07-28"),
        "basic, Icons",
        "Icons have https or data URLs.",
        "tests/tools/test_server_info.py::test_logo_is_an_icon_if_https_or_inline",
    ),
)

TOOLS: Final[tuple[Requirement, ...]] = LIST + CHANGES + CALLS + SCHEMAS + PROXY
