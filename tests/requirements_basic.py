"""What the specification demands of messages, lifecycles and versions, and where it is shown."""

from typing import Final

from tests.requirement import ALL, HANDSHAKE, PROTOCOL, RUNTIME, STATELESS, Requirement, must, should, under

JSONRPC: Final = PROTOCOL + "jsonrpc.py::"
RECEIVE: Final = PROTOCOL + "receive.py::"
ACTIONS: Final = PROTOCOL + "actions.py::"
TRACES: Final = PROTOCOL + "traces.py::"
REVISIONS: Final = PROTOCOL + "revisions.py::"
CLIENTS: Final = "tests/test_clients.py::"
FUZZ_STDIO: Final = "tests/test_fuzz_stdio.py::"
FUZZ_HTTP: Final = "tests/test_fuzz_http.py::"

ERAS: Final = (
    must(
        "eras.by-message",
        ALL,
        "basic/versioning",
        "A request with the per-request fields stands alone; initialize begins the other era; both on one endpoint.",
        RUNTIME + "stdio.py::test_both_eras_share_one_process",
        RECEIVE + "test_the_era_of_a_message",
        CLIENTS + "test_it_settles_on_its_revision_and_lists_every_tool",
    ),
    must(
        "eras.envelope-first",
        STATELESS,
        "basic/transports/streamable-http",
        "The per-request fields decide before the method does: initialize with them is an unknown method.",
        under("Methods that this revision removed are 404 too, initialize among them.", "http"),
    ),
    must(
        "eras.never-by-initialize",
        ("2025-11-25",),
        "basic/lifecycle, Version Negotiation",
        "initialize never settles on a revision of the stateless era; it answers with the latest it has.",
        under(
            "Versions that initialize does not know get the latest it knows, the stateless one among them.", "versions"
        ),
    ),
    should(
        "eras.codes",
        HANDSHAKE,
        "basic/versioning",
        "The error codes of the stateless era are never sent to a client of the other one.",
        RECEIVE + "test_the_codes_of_the_stateless_era_never_reach_the_other",
        under("Subscriptions are of the other era.", "description"),
    ),
    must(
        "eras.nothing-inferred",
        STATELESS,
        "basic, Per-request protocol fields",
        "Nothing is inferred from earlier requests, the connection or the process.",
        RECEIVE + "test_no_session_counts_in_the_stateless_era",
        under(
            "Nothing is inferred: a level set in the other era, in the same process, does not count here.",
            "description",
        ),
        under("The other era in the same process, message by message; then this one again, untouched.", "stdio"),
    ),
)

MESSAGES: Final = (
    must(
        "messages.utf8",
        ALL,
        "basic/transports",
        "Messages are JSON in UTF-8, and so is what is sent.",
        JSONRPC + "test_json_in_utf8_is_read",
        JSONRPC + "test_what_is_not_json_in_utf8_is_refused",
        JSONRPC + "test_any_value_is_written_as_valid_json",
        JSONRPC + "test_what_is_no_json_value_raises",
    ),
    must(
        "messages.id",
        ALL,
        "basic, Messages",
        "A response has the id of its request, with its type; 0 is an id, null is none.",
        JSONRPC + "test_a_request_keeps_its_id_as_it_came",
        JSONRPC + "test_an_id_that_cannot_be_echoed_gets_an_error_without_one",
        FUZZ_STDIO + "test_each_line_gets_the_answer_it_has_to_however_it_is_cut",
    ),
    must(
        "messages.notifications",
        ALL,
        "basic, Messages",
        "Notifications and responses are never answered.",
        JSONRPC + "test_a_message_without_id_is_a_notification",
        JSONRPC + "test_a_reply_is_never_answered_however_broken",
        RUNTIME + "server.py::test_a_notification_gets_no_answer",
    ),
    must(
        "messages.errors",
        ALL,
        "basic, Responses; JSON-RPC 2.0 §5.1",
        "What cannot be read gets an error with an integer code and a message, and the id where that could be read.",
        JSONRPC + "test_what_is_no_object_is_no_message",
        JSONRPC + "test_a_broken_request_with_an_id_gets_an_error_with_it",
        RECEIVE + "test_every_message_is_survived_and_every_question_answered",
        FUZZ_STDIO + "test_a_process_answers_on_and_ends_well",
    ),
    must(
        "messages.batches",
        ("2025-03-26",),
        "basic, Batching",
        "Arrays of messages are taken, and answered by one array; initialize cannot be in one.",
        under("Batches (2025-03-26 alone).", "stdio"),
        under("In a batch, what is asked for holds for what follows.", "logging"),
        RUNTIME + "server.py::test_the_answers_of_a_batch_are_one_array",
    ),
    must(
        "messages.single",
        ("2024-11-05", "2025-06-18", "2025-11-25"),
        "basic/transports",
        "A message is a single request, notification or response.",
        under("A batch is not a message in this revision.", "stdio"),
    ),
    must(
        "messages.single-stateless",
        STATELESS,
        "basic/transports/streamable-http",
        "A message is a single request or notification; clients have nothing to respond to.",
        under("Replies and batches are no messages here.", "http"),
    ),
    must(
        "messages.method-not-found",
        ALL,
        "basic, Error codes",
        "A method that is unknown, or of a capability that was not declared, is -32601.",
        under("Methods that are not served, and notifications that ask for nothing.", "stdio", "2025-11-25"),
        under("Methods that this revision removed, or that are not served.", "stdio", "2026-07-28"),
    ),
)

HANDSHAKES: Final = (
    must(
        "lifecycle.version",
        HANDSHAKE,
        "basic/lifecycle, Version Negotiation",
        "initialize is answered with the version asked for where that is served, else with another one that is.",
        under(
            "Over HTTP a session begins with initialize, and a message in it is read in the revision that was settled.",
            "session",
        ),
        under("The process may change its mind.", "stdio"),
    ),
    must(
        "lifecycle.greeting",
        HANDSHAKE,
        "basic/lifecycle, Initialization",
        "The answer has protocolVersion, capabilities with tools, and who the server is, as the revision says it.",
        REVISIONS + "test_a_server_says_what_its_revision_asks",
        under(
            "What a server says of itself, as far as this revision asks, and that it tells of changes.", "description"
        ),
        RECEIVE + "test_a_server_without_instructions_gives_none",
    ),
    must(
        "lifecycle.first",
        HANDSHAKE,
        "basic/lifecycle, Initialization",
        "initialize comes first; before it only ping is answered.",
        under("Before initialize there is only ping (basic/lifecycle).", "stdio"),
        under("Id 0 is an id.", "stdio"),
    ),
    must(
        "lifecycle.respected",
        HANDSHAKE,
        "basic/lifecycle, Operation",
        "What was negotiated is kept to: nothing is sent that the revision does not have.",
        REVISIONS + "test_a_tool_shows_the_fields_its_revision_has",
        under("Members of other revisions and of other features are ignored.", "description"),
        RUNTIME + "server.py::test_initialize_settles_the_session",
        PROTOCOL + "conversations.py::test_a_conversation_goes_as_written",
        PROTOCOL + "conversations.py::test_every_revision_has_transcripts",
    ),
    must(
        "lifecycle.ping",
        HANDSHAKE,
        "basic/utilities/ping",
        "A ping is answered promptly with an empty result.",
        RUNTIME + "stdio.py::test_a_slow_call_holds_up_nothing_and_is_silent_once_it_is_cancelled",
        FUZZ_HTTP + "test_each_request_gets_the_status_and_the_answer_it_has_to",
    ),
    must(
        "logging.levels",
        HANDSHAKE,
        "server/utilities/logging",
        "logging/setLevel is answered with an empty result; from then on messages of that level and worse are sent.",
        under("Levels may be asked for once the revision is settled (server/utilities/logging).", "logging"),
        under("Who asked hears of that level and worse.", "logging"),
        under("Who never asked hears of warnings and worse.", "logging"),
        under("A new handshake begins with nothing asked.", "logging"),
        ACTIONS + "test_a_client_hears_of_the_level_it_asked_for_and_above",
        ACTIONS + "test_a_log_message_holds_any_value",
        RUNTIME + "conversation.py::test_the_level_that_a_client_sets_holds_for_its_calls_from_then_on",
    ),
    should(
        "logging.bad-level",
        HANDSHAKE,
        "server/utilities/logging, Error Handling",
        "A level that is none is -32602.",
        under("What is no level changes nothing.", "logging"),
        ACTIONS + "test_what_is_no_level",
    ),
    must(
        "logging.no-secrets",
        HANDSHAKE,
        "server/utilities/logging, Security",
        "Log messages hold no credentials and nothing personal.",
        RUNTIME + "narrator.py::test_neither_credentials_nor_values_of_a_query_are_told",
    ),
)

PER_REQUEST: Final = (
    must(
        "request.fields",
        STATELESS,
        "basic, Per-request protocol fields",
        "A request without one of the required fields is -32602, with HTTP status 400.",
        under(
            "The envelope: a field is missing, or of another type; a version that is not served, one of the other era.",
            "stdio",
        ),
        under("The order of the checks: envelope, headers, version, method.", "http"),
    ),
    must(
        "request.version",
        STATELESS,
        "basic, Protocol version errors",
        "A version that is not served is -32022 with `supported` and `requested`, and HTTP status 400.",
        under(
            "The envelope: a field is missing, or of another type; a version that is not served, one of the other era.",
            "stdio",
        ),
        FUZZ_STDIO + "test_each_line_gets_the_answer_it_has_to_however_it_is_cut",
    ),
    must(
        "request.result-type",
        STATELESS,
        "basic, Results",
        "Every result has a resultType, which for a server of tools is `complete`.",
        under("Nothing is settled beforehand, and nothing is remembered.", "stdio"),
        FUZZ_HTTP + "test_each_request_gets_the_status_and_the_answer_it_has_to",
    ),
    should(
        "request.server-info",
        STATELESS,
        "basic, Results",
        "Every result says in its _meta who the server is.",
        under(
            "What a server says of itself when it is asked, and the short of it with every other result.", "description"
        ),
    ),
    must(
        "request.no-requests",
        STATELESS,
        "basic, Overview",
        "A server never sends requests to a client.",
        FUZZ_STDIO + "test_each_line_gets_the_answer_it_has_to_however_it_is_cut",
        FUZZ_HTTP + "test_each_request_gets_the_status_and_the_answer_it_has_to",
    ),
    must(
        "request.no-logging",
        STATELESS,
        "server/utilities/logging",
        "Log messages are not sent unless a request asks for them; and as logging is deprecated, not at all.",
        under("Log messages are never sent, whatever level a request names.", "description"),
        ACTIONS + "test_the_stateless_era_hears_no_log_messages",
        RUNTIME + "narrator.py::test_the_stateless_era_hears_of_no_events",
    ),
    must(
        "request.discover",
        STATELESS,
        "server/discover",
        "server/discover says the versions and capabilities, and for how long and by whom that may be kept.",
        under("Headers that say what the message says.", "http"),
        under(
            "What a server says of itself when it is asked, and the short of it with every other result.", "description"
        ),
    ),
    must(
        "request.trace",
        STATELESS,
        "basic, Trace context",
        "Trace context has the form that W3C gives it; what has not is as if it were absent, and none is invented.",
        TRACES + "test_a_parent_is_well_formed_or_dropped_with_its_state",
        TRACES + "test_a_parent_of_a_later_version_is_sent_on",
        TRACES + "test_a_state_goes_with_its_parent_only",
        TRACES + "test_a_state_that_is_none_leaves_its_parent_alone",
        TRACES + "test_baggage_needs_no_parent",
        TRACES + "test_baggage_that_is_none_is_dropped",
        TRACES + "test_anything_is_read_and_what_is_sent_on_is_a_header",
        ACTIONS + "test_a_call_carries_the_trace_of_its_client_in_either_era",
        ACTIONS + "test_a_call_without_trace_invents_none",
        RUNTIME + "calls.py::test_a_trace_goes_along",
    ),
    must(
        "request.unknown-members",
        STATELESS,
        "server/tools; extensions/tasks",
        "Members of features that were not declared (tasks, answers to questions never asked) are ignored.",
        under("Answers to questions that were never asked, and tasks, are ignored.", "description"),
    ),
)

BASIC: Final[tuple[Requirement, ...]] = ERAS + MESSAGES + HANDSHAKES + PER_REQUEST
