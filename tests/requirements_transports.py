"""What the specification demands of the two transports, of progress and of cancellation, and where it is shown."""

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

STDIO: Final = RUNTIME + "stdio.py::"
CONVERSATION: Final = RUNTIME + "conversation.py::"
HTTP: Final = RUNTIME + "streamable_http.py::"
DOOR: Final = RUNTIME + "door.py::"
IN_SESSION: Final = RUNTIME + "http_sessions.py::"
IDS: Final = RUNTIME + "sessions.py::"
LEDGER: Final = RUNTIME + "ledger.py::"
WAITING: Final = RUNTIME + "waiting.py::"
PROGRESS: Final = RUNTIME + "progress.py::"
NARRATOR: Final = RUNTIME + "narrator.py::"
RECEIVE: Final = PROTOCOL + "receive.py::"
ACTIONS: Final = PROTOCOL + "actions.py::"
HEADERS: Final = PROTOCOL + "headers.py::"
MIRRORED: Final = PROTOCOL + "mirrored.py::"
CLIENTS: Final = "tests/test_clients.py::"
FUZZ_STDIO: Final = "tests/test_fuzz_stdio.py::"
FUZZ_HTTP: Final = "tests/test_fuzz_http.py::"

ON_STDIO: Final = (
    must(
        "stdio.lines",
        ALL,
        "basic/transports, stdio",
        "Messages are lines; none has a line break inside.",
        PROTOCOL + "jsonrpc.py::test_what_is_written_is_one_line_of_json",
        CONVERSATION + "test_what_is_said_is_one_line_each",
        RUNTIME + "lines.py::test_lines_do_not_depend_on_how_their_bytes_arrive",
        FUZZ_STDIO + "test_each_line_gets_the_answer_it_has_to_however_it_is_cut",
    ),
    must(
        "stdio.stdout",
        ALL,
        "basic/transports, stdio",
        "Nothing but MCP messages is on stdout; stderr is for what else there is to say.",
        STDIO + "test_nothing_but_mcp_is_on_stdout",
        "tests/test_cli.py::test_stdio_is_what_a_program_gets_and_stdout_holds_only_mcp",
    ),
    should(
        "stdio.end",
        ALL,
        "basic/transports, stdio, Shutdown",
        "The server exits when stdin ends, promptly, and on signals.",
        STDIO + "test_what_was_asked_before_the_end_is_answered",
        STDIO + "test_a_client_that_closes_both_pipes_ends_the_process",
        STDIO + "test_a_signal_ends_the_process_at_once_and_well",
        FUZZ_STDIO + "test_a_process_answers_on_and_ends_well",
    ),
    must(
        "stdio.only-what-was-asked",
        STATELESS,
        "basic/transports/stdio",
        "Only responses, notifications of requests in flight, and those of subscriptions are sent.",
        FUZZ_STDIO + "test_each_line_gets_the_answer_it_has_to_however_it_is_cut",
        CONVERSATION + "test_nobody_is_told_before_the_handshake_or_without_a_promise",
    ),
    must(
        "stdio.cancellation",
        STATELESS,
        "basic/transports/stdio; basic/patterns/cancellation",
        "Once a request is cancelled nothing more is sent for it.",
        under("Notifications ask for nothing, but for a cancellation.", "stdio"),
        PROGRESS + "test_a_call_that_is_cancelled_over_stdio_says_nothing_more",
        CONVERSATION + "test_the_upload_of_a_cancelled_call_breaks_off_and_nothing_more_is_said_of_it",
    ),
)

ON_HTTP: Final = (
    must(
        "http.origin",
        ALL,
        "basic/transports, Security Warning",
        "Origin is checked on every request; one that is not allowed is 403.",
        HTTP + "test_the_door_opens_to_this_machine_and_to_who_is_named",
        HTTP + "test_the_door_is_checked_before_the_method_and_the_method_before_the_message",
        DOOR + "test_other_pages_may_nothing",
        FUZZ_HTTP + "test_each_request_gets_the_status_and_the_answer_it_has_to",
    ),
    should(
        "http.local",
        ALL,
        "basic/transports, Security Warning",
        "A local server listens on 127.0.0.1 only, and others ask who is there.",
        "tests/test_cli.py::test_at_a_terminal_serve_listens_on_http",
        DOOR + "test_who_wants_in_shows_the_token",
        DOOR + "test_without_the_token_no_method_does_anything",
    ),
    must(
        "http.endpoint",
        ALL,
        "basic/transports, Streamable HTTP",
        "There is one path for all messages; each request is answered in JSON or as a stream of events.",
        HTTP + "test_the_endpoint_is_where_it_was_put",
        HTTP + "test_a_request_is_answered_in_json",
        HTTP + "test_media_types_are_json_or_refused",
    ),
    must(
        "http.accepted",
        ALL,
        "basic/transports, Sending Messages to the Server",
        "A notification is 202 without a body, or refused with an error status.",
        HTTP + "test_a_notification_is_accepted_without_a_body",
        under(
            "Notifications are taken and dropped, whatever their headers; those of an unknown version are refused.",
            "http",
            "2026-07-28",
        ),
    ),
    must(
        "http.unreadable",
        ALL,
        "basic/transports, Sending Messages to the Server",
        "What cannot be read is refused with 400, and the server goes on.",
        HTTP + "test_what_is_not_json_is_a_parse_error_without_an_id",
        FUZZ_HTTP + "test_a_request_that_is_no_http_is_refused_and_the_next_one_answered",
    ),
    must(
        "http.get",
        HANDSHAKE,
        "basic/transports, Listening for Messages from the Server",
        "GET is answered with a stream of events or 405.",
        HTTP + "test_only_post_is_served",
        IN_SESSION + "test_a_stream_is_for_who_takes_events",
        WAITING + "test_a_session_has_no_stream_where_nothing_changes",
    ),
    must(
        "http.stream",
        ALL,
        "basic/transports, Sending Messages to the Server",
        "A stream has notifications that belong to the request, then its response, and then it ends.",
        PROGRESS + "test_a_stream_is_notifications_and_then_the_answer",
        PROGRESS + "test_an_answer_after_notifications_fits_into_one_event_and_says_what_was_cut",
    ),
    should(
        "http.proxies",
        STATELESS,
        "basic/transports/streamable-http",
        "Streams ask proxies not to buffer them, and show that they live.",
        PROGRESS + "test_a_stream_is_notifications_and_then_the_answer",
        PROGRESS + "test_a_silent_stream_shows_that_it_lives_once_it_has_begun",
    ),
    should(
        "http.slow-clients",
        ALL,
        "basic/transports",
        "A client that does not read makes nothing grow.",
        WAITING + "test_notifications_wait_for_who_does_not_read",
        PROGRESS + "test_an_api_is_read_no_faster_than_its_client_reads",
        CONVERSATION + "test_a_client_that_does_not_read_is_not_read_from",
    ),
)

SESSION: Final = (
    must(
        "session.id",
        SESSIONS,
        "basic/transports, Session Management",
        "The id of a session is given with the answer to initialize, in visible ASCII, and nobody can guess one.",
        IDS + "test_an_id_carries_what_was_negotiated_and_is_unique",
        IDS + "test_what_was_not_issued_is_no_id",
        IDS + "test_whatever_is_changed_it_is_no_id_any_more",
        under("An initialize that fails opens none.", "session"),
        FUZZ_HTTP + "test_each_request_gets_the_status_and_the_answer_it_has_to",
    ),
    must(
        "session.gone",
        SESSIONS,
        "basic/transports, Session Management",
        "A session that is unknown or has ended is 404.",
        IN_SESSION + "test_what_is_no_session_is_not_found",
        IN_SESSION + "test_a_session_that_was_ended_is_over_everywhere",
        IDS + "test_an_id_expires",
    ),
    must(
        "session.no-authentication",
        SESSIONS,
        "basic/security_best_practices, Session Hijacking",
        "A session authenticates nobody, and belongs to who began it.",
        DOOR + "test_a_session_belongs_to_who_began_it",
        IDS + "test_an_id_belongs_to_who_it_was_given_to",
    ),
    must(
        "session.errors",
        HANDSHAKE,
        "basic/transports, Session Management",
        "Errors of a message are 200: 404 means that the session is gone.",
        under("Errors travel in HTTP 200: 404 would mean a dead session.", "http"),
        under("What is no message is 400.", "http"),
    ),
    must(
        "session.version-header",
        ("2025-06-18", "2025-11-25"),
        "basic/transports, Protocol Version Header",
        "A version in the header that is not served is 400.",
        under("A version that nobody serves is 400, in a session too.", "session"),
        under(
            "Anything else with a version that is not of this era is a claim to the other, and refused.",
            "versions",
            "2025-11-25",
        ),
    ),
    should(
        "session.no-version-header",
        ("2025-06-18", "2025-11-25"),
        "basic/transports, Protocol Version Header",
        "Without that header, and without a session that says it, 2025-03-26 is assumed.",
        under("Over HTTP no session is kept: without a header, 2025-03-26 is assumed.", "http", "2025-03-26"),
        IN_SESSION + "test_without_a_session_everything_is_served_all_the_same",
        under("Over HTTP initialize may carry any header.", "versions", "2025-11-25"),
    ),
    must(
        "session.one-stream",
        SESSIONS,
        "basic/transports, Multiple Connections",
        "A message goes out on one stream only.",
        IN_SESSION + "test_a_session_has_one_stream_and_the_newer_one_is_it",
        LEDGER + "test_the_newer_stream_is_the_only_one",
    ),
    must(
        "session.none-in-stateless",
        STATELESS,
        "basic/transports/streamable-http",
        "Session ids and event ids are neither given out nor looked at; GET and DELETE are 405.",
        IN_SESSION + "test_the_stateless_era_knows_no_sessions",
        FUZZ_HTTP + "test_each_request_gets_the_status_and_the_answer_it_has_to",
        under("The other era knows no sessions: nothing of this one counts there.", "session", "2025-11-25"),
    ),
)

MIRRORS: Final = (
    must(
        "headers.mirror",
        STATELESS,
        "basic/transports/streamable-http, Standard MCP Request Headers",
        "Headers must say what the message says; missing, different or ill-formed ones are 400 and -32020.",
        under("400 and -32020: missing, different, in another case, twice, or in the wrong encoding.", "http"),
        under("White space around a value is not part of it; a tools/list needs no name.", "http"),
        HEADERS + "test_a_header_is_visible_ascii_or_as_if_not_there",
        HEADERS + "test_a_header_that_was_not_sent_is_not_there",
        HTTP + "test_a_header_that_is_sent_twice_counts_as_neither",
    ),
    must(
        "headers.encoding",
        STATELESS,
        "basic/transports/streamable-http, Value Encoding",
        "Values in the form =?base64?…?= are decoded before they are compared.",
        HEADERS + "test_encoded_values_are_decoded_and_all_others_stand_for_themselves",
        HEADERS + "test_every_name_can_be_encoded",
        under("A name that only the encoding can carry.", "http"),
    ),
    must(
        "headers.status",
        STATELESS,
        "basic/transports/streamable-http, Error handling",
        "Unknown methods are 404; what is wrong with fields, headers or version is 400; all else is 200.",
        under("The order of the checks: envelope, headers, version, method.", "http"),
        under("Methods that this revision removed are 404 too, initialize among them.", "http"),
        under(
            "Errors of the method itself are 200: "
            "a bare 400 would make a client of both eras start over with initialize.",
            "http",
        ),
        FUZZ_HTTP + "test_each_request_gets_the_status_and_the_answer_it_has_to",
    ),
    must(
        "headers.parameters",
        STATELESS,
        "basic/transports/streamable-http, Custom Headers from Tool Parameters",
        "A header that mirrors an argument must say what it says, and be there where the argument is.",
        MIRRORED + "test_arguments_are_found_by_the_names_that_lead_to_them",
        MIRRORED + "test_a_header_that_says_what_its_argument_says_is_fine",
        MIRRORED + "test_a_header_that_says_something_else_is_refused",
        MIRRORED + "test_every_text_can_be_mirrored",
        MIRRORED + "test_every_number_can_be_mirrored",
        ACTIONS + "test_headers_that_mirror_arguments_are_those_of_the_stateless_era_over_http",
        RUNTIME + "calls.py::test_headers_must_say_what_the_arguments_say",
    ),
    must(
        "headers.annotations",
        STATELESS,
        "basic/transports/streamable-http, Schema Extension",
        "x-mcp-header is a token, unique in its schema, on a string, integer or boolean that properties alone lead to.",
        MIRRORED + "test_a_name_that_is_no_token_is_a_problem",
        MIRRORED + "test_a_type_that_is_not_mirrored_is_a_problem",
        MIRRORED + "test_only_names_may_lead_to_a_mirrored_argument",
        MIRRORED + "test_data_and_names_are_no_annotations",
        MIRRORED + "test_of_two_with_one_name_the_first_keeps_it",
        MIRRORED + "test_a_schema_without_its_problems_has_none",
        "tests/test_mirroring.py::test_a_valid_annotation_is_passed_on",
        "tests/test_mirroring.py::test_an_invalid_annotation_is_a_problem_and_costs_nothing_else",
    ),
    should(
        "headers.secrets",
        STATELESS,
        "basic/transports/streamable-http, Security",
        "No secret is mirrored in a header.",
        "tests/test_mirroring.py::test_a_credential_is_no_argument_and_so_no_header",
    ),
)

IN_FLIGHT: Final = (
    must(
        "progress.token",
        ALL,
        "basic/utilities/progress",
        "Progress is sent only to who gave a token, with that token.",
        NARRATOR + "test_without_a_token_there_is_no_progress",
        PROGRESS + "test_what_is_no_token_is_ignored",
        PROGRESS + "test_who_cannot_be_notified_gets_json",
        CLIENTS + "test_it_hears_of_progress_while_an_answer_streams_in",
    ),
    must(
        "progress.grows",
        ALL,
        "basic/utilities/progress",
        "Progress grows with each notification, and ends with the response.",
        NARRATOR + "test_what_is_received_counts_on_from_what_was_sent",
        NARRATOR + "test_a_body_that_is_sent_again_is_sent_whole_and_progress_goes_on",
        PROGRESS + "test_a_stream_is_notifications_and_then_the_answer",
        ACTIONS + "test_progress_says_how_much_there_will_be_where_that_is_known",
        CLIENTS + "test_it_hears_of_progress_while_an_answer_streams_in",
    ),
    must(
        "progress.message",
        ALL,
        "basic/utilities/progress",
        "A message stands in it where the revision has one.",
        PROGRESS + "test_each_revision_says_it_in_its_own_words",
    ),
    should(
        "cancellation.stops",
        HANDSHAKE,
        "basic/utilities/cancellation",
        "A cancelled request is stopped, its resources are freed, and it gets no response.",
        CLIENTS + "test_its_cancellation_closes_the_connection_to_the_api",
        STDIO + "test_a_slow_call_holds_up_nothing_and_is_silent_once_it_is_cancelled",
        IN_SESSION + "test_a_call_is_cancelled_by_its_session",
        RUNTIME + "upstream.py::test_a_cancelled_call_closes_its_connection",
    ),
    must(
        "cancellation.own-requests",
        HANDSHAKE,
        "basic/utilities/cancellation",
        "A cancellation is of a request of the same client: without a session, ids over HTTP are nobody's.",
        under("Ids of different clients collide, so nothing is cancelled by id.", "http"),
        under("Ids are unique in a session: there, and only there, a request is cancelled by its id.", "session"),
        RECEIVE + "test_over_http_requests_are_cancelled_by_id_in_a_session_alone",
        ACTIONS + "test_a_call_knows_its_session_and_one_of_the_stateless_era_has_none",
        IN_SESSION + "test_nobody_else_cancels_a_call",
        LEDGER + "test_a_call_is_stopped_by_its_own_session_and_id_only",
    ),
    should(
        "cancellation.disconnect-handshake",
        SESSIONS,
        "basic/transports, Sending Messages to the Server",
        "A client that disconnects has not cancelled.",
        HTTP + "test_a_client_of_the_handshake_era_that_leaves_cancels_nothing",
        PROGRESS + "test_who_leaves_a_stream_of_the_handshake_era_cancels_nothing",
        RECEIVE + "test_only_the_stateless_era_ends_a_call_with_its_connection",
    ),
    must(
        "cancellation.disconnect-stateless",
        STATELESS,
        "basic/transports/streamable-http, Cancellation",
        "A client that disconnects has cancelled: the call is stopped and nothing more is sent.",
        HTTP + "test_a_client_of_the_stateless_era_that_leaves_cancels_its_call",
        PROGRESS + "test_who_leaves_a_stream_of_the_stateless_era_cancels_the_call",
        CLIENTS + "test_its_cancellation_closes_the_connection_to_the_api",
    ),
)

TRANSPORTS: Final[tuple[Requirement, ...]] = ON_STDIO + ON_HTTP + SESSION + MIRRORS + IN_FLIGHT
