"""The requirements of elicitation and of requests in several round trips, for a server that asks by forms and pages."""

from typing import Final

from tests.requirement import HANDSHAKE, PROTOCOL, RUNTIME, STATELESS, Requirement, must, should

ELICITING: Final = HANDSHAKE[2:] + STATELESS
"""The revisions that have elicitation."""

MESSAGES: Final = PROTOCOL + "elicitation.py::"
CONFIRMATION: Final = "tests/elicitation/test_confirmation.py::"
PROCESSES: Final = "tests/elicitation/test_processes.py::"
SIGN_IN: Final = "tests/elicitation/test_sign_in.py::"
OVER_HTTP: Final = "tests/oauth/test_user_sign_ins.py::"
CANARIES: Final = "tests/oauth/test_canaries.py::"
SEALED: Final = "tests/oauth/test_sealed_store.py::"
QUESTIONS: Final = "tests/elicitation/test_questions.py::"
TOKENS: Final = "tests/elicitation/test_tokens.py::"
STORE: Final = RUNTIME + "http/test_session_store.py::"

ELICITATION: Final[tuple[Requirement, ...]] = (
    must(
        "elicitation.modes",
        ELICITING,
        "client/elicitation, Capabilities",
        "A client is asked only in modes that it has declared; without a mode it has forms.",
        MESSAGES + "test_modes_of_elicitation_follow_from_the_capabilities",
        MESSAGES + "test_client_of_a_session_is_asked_as_it_declared",
        MESSAGES + "test_client_of_a_stateless_call_is_asked_as_the_call_declares",
        CONFIRMATION + "test_client_without_elicitation_gets_a_phrase_for_the_same_call",
    ),
    must(
        "elicitation.form",
        ELICITING,
        "client/elicitation, Form Mode Elicitation Requests",
        "A form has a message and a schema of a flat object with primitive properties.",
        MESSAGES + "test_request_of_the_server_is_a_form",
        MESSAGES + "test_question_by_result_has_the_fields_of_every_result",
        CONFIRMATION + "test_call_that_destroys_is_made_when_the_user_agrees",
    ),
    must(
        "elicitation.url",
        ELICITING[1:],
        "client/elicitation, URL Mode Elicitation Requests",
        "A page is asked for in mode url, with a message and its URL; in 2025-11-25 with a unique id.",
        MESSAGES + "test_page_is_a_request_with_its_id",
        MESSAGES + "test_page_that_is_asked_for_by_result_has_no_id",
        SIGN_IN + "test_call_that_needs_a_sign_in_is_made_when_the_user_has_signed_in",
        OVER_HTTP + "test_call_is_answered_with_a_page_in_2026_07_28_and_made_when_it_is_repeated",
        OVER_HTTP + "test_official_client_gets_an_answer_after_the_sign_in",
    ),
    must(
        "elicitation.url.required",
        ELICITING[1:2],
        "client/elicitation, URL Elicitation Required Error",
        "A request that cannot be processed before a page was opened is answered with -32042 and elicitations in mode "
        "url, each with its id.",
        MESSAGES + "test_page_that_is_demanded_is_an_error_of_its_own",
        OVER_HTTP + "test_call_is_answered_with_a_page_in_2025_11_25_and_made_after_the_sign_in",
    ),
    must(
        "elicitation.url.complete",
        ELICITING[1:2],
        "client/elicitation, Completion Notifications for URL Mode Elicitation",
        "The notification that a page is done has its id, and goes to the client that was asked alone.",
        OVER_HTTP + "test_client_that_listens_is_notified_when_the_user_has_signed_in",
        STORE + "test_end_of_a_page_is_announced_to_its_own_session_only",
    ),
    must(
        "elicitation.url.secrets",
        ELICITING[1:],
        "client/elicitation, User Interaction Model",
        "What gives access is asked for in mode url, on pages of the authorization server.",
        OVER_HTTP + "test_call_is_answered_with_a_page_in_2026_07_28_and_made_when_it_is_repeated",
    ),
    must(
        "elicitation.url.safe",
        ELICITING[1:],
        "client/elicitation, Safe URL Handling",
        "The address of a page says nothing about the user, and opens nothing by itself: who opens it signs in.",
        OVER_HTTP + "test_page_shows_nothing_and_cannot_be_framed_or_kept",
        OVER_HTTP + "test_page_that_somebody_else_opens_does_nothing",
    ),
    should(
        "elicitation.url.https",
        ELICITING[1:],
        "client/elicitation, Safe URL Handling",
        "Pages are https, or on this machine.",
        OVER_HTTP + "test_server_that_cannot_tell_users_apart_does_not_start",
    ),
    must(
        "elicitation.third-party-tokens",
        ELICITING[1:],
        "client/elicitation, URL Mode Elicitation for OAuth Flows",
        "The server keeps the tokens of the API's authorization server, which the user has authorized directly; the "
        "client never sees one, and its own is not used for the API.",
        SIGN_IN + "test_call_that_needs_a_sign_in_is_made_when_the_user_has_signed_in",
        CANARIES + "test_credentials_of_users_are_only_where_they_belong",
        CANARIES + "test_parts_of_a_sign_in_are_only_where_they_belong",
    ),
    must(
        "elicitation.not-authorization",
        ELICITING[1:],
        "client/elicitation, URL Mode Elicitation for OAuth Flows",
        "No page authorizes a user for this server: a request without an access token is refused at the door.",
        "tests/authorization/test_door.py::test_every_request_needs_the_token_also_in_a_session",
        "tests/authorization/test_door.py::test_request_without_a_token_is_challenged_with_metadata_and_scopes",
    ),
    must(
        "elicitation.state",
        ELICITING[1:],
        "client/elicitation, Statefulness",
        "What is stored is sealed, and bound to the user whom the access token names, or to the session without one.",
        SEALED + "test_nobody_else_reads_a_value_or_moves_it_to_another_user",
        SEALED + "test_files_are_private_say_nothing_and_go_away",
        SEALED + "test_redis_has_sealed_values_for_a_time_which_one_process_takes",
        OVER_HTTP + "test_no_user_gets_the_token_of_another",
        OVER_HTTP + "test_without_identities_each_session_on_this_machine_signs_in_for_itself",
    ),
    must(
        "elicitation.phishing",
        ELICITING[1:],
        "client/elicitation, Phishing",
        "Who completes a sign-in is who began it. Over HTTP both have the same subject at the door's authorization "
        "server, and one browser goes through all pages; over stdio it ends on the machine of the server's one user.",
        OVER_HTTP + "test_page_that_somebody_else_opens_does_nothing",
        OVER_HTTP + "test_address_that_the_page_leads_to_does_nothing_in_another_browser",
        OVER_HTTP + "test_answer_of_one_browser_does_nothing_in_another",
        OVER_HTTP + "test_server_that_cannot_tell_users_apart_does_not_start",
        SIGN_IN + "test_sign_in_over_http_is_refused_at_the_start",
        "tests/oauth/test_login.py::test_a_user_signs_in_with_a_browser_calls_and_signs_out",
    ),
    must(
        "elicitation.identity",
        ELICITING[1:],
        "client/elicitation, Identifying the User",
        "Users are identified by verified tokens, never by what a client says.",
        OVER_HTTP + "test_no_user_gets_the_token_of_another",
        OVER_HTTP + "test_page_that_somebody_else_opens_does_nothing",
    ),
    must(
        "elicitation.actions",
        ELICITING,
        "client/elicitation, Error Handling; Response Actions",
        "A user who declines or cancels, and a client that fails to ask, are handled.",
        CONFIRMATION + "test_call_is_not_made_when_the_user_does_not_agree",
        CONFIRMATION + "test_question_waits_no_longer_than_a_call",
        CONFIRMATION + "test_question_ends_with_a_call_that_is_cancelled",
        OVER_HTTP + "test_refusal_of_the_authorization_server_is_shown_and_the_link_stays_valid",
        MESSAGES + "test_error_is_an_answer_without_a_result",
    ),
    must(
        "elicitation.no-secrets",
        ELICITING,
        "client/elicitation, User Interaction Model",
        "No form asks for a secret; the one that this server sends asks for a boolean, and shows no secret.",
        QUESTIONS + "test_values_of_secrets_are_not_shown",
        QUESTIONS + "test_hidden_characters_are_written_as_escapes",
    ),
    must(
        "elicitation.bound",
        ELICITING,
        "client/elicitation, Security Considerations",
        "A question is bound to the client and the user who was asked; nobody else answers it.",
        STORE + "test_answer_reaches_the_call_that_waits_for_it_in_its_own_session_only",
        PROCESSES + "test_another_session_cannot_answer",
        PROCESSES + "test_another_caller_cannot_repeat_the_call",
        MESSAGES + "test_answer_of_a_client_is_an_action_only_where_it_was_asked",
        MESSAGES + "test_answer_with_an_id_that_this_server_never_gives_is_ignored",
    ),
    should(
        "elicitation.validated",
        ELICITING,
        "client/elicitation, Form Mode Security",
        "Received data is validated: only the value true is consent.",
        QUESTIONS + "test_only_the_value_true_is_consent",
    ),
    must(
        "mrtr.contents",
        STATELESS,
        "basic/patterns/mrtr, Server Requirements",
        "A result input_required has requests or a state, and only for a tools/call of a client that can answer.",
        MESSAGES + "test_question_by_result_has_the_fields_of_every_result",
        CONFIRMATION + "test_client_without_elicitation_gets_a_phrase_for_the_same_call",
    ),
    must(
        "mrtr.state",
        STATELESS,
        "basic/patterns/mrtr, Server Requirements",
        "The state is protected in its integrity; one that fails verification is rejected.",
        TOKENS + "test_token_of_another_key_and_altered_ones_are_not_valid",
        PROCESSES + "test_state_of_another_call_or_an_altered_one_is_refused",
    ),
    should(
        "mrtr.replay",
        STATELESS,
        "basic/patterns/mrtr, Server Requirements",
        "The state holds the principal, a short expiry and the request; it is used once.",
        TOKENS + "test_token_is_valid_for_the_same_call_in_another_process",
        TOKENS + "test_token_is_not_valid_for_another_call_or_caller",
        TOKENS + "test_token_expires",
        TOKENS + "test_token_is_used_once",
        PROCESSES + "test_any_process_takes_the_repeated_call_and_one_takes_it_once",
    ),
    should(
        "mrtr.answers",
        STATELESS,
        "basic/patterns/mrtr, Error Handling",
        "A malformed answer is an error, a missing one is asked for again, and one that was not asked for is ignored.",
        MESSAGES + "test_answer_of_a_repeated_call_is_read",
        MESSAGES + "test_malformed_answer_is_refused",
        PROCESSES + "test_answer_without_the_state_is_asked_again",
    ),
)
