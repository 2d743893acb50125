"""The requirements for messages, lifecycles and versions, and the tests that prove them."""

from typing import Final

from tests.requirement import ALL, HANDSHAKE, PROTOCOL, RUNTIME, STATELESS, Requirement, must, should, under

JSONRPC: Final = PROTOCOL + "jsonrpc.py::"
RECEIVE: Final = PROTOCOL + "receive.py::"
MESSAGE_TESTS: Final = PROTOCOL + "messages.py::"
TRACE_CONTEXT: Final = PROTOCOL + "trace_context.py::"
REVISIONS: Final = PROTOCOL + "revisions.py::"
CLIENTS: Final = "tests/test_clients.py::"
FUZZ_STDIO: Final = "tests/fuzz/test_stdio.py::"
FUZZ_HTTP: Final = "tests/fuzz/test_http.py::"

ERAS: Final = (
    must(
        "eras.by-message",
        ALL,
        "basic/versioning",
        "A request with the per-request fields is stateless; initialize begins the handshake era; one endpoint serves "
        "both.",
        RUNTIME + "test_stdio.py::test_both_eras_share_one_process",
        RECEIVE + "test_message_era",
        CLIENTS + "test_client_negotiates_its_revision_and_lists_every_tool",
    ),
    must(
        "eras.envelope-first",
        STATELESS,
        "basic/transports/streamable-http",
        "The per-request fields are checked before the method: initialize with them is an unknown method.",
        under("Methods that this revision removed are 404, initialize among them.", "http"),
    ),
    must(
        "eras.never-by-initialize",
        ("2025-11-25",),
        "basic/lifecycle, Version Negotiation",
        "initialize never negotiates a revision of the stateless era; it answers with the latest of its own.",
        under(
            "initialize answers unknown versions, and the stateless one, with the latest version of the handshake era.",
            "versions",
        ),
    ),
    should(
        "eras.codes",
        HANDSHAKE,
        "basic/versioning",
        "The error codes of the stateless era are never sent to a client of the handshake era.",
        RECEIVE + "test_stateless_error_codes_are_never_sent_in_the_handshake_era",
        under("Subscriptions belong to the stateless era.", "description"),
    ),
    must(
        "eras.nothing-inferred",
        STATELESS,
        "basic, Per-request protocol fields",
        "No state is inferred from earlier requests, the connection or the process.",
        RECEIVE + "test_stateless_era_ignores_the_session",
        under(
            "No state is inferred: a level set in the handshake era, in the same process, does not apply.",
            "description",
        ),
        under(
            "The handshake era in the same process, message by message; then the stateless era again, unaffected.",
            "stdio",
        ),
    ),
)

MESSAGES: Final = (
    must(
        "messages.utf8",
        ALL,
        "basic/transports",
        "Messages are JSON in UTF-8, in both directions.",
        JSONRPC + "test_json_in_utf8_is_decoded",
        JSONRPC + "test_invalid_json_or_utf8_is_refused",
        JSONRPC + "test_decoding_in_steps_returns_the_same",
        JSONRPC + "test_decoding_in_steps_refuses_the_same",
        JSONRPC + "test_other_threads_run_while_a_large_message_is_decoded",
        JSONRPC + "test_text_is_decoded_at_once",
        JSONRPC + "test_containers_that_are_full_and_complete_are_counted",
        JSONRPC + "test_any_value_is_encoded_as_valid_json",
        JSONRPC + "test_encoding_a_value_that_is_not_json_raises",
    ),
    must(
        "messages.id",
        ALL,
        "basic, Messages",
        "A response has the id of its request, of the same type; 0 is an id, null is not.",
        JSONRPC + "test_request_id_is_unchanged",
        JSONRPC + "test_invalid_id_is_answered_by_an_error_without_id",
        JSONRPC + "test_id_of_a_message_that_is_not_json_is_read_where_it_can_be",
        JSONRPC + "test_id_at_the_end_of_a_long_message_is_read",
        JSONRPC + "test_search_for_an_id_never_fails",
        JSONRPC + "test_id_of_a_large_message_that_is_not_json_is_found_at_once",
        FUZZ_STDIO + "test_every_line_gets_the_required_answer_in_chunks_of_any_size",
    ),
    must(
        "messages.notifications",
        ALL,
        "basic, Messages",
        "Notifications and responses are never answered.",
        JSONRPC + "test_a_message_without_id_is_a_notification",
        JSONRPC + "test_malformed_response_is_never_answered",
        RUNTIME + "server/test_server.py::test_notification_has_no_reply",
    ),
    must(
        "messages.errors",
        ALL,
        "basic, Responses; JSON-RPC 2.0 §5.1",
        "An unreadable message gets an error with an integer code and a message, and the id if that could be read.",
        JSONRPC + "test_value_that_is_not_an_object_is_malformed",
        JSONRPC + "test_malformed_request_with_an_id_gets_an_error_with_that_id",
        RECEIVE + "test_receive_never_raises_and_answers_every_request",
        FUZZ_STDIO + "test_process_answers_hostile_lines_and_exits_with_0",
    ),
    must(
        "messages.batches",
        ("2025-03-26",),
        "basic, Batching",
        "Batches are accepted and answered by one array; initialize cannot be part of one.",
        under("Batches (2025-03-26 only).", "stdio"),
        under("In a batch a level applies to the messages after it.", "logging"),
        RUNTIME + "server/test_server.py::test_replies_of_a_batch_are_one_array",
    ),
    must(
        "messages.single",
        ("2024-11-05", "2025-06-18", "2025-11-25"),
        "basic/transports",
        "A message is a single request, notification or response.",
        under("Batches do not exist in this revision.", "stdio"),
    ),
    must(
        "messages.single-stateless",
        STATELESS,
        "basic/transports/streamable-http",
        "A message is a single request or notification; a client never sends a response.",
        under("Responses and batches are malformed messages in this revision.", "http"),
    ),
    must(
        "messages.method-not-found",
        ALL,
        "basic, Error codes",
        "An unknown method, or one of a capability that was not declared, is -32601.",
        under("Unsupported methods, and notifications without effect.", "stdio", "2025-11-25"),
        under("Methods that this revision removed, or that are unsupported.", "stdio", "2026-07-28"),
    ),
)

HANDSHAKES: Final = (
    must(
        "lifecycle.version",
        HANDSHAKE,
        "basic/lifecycle, Version Negotiation",
        "initialize is answered with the requested version if it is supported, else with another supported one.",
        under(
            "Over HTTP a session begins with initialize; its messages are read in the negotiated revision.",
            "session",
        ),
        under("A second initialize in the same process.", "stdio"),
    ),
    must(
        "lifecycle.greeting",
        HANDSHAKE,
        "basic/lifecycle, Initialization",
        "The answer has protocolVersion, capabilities with tools, and serverInfo with the fields of the revision.",
        REVISIONS + "test_server_info_has_the_fields_of_its_revision",
        under(
            "The server's description with the fields of this revision, and the promise of list_changed.", "description"
        ),
        RECEIVE + "test_initialize_result_omits_absent_instructions",
    ),
    must(
        "lifecycle.first",
        HANDSHAKE,
        "basic/lifecycle, Initialization",
        "initialize is the first request; before it only ping is answered.",
        under("Before initialize only ping is answered (basic/lifecycle).", "stdio"),
        under("Id 0 is an id.", "stdio"),
    ),
    must(
        "lifecycle.respected",
        HANDSHAKE,
        "basic/lifecycle, Operation",
        "The negotiated revision is respected: no fields or messages of other revisions are sent.",
        REVISIONS + "test_listed_tool_has_the_fields_of_its_revision",
        under("Members of other revisions and of other features are ignored.", "description"),
        RUNTIME + "server/test_server.py::test_initialize_sets_the_session",
        PROTOCOL + "conversations.py::test_replies_equal_the_transcript",
        PROTOCOL + "conversations.py::test_every_revision_has_transcripts",
    ),
    must(
        "lifecycle.ping",
        HANDSHAKE,
        "basic/utilities/ping",
        "A ping is answered promptly with an empty result.",
        RUNTIME + "test_stdio.py::test_slow_call_blocks_nothing_and_is_silent_after_cancellation",
        FUZZ_HTTP + "test_every_request_gets_the_required_status_and_answer",
    ),
    must(
        "logging.levels",
        HANDSHAKE,
        "server/utilities/logging",
        "logging/setLevel is answered with an empty result; from then on messages of that level and above are sent.",
        under("Levels can be set after initialize (server/utilities/logging).", "logging"),
        under("A client that set a level receives that level and above.", "logging"),
        under("A client that set no level receives warnings and above.", "logging"),
        under("A new handshake resets the level.", "logging"),
        MESSAGE_TESTS + "test_client_receives_its_log_level_and_above",
        MESSAGE_TESTS + "test_log_message_has_any_json_value",
        RUNTIME + "test_stdio_session.py::test_log_level_applies_to_later_calls",
    ),
    should(
        "logging.bad-level",
        HANDSHAKE,
        "server/utilities/logging, Error Handling",
        "An invalid level is -32602.",
        under("An invalid level changes nothing.", "logging"),
        MESSAGE_TESTS + "test_invalid_log_level_is_none",
    ),
    must(
        "logging.no-secrets",
        HANDSHAKE,
        "server/utilities/logging, Security",
        "Log messages contain no credentials and no personal data.",
        RUNTIME + "server/test_notifications.py::test_log_messages_have_no_credentials_and_no_query_values",
    ),
)

PER_REQUEST: Final = (
    must(
        "request.fields",
        STATELESS,
        "basic, Per-request protocol fields",
        "A request without one of the required fields is -32602, with HTTP status 400.",
        under(
            "The envelope: a missing field, a wrong type, an unsupported version, a version of the handshake era.",
            "stdio",
        ),
        under("The order of the checks: envelope, headers, version, method.", "http"),
    ),
    must(
        "request.version",
        STATELESS,
        "basic, Protocol version errors",
        "An unsupported version is -32022 with `supported` and `requested`, and HTTP status 400.",
        under(
            "The envelope: a missing field, a wrong type, an unsupported version, a version of the handshake era.",
            "stdio",
        ),
        FUZZ_STDIO + "test_every_line_gets_the_required_answer_in_chunks_of_any_size",
    ),
    must(
        "request.result-type",
        STATELESS,
        "basic, Results",
        "Every result has a resultType, which for a server of tools is `complete`.",
        under("Nothing is negotiated beforehand, and no state is kept.", "stdio"),
        FUZZ_HTTP + "test_every_request_gets_the_required_status_and_answer",
    ),
    should(
        "request.server-info",
        STATELESS,
        "basic, Results",
        "Every result has the server's name and version in its _meta.",
        under("The server's full description in server/discover, and its name in every other result.", "description"),
    ),
    must(
        "request.no-requests",
        STATELESS,
        "basic, Overview",
        "A server never sends requests to a client.",
        FUZZ_STDIO + "test_every_line_gets_the_required_answer_in_chunks_of_any_size",
        FUZZ_HTTP + "test_every_request_gets_the_required_status_and_answer",
    ),
    must(
        "request.no-logging",
        STATELESS,
        "server/utilities/logging",
        "Log messages are sent only if a request asks for them; this server sends none, since logging is deprecated.",
        under("Log messages are never sent, whatever level a request has.", "description"),
        MESSAGE_TESTS + "test_stateless_era_has_no_log_messages",
        RUNTIME + "server/test_notifications.py::test_stateless_era_gets_no_log_messages",
    ),
    must(
        "request.discover",
        STATELESS,
        "server/discover",
        "server/discover has the versions and capabilities, and for how long and by whom they may be cached.",
        under("Headers that equal the message.", "http"),
        under("The server's full description in server/discover, and its name in every other result.", "description"),
    ),
    must(
        "request.trace",
        STATELESS,
        "basic, Trace context",
        "Trace context has the form of the W3C; any other is treated as absent, and none is generated.",
        TRACE_CONTEXT + "test_invalid_traceparent_is_dropped_with_its_tracestate",
        TRACE_CONTEXT + "test_traceparent_of_a_later_version_is_accepted",
        TRACE_CONTEXT + "test_tracestate_without_traceparent_is_dropped",
        TRACE_CONTEXT + "test_invalid_tracestate_leaves_its_traceparent",
        TRACE_CONTEXT + "test_baggage_needs_no_traceparent",
        TRACE_CONTEXT + "test_invalid_baggage_is_dropped",
        TRACE_CONTEXT + "test_any_meta_is_read_as_valid_headers",
        MESSAGE_TESTS + "test_call_has_the_trace_of_its_client_in_both_eras",
        MESSAGE_TESTS + "test_call_without_trace_has_none",
        RUNTIME + "server/test_calls.py::test_trace_context_is_sent_to_the_api",
    ),
    must(
        "request.unknown-members",
        STATELESS,
        "server/tools; extensions/tasks",
        "Members of features that were not declared (tasks, input responses) are ignored.",
        under("Input responses that were never requested, and tasks, are ignored.", "description"),
    ),
)

BASIC: Final[tuple[Requirement, ...]] = ERAS + MESSAGES + HANDSHAKES + PER_REQUEST
