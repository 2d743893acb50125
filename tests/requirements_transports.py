"""The requirements for the two transports, progress and cancellation, and the tests that prove them."""

from typing import Final

from tests.requirement import (
    ALL,
    HANDSHAKE,
    PROTOCOL,
    RUNTIME,
    SESSIONS,
    STATELESS,
    Requirement,
    must,
    should,
    under,
)

STDIO: Final = RUNTIME + "test_stdio.py::"
STDIO_SESSION: Final = RUNTIME + "test_stdio_session.py::"
HTTP: Final = RUNTIME + "http/test_app.py::"
ACCESS: Final = RUNTIME + "http/test_access.py::"
CLIENT_SESSIONS: Final = RUNTIME + "http/test_sessions_of_clients.py::"
SESSION_IDS: Final = RUNTIME + "http/test_sessions.py::"
SESSION_STORE: Final = RUNTIME + "http/test_session_store.py::"
CANCELLATION: Final = RUNTIME + "http/test_cancellation.py::"
PROGRESS: Final = RUNTIME + "server/test_progress.py::"
NOTIFICATIONS: Final = RUNTIME + "server/test_notifications.py::"
RECEIVE: Final = PROTOCOL + "receive.py::"
MESSAGE_TESTS: Final = PROTOCOL + "messages.py::"
HEADERS: Final = PROTOCOL + "headers.py::"
HEADER_ARGUMENTS: Final = PROTOCOL + "header_arguments.py::"
CLIENTS: Final = "tests/test_clients.py::"
FUZZ_STDIO: Final = "tests/fuzz/test_stdio.py::"
FUZZ_HTTP: Final = "tests/fuzz/test_http.py::"

ON_STDIO: Final = (
    must(
        "stdio.lines",
        ALL,
        "basic/transports, stdio",
        "Each message is a line without a line break inside.",
        PROTOCOL + "jsonrpc.py::test_encoded_message_is_one_line_of_json",
        STDIO_SESSION + "test_notifications_are_one_line_each",
        RUNTIME + "test_stdio_streams.py::test_lines_do_not_depend_on_chunks",
        FUZZ_STDIO + "test_every_line_gets_the_required_answer_in_chunks_of_any_size",
    ),
    must(
        "stdio.stdout",
        ALL,
        "basic/transports, stdio",
        "stdout has only MCP messages; all other output is on stderr.",
        STDIO + "test_stdout_has_only_mcp",
        "tests/cli/test_main.py::test_without_a_terminal_serve_uses_stdio_and_stdout_has_only_mcp",
    ),
    should(
        "stdio.end",
        ALL,
        "basic/transports, stdio, Shutdown",
        "The server exits promptly when stdin ends, and on signals.",
        STDIO + "test_requests_before_the_end_of_input_are_answered",
        STDIO + "test_closing_both_pipes_ends_the_process",
        STDIO + "test_signal_ends_the_process_at_once_with_success",
        FUZZ_STDIO + "test_process_answers_hostile_lines_and_exits_with_0",
    ),
    must(
        "stdio.only-what-was-asked",
        STATELESS,
        "basic/transports/stdio",
        "Only responses and the notifications of requests in flight and of subscriptions are sent.",
        FUZZ_STDIO + "test_every_line_gets_the_required_answer_in_chunks_of_any_size",
        STDIO_SESSION + "test_no_change_is_notified_before_the_handshake_or_undeclared",
    ),
    must(
        "stdio.cancellation",
        STATELESS,
        "basic/transports/stdio; basic/patterns/cancellation",
        "After the cancellation of a request no more messages are sent for it.",
        under("Notifications have no effect, except a cancellation.", "stdio"),
        PROGRESS + "test_cancelled_call_over_stdio_sends_nothing_more",
        STDIO_SESSION + "test_cancelled_upload_breaks_off_and_sends_no_more_progress",
    ),
)

ON_HTTP: Final = (
    must(
        "http.origin",
        ALL,
        "basic/transports, Security Warning",
        "Origin is checked on every request; an Origin that is not allowed is 403.",
        HTTP + "test_only_local_and_configured_hosts_and_origins_are_allowed",
        HTTP + "test_address_is_checked_before_method_and_method_before_message",
        ACCESS + "test_page_of_another_origin_gets_403_without_cors_headers",
        FUZZ_HTTP + "test_every_request_gets_the_required_status_and_answer",
    ),
    should(
        "http.local",
        ALL,
        "basic/transports, Security Warning",
        "A local server listens on 127.0.0.1 only; other servers require authentication.",
        "tests/cli/test_main.py::test_at_a_terminal_serve_listens_on_http",
        ACCESS + "test_missing_or_wrong_bearer_token_is_401_and_malformed_400",
        ACCESS + "test_every_method_needs_the_token_but_health_does_not",
    ),
    must(
        "http.endpoint",
        ALL,
        "basic/transports, Streamable HTTP",
        "All messages use one path; each request is answered by JSON or by an event stream.",
        HTTP + "test_endpoint_is_served_at_the_configured_path",
        HTTP + "test_request_is_answered_in_json",
        HTTP + "test_media_types_other_than_json_are_415_or_406",
    ),
    must(
        "http.accepted",
        ALL,
        "basic/transports, Sending Messages to the Server",
        "A notification is answered by 202 without a body, or by an error status.",
        HTTP + "test_notification_is_202_without_a_body",
        under(
            "Notifications are accepted and ignored, whatever their headers; those of an unknown version are refused.",
            "http",
            "2026-07-28",
        ),
    ),
    must(
        "http.unreadable",
        ALL,
        "basic/transports, Sending Messages to the Server",
        "An unreadable message is refused with 400, and the server continues.",
        HTTP + "test_invalid_json_is_a_parse_error_without_an_id",
        FUZZ_HTTP + "test_malformed_http_is_refused_and_the_next_request_answered",
    ),
    must(
        "http.get",
        HANDSHAKE,
        "basic/transports, Listening for Messages from the Server",
        "GET is answered by an event stream or by 405.",
        HTTP + "test_only_post_is_served",
        CLIENT_SESSIONS + "test_session_stream_needs_accept_of_events",
        CANCELLATION + "test_session_stream_is_405_if_the_list_cannot_change",
    ),
    must(
        "http.stream",
        ALL,
        "basic/transports, Sending Messages to the Server",
        "A stream has notifications about the request, then its response, and then it ends.",
        PROGRESS + "test_stream_has_notifications_before_the_response",
        PROGRESS + "test_result_after_notifications_is_truncated_to_one_event",
    ),
    should(
        "http.proxies",
        STATELESS,
        "basic/transports/streamable-http",
        "Streams ask proxies not to buffer them, and send keep-alive comments.",
        PROGRESS + "test_stream_has_notifications_before_the_response",
        PROGRESS + "test_silent_stream_sends_keep_alive_comments_after_its_start",
    ),
    should(
        "http.slow-clients",
        ALL,
        "basic/transports",
        "A client that does not read does not make memory grow.",
        CANCELLATION + "test_notifications_wait_until_the_client_reads",
        PROGRESS + "test_slow_client_slows_the_reading_of_the_api",
        STDIO_SESSION + "test_client_that_does_not_read_is_not_read_from",
    ),
)

SESSION: Final = (
    must(
        "session.id",
        SESSIONS,
        "basic/transports, Session Management",
        "The answer to initialize issues a session id, in visible ASCII and not guessable.",
        SESSION_IDS + "test_session_id_carries_the_revision_and_is_unique",
        SESSION_IDS + "test_arbitrary_text_is_no_session_id",
        SESSION_IDS + "test_altered_session_id_is_invalid",
        under("A failed initialize opens no session.", "session"),
        FUZZ_HTTP + "test_every_request_gets_the_required_status_and_answer",
    ),
    must(
        "session.gone",
        SESSIONS,
        "basic/transports, Session Management",
        "A request in an unknown or ended session is 404.",
        CLIENT_SESSIONS + "test_invalid_session_id_is_404",
        CLIENT_SESSIONS + "test_ended_session_is_404_in_every_process",
        SESSION_IDS + "test_session_id_expires",
    ),
    must(
        "session.no-authentication",
        SESSIONS,
        "basic/security_best_practices, Session Hijacking",
        "A session id authenticates nobody; a session belongs to the client that began it.",
        ACCESS + "test_session_of_another_token_is_404",
        SESSION_IDS + "test_session_id_is_valid_for_its_principal_only",
    ),
    must(
        "session.errors",
        HANDSHAKE,
        "basic/transports, Session Management",
        "Errors of a message have status 200: 404 means that the session has ended.",
        under("Errors have HTTP status 200: 404 would mean an ended session.", "http"),
        under("A malformed message is 400.", "http"),
    ),
    must(
        "session.version-header",
        ("2025-06-18", "2025-11-25"),
        "basic/transports, Protocol Version Header",
        "An unsupported version in the header is 400.",
        under("An unsupported version is 400, in a session too.", "session"),
        under(
            "Any other message with a version of another era is read in that era, and refused.",
            "versions",
            "2025-11-25",
        ),
    ),
    should(
        "session.no-version-header",
        ("2025-06-18", "2025-11-25"),
        "basic/transports, Protocol Version Header",
        "Without that header and without a session, 2025-03-26 is assumed.",
        under("Over HTTP without a session: without a header, 2025-03-26 is assumed.", "http", "2025-03-26"),
        CLIENT_SESSIONS + "test_requests_without_a_session_are_served",
        under("Over HTTP initialize may have any version header.", "versions", "2025-11-25"),
    ),
    must(
        "session.one-stream",
        SESSIONS,
        "basic/transports, Multiple Connections",
        "A message is sent on one stream only.",
        CLIENT_SESSIONS + "test_newer_stream_of_a_session_replaces_the_older_one",
        SESSION_STORE + "test_newer_stream_stops_the_older_one",
    ),
    must(
        "session.none-in-stateless",
        STATELESS,
        "basic/transports/streamable-http",
        "Session ids and event ids are neither issued nor read; GET and DELETE are 405.",
        CLIENT_SESSIONS + "test_stateless_era_ignores_sessions",
        FUZZ_HTTP + "test_every_request_gets_the_required_status_and_answer",
        under(
            "The stateless era has no sessions: the state of this one does not apply there.", "session", "2025-11-25"
        ),
    ),
)

REQUEST_HEADERS: Final = (
    must(
        "headers.mirror",
        STATELESS,
        "basic/transports/streamable-http, Standard MCP Request Headers",
        "Headers must equal the message; missing, different or malformed ones are 400 and -32020.",
        under("400 and -32020: missing, different, in another case, sent twice, or encoded wrongly.", "http"),
        under("White space around a value is ignored; tools/list needs no name.", "http"),
        HEADERS + "test_header_value_is_visible_ascii_or_none",
        HEADERS + "test_missing_header_is_none",
        HTTP + "test_header_that_is_sent_twice_is_400",
    ),
    must(
        "headers.encoding",
        STATELESS,
        "basic/transports/streamable-http, Value Encoding",
        "Values in the form =?base64?…?= are decoded before they are compared.",
        HEADERS + "test_encoded_values_are_decoded_and_others_unchanged",
        HEADERS + "test_every_name_can_be_encoded",
        under("A name that needs the encoding.", "http"),
    ),
    must(
        "headers.status",
        STATELESS,
        "basic/transports/streamable-http, Error handling",
        "An unknown method is 404; an error in fields, headers or version is 400; all other errors are 200.",
        under("The order of the checks: envelope, headers, version, method.", "http"),
        under("Methods that this revision removed are 404, initialize among them.", "http"),
        under(
            "Errors of the method itself are 200: after a plain 400 a client of both eras would try initialize.",
            "http",
        ),
        FUZZ_HTTP + "test_every_request_gets_the_required_status_and_answer",
    ),
    must(
        "headers.parameters",
        STATELESS,
        "basic/transports/streamable-http, Custom Headers from Tool Parameters",
        "The header of an argument must equal it, and must be present if the argument is.",
        HEADER_ARGUMENTS + "test_header_arguments_are_keyed_by_property_path",
        HEADER_ARGUMENTS + "test_header_equal_to_its_argument_is_accepted",
        HEADER_ARGUMENTS + "test_header_different_from_its_argument_is_refused",
        HEADER_ARGUMENTS + "test_every_text_has_an_accepted_header",
        HEADER_ARGUMENTS + "test_every_number_has_an_accepted_header",
        MESSAGE_TESTS + "test_header_arguments_are_checked_in_the_stateless_era_over_http_alone",
        RUNTIME + "server/test_calls.py::test_headers_must_match_arguments",
    ),
    must(
        "headers.annotations",
        STATELESS,
        "basic/transports/streamable-http, Schema Extension",
        "x-mcp-header is a token, unique in its schema, on a string, integer or boolean reached by properties alone.",
        HEADER_ARGUMENTS + "test_header_name_that_is_not_a_token_is_a_problem",
        HEADER_ARGUMENTS + "test_unsupported_argument_type_is_a_problem",
        HEADER_ARGUMENTS + "test_annotation_not_reached_by_properties_alone_is_a_problem",
        HEADER_ARGUMENTS + "test_data_and_property_names_are_not_annotations",
        HEADER_ARGUMENTS + "test_first_of_two_annotations_with_one_name_counts",
        HEADER_ARGUMENTS + "test_schema_without_its_invalid_annotations_is_valid",
        "tests/tools/test_header_arguments.py::test_valid_annotation_is_in_the_input_schema",
        "tests/tools/test_header_arguments.py::test_invalid_annotation_is_a_problem_and_the_only_loss",
    ),
    should(
        "headers.secrets",
        STATELESS,
        "basic/transports/streamable-http, Security",
        "No secret is sent in the header of an argument.",
        "tests/tools/test_header_arguments.py::test_credential_is_neither_argument_nor_header",
    ),
)

IN_FLIGHT: Final = (
    must(
        "progress.token",
        ALL,
        "basic/utilities/progress",
        "Progress is sent only for requests with a token, and carries that token.",
        NOTIFICATIONS + "test_call_without_token_has_no_progress",
        PROGRESS + "test_invalid_progress_token_is_ignored",
        MESSAGE_TESTS + "test_long_progress_token_is_not_repeated",
        PROGRESS + "test_client_without_progress_token_or_stream_gets_json",
        CLIENTS + "test_client_receives_progress_while_a_response_streams",
    ),
    must(
        "progress.grows",
        ALL,
        "basic/utilities/progress",
        "Progress grows with each notification, and ends with the response.",
        NOTIFICATIONS + "test_received_bytes_continue_the_count_of_sent_bytes",
        NOTIFICATIONS + "test_retried_body_is_complete_and_progress_grows",
        PROGRESS + "test_stream_has_notifications_before_the_response",
        MESSAGE_TESTS + "test_progress_has_a_total_if_it_is_known",
        CLIENTS + "test_client_receives_progress_while_a_response_streams",
    ),
    must(
        "progress.message",
        ALL,
        "basic/utilities/progress",
        "Progress has a message in revisions that have that member.",
        PROGRESS + "test_progress_has_the_form_of_the_revision",
    ),
    should(
        "cancellation.stops",
        HANDSHAKE,
        "basic/utilities/cancellation",
        "A cancelled request is stopped, its resources are freed, and it gets no response.",
        CLIENTS + "test_cancelled_call_closes_the_connection_to_the_api",
        STDIO + "test_slow_call_blocks_nothing_and_is_silent_after_cancellation",
        CLIENT_SESSIONS + "test_call_is_cancelled_by_its_session",
        RUNTIME + "upstream/test_client.py::test_cancelled_call_closes_its_connection",
    ),
    must(
        "cancellation.own-requests",
        HANDSHAKE,
        "basic/utilities/cancellation",
        "A cancellation concerns a request of the same client: over HTTP, ids are unique within a session only.",
        under("Ids of different clients collide, so no request is cancelled by id.", "http"),
        under("Ids are unique within a session: only there a request is cancelled by its id.", "session"),
        RECEIVE + "test_cancellation_by_id_over_http_needs_a_session",
        MESSAGE_TESTS + "test_only_calls_of_the_handshake_era_have_a_session",
        CLIENT_SESSIONS + "test_call_is_not_cancelled_by_another_session_or_id",
        SESSION_STORE + "test_call_is_stopped_by_its_own_session_and_id_only",
    ),
    should(
        "cancellation.disconnect-handshake",
        SESSIONS,
        "basic/transports, Sending Messages to the Server",
        "A disconnection is not a cancellation.",
        HTTP + "test_handshake_client_that_disconnects_cancels_nothing",
        PROGRESS + "test_disconnecting_in_the_handshake_era_cancels_nothing",
        RECEIVE + "test_call_ends_with_its_connection_in_the_stateless_era_alone",
    ),
    must(
        "cancellation.disconnect-stateless",
        STATELESS,
        "basic/transports/streamable-http, Cancellation",
        "A disconnection is a cancellation: the call is stopped and no more messages are sent.",
        HTTP + "test_stateless_client_that_disconnects_cancels_its_call",
        PROGRESS + "test_disconnecting_in_the_stateless_era_cancels_the_call",
        CLIENTS + "test_cancelled_call_closes_the_connection_to_the_api",
    ),
)

TRANSPORTS: Final[tuple[Requirement, ...]] = ON_STDIO + ON_HTTP + SESSION + REQUEST_HEADERS + IN_FLIGHT
